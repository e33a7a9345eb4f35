/// What is wrong with a record.
enum CSVFault: Equatable, Sendable {
    case tooFew(Int)
    case tooMany(Int)
    case afterQuote
    case unclosedQuote
    /// A cell that does not fit the requested type.
    case cell(column: Int)
}

/// A rejected record: its bytes (with the line end) and the position of the error.
struct CSVBadRecord: Sendable {
    var range: Range<Int>
    var offset: Int
    var fault: CSVFault
}

/// The positions of the cells of some records of a block: `cells[row * width + column]` has the start in its low 32 bits and the end in its
/// high ones. Bit 31 is set if the cell was quoted. Then start and end are those of the text within the quotes, in which doubled quotes
/// have been made single.
final class CSVIndex {
    static let quotedBit: UInt64 = 1 << 31
    static let startMask: UInt64 = (1 << 31) - 1

    let width: Int
    let capacity: Int
    let cells: UnsafeMutablePointer<UInt64>
    /// The start and the end of each record (with its line end), two numbers for each row.
    let extents: UnsafeMutablePointer<Int>
    private(set) var rows = 0
    private(set) var bad: [CSVBadRecord] = []
    private(set) var blankLines = 0
    private(set) var carriageReturns = 0
    /// The number of records whose line end is the newline byte alone.
    private(set) var bareNewlines = 0
    private(set) var endsOpen = false
    /// The number of quotes within unquoted cells.
    private(set) var bareQuotes = 0

    init(width: Int) {
        self.width = width
        // Its cells fit into a core's cache. With many columns they are more, because each visit to a column takes time of its own.
        capacity = max(1, min(2048, 32_768 / max(width, 1)), min(16, (1 << 18) / max(width, 1)))
        cells = .allocate(capacity: capacity * max(width, 1))
        extents = .allocate(capacity: capacity * 2)
    }

    deinit {
        cells.deallocate()
        extents.deallocate()
    }

    /// Whether all cells of the last record but its first one are empty.
    var endsPadded: Bool {
        guard rows > 0, width > 1 else { return false }
        return (1..<width).allSatisfy { i in
            let cell = cells[(rows - 1) * width + i]
            return cell & CSVIndex.quotedBit == 0 && cell & CSVIndex.startMask == cell >> 32
        }
    }

    /// Removes a row in which the cell of `column` does not fit.
    func drop(row: Int, column: Int) {
        let offset = Int(cells[row * width + column] & CSVIndex.startMask)
        bad.append(CSVBadRecord(range: extents[row * 2]..<extents[row * 2 + 1], offset: offset, fault: .cell(column: column)))
        let behind = rows - 1 - row
        (cells + row * width).update(from: cells + (row + 1) * width, count: behind * width)
        (extents + row * 2).update(from: extents + (row + 1) * 2, count: behind * 2)
        rows -= 1
    }

    /// Fills the index with the records from `start` on, and returns the start of the first record after them. Doubled quotes become single
    /// in the text itself.
    func fill(_ memory: UnsafeMutablePointer<UInt8>, from start: Int, to end: Int, marks: CSVMarks) -> Int {
        let delimiter = marks.delimiter, quote = marks.quote, newline = marks.newline
        // A local variable, because each access to a stored property of a class, or to a variable shared with a local function, is checked
        // for exclusivity.
        var filling = CSVFilling(memory, self, marks, start: start, end: end), at = start

        outer: while at < end {
            var hits = marks64(memory + at, delimiter, quote, newline)
            if end &- at < 64 { hits &= (1 &<< UInt64(truncatingIfNeeded: end &- at)) &- 1 }
            while hits != 0 {
                let position = at &+ hits.trailingZeroBitCount
                hits &= hits &- 1
                let byte = memory[position]
                if byte == delimiter {
                    filling.note(filling.fieldStart, position, 0)
                    filling.fieldStart = position &+ 1
                } else if byte == newline {
                    if !filling.endLine(position) { break outer }
                } else if position == filling.fieldStart {
                    at = filling.quotedCell(position)
                    if filling.isFull { break outer }
                    continue outer
                } else {
                    filling.strayQuotes &+= 1
                }
            }
            at = min(at &+ 64, end)
        }
        filling.endText()
        rows = filling.row
        bad = filling.refused
        blankLines &+= filling.blankLines
        carriageReturns &+= filling.returns
        bareNewlines &+= filling.bareNewlines
        bareQuotes &+= filling.strayQuotes
        endsOpen = endsOpen || filling.isOpen
        return filling.recordStart
    }

    /// Replaces doubled quotes by single ones in the quoted cells of a record.
    fileprivate static func unescape(
        _ memory: UnsafeMutablePointer<UInt8>, _ cells: UnsafeMutablePointer<UInt64>, _ width: Int, _ quote: UInt8
    ) {
        for column in 0..<width where cells[column] & CSVIndex.quotedBit != 0 {
            let start = Int(cells[column] & CSVIndex.startMask), end = Int(cells[column] &>> 32)
            var from = start, to = start
            while from < end {
                let byte = memory[from]
                memory[to] = byte
                to &+= 1
                from &+= byte == quote ? 2 : 1
            }
            cells[column] = UInt64(start) | CSVIndex.quotedBit | UInt64(to) &<< 32
        }
    }
}

/// The state of a scan that fills an index.
private struct CSVFilling {
    let memory: UnsafeMutablePointer<UInt8>
    let cells: UnsafeMutablePointer<UInt64>
    let extents: UnsafeMutablePointer<Int>
    let width: Int
    let capacity: Int
    let marks: CSVMarks
    let end: Int
    /// The cells of the current record.
    var out: UnsafeMutablePointer<UInt64>
    var row = 0, column = 0
    var recordStart: Int, fieldStart: Int
    var rowEscapes = false
    var fault: CSVBadRecord?
    var refused: [CSVBadRecord] = []
    var blankLines = 0, returns = 0, bareNewlines = 0, strayQuotes = 0
    /// Whether the text ends without a line end.
    var isOpen = false

    init(_ memory: UnsafeMutablePointer<UInt8>, _ index: CSVIndex, _ marks: CSVMarks, start: Int, end: Int) {
        self.memory = memory
        cells = index.cells
        extents = index.extents
        width = index.width
        capacity = index.capacity
        self.marks = marks
        self.end = end
        out = index.cells
        recordStart = start
        fieldStart = start
    }

    @inline(__always)
    mutating func note(_ from: Int, _ to: Int, _ flags: UInt64) {
        if column < width { out[column] = UInt64(truncatingIfNeeded: from) | flags | UInt64(truncatingIfNeeded: to) &<< 32 }
        column &+= 1
    }

    /// Ends the record at the line end whose last byte is at `position`. Returns false if the index is full.
    @inline(__always)
    mutating func endLine(_ position: Int) -> Bool {
        var lineEnd = position
        if marks.newline == 10 {
            if position > fieldStart, memory[position &- 1] == 13 {
                returns &+= 1
                lineEnd = position &- 1
            } else {
                bareNewlines &+= 1
            }
        }
        note(fieldStart, lineEnd, 0)
        return endRecord(position &+ 1, lineEnd)
    }

    /// Notes the quoted cell that begins at `position`, and the end of the record after it. Returns where the scan continues. Then the index
    /// can be full.
    @inline(__always)
    mutating func quotedCell(_ position: Int) -> Int {
        // Find its closing quote, then the delimiter or line end after it.
        let quote = marks.quote, newline = marks.newline
        var close = find(quote, memory, position &+ 1, end), escapes = false
        while close &+ 1 < end, memory[close &+ 1] == quote {
            escapes = true
            close = find(quote, memory, close &+ 2, end)
        }
        if close >= end {
            fault = fault ?? CSVBadRecord(range: 0..<0, offset: position, fault: .unclosedQuote)
            note(position &+ 1, end, CSVIndex.quotedBit)
            _ = endRecord(end, end)
            return end
        }
        note(position &+ 1, close, CSVIndex.quotedBit)
        // Only rows with doubled quotes are unescaped.
        if escapes { rowEscapes = true }
        var next = close &+ 1
        if next < end, memory[next] != marks.delimiter, memory[next] != newline,
            !(memory[next] == 13 && newline == 10 && next &+ 1 < end && memory[next &+ 1] == 10)
        {
            fault = fault ?? CSVBadRecord(range: 0..<0, offset: next, fault: .afterQuote)
            while next < end, memory[next] != marks.delimiter, memory[next] != newline { next &+= 1 }
        }
        if next >= end {
            isOpen = true
            _ = endRecord(end, end)
            return end
        }
        if memory[next] == marks.delimiter {
            fieldStart = next &+ 1
            // If the text ends with a delimiter, an empty cell follows.
            return next &+ 1
        }
        if memory[next] == 13, newline == 10 {
            returns &+= 1
            next &+= 1
        } else if newline == 10 {
            bareNewlines &+= 1
        }
        _ = endRecord(next &+ 1, next)
        return next &+ 1
    }

    /// Ends the last record if the text ends without a line end.
    mutating func endText() {
        guard !isFull, recordStart < end else { return }
        note(fieldStart, end, 0)
        isOpen = true
        _ = endRecord(end, end)
    }

    var isFull: Bool {
        @inline(__always) get { row >= capacity }
    }

    /// Ends the record after its last cell; `next` is the start of the next one. Returns false if the index is full.
    @inline(__always)
    mutating func endRecord(_ next: Int, _ lineEnd: Int) -> Bool {
        if column == width, fault == nil {
            if rowEscapes { CSVIndex.unescape(memory, out, width, marks.quote) }
            extents[row &* 2] = recordStart
            extents[row &* 2 &+ 1] = next
            row &+= 1
            out = cells + row &* width
        } else {
            passOver(next, lineEnd)
        }
        column = 0
        recordStart = next
        fieldStart = next
        rowEscapes = false
        return row < capacity
    }

    @inline(never)
    private mutating func passOver(_ next: Int, _ lineEnd: Int) {
        if column == 1, lineEnd == recordStart {
            blankLines &+= 1
        } else if let found = fault {
            refused.append(CSVBadRecord(range: recordStart..<next, offset: found.offset, fault: found.fault))
        } else {
            refused.append(
                CSVBadRecord(range: recordStart..<next, offset: lineEnd, fault: column < width ? .tooFew(column) : .tooMany(column)))
        }
        fault = nil
    }
}
