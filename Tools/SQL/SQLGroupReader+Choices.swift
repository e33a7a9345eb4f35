/// Aggregates of CASE: `sum(CASE WHEN … THEN x ELSE 0 END)` is an aggregate with FILTER.
extension SQLGroupReader {
    /// CASE WHEN … THEN … ELSE … END with one condition.
    private struct Choice {
        let condition: Range<Int>, value: Range<Int>
        /// What it gives for other rows.
        let other: Other

        enum Other { case null, zero }
    }

    private func choice(_ range: Range<Int>) -> Choice? {
        let end = range.upperBound - 1
        guard range.count > 5, tokens[range.lowerBound].isWord("case"), tokens[range.lowerBound + 1].isWord("when"),
            tokens[end].isWord("end")
        else { return nil }
        var depth = 0, then: Int?, other: Int?
        for at in range.lowerBound + 2..<end {
            depth += tokens[at].isSymbol("(") ? 1 : tokens[at].isSymbol(")") ? -1 : 0
            guard !tokens[at].isWord("case"), !tokens[at].isWord("when"), !tokens[at].isWord("end") else { return nil }
            if tokens[at].isWord("then") { (then, depth) = (at, depth == 0 && then == nil ? 0 : .max / 2) }
            if tokens[at].isWord("else") { (other, depth) = (at, depth == 0 && then != nil && other == nil ? 0 : .max / 2) }
        }
        guard depth == 0, let then, then > range.lowerBound + 2, then + 1 < other ?? end else { return nil }
        let condition = range.lowerBound + 2..<then, value = then + 1..<(other ?? end)
        guard let other else { return Choice(condition: condition, value: value, other: .null) }
        guard other + 2 == end else { return nil }
        if tokens[other + 1].isWord("null") { return Choice(condition: condition, value: value, other: .null) }
        return tokens[other + 1].kind == .number && tokens[other + 1].text == "0"
            ? Choice(condition: condition, value: value, other: .zero) : nil
    }

    /// Returns the text of an aggregate of a CASE, computed from aggregates with FILTER; nil if the argument is no such CASE.
    mutating func aggregateOfChoice(_ function: SQLMeasure.Function, _ range: Range<Int>, isDistinct: Bool) throws(NotGrouped) -> String? {
        guard let choice = choice(range) else { return nil }
        var reader = SQLTestReader(self, choice.condition)
        let test = try reader.read()
        literals = reader.literals
        let first = tokens[choice.value.lowerBound]
        if choice.value.count == 1, first.isLiteral {
            guard !isDistinct else { throw NotGrouped() }
            return try aggregate(function, ofLiteral: first, test, choice.other)
        }
        let found = SQLMeasure(function: function, operand: try operand(choice.value), isDistinct: isDistinct, filter: test)
        guard found.column != nil || function != .count, !isDistinct || function == .count else { throw NotGrouped() }
        switch (function, choice.other) {
        case (_, .null), (.total, .zero): return measure(found)
        case (.sum, .zero):
            // Without a value that is added, the sum is 0 if another row gives 0.
            return "coalesce(\(measure(found)), CASE WHEN \(measure(chosen(test))) < \(measure(rows)) THEN 0 END)"
        default: throw NotGrouped()
        }
    }

    private var rows: SQLMeasure { SQLMeasure(function: .count, operand: nil, isDistinct: false) }
    private func chosen(_ test: SQLTest) -> SQLMeasure { SQLMeasure(function: .count, operand: nil, isDistinct: false, filter: test) }

    /// Returns the text of an aggregate of a literal in the chosen rows.
    private mutating func aggregate(
        _ function: SQLMeasure.Function, ofLiteral literal: SQLToken, _ test: SQLTest, _ other: Choice.Other
    ) throws(NotGrouped) -> String {
        if function == .count, other == .null { return measure(chosen(test)) }
        // Whole numbers of few digits, so that no product overflows.
        guard literal.kind == .number, literal.text.utf8.count <= 6, let factor = Int(literal.text) else { throw NotGrouped() }
        let count = measure(chosen(test))
        switch (function, other) {
        case (.sum, .null): return "(CASE WHEN \(count) > 0 THEN \(factor) * \(count) END)"
        case (.sum, .zero): return "(CASE WHEN \(measure(rows)) > 0 THEN \(factor) * \(count) END)"
        case (.total, _): return "(\(factor).0 * \(count))"
        case (.avg, .null): return "(CASE WHEN \(count) > 0 THEN \(factor).0 END)"
        case (.avg, .zero): return "(\(factor).0 * \(count) / nullif(\(measure(rows)), 0))"
        default: throw NotGrouped()
        }
    }
}
