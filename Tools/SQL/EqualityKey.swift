import CSQLite
import FirnBytes
import FirnModel

/// Hashes of values as SQLite compares them for equality: of rows of a column, and of the other side of a comparison.
enum EqualityKey {
    /// What is known of a value that a column is compared with.
    enum Probe {
        /// Rows that equal it have this hash, or are odd texts if `orOdd` (`isOdd`).
        case hash(UInt64, orOdd: Bool)
        case null
        /// No row equals it.
        case never
        /// Rows that equal it may have any hash.
        case unknown
    }

    /// Whether look-ups by such columns can be answered.
    static func isUseful(_ form: SQLForm) -> Bool { form.isNumeric || form.isTextual || form == .blob }

    /// Beside a number SQLite compares a text as the number that it says, which may be written in many ways. Such texts are listed, but for whole
    /// numbers in plain digits: for them the hash of the digits serves.
    static func mayBeOdd(_ form: SQLForm) -> Bool { form == .text || form == .objectID }

    static func combine(_ hash: UInt64, _ next: UInt64) -> UInt64 { mix(hash &+ 0x6A09_E667_F3BC_C909, next) }

    /// Eight neighbours have neighbouring slots: look-ups are often of one number after the other, as those of keys are.
    @inline(__always)
    private static func hash(_ x: Int64) -> UInt64 { mix(UInt64(bitPattern: x) >> 3, 1) & ~7 | UInt64(bitPattern: x) & 7 }

    // MARK: Rows

    /// The hashes of a vector's rows; null is `nullHash`.
    static func hash(_ column: firn_sql_column, _ form: SQLForm, count: Int, into out: UnsafeMutablePointer<UInt64>) {
        switch Int(column.form) {
        case FIRN_SQL_INT: for row in 0..<count { out[row] = hash(column.words[row]) }
        // Not a number is null to SQLite.
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
            // What other texts say this number is either odd or plain digits. SQLite writes infinity as letters.
            guard mayBeOdd(form), x.isFinite else { return form == .text ? .unknown : .never }
            return abs(x) < 1e15 ? x.rounded() == x ? whole(Int64(x)) : .hash(realHash(x), orOdd: true) : .unknown
        }
    }

    private static func whole(_ x: Int64) -> Probe {
        var text = String(x)
        return text.withUTF8 { isPlainWhole(UnsafeRawBufferPointer($0)) ? .hash(hashBytes(UnsafeRawBufferPointer($0)), orOdd: true) : .unknown }
    }

    // MARK: Texts that are numbers

    /// A text that is a number to SQLite, in another spelling than plain digits.
    static func isOdd(_ text: UnsafeRawBufferPointer) -> Bool {
        guard let first = text.first, first <= UInt8(ascii: "9") else { return false }
        return !isPlainWhole(text) && isNumber(text)
    }

    /// The digits of a decimal that no number of SQL holds are such a text, and yet compared as the number that they say.
    static func isLongNumber(_ text: UnsafeRawBufferPointer) -> Bool {
        guard let first = text.first, first <= UInt8(ascii: "9") else { return false }
        return (text.count >= 16 || text.contains { $0 | 32 == UInt8(ascii: "e") }) && isNumber(text)
    }

    /// A whole number of 18 digits at most, in the only spelling that has no zeros or signs to spare.
    private static func isPlainWhole(_ text: UnsafeRawBufferPointer) -> Bool {
        guard let first = text.first else { return false }
        let digits = first == UInt8(ascii: "-") ? text[1...] : text[...]
        guard (1...18).contains(digits.count), digits.allSatisfy({ $0 >= 48 && $0 <= 57 }) else { return false }
        return digits.first != 48 || text.count == 1
    }

    /// Space, sign, digits with a point, exponent, space: as SQLite reads numbers.
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
