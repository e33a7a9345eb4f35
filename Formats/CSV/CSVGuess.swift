import FirnExchange
import FirnTable

/// What the cells of a column, or of a part of it, have in common, and what stands among them that has nothing in common with the others.
/// Merging the guesses of all parts in order gives the guess of the column.
struct CSVGuess: Sendable {
    var cells = 0
    var nulls = 0
    /// A bit for each null word that occurs: see `CSVNulls.bit`.
    var nullWords: UInt64 = 0
    /// Whether a quoted cell is empty.
    var hasQuotedNothing = false
    var quoted = 0
    /// Whether a cell is quoted although its text does not require it.
    var isQuotedNeedlessly = false

    /// The shapes of all numbers, their number, and how many of them have the shapes of `CSVShape.doubles`.
    var numbers = CSVShape.numbers
    var numberCount = 0, plainCount = 0, pointZeroCount = 0, exponentCount = 0, exponentPointZeroCount = 0
    /// The number of those that have no other shape than an exponent. They do not count in `numbers` and in the numbers of digits.
    var onlyExponentCount = 0
    var fewestDigits = Int.max
    var maximumDigits = Int.min
    /// Whether there is a whole number that no double holds.
    var hasWideNumber = false
    /// The shapes of all bools and UUIDs, and their number.
    var others = CSVShape.others
    var otherCount = 0
    /// Whether the column is text, whatever the parts that follow contain; only their quotes and nulls are counted.
    var isText = false
    /// What is known of the marks of numbers, if the column is read with a decimal mark; nil for ordinary numbers.
    var marks: CSVNumberMarks?
    /// Whether the mark is a guess.
    var hasGuessedMarks = false
    /// Why numbers with separators are not read as numbers.
    var doubt: CSVMarkDoubt?
    /// Dates and texts without a shape; nil if there are none, as in most columns.
    var odd: CSVOddCells?

    /// Adds the guess of the part that follows `rows` rows.
    mutating func merge(_ other: CSVGuess, after rows: Int) {
        cells += other.cells
        nulls += other.nulls
        nullWords |= other.nullWords
        hasQuotedNothing = hasQuotedNothing || other.hasQuotedNothing
        quoted += other.quoted
        isQuotedNeedlessly = isQuotedNeedlessly || other.isQuotedNeedlessly
        if isText { return }
        numbers.formIntersection(other.numbers)
        numberCount += other.numberCount
        plainCount += other.plainCount
        pointZeroCount += other.pointZeroCount
        exponentCount += other.exponentCount
        exponentPointZeroCount += other.exponentPointZeroCount
        onlyExponentCount += other.onlyExponentCount
        fewestDigits = min(fewestDigits, other.fewestDigits)
        maximumDigits = max(maximumDigits, other.maximumDigits)
        hasWideNumber = hasWideNumber || other.hasWideNumber
        others.formIntersection(other.others)
        otherCount += other.otherCount
        if let later = other.marks {
            marks = marks ?? CSVNumberMarks(hasComma: later.hasComma)
            marks?.merge(later, after: rows)
        }
        guard let later = other.odd else { return }
        if odd == nil { odd = CSVOddCells() }
        odd?.merge(later, after: rows)
    }

    /// The shapes of all numbers, also of those that have an exponent alone.
    var sharedShapes: CSVShape {
        var shapes = numbers
        if onlyExponentCount > 0 { shapes.formIntersection(.exponents) }
        return shapes
    }

    var hasNulls: Bool { nulls > 0 }
    /// The number of cells that are not null.
    var filled: Int { cells - nulls }
    /// Whether every cell with text is quoted, at least one of them needlessly.
    var isAlwaysQuoted: Bool { isQuotedNeedlessly && quoted == cells - nulls }
    /// Whether some cells are quoted needlessly and others with text are not, so that no rule describes the quoting.
    var isQuotedAtRandom: Bool { isQuotedNeedlessly && quoted != cells - nulls }
}

/// The ordinary numbers among the cells that are looked at together.
struct CSVNumberCounts {
    private(set) var shapes = CSVShape.numbers
    private(set) var count = 0, plain = 0, pointZero = 0, exponent = 0, exponentPointZero = 0, onlyExponent = 0
    private(set) var fewestDigits = Int.max, maximumDigits = Int.min
    /// The shape of the last numbers, which are not counted yet: most have the shape of the one before.
    private var last = CSVShape.none, run = 0

    @inline(__always)
    mutating func note(_ shape: CSVShape, _ digits: Int) {
        if shape != last {
            flush()
            last = shape
        }
        run &+= 1
        if shape == .exponents { return }
        fewestDigits = min(fewestDigits, digits)
        maximumDigits = max(maximumDigits, digits)
    }

    /// Counts what was noted.
    @inline(never)
    mutating func flush() {
        guard run > 0 else { return }
        count &+= run
        plain &+= run &* Int(last.rawValue &>> 1 & 1)
        pointZero &+= run &* Int(last.rawValue &>> 2 & 1)
        exponent &+= run &* Int(last.rawValue &>> 8 & 1)
        exponentPointZero &+= run &* Int(last.rawValue &>> 9 & 1)
        if last == .exponents { onlyExponent &+= run } else { shapes.formIntersection(last) }
        run = 0
    }
}

/// A short text of a cell, as two numbers.
struct CSVWord: Equatable, Sendable {
    private let low: UInt64, high: UInt64

    /// The maximum length in bytes.
    static let maximumLength = 12

    /// Reads up to 16 bytes, also after the text (see `scanSlack`).
    @inline(__always)
    init(_ memory: UnsafePointer<UInt8>, _ count: Int) {
        let bytes = UnsafeRawPointer(memory).loadUnaligned(as: SIMD2<UInt64>.self)
        func first(_ count: Int, _ word: UInt64) -> UInt64 { count >= 8 ? word : count <= 0 ? 0 : word & ((1 &<< UInt64(count &* 8)) &- 1) }
        low = first(count, UInt64(littleEndian: bytes[0]))
        high = first(count &- 8, UInt64(littleEndian: bytes[1])) | UInt64(count) &<< 56
    }

    var text: String {
        let bytes = (0..<Int(high >> 56)).map { (at: Int) -> UInt8 in
            let word = at < 8 ? low : high
            return UInt8(truncatingIfNeeded: word >> UInt64(at % 8 * 8))
        }
        return String(decoding: bytes, as: UTF8.self)
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
    /// Adds the cells of column `column` of an index, which follow `before` rows of the same part. Only counts them if `isText`: the column
    /// is known to be text.
    mutating func see(
        _ index: CSVIndex, column: Int, after before: Int, isText: Bool, memory: UnsafePointer<UInt8>, marks: CSVMarks, nulls: CSVNulls
    ) {
        let width = index.width, rows = index.rows
        var cell = UnsafePointer(index.cells) + column
        var counts = CSVNumberCounts(), nullCount = 0, words: UInt64 = 0
        // Whether the last cell that was not null was a number; in most columns, the next one is as well.
        var expectsNumber = numberCount > 0 || odd == nil && otherCount == 0
        var dates = CSVExpectedDates(odd)
        for row in 0..<rows {
            let entry = cell.pointee
            cell += width
            let start = Int(entry & CSVIndex.startMask), length = Int(entry &>> 32) &- start, isQuoted = entry & CSVIndex.quotedBit != 0
            if isQuoted {
                quoted &+= 1
                if !isQuotedNeedlessly, length > 0, !needsQuotes(memory + start, length, marks) { isQuotedNeedlessly = true }
                if length == 0 { hasQuotedNothing = true }
            } else if nulls.contains(memory + start, length) {
                nullCount &+= 1
                if !nulls.words.isEmpty { words |= nulls.bit(memory + start, length) }
                continue
            }
            if isText { continue }
            if dates.take(memory + start, length) { continue }
            if expectsNumber, length > 0 {
                let found = cellShape(memory + start, length)
                if !found.shape.isEmpty, found.shape != .decimal {
                    counts.note(found.shape, found.digits)
                    if found.shape.rawValue & CSVShape.plain.rawValue == 0, length > 15 { noteWide(memory + start, length) }
                    continue
                }
            }
            dates.flush(to: &odd)
            let text = CSVCellText(memory: memory + start, count: length, isQuoted: isQuoted, row: before &+ row)
            if seeOther(text) {
                expectsNumber = true
                let found = numberShape(memory + start, length)
                counts.note(found.shape, found.digits)
                noteWide(memory + start, length)
            } else {
                expectsNumber = expectsNumber && odd?.dates.isEmpty ?? true && otherCount == 0
                if length >= 10 { dates = CSVExpectedDates(odd) }
            }
        }
        add(counts)
        dates.flush(to: &odd)
        cells &+= rows
        self.nulls &+= nullCount
        // Without words, only the empty cell is null.
        if nullCount > 0 { nullWords |= nulls.words.isEmpty ? nulls.bit(memory, 0) : words }
    }

    private mutating func add(_ noted: CSVNumberCounts) {
        var counts = noted
        counts.flush()
        numbers.formIntersection(counts.shapes)
        numberCount &+= counts.count
        plainCount &+= counts.plain
        pointZeroCount &+= counts.pointZero
        exponentCount &+= counts.exponent
        exponentPointZeroCount &+= counts.exponentPointZero
        onlyExponentCount &+= counts.onlyExponent
        fewestDigits = min(fewestDigits, counts.fewestDigits)
        maximumDigits = max(maximumDigits, counts.maximumDigits)
    }

    /// The same as `see` for a column that is read with a decimal mark: a comma if `hasComma`, or a point.
    mutating func see(
        _ index: CSVIndex, column: Int, after before: Int, isText: Bool, memory: UnsafePointer<UInt8>, cellMarks: CSVMarks,
        nulls: CSVNulls, hasComma: Bool
    ) {
        marks = marks ?? CSVNumberMarks(hasComma: hasComma)
        var cell = UnsafePointer(index.cells) + column
        for row in 0..<index.rows {
            let entry = cell.pointee
            cell += index.width
            let start = Int(entry & CSVIndex.startMask), length = Int(entry &>> 32) &- start
            let text = CSVCellText(memory: memory + start, count: length, isQuoted: entry & CSVIndex.quotedBit != 0, row: before &+ row)
            cells += 1
            if text.isQuoted {
                quoted += 1
                if !isQuotedNeedlessly, length > 0, !needsQuotes(memory + start, length, cellMarks) { isQuotedNeedlessly = true }
                if length == 0 { hasQuotedNothing = true }
            } else if nulls.contains(memory + start, length) {
                self.nulls += 1
                nullWords |= nulls.bit(memory + start, length)
                continue
            }
            if !isText { seeMarked(text, hasComma: hasComma) }
        }
    }

    private mutating func seeMarked(_ text: CSVCellText, hasComma: Bool) {
        if NumberText.parse(text.bytes, hasComma: hasComma, { fields, plain in see(text, fields, plain) }) != nil { return }
        let bytes = OriginalText.trimmed(text.bytes)
        let isNumber = OriginalText.withPlain(bytes, hasComma: hasComma) { plain in
            guard OriginalText.form(plain) != .none else { return false }
            var text = text
            text.plain = plain
            text.isUnusual = true
            note(odd: text)
            marks?.note(unusual: text)
            return true
        }
        if isNumber ?? false { return }
        let isOther = NumberText.isNumber(bytes, hasComma: !hasComma) || OriginalText.form(bytes) != .none
        if isOther, CSVDateForm(bytes) == nil {
            marks?.note(contradicting: text)
            if odd == nil { odd = CSVOddCells() }
            odd?.note(text: text)
        } else if seeOther(text) {
            note(odd: text)
        }
    }

    /// Records a number in a column that is read with a decimal mark. `plain` is its text with a point and without groups.
    private mutating func see(_ cell: CSVCellText, _ fields: NumberFields, _ plain: UnsafeRawBufferPointer) {
        guard let memory = plain.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
        marks?.note(fields, cell)
        let found = numberShape(memory, plain.count)
        guard !found.shape.isEmpty, found.shape != .decimal || !fields.hasFraction else {
            var cell = cell
            cell.plain = plain
            return note(odd: cell)
        }
        var counts = CSVNumberCounts()
        counts.note(found.shape, found.digits)
        add(counts)
        if !found.shape.contains(.plain), plain.count > 15 { noteWide(memory, plain.count) }
    }

    private mutating func note(odd cell: CSVCellText) {
        if odd == nil { odd = CSVOddCells() }
        odd?.note(cell)
    }

    /// Records a number that is not the shortest text of its double, if it is whole.
    @inline(never)
    private mutating func noteWide(_ memory: UnsafePointer<UInt8>, _ count: Int) {
        if UnsafeBufferPointer(start: memory, count: count).allSatisfy({ $0 &- 48 <= 9 || $0 == UInt8(ascii: "-") }) {
            hasWideNumber = true
        }
    }

    /// Records a cell that is not an ordinary number. Returns true if it is one all the same, and records nothing.
    @inline(never)
    private mutating func seeOther(_ cell: CSVCellText) -> Bool {
        let bytes = cell.bytes
        if cell.count > 0 {
            if let date = CSVDateForm(bytes) {
                if odd == nil { odd = CSVOddCells() }
                odd?.note(date, cell)
                return false
            }
            let found = otherShape(cell.memory, cell.count)
            if !found.isEmpty {
                others.formIntersection(found)
                otherCount += 1
                return false
            }
            let number = numberShape(cell.memory, cell.count).shape
            if number == .decimal, !bytes.contains(UInt8(ascii: ".")) { return true }
            if !number.isEmpty, number != .decimal { return true }
        }
        if odd == nil { odd = CSVOddCells() }
        odd?.note(cell)
        return false
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
