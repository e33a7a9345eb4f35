import FirnBytes

/// The type of a value in the file. The raw values are those of the file.
enum RealmKind: Int {
    case int = 0, bool = 1, string = 2, binary = 4, mixed = 6, timestamp = 8, float = 9, double = 10, decimal = 11, link = 12,
        objectID = 15, typedLink = 16, uuid = 17

    /// Formats up to 23 have a type of its own for lists of links.
    static let linkList = 13
    static let oldEnumeration = 3, oldSubtable = 5, oldDate = 7, backlink = 14
}

/// One public column of a table.
struct RealmColumn {
    enum Collection { case none, list, set, dictionary }

    var name: String
    /// The name of the table, for messages.
    var owner = ""
    var kind: RealmKind
    var collection = Collection.none
    /// Whether values, or elements of a collection, can be null.
    var isNullable: Bool
    var isIndexed = false
    var isTextIndexed = false
    /// The place of its values in a cluster; in formats up to 9 the position of its root.
    var position: Int
    /// The number of the table that links lead to; nil if they lead to none.
    var target: Int?
    /// Whether the keys of a dictionary are integers.
    var hasIntegerKeys = false
    /// The distinct values of an enumerated string column: a leaf, or in formats up to 9 a tree.
    var enumeration: Int?

    /// The name in messages.
    var path: String {
        let type = owner.hasPrefix(RealmFileFormat.classPrefix) ? String(owner.dropFirst(RealmFileFormat.classPrefix.count)) : owner
        return "\(type).\(name)"
    }

    /// The column whose values are the elements of this one.
    var element: RealmColumn {
        var column = self
        column.collection = .none
        return column
    }
}

/// The attributes of a column.
struct RealmAttributes: OptionSet {
    let rawValue: Int64
    static let indexed = RealmAttributes(rawValue: 1), nullable = RealmAttributes(rawValue: 16), list = RealmAttributes(rawValue: 32),
        dictionary = RealmAttributes(rawValue: 64), set = RealmAttributes(rawValue: 128), textIndexed = RealmAttributes(rawValue: 256)

    var collection: RealmColumn.Collection {
        contains(.list) ? .list : contains(.set) ? .set : contains(.dictionary) ? .dictionary : .none
    }
}

/// Names that no two columns share: formats up to 9 allow empty and repeated names, which Realm changes in the same way when it upgrades.
struct RealmNames {
    private var taken: Set<String> = []
    private(set) var changed = 0

    mutating func unique(_ name: String, _ index: Int) -> String {
        var candidate = name.isEmpty ? "col_\(index)" : name
        if taken.contains(candidate) { candidate = "\(candidate)_\(index)" }
        while taken.contains(candidate) { candidate += "_" }
        if candidate != name { changed += 1 }
        taken.insert(candidate)
        return candidate
    }
}
