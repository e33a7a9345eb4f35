import FirnTable

/// An expression of one column by which rows are grouped, or a condition on one column. SQLite computes it once for each value of the column
/// that occurs.
struct ComputedKey: Sendable {
    /// The column in the expression.
    let column: Int
    /// The column of the scope with the number of the group, or with 1 where the condition holds.
    var numbers = 0
    /// Its name in a `ComputedTable`.
    var name = ""
    /// The text of the expression, divided where it names the column.
    let parts: [String]
    /// The seconds of the time unit on which the expression depends; nil if it depends on the whole value.
    let unit: Int64?

    /// Returns the expression of another column.
    func text(_ name: String) -> String { parts.joined(separator: name) }
}

/// Reads GROUP BY of expressions.
extension SQLGroupReader {
    /// An expression in GROUP BY, with its tokens.
    struct Computed {
        var key: ComputedKey
        let tokens: Range<Int>
        /// Where the tokens name the column.
        let sites: [Range<Int>]
        /// Whether it is one operand in whatever place it is: a call, CASE … END, or in parentheses.
        let isOperand: Bool
    }

    private static let dateFunctions: Set<String> = ["date", "time", "datetime", "julianday", "unixepoch", "strftime"]
    private static let words: Set<String> = [
        "case", "when", "then", "else", "end", "and", "or", "not", "null", "is", "in", "like", "glob", "between", "isnull", "notnull",
        "escape",
    ]

    /// Reads an expression of one column and of literals, whose value depends on nothing else; nil if it is none.
    func computed(_ range: Range<Int>) -> Computed? {
        var trial = self
        guard (try? trial.readExpression(range, seesAliases: false, isTrial: true)) ?? false else { return nil }
        var at = range.lowerBound, column: Int?, sites: [Range<Int>] = []
        while at < range.upperBound {
            if let (found, next) = self.column(at, before: range.upperBound) {
                guard column == nil || column == found else { return nil }
                column = found
                sites.append(at..<next)
                at = next
            } else if let next = next(at, range.upperBound) {
                at = next
            } else {
                return nil
            }
        }
        guard let column, isComputable(column) else { return nil }
        let start = tokens[range.lowerBound], end = range.upperBound - 1
        let isOperand =
            start.isSymbol("(") && syntax.close(range.lowerBound) == end
            || start.kind == .word && tokens[range.lowerBound + 1].isSymbol("(") && syntax.close(range.lowerBound + 1) == end
            || start.isWord("case") && tokens[end].isWord("end")
                && !tokens[range].dropFirst().dropLast().contains { $0.isWord("case") || $0.isWord("end") }
        var parts: [String] = [], last = bytes(range).lowerBound
        for site in sites {
            parts.append(String(decoding: self.bytes[last..<bytes(site).lowerBound], as: UTF8.self))
            last = bytes(site).upperBound
        }
        parts.append(String(decoding: self.bytes[last..<bytes(range).upperBound], as: UTF8.self))
        let key = ComputedKey(column: column, parts: parts, unit: unit(column, sites, range))
        return Computed(key: key, tokens: range, sites: sites, isOperand: isOperand)
    }

    /// Returns the index after a token that is no column; nil if the value may depend on more than its operands.
    private func next(_ at: Int, _ end: Int) -> Int? {
        let token = tokens[at]
        switch token.kind {
        case .number, .blob, .symbol: return at + 1
        case .text: return token.text.lowercased().contains("now") ? nil : at + 1
        case .word:
            if at + 1 < end, tokens[at + 1].isSymbol("("), token.text != "in" {
                guard let close = syntax.close(at + 1) else { return nil }
                if token.text == "cast" { return at + 2 }
                let arguments = (try? split(at + 2..<close))?.count ?? 0
                guard SQLKeywords.functions.contains(token.text) || ["min", "max"].contains(token.text) && arguments > 1 else { return nil }
                // Without a date they give the current time.
                let least = token.text == "strftime" ? 2 : SQLGroupReader.dateFunctions.contains(token.text) ? 1 : 0
                return arguments >= least ? at + 2 : nil
            }
            if token.text == "as" {
                // The type of CAST.
                var last = at + 1
                while last < end, tokens[last].isName { last += 1 }
                return last < end && tokens[last].isSymbol(")") ? last : nil
            }
            return SQLGroupReader.words.contains(token.text) ? at + 1 : nil
        default: return nil
        }
    }

    /// Whether the groups of a column's values can be represented by one of the values.
    private func isComputable(_ column: Int) -> Bool {
        // The row of a LEFT JOIN without a match has no value.
        guard !scope.columns[column].isLink, !scope.sources[scope.source(of: column)].isOuter else { return false }
        switch scope.columns[column].form {
        case .int, .bool, .real, .float, .text, .date, .uuid, .objectID: return true
        case .blob, .decimal, .longDecimal, .any, .json: return false
        }
    }

    /// Returns the seconds of the time unit on which an expression of a date depends; nil if it may depend on the whole value.
    private func unit(_ column: Int, _ sites: [Range<Int>], _ range: Range<Int>) -> Int64? {
        guard case .date(isDay: false) = scope.columns[column].form, !tokens[range].contains(where: { $0.isWord("between") }) else {
            return nil
        }
        var smallest: Int64 = 86_400
        for site in sites {
            guard let unit = unit(site, range) else { return nil }
            smallest = min(smallest, unit)
        }
        return smallest
    }

    /// Returns the time unit of a date that is an argument, or that is compared with a text.
    private func unit(_ site: Range<Int>, _ range: Range<Int>) -> Int64? {
        if let unit = unit(ofCompared: site, range) { return unit }
        let open = site.lowerBound - 1, after = site.upperBound
        guard open > range.lowerBound, after < range.upperBound else { return nil }
        if tokens[open].isSymbol(","), open >= range.lowerBound + 3, tokens[open - 1].kind == .text, tokens[open - 2].isSymbol("("),
            tokens[open - 3].isWord("strftime"), tokens[after].isSymbol(")")
        {
            return SQLGroupReader.unit(format: tokens[open - 1].text)
        }
        guard tokens[open].isSymbol("("), tokens[open - 1].kind == .word else { return nil }
        switch tokens[open - 1].text {
        case "date" where tokens[after].isSymbol(")"): return 86_400
        case "datetime" where tokens[after].isSymbol(")"), "time" where tokens[after].isSymbol(")"): return 1
        case "substr", "substring":
            guard after + 4 < range.upperBound, tokens[after].isSymbol(","), tokens[after + 2].isSymbol(","),
                tokens[after + 4].isSymbol(")"),
                let start = Int(tokens[after + 1].text), let count = Int(tokens[after + 3].text), 1...19 ~= start, 0...19 ~= count
            else { return nil }
            // 2016-09-29 10:11:12
            switch start + count - 1 {
            case ...10: return 86_400
            case ...13: return 3600
            case ...16: return 60
            case ...19: return 1
            default: return nil
            }
        default: return nil
        }
    }

    private static let comparisons: Set<String> = ["=", "==", "<", "<=", ">", ">=", "<>", "!="]

    /// Returns the time unit of a date that is compared with a part of such a text, or with a pattern of its beginning.
    private func unit(ofCompared site: Range<Int>, _ range: Range<Int>) -> Int64? {
        let at = site.upperBound
        guard at + 1 < range.upperBound, tokens[at + 1].kind == .text, at + 2 == range.upperBound || isBoundary(at + 2),
            site.lowerBound == range.lowerBound || isBoundary(site.lowerBound - 1)
        else { return nil }
        var text = tokens[at + 1].text.dropFirst().dropLast()
        let mark: Character? = tokens[at].isWord("like") ? "%" : tokens[at].isWord("glob") ? "*" : nil
        if let mark {
            guard text.popLast() == mark, text.utf8.allSatisfy({ 45...58 ~= $0 || $0 == 32 }) else { return nil }
        } else {
            guard tokens[at].kind == .symbol, SQLGroupReader.comparisons.contains(tokens[at].text) else { return nil }
        }
        // The text of a date is longer: 2016-09-29 10:11:12
        switch text.utf8.count {
        case ...10: return 86_400
        case ...13: return 3600
        case ...16: return 60
        default: return nil
        }
    }

    /// Whether a token ends an operand of a comparison, or begins one.
    private func isBoundary(_ at: Int) -> Bool {
        tokens[at].isSymbol("(") || tokens[at].isSymbol(")")
            || tokens[at].kind == .word && ["and", "or", "not", "when", "then", "else", "end"].contains(tokens[at].text)
    }

    /// Returns the smallest time unit in a format of `strftime`.
    private static func unit(format: String) -> Int64? {
        var smallest: Int64 = 86_400, isSpecifier = false
        for character in format.unicodeScalars {
            guard isSpecifier else {
                isSpecifier = character == "%"
                continue
            }
            isSpecifier = false
            switch character {
            // SQLite rounds times to milliseconds for days of the week and of the year, so that the end of a day is the next one.
            case "Y", "m", "d", "e", "F", "%": break
            case "H", "I", "k", "l", "p", "P": smallest = min(smallest, 3600)
            case "M", "R": smallest = min(smallest, 60)
            case "S", "T": smallest = min(smallest, 1)
            default: return nil
            }
        }
        return smallest
    }

    /// Returns the expression in GROUP BY whose tokens begin at an operand, and the index after them.
    func computedKey(_ at: Int, _ end: Int) -> (number: Int, next: Int, shift: Int)? {
        for (number, found) in computedKeys.sorted(by: { $0.key < $1.key }) {
            let next = at + found.tokens.count
            guard next <= end, zip(at..<next, found.tokens).allSatisfy({ isSame($0, $1) }) else { continue }
            let isWhole =
                (next == end || tokens[next].isSymbol(")") || tokens[next].isSymbol(",") || tokens[next].isWord("as"))
                && (tokens[at - 1].isSymbol("(") || tokens[at - 1].isSymbol(",")
                    || ["select", "by", "distinct", "all", "having"].contains { tokens[at - 1].isWord($0) })
            guard found.isOperand || isWhole else { continue }
            return (number, next, at - found.tokens.lowerBound)
        }
        return nil
    }

    private func isSame(_ a: Int, _ b: Int) -> Bool {
        tokens[a].text == tokens[b].text && (tokens[a].kind == tokens[b].kind || tokens[a].isName && tokens[b].isName)
    }
}
