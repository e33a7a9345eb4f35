import FirnTable

/// What all cells of a column, or of a part of it, have in common. Merging the guesses of all parts gives the guess of the column.
struct CSVGuess: Sendable {
    var shape = CSVShape.all
    /// The shapes without the cells that contain one of `words`: the shapes of the column if these words represent null.
    var rest = CSVShape.all
    /// The few short texts that alone prevent a narrower type than text, and the number of cells that contain each.
    var words: [(word: CSVWord, cells: Int)] = []
    var fewestDigits = Int.max
    var mostDigits = Int.min
    var cells = 0
    var nulls = 0
    /// A bit for each null word that occurs: see `CSVNulls.bit`.
    var nullWords: UInt64 = 0
    /// Whether a quoted cell is empty.
    var hasQuotedNothing = false
    var quoted = 0
    /// The number of cells that are quoted although their text does not require it.
    var quotedNeedlessly = 0

    mutating func merge(_ other: CSVGuess) {
        shape.formIntersection(other.shape)
        rest.formIntersection(other.rest)
        for word in other.words { note(word.word, word.cells) }
        fewestDigits = min(fewestDigits, other.fewestDigits)
        mostDigits = max(mostDigits, other.mostDigits)
        cells += other.cells
        nulls += other.nulls
        nullWords |= other.nullWords
        hasQuotedNothing = hasQuotedNothing || other.hasQuotedNothing
        quoted += other.quoted
        quotedNeedlessly += other.quotedNeedlessly
    }

    /// The maximum number of texts in `words`.
    private static let mostWords = 3

    /// Counts cells with a text that prevents a narrower type than text.
    @inline(never)
    fileprivate mutating func note(_ word: CSVWord, _ cells: Int) {
        if let index = words.firstIndex(where: { $0.word == word }) {
            words[index].cells += cells
        } else if words.count < CSVGuess.mostWords {
            words.append((word, cells))
        } else {
            rest = .none
        }
    }

    /// The type of the column if `words` represent null; nil if that is text too, or if fewer cells contain anything else.
    var typeWithoutWords: ScalarKind? {
        let others = words.reduce(0) { $0 + $1.cells }
        guard !words.isEmpty, !rest.isEmpty, cells - nulls - others >= others else { return nil }
        var guess = self
        guess.shape = rest
        guess.nulls += others
        return guess.type.kind == .string ? nil : guess.type.kind
    }

    var hasNulls: Bool { nulls > 0 }
    /// Whether every cell with text is quoted, at least one of them needlessly.
    var isAlwaysQuoted: Bool { quotedNeedlessly > 0 && quoted == cells - nulls }
    /// Whether some cells are quoted needlessly and others with text are not, so that no rule describes the quoting.
    var isQuotedAtRandom: Bool { quotedNeedlessly > 0 && quoted != cells - nulls }

    /// The narrowest type that round-trips every cell.
    var type: (kind: ScalarKind, notation: Notation) {
        guard cells > nulls else { return (.string, .plain) }
        let digits = UInt8(clamping: max(mostDigits, 0)), even = fewestDigits == mostDigits
        if shape.contains(.bool) { return (.bool, .plain) }
        if shape.contains(.boolCapitalised) { return (.bool, .capitalised) }
        if shape.contains(.boolUpper) { return (.bool, .upperCase) }
        if shape.contains(.int) { return (.int, .plain) }
        if shape.contains(.plain) { return (.double, .plain) }
        if shape.contains(.pointZero) { return (.double, .pointZero) }
        if shape.contains(.fixed), even, mostDigits <= 22 { return (.double, .fixed(digits)) }
        if shape.contains(.decimal) { return (.decimal, .plain) }
        if shape.contains(.date) { return (.date, .dateOnly) }
        if shape.contains(.dateTimeSpace), even { return (.date, .dateTimeSpace(digits)) }
        if shape.contains(.dateTimeT), even { return (.date, .dateTimeT(digits)) }
        if shape.contains(.dateTimeZ), even { return (.date, .dateTimeZ(digits)) }
        if shape.contains(.uuid) { return (.uuid, .plain) }
        if shape.contains(.uuidUpper) { return (.uuid, .uuidUpper) }
        return (.string, .plain)
    }
}

/// A short text of a cell, as two numbers.
struct CSVWord: Equatable, Sendable {
    private let low: UInt64, high: UInt64

    /// The maximum length in bytes.
    static let longest = 12

    /// Reads up to 16 bytes, also after the text (see `scanSlack`).
    @inline(__always)
    init(_ memory: UnsafePointer<UInt8>, _ count: Int) {
        let bytes = UnsafeRawPointer(memory).loadUnaligned(as: SIMD2<UInt64>.self)
        func first(_ count: Int, _ word: UInt64) -> UInt64 { count >= 8 ? word : count <= 0 ? 0 : word & ((1 &<< UInt64(count &* 8)) &- 1) }
        low = first(count, UInt64(littleEndian: bytes[0]))
        high = first(count &- 8, UInt64(littleEndian: bytes[1])) | UInt64(count) &<< 56
    }

    var text: String {
        String(
            decoding: (0..<Int(high >> 56)).map { UInt8(truncatingIfNeeded: ($0 < 8 ? low : high) >> UInt64($0 % 8 * 8)) }, as: UTF8.self)
    }
}

/// The unquoted texts that represent null.
struct CSVNulls: Sendable {
    let emptyIsNull: Bool
    let words: [[UInt8]]
    private let all: [[UInt8]]

    init(_ words: [String]) {
        all = words.map { Array($0.utf8) }
        emptyIsNull = words.contains("")
        self.words = words.filter { !$0.isEmpty }.map { Array($0.utf8) }
    }

    @inline(__always)
    func contains(_ memory: UnsafePointer<UInt8>, _ count: Int) -> Bool {
        if count == 0 { return emptyIsNull }
        return words.isEmpty ? false : isWord(memory, count)
    }

    /// Returns a bit for the word in a null cell, by its position in the list. The words from the 64th on share the last bit.
    @inline(never)
    func bit(_ memory: UnsafePointer<UInt8>, _ count: Int) -> UInt64 {
        let cell = UnsafeBufferPointer(start: memory, count: count)
        return all.firstIndex { $0.count == count && cell.elementsEqual($0) }.map { 1 &<< UInt64(min($0, 63)) } ?? 0
    }

    @inline(never)
    private func isWord(_ memory: UnsafePointer<UInt8>, _ count: Int) -> Bool {
        words.contains { $0.count == count && UnsafeBufferPointer(start: memory, count: count).elementsEqual($0) }
    }
}

extension CSVGuess {
    /// Adds the cells of column `column` of an index.
    mutating func see(_ index: CSVIndex, column: Int, memory: UnsafePointer<UInt8>, marks: CSVMarks, nulls: CSVNulls) {
        let width = index.width, rows = index.rows
        var cell = UnsafePointer(index.cells) + column
        // The text that last prevented a narrower type than text, and the number of cells with it since then.
        var word = CSVWord(memory, 0), wordCells = 0
        var shape = shape, rest = rest, fewest = fewestDigits, most = mostDigits, nullCount = 0, words: UInt64 = 0
        for _ in 0..<rows {
            let entry = cell.pointee
            cell += width
            let start = Int(entry & CSVIndex.startMask), count = Int(entry &>> 32) &- start
            if entry & CSVIndex.quotedBit != 0 {
                quoted &+= 1
                if !needsQuotes(memory + start, count, marks), count > 0 { quotedNeedlessly &+= 1 }
                if count == 0 {
                    hasQuotedNothing = true
                    (shape, rest) = (.none, .none)
                    continue
                }
            } else if nulls.contains(memory + start, count) {
                nullCount &+= 1
                if !nulls.words.isEmpty { words |= nulls.bit(memory + start, count) }
                continue
            } else if count == 0 {
                (shape, rest) = (.none, .none)
            }
            if rest.isEmpty { continue }
            let isQuoted = entry & CSVIndex.quotedBit != 0
            if wordCells > 0, count <= CSVWord.longest, !isQuoted, CSVWord(memory + start, count) == word {
                wordCells &+= 1
                continue
            }
            let (found, digits) = FirnCSV.shape(memory + start, count, wanted: rest)
            if rest.isDisjoint(with: found) {
                shape = .none
                // Quoted cells are never null.
                if isQuoted || count > CSVWord.longest {
                    rest = .none
                    continue
                }
                if wordCells > 0 { note(word, wordCells) }
                rest.formIntersection(self.rest)
                (word, wordCells) = (CSVWord(memory + start, count), 1)
                continue
            }
            rest.formIntersection(found)
            shape.formIntersection(found)
            fewest = min(fewest, digits)
            most = max(most, digits)
        }
        self.shape = shape
        self.rest.formIntersection(rest)
        if wordCells > 0 { note(word, wordCells) }
        fewestDigits = fewest
        mostDigits = most
        cells &+= rows
        self.nulls &+= nullCount
        // Without words, only the empty cell is null.
        if nullCount > 0 { nullWords |= nulls.words.isEmpty ? nulls.bit(memory, 0) : words }
    }
}

/// Whether a cell with this text must be quoted to be read back unchanged, apart from empty texts and null words.
@inline(__always)
func needsQuotes(_ memory: UnsafePointer<UInt8>, _ count: Int, _ marks: CSVMarks) -> Bool {
    for i in 0..<count {
        let byte = memory[i]
        if byte == marks.delimiter || byte == marks.quote || byte == 10 || byte == 13 { return true }
    }
    return false
}
