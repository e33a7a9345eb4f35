import FirnBytes
import FirnTable
import Foundation

extension Value {
    /// Converts the value of a primary key: an untyped value, an enum or a custom type. Returns nil if there is no corresponding value.
    init?(key: Any?) {
        if let value = Value(any: key) {
            self = value
        } else if let element = unwrapped(key) as? any _Element, !type(of: element)._isObject {
            self = element._stored(in: nil).value
        } else {
            return nil
        }
    }

    /// Returns the same value as a value of another kind, such as an integer as a double or a boolean as 0 or 1, or nil if there
    /// is none.
    func fitted(to kind: ScalarKind) -> Value? {
        switch (self, kind) {
        case (.null, _), (.bool, .bool), (.int, .int), (.float, .float), (.double, .double), (.string, .string), (.data, .data),
            (.date, .date),
            (.decimal, .decimal), (.objectID, .objectID), (.uuid, .uuid), (_, .any):
            self
        case (.int(let x), .double): .double(Double(x))
        case (.int(let x), .float): .float(Float(x))
        case (.int(let x), .decimal): .decimal(Decimal(x))
        case (.float(let x), .double): .double(Double(x))
        case (.double(let x), .float): .float(Float(x))
        case (.double(let x), .decimal): .decimal(Decimal(x))
        // Dictionary literals with mixed numbers turn integers into doubles, and so do some JSON readers.
        case (.double(let x), .int): Int64(exactly: x).map { .int($0) }
        // JSON readers and other languages write 0 and 1 for booleans.
        case (.int(let x), .bool) where x == 0 || x == 1: .bool(x == 1)
        case (.double(let x), .bool) where x == 0 || x == 1: .bool(x == 1)
        case (.bool(let x), .int): .int(x ? 1 : 0)
        case (.string(let x), .decimal): Decimal(x).map { .decimal($0) }
        case (.string(let x), .objectID): Identifier(objectIDText: x).map { .objectID($0) }
        case (.string(let x), .uuid): Identifier(uuidText: x).map { .uuid($0) }
        default: nil
        }
    }
}
