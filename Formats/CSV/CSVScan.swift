/// The characters that structure a CSV text.
struct CSVMarks: Equatable, Sendable {
    var delimiter: UInt8
    /// `noQuote`, a byte that valid UTF-8 never contains, means no quoting.
    var quote: UInt8
    var newline: UInt8

    static let noQuote: UInt8 = 0xFF
}

/// The number of bytes after the end of a block's text that may be read.
let scanSlack = 64

/// Sets bit i if byte i of the 64 at `memory` is one of the three.
@inline(__always)
func marks64(_ memory: UnsafePointer<UInt8>, _ a: UInt8, _ b: UInt8, _ c: UInt8) -> UInt64 {
    let a = Bytes16(repeating: a), b = Bytes16(repeating: b), c = Bytes16(repeating: c)
    @inline(__always)
    func marks16(_ at: Int) -> UInt64 {
        let bytes = Bytes16(memory + at)
        return UInt64(bytes.equal(a).or(bytes.equal(b)).or(bytes.equal(c)).mask) &<< UInt64(at)
    }
    return marks16(0) | marks16(16) | marks16(32) | marks16(48)
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
    /// Whether the text from the boundary on has a quote that is not closed yet.
    private(set) var inQuotes = false

    init(_ marks: CSVMarks) { self.marks = marks }

    /// Scans the bytes up to `end` until `limit` records have ended. `isLast` means that the text ends there.
    mutating func advance(_ memory: UnsafePointer<UInt8>, to end: Int, limit: Int, isLast: Bool) {
        let quote = marks.quote
        while at < end, records < limit {
            if inQuotes {
                let close = find(quote, memory, at, end)
                at = close
                if close == end { break }
                if close &+ 1 == end, !isLast { break }  // the next byte decides whether this quote is a closing one
                let isDoubled = close &+ 1 < end && memory[close &+ 1] == quote
                at = close &+ (isDoubled ? 2 : 1)
                inQuotes = isDoubled
            } else {
                endLines(memory, to: end, limit: limit)
            }
        }
    }

    /// Ends records at the newlines before the next quote or `end`, until `limit` records have ended.
    @inline(__always)
    private mutating func endLines(_ memory: UnsafePointer<UInt8>, to end: Int, limit: Int) {
        let newline = marks.newline, quote = marks.quote
        var at = at, records = records, boundary = boundary
        defer { (self.at, self.records, self.boundary) = (at, records, boundary) }
        while at < end {
            var lines = marks64(memory + at, newline, newline, newline), quotes = marks64(memory + at, quote, quote, quote)
            if end &- at < 64 {
                let inside: UInt64 = (1 &<< UInt64(truncatingIfNeeded: end &- at)) &- 1
                lines &= inside
                quotes &= inside
            }
            if quotes != 0 { lines &= (quotes & (0 &- quotes)) &- 1 }
            let count = lines.nonzeroBitCount
            if count > 0 {
                if count >= limit &- records {
                    while records &+ 1 < limit {
                        lines &= lines &- 1
                        records &+= 1
                    }
                    records = limit
                    boundary = at &+ lines.trailingZeroBitCount &+ 1
                    at = boundary
                    return
                }
                records &+= count
                boundary = at &+ 64 &- lines.leadingZeroBitCount
            }
            if quotes != 0 {
                let open = at &+ quotes.trailingZeroBitCount
                // A quote opens a cell that it begins.
                inQuotes = open == boundary || memory[open &- 1] == marks.delimiter
                at = open &+ 1
                return
            }
            at = min(at &+ 64, end)
        }
    }
}
