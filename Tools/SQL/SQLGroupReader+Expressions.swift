/// Expressions over groups: SQLite computes them from the columns of a group and from its aggregates.
extension SQLGroupReader {
    /// What a parenthesis or CASE encloses.
    private enum Nesting { case plain, call, list, cast, choice }

    /// The state between two tokens.
    private struct Place {
        var nesting: [Nesting] = []
        var needsOperand = true
    }

    /// The maximum nesting of an expression.
    private static let maximumDepth = 200

    private static let operators: Set<String> = [
        "+", "-", "*", "/", "%", "||", "|", "&", "<<", ">>", "<", "<=", ">", ">=", "=", "==", "<>", "!=", "->", "->>",
    ]

    /// Reads an expression and collects its changes. Throws `NotGrouped` if the expression is not understood, or if it uses a column that
    /// does not have one value for each group. Returns true. `isTrial`: names need not be known, to find where an expression ends.
    mutating func readExpression(_ range: Range<Int>, seesAliases: Bool, isTrial: Bool = false) throws(NotGrouped) -> Bool {
        var place = Place(), at = range.lowerBound
        let end = range.upperBound
        while at < end {
            guard place.nesting.count < SQLGroupReader.maximumDepth else { throw NotGrouped() }
            let token = tokens[at]
            if place.needsOperand, let next = try readComputedKey(at, end, isTrial: isTrial) {
                place.needsOperand = false
                at = next
            } else if place.needsOperand {
                at = try readOperand(at, end, &place, seesAliases: seesAliases, isTrial: isTrial)
            } else if token.kind == .symbol {
                switch token.text {
                case ")":
                    guard let last = place.nesting.popLast(), last != .choice else { throw NotGrouped() }
                case ",":
                    guard place.nesting.last == .call || place.nesting.last == .list else { throw NotGrouped() }
                    place.needsOperand = true
                default:
                    guard SQLGroupReader.operators.contains(token.text) else { throw NotGrouped() }
                    place.needsOperand = true
                }
                at += 1
            } else if token.kind == .word {
                at = try readOperator(at, end, &place)
            } else {
                throw NotGrouped()
            }
        }
        guard place.nesting.isEmpty, !place.needsOperand else { throw NotGrouped() }
        return true
    }

    /// Reads a word after an operand. Returns the index after it.
    private mutating func readOperator(_ at: Int, _ end: Int, _ place: inout Place) throws(NotGrouped) -> Int {
        func next(_ word: String) -> Bool { at + 1 < end && tokens[at + 1].isWord(word) }
        switch tokens[at].text {
        case "and", "or", "is", "between", "like", "glob", "escape": place.needsOperand = true
        case "isnull", "notnull": break
        case "not":
            if next("null") { return at + 2 }
            guard next("in") || next("between") || next("like") || next("glob") else { throw NotGrouped() }
        case "in":
            guard at + 1 < end, tokens[at + 1].isSymbol("(") else { throw NotGrouped() }
            if let next = readSubquery(at + 1, end) { return next }
            place.nesting.append(.list)
            place.needsOperand = true
            return at + 2
        case "collate":
            guard at + 1 < end, tokens[at + 1].isName else { throw NotGrouped() }
            return at + 2
        case "when", "then", "else":
            guard place.nesting.last == .choice else { throw NotGrouped() }
            place.needsOperand = true
        case "end":
            guard place.nesting.popLast() == .choice else { throw NotGrouped() }
        case "as":
            guard place.nesting.last == .cast else { throw NotGrouped() }
            // A type: its parenthesis ends where that of CAST does.
            var depth = 0, last = at + 1
            while last < end, depth > 0 || !tokens[last].isSymbol(")") {
                guard tokens[last].isName || tokens[last].kind == .number || "(),+-".contains(tokens[last].text) else { throw NotGrouped() }
                depth += tokens[last].isSymbol("(") ? 1 : tokens[last].isSymbol(")") ? -1 : 0
                last += 1
            }
            return last
        default: throw NotGrouped()
        }
        return at + 1
    }

    /// Reads an operand, or a word or sign before it. Returns the index after it.
    private mutating func readOperand(
        _ at: Int, _ end: Int, _ place: inout Place, seesAliases: Bool, isTrial: Bool
    ) throws(NotGrouped) -> Int {
        let token = tokens[at], isCall = at + 1 < end && tokens[at + 1].isSymbol("(")
        switch token.kind {
        case .number, .text, .blob: place.needsOperand = false
        case .parameter:
            edits.append((token.range, "?\(parameters[at])"))
            place.needsOperand = false
        case .symbol:
            if let next = readSubquery(at, end) {
                place.needsOperand = false
                return next
            }
            switch token.text {
            case "+", "-", "~": break
            case "(": place.nesting.append(.plain)
            case ")" where place.nesting.last == .call && tokens[at - 1].isSymbol("("):
                place.nesting.removeLast()
                place.needsOperand = false
            default: throw NotGrouped()
            }
        case .word where token.text == "not": break
        case .word where token.text == "case":
            place.nesting.append(.choice)
            // CASE x WHEN …, or CASE WHEN ….
            return at + 1 < end && tokens[at + 1].isWord("when") ? at + 2 : at + 1
        case .word where token.text == "cast" && isCall:
            place.nesting.append(.cast)
            return at + 2
        case .word where token.text == "null": place.needsOperand = false
        case .word where isCall:
            if let next = try readAggregate(at, end) {
                place.needsOperand = false
                return next
            }
            guard SQLKeywords.functions.contains(token.text) || ["min", "max"].contains(token.text) else { throw NotGrouped() }
            place.nesting.append(.call)
            return at + 2
        case .word, .quoted:
            guard !isCall else { throw NotGrouped() }
            place.needsOperand = false
            if let (column, next) = column(at, before: end) {
                guard !isTrial else { return next }
                guard let text = key(column) else { throw NotGrouped() }
                edits.append((bytes(at..<next), text))
                return next
            }
            // The computed column of a subquery has no value for a group.
            if let (_, next) = named(at, before: end) {
                guard isTrial else { throw NotGrouped() }
                return next
            }
            let isName = token.kind == .quoted || !SQLKeywords.all.contains(token.text) || SQLKeywords.names.contains(token.text)
            guard isName, isTrial || seesAliases && aliases.contains(token.text) else { throw NotGrouped() }
        case .other: throw NotGrouped()
        }
        return at + 1
    }

    /// Reads an expression by which the rows are grouped. SQLite computes it from the column of a group. Returns the index after it; nil if
    /// there is none.
    private mutating func readComputedKey(_ at: Int, _ end: Int, isTrial: Bool) throws(NotGrouped) -> Int? {
        guard !computedKeys.isEmpty, let (number, next, shift) = computedKey(at, end), let found = computedKeys[number] else { return nil }
        guard !isTrial else { return next }
        guard let name = nameOfKey(number) else { throw NotGrouped() }
        for site in found.sites { edits.append((bytes(site.lowerBound + shift..<site.upperBound + shift), name)) }
        return next
    }

    /// Reads a SELECT in parentheses, whose groups are computed too. Returns the index after it; nil if there is none.
    private mutating func readSubquery(_ at: Int, _ end: Int) -> Int? {
        guard at + 1 < end, tokens[at].isSymbol("("), tokens[at + 1].isWord("select"), let close = syntax.close(at), close < end else {
            return nil
        }
        subqueries.append(at + 1..<close)
        return close + 1
    }

    /// Reads the call of an aggregate and returns the index after it; nil if the call is none.
    private mutating func readAggregate(_ at: Int, _ end: Int) throws(NotGrouped) -> Int? {
        guard let function = SQLMeasure.Function(name: tokens[at].text) else { return nil }
        var close = at + 2, depth = 0, hasComma = false
        while close < end, depth > 0 || !tokens[close].isSymbol(")") {
            depth += tokens[close].isSymbol("(") ? 1 : tokens[close].isSymbol(")") ? -1 : 0
            hasComma = hasComma || depth == 0 && tokens[close].isSymbol(",")
            close += 1
        }
        guard close < end else { throw NotGrouped() }
        var found: SQLMeasure
        if at + 2 == close || at + 3 == close && tokens[at + 2].isSymbol("*") {
            guard function == .count else { throw NotGrouped() }
            found = SQLMeasure(function: .count, operand: nil, isDistinct: false)
        } else {
            let isDistinct = tokens[at + 2].isWord("distinct"), first = isDistinct ? at + 3 : at + 2
            if function == .quantile {
                return try readQuantile(at, first..<close, end, isDistinct: isDistinct)
            }
            if hasComma {
                // With several arguments, min and max are functions of one row.
                guard function == .min || function == .max else { throw NotGrouped() }
                return nil
            }
            if let text = try aggregateOfChoice(function, first..<close, isDistinct: isDistinct) {
                guard close + 1 == end || !tokens[close + 1].isWord("filter") else { throw NotGrouped() }
                edits.append((bytes(at..<close + 1), text))
                return close + 1
            }
            found = SQLMeasure(function: function, operand: try operand(first..<close), isDistinct: isDistinct)
            guard found.column != nil || function != .count, !isDistinct || function == .count else { throw NotGrouped() }
        }
        let next = try readFilter(close + 1, end, &found)
        edits.append((bytes(at..<next), measure(found)))
        return next
    }

    /// Reads a quantile, whose share is a number.
    private mutating func readQuantile(_ at: Int, _ inner: Range<Int>, _ end: Int, isDistinct: Bool) throws(NotGrouped) -> Int {
        let last = inner.upperBound - 1
        guard !isDistinct, inner.count > 2, tokens[last].kind == .number, tokens[last - 1].isSymbol(","),
            let share = Double(tokens[last].text), share <= 1
        else { throw NotGrouped() }
        var found = SQLMeasure(
            function: .quantile, operand: try operand(inner.lowerBound..<last - 1), isDistinct: false, share: share)
        let next = try readFilter(inner.upperBound + 1, end, &found)
        edits.append((bytes(at..<next), measure(found)))
        return next
    }

    /// Reads the FILTER of an aggregate, if there is one. Returns the index after it.
    private mutating func readFilter(_ at: Int, _ end: Int, _ measure: inout SQLMeasure) throws(NotGrouped) -> Int {
        guard at < end, tokens[at].isWord("filter") else { return at }
        guard at + 3 < end, tokens[at + 2].isWord("where"), let close = syntax.close(at + 1), close < end else { throw NotGrouped() }
        var reader = SQLTestReader(self, at + 3..<close)
        measure.filter = try reader.read()
        literals = reader.literals
        return close + 1
    }
}
