import FirnBytes

/// What the first part of a text says about its form.
struct CSVGuessedForm {
    var form = CSVForm()
    /// What was guessed, and the flag that sets it.
    var remarks: [String] = []
}

/// Finds the form of a text from its first bytes: the form in which the records have the same number of cells.
struct CSVSniffer {
    let sample: [UInt8]
    let isWhole: Bool
    private let options: CSVOptions

    /// The maximum number of records that are compared.
    static let maximumRecords = 2000
    private static let common: [[UInt8]] = [",", ";", "\t", "|"].map { Array($0.utf8) }
    private static let long: [[UInt8]] = ["::", "||", ";;", ", ", "; ", " | ", "| ", "\t|\t", "|~|", "^|^", "##", "@@", "~|~"].map {
        Array($0.utf8)
    }
    private static let weak: [[UInt8]] = [":", "~", "^", " ", "\u{1F}", "\u{1}", "#", "&", "/"].map { Array($0.utf8) }

    /// `isWhole` means that the sample is the whole text.
    init(_ sample: [UInt8], isWhole: Bool, _ options: CSVOptions) {
        self.sample = sample
        self.isWhole = isWhole
        self.options = options
    }

    /// A record: its number of cells, the number up to the last one that is not empty, its first line, whether it looks like a sentence,
    /// and which of its first 64 cells begin like numbers.
    typealias Line = (count: Int, effective: Int, line: Int, isProse: Bool, numbers: UInt64)

    /// The records of the sample in one form.
    struct Reading {
        var form: CSVForm
        var records: [Line] = []
        /// The number of records that begin with "#", by number of cells, and the numbers of cells of those that continue with a space.
        var marked: [Int: Int] = [:], spacedMarks: [Int: Int] = [:]
        /// The first 64 columns: how many cells below the first record are quoted, and which columns have others that are not empty.
        var quotedCells = [Int](repeating: 0, count: 64), unquoted: UInt64 = 0
        /// Whether a quoted cell contains what only quotes make possible.
        var needsQuotes = false
        var blankBefore: Set<Int> = []
        /// The number of records above the table, if a blank line is between them, and all records of the table have the same, larger number of
        /// cells.
        var apart = 0
        /// Unquoted cells that are a comma, semicolon or bar.
        var loneMarks = 0
        var width = 0, usual = 0, faults = 0, typed = 0, filled = 0, quoted = 0, spaced = 0, startsWithSpace = 0, followers = 0
        /// Whether unquoted cells contain quotes.
        var isLenient = false
        /// Cells in apostrophes or backticks, and quoted cells in which a backslash precedes a quote.
        var apostrophes = 0

        /// The number of records, without those apart from the table.
        private var rows: Int { records.count - apart }
        var consistency: Double { records.isEmpty ? 0 : Double(usual) / Double(rows) }
        /// Whether every record has the same number of cells, and nothing is unusual.
        var isClean: Bool { usual == rows && faults == 0 && spaced == 0 }

        /// Whether the quotes enclose cells, rather than being text: some of them are needed, or they enclose all cells of a column.
        var hasQuoteEvidence: Bool {
            needsQuotes || quotedCells.indices.contains { quotedCells[$0] > 1 && unquoted & 1 << UInt64($0) == 0 }
        }

        /// Whether a space follows each delimiter, as in sentences.
        var isSpaced: Bool { followers > 0 && (startsWithSpace == followers || form.delimiter.last == 32) }

        /// Whether lines that begin with "#" are comments in a table of this width: more of them are no rows of it than could be.
        func hasComments(width: Int) -> Bool {
            let rows = (marked[width] ?? 0) - (spacedMarks[width] ?? 0), all = marked.values.reduce(0, +)
            return all - (marked[width] ?? 0) + (consistency < 1 ? spacedMarks[width] ?? 0 : 0) > rows
        }

        /// The columns in which all regular records from a position on begin like numbers.
        func numbers(from start: Int) -> UInt64 {
            let regular = records[start...].filter { $0.count == width }
            return regular.isEmpty ? 0 : regular.reduce(.max) { $0 & $1.numbers }
        }

        var score: Double {
            guard width > 1 else { return 0.3 }
            let share = Double(usual) / Double(max(rows, 1)), typedShare = filled == 0 ? 0 : Double(typed) / Double(filled)
            let faulty = min(1, 2 * Double(faults) / Double(max(rows, 1)))
            // A form that explains every record is better than one that explains most of them.
            return share * share * (1 - 0.5 * faulty) * (0.75 + 0.25 * typedShare) * (isClean && !isLenient ? 1.2 : 1)
        }
    }

    /// The form that the options name, as far as they do.
    private var base: CSVForm {
        var base = CSVForm()
        if let quote = options.quoting.quote { base.quote = quote } else if options.quoting == .none { base.quote = nil }
        base.escape = options.escape
        base.comment = Array((options.comment ?? "").utf8)
        base.footerLines = options.skippedFooter
        base.preambleLines = options.skipped
        if let delimiter = options.delimiterBytes { base.delimiter = delimiter }
        (base.endsAtReturns, base.endsAtFeeds) = lineEnds()
        return base
    }

    func guess() -> CSVGuessedForm {
        let base = base
        var guess = CSVGuessedForm(form: base)
        if options.skipped == 0, let (separator, line) = separatorLine() {
            guess.form.preambleLines = 1
            if options.delimiterBytes == nil {
                guess.form.delimiter = separator
                guess.remarks.append("cells are separated by \(CSVSniffer.name(separator)), as the first line \"\(line)\" specifies")
            } else {
                guess.remarks.append("the first line \"\(line)\" was not read as a row")
            }
        }
        choose(&guess, isSet: options.delimiterBytes != nil || guess.form.preambleLines > 0 && options.skipped == 0)
        if options.skipped == 0 { findTable(&guess) }
        return guess
    }

    /// Returns the ordinary form if the first records leave no doubt about it.
    func quick() -> CSVGuessedForm? {
        let base = base
        guard base.isPlain, options.quoting == .automatic, options.escape == nil, options.skipped == 0, sample.count > 0,
            separatorLine() == nil
        else { return nil }
        let reading = read(base, bytes: min(sample.count, 1 << 16), records: 200)
        guard reading.isClean, reading.width > 1, reading.apostrophes == 0, reading.records.count > 1,
            reading.startsWithSpace < reading.followers || reading.followers == 0, reading.records[0].effective > 1 || reading.width < 3
        else { return nil }
        if options.delimiterBytes == nil {
            let line = sample.prefix { $0 != 10 && $0 != 13 }
            if line.contains(where: { $0 == 59 || $0 == 9 || $0 == 124 }) { return nil }
        }
        return CSVGuessedForm(form: base)
    }

    /// Whether carriage returns alone, and line feeds, end records.
    private func lineEnds() -> (returns: Bool, feeds: Bool) {
        var lone = 0, feeds = 0, quotes = false
        for (i, byte) in sample.prefix(1 << 18).enumerated() {
            if byte == 34 { quotes.toggle() }
            if byte == 10 { feeds += 1 }
            if byte == 13, i + 1 < sample.count, sample[i + 1] != 10, !quotes { lone += 1 }
        }
        return feeds == 0 && (lone > 0 || sample.last == 13) ? (true, false) : (false, true)
    }

    private func separatorLine() -> (separator: [UInt8], line: String)? {
        var line = Array(sample.prefix(16).prefix { $0 != 10 && $0 != 13 })
        if line.count > 6, line.first == 34, line.last == 34 { line = Array(line.dropFirst().dropLast()) }
        guard line.count == 5, line.prefix(4).elementsEqual("sep=".utf8) || line.prefix(4).elementsEqual("SEP=".utf8), line[4] < 0x80,
            sample.count > line.count
        else { return nil }
        return ([line[4]], String(decoding: line, as: UTF8.self))
    }

    // MARK: - Delimiter and quotes

    /// Chooses delimiter, quote and escape. `isSet` means that the delimiter is known.
    private func choose(_ guess: inout CSVGuessedForm, isSet: Bool) {
        let form = guess.form
        if !isSet, options.skipped == 0, isColumnOfDates {
            guess.form.delimiter = unusedDelimiter
            return
        }
        var candidates = isSet ? [(form.delimiter, 1.0)] : CSVSniffer.common.map { ($0, 1.0) }
        if !isSet {
            candidates += CSVSniffer.long.map { ($0, 1.02) } + CSVSniffer.weak.map { ($0, 0.8) }
        }
        var best: (reading: Reading, score: Double)?
        for (delimiter, prior) in candidates where isSet || sample.containsBytes(delimiter) {
            for quote in quotes(form) {
                var candidate = form
                candidate.delimiter = delimiter
                candidate.quote = quote
                let plain = read(candidate)
                for reading in [plain] + variants(candidate).map({ read($0) }) {
                    var score = reading.score * prior
                    if prior < 1, !isConvincing(reading) { continue }
                    if delimiter.count > 1, reading.width < 2 { continue }
                    if reading.width > 1, let first = reading.records.first, first.count != reading.width { score *= 0.95 }
                    // A wrong quote leaves quotes in the text.
                    if quote != 34, quote != nil, options.quoting == .automatic, !reading.hasQuoteEvidence { continue }
                    if options.comment == nil, !reading.form.comment.isEmpty, !plain.hasComments(width: reading.width) { continue }
                    if score > (best?.score ?? 0) + 1e-9 { best = (reading, score) }
                }
            }
        }
        guard let reading = best?.reading else { return }
        if !isSet, options.skipped == 0, isOneColumn(reading) {
            guess.form.delimiter = unusedDelimiter
            guess.remarks.append(
                "the rows have one column, as the header has no delimiter and the cells below show none; use --delimiter to split them")
            return
        }
        // Without evidence, the form is the default.
        if reading.width > 1 || isSet { guess.form = reading.form }
        describe(&guess, reading, isSet: isSet)
    }

    /// Whether each line, apart from a header without any delimiter, is a date or a time of day as a whole.
    private var isColumnOfDates: Bool {
        let lines = sample.prefix(1 << 14).split(maxSplits: 101, whereSeparator: { $0 == 10 || $0 == 13 }).prefix(101)
        // The last line can be cut.
        let whole = isWhole && lines.count < 101 ? lines : lines.dropLast()
        guard whole.count > 1, let first = whole.first else { return false }
        let isHeader = first.allSatisfy { ($0 | 32) &- 97 < 26 || $0 == UInt8(ascii: "_") }
        return whole.dropFirst(isHeader ? 1 : 0).allSatisfy(CSVSniffer.isDateOrTime)
    }

    private static func isDateOrTime(_ line: ArraySlice<UInt8>) -> Bool {
        guard let digit = line.first, digit &- 48 <= 9 else { return false }
        if CSVDateForm.isDate(line) { return true }
        // A time such as 10:00 or 10:00:00.5, read after any day.
        let time = line.count == 5 ? Array(line) + Array(":00".utf8) : Array(line)
        return time.count >= 8 && CSVDateForm.isDate(Array("2000-01-01 ".utf8) + time)
    }

    private func quotes(_ form: CSVForm) -> [UInt8?] {
        guard options.quoting == .automatic else { return [form.quote] }
        var quotes: [UInt8?] = [34]
        for other in [UInt8(ascii: "'"), UInt8(ascii: "`")] where sample.count(where: { $0 == other }) > 1 { quotes.append(other) }
        return quotes
    }

    /// The candidate with other escapes, comments and line ends, as far as the sample contains such bytes.
    private func variants(_ form: CSVForm) -> [CSVForm] {
        var variants: [CSVForm] = []
        if let quote = form.quote, options.escape == nil, !options.doublesQuotes, sample.containsBytes([92, quote]) {
            variants.append(form)
            variants[0].escape = 92
        }
        if options.comment == nil, sample.first == 35 || sample.containsBytes([10, 35]) {
            for var variant in [form] + variants {
                variant.comment = [35]
                variants.append(variant)
            }
        }
        return variants
    }

    /// Whether a delimiter that is also common in texts is one beyond doubt.
    private func isConvincing(_ reading: Reading) -> Bool {
        guard reading.records.count > 2, let first = reading.records.first else { return false }
        // R writes a header without a name for the names of the rows.
        let isShort =
            first.count > 1 && first.count + 1 == reading.width && reading.usual + 1 == reading.records.count && reading.quoted > 0
        guard isShort || reading.consistency >= 0.98 && first.count == reading.width else { return false }
        // Spaces around the delimiter of each cell.
        guard reading.loneMarks * 2 < reading.records.count else { return false }
        return reading.width > (reading.form.delimiter == [32] ? 2 : 1)
    }

    private func describe(_ guess: inout CSVGuessedForm, _ reading: Reading, isSet: Bool) {
        let form = guess.form, rows = reading.records.count == 1 ? "record shows" : "\(reading.records.count) records show"
        if !isSet, form.delimiter != [44] {
            guess.remarks.append(
                "cells are separated by \(CSVSniffer.name(form.delimiter)), as the first \(rows); use --delimiter to choose another delimiter"
            )
        }
        if options.quoting == .automatic, let quote = form.quote, quote != 34 {
            guess.remarks.append("cells are quoted with \(CSVSniffer.name([quote])); use --quote to choose another quote")
        }
        if options.escape == nil, form.escape != nil {
            guess.remarks.append("a backslash precedes quotes within cells; use --escape none if it is text")
        }
        if options.comment == nil, !form.comment.isEmpty {
            guess.remarks.append(
                "lines that begin with \"#\" are comments; use --comment to set another mark, or --comment none if they are rows")
        }
    }

    static func name(_ bytes: [UInt8]) -> String {
        if bytes == [9] { return "tabs" }
        if bytes == [32] { return "spaces" }
        return "\"" + String(decoding: bytes, as: UTF8.self).replacing("\t", with: "\\t") + "\""
    }

    // MARK: - Reading

    func read(_ form: CSVForm, bytes: Int = .max, records limit: Int = CSVSniffer.maximumRecords) -> Reading {
        var reading = Reading(form: form), scan = CSVRecordScan(form), at = 0, line = 1, wasBlank = false
        let end = min(bytes, sample.count), isLast = isWhole && end == sample.count
        while line <= form.preambleLines, at < end { (at, line) = (nextLine(at, end), line + 1) }
        var counts: [Int: Int] = [:]
        while at < end, reading.records.count < limit {
            if !form.comment.isEmpty, sample[at...].starts(with: form.comment) {
                (at, line) = (nextLine(at, end), line + 1)
                continue
            }
            guard scan.scan(sample, from: at, to: end, isLast: isLast) else { break }
            let first = line
            line += 1
            for cell in scan.cells where cell.isQuoted { line += sample[cell.start..<cell.end].count { $0 == 10 } }
            let start = at
            at = scan.next
            if CSVSurvey.isBlank(scan, sample) {
                wasBlank = true
                continue
            }
            if wasBlank { reading.blankBefore.insert(reading.records.count) }
            wasBlank = false
            let last = scan.cells.lastIndex { $0.start < $0.end || $0.isQuoted }
            let mark = sample[start]
            if mark == 35, !(reading.records.isEmpty && start + 1 < at && sample[start + 1] != 32 && scan.cells.count > 1) {
                reading.marked[scan.cells.count, default: 0] += 1
                if start + 1 < at, sample[start + 1] == 32 { reading.spacedMarks[scan.cells.count, default: 0] += 1 }
            }
            reading.records.append(
                (
                    scan.cells.count, last.map { $0 + 1 } ?? 0, first,
                    mark == 35 || mark == 37 || mark == 47 || sample[start..<scan.contentEnd].contains(32) && mark != 34, numbers(scan)
                ))
            counts[scan.cells.count, default: 0] += 1
            note(scan, &reading)
        }
        // The first and the last records can be lines around the table.
        let usual = counts.max { ($0.value, $0.key) < ($1.value, $1.key) }
        let common = counts.filter { $0.key > 1 && $0.value * 4 >= reading.records.count }
        // Of numbers of cells that are equally common, that of the header counts.
        let first = reading.records.first?.count ?? 0
        func rank(_ width: (key: Int, value: Int)) -> (Int, Int, Int) { (width.value, width.key == first ? 1 : 0, width.key) }
        reading.width = (common.max { rank($0) < rank($1) } ?? usual)?.key ?? 0
        reading.usual = counts[reading.width] ?? 0
        setApart(&reading)
        return reading
    }

    /// Finds a table below a blank line, under lines that have fewer cells.
    private func setApart(_ reading: inout Reading) {
        guard let start = reading.blankBefore.max(), start > 0, start <= 20, reading.records.count - start > 1 else { return }
        let width = reading.records[start].count
        guard width > 2, reading.records[..<start].allSatisfy({ $0.count < width }),
            reading.records[start...].allSatisfy({ $0.count == width })
        else { return }
        // If its first record is one of numbers as those below it, the header is above the blank line.
        let below = reading.records[(start + 1)...].reduce(UInt64.max) { $0 & $1.numbers }
        if below != 0, reading.records[start].numbers & below == below { return }
        (reading.width, reading.usual, reading.apart) = (width, reading.records.count - start, start)
    }

    private func nextLine(_ start: Int, _ end: Int) -> Int {
        var at = start
        while at < end {
            if sample[at] == 10 { return at + 1 }
            if sample[at] == 13 { return at + 1 < end && sample[at + 1] == 10 ? at + 2 : at + 1 }
            at += 1
        }
        return end
    }

    /// Which of the first 64 cells begin with a digit, after a sign if there is one.
    private func numbers(_ scan: CSVRecordScan) -> UInt64 {
        var numbers: UInt64 = 0
        for (i, cell) in scan.cells.prefix(64).enumerated() {
            var at = cell.start
            while at < cell.end, sample[at] == 32 || sample[at] == 43 || sample[at] == 45 { at += 1 }
            if at < cell.end, sample[at] &- 48 <= 9 { numbers |= 1 << UInt64(i) }
        }
        return numbers
    }

    private func note(_ scan: CSVRecordScan, _ reading: inout Reading) {
        reading.faults += scan.oddities.innerQuotes + scan.oddities.literalQuotes
        reading.spaced += scan.oddities.spaced
        reading.isLenient = reading.isLenient || scan.oddities.isLenient
        for (i, cell) in scan.cells.enumerated() {
            if cell.isQuoted {
                reading.quoted += 1
                reading.needsQuotes =
                    reading.needsQuotes || cell.hasEscapes
                    || sample[cell.start..<cell.end].contains { $0 == reading.form.delimiter[0] || $0 == 10 || $0 == 13 }
            }
            if i < 64, reading.records.count > 1 {
                if cell.isQuoted { reading.quotedCells[i] += 1 } else if cell.start < cell.end { reading.unquoted |= 1 << UInt64(i) }
            }
            guard cell.start < cell.end else { continue }
            if !cell.isQuoted, cell.end - cell.start == 1, [44, 59, 124].contains(sample[cell.start]) { reading.loneMarks += 1 }
            if i > 0, !cell.isQuoted {
                reading.followers += 1
                if sample[cell.start] == 32 { reading.startsWithSpace += 1 }
            }
            let mark = sample[cell.start]
            if !cell.isQuoted, mark == 39 || mark == 96, sample[cell.end - 1] == mark || i + 1 < scan.cells.count {
                reading.apostrophes += 1
            }
            reading.filled += 1
            if cell.isQuoted || isValue(cell) { reading.typed += 1 }
        }
    }

    /// Whether the cell looks like one value: a number, a date, a time, or a word without marks.
    private func isValue(_ cell: CSVCellRange) -> Bool {
        var isNumeric = true, isWord = true
        if cell.end - cell.start > 40 { return false }
        for byte in sample[cell.start..<cell.end] {
            let isDigit = byte >= 48 && byte <= 57
            if !isDigit, !(byte >= 43 && byte <= 47), byte != 58, byte != 84, byte != 90, byte != 69, byte != 101, byte != 37 {
                isNumeric = false
            }
            if !(byte | 32 >= 97 && byte | 32 <= 122), !isDigit, byte < 0x80, byte != 95 { isWord = false }
        }
        return isNumeric || isWord
    }
}
