import FirnTable

/// SQL spellings that are unambiguous in this language.
extension Parser {
    /// Parses `IS NULL`, `IS NOT NULL`, and the same with true and false.
    mutating func nullTest(_ left: ExpressionSyntax) throws(QueryError) -> Node? {
        guard keyword == "is" else { return nil }
        let start = TextPosition(position)
        advance()
        let isNegated = keyword == "not"
        if isNegated { advance() }
        guard let word = keyword, ["null", "nil", "true", "false"].contains(word) else {
            throw unexpected("NULL, TRUE or FALSE: use == and != to compare other values")
        }
        return .predicate(
            .comparison(
                ComparisonSyntax(
                    left, isNegated ? .notEqual : .equal, ignoresCase: false, ignoresMarks: false, .constant(try constant()), at: start)))
    }

    /// Whether `NOT` follows, between a value and `IN`, `BETWEEN` or a text comparison.
    var takesNegation: Bool {
        guard keyword == "not", case .word(let next) = peek(1) else { return false }
        return ["in", "between", "like", "contains", "beginswith", "endswith", "text", "fulltext", "geowithin"].contains(next.lowercased())
    }

    /// Parses `(1, 2)` after `IN` or `BETWEEN`. Returns nil if the parentheses contain an expression that is a list itself, such as
    /// `(tags)` or `($0)`.
    mutating func listOfSQL(_ comparator: Comparator) throws(QueryError) -> ExpressionSyntax? {
        guard comparator == .isIn || comparator == .between, peek == .symbol("(") else { return nil }
        let width = argumentWidth(1)
        let isList =
            switch peek(1) {
            case .string, .base64, .number, .date, .uuid, .objectID, .decimal, .symbol("-"), .symbol("+"), .symbol(")"): true
            case .word(let word): ["null", "nil", "true", "false"].contains(word.lowercased()) || peek(2) == .symbol(",")
            default: width > 0 && peek(1 + width) == .symbol(",")
            }
        guard isList else { return nil }
        let start = TextPosition(position)
        advance()
        return .list(nil, try elements(until: ")"), start)
    }

    /// Parses `1 AND 10` after `BETWEEN`, whose first value has been read. An argument can also be a list that is followed by another
    /// condition, so two arguments are a range only if a single value follows.
    mutating func range(from low: ExpressionSyntax, _ start: Int) throws(QueryError) -> ExpressionSyntax {
        guard keyword == "and" else { return low }
        switch low {
        case .constant: break
        case .argument:
            let width = max(argumentWidth(1), isSingle(peek(1)) ? 1 : 0)
            guard width > 0, isEnd(1 + width) else { return low }
        case .path, .arithmetic:
            throw QueryError(
                .syntax, "BETWEEN takes two values", at: start, hint: "write x >= low AND x <= high if the limits are properties")
        default: return low
        }
        advance()
        let position = TextPosition(position)
        let high: ExpressionSyntax = if let index = takeArgument() { .argument(index, position) } else { .constant(try constant()) }
        return .list(nil, [low, high], TextPosition(start))
    }

    /// Returns the number of tokens of the argument at `ahead`; 0 if there is none.
    private func argumentWidth(_ ahead: Int) -> Int {
        switch (peek(ahead), peek(ahead + 1)) {
        case (.argument, _): 1
        case (.symbol("%"), .postfix("")), (.symbol("%"), .word): 2
        default: 0
        }
    }

    private func isSingle(_ kind: Token.Kind) -> Bool {
        switch kind {
        case .string, .number, .date, .uuid, .objectID, .decimal: true
        default: false
        }
    }

    /// Whether the comparison ends at `ahead`.
    private func isEnd(_ ahead: Int) -> Bool {
        switch peek(ahead) {
        case .end, .symbol(")"), .symbol("&&"), .symbol("||"): true
        case .word(let word): ["and", "or", "sort", "distinct", "limit"].contains(word.lowercased())
        default: false
        }
    }

    /// Advice for the SQL word at the current position, or nil.
    var hintForSQL: String? {
        // A whole SQL statement.
        if at == 1, case .word(let first) = tokens[0].kind, first.lowercased() == "select" {
            return "a query is only a condition; use 'firn sql' for SQL statements"
        }
        switch lenientKeyword {
        case "ilike": return "write LIKE[c], with * and ? for % and _"
        case "regexp", "rlike", "matches", "glob": return "write LIKE with * and ?, CONTAINS, BEGINSWITH or ENDSWITH"
        case "order": return "write SORT(column ASC) or SORT(column DESC)"
        case "limit": return "write LIMIT(5), with parentheses"
        case "offset": return "write --offset N"
        case "group", "having": return "write --group-by and --agg"
        case "distinct": return "write DISTINCT(column), with parentheses"
        default: return nil
        }
    }
}
