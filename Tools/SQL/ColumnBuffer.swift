import CSQLite
import FirnBytes
import FirnExchange
import FirnTable

/// The values of a column for a run of rows, at stable addresses, in the form that the C side passes to SQLite. Buffers are filled
/// repeatedly.
final class ColumnBuffer {
    private var words = Grown<Int64>(), reals = Grown<Double>(), offsets = Grown<Int64>(), bytes = Grown<UInt8>(),
        present = Grown<UInt64>(), forms = Grown<UInt8>()
    /// The text of values that are converted to text.
    private var scratch = Text()
    private var charge: MemoryCharge?

    deinit {
        words.free()
        reals.free()
        offsets.free()
        bytes.free()
        present.free()
        forms.free()
    }

    /// Charges the memory for values of this size before they are copied. Less than 64 KiB is not charged.
    func hold(_ bytes: Int, _ scope: MemoryScope) throws(Damage) {
        if bytes >= 64 << 10 { try MemoryCharge.grow(&charge, to: bytes, scope) }
    }

    /// The number of allocated bytes.
    var footprint: Int { (words.capacity + reals.capacity + offsets.capacity + present.capacity) * 8 + bytes.capacity + forms.capacity }

    /// Copies the values of a column. `description` is the schema of the column.
    func fill(_ column: Column, _ form: SQLForm, _ description: ColumnSchema, in schema: Schema) -> firn_sql_column {
        var out = firn_sql_column()
        if let bits = column.present, !bits.allSet { out.present = UnsafePointer(present.take(bits.words)) }
        switch form {
        case .int, .bool:
            out.form = Int32(FIRN_SQL_INT)
            out.words = UnsafePointer(words.take(column.words))
        case .real, .float:
            out.form = Int32(FIRN_SQL_REAL)
            out.reals = UnsafePointer(reals.take(column.reals))
        case .text: take(column.text, &out, FIRN_SQL_TEXT)
        case .blob: take(column.text, &out, FIRN_SQL_BLOB)
        case .date, .uuid, .objectID, .json, .longDecimal:
            scratch.removeAll()
            for row in 0..<column.count { write(column, row, form, description, schema) }
            take(scratch, &out, FIRN_SQL_TEXT)
        case .any, .decimal: fillMixed(column, &out)
        }
        return out
    }

    func fill(rowIDs: [Int64]) -> firn_sql_column {
        var out = firn_sql_column()
        out.form = Int32(FIRN_SQL_INT)
        out.words = UnsafePointer(words.take(rowIDs))
        return out
    }

    private func take(_ text: Text, _ out: inout firn_sql_column, _ form: Int) {
        out.form = Int32(form)
        out.offsets = UnsafePointer(offsets.take(text.offsets.lazy.map { Int64($0) }, count: text.offsets.count))
        out.bytes = UnsafePointer(bytes.take(text.bytes))
    }

    private func write(_ column: Column, _ row: Int, _ form: SQLForm, _ description: ColumnSchema, _ schema: Schema) {
        guard column.isPresent(row) else { return scratch.appendEmpty() }
        switch form {
        case .date(let isDay): scratch.append(SQLText.date(column.words[row], column.extra[row], isDay: isDay))
        case .json:
            var text: [UInt8] = []
            JSONText.append(column, row: row, of: description, in: schema, to: &text)
            scratch.append(text)
        case .longDecimal:
            if case .decimal(let value) = column.value(at: row) { scratch.append(value.description) } else { scratch.appendEmpty() }
        default: scratch.append(SQLText.text(column.value(at: row), isUpper: form == .uuid(isUpper: true)))
        }
    }

    /// Copies values of different kinds, each with its own form.
    private func fillMixed(_ column: Column, _ out: inout firn_sql_column) {
        scratch.removeAll()
        var kinds: [UInt8] = [], numbers: [Int64] = [], fractions: [Double] = []
        for row in 0..<column.count {
            var kind = FIRN_SQL_TEXT, number: Int64 = 0, fraction = 0.0
            switch column.value(at: row) {
            case .null:
                kind = FIRN_SQL_NULL
                scratch.appendEmpty()
            case .bool(let x): (kind, number) = (FIRN_SQL_INT, x ? 1 : 0)
            case .int(let x), .link(let x): (kind, number) = (FIRN_SQL_INT, x)
            case .float(let x): (kind, fraction) = (FIRN_SQL_REAL, Double(x))
            case .double(let x): (kind, fraction) = (FIRN_SQL_REAL, x)
            case .decimal(let x):
                switch SQLDecimal(x) {
                case .int(let x): (kind, number) = (FIRN_SQL_INT, x)
                case .real(let x): (kind, fraction) = (FIRN_SQL_REAL, x)
                case .text(let x): scratch.append(x)
                }
            case .data(let x):
                kind = FIRN_SQL_BLOB
                scratch.append(x)
            case let value: scratch.append(SQLText.text(value, isUpper: false))
            }
            if scratch.count == row { scratch.appendEmpty() }
            kinds.append(UInt8(kind))
            numbers.append(number)
            fractions.append(fraction)
        }
        take(scratch, &out, FIRN_SQL_MIXED)
        out.forms = UnsafePointer(forms.take(kinds))
        out.words = UnsafePointer(words.take(numbers))
        out.reals = UnsafePointer(reals.take(fractions))
    }
}

/// Converts values without a type in SQL to text.
enum SQLText {
    static func date(_ seconds: Int64, _ nanoseconds: Int64, isDay: Bool) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: DateText.room) { out, count in
            let midnight = nanoseconds == 0 && seconds % 86_400 == 0
            count = DateText.write(
                seconds: seconds, nanoseconds: nanoseconds, notation: isDay && midnight ? .dateOnly : .dateTimeSpace(0),
                to: out.baseAddress!)
        }
    }

    static func text(_ value: Value, isUpper: Bool) -> [UInt8] {
        switch value {
        case .string(let x): return Array(x.utf8)
        case .date(let x): return date(x.seconds, Int64(x.nanoseconds), isDay: false)
        case .uuid(let x):
            return [UInt8](unsafeUninitializedCapacity: 36) { out, count in
                IdentifierText.write(uuid: x, upper: isUpper, to: out.baseAddress!)
                count = 36
            }
        case .objectID(let x):
            return [UInt8](unsafeUninitializedCapacity: 24) { out, count in
                IdentifierText.write(objectID: x, to: out.baseAddress!)
                count = 24
            }
        default:
            var text: [UInt8] = []
            JSONText.append(value, to: &text)
            return text
        }
    }
}

/// Memory that grows, with an address that changes only when it grows.
private struct Grown<Element: BitwiseCopyable> {
    private var base: UnsafeMutablePointer<Element>?
    private(set) var capacity = 0

    mutating func take(_ values: [Element]) -> UnsafeMutablePointer<Element> {
        let room = room(values.count)
        values.withUnsafeBufferPointer { if let from = $0.baseAddress { room.update(from: from, count: $0.count) } }
        return room
    }

    mutating func take(_ values: some Sequence<Element>, count: Int) -> UnsafeMutablePointer<Element> {
        let room = room(count)
        var at = 0
        for value in values {
            room[at] = value
            at &+= 1
        }
        return room
    }

    private mutating func room(_ count: Int) -> UnsafeMutablePointer<Element> {
        if let base, count <= capacity { return base }
        base?.deallocate()
        capacity = max(64, count + count / 4)
        let fresh = UnsafeMutablePointer<Element>.allocate(capacity: capacity)
        base = fresh
        return fresh
    }

    func free() { base?.deallocate() }
}
