/// The parts of a statement that a table executes instead of SQLite.
final class SQLPlan {
    struct Term {
        /// A column of the table; -1: the row id.
        let column: Int
        /// The operator: `FIRN_SQL_EQ` and so on.
        let comparison: Int
        /// The index of the operand among the values of a run.
        let argument: Int
        /// The value is the list of an IN.
        let isList: Bool
        /// The value is a literal of the statement.
        let isConstant: Bool
    }

    struct Order {
        let column: Int
        let isDescending: Bool
    }

    var terms: [Term] = []
    /// The terms whose values are looked up together, or one term on the row id.
    var lookup: [Int] = [] { didSet { lookupColumns = lookup.map { terms[$0].column } } }
    private(set) var lookupColumns: [Int] = []
    var order: [Order] = []
    /// The index of LIMIT among the values, and that of OFFSET. They are only hints: SQLite counts the rows itself.
    var limit: Int?
    var offset: Int?
    var description = ""
}
