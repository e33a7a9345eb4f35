import FirnExchange
import FirnTable

/// The types of `--schema` for a CSV that `--nest` reads: fields of objects are columns such as `name.first`, and columns of types that CSV
/// does not have are text that contains JSON.
struct FlatSchema {
    /// The types of the CSV.
    let given: GivenSchema
    /// The types of columns that contain JSON, by name.
    let json: [String: ColumnSchema]
    let schema: Schema

    init(_ nested: GivenSchema) {
        schema = nested.schema
        let type = nested.type
        var flat = type, json: [String: ColumnSchema] = [:]
        // The names of a flat type are those of its columns.
        let fields = FieldPath.leaves(of: type, in: nested.schema)
        let isFlat =
            !type.columns.contains { $0.type.kind == .embedded && !$0.type.isCollection } || Set(fields.map(\.name)).count < fields.count
        let leaves = isFlat ? type.columns.map { ($0.name, $0) } : FlatSchema.leaves(type, nested.schema)
        flat.columns = leaves.map { name, column in
            var column = column
            column.name = name
            guard column.type.isCollection || column.type.kind == .any || column.type.kind == .embedded else { return column }
            json[name] = column
            return ColumnSchema(name, ColumnType(.string, optional: true))
        }
        flat.key = type.key.compactMap { flat.index(of: type.columns[$0].name) }
        self.json = json
        given = GivenSchema(Schema([flat]), rows: flat.name)
    }

    private static func leaves(_ type: TypeSchema, _ schema: Schema) -> [(String, ColumnSchema)] {
        let empty = Batch(type, in: schema)
        return FieldPath.leaves(of: type, in: schema).compactMap { path in
            guard let column = try? path.column(of: empty) else { return nil }
            return (path.name, path.schema(column.type))
        }
    }
}
