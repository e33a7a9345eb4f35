import FirnTable

/// Changes links to types that are not written whole to row ids: in the output, the rows have other row ids, or do not exist.
struct RowIDLinks {
    /// The schema that is written.
    let schema: Schema
    /// One sentence for each column that was changed.
    let remarks: [String]
    private let whole: Set<String>

    /// `whole` are the types all of whose rows are written. Returns nil if no links lead to other types.
    init?(_ schema: Schema, whole: Set<String>) {
        var schema = schema, changed: [String] = []
        for type in schema.types.indices {
            for i in schema.types[type].columns.indices {
                let column = schema.types[type].columns[i]
                guard column.type.kind == .link, let target = column.type.target, !whole.contains(target) else { continue }
                schema.types[type].columns[i].type = RowIDLinks.rowIDs(column.type)
                changed.append("column \"\(column.name)\": links to \"\(target)\" are written as row ids")
            }
        }
        guard !changed.isEmpty else { return nil }
        (self.schema, remarks, self.whole) = (schema, changed, whole)
    }

    private static func rowIDs(_ type: ColumnType) -> ColumnType {
        var type = type
        type.kind = .int
        type.target = nil
        return type
    }

    /// Changes the rows of a type of the schema. Row ids and links are stored alike, so only types change.
    func apply(to batch: inout Batch) { for i in batch.columns.indices { apply(to: &batch.columns[i]) } }

    /// Changes the type of a column, of its elements and of its fields.
    private func apply(to column: inout Column) {
        if column.type.kind == .link, let target = column.type.target, !whole.contains(target) {
            column.type = RowIDLinks.rowIDs(column.type)
        }
        for i in column.children.indices { apply(to: &column.children[i]) }
    }
}
