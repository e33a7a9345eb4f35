import CSQLite
import FirnTable

/// A value of SQLite, which is valid during a call.
enum SQLValue {
    case null
    case int(Int64)
    case real(Double)
    /// The bytes of a text, which need not be valid UTF-8.
    case text([UInt8])
    case blob([UInt8])

    init(_ value: OpaquePointer) { self.init(value, type: firn_sql_value_type(value)) }

    /// The value as a comparison with a numeric column uses it: a text that is a number is converted.
    init(numeric value: OpaquePointer) { self.init(value, type: firn_sql_numeric_type(value)) }

    /// The value of a parameter or of a row; nil for other kinds of values.
    init?(_ value: Value) {
        switch value {
        case .null: self = .null
        case .int(let x): self = .int(x)
        case .double(let x): self = x.isNaN ? .null : .real(x)
        case .string(let x): self = .text(Array(x.utf8))
        case .data(let x): self = .blob(x)
        default: return nil
        }
    }

    private init(_ value: OpaquePointer, type: Int32) {
        switch Int(type) {
        case FIRN_SQL_INT: self = .int(firn_sql_value_int(value))
        case FIRN_SQL_REAL: self = .real(firn_sql_value_real(value))
        case FIRN_SQL_TEXT: self = .text(SQLValue.bytes(of: value))
        case FIRN_SQL_BLOB: self = .blob(SQLValue.bytes(of: value))
        default: self = .null
        }
    }

    /// The bytes of a text or blob, or of a number as text.
    static func bytes(of value: OpaquePointer) -> [UInt8] {
        var count: Int64 = 0
        guard let base = firn_sql_value_bytes(value, &count) else { return [] }
        return Array(UnsafeBufferPointer(start: base, count: Int(count)))
    }
}

/// Calls `body` with each value of an IN list. A value is valid only during its call.
func forEachValue<E: Error>(of list: OpaquePointer, _ body: (OpaquePointer) throws(E) -> Void) throws(E) {
    var next = firn_sql_in_first(list)
    while let one = next {
        try body(one)
        next = firn_sql_in_next(list)
    }
}
