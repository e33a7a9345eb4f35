import FirnTable

/// The forms of `firn schema --as`.
enum SchemaForm: String {
    case sql, jsonSchema = "json-schema", parquet, arrow, swift

    /// Returns the schema in this form, and what it cannot express.
    func text(of schema: Schema) -> (text: String, remarks: [String]) {
        switch self {
        case .sql: SchemaAsSQL(schema).printed
        case .jsonSchema: (SchemaAsJSON(schema).text, [])
        case .parquet: (FormatShelf.parquetSchema(of: schema), [])
        case .arrow: (FormatShelf.arrowSchema(of: schema), [])
        case .swift: SchemaAsSwift(schema).printed
        }
    }
}

extension Schema {
    /// The types of the rows, without those that only the object layer uses.
    var rowTypes: [TypeSchema] { roots }

    /// The only field of the objects of a column if JSON has its value in place of the object.
    func bareField(of column: ColumnSchema) -> ColumnSchema? {
        guard let target = column.type.target.flatMap({ self[$0] }), target.isBare else { return nil }
        return target.columns.first
    }
}
