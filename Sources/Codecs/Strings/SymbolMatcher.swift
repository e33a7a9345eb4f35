import FirnBytes

/// Finds the longest symbol that a string begins with.
///
/// Symbols of two bytes or more are in one open-addressing table, by length and bytes. A filter over the first bytes returns the lengths
/// that can occur at all, so few probes are needed. Single bytes are always symbols 0 … 255.
struct SymbolMatcher {
    private struct Entry {
        var low: UInt64 = 0, high: UInt64 = 0
        var length: UInt8 = 0
        var code: UInt16 = 0
    }
    private var entries: [Entry]
    /// The lengths (bit L - 1) of the symbols of four bytes or more, by a hash of the first four bytes.
    private var longFilter: [UInt16]
    /// The lengths two and three, by the first two bytes.
    private var shortFilter: [UInt8]
    let table: SymbolTable

    /// The places of `entries`, as the number of bits of a hash that are not used: four for each symbol, so that few share one and the table
    /// stays in the cache of a processor.
    private let slotShift: UInt64
    private static let filterBits: UInt64 = 14

    init(_ table: SymbolTable) {
        self.table = table
        let slotBits = max(10, bitWidth(UInt64(table.count)) + 2)
        slotShift = UInt64(64 - slotBits)
        entries = [Entry](repeating: Entry(), count: 1 << slotBits)
        longFilter = [UInt16](repeating: 0, count: 1 << Self.filterBits)
        shortFilter = [UInt8](repeating: 0, count: 1 << 16)
        for code in 0..<table.count where table.lengths[code] > 1 {
            let words = unsafeBitCast(table.slots[code], to: SIMD2<UInt64>.self)
            let length = table.lengths[code]
            if length >= 4 {
                longFilter[Self.filter(words[0])] |= 1 << UInt16(length - 1)
            } else {
                shortFilter[Int(words[0] & 0xFFFF)] |= 1 << (length - 1)
            }
            var at = Self.slot(words[0], words[1], Int(length), shift: slotShift)
            while entries[at].length != 0 { at = (at + 1) & (entries.count - 1) }
            entries[at] = Entry(low: words[0], high: words[1], length: length, code: UInt16(code))
        }
    }

    @inline(__always)
    private static func filter(_ low: UInt64) -> Int {
        Int(truncatingIfNeeded: ((low & 0xFFFF_FFFF) &* 0x9E37_79B9_7F4A_7C15) >> (64 &- filterBits))
    }

    @inline(__always)
    private static func slot(_ low: UInt64, _ high: UInt64, _ length: Int, shift: UInt64) -> Int {
        var hash = (low ^ UInt64(truncatingIfNeeded: length)) &* 0x9E37_79B9_7F4A_7C15
        hash = (hash ^ hash >> 32 ^ high) &* 0xC2B2_AE3D_27D4_EB4F
        return Int(truncatingIfNeeded: hash &>> shift)
    }

    /// Calls `body` with each code of the string at `start ..< end`. Sixteen bytes after `end` must be readable.
    @inline(__always)
    func parse(_ bytes: UnsafeRawPointer, _ start: Int, _ end: Int, _ body: (Int) -> Void) {
        let shift = slotShift
        entries.withUnsafeBufferPointer { entries in
            longFilter.withUnsafeBufferPointer { longFilter in
                shortFilter.withUnsafeBufferPointer { shortFilter in
                    var at = start
                    while at < end {
                        let (code, length) = Self.longest(bytes + at, end &- at, entries, shift, longFilter, shortFilter)
                        body(code)
                        at &+= length
                    }
                }
            }
        }
    }

    /// Calls `body` with each code of some strings, and `end` after each string. `padded` are the bytes of `text` and 16 more.
    @inline(__always)
    func parse(_ text: Text, _ padded: [UInt8], rows: Range<Int>, _ body: (Int) -> Void, end: () -> Void = {}) {
        padded.withUnsafeBytes { bytes in
            for row in rows {
                parse(bytes.baseAddress!, text.offsets[row], text.offsets[row &+ 1], body)
                end()
            }
        }
    }

    @inline(__always)
    private static func longest(
        _ p: UnsafeRawPointer, _ rest: Int, _ entries: UnsafeBufferPointer<Entry>, _ shift: UInt64,
        _ longFilter: UnsafeBufferPointer<UInt16>, _ shortFilter: UnsafeBufferPointer<UInt8>
    ) -> (Int, Int) {
        let low = UInt64(littleEndian: p.loadUnaligned(as: UInt64.self))
        let high = UInt64(littleEndian: (p + 8).loadUnaligned(as: UInt64.self))
        var lengths = UInt32(longFilter[filter(low)]) | UInt32(shortFilter[Int(low & 0xFFFF)])
        if rest < 16 { lengths &= (1 << UInt32(truncatingIfNeeded: rest)) &- 1 }
        while lengths != 0 {
            let top = 31 &- lengths.leadingZeroBitCount
            lengths &= ~(1 << UInt32(truncatingIfNeeded: top))
            let length = top &+ 1
            let a = length >= 8 ? low : low & ((1 &<< UInt64(truncatingIfNeeded: length &* 8)) &- 1)
            let b = length <= 8 ? 0 : length == 16 ? high : high & ((1 &<< UInt64(truncatingIfNeeded: (length &- 8) &* 8)) &- 1)
            var at = slot(a, b, length, shift: shift)
            while true {
                let entry = entries[at]
                if entry.length == 0 { break }
                if entry.low == a, entry.high == b, Int(entry.length) == length { return (Int(entry.code), length) }
                at = (at &+ 1) & (entries.count &- 1)
            }
        }
        return (Int(low & 0xFF), 1)
    }
}
