import FirnTable

/// Paths: names of columns and collections, and what follows them.
extension Parser {
    mutating func path(quantifier: Quantifier?) throws(QueryError) -> PathSyntax {
        let start = TextPosition(position)
        var steps = [try firstStep()]
        while true {
            if take(".") {
                if case .postfix(let word) = peek { steps.append(try postfix(word)) } else { steps.append(try nameStep()) }
            } else if peek == .symbol("["), !tokens[at].spaced {
                advance()
                steps.append(try index())
            } else {
                break
            }
        }
        return PathSyntax(quantifier: quantifier, steps, at: start)
    }

    mutating func nameStep() throws(QueryError) -> PathStep {
        let start = TextPosition(position)
        if let index = takePathArgument() { return .path(index, start) }
        switch peek {
        case .quotedName(let name):
            advance()
            return .name(name, start)
        case .word(let word):
            if keyword.map(Parser.reserved.contains) ?? false {
                throw unexpected("a property (put its name in back-quotes if it is a word of the language)")
            }
            advance()
            return .name(word, start)
        case .postfix("links"):
            advance()
            return .links
        case .symbol("."):
            throw unexpected("the name of a property (put the name of a property in back-quotes if it is a word of the language)")
        default: throw unexpected("the name of a property")
        }
    }

    private static let postfixWords = [
        "count", "size", "min", "max", "sum", "avg", "keys", "values", "type", "links", "allKeys", "allValues",
    ]

    mutating func postfix(_ word: String) throws(QueryError) -> PathStep {
        let step: PathStep
        switch word.lowercased() {
        case "count", "size": step = .count
        case "min": step = .minimum
        case "max": step = .maximum
        case "sum": step = .sum
        case "avg": step = .average
        case "keys", "allkeys": step = .keys
        case "values", "allvalues": step = .values
        case "type": step = .type
        case "links": step = .links
        default: throw unexpected("@count, @size, @min, @max, @sum, @avg, @keys, @values, @type or @links", among: Parser.postfixWords)
        }
        advance()
        return step
    }

    private mutating func index() throws(QueryError) -> PathStep {
        let step: PathStep
        if let index = takeArgument() {
            try expect("]", "\"]\"")
            return .argument(index)
        }
        switch peek {
        case .number(let digits):
            guard let value = Int(digits), value < 1 << 40 else {
                throw QueryError(.syntax, "\"\(digits)\" is not an index", at: position, expected: "a whole number from 0")
            }
            step = .index(value)
        case .string(let bytes): step = .key(String(decoding: bytes, as: UTF8.self))
        case .symbol("*"): step = .every
        case .word where lenientKeyword == "first": step = .first
        case .word where lenientKeyword == "last": step = .last
        case .word where lenientKeyword == "size": step = .count
        default: throw unexpected("a number, FIRST, LAST, SIZE, *, a key in quotes or an argument", among: ["FIRST", "LAST", "SIZE"])
        }
        advance()
        try expect("]", "\"]\"")
        return step
    }
}
