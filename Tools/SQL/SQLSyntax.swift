import FirnTable

/// The tokens of one statement that selects rows, and its common table expressions.
struct SQLSyntax {
    /// A common table expression.
    struct View {
        /// The names of its columns, if they are listed.
        var columns: [String]?
        /// Its SELECT, without parentheses.
        var body: Range<Int>
    }
    let tokens: [SQLToken]
    let bytes: [UInt8]
    /// For each token that is a parameter its number.
    let parameters: [Int]
    /// The common table expressions by name.
    private(set) var views: [String: View] = [:]
    /// The SELECT after them.
    private(set) var main = 0..<0

    /// Returns nil if the statement is not a SELECT, or if its common table expressions are not understood. `start` is the first token.
    init?(_ tokens: [SQLToken], _ bytes: [UInt8], from start: Int) {
        self.tokens = tokens
        self.bytes = bytes
        parameters = SQLSyntax.numbers(tokens)
        var at = start
        guard at < tokens.count else { return nil }
        if tokens[at].isWord("with") {
            at += 1
            if at < tokens.count, tokens[at].isWord("recursive") { at += 1 }
            guard readViews(&at) else { return nil }
        }
        // Names in a WITH elsewhere would have a meaning in a part of the statement only.
        guard at < tokens.count, tokens[at].isWord("select"), !tokens[at...].contains(where: { $0.isWord("with") }) else { return nil }
        main = at..<tokens.count
    }

    private mutating func readViews(_ at: inout Int) -> Bool {
        while true {
            guard at + 1 < tokens.count, tokens[at].isName else { return false }
            let name = tokens[at].text
            var columns: [String]?
            at += 1
            if tokens[at].isSymbol("(") {
                guard let close = close(at) else { return false }
                columns = tokens[at + 1..<close].filter(\.isName).map(\.text)
                at = close + 1
            }
            guard at < tokens.count, tokens[at].isWord("as") else { return false }
            at += 1
            if at < tokens.count, tokens[at].isWord("not") { at += 1 }
            if at < tokens.count, tokens[at].isWord("materialized") { at += 1 }
            guard at < tokens.count, tokens[at].isSymbol("("), let close = close(at), views[name] == nil,
                !tokens[at..<close].contains(where: { $0.isWord("with") })
            else { return false }
            views[name] = View(columns: columns, body: at + 1..<close)
            at = close + 1
            guard at < tokens.count, tokens[at].isSymbol(",") else { return true }
            at += 1
        }
    }

    /// Returns the index of the parenthesis that closes the one at `at`.
    func close(_ at: Int) -> Int? {
        var depth = 0
        for i in at..<tokens.count {
            depth += tokens[i].isSymbol("(") ? 1 : tokens[i].isSymbol(")") ? -1 : 0
            if depth == 0 { return i }
        }
        return nil
    }

    /// Returns the SELECTs in parentheses, each before those within it.
    func nested(in range: Range<Int>) -> [Range<Int>] {
        range.dropLast().compactMap { at in
            guard tokens[at].isSymbol("("), tokens[at + 1].isWord("select"), let close = close(at) else { return nil }
            return at + 1..<close
        }
    }

    /// Returns the changes that give the parameters outside of some ranges the numbers of the statement as written.
    func numberedParameters(outside ranges: [Range<Int>]) -> [(range: Range<Int>, text: String)] {
        tokens.indices.filter { at in tokens[at].kind == .parameter && !ranges.contains { $0.contains(at) } }
            .map { (tokens[$0].range, "?\(parameters[$0])") }
    }

    /// Returns the numbers that SQLite gives to parameters; 0 for other tokens.
    private static func numbers(_ tokens: [SQLToken]) -> [Int] {
        var known: [String: Int] = [:], largest = 0
        return tokens.map { token in
            guard token.kind == .parameter else { return 0 }
            if token.text.hasPrefix("?") {
                let number = Int(token.text.dropFirst()) ?? largest + 1
                largest = max(largest, number)
                return number
            }
            if let number = known[token.text] { return number }
            largest += 1
            known[token.text] = largest
            return largest
        }
    }
}
