import CSQLite
import FirnDatabase
import FirnTable

/// The cost of a plan as reported to SQLite. The unit is the time to read one row by itself, in which Query scans about fifty rows.
struct SQLCosts {
    private let table: SQLTable
    private let rows: Double
    private(set) var estimate: Double
    private(set) var isUnique = false
    private var terms = 0
    /// The terms that a look-up can use together, and their columns.
    private var equalities: [(term: Int, column: Int)] = []
    /// Whether one of them has a value from another table, so that the look-up is repeated.
    private var isJoin = false
    /// A term that by itself matches at most one row.
    private var key: Int?
    /// Whether an index of the file returns the candidates.
    private var isFound = false
    private var isLookup = false

    init(_ table: SQLTable) {
        self.table = table
        rows = Double(table.table.rowCount)
        estimate = max(rows, 1)
    }

    mutating func add(_ term: SQLPlan.Term, constant: OpaquePointer?, isKey: Bool, isIndexed: Bool) {
        defer { terms += 1 }
        switch term.comparison {
        case FIRN_SQL_EQ where term.column < 0 || isKey:
            estimate = min(estimate, term.isList ? 20 : 1)
            // Lists of values are searched, not looked up. Row ids are found quickly in both cases.
            if term.column < 0 { key = terms } else if !term.isConstant && !term.isList, isUseful(term.column), key == nil { key = terms }
            isUnique = isUnique || term.column < 0 && !term.isList
        case FIRN_SQL_EQ, FIRN_SQL_IS:
            if isIndexed, term.comparison == FIRN_SQL_EQ { isFound = true }
            if term.isList || !isUseful(term.column) {
                scale(term.isList ? min(0.5, 10 * share([term.column])) : 0.02)
                return
            }
            equalities.append((terms, term.column))
            isJoin = isJoin || !term.isConstant
            // The frequency of a constant is estimated from the sample. Values of another table are assumed to be distributed like those of
            // the column.
            if let constant { scale(part(term.column, equalTo: constant)) }
        case FIRN_SQL_IS_NOT_NULL, FIRN_SQL_NE: scale(0.9)
        case FIRN_SQL_IS_NULL: scale(0.1)
        default: scale(0.25)
        }
    }

    /// Returns the terms to use for a look-up; empty if there is none.
    mutating func finish() -> [Int] {
        if let key {
            isLookup = true
            return [key]
        }
        guard isJoin, EqualityIndex.isPossible(rows: table.table.rowCount) else { return [] }
        isLookup = true
        let columns = Set(equalities.map(\.column)).sorted()
        // Constants have already reduced the estimate. All columns together limit it as well.
        estimate = min(estimate, max(1, rows * share(columns)))
        return equalities.map(\.term)
    }

    private func isUseful(_ column: Int) -> Bool { EqualityKey.isUseful(table.columns[column].form) }
    private mutating func scale(_ part: Double) { estimate = max(1, estimate * part) }

    private func share(_ columns: [Int]) -> Double {
        guard let sample = table.sample() else { return 0.02 }
        return (try? sample.share(columns)) ?? 0.02
    }

    private func part(_ column: Int, equalTo constant: OpaquePointer) -> Double {
        guard let sample = table.sample(), let part = try? sample.part(column, equalTo: constant) else { return 0.02 }
        return part
    }

    var cost: Double { isLookup || isFound || estimate <= 20 && terms > 0 ? 5 + estimate : 50 + rows / 50 + estimate }
}
