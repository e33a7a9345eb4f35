import CSQLite
import FirnBytes
import FirnExchange
import FirnTable

/// The column of a table that a column of a result shows, also through subqueries and views. Its values have the type of that column.
package struct SQLOrigin: Sendable {
    /// The type and the notation of the column, which can be null.
    package let schema: ColumnSchema
    /// Whether the values are JSON text: those of collections and embedded objects.
    package let isJSON: Bool

    /// Nil for columns of several types.
    init?(_ column: SQLColumn) {
        var schema = column.isLink ? column.target?.keySchema ?? ColumnSchema(column.name, ColumnType(.int)) : column.schema
        isJSON = column.form == .json
        switch schema.type.kind {
        case _ where isJSON: schema = ColumnSchema(column.name, ColumnType(.string))
        case .any: return nil
        case .link: schema.type = ColumnType(.int)
        default: break
        }
        let logical = schema.logical
        schema = ColumnSchema(schema.name, ColumnType(schema.type.kind, optional: true), notation: schema.notation)
        schema.logical = logical
        self.schema = schema
    }

    /// Returns the value of the column that a value of SQL stands for; nil if there is none.
    package func value(_ value: Value) -> Value? {
        switch (schema.type.kind, value) {
        case (_, .null), (.int, .int), (.double, .double), (.string, .string), (.data, .data): value
        case (.bool, .int(let x)): x == 0 || x == 1 ? .bool(x == 1) : nil
        case (.double, .int(let x)): Double(exactly: x).map { .double($0) }
        case (.float, .int(let x)): Float(exactly: x).map { .float($0) }
        case (.float, .double(let x)): Float(exactly: x).map { .float($0) }
        case (.date, .string(let text)): Timestamp(text: text).map { .date($0) }
        case (.decimal, .int(let x)): Decimal(String(x)).map { .decimal($0) }
        case (.decimal, .double(let x)): Decimal(x.description).map { .decimal($0) }
        case (.decimal, .string(let text)): Decimal(text).map { .decimal($0) }
        case (.uuid, .string(let text)): Identifier(uuidText: text).map { .uuid($0) }
        case (.objectID, .string(let text)): Identifier(objectIDText: text).map { .objectID($0) }
        default: nil
        }
    }

    /// Returns the value for a text format: a bool, or the value that a JSON text describes if the format is JSON; nil if SQL's own value is
    /// written.
    package func shown(_ value: Value, inJSON: Bool) -> Value? {
        switch value {
        case .int where schema.type.kind == .bool: self.value(value)
        case .string(let text) where isJSON && inJSON: ExactJSON.document(Array(text.utf8))
        default: nil
        }
    }
}

extension SQLConnection {
    /// Returns the origins of the columns of a statement. They are nil if the statement, or a view, combines rows of several SELECTs: SQLite
    /// names the columns of the first one only.
    func origins(_ statement: OpaquePointer, columns: Int) -> [SQLOrigin?] {
        let text = firn_sql_statement_text(statement).map { String(cString: $0) } ?? ""
        guard !combinesRows(text) else { return [SQLOrigin?](repeating: nil, count: columns) }
        return (0..<columns).map { column in
            let origin = firn_sql_column_origin(statement, Int32(column))
            guard let name = origin.column.map({ String(cString: $0) }), let table = origin.table.map({ String(cString: $0) }),
                origin.database.map({ String(cString: $0) }) == "main",
                // The name of the row id, which can be that of a column too.
                NameTable.folded(name) != "rowid"
            else { return nil }
            return tables.last { $0.name == table }?.column(named: name).flatMap { SQLOrigin($0) }
        }
    }

    private func combinesRows(_ text: String) -> Bool {
        let statements = SQLStatements(text), tokens = statements.tokens(0..<statements.bytes.count)
        let isCompound = tokens.contains { token in ["union", "except", "intersect", "values"].contains { token.isWord($0) } }
        if isCompound, tokens.contains(where: { $0.isWord("view") }) { hasCompoundView = true }
        return isCompound || hasCompoundView
    }
}
