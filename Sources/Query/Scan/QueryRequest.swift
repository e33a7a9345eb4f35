import FirnBytes
import FirnTable

/// What to read from a table: rows, columns, order, groups. Paths are written as in the query language (`birth.place.name`,
/// `` `odd name`.x ``). The whole name of a column is accepted even if it is not a path.
package struct QueryRequest: Sendable {
    /// A query in the query language, optionally with SORT, DISTINCT and LIMIT; nil: all rows.
    package var filter: String?
    /// The parsed query; takes precedence over `filter`, which is then the text of errors about names and types.
    package var parsed: QuerySyntax?
    /// The values of `$0`, `$1`, …
    package var arguments: [Value]
    /// The columns of the result; empty: all columns of the type (for a grouped query: the group's columns and the aggregates).
    package var select: [String]
    /// Whether an empty `select` includes the columns of original texts, for rows that are passed on whole.
    package var includesCompanions = false
    /// Applied after the query's own descriptors: sort, then distinct, then offset and limit.
    package var sort: [SortKey]
    package var distinct: [String]
    package var limit: Int?
    package var offset: Int
    package var groupBy: [String]
    /// If `groupBy` is empty: one row over all rows.
    package var aggregates: [Aggregate]

    /// The names of properties that are not those of columns.
    package var names: PropertyNames
    /// Whether 0 and 1 are booleans where a boolean is expected, as in `NSPredicate`.
    package var acceptsNumbersAsBooleans: Bool

    /// The rows of a type that link to a row through a column, as a property of the row: `dogs` for `@links.Dog.owner`.
    package struct Inverse: Sendable, Hashable {
        package var name: String
        package var typeName: String
        package var column: String

        package init(_ name: String, type typeName: String, column: String) {
            self.name = name
            self.typeName = typeName
            self.column = column
        }
    }

    package struct SortKey: Sendable, Hashable {
        package var path: String
        package var ascending: Bool

        package init(_ path: String, ascending: Bool = true) {
            self.path = path
            self.ascending = ascending
        }
    }

    package init(
        filter: String? = nil, parsed: QuerySyntax? = nil, arguments: [Value] = [], select: [String] = [], sort: [SortKey] = [],
        distinct: [String] = [],
        limit: Int? = nil, offset: Int = 0, groupBy: [String] = [], aggregates: [Aggregate] = [], names: PropertyNames = PropertyNames(),
        acceptsNumbersAsBooleans: Bool = false
    ) {
        self.filter = filter
        self.parsed = parsed
        self.arguments = arguments
        self.select = select
        self.sort = sort
        self.distinct = distinct
        self.limit = limit
        self.offset = offset
        self.groupBy = groupBy
        self.aggregates = aggregates
        self.names = names
        self.acceptsNumbersAsBooleans = acceptsNumbersAsBooleans
    }

    var isGrouped: Bool { !groupBy.isEmpty || !aggregates.isEmpty }
}

/// One aggregate over the rows of a group.
package struct Aggregate: Sendable, Hashable {
    package enum Function: String, Sendable, Hashable, CaseIterable {
        case count, sum, avg, min, max
        /// The value of the first row that has one.
        case first
        /// The number below which half, or another share, of the numbers is, interpolated linearly. NaN is ignored.
        case median, quantile
    }
    package var function: Function
    /// A path or an expression of paths, such as `price * (1 - discount)`. Nil: `count` of rows.
    package var path: String?
    /// The share of `quantile`: 0 … 1.
    package var quantile: Double
    /// `count(distinct x)`: the number of different values, without null.
    package var isDistinct: Bool
    /// How doubles are added for `sum` and `avg`.
    package var summation: Summation
    /// The name of the result's column.
    package var name: String

    /// How doubles are added.
    package enum Summation: Sendable, Hashable {
        /// In any order, and decimals that are stored as doubles exactly.
        case anyOrder
        /// One after another in the order of the rows.
        case inOrder
        /// The same, and the errors of the additions are added too (Kahan, Babuška and Neumaier).
        case compensated
    }

    package init(
        _ function: Function, _ path: String? = nil, distinct: Bool = false, quantile: Double = 0.5, summation: Summation = .anyOrder,
        name: String? = nil
    ) {
        self.function = function
        self.summation = summation
        self.path = path
        self.quantile = quantile
        isDistinct = distinct
        let share = function == .quantile ? ", \(quantile)" : ""
        self.name = name ?? function.rawValue + (path.map { "(\(distinct ? "distinct " : "")\($0)\(share))" } ?? "")
    }

    /// Parses `count, sum(x) as total, avg(a.b), count(distinct x), quantile(x, 0.9), sum(price * (1 - discount))`.
    package static func list(_ text: String) throws(QueryError) -> [Aggregate] {
        var out: [Aggregate] = []
        var position = 0
        for part in split(text) {
            out.append(try one(part, in: text, at: position))
            position += part.utf8.count + 1
        }
        return out
    }

    /// Splits at commas outside parentheses and back-quotes.
    private static func split(_ text: String) -> [Substring] {
        var parts: [Substring] = [], depth = 0, quoted = false, start = text.startIndex
        // By scalars, because a back-quote and a combining mark form one character.
        let scalars = text.unicodeScalars
        for i in scalars.indices {
            switch scalars[i] {
            case "`": quoted.toggle()
            case "(" where !quoted: depth += 1
            case ")" where !quoted: depth -= 1
            case "," where !quoted && depth == 0:
                parts.append(text[start..<i])
                start = scalars.index(after: i)
            default: break
            }
        }
        return parts + [text[start...]]
    }

    private static func one(_ part: Substring, in text: String, at position: Int) throws(QueryError) -> Aggregate {
        let known =
            "count, sum(x), avg(x), min(x), max(x), first(x), median(x), quantile(x, 0.9) or count(distinct x), optionally followed by \"as name\""
        func trimmed(_ text: Substring) -> Substring {
            var text = text
            while text.first?.isWhitespace ?? false { text.removeFirst() }
            while text.last?.isWhitespace ?? false { text.removeLast() }
            return text
        }
        var body = trimmed(part), name: String?
        let head = body.prefix { $0.isLetter }
        guard let function = Function(rawValue: head.lowercased()) else {
            throw QueryError(
                .syntax, "\"\(head)\" is not an aggregate", in: text, at: position, expected: known,
                suggestion: Suggestion.nearest(to: String(head), among: Function.allCases.map(\.rawValue)))
        }
        body = trimmed(body.dropFirst(head.count))
        var path: String?, distinct = false, quantile = 0.5
        if body.first == "(" {
            guard let end = body.lastIndex(of: ")") else {
                throw QueryError(.syntax, "no closing parenthesis", in: text, at: position, expected: known)
            }
            var inside = trimmed(body[body.index(after: body.startIndex)..<end])
            body = trimmed(body[body.index(after: end)...])
            if inside.lowercased().hasPrefix("distinct "), function == .count {
                distinct = true
                inside = trimmed(inside.dropFirst(9))
            }
            if function == .quantile {
                guard let comma = inside.lastIndex(of: ","), let share = Double(String(trimmed(inside[inside.index(after: comma)...]))),
                    share >= 0, share <= 1
                else {
                    throw QueryError(
                        .syntax, "quantile needs a column and a share from 0 to 1", in: text, at: position, expected: "quantile(x, 0.9)")
                }
                quantile = share
                inside = trimmed(inside[..<comma])
            }
            if !inside.isEmpty, inside != "*" { path = String(inside) }
        }
        if body.lowercased().hasPrefix("as ") {
            var given = trimmed(body.dropFirst(3))
            let scalars = given.unicodeScalars
            if scalars.count > 1, scalars.first == "`", scalars.last == "`" { given = Substring(scalars.dropFirst().dropLast()) }
            name = String(given)
            body = ""
        }
        guard body.isEmpty, name?.isEmpty != true else {
            throw QueryError(.syntax, "unexpected \"\(body)\"", in: text, at: position, expected: known)
        }
        guard path != nil || function == .count && !distinct else {
            throw QueryError(.syntax, "\(function.rawValue) needs a column", in: text, at: position, expected: known)
        }
        return Aggregate(function, path, distinct: distinct, quantile: quantile, name: name)
    }
}
