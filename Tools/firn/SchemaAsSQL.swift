import FirnSQL
import FirnTable

/// A schema as statements of SQL. Objects become columns such as `"birth.year"`, collections columns of JSON, links foreign keys.
struct SchemaAsSQL {
    private let schema: Schema
    /// By type: the names of its table and, by path, of its columns.
    private var names: [String: Names] = [:]
    /// Tables and indexes have different names.
    private var taken = NameTable()
    private var lines: [String] = []
    private var remarks: [String] = []

    private struct Names {
        var table: String
        var columns: [[String]: String] = [:]
    }

    /// A column of a table: a column of the type, or a field of an object in it.
    private struct Leaf {
        let path: [String]
        let column: ColumnSchema
        /// Whether the column, or an object that contains it, can be null.
        let isOptional: Bool
    }

    init(_ schema: Schema) {
        self.schema = schema
        let types = schema.rowTypes.map { type in (type, leaves(of: type)) }
        for (type, leaves) in types {
            guard !leaves.isEmpty else {
                remarks.append("type \"\(type.name)\" has no columns, and is left out")
                continue
            }
            name(type, leaves)
        }
        for (type, leaves) in types where !leaves.isEmpty {
            if !lines.isEmpty { lines.append("") }
            add(type, leaves)
        }
    }

    var printed: (text: String, remarks: [String]) { (lines.map { $0 + "\n" }.joined(), remarks) }

    private func leaves(of type: TypeSchema, _ path: [String] = [], isOptional: Bool = false) -> [Leaf] {
        type.columns.flatMap { column in
            let path = path + [column.name], optional = isOptional || column.type.isOptional
            if column.type.kind == .embedded, !column.type.isCollection, path.count < Column.maximumNesting,
                let target = column.type.target.flatMap({ schema[$0] }), !target.isBare
            {
                return leaves(of: target, path, isOptional: optional)
            }
            return [Leaf(path: path, column: column, isOptional: optional || column.type.kind == .any)]
        }
    }

    /// Chooses the names of a table and its columns. Databases ignore case in names, or end them at U+0000.
    private mutating func name(_ type: TypeSchema, _ leaves: [Leaf]) {
        var columns = NameTable(), names = Names(table: taken.unique(type.name))
        if names.table != type.name { remarks.append("type \"\(type.name)\" is written as table \"\(names.table)\"") }
        for leaf in leaves {
            let dotted = leaf.path.joined(separator: "."), name = columns.unique(dotted)
            names.columns[leaf.path] = name
            if name != dotted {
                let reason = dotted.utf8.contains(0) ? "SQL has no U+0000 in names" : "SQL ignores case in names"
                remarks.append("column \"\(type.name).\(dotted)\" is written as \"\(name)\", because \(reason)")
            }
        }
        self.names[type.name] = names
    }

    private func name(of path: [String], in type: String) -> String {
        SQLSpelling.name(names[type]?.columns[path] ?? path.joined(separator: "."))
    }

    private mutating func add(_ type: TypeSchema, _ leaves: [Leaf]) {
        let table = names[type.name]?.table ?? type.name
        var columns: [(text: String, comment: String?)] = leaves.map { leaf in
            let name = name(of: leaf.path, in: type.name), (sql, comment) = typeAndComment(leaf.column, leaf.path.joined(separator: "."))
            return (name + " " + sql + (leaf.isOptional ? "" : " NOT NULL") + reference(leaf.column) + check(leaf.column, name), comment)
        }
        if !type.key.isEmpty {
            columns.append(
                ("PRIMARY KEY (\(type.key.map { name(of: [type.columns[$0].name], in: type.name) }.joined(separator: ", ")))", nil))
        }
        lines.append("CREATE TABLE \(SQLSpelling.name(table)) (")
        for (i, column) in columns.enumerated() {
            let comma = i < columns.count - 1 ? "," : ""
            lines.append("    \(column.text)\(comma)" + (column.comment.map { " -- " + SchemaAsSQL.oneLine($0) } ?? ""))
        }
        lines.append(");")
        for leaf in leaves where !leaf.column.indexes.isEmpty {
            let dotted = leaf.path.joined(separator: ".")
            if leaf.column.indexes.contains(.values) {
                let index = taken.unique("\(table)_\(dotted)")
                lines.append(
                    "CREATE INDEX \(SQLSpelling.name(index)) ON \(SQLSpelling.name(table)) (\(name(of: leaf.path, in: type.name)));")
            }
            if leaf.column.indexes.contains(.words) {
                remarks.append("the index of the words of \"\(type.name).\(dotted)\" has no equal in SQL, and is left out")
            }
        }
    }

    /// Comments end with their line.
    static func oneLine(_ text: String) -> String { String(text.map { $0.isNewline ? " " : $0 }) }

    private func key(of column: ColumnSchema) -> ColumnSchema? {
        guard let target = column.type.target.flatMap({ schema[$0] }), target.key.count == 1 else { return nil }
        return target.columns[target.key[0]]
    }

    private func reference(_ column: ColumnSchema) -> String {
        guard column.type.kind == .link, !column.type.isCollection, let target = column.type.target, let key = key(of: column) else {
            return ""
        }
        return " REFERENCES \(SQLSpelling.name(names[target]?.table ?? target)) (\(name(of: [key.name], in: target)))"
    }

    private func check(_ column: ColumnSchema, _ name: String) -> String {
        guard case .enumeration(let texts)? = column.logical, !texts.isEmpty else { return "" }
        return " CHECK (\(name) IN (\(texts.map(SQLSpelling.text).joined(separator: ", "))))"
    }

    private func typeAndComment(_ column: ColumnSchema, _ name: String) -> (String, String?) {
        if column.type.isCollection || column.type.kind == .embedded {
            return ("JSON", column.type.name + (column.logical.map { " \($0)" } ?? ""))
        }
        if column.type.kind == .link {
            guard let key = key(of: column) else {
                return ("BIGINT", "\(column.type.name): the row id, because the type has no key of one column")
            }
            return (typeAndComment(key, name).0, nil)
        }
        if let logical = column.logical { return logicalType(logical) }
        switch column.type.kind {
        case .bool: return ("BOOLEAN", nil)
        case .int: return ("BIGINT", nil)
        case .float: return ("REAL", nil)
        case .double: return ("DOUBLE PRECISION", nil)
        case .string: return ("TEXT", nil)
        case .data: return ("BLOB", nil)
        case .date: return (column.notation.standardDate == .dateOnly ? "DATE" : "TIMESTAMP WITH TIME ZONE", nil)
        case .decimal: return ("NUMERIC", "up to 34 digits")
        case .objectID: return ("CHAR(24)", "object id")
        case .uuid: return ("UUID", nil)
        default: return ("TEXT", "values of any type")
        }
    }

    private func logicalType(_ logical: LogicalType) -> (String, String?) {
        switch logical {
        case .integer(let bits, let isSigned):
            let names = isSigned ? [8: "SMALLINT", 16: "SMALLINT", 32: "INTEGER"] : [8: "SMALLINT", 16: "INTEGER", 64: "NUMERIC(20,0)"]
            return (names[bits] ?? "BIGINT", "\(logical)")
        case .float16: return ("REAL", "\(logical)")
        case .decimal(let precision, let scale):
            // SQL has no negative scale.
            return scale < 0 ? ("NUMERIC(\(precision - scale),0)", "\(logical)") : ("NUMERIC(\(precision),\(scale))", nil)
        case .date: return ("DATE", nil)
        case .time(let unit): return ("TIME(\(unit.digits))", nil)
        case .timestamp(let unit, let zone):
            return ("TIMESTAMP(\(unit.digits))" + (zone == nil ? "" : " WITH TIME ZONE"), zone.map { "shown in \($0)" })
        case .duration: return ("BIGINT", "\(logical)")
        case .interval: return ("INTERVAL", nil)
        case .enumeration: return ("TEXT", nil)
        case .json, .fixedList: return ("JSON", nil)
        case .geometry: return ("BLOB", "\(logical)")
        }
    }
}
