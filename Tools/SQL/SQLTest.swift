import CSQLite
import FirnQuery
import FirnTable

/// Columns of two tables that are compared: the left one, to which an integer can be added, with the right one.
struct SQLMatch: Hashable {
    var left: Int
    var right: Int
    var offset: Int64?

    /// The same equality with exchanged sides.
    var flipped: SQLMatch { SQLMatch(left: right, right: left, offset: offset.map { -$0 }) }
}

/// A WHERE clause that the engine can decide. NOT has been applied to its parts.
indirect enum SQLTest: Hashable {
    /// A value that is known when the statement runs.
    enum Operand: Hashable {
        /// The index of a literal among those of the statement.
        case literal(Int)
        /// The number of a parameter, from 1.
        case parameter(Int)
    }
    case and([SQLTest])
    case or([SQLTest])
    /// A comparison that does not hold for null: `FIRN_SQL_EQ` and so on.
    case compare(column: Int, Int, Operand)
    /// `IS value`, or `IS NOT value`.
    case isValue(column: Int, Operand, Bool)
    case isNull(column: Int, Bool)
    case isIn(column: Int, [Operand], Bool)
    /// A column of numbers as a condition.
    case isTrue(column: Int, Bool)
    /// An equality that joins two tables.
    case match(SQLMatch)
    /// Another comparison of columns of two tables: `FIRN_SQL_LT` and so on.
    case relation(SQLMatch, Int)

    /// The conditions that must all hold.
    var conjuncts: [SQLTest] {
        if case .and(let parts) = self { return parts.flatMap(\.conjuncts) }
        return [self]
    }

    /// The columns.
    var columns: [Int] {
        switch self {
        case .and(let parts), .or(let parts): parts.flatMap(\.columns)
        case .compare(let column, _, _), .isValue(let column, _, _), .isNull(let column, _), .isIn(let column, _, _),
            .isTrue(let column, _):
            [column]
        case .match(let match), .relation(let match, _): [match.left, match.right]
        }
    }

    /// Returns the test with each number of a column reduced by `first`.
    func moved(by first: Int) -> SQLTest {
        switch self {
        case .and(let parts): .and(parts.map { $0.moved(by: first) })
        case .or(let parts): .or(parts.map { $0.moved(by: first) })
        case .compare(let column, let comparison, let operand): .compare(column: column - first, comparison, operand)
        case .isValue(let column, let operand, let isTrue): .isValue(column: column - first, operand, isTrue)
        case .isNull(let column, let isTrue): .isNull(column: column - first, isTrue)
        case .isIn(let column, let operands, let isTrue): .isIn(column: column - first, operands, isTrue)
        case .isTrue(let column, let isTrue): .isTrue(column: column - first, isTrue)
        case .match, .relation: self
        }
    }

    /// Returns whether the test holds for a row of nulls.
    func holdsForNulls(_ value: (Operand) -> SQLValue?) -> Bool {
        switch self {
        case .and(let parts): parts.allSatisfy { $0.holdsForNulls(value) }
        case .or(let parts): parts.contains { $0.holdsForNulls(value) }
        case .isValue(_, let operand, let isTrue): if case .null? = value(operand) { isTrue } else { !isTrue }
        case .isNull(_, let isTrue): isTrue
        // Null is in no empty list.
        case .isIn(_, let operands, let isTrue): operands.isEmpty && !isTrue
        case .compare, .isTrue, .match, .relation: false
        }
    }

    /// Returns the test in words, for plans.
    func text(_ columns: [SQLColumn], isPart: Bool = false) -> String {
        switch self {
        case .and(let parts): return parts.map { $0.text(columns, isPart: true) }.joined(separator: isPart ? " and " : ", ")
        case .or(let parts): return "(" + parts.map { $0.text(columns, isPart: true) }.joined(separator: " or ") + ")"
        case .compare(let column, let comparison, _): return SQLTable.text(columns[column].name, comparison, false)
        case .isValue(let column, _, let isTrue): return columns[column].name + (isTrue ? " is ?" : " is not ?")
        case .isNull(let column, let isTrue): return columns[column].name + (isTrue ? " is null" : " is not null")
        case .isIn(let column, _, let isTrue): return columns[column].name + (isTrue ? " in (…)" : " not in (…)")
        case .isTrue(let column, let isTrue): return columns[column].name + (isTrue ? " <> 0" : " = 0")
        case .match(let match), .relation(let match, _):
            return "\(columns[match.left].name) and \(columns[match.right].name)"
        }
    }
}

/// Makes predicates of tests, for the values of one run.
struct SQLTestBinding {
    let table: SQLTable
    /// The value of an operand; nil if it has none that this process knows exactly.
    let value: (SQLTest.Operand) -> SQLValue?

    /// Returns a predicate that holds for exactly the rows that SQLite accepts; nil if there is none for these values.
    func predicate(_ test: SQLTest) -> PredicateSyntax? {
        switch test {
        case .and(let parts):
            return predicates(parts).map { parts in
                if parts.contains(.constant(false)) { return .constant(false) }
                let rest = parts.filter { $0 != .constant(true) }
                return rest.isEmpty ? .constant(true) : rest.count == 1 ? rest[0] : .and(rest)
            }
        case .or(let parts): return predicates(parts).map(SQLTestBinding.any)
        case .compare(let column, let comparison, let operand):
            guard let value = value(operand) else { return nil }
            return compare(column, comparison, value)
        case .isValue(let column, let operand, let isTrue):
            guard let value = value(operand) else { return nil }
            if case .null = value { return predicate(.isNull(column: column, isTrue)) }
            if isTrue { return compare(column, FIRN_SQL_EQ, value) }
            guard let other = compare(column, FIRN_SQL_NE, value), let absent = predicate(.isNull(column: column, true)) else { return nil }
            return SQLTestBinding.any([absent, other])
        case .isNull(let column, let isTrue):
            guard let conditions = conditions(column) else { return nil }
            return isTrue ? conditions.absent : conditions.present
        case .isIn(let column, let operands, let isTrue): return isIn(column, operands, isTrue)
        case .isTrue(let column, let isTrue):
            guard table.columns[column].form.isNumeric else { return nil }
            return compare(column, isTrue ? FIRN_SQL_NE : FIRN_SQL_EQ, .int(0))
        // Two tables have no predicate.
        case .match, .relation: return nil
        }
    }

    private func predicates(_ tests: [SQLTest]) -> [PredicateSyntax]? {
        var out: [PredicateSyntax] = []
        for test in tests {
            guard let one = predicate(test) else { return nil }
            out.append(one)
        }
        return out
    }

    private static func any(_ parts: [PredicateSyntax]) -> PredicateSyntax {
        if parts.contains(.constant(true)) { return .constant(true) }
        let rest = parts.filter { $0 != .constant(false) }
        return rest.isEmpty ? .constant(false) : rest.count == 1 ? rest[0] : .or(rest)
    }

    /// Returns the conditions on a column whose nulls Query and SQLite agree about.
    private func conditions(_ column: Int) -> SQLConditions? {
        let form = table.columns[column].form
        guard form != .any, form != .json, !table.columns[column].isLink else { return nil }
        return table.conditions(column)
    }

    private func compare(_ column: Int, _ comparison: Int, _ value: SQLValue) -> PredicateSyntax? {
        guard let conditions = conditions(column) else { return nil }
        switch (conditions.form, value) {
        case (_, .null): return .constant(false)
        case (.int, .int), (.int, .real), (.bool, .int), (.bool, .real), (.real, .int), (.real, .real), (.float, .int), (.float, .real):
            break
        case (.text, .text), (.blob, .blob), (.date, .text), (.uuid, .text), (.objectID, .text): break
        // SQLite would convert one side, or the values have no order in Query.
        default: return nil
        }
        switch conditions.condition(comparison, value, isConstant: true) {
        case .unknown: return nil
        case .never: return .constant(false)
        case .rows(let predicate): return predicate
        }
    }

    private func isIn(_ column: Int, _ operands: [SQLTest.Operand], _ isTrue: Bool) -> PredicateSyntax? {
        let form = table.columns[column].form
        var parts: [PredicateSyntax] = []
        for operand in operands {
            guard let value = value(operand) else { return nil }
            switch value {
            case .null:
                // The row is not in the list, or that is unknown.
                if !isTrue { return conditions(column) == nil ? nil : .constant(false) }
                continue
            // SQLite converts the list to the type of the column, which can lose digits.
            case .int(let x) where (form == .real || form == .float) && x.magnitude > 1 << 53: return nil
            default: break
            }
            guard let part = compare(column, isTrue ? FIRN_SQL_EQ : FIRN_SQL_NE, value) else { return nil }
            parts.append(part)
        }
        guard isTrue else { return parts.isEmpty || parts.contains(.constant(false)) ? .constant(parts.isEmpty) : .and(parts) }
        return listed(parts) ?? SQLTestBinding.any(parts)
    }

    /// Returns equalities of one column as one test of a list.
    private func listed(_ parts: [PredicateSyntax]) -> PredicateSyntax? {
        var path: ExpressionSyntax?, constants: [ExpressionSyntax] = []
        for part in parts where part != .constant(false) {
            guard case .comparison(let one) = part, one.comparator == .equal, case .constant = one.right else { return nil }
            path = one.left
            constants.append(one.right)
        }
        guard let path, constants.count > 1 else { return nil }
        return .comparison(ComparisonSyntax(path, .isIn, .list(nil, constants, .init())))
    }
}
