/// A complete record of two or more cells in which nothing is unusual: each quote opens or closes a whole cell or is doubled, there is no
/// escape, and at least two cells are not empty.
struct CSVPlainRecord {
    fileprivate let memory: UnsafePointer<UInt8>
    let start: Int
    /// The end of the record before its line end, and the start of the next record.
    fileprivate(set) var contentEnd = 0, next = 0
    fileprivate(set) var cells = 1, quotedCells = 0
    /// The number of cells up to the last one that is not empty.
    fileprivate(set) var filled = 0
    /// The number of line feeds within cells.
    fileprivate(set) var lineFeeds = 0
    /// The offset of the record in the text, and the number of its line, from 1.
    fileprivate(set) var offset: UInt64 = 0, line = 0

    var lineEnd: CSVRecordScan.LineEnd {
        @inline(__always) get { next &- contentEnd == 1 ? .feed : .returnFeed }
    }

    /// The content without its last `count` bytes.
    @inline(__always)
    func bytes(without count: Int) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: memory + start, count: contentEnd - count - start)
    }

    fileprivate init(_ memory: UnsafePointer<UInt8>, _ start: Int) {
        self.memory = memory
        self.start = start
    }
}

/// Finds the ends of plain records without noting their cells, several times as fast as `CSVRecordScan`, which reads the others.
struct CSVPlainScan {
    private let delimiter: UInt8, quote: UInt8, escape: UInt8, comment: Int
    private let isQuoting: Bool

    /// Nil if no record of this form is plain.
    init?(_ form: CSVForm) {
        guard form.delimiter.count == 1, form.endsAtFeeds, form.footerLines == 0 else { return nil }
        delimiter = form.delimiter[0]
        // Without quotes, the text that the normaliser makes has quotes around cells that contain one.
        quote = form.marks(isNormalised: true).quote
        escape = form.escape ?? quote
        comment = form.comment.first.map(Int.init) ?? -1
        isQuoting = form.quote != nil
    }

    /// Returns the record at `start`; nil if it is not plain, not complete before `end`, or ends within the last 64 bytes of the buffer of
    /// `capacity` bytes.
    @inline(__always)
    func record(_ memory: UnsafePointer<UInt8>, from start: Int, to end: Int, capacity: Int) -> CSVPlainRecord? {
        guard start < end, Int(memory[start]) != comment else { return nil }
        var found = CSVPlainRecord(memory, start), at = start
        while at < end, at &+ scanSlack <= capacity {
            var delimiters = marks64(memory + at, delimiter, delimiter, delimiter)
            var stops = marks64(memory + at, 10, 13, quote)
            if escape != quote { stops |= marks64(memory + at, escape, escape, escape) }
            if end &- at < 64 {
                let inside: UInt64 = (1 &<< UInt64(truncatingIfNeeded: end &- at)) &- 1
                delimiters &= inside
                stops &= inside
            }
            guard stops != 0 else {
                found.cells &+= delimiters.nonzeroBitCount
                at &+= 64
                continue
            }
            found.cells &+= (delimiters & ((stops & (0 &- stops)) &- 1)).nonzeroBitCount
            let stop = at &+ stops.trailingZeroBitCount
            guard memory[stop] == quote else { return endLine(found, stop, end) }
            guard isQuoting, stop == start || memory[stop &- 1] == delimiter, let after = closing(&found, stop, to: end, capacity: capacity)
            else {
                return nil
            }
            guard memory[after] == delimiter else { return endLine(found, after, end) }
            found.cells &+= 1
            at = after &+ 1
        }
        return nil
    }

    /// Passes over the cell whose quote is at `open`, and returns the position after its closing quote.
    @inline(__always)
    private func closing(_ found: inout CSVPlainRecord, _ open: Int, to end: Int, capacity: Int) -> Int? {
        var at = open &+ 1
        while at < end, at &+ scanSlack <= capacity {
            let memory = found.memory + at
            var quotes = marks64(memory, quote, escape, escape), feeds = marks64(memory, 10, 10, 10)
            if end &- at < 64 { quotes &= (1 &<< UInt64(truncatingIfNeeded: end &- at)) &- 1 }
            guard quotes != 0 else {
                if end &- at < 64 { return nil }
                found.lineFeeds &+= feeds.nonzeroBitCount
                at &+= 64
                continue
            }
            feeds &= (quotes & (0 &- quotes)) &- 1
            found.lineFeeds &+= feeds.nonzeroBitCount
            let close = at &+ quotes.trailingZeroBitCount
            guard close &+ 1 < end, found.memory[close] == quote else { return nil }
            if found.memory[close &+ 1] != quote {
                found.quotedCells &+= 1
                return close &+ 1
            }
            guard escape == quote else { return nil }
            at = close &+ 2
        }
        return nil
    }

    /// Returns the record with the line end at a position, if there is one.
    @inline(__always)
    private func endLine(_ record: CSVPlainRecord, _ position: Int, _ end: Int) -> CSVPlainRecord? {
        var found = record
        let memory = found.memory
        if memory[position] == 10 {
            found.next = position &+ 1
        } else {
            guard memory[position] == 13, position &+ 1 < end, memory[position &+ 1] == 10 else { return nil }
            found.next = position &+ 2
        }
        found.contentEnd = position
        var last = position
        while last > found.start, memory[last &- 1] == delimiter { last &-= 1 }
        found.filled = found.cells &- (position &- last)
        return found.filled < 2 ? nil : found
    }
}

extension CSVRecordReader {
    /// Passes over the plain records that follow in the buffer while `take` returns true; the first one for which it returns false is not
    /// passed over. Afterwards no record is the current one. Records that may be marks are not plain.
    @inline(__always)
    func passPlain(_ take: (CSVPlainRecord) -> Bool) {
        guard let plain = startPlain() else { return }
        let (scan, header, start, filled, firstOffset, firstLine) = plain
        var at = start, line = firstLine
        buffer.withUnsafeBufferPointer { bytes in
            guard let memory = bytes.baseAddress else { return }
            while var record = scan.record(memory, from: at, to: filled, capacity: bytes.count) {
                let first = memory[at]
                if first == header[0] || first == 12 {
                    let from = first == 12 ? at &+ 1 : at
                    if record.contentEnd &- from == header.count,
                        UnsafeBufferPointer(start: memory + from, count: header.count).elementsEqual(header)
                    {
                        return
                    }
                } else if first == UInt8(ascii: "+"), memory[at &+ 1] == UInt8(ascii: "-") {
                    return
                }
                record.offset = firstOffset &+ UInt64(at &- start)
                record.line = line
                guard take(record) else { return }
                at = record.next
                line &+= 1 &+ record.lineFeeds
            }
        }
        endPlain(at, line: line)
    }
}
