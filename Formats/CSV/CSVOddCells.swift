import FirnBytes
import FirnExchange
import FirnTable

/// The text of a cell in a block.
struct CSVCellText {
    let memory: UnsafePointer<UInt8>
    let count: Int
    let isQuoted: Bool
    /// The number of rows before it in its part.
    let row: Int
    /// The text with a point and without groups, in a column that is read with a decimal mark.
    var plain: UnsafeRawBufferPointer?
    /// Whether the text has spaces or a sign that `plain` lacks, or an exponent.
    var isUnusual = false

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: memory, count: count) }
    /// The text of a number.
    var number: UnsafeRawBufferPointer { plain ?? bytes }
    var text: String { String(decoding: bytes.prefix(60), as: UTF8.self) + (count > 60 ? "…" : "") }
}

/// How many cells are of a kind, and the first of them.
struct CSVSample: Sendable {
    private(set) var count = 0
    private(set) var row = 0
    private(set) var text = ""

    mutating func note(_ cell: CSVCellText) {
        if count == 0 { (row, text) = (cell.row, cell.text) }
        count += 1
    }

    /// Counts more cells; the first one is known.
    mutating func add(_ more: Int) { count += more }

    mutating func merge(_ later: CSVSample, after rows: Int) {
        if count == 0, later.count > 0 { (row, text) = (later.row + rows, later.text) }
        count += later.count
    }

    /// The first of two samples that is not empty, in order of rows.
    static func first(_ a: CSVSample, _ b: CSVSample) -> CSVSample { a.count == 0 || b.count > 0 && b.row < a.row ? b : a }
}

/// The cells of a column that are neither ordinary numbers nor bools nor UUIDs.
struct CSVOddCells: Sendable {
    /// By form, at most `maximumForms`.
    private(set) var dates: [CSVDateCount] = []
    /// Texts that usually stand for a missing value.
    private(set) var nulls = CSVSample()
    /// Numbers in an unusual spelling.
    private(set) var numbers = CSVSample()
    /// Whether one of these is not a whole number of 64 bits.
    private(set) var hasFraction = false
    /// Whether one of these has more digits than a decimal holds.
    private(set) var exceedsDecimal = false
    /// Whether one of these has an exponent, or is so small that decimals write one.
    private(set) var hasExponents = false
    /// Whether one of these is so small that its double is zero.
    private(set) var hasUnderflow = false
    /// Numbers with more digits than the shortest text of their double, which decimals round-trip.
    private(set) var longDecimals = CSVSample()
    /// Whole numbers with a plus sign.
    private(set) var signed = CSVSample()
    /// Digits that a number would not keep; they are texts too.
    private(set) var identifiers = CSVSample()
    /// Numbers with a decimal comma or groups. They are texts too, unless the column is read with a decimal mark.
    private(set) var formatted = CSVSample()
    /// All other texts.
    private(set) var texts = CSVSample()
    /// The texts among these that have letters and digits, as identifiers have.
    private(set) var codes = CSVSample()
    /// The short texts among these, and the number of cells that contain each; empty if there are more than `maximumWords`, or others.
    private(set) var words: [(word: CSVWord, cells: Int)] = []
    private var hasOtherTexts = false
    /// Whether a cell is the zone of a date and nothing else: as the original text of a null, it would be taken for the zone of a date.
    private(set) var hasZoneAlone = false

    private static let maximumForms = 8
    private static let maximumWords = 3

    mutating func note(_ date: CSVDateForm, _ cell: CSVCellText) {
        // Every date of a file comes here: the elements are compared in place, because a copy of one costs more than the comparison.
        if let index = dates.indices.first(where: { dates[$0].form == date.form }) {
            dates[index].note(date, cell)
        } else if dates.count < CSVOddCells.maximumForms {
            var count = CSVDateCount(form: date.form)
            count.note(date, cell)
            dates.append(count)
        } else {
            note(text: cell)
        }
    }

    /// Whether the first date of the column was a day such as `2024-05-31`.
    var beginsWithDays: Bool { dates.first?.form == .day }

    /// How the last date was written, if all dates of the column have one form, with a time of day.
    var lastTime: CSVTime? { dates.count == 1 ? dates[0].lastTime : nil }

    /// Counts more dates that are written as the last one.
    mutating func add(times: Int) { dates[0].add(times: times) }

    /// Counts more days in a column that begins with days.
    mutating func add(days: Int) { dates[0].add(days) }

    mutating func note(_ cell: CSVCellText) {
        let bytes = cell.bytes
        if bytes.count <= 7, !hasZoneAlone { hasZoneAlone = DateTimeLayout.zone(bytes.assumingMemoryBound(to: UInt8.self).span) != nil }
        if OriginalText.isNull(bytes) { return nulls.note(cell) }
        switch OriginalText.form(cell.number) {
        case .number:
            if !cell.isUnusual, isOrdinary(cell.number) { return longDecimals.note(cell) }
            numbers.note(cell)
            let hasExponent = cell.number.contains { $0 | 32 == UInt8(ascii: "e") }
            let mayBeTiny = hasExponent || CSVOddCells.isTiny(cell.number)
            hasExponents = hasExponents || mayBeTiny
            if mayBeTiny, !hasUnderflow { hasUnderflow = CSVOddCells.underflows(cell.number) }
            let mayExceed = cell.number.count > 34 || hasExponent
            if mayExceed, OriginalText.decimal(cell.number) == nil { exceedsDecimal = true }
            if OriginalText.infinity(OriginalText.trimmed(cell.number)) != nil { exceedsDecimal = true }
            if OriginalText.int(cell.number) == nil { hasFraction = true }
        case .signedWhole: signed.note(cell)
        case .identifier:
            identifiers.note(cell)
            note(text: cell)
        case .none:
            if CSVOddCells.isFormatted(bytes) { formatted.note(cell) } else if OriginalText.isCode(bytes) { codes.note(cell) }
            note(text: cell)
        }
    }

    /// Whether a number other than zero has a double that is zero.
    private static func underflows(_ number: some Sequence<UInt8>) -> Bool {
        let text = String(decoding: Array(number), as: UTF8.self)
        guard Double(text) == 0 else { return false }
        return text.utf8.prefix { $0 | 32 != UInt8(ascii: "e") }.contains { $0 &- UInt8(ascii: "1") < 9 }
    }

    /// Whether a number is below 0.000001: no digit before the sixth after the point is other than zero.
    private static func isTiny(_ number: some Sequence<UInt8>) -> Bool {
        var zeros = -1
        for byte in number {
            if byte == UInt8(ascii: ".") {
                zeros = 0
            } else if byte &- UInt8(ascii: "1") < 9 {
                return zeros >= 6
            } else if byte == UInt8(ascii: "0"), zeros >= 0 {
                zeros += 1
            }
        }
        return false
    }

    /// Whether a text is a number with a decimal comma or groups of digits.
    private static func isFormatted(_ text: UnsafeRawBufferPointer) -> Bool {
        guard text.count >= 3, text[0] &- 48 <= 9 || "-+ ".utf8.contains(text[0]) else { return false }
        var text = OriginalText.trimmed(text)
        if text.first == UInt8(ascii: "+") { text = UnsafeRawBufferPointer(rebasing: text.dropFirst()) }
        return NumberText.isNumber(text, hasComma: true) || NumberText.isNumber(text, hasComma: false)
    }

    /// Whether the text consists of digits with a point among them, and a sign, and is that of its decimal.
    private func isOrdinary(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.last.map { $0 &- 48 <= 9 } ?? false
            && bytes.first.map { $0 &- 48 <= 9 || $0 == UInt8(ascii: "-") && bytes.dropFirst().first.map { $0 &- 48 <= 9 } ?? false }
                ?? false
            && bytes.allSatisfy { $0 &- 48 <= 9 || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-") }
            && Decimal(String(decoding: bytes, as: UTF8.self)).map { $0.description.utf8.elementsEqual(bytes) } ?? false
    }

    mutating func note(text cell: CSVCellText) {
        texts.note(cell)
        if hasOtherTexts { return }
        // Quoted cells are never null.
        guard !cell.isQuoted, cell.count <= CSVWord.maximumLength else {
            (hasOtherTexts, words) = (true, [])
            return
        }
        note(CSVWord(cell.memory, cell.count), 1)
    }

    private mutating func note(_ word: CSVWord, _ cells: Int) {
        if let index = words.firstIndex(where: { $0.word == word }) {
            words[index].cells += cells
        } else if words.count < CSVOddCells.maximumWords {
            words.append((word, cells))
        } else {
            (hasOtherTexts, words) = (true, [])
        }
    }

    mutating func merge(_ later: CSVOddCells, after rows: Int) {
        for date in later.dates {
            if let index = dates.firstIndex(where: { $0.form == date.form }) {
                dates[index].merge(date, after: rows)
            } else if dates.count < CSVOddCells.maximumForms {
                var count = CSVDateCount(form: date.form)
                count.merge(date, after: rows)
                dates.append(count)
            } else {
                texts.merge(date.sample, after: rows)
                (hasOtherTexts, words) = (true, [])
            }
        }
        nulls.merge(later.nulls, after: rows)
        numbers.merge(later.numbers, after: rows)
        hasFraction = hasFraction || later.hasFraction
        exceedsDecimal = exceedsDecimal || later.exceedsDecimal
        hasExponents = hasExponents || later.hasExponents
        hasUnderflow = hasUnderflow || later.hasUnderflow
        hasZoneAlone = hasZoneAlone || later.hasZoneAlone
        longDecimals.merge(later.longDecimals, after: rows)
        signed.merge(later.signed, after: rows)
        identifiers.merge(later.identifiers, after: rows)
        texts.merge(later.texts, after: rows)
        codes.merge(later.codes, after: rows)
        formatted.merge(later.formatted, after: rows)
        if later.hasOtherTexts { (hasOtherTexts, words) = (true, []) }
        if !hasOtherTexts { for (word, cells) in later.words where !hasOtherTexts { note(word, cells) } }
    }

    /// The same without `texts`.
    var withoutTexts: CSVOddCells {
        var copy = self
        (copy.texts, copy.codes, copy.words, copy.hasZoneAlone) = (CSVSample(), CSVSample(), [], false)
        return copy
    }

    /// The number of cells that are dates in any form.
    var dateCount: Int { dates.reduce(0) { $0 + $1.sample.count } }
}

extension CSVGuess {
    /// The first texts in the column that are no values of its type, or stand for null.
    var oddTexts: [String] { odd.map { [$0.texts.text, $0.nulls.text] + $0.words.map(\.word.text) } ?? [] }
}
