import FirnBytes
import FirnQuery
import FirnTable

/// Values of a column, which SQLite reads as the rows of a number of `SQLGroupTable`.
struct ColumnValues {
    let number: Int
    let table: SQLTable
    /// The index of the column whose values they are.
    let index: Int
    let column: Column
}

/// The groups of expressions: which values of a column belong to one group. SQLite computes the expressions, and its comparison decides
/// which results are equal.
struct ComputedCodes {
    /// The tables with a column of the groups' numbers for each expression, by their place in the scope.
    let tables: [Int: ComputedTable]
    /// One of the values of each group, by the index of the key.
    let representatives: [Int: Column]
    /// The names of the columns that are 1 where a condition holds, by the place of the table.
    private let conditions: [Int: [String]]

    /// The maximum number of values of a column: computing them must cost much less than computing the expression for each row.
    private static let maximumValues = 1 << 17

    /// Fails if there are too many different values, or if they do not behave like the rows' own.
    init?(
        _ grouping: SQLGrouping, where filter: (Int) -> PredicateSyntax,
        _ evaluate: (String) throws(FirnError) -> [[Value]]
    ) throws(FirnError) {
        let scope = grouping.scope
        var columns: [Int: [ComputedColumn]] = [:], representatives: [Int: Column] = [:], conditions: [Int: [String]] = [:]
        for (number, key) in grouping.computed.sorted(by: { $0.key < $1.key }) {
            let source = scope.source(of: key.column), place = scope.table(of: key.column)
            guard let (values, results) = try ComputedCodes.results(of: key, key.text, at: place, where: filter(source), evaluate) else {
                return nil
            }
            var codes: [SQLClass: Int] = [:], coded: [Int64] = [], first: [Int] = []
            for (row, result) in results.enumerated() {
                guard let found = SQLClass(result) else { return nil }
                let code = codes[found] ?? first.count
                if code == first.count {
                    codes[found] = code
                    first.append(row)
                }
                // Of 1 and 1.0, which are one group, SQLite shows that of one of the group's rows.
                guard result.isWritten(as: results[first[code]]) else { return nil }
                coded.append(Int64(code))
            }
            columns[source, default: []].append(ComputedColumn(key, at: place, values, codes: coded, count: first.count))
            representatives[number] = (key.unit.map { ComputedCodes.dates(values, $0) } ?? values).gather(first)
        }
        for key in grouping.computedConditions {
            let source = scope.source(of: key.column), place = scope.table(of: key.column)
            let text = { (name: String) in "CASE WHEN \(key.text(name)) THEN 1 ELSE 0 END" }
            guard let (values, results) = try ComputedCodes.results(of: key, text, at: place, where: filter(source), evaluate) else {
                return nil
            }
            columns[source, default: []].append(
                ComputedColumn(key, at: place, values, codes: results.map { $0 == .int(1) ? 1 : 0 }, count: 2))
            conditions[source, default: []].append(key.name)
        }
        self.conditions = conditions
        tables = Dictionary(uniqueKeysWithValues: columns.map { ($0, ComputedTable(scope.sources[$0].table.table, $1)) })
        self.representatives = representatives
    }

    /// Returns a filter of a table together with the conditions that are computed for it.
    func filter(_ source: Int, and filter: PredicateSyntax) -> PredicateSyntax {
        let computed = (conditions[source] ?? []).map { name in
            PredicateSyntax.comparison(ComparisonSyntax(.path(PathSyntax([.name(name)])), .equal, .constant(ConstantSyntax(.int(1)))))
        }
        return computed.isEmpty ? filter : .and((filter == .constant(true) ? [] : [filter]) + computed)
    }

    /// Returns the different values of the column of an expression, or of the time units on which it depends; nil if there are too many.
    private static func values(
        _ key: ComputedKey, of table: SQLTable, _ index: Int, where filter: PredicateSyntax
    ) throws(FirnError) -> Column? {
        let described = table.columns[index]
        var name = described.schema.name, units: ComputedTable?
        if let unit = key.unit {
            name = key.name
            units = ComputedTable(table.table, [ComputedColumn(name: name, source: described.position, rule: .units(unit))])
        } else if table.table.rowCount > maximumValues {
            let share = (try? table.sample()?.share([index])) ?? 0
            guard share * Double(maximumValues) >= 1 else { return nil }
        }
        let request = QueryRequest(parsed: QuerySyntax(filter), groupBy: [name], aggregates: [Aggregate(.count, name: "#")])
        let (count, columns) = try table.run(request, on: units).allRows()
        guard count <= maximumValues else { return nil }
        guard let values = columns.first else { return Column(key.unit == nil ? described.schema.type : ColumnType(.int)) }
        // Expressions can distinguish zeros of both signs, which are one value of a group.
        guard !values.reals.contains(0) else { return nil }
        return values
    }

    /// Returns the first date of each time unit.
    private static func dates(_ units: Column, _ unit: Int64) -> Column {
        var out = Column(ColumnType(.date, optional: true))
        out.count = units.count
        out.present = units.present
        out.words = units.words.map { $0 &* unit }
        out.extra = [Int64](repeating: 0, count: units.count)
        return out
    }

    /// Returns the different values of a column and what SQLite computes from them; nil if there are too many.
    private static func results(
        of key: ComputedKey, _ text: (String) -> String, at place: (table: SQLTable, index: Int), where filter: PredicateSyntax,
        _ evaluate: (String) throws(FirnError) -> [[Value]]
    ) throws(FirnError) -> (values: Column, results: [Value])? {
        let (table, index) = place
        guard let values = try values(key, of: table, index, where: filter) else { return nil }
        guard values.count > 0, let name = SQLGroupTable.name(key: 0, table.columns[index].form) else { return (values, []) }
        let context = table.context, number = context.nextGrouping
        let shown = key.unit.map { dates(values, $0) } ?? values
        context.columnValues = ColumnValues(number: number, table: table, index: index, column: shown)
        defer { context.columnValues = nil }
        let results = try evaluate("SELECT \(text(name)) FROM main.\(SQLGroupTable.name)(\(number))").map { $0[0] }
        return results.count == values.count ? (values, results) : nil
    }
}

extension ComputedColumn {
    fileprivate init(_ key: ComputedKey, at place: (table: SQLTable, index: Int), _ values: Column, codes: [Int64], count: Int) {
        let column = place.table.columns[place.index], kind = key.unit == nil ? JoinKeys.kind(column.form) : .words
        self.init(
            name: key.name, source: column.position, rule: .codes(ValueCodes(values, kind, codes: codes, count: count, unit: key.unit)))
    }
}

/// A value of SQL up to what GROUP BY considers equal.
private enum SQLClass: Hashable {
    case null
    case whole(Int64)
    case real(UInt64)
    case text([UInt8])
    case blob([UInt8])

    init?(_ value: Value) {
        switch value {
        case .null: self = .null
        case .int(let x): self = .whole(x)
        case .double(let x):
            if x.isNaN {
                self = .null
            } else if let whole = Int64(exactly: x) {
                self = .whole(whole)
            } else {
                self = .real(x.bitPattern)
            }
        case .string(let x):
            // Other bytes than those of UTF-8 have been replaced, and different texts would be one.
            guard !x.unicodeScalars.contains("\u{FFFD}") else { return nil }
            self = .text(Array(x.utf8))
        case .data(let x): self = .blob(x)
        default: return nil
        }
    }
}

extension Value {
    /// Whether two values that are equal in SQL are also written alike.
    fileprivate func isWritten(as other: Value) -> Bool {
        switch (self, other) {
        case (.int, .int), (.string, .string), (.data, .data): true
        case (.double(let x), .double(let y)): x.bitPattern == y.bitPattern
        default: isNull && other.isNull
        }
    }
}
