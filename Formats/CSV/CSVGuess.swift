import FirnModel

/// What the cells of one column seen so far have in common. Guesses of parts of a column merge to the guess of the whole.
struct CSVGuess: Sendable {
    var shape = CSVShape.all
    /// The same without the cells that hold one of `words`: what the column would be if those stood for null.
    var rest = CSVShape.all
    /// Few short texts that alone keep the column from being more than text, and the cells that hold them.
    var words: [(word: CSVWord, cells: Int)] = []
    var fewestDigits = Int.max
    var mostDigits = Int.min
    var cells = 0
    var nulls = 0
    /// Bits of the null words that occur: see `CSVNulls.bit`.
    var nullWords: UInt64 = 0
    /// A quoted cell holds nothing.
    var hasQuotedNothing = false
    var quoted = 0
    /// Quoted though nothing in them asks for it.
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

    /// Texts that may stand for null in a column.
    private static let mostWords = 3

    /// Counts cells with a text that keeps the column from being more than text.
    @inline(never)
    fileprivate mutating func note(_ word: CSVWord, _ cells: Int) {
        if let place = words.firstIndex(where: { $0.word == word }) {
            words[place].cells += cells
        } else if words.count < CSVGuess.mostWords {
            words.append((word, cells))
        } else {
            rest = .none
        }
    }

    /// What the column would be if `words` stood for null; nil if that is text, too, or if fewer cells hold anything else.
    var typeWithoutWords: ScalarKind? {
        let others = words.reduce(0) { $0 + $1.cells }
        guard !words.isEmpty, !rest.isEmpty, cells - nulls - others >= others else { return nil }
        var guess = self
        guess.shape = rest
        guess.nulls += others
        return guess.type.kind == .string ? nil : guess.type.kind
    }

    var hasNulls: Bool { nulls > 0 }
    /// Every cell with text in it is quoted, and not because it must.
    var isAlwaysQuoted: Bool { quotedNeedlessly > 0 && quoted == cells - nulls }
    /// Some cells are quoted needlessly, others that hold text are not: no rule says which.
    var isQuotedAtRandom: Bool { quotedNeedlessly > 0 && quoted != cells - nulls }

    /// The most telling type that gives every text back.
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

    /// Bytes of the longest.
    static let longest = 12

    /// Memory after the text may be read (see `scanSlack`).
    @inline(__always)
    init(_ memory: UnsafePointer<UInt8>, _ count: Int) {
        let bytes = UnsafeRawPointer(memory).loadUnaligned(as: SIMD2<UInt64>.self)
        func first(_ count: Int, _ word: UInt64) -> UInt64 { count >= 8 ? word : count <= 0 ? 0 : word & ((1 &<< UInt64(count &* 8)) &- 1) }
        low = first(count, UInt64(littleEndian: bytes[0]))
        high = first(count &- 8, UInt64(littleEndian: bytes[1])) | UInt64(count) &<< 56
    }

    var text: String {
        String(decoding: (0..<Int(high >> 56)).map { UInt8(truncatingIfNeeded: ($0 < 8 ? low : high) >> UInt64($0 % 8 * 8)) }, as: UTF8.self)
    }
}

/// Unquoted texts that stand for null.
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

    /// A bit that tells which word a null cell holds, by its position in the list (the last bit is that of all from the 64th on).
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
    /// Takes in the cells of column `column` of an index.
    mutating func see(_ index: CSVIndex, column: Int, memory: UnsafePointer<UInt8>, marks: CSVMarks, nulls: CSVNulls) {
        let width = index.width, rows = index.rows
        var cell = UnsafePointer(index.cells) + column
        // The text that kept the column from being more last, and the cells in a row (but for others) that hold it.
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
                // Quoted cells are no nulls.
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

/// Whether an unquoted cell of this text would not be read back as it is. (Empty texts and null words apart.)
@inline(__always)
func needsQuotes(_ memory: UnsafePointer<UInt8>, _ count: Int, _ marks: CSVMarks) -> Bool {
    for i in 0..<count {
        let byte = memory[i]
        if byte == marks.delimiter || byte == marks.quote || byte == 10 || byte == 13 { return true }
    }
    return false
}
