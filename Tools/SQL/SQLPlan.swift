/// What of a statement a table takes over.
final class SQLPlan {
    struct Term {
        /// A column of the table; -1: the row id.
        let column: Int
        /// FIRN_SQL_EQ and so on.
        let comparison: Int
        /// Among the values that come with each run.
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
    /// The terms whose rows are looked up together, by their values; or one of the row id.
    var lookup: [Int] = [] { didSet { lookupColumns = lookup.map { terms[$0].column } } }
    private(set) var lookupColumns: [Int] = []
    var order: [Order] = []
    /// Among the values: how many rows are wanted, and how many before them. SQLite counts for itself; it only tells.
    var limit: Int?
    var offset: Int?
    var description = ""
}
