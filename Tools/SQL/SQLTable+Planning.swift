import CSQLite
import FirnBytes
import FirnTable

extension SQLTable {
    /// Chooses a plan for SQLite: which of its constraints the table executes, and the estimated cost.
    func choosePlan(_ info: OpaquePointer) {
        let plan = SQLPlan()
        var isWhole = true, text: [String] = [], taken: [(index: Int32, choice: Choice)] = []
        var limit: Int32?, offset: Int32?, costs = SQLCosts(self)
        for index in 0..<firn_sql_constraint_count(info) {
            var column: Int32 = 0, raw: Int32 = 0
            let isUsable = firn_sql_constraint(info, index, &column, &raw), comparison = Int(raw)
            if columns.isEmpty { column = -1 }  // The row id is the only column.
            switch comparison {
            case FIRN_SQL_LIMIT where isUsable: limit = index
            case FIRN_SQL_OFFSET where isUsable: offset = index
            case _:
                guard isUsable, let choice = choice(info, index, Int(column), comparison) else {
                    isWhole = false
                    continue
                }
                let isList = comparison == FIRN_SQL_EQ && firn_sql_take_in(info, index)
                let constant = firn_sql_right_side(info, index)
                plan.terms.append(
                    .init(column: Int(column), comparison: comparison, argument: taken.count, isList: isList, isConstant: constant != nil))
                taken.append((index, choice))
                text.append(SQLTable.text(column < 0 ? "rowid" : columns[Int(column)].name, comparison, isList))
                costs.add(
                    plan.terms[plan.terms.count - 1], constant: constant,
                    isKey: column >= 0 && table.type.key == [columns[Int(column)].position],
                    isIndexed: column >= 0 && isIndexed(Int(column)))
            }
        }
        plan.lookup = costs.finish()
        if !plan.lookup.isEmpty {
            // A look-up returns candidates, all of which SQLite tests.
            isWhole = false
            text =
                ["look up " + plan.lookup.map { text[$0] }.joined(separator: " and ")]
                + text.enumerated().filter { !plan.lookup.contains($0.offset) }.map(\.element)
        }
        for (number, (index, choice)) in taken.enumerated() {
            firn_sql_take(info, index, Int32(number + 1), choice == .exact && plan.lookup.isEmpty)
            if choice == .more { isWhole = false }
        }

        let isOrdered = order(info, plan, &text)
        // A limit makes sorting cheaper. It is only a hint: if SQLite reads on, more rows are found. (SQLite up to 3.40 also offers a limit
        // if it applies further conditions itself.)
        if isWhole, !plan.order.isEmpty, let limit {
            var argument = Int32(taken.count)
            for index in [limit, offset].compactMap(\.self) {
                argument += 1
                firn_sql_take(info, index, argument, false)
            }
            plan.limit = taken.count
            if offset != nil { plan.offset = taken.count + 1 }
            text.append("limit")
        }
        plan.description = text.isEmpty ? "all rows" : text.joined(separator: ", ")
        let number = number(of: plan)
        firn_sql_finish_plan(
            info, Int32(number), plan.description, isOrdered && firn_sql_order_count(info) > 0, costs.isUnique, costs.cost,
            Int64(costs.estimate))
    }

    /// Returns the number of a plan. A statement requests the same plan repeatedly.
    private func number(of plan: SQLPlan) -> Int {
        // The key contains everything that the description does not.
        let key =
            plan.description + plan.terms.map { " \($0.column).\($0.comparison).\($0.isConstant)" }.joined()
            + " \(plan.offset ?? -1) \(plan.lookup)"
        if let known = planNumbers[key] { return known }
        plans.append(plan)
        planNumbers[key] = plans.count - 1
        return plans.count - 1
    }

    /// Returns whether the file has an index of the column.
    private func isIndexed(_ column: Int) -> Bool {
        !columns[column].isLink && (table as? any IndexedTable)?.columnIndex(columns[column].position, .values) != nil
    }

    private enum Choice {
        /// Query selects exactly the rows that SQLite would, for every value.
        case exact
        /// Depending on the value, Query selects exactly these rows or more.
        case perhaps
        /// Query can select more rows.
        case more
    }

    private func choice(_ info: OpaquePointer, _ index: Int32, _ column: Int, _ comparison: Int) -> Choice? {
        guard column >= 0 else { return comparison == FIRN_SQL_EQ ? .perhaps : nil }
        let form = columns[column].form
        switch comparison {
        case FIRN_SQL_IS_NULL, FIRN_SQL_IS_NOT_NULL: return form == .any || form == .json ? nil : .exact
        case FIRN_SQL_LIKE, FIRN_SQL_GLOB: return form == .text && !columns[column].isLink ? .more : nil
        case FIRN_SQL_EQ, FIRN_SQL_IS, FIRN_SQL_NE, FIRN_SQL_GT, FIRN_SQL_GE, FIRN_SQL_LT, FIRN_SQL_LE: break
        default: return nil
        }
        // Rows that links name by id can be deleted, which Query does not test.
        let isNamed = columns[column].isLink && columns[column].target?.key == nil
        if form.isNumeric { return isNamed ? (comparison == FIRN_SQL_EQ ? .more : nil) : .exact }
        guard form == .blob || form.isTextual, firn_sql_is_binary(info, index) else { return nil }
        if comparison == FIRN_SQL_NE, form != .text { return nil }
        return .perhaps
    }

    /// Adds the order to the plan and returns true, if Query can produce all of it.
    private func order(_ info: OpaquePointer, _ plan: SQLPlan, _ text: inout [String]) -> Bool {
        let count = Int(firn_sql_order_count(info))
        guard count > 0 else { return true }
        var order: [SQLPlan.Order] = []
        for index in 0..<count {
            var isDescending = false
            let column = Int(firn_sql_order(info, Int32(index), &isDescending))
            if column < 0 || columns.isEmpty {
                // Rows are read in the order of their ids, and later columns have no effect.
                guard !isDescending else { return false }
                break
            }
            guard isOrdered(column), plan.lookup.isEmpty else { return false }
            order.append(.init(column: column, isDescending: isDescending))
        }
        plan.order = order
        if !order.isEmpty {
            text.append("order by " + order.map { columns[$0.column].name + ($0.isDescending ? " desc" : "") }.joined(separator: ", "))
        }
        return true
    }

    static func text(_ name: String, _ comparison: Int, _ isList: Bool) -> String {
        switch comparison {
        case FIRN_SQL_IS_NULL: "\(name) is null"
        case FIRN_SQL_IS_NOT_NULL: "\(name) is not null"
        case FIRN_SQL_LIKE: "\(name) like ?"
        case FIRN_SQL_GLOB: "\(name) glob ?"
        case FIRN_SQL_NE: "\(name) <> ?"
        case FIRN_SQL_GT: "\(name) > ?"
        case FIRN_SQL_GE: "\(name) >= ?"
        case FIRN_SQL_LT: "\(name) < ?"
        case FIRN_SQL_LE: "\(name) <= ?"
        case FIRN_SQL_IS: "\(name) is ?"
        default: isList ? "\(name) in (…)" : "\(name) = ?"
        }
    }
}
