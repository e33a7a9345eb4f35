import CSQLite
import FirnBytes
import FirnTable

/// The table from which rewritten statements read groups: `firn_groups(n)` has the groups of the grouping with the number n. It has a column
/// for each possible key and affinity, so that groups compare with other values as the columns of their table do, and columns without
/// affinity for aggregates. Only rewritten statements can read it.
final class SQLGroupTable: SQLVirtualTable {
    static let name = "firn_groups"
    /// The maximum number of keys and of aggregates.
    static let keys = 16, measures = 64
    /// The affinities of keys: the first letter of the columns' names, and their type.
    private static let affinities = [("t", "TEXT"), ("i", "INTEGER"), ("n", "NUMERIC"), ("r", "REAL"), ("b", "BLOB")]
    private static let columns: [String] =
        affinities.flatMap { affinity in (0..<keys).map { "firn_\(affinity.0)\($0)" } } + (0..<measures).map { "firn_a\($0)" }
    private static let reserved = Set(columns + [name, "firn_number"])
    /// The number of columns; the last is the number of the grouping.
    static let width = columns.count + 1

    static func isReserved(_ name: String) -> Bool { reserved.contains(name) }

    /// Returns the name of the column of a key; nil if groups of this form are not available.
    static func name(key: Int, _ form: SQLForm) -> String? {
        affinity(form).map { columns[$0 * keys + key] }
    }
    static func name(measure: Int) -> String { columns[affinities.count * keys + measure] }

    private static func affinity(_ form: SQLForm) -> Int? {
        switch form {
        case .text, .date, .uuid, .objectID: 0
        case .int: 1
        case .bool: 2
        case .real, .float: 3
        case .blob: 4
        case .decimal, .longDecimal, .any, .json: nil
        }
    }

    /// The content of a column: a key or a measure.
    enum Content { case key(Int), measure(Int), none }
    static func content(_ column: Int) -> Content {
        if column < affinities.count * keys { return .key(column % keys) }
        return column < width - 1 ? .measure(column - affinities.count * keys) : .none
    }

    override var declaration: String {
        let types = SQLGroupTable.affinities.flatMap { affinity in (0..<SQLGroupTable.keys).map { _ in " " + affinity.1 } }
        let declared = SQLGroupTable.columns.enumerated().map { $1 + ($0 < types.count ? types[$0] : "") }
        return "CREATE TABLE x(\(declared.joined(separator: ", ")), firn_number HIDDEN)"
    }

    override var columnCount: Int { SQLGroupTable.width }

    override func cursor(_ rows: UnsafeMutablePointer<firn_sql_rows>) throws(FirnError) -> SQLVirtualCursor {
        SQLGroupCursor(context, rows)
    }

    override func plan(_ info: OpaquePointer) -> Bool {
        for index in 0..<firn_sql_constraint_count(info) {
            var column: Int32 = 0, comparison: Int32 = 0
            guard firn_sql_constraint(info, index, &column, &comparison), Int(column) == SQLGroupTable.width - 1,
                Int(comparison) == FIRN_SQL_EQ, let value = firn_sql_right_side(info, index), case .int(let number) = SQLValue(value)
            else { continue }
            if context.columnValues?.number == Int(number) {
                firn_sql_take(info, index, 1, true)
                firn_sql_finish_plan(info, 0, "values", false, false, 10, 100)
                return true
            }
            guard let grouping = context.groupings[Int(number)]?.grouping else { continue }
            firn_sql_take(info, index, 1, true)
            let order = order(info, grouping)
            firn_sql_finish_plan(info, Int32(order.map { $0 + 1 } ?? 0), grouping.description, order != nil, false, 10, 100)
            return true
        }
        return false
    }

    /// Returns the number of the order that SQLite requests; nil if there is none, or one that only SQLite can produce.
    private func order(_ info: OpaquePointer, _ grouping: SQLGrouping) -> Int? {
        // Distinct rows keep the order in which the join returns them.
        guard !(grouping.join?.keepsOrder ?? false) else { return nil }
        var order: [SQLGrouping.Order] = []
        for index in 0..<firn_sql_order_count(info) {
            var isDescending = false
            let column = Int(firn_sql_order(info, index, &isDescending))
            guard column >= 0, case .key(let key) = SQLGroupTable.content(column), grouping.keys.indices.contains(key),
                grouping.computed[key] == nil
            else { return nil }
            order.append(.init(key: key, isDescending: isDescending))
        }
        return order.isEmpty ? nil : grouping.number(of: order)
    }
}

/// Passes the groups of a grouping to SQLite.
final class SQLGroupCursor: SQLVirtualCursor {
    private let rows: UnsafeMutablePointer<firn_sql_rows>
    private let columns: UnsafeMutablePointer<firn_sql_column>
    private var buffers: [ColumnBuffer] = []
    private var grouping: SQLGrouping?
    private var result = SQLGrouping.Result(count: 0, columns: [])
    /// The values of a column that are read in place of groups.
    private var values: ColumnValues?

    init(_ context: SQLContext, _ rows: UnsafeMutablePointer<firn_sql_rows>) {
        self.rows = rows
        columns = .allocate(capacity: SQLGroupTable.width + 1)
        columns.initialize(repeating: firn_sql_column(), count: SQLGroupTable.width + 1)
        rows.pointee.columns = columns
        rows.pointee.column_count = Int32(SQLGroupTable.width)
        rows.pointee.ended = true
        super.init(context)
    }

    deinit { columns.deallocate() }

    override func begin(_ plan: Int, _ values: UnsafeMutablePointer<OpaquePointer?>?) throws(FirnError) {
        rows.pointee.ended = true
        guard let value = values?[0], case .int(let number) = SQLValue(value) else { return }
        grouping = nil
        self.values = context.columnValues.flatMap { $0.number == number ? $0 : nil }
        if let found = self.values { return begin(count: found.column.count) }
        guard let found = context.groupings[Int(number)]?.grouping else { return }
        grouping = found
        result = try found.groups(plan > 0 ? plan - 1 : nil)
        found.table.work.rowsGiven += result.count
        begin(count: result.count)
    }

    private func begin(count: Int) {
        buffers = []
        rows.pointee.stamp += 1
        rows.pointee.at = 0
        rows.pointee.count = Int32(count)
        rows.pointee.ended = count == 0
        rows.pointee.is_last = true
    }

    override func advance() throws(FirnError) { rows.pointee.ended = true }

    override func load(_ index: Int) throws(FirnError) {
        var column = firn_sql_column()
        column.form = Int32(FIRN_SQL_NULL)
        if let values {
            if case .key(0) = SQLGroupTable.content(index) { column = fill(values.column, (values.table, values.index)) }
        } else if let grouping {
            switch SQLGroupTable.content(index) {
            case .key(let key) where key < grouping.keys.count:
                column = fill(result.columns[key], grouping.scope.table(of: grouping.keys[key]))
            case .measure(let number) where number < grouping.measures.count:
                let measure = grouping.measures[number], values = result.columns[grouping.keys.count + number]
                if measure.function == .min || measure.function == .max, let source = measure.column {
                    column = fill(values, grouping.scope.table(of: source))
                } else {
                    column = fill(values, values.type.kind == .int ? .int : .real, ColumnSchema("", values.type), of: grouping.table)
                }
            default: break
            }
        }
        column.stamp = rows.pointee.stamp
        columns[index] = column
    }

    private func fill(_ column: Column, _ source: (table: SQLTable, index: Int)) -> firn_sql_column {
        let described = source.table.columns[source.index]
        return fill(column, described.form, described.schema, of: source.table)
    }

    private func fill(_ column: Column, _ form: SQLForm, _ description: ColumnSchema, of table: SQLTable) -> firn_sql_column {
        let buffer = ColumnBuffer()
        buffers.append(buffer)
        return buffer.fill(column, form, description, in: table.table.schema)
    }
}
