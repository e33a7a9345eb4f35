import CSQLite
import FirnBytes
import FirnDatabase
import FirnTable

/// Hashes of values, for the rows of a column and for the other side of a comparison. Values that SQLite considers equal have equal hashes.
enum EqualityKey {
    /// What a value that a column is compared with implies about the hashes of equal rows.
    enum Probe {
        /// Equal rows have this hash, or, if `orOdd`, are odd texts (`isOdd`).
        case hash(UInt64, orOdd: Bool)
        case null
        /// No row is equal.
        case never
        /// Equal rows can have any hash.
        case unknown
    }

    /// Returns whether columns of this form can be looked up by hash.
    static func isUseful(_ form: SQLForm) -> Bool { form.isNumeric || form.isTextual || form == .blob }

    /// Returns whether a column can have odd texts. SQLite compares a text with a number by its numeric value, which can be written in many
    /// ways. Such texts are listed, except whole numbers in plain digits, which are found by the hash of their digits.
    static func mayBeOdd(_ form: SQLForm) -> Bool { form == .text || form == .objectID }

    static func combine(_ hash: UInt64, _ next: UInt64) -> UInt64 { mix(hash &+ 0x6A09_E667_F3BC_C909, next) }

    /// Maps eight successive numbers to successive slots, because look-ups by key are often in ascending order.
    @inline(__always)
    private static func hash(_ x: Int64) -> UInt64 { mix(UInt64(bitPattern: x) >> 3, 1) & ~7 | UInt64(bitPattern: x) & 7 }

    // MARK: Rows

    /// Computes the hashes of a vector's rows; the hash of null is `nullHash`.
    static func hash(_ column: firn_sql_column, _ form: SQLForm, count: Int, into out: UnsafeMutablePointer<UInt64>) {
        switch Int(column.form) {
        case FIRN_SQL_INT: for row in 0..<count { out[row] = hash(column.words[row]) }
        // SQLite treats NaN as null.
        case FIRN_SQL_REAL: for row in 0..<count { out[row] = column.reals[row].isNaN ? nullHash : realHash(column.reals[row]) }
        default: for row in 0..<count { out[row] = hashBytes(bytes(column, row)) }
        }
        guard let present = column.present else { return }
        for row in 0..<count where present[row >> 6] >> UInt64(row & 63) & 1 == 0 { out[row] = nullHash }
    }

    static func bytes(_ column: firn_sql_column, _ row: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: column.bytes + Int(column.offsets[row]), count: Int(column.offsets[row + 1] - column.offsets[row]))
    }

    // MARK: Values

    static func probe(_ value: OpaquePointer, _ form: SQLForm) -> Probe {
        form.isNumeric ? number(value, isWhole: form == .int || form == .bool) : bytes(value, form)
    }

    private static func number(_ value: OpaquePointer, isWhole: Bool) -> Probe {
        switch Int(firn_sql_numeric_type(value)) {
        case FIRN_SQL_INT:
            let x = firn_sql_value_int(value)
            if isWhole { return .hash(hash(x), orOdd: false) }
            return Int64(exactly: Double(x)) == x ? .hash(realHash(Double(x)), orOdd: false) : .never
        case FIRN_SQL_REAL:
            let x = firn_sql_value_real(value)
            if !isWhole { return .hash(realHash(x), orOdd: false) }
            return Int64(exactly: x).map { .hash(hash($0), orOdd: false) } ?? .never
        case FIRN_SQL_NULL: return .null
        default: return .never
        }
    }

    private static func bytes(_ value: OpaquePointer, _ form: SQLForm) -> Probe {
        var count: Int64 = 0
        switch Int(firn_sql_value_type(value)) {
        case FIRN_SQL_NULL: return .null
        case FIRN_SQL_BLOB:
            guard form == .blob else { return .never }
            let base = firn_sql_value_bytes(value, &count)
            return .hash(hashBytes(UnsafeRawBufferPointer(start: base, count: Int(count))), orOdd: false)
        case FIRN_SQL_TEXT:
            guard form != .blob else { return .never }
            let base = firn_sql_value_bytes(value, &count), text = UnsafeRawBufferPointer(start: base, count: Int(count))
            guard mayBeOdd(form), isLongNumber(text) else { return .hash(hashBytes(text), orOdd: false) }
            return isPlainWhole(text) ? .hash(hashBytes(text), orOdd: true) : .unknown
        case FIRN_SQL_INT: return form == .blob ? .never : mayBeOdd(form) ? whole(firn_sql_value_int(value)) : .never
        default:
            guard form != .blob else { return .never }
            let x = firn_sql_value_real(value)
            // All texts that equal this number are odd or plain digits. Infinity is excluded, because SQLite writes it in letters.
            guard mayBeOdd(form), x.isFinite else { return form == .text ? .unknown : .never }
            return abs(x) < 1e15 ? x.rounded() == x ? whole(Int64(x)) : .hash(realHash(x), orOdd: true) : .unknown
        }
    }

    private static func whole(_ x: Int64) -> Probe {
        var text = String(x)
        return text.withUTF8 {
            isPlainWhole(UnsafeRawBufferPointer($0)) ? .hash(hashBytes(UnsafeRawBufferPointer($0)), orOdd: true) : .unknown
        }
    }

    // MARK: Texts that are numbers

    /// Returns whether SQLite accepts a text as a number and it is not a whole number in plain digits.
    static func isOdd(_ text: UnsafeRawBufferPointer) -> Bool {
        guard let first = text.first, first <= UInt8(ascii: "9") else { return false }
        return !isPlainWhole(text) && isNumber(text)
    }

    /// Returns whether a text can be a decimal that SQL numbers cannot represent exactly. SQLite compares such a text as a number.
    static func isLongNumber(_ text: UnsafeRawBufferPointer) -> Bool {
        guard let first = text.first, first <= UInt8(ascii: "9") else { return false }
        return (text.count >= 16 || text.contains { $0 | 32 == UInt8(ascii: "e") }) && isNumber(text)
    }

    /// Returns whether a text is a whole number of at most 18 digits without redundant zeros and signs.
    private static func isPlainWhole(_ text: UnsafeRawBufferPointer) -> Bool {
        guard let first = text.first else { return false }
        let digits = first == UInt8(ascii: "-") ? text[1...] : text[...]
        guard (1...18).contains(digits.count), digits.allSatisfy({ $0 >= 48 && $0 <= 57 }) else { return false }
        return digits.first != 48 || text.count == 1
    }

    /// Returns whether SQLite accepts a text as a number: space, sign, digits with a decimal point, exponent, space.
    private static func isNumber(_ text: UnsafeRawBufferPointer) -> Bool {
        var at = 0
        func byte() -> UInt8 { at < text.count ? text[at] : 0 }
        func skipSpace() { while byte() == 32 || byte() >= 9 && byte() <= 13 { at += 1 } }
        func skipSign() { if byte() == UInt8(ascii: "+") || byte() == UInt8(ascii: "-") { at += 1 } }
        func skipDigits() -> Bool {
            let start = at
            while byte() >= 48 && byte() <= 57 { at += 1 }
            return at > start
        }
        skipSpace()
        skipSign()
        var hasDigits = skipDigits()
        if byte() == UInt8(ascii: ".") {
            at += 1
            let hasMore = skipDigits()
            hasDigits = hasDigits || hasMore
        }
        guard hasDigits else { return false }
        if byte() | 32 == UInt8(ascii: "e") {
            at += 1
            skipSign()
            guard skipDigits() else { return false }
        }
        skipSpace()
        return at == text.count
    }
}
