import FirnBytes
import FirnExchange

/// A text of CSV, in UTF-8, that can be read several times.
protocol CSVSource: AnyObject {
    var input: Input { get }
    /// Fills `memory` and returns the number of bytes, which is less than its size only at the end.
    func read(into memory: UnsafeMutableRawBufferPointer) throws(FirnError) -> Int
    func rewind() throws(FirnError)
    /// Returns the line and column of an offset. Nothing can be read afterwards without `rewind`.
    func locate(_ position: UInt64, newline: UInt8) throws(FirnError) -> FirnError.Location
    /// The error for bytes at an offset that are not valid text.
    func invalid(at offset: UInt64, newline: UInt8) throws(FirnError) -> FirnError
}

/// Turns a CSV text of any form into one that the fast scan reads: a delimiter of one byte, doubled quotes, line feeds, and rows that all
/// have one cell for each column, without other lines.
final class CSVNormaliser: CSVSource {
    private let text: CSVText
    private let layout: CSVLayout
    private let marks: CSVMarks
    /// Whether a record of the right number of cells without oddities is a row as it is, and so is a plain record.
    private let keepsRecords: Bool, keepsPlain: Bool
    private var reader: CSVRecordReader
    private var out: [UInt8] = []
    private var outAt = 0
    private var started = false, ended = false
    /// Whether bad rows are left out; otherwise the first one is an error.
    private let leavesOut: Bool
    /// Receives the bad rows that are left out.
    var rejects: Rejects?
    private(set) var rejected = 0
    /// The positions of the bad rows that were left out, among all rows; nil if they are too many to list.
    private(set) var leftOut: [Int]? = []
    private var rows = 0
    /// The original records of the last rows, for rows that are left out later; nil if they are not needed.
    private var records: CSVOriginalRecords?
    /// The number of bytes of the text before `out`.
    private var passed: UInt64 = 0
    private static let maximumLeftOut = 1 << 16

    var input: Input { text.input }

    private static let piece = 1 << 18

    init(_ text: CSVText, _ layout: CSVLayout, leavesOut: Bool) throws(FirnError) {
        self.leavesOut = leavesOut
        self.text = text
        self.layout = layout
        let form = layout.form
        marks = form.marks(isNormalised: true)
        keepsPlain = form.delimiter == [marks.delimiter] && (form.quote == nil || form.quote == marks.quote)
        keepsRecords = keepsPlain && form.escape == nil
        try text.rewind()
        reader = try CSVRecordReader(text, layout.form)
    }

    func rewind() throws(FirnError) {
        try text.rewind()
        reader = try CSVRecordReader(text, layout.form)
        out.removeAll(keepingCapacity: true)
        (outAt, started, ended, rejected) = (0, false, false, 0)
        (leftOut, rows, passed) = ([], 0, 0)
        if records != nil { records = CSVOriginalRecords() }
    }

    /// Keeps the original records of rows until `forgetRecords` is called.
    func keepRecords() { records = CSVOriginalRecords() }

    /// Forgets the original records of the rows before an offset.
    func forgetRecords(before offset: UInt64) { records?.forget(before: offset) }

    /// Returns the record, with its line end, of the row at an offset, if it differs from the row.
    func record(at offset: UInt64) -> [UInt8]? { records?.record(at: offset) }

    func read(into memory: UnsafeMutableRawBufferPointer) throws(FirnError) -> Int {
        var done = 0
        while done < memory.count {
            if outAt == out.count {
                passed += UInt64(out.count)
                out.removeAll(keepingCapacity: true)
                outAt = 0
                while out.count < CSVNormaliser.piece {
                    if keepsPlain, started, records == nil { appendPlain() }
                    let begin = out.count
                    guard try append() else { break }
                    if out.count > begin { keepRecord(ofRow: begin) }
                }
                if out.isEmpty { break }
            }
            let count = min(memory.count - done, out.count - outAt)
            UnsafeMutableRawBufferPointer(rebasing: memory[done...]).copyBytes(from: out[outAt..<(outAt + count)])
            done += count
            outAt += count
        }
        return done
    }

    private func keepRecord(ofRow begin: Int) {
        guard records != nil else { return }
        let record = reader.buffer[reader.range]
        if !record.elementsEqual(out[begin...]) { records?.add(passed + UInt64(begin)..<passed + UInt64(out.count), Array(record)) }
    }

    /// Appends the rows that the plain records make that follow, to `out`.
    private func appendPlain() {
        let end = layout.tableEnd, width = layout.width, piece = CSVNormaliser.piece, delimiter = marks.delimiter
        let refuses = layout.ragged == .reject || layout.ragged == .error, trailing = width + layout.trailing
        var rows = 0, out = out
        self.out = []
        reader.passPlain { record in
            guard record.offset < end, out.count < piece, record.filled <= width else { return false }
            if refuses, record.cells != width, record.cells != trailing { return false }
            // The cells after the last column are empty, so their delimiters are the last bytes.
            let surplus = max(record.cells - width, 0)
            out.append(contentsOf: record.bytes(without: surplus))
            for _ in record.cells..<max(record.cells, width) { out.append(delimiter) }
            out.append(10)
            rows += 1
            return true
        }
        self.out = out
        self.rows += rows
    }

    /// Appends the next row to `out`, if the next record is one. Returns false at the end of the table.
    private func append() throws(FirnError) -> Bool {
        guard !ended, try reader.next(), reader.offset < layout.tableEnd else {
            ended = true
            return false
        }
        guard reader.kind == .record else { return true }
        let scan = reader.scan, isHeader = !started && layout.hasHeader
        if scan.cells.count == 1, !layout.readsBlankLines || !started, CSVSurvey.isBlank(scan, reader.buffer) { return true }
        started = true
        if !isHeader {
            rows += 1
            if let fault = fault(scan) {
                try refuse(fault)
                return true
            }
        }
        try input.note(bytes: out.count + 2 * reader.range.count)
        let skipped = isHeader && layout.namesRows ? 1 : 0
        if keepsRecords, skipped == 0, scan.cells.count == layout.width, !scan.oddities.isAny,
            layout.form.quote != nil || !reader.content.contains(marks.quote)
        {
            out.append(contentsOf: reader.content)
            out.append(10)
            return true
        }
        append(scan, skipped: skipped)
        return true
    }

    /// Appends the row of a record without its first `skipped` columns, cell by cell.
    private func append(_ scan: CSVRecordScan, skipped: Int) {
        let width = layout.width, marks = marks, text = reader.buffer, keepsCells = keepsPlain && layout.form.quote != nil
        // Cells that are copied together, with the delimiters between them.
        var kept: Range<Int>?
        var out = out
        self.out = []
        for column in 0..<width {
            let cell = scan.cells.indices.contains(column - skipped) ? scan.cells[column - skipped] : nil
            if let cell, cell.isPlain, keepsCells {
                let start = cell.start - (cell.isQuoted ? 1 : 0), end = cell.end + (cell.isQuoted ? 1 : 0)
                if let before = kept, before.upperBound + 1 == start {
                    kept = before.lowerBound..<end
                    continue
                }
                if let before = kept { out.append(contentsOf: text[before]) }
                kept = start..<end
            } else if let before = kept {
                out.append(contentsOf: text[before])
                kept = nil
            }
            if column > 0 { out.append(marks.delimiter) }
            if let cell, kept == nil { marks.append(cell, scan, of: text, to: &out) }
        }
        if let before = kept { out.append(contentsOf: text[before]) }
        out.append(10)
        self.out = out
    }

    /// What is wrong with a row, if the layout does not allow it.
    private func fault(_ scan: CSVRecordScan) -> (fault: CSVFault, at: Int)? {
        let count = scan.cells.count, width = layout.width
        switch layout.ragged {
        case .widen, .cut: return nil
        case .pad:
            guard count > width else { return nil }
            return isEmpty(scan.cells[width...]) ? nil : (.tooMany(count), scan.contentEnd)
        case .reject, .error:
            if let open = scan.oddities.unclosed, layout.refusesUnclosed { return (.unclosedQuote, open) }
            // Quotes are read as without rejected rows: text, if they cannot be anything else.
            if layout.ragged == .error, scan.oddities.isFaulty { return (.afterQuote, scan.contentEnd) }
            if count == width || count == width + layout.trailing && isEmpty(scan.cells[width...]) { return nil }
            return (count < width ? .tooFew(count) : .tooMany(count), scan.contentEnd)
        }
    }

    private func isEmpty(_ cells: ArraySlice<CSVCellRange>) -> Bool { cells.allSatisfy { $0.start == $0.end && !$0.isQuoted } }

    private func refuse(_ bad: (fault: CSVFault, at: Int)) throws(FirnError) {
        rejected += 1
        if leavesOut {
            leftOut?.append(rows - 1)
            if leftOut?.count ?? 0 > CSVNormaliser.maximumLeftOut { leftOut = nil }
            try rejects?.add(Array(reader.buffer[reader.range]))
            return
        }
        throw badRecord(
            bad.fault, width: layout.width, cell: nil, at: reader.location(of: bad.at), isRagged: true)
    }

    func locate(_ position: UInt64, newline: UInt8) throws(FirnError) -> FirnError.Location {
        let receiver = rejects
        rejects = nil
        defer { rejects = receiver }
        try rewind()
        var before: UInt64 = 0
        while try append() {
            if before + UInt64(out.count) > position { return reader.location(of: source(of: Int(position - before))) }
            before += UInt64(out.count)
            out.removeAll(keepingCapacity: true)
        }
        return FirnError.Location(file: input.name, line: reader.line)
    }

    /// The position in the record of the cell that contains a position in the row that was appended last.
    private func source(of position: Int) -> Int {
        var column = 0, inQuotes = false
        for byte in out.prefix(position) {
            if byte == marks.quote { inQuotes.toggle() } else if byte == marks.delimiter, !inQuotes { column += 1 }
        }
        guard column < reader.scan.cells.count else { return reader.scan.contentEnd }
        return reader.scan.cells[column].start - (reader.scan.cells[column].isQuoted ? 1 : 0)
    }

    func invalid(at offset: UInt64, newline: UInt8) throws(FirnError) -> FirnError {
        FirnError(.rejected, "text is not UTF-8", at: try locate(offset, newline: newline), advice: CSVText.encodingAdvice)
    }
}

extension CSVMarks {
    /// Appends a cell to a row in this notation.
    fileprivate func append(_ cell: CSVCellRange, _ scan: CSVRecordScan, of text: [UInt8], to out: inout [UInt8]) {
        let bytes = text[cell.start..<cell.end]
        let needsQuotes = bytes.contains { $0 == delimiter || $0 == quote || $0 == 10 || $0 == 13 }
        if !cell.isQuoted, !cell.hasEscapes, !needsQuotes { return out.append(contentsOf: bytes) }
        out.append(quote)
        if needsQuotes || cell.hasEscapes {
            let start = out.count
            scan.append(cell, of: text, to: &out)
            if let first = out[start...].firstIndex(of: quote) { doubleQuotes(from: first, in: &out) }
        } else {
            out.append(contentsOf: bytes)
        }
        out.append(quote)
    }

    /// Doubles the quotes at the end of `out`, the first of which is at `first`.
    private func doubleQuotes(from first: Int, in out: inout [UInt8]) {
        let cell = Array(out[first...])
        out.removeLast(cell.count)
        for byte in cell {
            out.append(byte)
            if byte == quote { out.append(byte) }
        }
    }
}
