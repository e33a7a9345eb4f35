/// The kind of one value. The raw values are written to files and never change.
package enum ScalarKind: UInt8, Hashable, Sendable, CaseIterable {
    case bool = 1, int = 2, float = 3, double = 4, string = 5, data = 6, date = 7, decimal = 8, objectID = 9, uuid = 10
    /// A value of any kind, which its tag identifies.
    case any = 11
    /// The row id of an object of the target type.
    case link = 12
    /// An object that belongs to exactly one owner: in a file, a row of its embedded type; in memory, columns of fields in the owner's
    /// column.
    case embedded = 13

    /// The name that users read and write.
    package var name: String {
        switch self {
        case .objectID: "objectId"
        case .decimal: "decimal128"
        default: "\(self)"
        }
    }

    /// Returns nil if no kind has this name.
    package init?(name: String) {
        guard let kind = ScalarKind.allCases.first(where: { $0.name == name }) else { return nil }
        self = kind
    }
}

/// Whether a row contains one value or a collection. The raw values are written to files and never change.
package enum CollectionKind: UInt8, Hashable, Sendable {
    /// One value.
    case none = 0
    /// Ordered values; duplicates are allowed.
    case list = 1
    /// Distinct values in ascending order.
    case set = 2
    /// Values by string key, in ascending byte order of the keys.
    case map = 3
}

/// The type of a column.
package struct ColumnType: Hashable, Sendable {
    package var kind: ScalarKind
    /// Whether a row may have no value. For collections, a missing collection differs from an empty one.
    package var isOptional: Bool
    package var collection: CollectionKind
    /// Whether elements of the collection may be null. False for columns that are not collections.
    package var elementIsOptional: Bool
    /// The name of the target type of `link` and `embedded`.
    package var target: String?

    package init(
        _ kind: ScalarKind, optional: Bool = false, collection: CollectionKind = .none, elementOptional: Bool = false, target: String? = nil
    ) {
        self.kind = kind
        isOptional = optional
        self.collection = collection
        elementIsOptional = elementOptional
        self.target = target
    }

    /// The type of the elements of a collection, as a column of single values.
    package var element: ColumnType { ColumnType(kind, optional: elementIsOptional, target: target) }
    package var isCollection: Bool { collection != .none }

    /// The name that users see: `string`, `int?`, `list<double>`, `map<string, any?>`, `link<Dog>`.
    package var name: String {
        let scalar = (target.map { kind == .link ? "link<\($0)>" : $0 } ?? kind.name)
        let inner = scalar + (elementIsOptional ? "?" : "")
        let text =
            switch collection {
            case .none: scalar
            case .list: "list<\(inner)>"
            case .set: "set<\(inner)>"
            case .map: "map<string, \(inner)>"
            }
        return text + (isOptional ? "?" : "")
    }
}

extension ColumnType {
    /// The type in stored form: embedded objects are links to rows of their own.
    package var stored: ColumnType {
        var type = self
        if type.kind == .embedded { type.kind = .link }
        return type
    }
}
