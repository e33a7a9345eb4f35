import FirnTable

/// The tables of a FROM clause. Their columns have successive numbers, those of the first table from 0.
struct SQLScope {
    /// A table that is read.
    struct Source {
        let table: SQLTable
        /// The name by which the statement calls the table, in lower case.
        var alias: String
        /// The names by which SQLite's plan may call it: that in a subquery, and that of the subquery.
        var planNames: [String]
        /// The number of its first column.
        let first: Int
        /// Whether it is the right-hand side of a LEFT JOIN.
        let isOuter: Bool
    }

    /// What the name of a column means.
    enum Meaning {
        case operand(SQLOperand)
        /// Not certainly one column.
        case unclear
    }

    /// A table or subquery of FROM, with its columns in their order.
    struct Relation {
        /// Its name in lower case, if it has one.
        let alias: String?
        let columns: [(name: String, operand: SQLOperand)]
        private let meanings: [String: Meaning]

        init(alias: String?, columns: [(name: String, operand: SQLOperand)], hidden: [(name: String, operand: SQLOperand)] = []) {
            self.alias = alias
            self.columns = columns
            meanings = Dictionary((columns + hidden).map { ($0.name, .operand($0.operand)) }, uniquingKeysWith: { _, _ in .unclear })
        }

        func meaning(_ name: String) -> Meaning? { meanings[name] }
    }
    private(set) var sources: [Source] = []
    private(set) var columns: [SQLColumn] = []
    private var sourceOfColumn: [Int] = []
    /// The numbers of columns that are computed.
    private var computed: Set<Int> = []
    /// What the names of the SELECT that is read refer to.
    var relations: [Relation] = []
    /// The names in USING, which mean the column of the first table that has it.
    var merged: Set<String> = []

    /// Adds a table, and returns its columns as a relation.
    mutating func add(_ table: SQLTable, alias: String, isOuter: Bool) -> Relation {
        let first = columns.count
        sourceOfColumn += [Int](repeating: sources.count, count: table.columns.count)
        sources.append(Source(table: table, alias: alias, planNames: [alias], first: first, isOuter: isOuter))
        columns += table.columns
        func named(_ hidden: Bool) -> [(name: String, operand: SQLOperand)] {
            table.columns.enumerated().filter { $1.isHidden == hidden }.map { (NameTable.folded($1.name), .column(first + $0)) }
        }
        return Relation(alias: alias, columns: named(false), hidden: named(true))
    }

    /// Adds a column of whole numbers that is computed from a column. Returns its number, and its name in a `ComputedTable`.
    mutating func addComputed(from column: Int) -> (column: Int, name: String) {
        let source = sourceOfColumn[column], table = sources[source].table, number = columns.count
        computed.insert(number)
        let name = ComputedTable.name(number, for: table.table), type = ColumnType(.int, optional: true)
        columns.append(
            SQLColumn(position: table.columns.count, name: name, schema: ColumnSchema(name, type), form: .int, isHidden: true, target: nil))
        sourceOfColumn.append(source)
        return (number, name)
    }

    /// Calls a table by the name of the subquery that reads it.
    mutating func rename(_ source: Int, _ alias: String) {
        sources[source].alias = alias
        sources[source].planNames.append(alias)
    }

    /// Returns what a name means; nil if no table has it.
    func meaning(_ name: String, of alias: String?) -> Meaning? {
        let found = relations.filter { alias == nil || $0.alias == alias }.compactMap { $0.meaning(name) }
        return found.count == 1 || alias == nil && merged.contains(name) ? found.first : found.isEmpty ? nil : .unclear
    }

    /// Returns the column that a name means; nil if it is none, or not certainly one.
    func column(_ name: String, of alias: String?) -> Int? {
        guard case .operand(.column(let column))? = meaning(name, of: alias) else { return nil }
        return column
    }

    func source(of column: Int) -> Int { sourceOfColumn[column] }

    /// Returns the table of a column, and the column's index in it.
    func table(of column: Int) -> (table: SQLTable, index: Int) {
        let source = sources[sourceOfColumn[column]]
        return (source.table, column - source.first)
    }

    /// Whether null can be the value of a column.
    func isOptional(_ column: Int) -> Bool { columns[column].schema.type.isOptional || sources[sourceOfColumn[column]].isOuter }

    func isOrdered(_ column: Int) -> Bool {
        if computed.contains(column) { return true }
        let (table, index) = table(of: column)
        return table.isOrdered(index)
    }
    func magnitude(_ column: Int) -> UInt64? {
        let (table, index) = table(of: column)
        return table.magnitude(index)
    }
    func realMagnitude(_ column: Int) -> Double? {
        let (table, index) = table(of: column)
        return table.realMagnitude(index)
    }
}
