import FirnModel

/// Spellings of SQL that can mean nothing else here.
extension Parser {
    /// `IS NULL`, `IS NOT NULL`, and the same of true and false.
    mutating func nullTest(_ left: ExpressionSyntax) throws(QueryError) -> Node? {
        guard keyword == "is" else { return nil }
        let place = TextPosition(position)
        advance()
        let isNegated = keyword == "not"
        if isNegated { advance() }
        guard let word = keyword, ["null", "nil", "true", "false"].contains(word) else {
            throw unexpected("NULL, TRUE or FALSE: other values are compared with == and !=")
        }
        return .predicate(.comparison(ComparisonSyntax(left, isNegated ? .notEqual : .equal, ignoresCase: false, ignoresMarks: false, .constant(try constant()), at: place)))
    }

    /// `NOT` between a value and `IN`, `BETWEEN` or a comparison of text.
    var takesNegation: Bool {
        guard keyword == "not", case .word(let next) = peek(1) else { return false }
        return ["in", "between", "like", "contains", "beginswith", "endswith", "text", "fulltext", "geowithin"].contains(next.lowercased())
    }

    /// `(1, 2)` after `IN` or `BETWEEN`. What is in parentheses may be a list of its own too, such as `(tags)` or `($0)`: then it is left to the caller.
    mutating func listOfSQL(_ comparator: Comparator) throws(QueryError) -> ExpressionSyntax? {
        guard comparator == .isIn || comparator == .between, peek == .symbol("(") else { return nil }
        let width = argumentWidth(1)
        let isList = switch peek(1) {
        case .string, .base64, .number, .date, .uuid, .objectID, .decimal, .symbol("-"), .symbol("+"), .symbol(")"): true
        case .word(let word): ["null", "nil", "true", "false"].contains(word.lowercased()) || peek(2) == .symbol(",")
        default: width > 0 && peek(1 + width) == .symbol(",")
        }
        guard isList else { return nil }
        let start = TextPosition(position)
        advance()
        return .list(nil, try elements(until: ")"), start)
    }

    /// `1 AND 10` after `BETWEEN`, whose first value was read. Arguments may be lists, and be followed by another condition: they are the ends of a range only where a
    /// single value follows.
    mutating func range(from low: ExpressionSyntax, _ start: Int) throws(QueryError) -> ExpressionSyntax {
        guard keyword == "and" else { return low }
        switch low {
        case .constant: break
        case .argument:
            let width = max(argumentWidth(1), isSingle(peek(1)) ? 1 : 0)
            guard width > 0, isEnd(1 + width) else { return low }
        case .path, .arithmetic:
            throw QueryError(.syntax, "BETWEEN takes two values", at: start, hint: "write x >= low AND x <= high where the limits are properties")
        default: return low
        }
        advance()
        let place = TextPosition(position)
        let high: ExpressionSyntax = if let index = takeArgument() { .argument(index, place) } else { .constant(try constant()) }
        return .list(nil, [low, high], TextPosition(start))
    }

    /// How many tokens the argument takes that is `ahead`; 0: there is none.
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

    /// Nothing that belongs to a comparison follows.
    private func isEnd(_ ahead: Int) -> Bool {
        switch peek(ahead) {
        case .end, .symbol(")"), .symbol("&&"), .symbol("||"): true
        case .word(let word): ["and", "or", "sort", "distinct", "limit"].contains(word.lowercased())
        default: false
        }
    }

    /// What to write instead of the word of SQL that is here.
    var hintForSQL: String? {
        // A whole statement.
        if at == 1, case .word(let first) = tokens[0].kind, first.lowercased() == "select" { return "a query is a condition alone; 'firn sql' takes statements of SQL" }
        switch loose {
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
