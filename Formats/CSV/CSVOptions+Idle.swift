import FirnExchange
import FirnTable

/// Reports what was requested of the notation of cells and fits no cell.
extension CSVOptions {
    /// - Parameter columns: The columns that are read, and what was found in their cells.
    /// - Returns: One sentence for each request without effect. One of several inputs need not contain what was requested.
    func withoutEffect(_ columns: [(schema: ColumnSchema, guess: CSVGuess)]) -> [String] {
        if mayLackColumns || allText || !columns.contains(where: { $0.guess.cells > 0 }) { return [] }
        let dates = columns.filter { $0.schema.type.kind == .date }.map(\.schema)
        var sentences: [String] = []
        for wanted in self.dates where !dates.contains(where: { CSVOptions.fits(wanted, $0.notation) }) {
            sentences.append("--dates \(wanted.datePattern ?? "yyyy-MM-dd"): no column has such dates only")
        }
        for (schema, _) in columns {
            for wanted in datesOf[schema.name] ?? [] where schema.type.kind != .date || !CSVOptions.fits(wanted, schema.notation) {
                sentences.append("--dates \(schema.name)=\(wanted.datePattern ?? "yyyy-MM-dd"): the column does not have such dates only")
            }
            if hasDecimalCommaOf[schema.name] != nil, !schema.type.kind.isNumber {
                sentences.append("--decimal: the column \"\(schema.name)\" does not consist of numbers with this mark")
            }
            for word in nullWordsOf[schema.name] ?? [] where !nullTexts(of: schema, columns).contains(word) {
                sentences.append("--null: no cell of the column \"\(schema.name)\" contains \"\(word)\"")
            }
        }
        let words = nullWords.filter { !$0.isEmpty }
        if !words.isEmpty, !columns.contains(where: { !nullTexts(of: $0.schema, columns).isDisjoint(with: words) }) {
            sentences.append("--null: no cell contains \(words.map { "\"\($0)\"" }.joined(separator: " or "))")
        }
        return sentences
    }

    /// Whether dates of a notation are those of a requested one: the time after them does not count.
    static func fits(_ wanted: Notation, _ notation: Notation) -> Bool {
        guard let a = DateLayout(wanted), let b = DateLayout(notation) else { return wanted == notation }
        return (a.separator, a.order, a.hasShortYear) == (b.separator, b.order, b.hasShortYear)
    }

    /// The texts that represent null in cells of a column.
    private func nullTexts(of column: ColumnSchema, _ columns: [(schema: ColumnSchema, guess: CSVGuess)]) -> Set<String> {
        guard let guess = columns.first(where: { $0.schema.name == column.name })?.guess else { return [] }
        let words = nullWords(of: column.name)
        // The guess has a bit for each of the first 63 words.
        if words.count >= 63 { return Set(words) }
        return Set(words.indices.filter { guess.nullWords &>> UInt64($0) & 1 == 1 }.map { words[$0] })
    }
}
