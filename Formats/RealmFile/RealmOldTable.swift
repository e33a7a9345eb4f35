import FirnBytes

/// Tables of the formats 5 to 9: a tree for each column, and rows that are identified by their positions.
extension RealmTable {
    /// - Parameter tableCount: The number of tables, to which links lead by number.
    init(old bytes: RealmBytes, _ root: RealmTableRoot, name: String, tableCount: Int) throws(Damage) {
        self.name = name
        kind = .topLevel
        guard let columnsRef = try root.array.ref(1) else { throw Damage("table \"\(name)\" has no columns", at: root.array.offset) }
        let roots = try bytes.array(columnsRef)
        guard roots.hasRefs || roots.count == 0 else { throw Damage("this is not a list of columns", at: columnsRef) }
        let types = try root.integers(bytes, 0, "types of columns"), attributes = try root.integers(bytes, 2, "attributes of columns")
        let names = try root.names(bytes)
        guard attributes.count == types.count else { throw Damage("the lists of columns have different lengths", at: root.spec.offset) }
        var parts = try OldParts(bytes, root.spec, name)
        var columns: [RealmColumn] = [], unique = RealmNames(), position = 0
        for i in 0..<types.count {
            let marks = RealmAttributes(rawValue: attributes[i]), code = Int(types[i])
            defer { position += marks.contains(.indexed) ? 2 : 1 }
            if code == RealmKind.backlink {
                parts.skipBacklink()
                continue
            }
            guard i < names.count, position < roots.count else {
                throw Damage("column \(i) of table \"\(name)\" has no name or no values", at: root.spec.offset)
            }
            var column = try parts.column(code, marks, "column \"\(names[i])\" of table \"\(name)\"", tableCount)
            column.name = unique.unique(names[i], i)
            column.position = position
            columns.append(column)
        }
        self.columns = columns
        renamed = unique.changed
        objects = try RealmObjects(roots: roots, columns, bytes)
    }

    /// The parts of an old spec that are consumed in the order of the columns.
    private struct OldParts {
        private let bytes: RealmBytes
        private let spec: RealmArray
        private let name: String
        private let parts: RealmArray?
        private let enumerations: RealmArray?
        private var part = 0
        private var enumeration = 0

        init(_ bytes: RealmBytes, _ spec: RealmArray, _ name: String) throws(Damage) {
            self.bytes = bytes
            self.spec = spec
            self.name = name
            parts =
                spec.count > 3 ? try spec.ref(3).map { (ref) throws(Damage) in try bytes.refs(ref, atLeast: 0, "a list of types") } : nil
            enumerations =
                spec.count > 4
                ? try spec.ref(4).map { (ref) throws(Damage) in try bytes.refs(ref, atLeast: 0, "a list of distinct values") } : nil
        }

        mutating func skipBacklink() { part += 2 }

        private mutating func next() throws(Damage) -> (RealmArray, Int) {
            guard let parts, part < parts.count else {
                throw Damage("the types of links of table \"\(name)\" are missing", at: spec.offset)
            }
            part += 1
            return (parts, part - 1)
        }

        mutating func column(_ code: Int, _ marks: RealmAttributes, _ what: String, _ tableCount: Int) throws(Damage) -> RealmColumn {
            var column = RealmColumn(name: "", owner: name, kind: .int, isNullable: marks.contains(.nullable), position: 0)
            column.isIndexed = marks.contains(.indexed)
            switch code {
            case RealmKind.oldEnumeration:
                column.kind = .string
                guard let enumerations, enumeration < enumerations.count, let values = try enumerations.ref(enumeration) else {
                    throw Damage("\(what) has no distinct values", at: spec.offset)
                }
                column.enumeration = values
                enumeration += 1
            case RealmKind.link.rawValue, RealmKind.linkList:
                column.kind = .link
                column.collection = code == RealmKind.linkList ? .list : .none
                column.isNullable = column.collection == .none
                let (parts, index) = try next()
                guard let table = parts.tagged(index), table < UInt64(tableCount) else {
                    throw Damage("\(what) leads to no table", at: parts.offset)
                }
                column.target = Int(table)
            case RealmKind.oldSubtable:
                column.collection = .list
                let (parts, index) = try next()
                guard let ref = try parts.ref(index) else { throw Damage("\(what) has no type", at: parts.offset) }
                let inner = try bytes.refs(ref, atLeast: 3, "a list of columns")
                guard let typeRef = try inner.ref(0), let markRef = try inner.ref(2) else { throw Damage("\(what) has no type", at: ref) }
                let types = try bytes.integers(typeRef, "types of columns"), inners = try bytes.integers(markRef, "attributes of columns")
                guard types.count == 1, inners.count == 1 else {
                    throw Damage("\(what) is a table of \(types.count) columns, which Realm itself no longer reads", at: ref)
                }
                guard let kind = RealmKind(rawValue: Int(types[0])), kind != .link, kind != .mixed, kind != .typedLink else {
                    throw Damage("\(what) is a list of the unknown type \(types[0])", at: typeRef)
                }
                column.kind = kind
                column.isNullable = RealmAttributes(rawValue: inners[0]).contains(.nullable)
            default:
                guard let kind = RealmKind(rawValue: code), kind != .mixed, kind != .typedLink, kind != .objectID, kind != .uuid,
                    kind != .decimal
                else { throw Damage("\(what) has the type \(code), which the format does not have", at: spec.offset) }
                column.kind = kind
            }
            return column
        }
    }
}
