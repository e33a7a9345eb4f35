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
                continue
            }
            // Up to the next quote, every newline ends a record.
            let open = find(quote, memory, at, end)
            countLines(memory, to: open, limit: limit)
            guard records < limit, open < end else { break }
            // A quote opens a cell that it begins.
            inQuotes = open == boundary || memory[open &- 1] == marks.delimiter
            at = open &+ 1
        }
    }

    /// Ends records at the newlines before `end`, which has no quote before it, until `limit` records have ended.
    @inline(__always)
    private mutating func countLines(_ memory: UnsafePointer<UInt8>, to end: Int, limit: Int) {
        let newline = marks.newline
        var at = at, records = records, boundary = boundary
        while at < end {
            var hits = marks64(memory + at, newline, newline, newline)
            if end &- at < 64 { hits &= (1 &<< UInt64(truncatingIfNeeded: end &- at)) &- 1 }
            let count = hits.nonzeroBitCount
            if count > 0 {
                if count >= limit &- records {
                    while records &+ 1 < limit {
                        hits &= hits &- 1
                        records &+= 1
                    }
                    records = limit
                    boundary = at &+ hits.trailingZeroBitCount &+ 1
                    at = boundary
                    break
                }
                records &+= count
                boundary = at &+ 64 &- hits.leadingZeroBitCount
            }
            at = min(at &+ 64, end)
        }
        (self.at, self.records, self.boundary) = (at, records, boundary)
    }
}
