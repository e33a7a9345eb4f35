import FirnBytes
import FirnTable

extension RealmKind {
    /// The kind of a value in Firn. Links to embedded objects are embedded objects.
    func scalar(isEmbedded: Bool) -> ScalarKind {
        switch self {
        case .int: .int
        case .bool: .bool
        case .string: .string
        case .binary: .data
        case .mixed, .typedLink: .any
        case .timestamp: .date
        case .float: .float
        case .double: .double
        case .decimal: .decimal
        case .link: isEmbedded ? .embedded : .link
        case .objectID: .objectID
        case .uuid: .uuid
        }
    }
}

extension RealmColumn {
    /// The type of the column in Firn, as the object layer declares properties of this type.
    func type(target name: String?, isEmbedded: Bool) -> ColumnType {
        let kind = kind.scalar(isEmbedded: isEmbedded), isAny = kind == .any
        switch collection {
        case .none: return ColumnType(kind, optional: isNullable && !isAny, target: name)
        case .list: return ColumnType(kind, collection: .list, elementOptional: isNullable && !isAny, target: name)
        case .set: return ColumnType(kind, collection: .set, elementOptional: isNullable && !isAny, target: name)
        case .dictionary: return ColumnType(kind, collection: .map, elementOptional: isNullable && !isAny, target: name)
        }
    }
}

extension RealmVersion {
    /// The name of the embedded type that keeps the schema version (`docs/format/model.md`).
    static let versionType = TypeSchema("_Realm", columns: [ColumnSchema("schemaVersion", ColumnType(.int))], isEmbedded: true)

    /// Names the types of the tables that are read, and returns their schema. Columns that lead to tables that are left out are removed.
    func makeSchema() throws(Damage) -> (schema: Schema, remarks: [String]) {
        var remarks: [String] = [], taken: Set<String> = [], types: [TypeSchema] = []
        // Names of classes are used first: the name of another table must not change them.
        for slot in tables.indices {
            guard let name = tables[slot]?.className else { continue }
            names[slot] = name
            taken.insert(name)
        }
        for slot in tables.indices where names[slot] == nil {
            guard let table = tables[slot] else { continue }
            var name = table.name.isEmpty ? "table" : table.name
            while taken.contains(name) { name = "_" + name }
            names[slot] = name
            taken.insert(name)
        }
        for slot in tables.indices {
            guard let name = names[slot], let table = tables[slot] else { continue }
            let hidden = table.columns.filter { column in column.target.map { tables[$0] == nil } ?? false }
            for column in hidden {
                remarks.append("column \"\(name).\(column.name)\" leads to a table that is left out, and is left out too")
            }
            if table.renamed > 0 {
                remarks.append("type \"\(name)\": \(table.renamed) empty or repeated names of columns were changed, as Realm does")
            }
            let key = table.key.map { table.columns[$0].name }
            tables[slot]!.columns.removeAll { column in hidden.contains { $0.name == column.name } }
            tables[slot]!.key = key.flatMap { tables[slot]!.position(ofColumn: $0) }
            types.append(type(tables[slot]!, named: name))
        }
        let schema = Schema(types)
        try check(schema)
        return (schema, remarks)
    }

    private func type(_ table: RealmTable, named name: String) -> TypeSchema {
        let columns = table.columns.enumerated().map { index, column in
            let isEmbedded = column.target.flatMap { tables[$0] }?.kind == .embedded
            let type = column.type(target: column.target.flatMap { names[$0] }, isEmbedded: isEmbedded)
            var marks: IndexMarks = []
            // Keys need no index of their own.
            if column.isIndexed, index != table.key, type.refusal(of: .values) == nil { marks.insert(.values) }
            if column.isTextIndexed, type.refusal(of: .words) == nil { marks.insert(.words) }
            return ColumnSchema(column.name, type, indexes: marks)
        }
        return TypeSchema(name, columns: columns, key: table.key.map { [$0] } ?? [], isEmbedded: table.kind == .embedded)
    }

    /// Throws if embedded types that contain each other unfold into too many columns.
    private func check(_ schema: Schema) throws(Damage) {
        let columns = schema.types.reduce(0) { $0 + $1.columns.count }
        var widths = Dictionary(schema.types.map { ($0.name, $0.columns.count) }, uniquingKeysWith: { a, _ in a })
        for _ in 1..<Column.maximumNesting {
            var next: [String: Int] = [:]
            for type in schema.types {
                next[type.name] = type.columns.reduce(type.columns.count) { sum, column in
                    column.type.kind == .embedded ? min(1 << 40, sum + (widths[column.type.target ?? ""] ?? 0)) : sum
                }
            }
            widths = next
        }
        for type in schema.types where widths[type.name]! > columns + 131_072 {
            throw Damage("type \"\(type.name)\" unfolds into too many columns of embedded objects", at: 20)
        }
    }
}
