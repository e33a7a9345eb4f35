/// Rows of one type, column by column, in the order of the type's columns. Formats pass batches to the model and receive batches from it.
package struct Batch: Sendable {
    /// The number of rows.
    package var count: Int
    package var columns: [Column]

    package init(count: Int = 0, columns: [Column]) {
        self.count = count
        self.columns = columns
    }

    /// Creates an empty batch for a type of the schema.
    package init(_ type: TypeSchema, in schema: Schema) {
        count = 0
        columns = type.columns.map { Column($0, in: schema) }
    }
}
