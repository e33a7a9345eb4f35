/// Which texts represent null in the columns of an input, and which of them export can write again.
struct CSVNullTexts {
    /// The text that represents null in all columns; nil if there are several, or none.
    private(set) var common: String?
    /// By column, if the columns have no common text: the one text, not empty, that represents null in it.
    private(set) var own: [Int: String] = [:]
    /// Columns whose nulls are exported as empty cells although the input has other texts: the number of nulls, their texts, and whether
    /// their one text could not be kept because the column also has empty quoted cells.
    private(set) var mixed: [(column: Int, nulls: Int, texts: [String], hasQuotedNothing: Bool)] = []

    init(_ guesses: [CSVGuess], _ options: CSVOptions, names: [String]) {
        for (i, guess) in guesses.enumerated() where guess.nulls > 0 {
            let bits = guess.nullWords, words = options.nullWords(of: names[i]),
                texts = words.indices.filter { $0 < 63 && bits &>> UInt64($0) & 1 == 1 }.map { words[$0] }
            let isOne = bits.nonzeroBitCount == 1 && texts.count == 1
            if isOne, texts[0].isEmpty || !guess.hasQuotedNothing {
                own[i] = texts[0]
            } else {
                mixed.append((i, guess.nulls, texts, isOne))
            }
        }
        let all = Set(own.values)
        if mixed.isEmpty, all.count <= 1, all.first?.isEmpty ?? true || !guesses.contains(where: \.hasQuotedNothing) {
            common = all.first
            own = [:]
        } else {
            own = own.filter { !$0.value.isEmpty }
        }
    }

    func remarks(_ names: [String]) -> [String] {
        mixed.map { column, nulls, texts, hasQuotedNothing in
            let cells = nulls == 1 ? "1 cell" : "\(nulls) cells", list = texts.map { "\"\($0)\"" }.joined(separator: ", ")
            let what =
                hasQuotedNothing
                ? "\(list) stands for null in \(cells), and other cells are quoted and empty"
                : "several texts stand for null in \(cells) (\(list))"
            return "column \"\(names[column])\": \(what); in CSV they are written back as empty cells"
        }
    }
}
