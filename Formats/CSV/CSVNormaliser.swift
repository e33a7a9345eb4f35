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
    /// Whether a record of the right number of cells without oddities is a row as it is.
    private let keepsRecords: Bool
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
    private static let maximumLeftOut = 1 << 16

    var input: Input { text.input }

    private static let piece = 1 << 18

    init(_ text: CSVText, _ layout: CSVLayout, leavesOut: Bool) throws(FirnError) {
        self.leavesOut = leavesOut
        self.text = text
        self.layout = layout
        let form = layout.form
        marks = form.marks
        keepsRecords = form.delimiter == [marks.delimiter] && form.escape == nil && (form.quote == nil || form.quote == marks.quote)
        try text.rewind()
        reader = try CSVRecordReader(text, layout.form)
    }

    func rewind() throws(FirnError) {
        try text.rewind()
        reader = try CSVRecordReader(text, layout.form)
        out.removeAll(keepingCapacity: true)
        (outAt, started, ended, rejected) = (0, false, false, 0)
        (leftOut, rows) = ([], 0)
    }

    func read(into memory: UnsafeMutableRawBufferPointer) throws(FirnError) -> Int {
        var done = 0
        while done < memory.count {
            if outAt == out.count {
                out.removeAll(keepingCapacity: true)
                outAt = 0
                while out.count < CSVNormaliser.piece, try append() {}
                if out.isEmpty { break }
            }
            let count = min(memory.count - done, out.count - outAt)
            UnsafeMutableRawBufferPointer(rebasing: memory[done...]).copyBytes(from: out[outAt..<(outAt + count)])
            done += count
            outAt += count
        }
        return done
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
        for column in 0..<layout.width {
            if column > 0 { out.append(marks.delimiter) }
            if scan.cells.indices.contains(column - skipped) { append(scan.cells[column - skipped]) }
        }
        out.append(10)
        return true
    }

    private func append(_ cell: CSVCellRange) {
        let text = reader.buffer
        if !cell.isQuoted, !cell.hasEscapes, !needsQuotes(text[cell.start..<cell.end]) {
            return out.append(contentsOf: text[cell.start..<cell.end])
        }
        out.append(marks.quote)
        let start = out.count
        reader.scan.append(cell, of: text, to: &out)
        var at = start
        while at < out.count {
            if out[at] == marks.quote { return double(from: start, at) }
            at += 1
        }
        out.append(marks.quote)
    }

    /// Doubles the quotes of the cell at the end of `out`, the first of which is at `first`, and ends the cell.
    private func double(from start: Int, _ first: Int) {
        let cell = Array(out[first...])
        out.removeLast(cell.count)
        for byte in cell {
            out.append(byte)
            if byte == marks.quote { out.append(byte) }
        }
        out.append(marks.quote)
    }

    private func needsQuotes(_ cell: ArraySlice<UInt8>) -> Bool {
        for byte in cell where byte == marks.delimiter || byte == marks.quote || byte == 10 || byte == 13 { return true }
        return false
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
