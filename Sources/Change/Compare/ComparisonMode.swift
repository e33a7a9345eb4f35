import FirnBytes
import FirnTable

/// The comparison mode of a column: how its values in one table are compared with those of the column of the same name in the other. Each
/// mode has a hash and an equality that agree: equal values have equal hashes.
enum ComparisonMode: Sendable {
    /// Bool, int or link on both sides.
    case words
    /// Date, uuid or object id on both sides.
    case pairs
    /// Double or float on both sides (0 = -0, NaN = NaN).
    case reals
    /// Numbers of different kinds, or decimals: compared by value (`Value.sameNumber`).
    case numbers
    /// String or data on both sides.
    case text
    /// Single values of different kinds that are not both numbers: compared by canonical text.
    case canonicalText
    /// Collections, embedded objects and values of type any.
    case values

    /// Whether a comparison costs more than that of numbers.
    var isSlow: Bool {
        switch self {
        case .words, .pairs, .reals: false
        case .numbers, .text, .canonicalText, .values: true
        }
    }

    init(_ left: ColumnType, _ right: ColumnType) {
        func isNumber(_ type: ColumnType) -> Bool { [.int, .float, .double, .decimal].contains(type.kind) }
        func isOpen(_ type: ColumnType) -> Bool { type.isCollection || type.kind == .any || type.kind == .embedded }
        if isOpen(left) || isOpen(right) {
            self = .values
        } else if left.kind != right.kind {
            self = isNumber(left) && isNumber(right) ? .numbers : .canonicalText
        } else {
            self =
                switch left.kind {
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
    /// Returns the value with the fields of embedded objects named as in the schema. With `unwraps`, objects that stand for collections
    /// within a collection (docs/format/model.md, "Envelopes") are replaced by their only field.
    package func named(_ type: ColumnType, in schema: Schema, unwraps: Bool = false) -> Value {
        guard type.kind == .embedded, let target = type.target.flatMap({ schema[$0] }) else { return self }
        func named(_ value: Value, _ type: ColumnType) -> Value { value.named(type, in: schema, unwraps: unwraps) }
        switch self {
        case .list(let values): return .list(values.map { named($0, type.element) })
        case .set(let values): return .set(values.map { named($0, type.element) })
        case .map(let entries) where type.collection == .map:
            return .map(entries.map { Entry($0.key, named($0.value, type.element)) })
        case .object(let entries):
            if unwraps, target.isCollectionWithinCollection, let entry = entries.first { return named(entry.value, target.columns[0].type) }
            return .object(
                entries.enumerated().map { i, entry in
                    guard i < target.columns.count else { return entry }
                    return Entry(target.columns[i].name, named(entry.value, target.columns[i].type))
                })
        default: return self
        }
    }
}

extension TypeSchema {
    fileprivate var isCollectionWithinCollection: Bool {
        isEmbedded && columns.count == 1 && columns[0].type.isCollection && envelope == #"{"json":"bare"}"#
    }
}
