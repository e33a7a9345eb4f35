/// What one value is. The raw values are written to files and never change.
package enum ScalarKind: UInt8, Hashable, Sendable, CaseIterable {
    case bool = 1, int = 2, float = 3, double = 4, string = 5, data = 6, date = 7, decimal = 8, objectID = 9, uuid = 10
    /// A value of any kind, told by a tag beside it.
    case any = 11
    /// The row id of an object of another type.
    case link = 12
    /// An object that belongs to exactly one owner: in a file a row of its own (embedded) type, in memory fields beside the owner.
    case embedded = 13

    /// The name that users read and write.
    package var name: String {
        switch self {
        case .objectID: "objectId"
        case .decimal: "decimal128"
        default: "\(self)"
        }
    }

    package init?(name: String) {
        guard let kind = ScalarKind.allCases.first(where: { $0.name == name }) else { return nil }
        self = kind
    }
}

/// How many values a row holds. The raw values are written to files and never change.
package enum CollectionKind: UInt8, Hashable, Sendable {
    /// One value.
    case none = 0
    /// In order, duplicates allowed.
    case list = 1
    /// Distinct, kept ascending.
    case set = 2
    /// By string key, keys kept ascending by their bytes.
    case map = 3
}

/// The type of a column.
package struct ColumnType: Hashable, Sendable {
    package var kind: ScalarKind
    /// A row may have no value. (For a collection: no collection, which is not the same as an empty one.)
    package var isOptional: Bool
    package var collection: CollectionKind
    /// An element of the collection may be null; false for columns that are not collections.
    package var elementIsOptional: Bool
    /// The name of the type that `link` and `embedded` lead to.
    package var target: String?

    package init(_ kind: ScalarKind, optional: Bool = false, collection: CollectionKind = .none, elementOptional: Bool = false, target: String? = nil) {
        self.kind = kind
        isOptional = optional
        self.collection = collection
        elementIsOptional = elementOptional
        self.target = target
    }

    /// The type of one element of a collection, as a column of its own.
    package var element: ColumnType { ColumnType(kind, optional: elementIsOptional, target: target) }
    package var isCollection: Bool { collection != .none }

    /// As shown to users: `string`, `int?`, `list<double>`, `map<string, any?>`, `link<Dog>`.
    package var name: String {
        let scalar = (target.map { kind == .link ? "link<\($0)>" : $0 } ?? kind.name)
        let inner = scalar + (elementIsOptional ? "?" : "")
        let text = switch collection {
        case .none: scalar
        case .list: "list<\(inner)>"
        case .set: "set<\(inner)>"
        case .map: "map<string, \(inner)>"
        }
        return text + (isOptional ? "?" : "")
    }
}
