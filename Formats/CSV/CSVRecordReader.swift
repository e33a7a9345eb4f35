import FirnBytes
import FirnExchange

/// Reads the records of a text in any form, one at a time, with their positions.
final class CSVRecordReader {
    enum Kind { case preamble, comment, mark, record }

    let text: CSVText
    let form: CSVForm
    private(set) var scan: CSVRecordScan
    private(set) var buffer: [UInt8]
    /// The kind of the current record, and the bytes of it within `buffer`, with its line end.
    private(set) var kind = Kind.record
    private(set) var range = 0..<0
    /// The offset of the current record in the text, and the number of its first line, from 1.
    private(set) var offset: UInt64 = 0
    private(set) var line = 1

    /// Whether the current record is no row if the form omits marks.
    private(set) var isMark = false
    /// The first record without its line end, and whether the current one is the first after it.
    private var header: [UInt8] = [], followsHeader = false

    private var filled = 0, isLast = false, lines = 0, preamble: Int
    private var charge: MemoryCharge
    private let plainScan: CSVPlainScan?

    private static let step = 1 << 18

    /// The text must be at its start.
    init(_ text: CSVText, _ form: CSVForm) throws(FirnError) {
        self.text = text
        self.form = form
        scan = CSVRecordScan(form)
        plainScan = CSVPlainScan(form)
        charge = MemoryCharge(text.input.budget)
        preamble = form.preambleLines
        buffer = [UInt8](repeating: 0, count: CSVRecordReader.step)
    }

    /// Returns what `passPlain` needs; nil if lines before the table, the header or the record after it come next.
    func startPlain() -> (scan: CSVPlainScan, header: [UInt8], start: Int, filled: Int, offset: UInt64, line: Int)? {
        guard let plainScan, preamble == 0, !header.isEmpty, !followsHeader else { return nil }
        return (plainScan, header, range.upperBound, filled, offset + UInt64(range.count), line + lines)
    }

    /// Ends `passPlain` before the record at a position, whose first line is `line`.
    func endPlain(_ position: Int, line next: Int) {
        offset += UInt64(position - range.lowerBound)
        range = position..<position
        (line, lines) = (next, 0)
    }

    /// Goes to the next record. Returns false at the end of the text.
    func next() throws(FirnError) -> Bool {
        offset += UInt64(range.count)
        line += lines
        let before = range.upperBound
        range = before..<before
        while true {
            let start = range.lowerBound
            if start < filled, preamble > 0 || isComment(start) {
                if let end = lineEnd(start) {
                    kind = preamble > 0 ? .preamble : .comment
                    preamble = max(preamble - 1, 0)
                    (range, lines) = (start..<end, 1)
                    return true
                }
            } else if start < filled || isLast {
                if start == filled { return false }
                if filled - start >= form.comment.count || isLast, scan.scan(buffer, from: start, to: filled, isLast: isLast) {
                    range = start..<scan.next
                    isMark = lookForMark(buffer[start..<scan.contentEnd])
                    kind = isMark && form.omitsMarks ? .mark : .record
                    lines = 1
                    for cell in scan.cells where cell.isQuoted { lines += lineFeeds(cell.start..<cell.end) }
                    if scan.cells.count > 1 << 12 { try text.input.noteCells(scan.cells.count) }
                    return true
                }
            }
            try fill()
        }
    }

    /// Whether a record is a repeated header, also after a form feed, a line of dashes next to the header or of a drawn frame, or a line of
    /// control characters.
    private func lookForMark(_ record: ArraySlice<UInt8>) -> Bool {
        guard let first = record.first else { return false }
        if CSVRecordReader.isRule(record), header.isEmpty || followsHeader || record.starts(with: "+-".utf8) { return true }
        followsHeader = header.isEmpty
        if header.isEmpty {
            header = Array(record)
            return false
        }
        if scan.cells.count == 1 { return record.allSatisfy { $0 < 32 && $0 != 9 } }
        return record.count <= header.count + 1 && (first == 12 ? record.dropFirst() : record).elementsEqual(header)
    }

    /// Whether a record consists of dashes, and of the marks between them.
    private static func isRule(_ record: ArraySlice<UInt8>) -> Bool {
        var dashes = 0, cells = 0
        for byte in record {
            switch byte {
            case UInt8(ascii: "-"), UInt8(ascii: "="): dashes += 1
            case UInt8(ascii: "+"), UInt8(ascii: "|"), UInt8(ascii: ","), UInt8(ascii: ";"), 9, 32: cells += 1
            case UInt8(ascii: ":"): break
            default: return false
            }
        }
        return dashes >= 3 && dashes >= 3 * cells
    }

    /// The current record without its line end.
    var content: ArraySlice<UInt8> { buffer[range.lowerBound..<scan.contentEnd] }

    /// The current record as text, with its line end; nil if it is not UTF-8.
    var recordText: String? { String(validating: buffer[range], as: UTF8.self) }

    /// The column of a position in the current record, in characters of its line, and the line.
    func location(of position: Int) -> FirnError.Location {
        var line = line, column = 1
        for at in range.lowerBound..<min(max(position, range.lowerBound), range.upperBound) {
            if buffer[at] == (form.endsAtFeeds ? 10 : 13) {
                (line, column) = (line + 1, 1)
            } else if buffer[at] & 0xC0 != 0x80 {
                column += 1
            }
        }
        return FirnError.Location(file: text.input.name, line: line, column: column)
    }

    private func isComment(_ start: Int) -> Bool {
        let comment = form.comment
        guard !comment.isEmpty, filled - start >= comment.count else { return false }
        return buffer[start..<(start + comment.count)].elementsEqual(comment)
    }

    private func lineFeeds(_ range: Range<Int>) -> Int {
        var count = 0
        for at in range where buffer[at] == (form.endsAtFeeds ? 10 : 13) { count += 1 }
        return count
    }

    /// Returns the position after the line at a position; nil if it is not complete yet.
    private func lineEnd(_ start: Int) -> Int? {
        var at = start
        while at < filled {
            let byte = buffer[at]
            if byte == 10 { return at + 1 }
            if byte == 13 {
                if at + 1 == filled, !isLast { return nil }
                let isPair = at + 1 < filled && buffer[at + 1] == 10
                if isPair { return at + 2 }
                if form.endsAtReturns { return at + 1 }
            }
            at += 1
        }
        return isLast ? filled : nil
    }

    /// Reads more of the text, after the bytes of the current record.
    private func fill() throws(FirnError) {
        let start = range.lowerBound, kept = filled - start
        if start > 0 {
            for i in 0..<kept { buffer[i] = buffer[start + i] }
            (filled, range) = (kept, 0..<0)
        }
        // A long record is scanned again from its start each time, so the memory is doubled.
        let wanted = max(kept * 2, CSVRecordReader.step)
        if wanted > buffer.count {
            if kept > CSVBlock.maximumBytes {
                throw FirnError(
                    .rejected, "a row is larger than 1 GiB", at: location(of: 0), advice: "check for a quote that is not closed there")
            }
            // Both buffers are in memory while the text is copied.
            let grown = MemoryCharge(text.input.budget)
            guard grown.take(wanted) else {
                throw FirnError.beyondMemory(
                    "a row of more than \(MemoryBudget.words(kept))", wanted, text.input.budget, at: location(of: 0))
            }
            buffer.reserveCapacity(wanted)
            buffer.append(contentsOf: repeatElement(0, count: wanted - buffer.count))
            charge = grown
        }
        let from = filled
        let got = try buffer.withMutableBytes { (bytes) throws(FirnError) in
            try text.read(into: UnsafeMutableRawBufferPointer(rebasing: bytes[from...]))
        }
        isLast = from + got < buffer.count
        filled += got
    }
}
