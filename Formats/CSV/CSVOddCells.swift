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
    /// The short texts among these, and the number of cells that contain each; empty if there are more than `maximumWords`, or others.
    private(set) var words: [(word: CSVWord, cells: Int)] = []
    private var hasOtherTexts = false

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
    var beginsWithDays: Bool { dates.first?.form == .standard(.dateOnly) }

    /// Counts more days in a column that begins with days.
    mutating func add(days: Int) { dates[0].add(days) }

    mutating func note(_ cell: CSVCellText) {
        let bytes = cell.bytes
        if OriginalText.isNull(bytes) { return nulls.note(cell) }
        switch OriginalText.form(cell.number) {
        case .number:
            if !cell.isUnusual, isOrdinary(cell.number) { return longDecimals.note(cell) }
            numbers.note(cell)
            let mayExceed = cell.number.count > 34 || cell.number.contains { $0 | 32 == UInt8(ascii: "e") }
            if mayExceed, OriginalText.decimal(cell.number) == nil { exceedsDecimal = true }
            if OriginalText.int(cell.number) == nil { hasFraction = true }
        case .signedWhole: signed.note(cell)
        case .identifier:
            identifiers.note(cell)
            note(text: cell)
        case .none:
            if CSVOddCells.isFormatted(bytes) { formatted.note(cell) }
            note(text: cell)
        }
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
        longDecimals.merge(later.longDecimals, after: rows)
        signed.merge(later.signed, after: rows)
        identifiers.merge(later.identifiers, after: rows)
        texts.merge(later.texts, after: rows)
        formatted.merge(later.formatted, after: rows)
        if later.hasOtherTexts { (hasOtherTexts, words) = (true, []) }
        if !hasOtherTexts { for (word, cells) in later.words where !hasOtherTexts { note(word, cells) } }
    }

    /// The same without `texts`.
    var withoutTexts: CSVOddCells {
        var copy = self
        (copy.texts, copy.words) = (CSVSample(), [])
        return copy
    }

    /// The number of cells that are dates in any form.
    var dateCount: Int { dates.reduce(0) { $0 + $1.sample.count } }
}

/// What the text of a date determines of its notation.
struct CSVDateForm {
    /// What must be the same in all dates of a notation.
    enum Form: Hashable, Sendable {
        /// A form of ISO 8601.
        case standard(Notation)
        case month
        /// Numbers with a separator. The time is without padding.
        case layout(DateLayout.Separator, isYearFirst: Bool, hasShortYear: Bool, DateLayout.Time?)
    }

    let form: Form
    /// For layouts with the year last: whether the date exists with the month first, and with the day first.
    var canBeMonthFirst = true, canBeDayFirst = true
    var canBePadded = true, canBeUnpadded = true
    var hourCanBePadded = true, hourCanBeUnpadded = true
    /// For months: whether the text cannot be a pair of years such as 2009-10.
    var isCertain = true

    init?(_ text: UnsafeRawBufferPointer) {
        guard text.count >= 6, text.count <= 40, text[0] &- 48 <= 9 else { return nil }
        if let reading = DateText.parse(text) {
            form = .standard(reading.notation)
            return
        }
        if let month = DateText.parseMonth(text) {
            form = .month
            let parts = DateText.civil(month / 86_400)
            isCertain = parts.month != (parts.year + 1) % 100
            return
        }
        guard let fields = DateFields(text) else { return nil }
        if fields.isYearFirst {
            guard fields.date(.yearMonthDay) != nil else { return nil }
        } else {
            // Dates with points begin with the day.
            canBeMonthFirst = fields.separator != .point && fields.date(.monthDayYear, shortYears: true) != nil
            canBeDayFirst = fields.date(.dayMonthYear, shortYears: true) != nil
            guard canBeMonthFirst || canBeDayFirst else { return nil }
        }
        canBePadded = fields.canBePadded
        canBeUnpadded = fields.canBeUnpadded
        var time = fields.time
        time?.isPadded = true
        if time != nil {
            hourCanBePadded = fields.hourCanBePadded
            hourCanBeUnpadded = fields.hourCanBeUnpadded
        }
        form = .layout(fields.separator, isYearFirst: fields.isYearFirst, hasShortYear: fields.hasShortYear, time)
    }
}

/// The dates of a form, and how many of them allow each of the properties that the form leaves open.
struct CSVDateCount: Sendable {
    let form: CSVDateForm.Form
    private(set) var sample = CSVSample()
    private(set) var monthFirst = 0, dayFirst = 0
    private var certain = 0
    private(set) var padded = 0, unpadded = 0, hourPadded = 0, hourUnpadded = 0

    init(form: CSVDateForm.Form) { self.form = form }

    mutating func note(_ date: CSVDateForm, _ cell: CSVCellText) {
        sample.note(cell)
        if date.canBeMonthFirst { monthFirst += 1 }
        if date.canBeDayFirst { dayFirst += 1 }
        if date.canBePadded { padded += 1 }
        if date.canBeUnpadded { unpadded += 1 }
        if date.hourCanBePadded { hourPadded += 1 }
        if date.hourCanBeUnpadded { hourUnpadded += 1 }
        if date.isCertain { certain += 1 }
    }

    /// Counts more dates that allow all properties.
    mutating func add(_ more: Int) {
        sample.add(more)
        monthFirst += more
        dayFirst += more
        padded += more
        unpadded += more
        hourPadded += more
        hourUnpadded += more
        certain += more
    }

    mutating func merge(_ later: CSVDateCount, after rows: Int) {
        sample.merge(later.sample, after: rows)
        monthFirst += later.monthFirst
        dayFirst += later.dayFirst
        padded += later.padded
        unpadded += later.unpadded
        hourPadded += later.hourPadded
        hourUnpadded += later.hourUnpadded
        certain += later.certain
    }

    /// Why dates are not read as such.
    enum Doubt { case order, mixed, shortYear, season }

    /// Returns the notation of the dates, and how many have another spelling; or why they are not read as dates. `wanted` are the notations
    /// that were requested: they decide what the dates leave open.
    func notation(wanted: [Notation]) -> Result<(notation: Notation, unusual: Int), CSVDoubt> {
        switch form {
        case .standard(let notation): return .success((notation, 0))
        case .month:
            guard certain > 0 || wanted.contains(.yearMonth) else { return .failure(CSVDoubt(doubt: .season)) }
            return .success((.yearMonth, 0))
        case .layout(let separator, let isYearFirst, let hasShortYear, let time):
            let count = sample.count
            let asked = wanted.compactMap(DateLayout.init).filter {
                $0.separator == separator && ($0.order == .yearMonthDay) == isYearFirst && $0.hasShortYear == hasShortYear
            }
            guard !hasShortYear || !asked.isEmpty else { return .failure(CSVDoubt(doubt: .shortYear)) }
            var order = DateLayout.Order.yearMonthDay
            if !isYearFirst {
                if asked.count == 1 || separator == .point {
                    order = asked.first?.order ?? .dayMonthYear
                } else if monthFirst == count, dayFirst < count {
                    order = .monthDayYear
                } else if dayFirst == count, monthFirst < count {
                    order = .dayMonthYear
                } else {
                    return .failure(CSVDoubt(doubt: monthFirst == count && dayFirst == count ? .order : .mixed))
                }
            }
            let fitting = order == .monthDayYear ? monthFirst : order == .dayMonthYear ? dayFirst : count
            guard fitting == count else { return .failure(CSVDoubt(doubt: .mixed)) }
            var layout = DateLayout(order, separator, isPadded: padded >= unpadded, time: time)
            layout.hasShortYear = hasShortYear
            layout.time?.isPadded = hourPadded >= hourUnpadded
            let unusual = count - max(padded, unpadded) + (time == nil ? 0 : count - max(hourPadded, hourUnpadded))
            return .success((layout.notation, unusual))
        }
    }
}

/// Why dates are not read as dates.
struct CSVDoubt: Error { let doubt: CSVDateCount.Doubt }

extension CSVGuess {
    /// The first texts in the column that are no values of its type, or stand for null.
    var oddTexts: [String] { odd.map { [$0.texts.text, $0.nulls.text] + $0.words.map(\.word.text) } ?? [] }
}
