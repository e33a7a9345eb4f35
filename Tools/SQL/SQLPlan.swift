/// What of a statement a table takes over.
struct SQLPlan {
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
    /// The term whose rows are looked up, by row id or by value.
    var lookup: Int?
    var order: [Order] = []
    /// Among the values: how many rows are wanted, and how many before them. SQLite counts for itself; it only tells.
    var limit: Int?
    var offset: Int?
    var description = ""
}
