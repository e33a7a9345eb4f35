import FirnBytes
import FirnTable

/// Parses queries in one pass over the tokens. Nesting is bounded, so parsing takes linear time and a bounded stack.
///
///     query      := or descriptor*
///     or         := and (("||" | OR) and)*          and := unary (("&&" | AND) unary)*
///     unary      := ("!" | NOT) unary | sum [[NOT] comparator ["[c]"] sum | IS [NOT] literal]
///     sum        := product (("+" | "-") product)*  product := primary (("*" | "/") primary)*
///     primary    := "(" or ")" | TRUEPREDICATE | FALSEPREDICATE | constant | path | list | subquery | object | shape
///
/// A parenthesis may contain a predicate or an expression. Which one is known only at its end, so both are parsed by `or` as a `Node`.
package struct Parser {
    /// The maximum depth of nested parentheses, negations and operators.
    static let maximumDepth = 128
    static let reserved: Set<String> = [
        "any", "some", "all", "none", "not", "and", "or", "subquery", "obj", "geobox", "geocircle", "geopolygon", "truepredicate",
        "falsepredicate",
        "true", "false", "null", "nil", "inf", "infinity", "nan",
    ]

    private let text: String
    var tokens: [Token] = []
    var at = 0
    var depth = 0
    var nextArgument = 0
    /// The number of calls of `advance`. The parser never steps back, so there is at most one for each token.
    private var advances = 0
    /// The variables of the enclosing subqueries, the innermost last.
    var variables: [String] = []

    enum Node {
        case predicate(PredicateSyntax)
        case expression(ExpressionSyntax)
    }

    private init(_ text: String) throws(QueryError) {
        self.text = text
        var lexer = Lexer(text)
        do throws(QueryError) { tokens = try lexer.tokens() } catch { throw error.located(in: text) }
    }

    /// Parses a whole query.
    /// - Throws: `QueryError` with the position in the text.
    package static func query(_ text: String) throws(QueryError) -> QuerySyntax {
        var parser = try Parser(text)
        do throws(QueryError) { return try parser.query() } catch { throw error.located(in: text) }
    }

    /// Returns the number of arguments that a query uses: one more than the highest number of an argument in it.
    package static func argumentCount(of text: String) throws(QueryError) -> Int {
        var parser = try Parser(text)
        do throws(QueryError) { _ = try parser.query() } catch { throw error.located(in: text) }
        return parser.tokens.reduce(parser.nextArgument) { count, token in
            switch token.kind {
            case .argument(let index): max(count, index + 1)
            case .word(let word) where isPathArgument(word): max(count, (Int(word.dropFirst(2)) ?? 0) + 1)
            default: count
            }
        }
    }

    /// Parses a path, such as `birth.place.name`.
    package static func path(_ text: String) throws(QueryError) -> PathSyntax {
        var parser = try Parser(text)
        do throws(QueryError) {
            let path = try parser.path(quantifier: nil)
            guard parser.peek == .end else { throw parser.unexpected("the end of the path") }
            return path
        } catch { throw error.located(in: text) }
    }

    /// Returns the number of tokens of a query and of parser steps.
    static func steps(of text: String) throws(QueryError) -> (tokens: Int, advances: Int) {
        var parser = try Parser(text)
        _ = try parser.query()
        return (parser.tokens.count, parser.advances)
    }

    /// Parses an expression of a row, such as `price * (1 - discount)`, or a path.
    package static func expression(_ text: String) throws(QueryError) -> ExpressionSyntax {
        var parser = try Parser(text)
        do throws(QueryError) {
            guard case .expression(let expression) = try parser.sum() else {
                throw QueryError(.syntax, "a comparison is not a value", at: 0, expected: "a property, or an expression of properties")
            }
            guard parser.peek == .end else { throw parser.unexpected("an operator or the end of the expression") }
            return expression
        } catch { throw error.located(in: text) }
    }

    // MARK: Tokens

    /// Returns the text from a position to the current token, without the white space before the token.
    func written(from start: Int) -> String { written(from: start, to: at) }

    /// Returns the text from a position to a token, without the white space before the token.
    private func written(from start: Int, to token: Int) -> String {
        var end = tokens[token].position
        let bytes = text.utf8
        func byte(_ offset: Int) -> UInt8 { bytes[bytes.index(bytes.startIndex, offsetBy: offset)] }
        while end > start, byte(end - 1) == 32 || (9...13).contains(byte(end - 1)) { end -= 1 }
        return String(decoding: bytes.dropFirst(start).prefix(end - start), as: UTF8.self)
    }

    var peek: Token.Kind { tokens[at].kind }
    var position: Int { tokens[at].position }
    func peek(_ ahead: Int) -> Token.Kind { at + ahead < tokens.count ? tokens[at + ahead].kind : .end }
    mutating func advance() {
        advances += 1
        if at < tokens.count - 1 { at += 1 }
    }

    mutating func take(_ symbol: String) -> Bool {
        guard peek == .symbol(symbol) else { return false }
        advance()
        return true
    }

    mutating func expect(_ symbol: String, _ what: String) throws(QueryError) {
        guard take(symbol) else { throw unexpected(what) }
    }

    /// The current word in lower case if it is written entirely in lower or upper case, as reserved words must be.
    var keyword: String? {
        guard case .word(let word) = peek else { return nil }
        let lower = word.lowercased()
        return word == lower || word == word.uppercased() ? lower : nil
    }

    /// The current word in lower case, however it is written.
    var lenientKeyword: String? {
        guard case .word(let word) = peek else { return nil }
        return word.lowercased()
    }

    /// Returns an error for the current token. `known` are the words that are allowed here; the closest one is suggested.
    func unexpected(_ expected: String, among known: [String] = []) -> QueryError {
        let found =
            switch peek {
            case .end: "the query ends too early"
            case .word(let word): "unexpected \"\(word)\""
            case .quotedName(let name): "unexpected name \"\(name)\""
            case .string, .base64: "unexpected text"
            case .number(let digits): "unexpected number \(digits)"
            case .date: "unexpected date"
            case .uuid, .objectID: "unexpected identifier"
            case .decimal: "unexpected decimal number"
            case .argument(let index): "unexpected argument $\(index)"
            case .postfix(let word): "unexpected \"@\(word)\""
            case .symbol(let symbol): "unexpected \"\(symbol)\""
            }
        var suggestion: String?
        switch peek {
        case .word(let word), .postfix(let word): suggestion = Suggestion.nearest(to: word, among: known)
        default: break
        }
        // After a column in SORT, a word that resembles a direction is one.
        let isDirection = suggestion != nil && expected == "ASC or DESC"
        let hint = hintForSQL ?? (isDirection ? nil : hintForSpaces)
        return QueryError(.syntax, found, at: position, expected: expected, suggestion: hint == nil ? suggestion : nil, hint: hint)
    }

    /// Returns advice if the current word and its neighbours may be one name with spaces: `GICS Sector == 'Energy'`.
    private var hintForSpaces: String? {
        func isPart(_ index: Int) -> Bool {
            guard tokens.indices.contains(index), case .word(let word) = tokens[index].kind else { return false }
            let lower = word.lowercased()
            return !Parser.reserved.contains(lower) && !Parser.wordsAfterNames.contains(lower)
        }
        guard at > 0, isPart(at), isPart(at - 1) else { return nil }
        var first = at, end = at
        while isPart(first - 1) { first -= 1 }
        while isPart(end) { end += 1 }
        switch tokens[end].kind {
        // What follows a name: a comparison, an operator, the end of a list or of the text.
        case .end, .word: break
        case .symbol(let symbol): guard !["(", "{", "["].contains(symbol) else { return nil }
        default: return nil
        }
        let name = written(from: tokens[first].position, to: end)
        return "if \"\(name)\" is one name, write it in back-quotes: `\(name)`"
    }

    /// The words that can follow a name.
    private static let wordsAfterNames: Set<String> = Set(
        (operatorWords + descriptorWords + ["FULLTEXT", "IS", "ASC", "DESC", "ASCENDING", "DESCENDING"]).map { $0.lowercased() })
    private static let descriptorWords = ["SORT", "DISTINCT", "LIMIT"]
    private static let operatorWords = ["BEGINSWITH", "ENDSWITH", "CONTAINS", "LIKE", "IN", "BETWEEN", "TEXT", "GEOWITHIN"]

    mutating func leave() { depth -= 1 }

    mutating func enter() throws(QueryError) {
        depth += 1
        guard depth <= Parser.maximumDepth else {
            throw QueryError(.syntax, "nested more than \(Parser.maximumDepth) levels deep", at: position)
        }
    }

    // MARK: Predicates

    private mutating func query() throws(QueryError) -> QuerySyntax {
        let start = position
        // The node is made before the call, because the receiver of a call is accessed before its arguments are evaluated.
        let node = try or()
        let predicate = try predicate(node, from: start)
        var descriptors: [DescriptorSyntax] = []
        while let word = lenientKeyword, peek(1) == .symbol("("), ["sort", "distinct", "limit"].contains(word) {
            descriptors.append(try descriptor(word))
        }
        guard peek == .end else {
            throw unexpected("AND, OR, SORT, DISTINCT, LIMIT or the end of the query", among: Parser.descriptorWords + ["AND", "OR"])
        }
        return QuerySyntax(predicate, descriptors: descriptors)
    }

    func predicate(_ node: Node, from start: Int) throws(QueryError) -> PredicateSyntax {
        switch node {
        case .predicate(let predicate): return predicate
        case .expression:
            if peek == .end {
                throw QueryError(.syntax, "a value alone is not a predicate", at: position, expected: "a comparison, such as \"== true\"")
            }
            throw unexpected("a comparison, such as == < IN CONTAINS", among: Parser.operatorWords)
        }
    }

    mutating func or() throws(QueryError) -> Node {
        let start = position
        let first = try and()
        guard peek == .symbol("||") || keyword == "or" else { return first }
        var parts = [try predicate(first, from: start)]
        while peek == .symbol("||") || keyword == "or" {
            advance()
            let node = try and()
            parts.append(try predicate(node, from: position))
        }
        return .predicate(.or(parts))
    }

    private mutating func and() throws(QueryError) -> Node {
        let start = position
        let first = try unary()
        guard peek == .symbol("&&") || keyword == "and" else { return first }
        var parts = [try predicate(first, from: start)]
        while peek == .symbol("&&") || keyword == "and" {
            advance()
            let node = try unary()
            parts.append(try predicate(node, from: position))
        }
        return .predicate(.and(parts))
    }

    private mutating func unary() throws(QueryError) -> Node {
        if peek == .symbol("!") || keyword == "not" {
            advance()
            try enter()
            defer { depth -= 1 }
            let start = position
            let node = try unary()
            return .predicate(.not(try predicate(node, from: start)))
        }
        return try comparison()
    }

    private mutating func comparison() throws(QueryError) -> Node {
        let left = try sum()
        guard case .expression(let expression) = left else { return left }
        if let test = try nullTest(expression) { return test }
        let operatorStart = position, isNegated = takesNegation
        if isNegated { advance() }
        guard let comparator = try comparator() else { return left }
        let folding = try modifiers(comparator)
        let start = position
        let right: ExpressionSyntax
        if let list = try listOfSQL(comparator) {
            right = list
        } else if case .expression(let plain) = try sum() {
            right = try comparator == .between ? range(from: plain, start) : plain
        } else {
            throw QueryError(.syntax, "a comparison cannot be compared", at: start, expected: "a value or a property")
        }
        if comparator == .between {
            if case .list(_, let parts, let position) = right, parts.count != 2 {
                throw QueryError(.syntax, "Operator \"BETWEEN\" requires a list with 2 elements", at: position.offset)
            }
            switch right {
            case .list, .argument: break
            default:
                throw QueryError(
                    .syntax, "Operator \"BETWEEN\" requires a list with 2 elements", at: start,
                    hint: "write BETWEEN {1, 10} or BETWEEN 1 AND 10")
            }
        }
        let comparison = PredicateSyntax.comparison(
            ComparisonSyntax(
                expression, comparator, ignoresCase: folding.case, ignoresMarks: folding.marks, right, at: TextPosition(operatorStart))
        )
        return .predicate(isNegated ? .not(comparison) : comparison)
    }

    private mutating func comparator() throws(QueryError) -> Comparator? {
        let found: Comparator
        switch peek {
        case .symbol("=="), .symbol("="): found = .equal
        case .symbol("!="), .symbol("<>"): found = .notEqual
        case .symbol("<"): found = .less
        case .symbol("<="), .symbol("=<"): found = .lessOrEqual
        case .symbol(">"): found = .greater
        case .symbol(">="), .symbol("=>"): found = .greaterOrEqual
        case .word:
            switch lenientKeyword {
            case "beginswith": found = .beginsWith
            case "endswith": found = .endsWith
            case "contains": found = .contains
            case "like": found = .like
            case "in": found = .isIn
            case "between": found = .between
            case "text", "fulltext": found = .text
            case "geowithin": found = .geoWithin
            default: return nil
            }
        default: return nil
        }
        advance()
        return found
    }

    /// Parses `[c]`, `[d]` or `[cd]` after a comparator.
    private mutating func modifiers(_ comparator: Comparator) throws(QueryError) -> Folding {
        guard peek == .symbol("["), case .word(let word) = peek(1), peek(2) == .symbol("]") else { return Folding() }
        let folding: Folding
        switch word.lowercased() {
        case "c": folding = Folding(case: true)
        case "d": folding = Folding(marks: true)
        case "cd", "dc": folding = Folding(case: true, marks: true)
        default: throw QueryError(.syntax, "unknown modifier [\(word)]", at: position, expected: "[c], [d] or [cd]")
        }
        guard comparator.folds else { throw QueryError(.syntax, "[\(word)] cannot be used with \"\(comparator.rawValue)\"", at: position) }
        advance()
        advance()
        advance()
        return folding
    }
}
