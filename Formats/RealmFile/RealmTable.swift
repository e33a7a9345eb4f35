import FirnBytes

/// One table of a version: its columns, and where its objects are.
struct RealmTable {
    enum Kind: UInt64 { case topLevel = 0, embedded = 1, asymmetric = 2 }

    /// The name in the file, such as `class_Dog`.
    let name: String
    let kind: Kind
    var columns: [RealmColumn]
    /// The position in `columns` of the primary key; nil if there is none.
    var key: Int?
    /// The number of columns whose names were changed.
    let renamed: Int
    /// Which objects there are, and in which leaves their values are.
    let objects: RealmObjects

    /// Returns the position of a column; nil if there is none. Called at most three times for a table.
    func position(ofColumn name: String) -> Int? {
        for (position, column) in columns.enumerated() where column.name == name { return position }
        return nil
    }

    /// The name without the prefix of classes.
    var className: String? {
        guard name.hasPrefix(RealmFileFormat.classPrefix), name.utf8.count > RealmFileFormat.classPrefix.utf8.count else { return nil }
        return String(name.dropFirst(RealmFileFormat.classPrefix.count))
    }
}

/// What a table refers to before all tables are known.
struct RealmTableRoot {
    let array: RealmArray
    let spec: RealmArray
    /// The key of the table: its slot, and a generation above bit 15.
    let key: UInt64

    init(_ bytes: RealmBytes, _ ref: Int, slot: Int, format: UInt8) throws(Damage) {
        let array = try bytes.refs(ref, atLeast: format < 10 ? 2 : 3, "a table")
        guard let spec = try array.ref(0) else { throw Damage("a table has no list of columns", at: ref) }
        self.array = array
        self.spec = try bytes.refs(spec, atLeast: 3, "a list of columns")
        key = format >= 10 && array.count > 3 ? array.tagged(3) ?? 0 : UInt64(slot)
        if format >= 10, key & 0xFFFF != UInt64(slot) {
            throw Damage("the table in slot \(slot) has the key \(key)", at: ref)
        }
    }

    /// The integers of a part of the spec.
    func integers(_ bytes: RealmBytes, _ slot: Int, _ what: String) throws(Damage) -> RealmArray {
        guard let ref = try spec.ref(slot) else { throw Damage("a table has no \(what)", at: spec.offset) }
        let array = try bytes.integers(ref, what)
        guard array.count <= 1 << 16 else { throw Damage("\(array.count) columns are too many", at: ref) }
        return array
    }

    /// The names of the public columns, which are before the others.
    func names(_ bytes: RealmBytes) throws(Damage) -> [String] {
        guard let ref = try spec.ref(1) else { return [] }
        return try bytes.names(ref)
    }
}

extension RealmTable {
    /// Reads a table of the formats from 10 on.
    /// - Parameter keys: The keys of all tables, by slot.
    init(_ bytes: RealmBytes, _ root: RealmTableRoot, name: String, keys: [UInt64?], format: UInt8) throws(Damage) {
        let array = root.array, spec = root.spec
        func optional(_ slot: Int) throws(Damage) -> Int? { array.count > slot ? try array.ref(slot) : nil }
        self.name = name
        let flags = array.count > 12 ? array.tagged(12) ?? 0 : 0
        guard let kind = Kind(rawValue: flags & 3) else { throw Damage("a table of the unknown type \(flags & 3)", at: array.offset) }
        self.kind = kind
        let types = try root.integers(bytes, 0, "types of columns"), attributes = try root.integers(bytes, 2, "attributes of columns")
        guard spec.count > 5, let keyRef = try spec.ref(5) else { throw Damage("a table has no keys of columns", at: spec.offset) }
        let columnKeys = try bytes.integers(keyRef, "keys of columns"), names = try root.names(bytes)
        guard names.count <= types.count, attributes.count == types.count, columnKeys.count == types.count else {
            throw Damage("the lists of columns have different lengths", at: spec.offset)
        }
        let opposites = try optional(7).map { (ref) throws(Damage) in try bytes.integers(ref, "keys of tables") }
        let enumerations = try spec.ref(4).map { (ref) throws(Damage) in try bytes.refs(ref, atLeast: 0, "a list of distinct values") }
        var columns: [RealmColumn] = [], unique = RealmNames()
        let primary = array.count > 11 ? array.tagged(11) : nil
        var key: Int?
        for i in 0..<names.count {
            let columnKey = columnKeys[i], leaf = Int(columnKey & 0xFFFF), word = types[i], code = Int(word & 0xFFFF)
            let marks = RealmAttributes(rawValue: attributes[i])
            guard let type = RealmKind(rawValue: code == RealmKind.linkList ? RealmKind.link.rawValue : code), type != .typedLink else {
                throw Damage("column \"\(names[i])\" of table \"\(name)\" has the unknown type \(code)", at: types.offset)
            }
            var column = RealmColumn(
                name: unique.unique(names[i], i), owner: name, kind: type,
                collection: code == RealmKind.linkList && marks.collection == .none ? .list : marks.collection,
                isNullable: marks.contains(.nullable) || type == .mixed, position: leaf)
            (column.isIndexed, column.isTextIndexed) = (marks.contains(.indexed), marks.contains(.textIndexed))
            column.hasIntegerKeys = column.collection == .dictionary && word >> 16 == Int64(RealmKind.int.rawValue) && word >> 16 != 0
            if type == .link {
                guard let opposites, leaf < opposites.count else {
                    throw Damage("column \"\(names[i])\" of table \"\(name)\" leads to no table", at: array.offset)
                }
                let target = UInt64(bitPattern: opposites[leaf]), slot = Int(target & 0xFFFF)
                guard slot < keys.count, keys[slot] == target else {
                    throw Damage("column \"\(names[i])\" of table \"\(name)\" leads to no table", at: opposites.offset)
                }
                column.target = slot
                column.isNullable = column.collection == .none || column.collection == .dictionary
            }
            if let enumerations, i < enumerations.count { column.enumeration = try enumerations.ref(i) }
            if let primary, UInt64(bitPattern: columnKey) == primary { key = i }
            columns.append(column)
        }
        guard primary == nil || key != nil else { throw Damage("the primary key of table \"\(name)\" is no column", at: array.offset) }
        self.columns = columns
        self.key = key
        renamed = unique.changed
        objects = try optional(2).map { (ref) throws(Damage) in try RealmObjects(clusters: ref, bytes) } ?? RealmObjects()
    }
}
