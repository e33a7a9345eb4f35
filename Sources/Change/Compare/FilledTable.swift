import FirnBytes
import FirnTable

/// A table with additional columns that have the same value in every row: null for columns that only the other table has, or a number that
/// matches the only rows of two tables.
final class FilledTable: WrappedTable {
    let base: any Table
    let type: TypeSchema
    var schema: Schema { base.schema }
    /// The values of the additional columns, in their order.
    fileprivate let values: [Value]

    /// Returns the table itself if there is nothing to add.
    static func with(_ columns: [(column: ColumnSchema, value: Value)], _ table: any Table) -> any Table {
        columns.isEmpty ? table : FilledTable(table, columns)
    }

    /// Returns both tables with each column that only the other one has, as nulls. Columns named in `names` are not added.
    static func filled(_ old: any Table, _ new: any Table, except names: [String]) -> (old: any Table, new: any Table) {
        func missing(_ table: any Table, from other: any Table) -> [(column: ColumnSchema, value: Value)] {
            other.type.columns.filter { table.type.index(of: $0.name) == nil && !names.contains($0.name) }.map { column in
                var column = column
                // The objects of a type that this table does not have: null needs none of their fields.
                let isForeign = column.type.kind == .embedded || column.type.kind == .link
                column.type = isForeign ? ColumnType(.any, optional: true) : column.type
                column.type.isOptional = true
                return (column, .null)
            }
        }
        return (with(missing(old, from: new), old), with(missing(new, from: old), new))
    }

    /// Returns both tables with a column of ones that matches their only rows, and its name: `row`, unless a column has that name.
    static func numbered(_ old: any Table, _ new: any Table) -> (old: any Table, new: any Table, name: String) {
        var name = "row", copy = 2
        while old.type.index(of: name) != nil || new.type.index(of: name) != nil {
            name = "row_\(copy)"
            copy += 1
        }
        let column = [(column: ColumnSchema(name, ColumnType(.int)), value: Value.int(1))]
        return (with(column, old), with(column, new), name)
    }

    private init(_ base: any Table, _ added: [(column: ColumnSchema, value: Value)]) {
        self.base = base
        var type = base.type, id = (base.type.columns.map(\.id).max() ?? 0) + 1
        for (column, _) in added {
            var column = column
            column.id = id
            id += 1
            type.columns.append(column)
        }
        self.type = type
        values = added.map(\.value)
    }

    func segment(_ index: Int) throws(Damage) -> any Segment { FilledSegment(try base.segment(index), self) }
}

private final class FilledSegment: WrappedSegment {
    let base: any Segment
    let table: FilledTable

    init(_ base: any Segment, _ table: FilledTable) {
        self.base = base
        self.table = table
    }

    func column(_ index: Int) throws(Damage) -> any ColumnReader {
        let own = table.base.type.columns.count
        guard index >= own else { return try base.column(index) }
        let value = table.values[index - own]
        var column = Column(table.type.columns[index].type)
        if value.isNull { column.appendNulls(base.rowCount) } else { for _ in 0..<base.rowCount { column.append(value) } }
        return MemoryColumnReader(column)
    }

    func column(path: [Int]) throws(Damage) -> any ColumnReader { path.count == 1 ? try column(path[0]) : try base.column(path: path) }
}
