import FirnTable

/// How the columns of two tables differ. Columns are identified by name. Whether a column is optional is not a difference of its type.
package struct SchemaDifference: Sendable {
    package struct Retyped: Sendable {
        package var name: String
        package var old: ColumnType
        package var new: ColumnType
        /// The logical types, if both columns have one and they differ.
        package var logical: (old: LogicalType, new: LogicalType)?

        package init(name: String, old: ColumnType, new: ColumnType, logical: (old: LogicalType, new: LogicalType)? = nil) {
            self.name = name
            self.old = old
            self.new = new
            self.logical = logical
        }

        /// The types as they are shown: logical types are added to the storage types if they differ.
        package var names: (old: String, new: String) {
            guard let logical else { return (old.name, new.name) }
            return ("\(old.name) \(logical.old)", "\(new.name) \(logical.new)")
        }
    }
    /// Columns that only the new table has, in its order.
    package var added: [ColumnSchema] = []
    /// Columns that only the old table has, in its order.
    package var removed: [ColumnSchema] = []
    /// Columns that both have with different types. Their values are compared across types, so a retyped column need not contain a changed
    /// cell.
    package var retyped: [Retyped] = []
    /// The columns that have another name in the new table, which the options name.
    package var renamed: [(old: String, new: String)] = []
    /// Whether the columns that both have are in a different order.
    package var reordered = false

    /// - Parameters:
    ///   - key: The columns by which rows are matched. Both tables have them, one of them perhaps as fields of objects.
    ///   - isCompared: Whether a column takes part, apart from those of the key.
    ///   - renamed: The columns with another name in the new table; `old` has the new names.
    package init(
        old: TypeSchema, new: TypeSchema, key: [String] = [], renamed: [(old: String, new: String)] = [],
        isCompared: (String) -> Bool = { _ in true }
    ) {
        self.renamed = renamed.filter { key.contains($0.new) || isCompared($0.new) }
        added = new.columns.filter { old.index(of: $0.name) == nil && !key.contains($0.name) && isCompared($0.name) }
        removed = old.columns.filter { new.index(of: $0.name) == nil && !key.contains($0.name) && isCompared($0.name) }
        var previous = -1
        for column in new.columns where key.contains(column.name) || isCompared(column.name) {
            guard let index = old.index(of: column.name) else { continue }
            if index < previous { reordered = true }
            previous = max(previous, index)
            let before = old.columns[index].type
            var logical: (old: LogicalType, new: LogicalType)?
            // A column without a logical type is from a format that has none, and its values are compared as they are.
            if let was = old.columns[index].logical, let becomes = column.logical, was != becomes { logical = (was, becomes) }
            if before.kind != column.type.kind || before.collection != column.type.collection || logical != nil {
                retyped.append(Retyped(name: column.name, old: before, new: column.type, logical: logical))
            }
        }
    }

    /// Whether one table has a column that the other does not have. Order, types and names alone are not a difference of the contents.
    package var hasOtherColumns: Bool { !added.isEmpty || !removed.isEmpty }
    package var isEmpty: Bool { !hasOtherColumns && retyped.isEmpty && renamed.isEmpty && !reordered }
}
