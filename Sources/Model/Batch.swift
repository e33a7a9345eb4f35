/// Rows of one type, column by column: what formats hand to the model and back. Columns are in the order of the type's schema.
package struct Batch: Sendable {
    package var count: Int
    package var columns: [Column]

    package init(count: Int = 0, columns: [Column]) {
        self.count = count
        self.columns = columns
    }

    /// An empty batch for a type of the schema.
    package init(_ type: TypeSchema, in schema: Schema) {
        count = 0
        columns = type.columns.map { Column($0, in: schema) }
    }
}
