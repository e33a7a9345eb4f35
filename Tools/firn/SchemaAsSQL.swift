import FirnSQL
import FirnTable

/// A schema as statements of SQL. Objects become columns such as `"birth.year"`, collections columns of JSON, links foreign keys.
struct SchemaAsSQL {
    private let schema: Schema
    private var lines: [String] = []
    private var remarks: [String] = []

    init(_ schema: Schema) {
        self.schema = schema
        for type in schema.rowTypes {
            if !lines.isEmpty { lines.append("") }
            add(type)
        }
    }

    var printed: (text: String, remarks: [String]) { (lines.map { $0 + "\n" }.joined(), remarks) }

    private mutating func add(_ type: TypeSchema) {
        var columns: [(text: String, comment: String?)] = [], indexed: [(path: String, kinds: IndexMarks)] = []
        add(type, [], isOptional: false, to: &columns, &indexed)
        if !type.key.isEmpty {
            columns.append(("PRIMARY KEY (\(type.key.map { SQLSpelling.name(type.columns[$0].name) }.joined(separator: ", ")))", nil))
        }
        lines.append("CREATE TABLE \(SQLSpelling.name(type.name)) (")
        for (i, column) in columns.enumerated() {
            let comma = i < columns.count - 1 ? "," : ""
            lines.append("    \(column.text)\(comma)" + (column.comment.map { " -- " + SchemaAsSQL.oneLine($0) } ?? ""))
        }
        lines.append(");")
        for index in indexed {
            if index.kinds.contains(.values) {
                lines.append(
                    "CREATE INDEX \(SQLSpelling.name("\(type.name)_\(index.path)")) ON \(SQLSpelling.name(type.name)) "
                        + "(\(SQLSpelling.name(index.path)));")
            }
            if index.kinds.contains(.words) {
                remarks.append("the index of the words of \"\(type.name).\(index.path)\" has no equal in SQL, and is left out")
            }
        }
    }

    /// Comments end with their line.
    static func oneLine(_ text: String) -> String { String(text.map { $0.isNewline ? " " : $0 }) }

    private func add(
        _ type: TypeSchema, _ names: [String], isOptional: Bool, to columns: inout [(text: String, comment: String?)],
        _ indexed: inout [(path: String, kinds: IndexMarks)]
    ) {
        for column in type.columns {
            let path = names + [column.name], optional = isOptional || column.type.isOptional
            if column.type.kind == .embedded, !column.type.isCollection, path.count < Column.maximumNesting,
                let target = column.type.target.flatMap({ schema[$0] }), !target.isBare
            {
                add(target, path, isOptional: optional, to: &columns, &indexed)
                continue
            }
            let name = path.joined(separator: "."), (type, comment) = typeAndComment(column, name),
                mayLack = optional || column.type.kind == .any
            columns.append(
                (SQLSpelling.name(name) + " " + type + (mayLack ? "" : " NOT NULL") + reference(column) + check(column, name), comment))
            if !column.indexes.isEmpty { indexed.append((name, column.indexes)) }
        }
    }

    private func key(of column: ColumnSchema) -> ColumnSchema? {
        guard let target = column.type.target.flatMap({ schema[$0] }), target.key.count == 1 else { return nil }
        return target.columns[target.key[0]]
    }

    private func reference(_ column: ColumnSchema) -> String {
        guard column.type.kind == .link, !column.type.isCollection, let target = column.type.target, let key = key(of: column) else {
            return ""
        }
        return " REFERENCES \(SQLSpelling.name(target)) (\(SQLSpelling.name(key.name)))"
    }

    private func check(_ column: ColumnSchema, _ name: String) -> String {
        guard case .enumeration(let texts)? = column.logical, !texts.isEmpty else { return "" }
        return " CHECK (\(SQLSpelling.name(name)) IN (\(texts.map { "'" + $0.replacing("'", with: "''") + "'" }.joined(separator: ", "))))"
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
