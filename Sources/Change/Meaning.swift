import FirnBytes
import FirnModel

/// How the values of a column in one table are compared with those of its namesake in the other.
/// Every case has a hash and an equality that agree: equal values have equal hashes.
enum Meaning: Sendable {
    /// bool, int or link on both sides.
    case words
    /// date, uuid or object id on both sides.
    case pairs
    /// double or float on both sides (0 = -0, NaN = NaN).
    case reals
    /// Numbers of different kinds, or decimals: by value (`Value.sameNumber`).
    case numbers
    /// string or data on both sides.
    case text
    /// One value of different kinds that are not both numbers: by the text that a file would show.
    case written
    /// Collections, embedded objects and any.
    case values

    init(_ left: ColumnType, _ right: ColumnType) {
        func isNumber(_ type: ColumnType) -> Bool { [.int, .float, .double, .decimal].contains(type.kind) }
        func isOpen(_ type: ColumnType) -> Bool { type.isCollection || type.kind == .any || type.kind == .embedded }
        if isOpen(left) || isOpen(right) {
            self = .values
        } else if left.kind != right.kind {
            self = isNumber(left) && isNumber(right) ? .numbers : .written
        } else {
            self = switch left.kind {
            case .bool, .int, .link: .words
            case .date, .uuid, .objectID: .pairs
            case .float, .double: .reals
            case .decimal: .numbers
            default: .text
            }
        }
    }
}

extension Value {
    /// Gives the fields of embedded objects the names they have in the schema.
    func named(_ type: ColumnType, in schema: Schema) -> Value {
        guard type.kind == .embedded, let target = type.target.flatMap({ schema[$0] }) else { return self }
        switch self {
        case .list(let values): return .list(values.map { $0.named(type.element, in: schema) })
        case .set(let values): return .set(values.map { $0.named(type.element, in: schema) })
        case .map(let entries) where type.collection == .map:
            return .map(entries.map { Entry($0.key, $0.value.named(type.element, in: schema)) })
        case .object(let entries):
            return .object(entries.enumerated().map { i, entry in
                guard i < target.columns.count else { return entry }
                return Entry(target.columns[i].name, entry.value.named(target.columns[i].type, in: schema))
            })
        default: return self
        }
    }
}
