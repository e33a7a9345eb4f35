import FirnExchange

/// Texts of dates that SQL compares as texts, and not as points in time.
extension SQLStatements {
    private static let comparisons: Set = ["=", "==", "<", "<=", ">", ">=", "<>", "!="]

    /// Returns the texts, in quotes, that are compared with something and are dates with `T` or a zone, which dates in SQL do not have.
    package func foreignDates() -> [String] {
        let tokens = tokens(0..<bytes.count)
        var found: [String] = [], isList: [Bool] = []
        for (i, token) in tokens.enumerated() {
            if token.isSymbol("(") { isList.append(i > 0 && tokens[i - 1].isWord("in")) }
            if token.isSymbol(")") { _ = isList.popLast() }
            guard token.kind == .text, isForeignDate(token), !found.contains(token.text) else { continue }
            let before = i > 0 ? tokens[i - 1] : nil, after = i + 1 < tokens.count ? tokens[i + 1] : nil
            let isCompared = [before, after].contains { $0.map { SQLStatements.comparisons.contains($0.text) } ?? false }
            let isBound = before.map { $0.isWord("between") || $0.isWord("and") } ?? false
            if isCompared || isBound || isList.last ?? false { found.append(token.text) }
        }
        return found
    }

    private func isForeignDate(_ token: SQLToken) -> Bool {
        let inner = bytes[(token.range.lowerBound + 1)..<max(token.range.lowerBound + 1, token.range.upperBound - 1)]
        guard let time = inner.withUnsafeBytes({ DateText.parse($0) })?.time else { return false }
        return time.followsT || time.zone != .none
    }
}
