import FirnTable

/// The tables of a FROM clause. Their columns have successive numbers, those of the first table from 0.
struct SQLScope {
    struct Source {
        let table: SQLTable
        /// The name by which the statement calls the table, in lower case.
        let alias: String
        /// The number of its first column.
        let first: Int
        /// Whether it is the right-hand side of a LEFT JOIN.
        let isOuter: Bool
    }
    private(set) var sources: [Source] = []
    private(set) var columns: [SQLColumn] = []
    private var sourceOfColumn: [Int] = []
    private var names: [[String: Int]] = []
    /// The names in USING, which mean the column of the first table that has it.
    var merged: Set<String> = []

    mutating func add(_ table: SQLTable, alias: String, isOuter: Bool) {
        let first = columns.count
        names.append(
            Dictionary(table.columns.enumerated().map { (NameTable.folded($1.name), first + $0) }, uniquingKeysWith: { first, _ in first }))
        sourceOfColumn += [Int](repeating: sources.count, count: table.columns.count)
        sources.append(Source(table: table, alias: alias, first: first, isOuter: isOuter))
        columns += table.columns
    }

    /// Returns the column that a name means; nil if it is none, or not certainly one.
    func column(_ name: String, of alias: String?) -> Int? {
        let found = sources.indices.filter { alias == nil || sources[$0].alias == alias }.compactMap { names[$0][name] }
        return found.count == 1 || alias == nil && merged.contains(name) ? found.first : nil
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
