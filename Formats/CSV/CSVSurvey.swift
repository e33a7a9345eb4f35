import FirnBytes
import FirnExchange

/// What happens to rows whose number of cells differs from the number of columns.
package enum CSVRagged: String, Sendable, CaseIterable {
    /// Missing cells are null, and surplus cells make more columns.
    case widen
    /// Missing cells are null. Rows with surplus cells are bad, unless these are empty.
    case pad
    /// Missing cells are null, and surplus cells are left out.
    case cut
    /// Such rows are set aside: `Rejects` receives them, or they are left out with a remark.
    case reject
    /// The first such row is an error.
    case error
}

/// A number of places in the input, and the line of the first.
struct CSVPlaces: Sendable {
    var count = 0
    var line = 0

    mutating func add(_ line: Int, count more: Int = 1) {
        guard more > 0 else { return }
        if count == 0 { self.line = line }
        count += more
    }

    /// Such as `3 rows (first: line 7)`.
    func words(_ noun: String) -> String { count == 1 ? "1 \(noun) (line \(line))" : "\(count) \(noun)s (first: line \(line))" }
    var isEmpty: Bool { count == 0 }
}

/// What a whole text contains if it is read in a form: the numbers of cells of its records, and everything unusual.
struct CSVSurvey {
    let form: CSVForm
    let hasHeader: Bool
    /// The number of cells of the first record, and of those up to the last one that is not empty.
    var first: (count: Int, named: Int, line: Int)?
    var rows = 0
    /// The number of rows, and the first of them, by number of cells.
    var widths: [Int: CSVPlaces] = [:]
    /// The maximum number of cells up to the last one that is not empty.
    var widest = (cells: 0, line: 0)
    var cells = 0
    /// Records that are no rows if the form omits them.
    var marks = CSVPlaces()
    var blank = CSVPlaces(), comments = CSVPlaces(), inner = CSVPlaces(), literal = CSVPlaces(), spaced = CSVPlaces()
    var quotedCells = 0
    var unclosed: FirnError.Location?
    var isLenient = false
    /// The bytes of the header, without its line end.
    var headerText: [UInt8] = []
    /// The offset of a line outside the table that is not UTF-8.
    var invalidText: UInt64?
    var lineEnds: [CSVRecordScan.LineEnd: Int] = [:]
    var endsOpen = false
    /// The offset of the first line after the table.
    var tableEnd = UInt64.max
    var footer = CSVPlaces()
    var surroundings = CSVSurroundings()
    /// The number of rows, and the first of them, by number of cells up to the last one that is not empty.
    private var filled: [Int: CSVPlaces] = [:]
    /// The number of cells of the rows whose number of cells is not that of the rows before them: the start of `CSVSurroundings.cells`.
    private var exceptions: [(row: Int, count: Int)] = []
    /// The numbers of cells of the last row, and how many rows like it are not counted in `widths` and `filled` yet.
    private var run = (count: -1, effective: -1, uncounted: 0)
    private var held: [Record] = []
    private var preamble = ""

    /// The maximum number of different widths that are counted separately.
    private static let maximumWidths = 1000
    private static let maximumHeldLines = 64

    private struct Record {
        var isRow = false, isComment = false, isMark = false
        var count = 1, effective = 0, line = 1
        var offset: UInt64 = 0
        /// The text of lines that may be kept as they are.
        var text = ""
        var followsBlank = false
        /// Whether it is a row of which at most the first cell is not empty, and whether that cell contains a letter.
        var isPadded = false, hasLetter = false
        /// Whether it separates a footer from the rows: a blank line, also padded with delimiters.
        var isGap: Bool { isPadded ? effective == 0 : !isRow && !isComment }
    }

    init(_ text: CSVText, _ form: CSVForm, hasHeader: Bool) throws(FirnError) {
        self.form = form
        self.hasHeader = hasHeader
        try text.rewind()
        let reader = try CSVRecordReader(text, form)
        var wasBlank = false
        while true {
            if first != nil { wasBlank = !takePlain(reader) && wasBlank }
            guard try reader.next() else { break }
            if reader.kind == .preamble {
                if preamble.utf8.count <= CSVSurroundings.maximumBytes { preamble += try outside(reader) }
                continue
            }
            var record = Record(line: reader.line, offset: reader.offset, followsBlank: wasBlank)
            (record.isComment, record.isMark) = (reader.kind == .comment, reader.kind == .mark)
            if reader.kind == .record, reader.isMark { marks.add(reader.line) }
            if reader.kind == .record {
                note(reader)
                record.count = reader.scan.cells.count
                record.effective = CSVSurvey.effective(reader.scan, reader.buffer)
                record.isRow = first?.count == 1 && record.count == 1 || record.count > 1 || !CSVSurvey.isBlank(reader.scan, reader.buffer)
                record.isPadded = record.count > 1 && record.effective < 2
                if record.effective == 1, let cell = reader.scan.cells.first {
                    record.hasLetter = reader.buffer[cell.start..<cell.end].contains { $0 >= 128 || $0 | 32 >= 97 && $0 | 32 <= 122 }
                }
            }
            wasBlank = !record.isRow && !record.isComment
            if form.footerLines > 0 || !record.isRow || record.count <= 1 || record.isPadded { record.text = try outside(reader) }
            if first == nil, hasHeader, record.isRow {
                try text.input.note(bytes: reader.range.count)
                headerText = Array(reader.buffer[reader.range.lowerBound..<reader.scan.contentEnd])
            }
            take(record)
        }
        finish()
        try text.rewind()
    }

    /// Takes the plain records that follow. Returns whether there were any.
    private mutating func takePlain(_ reader: CSVRecordReader) -> Bool {
        var feeds = 0, returnFeeds = 0, quoted = 0
        reader.passPlain { record in
            if feeds == 0, returnFeeds == 0 { addHeld() }
            if record.lineEnd == .feed { feeds += 1 } else { returnFeeds += 1 }
            quoted += record.quotedCells
            addRow(record.cells, record.filled, record.line)
            return true
        }
        guard feeds + returnFeeds > 0 else { return false }
        if feeds > 0 { lineEnds[.feed, default: 0] += feeds }
        if returnFeeds > 0 { lineEnds[.returnFeed, default: 0] += returnFeeds }
        quotedCells += quoted
        endsOpen = false
        return true
    }

    private static func effective(_ scan: CSVRecordScan, _ text: [UInt8]) -> Int {
        var count = scan.cells.count
        while count > 0, scan.cells[count - 1].start == scan.cells[count - 1].end, !scan.cells[count - 1].isQuoted { count -= 1 }
        return count
    }

    /// Whether the record is one cell of spaces.
    static func isBlank(_ scan: CSVRecordScan, _ text: [UInt8]) -> Bool {
        guard scan.cells.count == 1, let cell = scan.cells.first, !cell.isQuoted else { return false }
        return text[cell.start..<cell.end].allSatisfy { $0 == 32 || $0 == 9 }
    }

    /// Returns the text of a record that may be outside the table.
    private mutating func outside(_ reader: CSVRecordReader) throws(FirnError) -> String {
        try reader.text.input.note(bytes: reader.range.count)
        if let text = reader.recordText { return text }
        invalidText = invalidText ?? reader.offset
        return ""
    }

    private mutating func note(_ reader: CSVRecordReader) {
        let scan = reader.scan
        lineEnds[scan.lineEnd, default: 0] += 1
        endsOpen = scan.lineEnd == .none
        for cell in scan.cells where cell.isQuoted { quotedCells += 1 }
        let odd = scan.oddities
        inner.add(reader.line, count: odd.innerQuotes)
        literal.add(reader.line, count: odd.literalQuotes)
        spaced.add(reader.line, count: odd.spaced)
        isLenient = isLenient || odd.isLenient
        if let position = odd.unclosed, unclosed == nil { unclosed = reader.location(of: position) }
    }

    /// Adds a record, or holds it while it may be part of a footer.
    private mutating func take(_ record: Record) {
        if form.footerLines > 0 {
            held.append(record)
            if held.count > form.footerLines { add(held.removeFirst()) }
            return
        }
        let mayFollow = !record.isRow || (record.count == 1 || record.isPadded && rows > 0) && widths.keys.contains { $0 > 1 }
        if first != nil, mayFollow, held.count < CSVSurvey.maximumHeldLines { return held.append(record) }
        addHeld()
        if first != nil, mayFollow { held.append(record) } else { add(record) }
    }

    private mutating func addHeld() {
        for earlier in held { add(earlier) }
        held = []
    }

    private mutating func add(_ record: Record) {
        guard record.isRow else {
            if record.isMark {
                marks.add(record.line)
            } else if record.isComment {
                comments.add(record.line)
            } else {
                blank.add(record.line)
            }
            if first == nil { preamble += record.text } else { surroundings.keep(inserted: record.text, before: rows) }
            return
        }
        if first == nil {
            first = (record.count, record.effective, record.line)
            if hasHeader { return }
        }
        addRow(record.count, record.effective, record.line)
    }

    /// Counts a row of `count` cells up to the last one, `effective` up to the last one that is not empty.
    @inline(__always)
    private mutating func addRow(_ count: Int, _ effective: Int, _ line: Int) {
        if (count, effective) == (run.count, run.effective) {
            run.uncounted += 1
        } else {
            startRun(count, effective, line)
        }
        if exceptions.count <= 4096, count != exceptions.last?.count { exceptions.append((rows, count)) }
        cells += count
        rows += 1
    }

    private mutating func startRun(_ count: Int, _ effective: Int, _ line: Int) {
        endRun()
        run = (count, effective, 0)
        if widths[count] != nil || widths.count < CSVSurvey.maximumWidths { widths[count, default: CSVPlaces()].add(line) }
        if filled[effective] != nil || filled.count < CSVSurvey.maximumWidths { filled[effective, default: CSVPlaces()].add(line) }
        if effective > widest.cells { widest = (effective, line) }
    }

    /// Counts the rows that are like the last one.
    private mutating func endRun() {
        widths[run.count]?.count += run.uncounted
        filled[run.effective]?.count += run.uncounted
        run.uncounted = 0
    }

    /// Decides whether the records that are still held are a footer.
    private mutating func finish() {
        endRun()
        var start = held.count
        if form.footerLines > 0 {
            start = 0
        } else if rows > 0, widths[1] == nil {
            // A footer is text after a blank line, or, in tables of three and more columns, a sentence.
            let width = widths.max { ($0.value.count, $1.key) < ($1.value.count, $0.key) }?.key ?? 0
            if let gap = paddedFooter {
                start = gap
            } else if let first = held.firstIndex(where: { $0.isRow && !$0.isPadded }), !held[first...].contains(where: \.isPadded) {
                let isApart = held[first].followsBlank || held[..<first].contains { $0.isComment }
                let isText = width > 2 && held[first].text.contains(" ") && !held[first].text.hasPrefix("\"")
                if isApart || isText { start = held[..<first].lastIndex { $0.isComment }.map { min($0, first) } ?? first }
                while start > 0, start <= first, !held[start - 1].isRow { start -= 1 }
            }
        }
        let rest = held[start...]
        for record in held[..<start] { add(record) }
        endRun()
        held = []
        if let first = rest.first {
            tableEnd = first.offset
            footer.add(first.line, count: rest.count)
            surroundings.keep(footer: rest.map(\.text).joined())
        }
        if !preamble.isEmpty { surroundings.keep(preamble: preamble) }
    }

    /// The position of the gap above a footer that is padded with delimiters to the width of the table; nil if there is none. All records
    /// from there on are gaps, comments and texts in the first cell.
    private var paddedFooter: Int? {
        guard held.contains(where: \.isPadded) else { return nil }
        let isText = { (record: Record) in
            record.isRow && record.effective == 1 && record.hasLetter && (record.isPadded || record.count == 1)
        }
        return held.indices.first { start in
            held[start].isGap && held[start...].contains(where: isText)
                && held[start...].allSatisfy { $0.isGap || $0.isComment || isText($0) }
        }
    }

    /// The number of cells that most rows have; that of the header if there are no rows.
    var usualWidth: Int { widths.max { ($0.value.count, $1.key) < ($1.value.count, $0.key) }?.key ?? first?.count ?? 0 }

    /// The rows that have a cell that is not empty after their first `width` cells.
    func beyond(_ width: Int) -> CSVPlaces {
        var places = CSVPlaces()
        for (cells, lines) in filled.sorted(by: { $0.value.line < $1.value.line }) where cells > width {
            places.add(lines.line, count: lines.count)
        }
        return places
    }

    /// Whether a quote is never closed, and the records after it are not regular: the rest of the text may be its cell.
    var mayEndInQuotes: Bool {
        guard let line = unclosed?.line else { return false }
        return !widths.allSatisfy { $0.key == usualWidth || $0.value.line < line }
    }

    /// The number of rows that another form might explain better: rows with another number of cells, and unusual quotes.
    var faults: Int {
        let usual = usualWidth
        let ragged = widths.reduce(0) { $0 + ($1.key == usual ? 0 : $1.value.count) }
        return ragged + inner.count + literal.count + (unclosed == nil ? 0 : 1)
    }

    /// Records, in `surroundings`, the rows whose number of cells is not `width`, for export. Positions are those without the rows that are left
    /// out; nil stands for too many of these. Returns false if they are too many.
    mutating func keepCells(_ width: Int, leftOut: [Int]?) -> Bool {
        surroundings.moveLines(leftOut)
        guard exceptions.count <= 4096, let leftOut else { return false }
        var next = 0, kept = 0
        for (i, exception) in exceptions.enumerated() where exception.count != width {
            let end = i + 1 < exceptions.count ? exceptions[i + 1].row : rows
            for row in exception.row..<end {
                while next < leftOut.count, leftOut[next] < row { next += 1 }
                if next < leftOut.count, leftOut[next] == row { continue }
                surroundings.keep(cells: exception.count, of: row - next)
                kept += 1
                if kept > 4096 { return false }
            }
        }
        return !surroundings.isCut
    }
}
