import FirnTable

/// Expressions: operators, constants, arguments and lists.
extension Parser {
    mutating func sum() throws(QueryError) -> Node {
        try chain(from: try product(), { $0 == .symbol("+") ? .add : $0 == .symbol("-") ? .subtract : nil }) {
            (parser) throws(QueryError) in try parser.product()
        }
    }

    private mutating func product() throws(QueryError) -> Node {
        try chain(from: try primary(), { $0 == .symbol("*") ? .multiply : $0 == .symbol("/") ? .divide : nil }) {
            (parser) throws(QueryError) in try parser.primary()
        }
    }

    private mutating func chain(
        from node: Node, _ operation: (Token.Kind) -> ArithmeticOperator?, _ operand: (inout Parser) throws(QueryError) -> Node
    ) throws(QueryError) -> Node {
        guard case .expression(var left) = node else { return node }
        var length = 0
        while let op = operation(peek) {
            length += 1
            guard length <= Parser.maximumDepth else {
                throw QueryError(.syntax, "more than \(Parser.maximumDepth) operators in a row", at: position)
            }
            advance()
            let start = position
            guard case .expression(let right) = try operand(&self) else {
                throw QueryError(.syntax, "a comparison cannot be an operand of \"\(op.rawValue)\"", at: start)
            }
            left = .arithmetic(op, left, right)
        }
        return .expression(left)
    }

    private mutating func primary() throws(QueryError) -> Node {
        let start = TextPosition(position)
        switch peek {
        case .symbol("("):
            try enter()
            defer { depth -= 1 }
            advance()
            let inner = try or()
            try expect(")", "\")\"")
            return inner
        case .symbol("{"): return .expression(try list(nil))
        case .symbol("%"):
            if pathArgument != nil { return .expression(.path(try path(quantifier: nil))) }
            guard let index = takeArgument() else { throw unexpected("a value or a property") }
            return .expression(.argument(index, start))
        case .argument(let index):
            advance()
            return .expression(.argument(index, start))
        case .quotedName, .postfix("links"): return .expression(.path(try path(quantifier: nil)))
        case .word: return try wordOperand(start)
        default: return .expression(.constant(try constant()))
        }
    }

    /// Returns the number of the argument here: that of `$3`, or the next in order for `%@` and for `%d`, `%lld`, `%f` and similar. The
    /// letters make no difference, because arguments know their types.
    mutating func takeArgument() -> Int? {
        if case .argument(let index) = peek {
            advance()
            return index
        }
        guard peek == .symbol("%"), !tokens[at + 1].spaced else { return nil }
        switch peek(1) {
        case .postfix(""): break
        case .word(let word) where Parser.isConversion(word): break
        default: return nil
        }
        advance()
        advance()
        nextArgument += 1
        return nextArgument - 1
    }

    /// Whether a word is a conversion of C's formatted output: a length and the letter of a type.
    private static func isConversion(_ word: String) -> Bool {
        guard let type = word.last, "dDiuUxXoOfFeEgGaAcCsS".contains(type) else { return false }
        return ["", "h", "hh", "l", "ll", "q", "z", "t", "j", "L"].contains(word.dropLast())
    }

    /// The number of the path argument here, `$K3` or the next in order for `%K`, and the number of its tokens; nil if there is none.
    private var pathArgument: (index: Int, tokens: Int)? {
        if case .word(let word) = peek, word.hasPrefix("$K"), let index = Int(word.dropFirst(2)), index >= 0, index < 1 << 20 {
            return (index, 1)
        }
        if peek == .symbol("%"), peek(1) == .word("K"), !tokens[at + 1].spaced { return (nextArgument, 2) }
        return nil
    }

    mutating func takePathArgument() -> Int? {
        guard let (index, count) = pathArgument else { return nil }
        if count == 2 { nextArgument += 1 }
        for _ in 0..<count { advance() }
        return index
    }

    private mutating func wordOperand(_ start: TextPosition) throws(QueryError) -> Node {
        switch keyword {
        case "truepredicate", "falsepredicate":
            let value = keyword == "truepredicate"
            advance()
            return .predicate(.constant(value))
        case "any", "some", "all", "none":
            let quantifier: Quantifier = keyword == "all" ? .all : keyword == "none" ? Quantifier.none : .any
            advance()
            if peek == .symbol("{") { return .expression(try list(quantifier)) }
            return .expression(.path(try path(quantifier: quantifier)))
        case "subquery": return .expression(try subquery(start))
        default: break
        }
        if peek(1) == .symbol("(") || { if case .string = peek(1) { true } else { false } }() {
            switch lenientKeyword {
            case "bin", "binary": return .expression(.constant(try constant()))
            case "obj": return .expression(try object(start))
            case "geobox": return .expression(try shape(.box, start))
            case "geocircle": return .expression(try shape(.circle, start))
            case "geopolygon": return .expression(try shape(.polygon, start))
            default: break
            }
        }
        if isLiteral { return .expression(.constant(try constant())) }
        if let row = try rowLiteral(start) { return .expression(row) }
        return .expression(.path(try path(quantifier: nil)))
    }

    private var isLiteral: Bool {
        if let keyword, ["true", "false", "null", "nil"].contains(keyword) { return true }
        return lenientKeyword.map { ["inf", "infinity", "nan"].contains($0) } ?? false
    }

    private mutating func list(_ quantifier: Quantifier?) throws(QueryError) -> ExpressionSyntax {
        let start = TextPosition(position)
        try expect("{", "a list, such as {1, 2}")
        return .list(quantifier, try elements(until: "}"), start)
    }

    /// Parses the elements of a list and its closing bracket.
    mutating func elements(until closing: String) throws(QueryError) -> [ExpressionSyntax] {
        var parts: [ExpressionSyntax] = []
        if take(closing) { return parts }
        repeat {
            let start = TextPosition(position)
            if let index = takeArgument() {
                parts.append(.argument(index, start))
            } else if lenientKeyword == "obj", peek(1) == .symbol("(") {
                parts.append(try object(start))
            } else if let row = try rowLiteral(start) {
                parts.append(row)
            } else {
                parts.append(.constant(try constant()))
            }
        } while take(",")
        try expect(closing, "\",\" or \"\(closing)\"")
        return parts
    }
}
