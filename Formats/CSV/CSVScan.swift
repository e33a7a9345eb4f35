/// The characters that structure a CSV text.
struct CSVMarks: Sendable {
    var delimiter: UInt8
    /// `noQuote`, a byte that valid UTF-8 never contains, means no quoting.
    var quote: UInt8
    var newline: UInt8

    static let noQuote: UInt8 = 0xFF
}

/// The number of bytes after the end of a block's text that may be read.
let scanSlack = 64

/// Sets bit i if byte i of the 64 at `memory` is one of the three. It uses whole words because the vector comparisons of the standard
/// library are many times slower.
@inline(__always)
func marks64(_ memory: UnsafePointer<UInt8>, _ a: UInt8, _ b: UInt8, _ c: UInt8) -> UInt64 {
    let raw = UnsafeRawPointer(memory)
    let spread: UInt64 = 0x0101_0101_0101_0101
    let a = SIMD2(repeating: UInt64(a) &* spread), b = SIMD2(repeating: UInt64(b) &* spread), c = SIMD2(repeating: UInt64(c) &* spread)
    return marks16(raw, a, b, c) | marks16(raw + 16, a, b, c) &<< 16 | marks16(raw + 32, a, b, c) &<< 32 | marks16(raw + 48, a, b, c) &<< 48
}

@inline(__always)
private func marks16(_ memory: UnsafeRawPointer, _ a: SIMD2<UInt64>, _ b: SIMD2<UInt64>, _ c: SIMD2<UInt64>) -> UInt64 {
    let bytes = memory.loadUnaligned(as: SIMD2<UInt64>.self)
    // A byte of x is zero where it equals the mark. Adding 0x7F to the low bits sets the top bit of all other bytes, without a carry.
    let low = SIMD2<UInt64>(repeating: 0x7F7F_7F7F_7F7F_7F7F)
    let x = bytes ^ a, y = bytes ^ b, z = bytes ^ c
    let others = (((x & low) &+ low) | x) & (((y & low) &+ low) | y) & (((z & low) &+ low) | z)
    let hits = ~(others | low)
    // The product collects the top bits of eight bytes in its top byte.
    let gather: UInt64 = 0x0102_0408_1020_4080
    return ((hits[0] &>> 7) &* gather) &>> 56 | (((hits[1] &>> 7) &* gather) &>> 56) &<< 8
}

/// Returns the first position of `byte` in `from ..< to`, or `to`.
@inline(__always)
func find(_ byte: UInt8, _ memory: UnsafePointer<UInt8>, _ from: Int, _ to: Int) -> Int {
    var at = from
    while at < to {
        let hits = marks64(memory + at, byte, byte, byte)
        if hits != 0 { return min(at &+ hits.trailingZeroBitCount, to) }
        at &+= 64
    }
    return to
}

/// Finds the ends of records. It continues where it stopped when more text has been appended.
struct CSVRecordFinder {
    let marks: CSVMarks
    /// The number of records that have ended so far.
    private(set) var records = 0
    /// The position after the last record that has ended.
    private(set) var boundary = 0
    private var at = 0
    private var fieldStart = 0
    private var inQuotes = false

    init(_ marks: CSVMarks) { self.marks = marks }

    /// Scans the bytes up to `end` until `limit` records have ended. `isLast` means that the text ends there.
    mutating func advance(_ memory: UnsafePointer<UInt8>, to end: Int, limit: Int, isLast: Bool) {
        let marks = marks
        var at = at, fieldStart = fieldStart, inQuotes = inQuotes, records = records, boundary = boundary
        defer { (self.at, self.fieldStart, self.inQuotes, self.records, self.boundary) = (at, fieldStart, inQuotes, records, boundary) }
        outer: while at < end, records < limit {
            if inQuotes {
                at = find(marks.quote, memory, at, end)
                if at == end { break }
                if at &+ 1 == end, !isLast { break }  // the next byte decides whether this quote is a closing one
                if at &+ 1 < end, memory[at &+ 1] == marks.quote { at &+= 2 } else { (at, inQuotes) = (at &+ 1, false) }
                // A field does not start after a closing quote.
                if !inQuotes { fieldStart = -1 }
                continue
            }
            var hits = marks64(memory + at, marks.delimiter, marks.quote, marks.newline)
            if end &- at < 64 { hits &= (1 &<< UInt64(truncatingIfNeeded: end &- at)) &- 1 }
            while hits != 0 {
                let position = at &+ hits.trailingZeroBitCount
                hits &= hits &- 1
                let byte = memory[position]
                if byte == marks.newline {
                    records &+= 1
                    boundary = position &+ 1
                    fieldStart = position &+ 1
                    if records >= limit {
                        at = boundary
                        break outer
                    }
                } else if byte == marks.delimiter {
                    fieldStart = position &+ 1
                } else if position == fieldStart {
                    inQuotes = true
                    at = position &+ 1
                    continue outer
                }
            }
            at = min(at &+ 64, end)
        }
    }
}

/// What is wrong with a record.
enum CSVFault: Sendable {
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
        capacity = max(1, min(2048, 32_768 / max(width, 1)))
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
        let capacity = capacity, delimiter = marks.delimiter, quote = marks.quote, newline = marks.newline
        // Local variables, because each access to a stored property of a class, or to a variable shared with a local function, is checked
        // for exclusivity.
        var returns = 0, bare = 0, stray = 0, isOpen = false, at = start
        var filling = CSVFilling(memory, self, quote: quote, start: start)

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
                    var lineEnd = position
                    if newline == 10 {
                        if position > filling.fieldStart, memory[position &- 1] == 13 {
                            returns &+= 1
                            lineEnd = position &- 1
                        } else {
                            bare &+= 1
                        }
                    }
                    filling.note(filling.fieldStart, lineEnd, 0)
                    if !filling.endRecord(position &+ 1, lineEnd) { break outer }
                } else if position == filling.fieldStart {
                    // A quoted cell: find its closing quote, then the delimiter or line end after it.
                    var close = find(quote, memory, position &+ 1, end), escapes = false
                    while close &+ 1 < end, memory[close &+ 1] == quote {
                        escapes = true
                        close = find(quote, memory, close &+ 2, end)
                    }
                    if close >= end {
                        filling.fault = filling.fault ?? CSVBadRecord(range: 0..<0, offset: position, fault: .unclosedQuote)
                        filling.note(position &+ 1, end, CSVIndex.quotedBit)
                        _ = filling.endRecord(end, end)
                        at = end
                        break outer
                    }
                    filling.note(position &+ 1, close, CSVIndex.quotedBit)
                    // Only rows with doubled quotes are unescaped.
                    if escapes { filling.rowEscapes = true }
                    var next = close &+ 1
                    if next < end, memory[next] != delimiter, memory[next] != newline,
                        !(memory[next] == 13 && newline == 10 && next &+ 1 < end && memory[next &+ 1] == 10)
                    {
                        filling.fault = filling.fault ?? CSVBadRecord(range: 0..<0, offset: next, fault: .afterQuote)
                        while next < end, memory[next] != delimiter, memory[next] != newline { next &+= 1 }
                    }
                    if next >= end {
                        isOpen = true
                        _ = filling.endRecord(end, end)
                        at = end
                        break outer
                    }
                    if memory[next] == delimiter {
                        filling.fieldStart = next &+ 1
                        at = next &+ 1
                        // If the text ends with a delimiter, an empty cell follows.
                        continue outer
                    }
                    if memory[next] == 13, newline == 10 {
                        returns &+= 1
                        next &+= 1
                    } else if newline == 10 {
                        bare &+= 1
                    }
                    at = next &+ 1
                    if !filling.endRecord(next &+ 1, next) { break outer }
                    continue outer
                } else {
                    stray &+= 1
                }
            }
            at = min(at &+ 64, end)
        }
        if filling.row < capacity, filling.recordStart < end {
            // The text ends without a line end.
            filling.note(filling.fieldStart, end, 0)
            isOpen = true
            _ = filling.endRecord(end, end)
        }
        rows = filling.row
        bad = filling.refused
        blankLines &+= filling.blankLines
        carriageReturns &+= returns
        bareNewlines &+= bare
        bareQuotes &+= stray
        endsOpen = endsOpen || isOpen
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
    let quote: UInt8
    /// The cells of the current record.
    var out: UnsafeMutablePointer<UInt64>
    var row = 0, column = 0
    var recordStart: Int, fieldStart: Int
    var rowEscapes = false
    var fault: CSVBadRecord?
    var refused: [CSVBadRecord] = []
    var blankLines = 0

    init(_ memory: UnsafeMutablePointer<UInt8>, _ index: CSVIndex, quote: UInt8, start: Int) {
        self.memory = memory
        cells = index.cells
        extents = index.extents
        width = index.width
        capacity = index.capacity
        self.quote = quote
        out = index.cells
        recordStart = start
        fieldStart = start
    }

    @inline(__always)
    mutating func note(_ from: Int, _ to: Int, _ flags: UInt64) {
        if column < width { out[column] = UInt64(truncatingIfNeeded: from) | flags | UInt64(truncatingIfNeeded: to) &<< 32 }
        column &+= 1
    }

    /// Ends the record after its last cell; `next` is the start of the next one. Returns false if the index is full.
    @inline(__always)
    mutating func endRecord(_ next: Int, _ lineEnd: Int) -> Bool {
        if column == width, fault == nil {
            if rowEscapes { CSVIndex.unescape(memory, out, width, quote) }
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
