import FirnBytes
import FirnTable

/// A table with fields of its objects as additional columns, named by their paths (`birth.place`): keys that identify rows, and fields that
/// are compared by themselves.
final class MemberTable: WrappedTable {
    let base: any Table
    let type: TypeSchema
    /// The paths of the additional columns, in their order.
    fileprivate let paths: [[Int]]

    /// Returns the table itself if none of the names is a path to a field: each is a column, or unknown.
    static func with(_ names: [String], _ table: any Table, _ file: String) throws(FirnError) -> any Table {
        var type = table.type, paths: [[Int]] = []
        for name in names where type.index(of: name) == nil {
            guard let path = path(name, in: table.type, table.schema) else { continue }
            var column: ColumnSchema
            do throws(Damage) { column = try ColumnSchema(path: path, in: table.type, table.schema) } catch {
                throw FirnError(error, in: file)
            }
            guard column.type.kind != .link else {
                throw FirnError(
                    .usage, "\"\(name)\" cannot be compared by itself: it contains links", at: .init(file: file),
                    advice: "choose fields with one value in each row")
            }
            column.name = name
            column.id = (type.columns.map(\.id).max() ?? 0) + 1
            type.columns.append(column)
            paths.append(path)
        }
        return paths.isEmpty ? table : MemberTable(table, type, paths)
    }

    /// Returns the names that lead to a field, from the column inwards, for a name with dots; nil if there is no such field.
    static func names(_ name: String, in table: any Table) -> [String]? {
        guard let path = path(name, in: table.type, table.schema), path.count > 1 else { return nil }
        var type: TypeSchema? = table.type, names: [String] = []
        for index in path {
            guard let column = type?.columns[index] else { return nil }
            names.append(column.name)
            type = column.type.target.flatMap { table.schema[$0] }
        }
        return names
    }

    private init(_ base: any Table, _ type: TypeSchema, _ paths: [[Int]]) {
        self.base = base
        self.type = type
        self.paths = paths
    }

    /// Returns the columns, from the type inwards, for a name with dots; names of columns can contain dots too.
    private static func path(_ name: String, in type: TypeSchema, _ schema: Schema) -> [Int]? {
        if let column = type.index(of: name) { return [column] }
        for (index, column) in type.columns.enumerated() where column.type.kind == .embedded && name.hasPrefix(column.name + ".") {
            guard let target = column.type.target.flatMap({ schema[$0] }),
                let rest = path(String(name.dropFirst(column.name.count + 1)), in: target, schema)
            else { continue }
            return [index] + rest
        }
        return nil
    }

    var schema: Schema { base.schema }
    func segment(_ index: Int) throws(Damage) -> any Segment { MemberSegment(try base.segment(index), self) }
}

private final class MemberSegment: WrappedSegment {
    let base: any Segment
    let table: MemberTable

    init(_ base: any Segment, _ table: MemberTable) {
        self.base = base
        self.table = table
    }

    func column(_ index: Int) throws(Damage) -> any ColumnReader {
        let own = table.base.type.columns.count
        return index < own ? try base.column(index) : try base.column(path: table.paths[index - own])
    }

    func column(path: [Int]) throws(Damage) -> any ColumnReader { path.count == 1 ? try column(path[0]) : try base.column(path: path) }
}
