import FirnBytes

/// Bounds of the strings or byte strings of a run of values, in byte order (`docs/format/model.md`, "Bounds of text").
package struct TextBounds: Sendable, Equatable {
    /// No value is less. It can be cut to a prefix.
    package var low: [UInt8]
    /// No value is greater or, if `isCut`, greater than every byte string that begins with it.
    package var high: [UInt8]
    package var isCut: Bool
    /// Every row has a value, and no value is less than the one before it.
    package var ascends: Bool

    /// Stored bounds are cut `beyond` bytes after their common prefix, and have at most `most` bytes.
    package static let beyond = 24, most = 96

    package init(low: [UInt8], high: [UInt8], isCut: Bool = false, ascends: Bool = false) {
        self.low = low
        self.high = high
        self.isCut = isCut
        self.ascends = ascends
    }

    /// The same bounds with long ends cut.
    package var shortened: TextBounds {
        var shared = 0
        while shared < low.count, shared < high.count, low[shared] == high[shared] { shared += 1 }
        let limit = min(shared + TextBounds.beyond, TextBounds.most)
        var short = self
        if low.count > limit { short.low = Array(low[..<limit]) }
        if high.count > limit { (short.high, short.isCut) = (Array(high[..<limit]), true) }
        return short
    }

    /// Returns whether all values that the upper bound allows are less than `value`, and so than all longer strings that begin with it.
    package func isBelow(_ value: [UInt8]) -> Bool { isCut ? high.isBelow(value) && !value.starts(with: high) : high.isBelow(value) }

    /// Returns whether all values that the upper bound allows are less than or equal to `value`.
    package func isAtMost(_ value: [UInt8]) -> Bool { isBelow(value) || !isCut && high == value }

    /// Returns whether the bounds allow `value`.
    package func mayHold(_ value: [UInt8]) -> Bool { !value.isBelow(low) && !isBelow(value) }

    /// Returns whether the bounds allow a value that begins with `prefix`.
    package func mayHold(prefix: [UInt8]) -> Bool { !(prefix.isBelow(low) && !low.starts(with: prefix)) && !isBelow(prefix) }

    /// Returns whether every value begins with `prefix`.
    package func allBegin(with prefix: [UInt8]) -> Bool { low.starts(with: prefix) && high.starts(with: prefix) }

    package func union(_ other: TextBounds) -> TextBounds {
        let upper: (bytes: [UInt8], isCut: Bool)
        if high == other.high {
            upper = (high, isCut || other.isCut)
        } else if isCut, other.high.starts(with: high) {
            upper = (high, true)
        } else if other.isCut, high.starts(with: other.high) {
            upper = (other.high, true)
        } else {
            upper = high.isBelow(other.high) ? (other.high, other.isCut) : (high, isCut)
        }
        return TextBounds(low: low.isBelow(other.low) ? low : other.low, high: upper.bytes, isCut: upper.isCut)
    }

    /// Returns whether these bounds allow everything that `exact`, which are exact bounds, contain.
    package func covers(_ exact: TextBounds) -> Bool { mayHold(exact.low) && mayHold(exact.high) && (!ascends || exact.ascends) }

    /// The exact bounds of the values of a column that are present. Fails if there are none.
    package init?(_ text: Text, present: Bits?, count: Int) {
        let found = text.bytes.withUnsafeBytes { bytes in
            text.offsets.withUnsafeBufferPointer { offsets -> (low: Int, high: Int, ascends: Bool) in
                var found = TextExtremes(bytes: bytes, offsets: offsets, ascends: present.map { $0.ones == count } ?? true)
                if let present { present.forEachSet { found.look($0) } } else { for row in 0..<count { found.look(row) } }
                return (found.low, found.high, found.ascends)
            }
        }
        guard found.low >= 0 else { return nil }
        self.init(low: Array(text.bytes[text.range(found.low)]), high: Array(text.bytes[text.range(found.high)]), ascends: found.ascends)
    }
}

/// The rows of the least and the greatest of the values that were looked at, one after another.
private struct TextExtremes {
    let bytes: UnsafeRawBufferPointer, offsets: UnsafeBufferPointer<Int>
    var ascends: Bool
    var low = -1, high = -1, last = -1
    /// The first eight bytes of these values, which distinguish most values.
    var lowWord: UInt64 = 0, highWord: UInt64 = 0, lastWord: UInt64 = 0

    @inline(__always)
    mutating func look(_ row: Int) {
        let start = offsets[row], end = offsets[row &+ 1], word: UInt64
        if start &+ 8 <= bytes.count {
            // Bytes after the value become zeros.
            let head = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: start, as: UInt64.self))
            let rest = UInt64(truncatingIfNeeded: 8 &* max(0, 8 &- (end &- start)))
            word = rest == 64 ? 0 : (head &>> rest) &<< rest
        } else {
            word = UInt64(bitPattern: IndexKey.word(UnsafeRawBufferPointer(rebasing: bytes[start..<end]))) ^ 1 << 63
        }
        if low < 0 {
            (low, high, lowWord, highWord) = (row, row, word, word)
        } else {
            if ascends, word < lastWord || word == lastWord && isBelow(row, last) { ascends = false }
            if word < lowWord || word == lowWord && isBelow(row, low) { (low, lowWord) = (row, word) }
            if word > highWord || word == highWord && isBelow(high, row) { (high, highWord) = (row, word) }
        }
        (last, lastWord) = (row, word)
    }

    /// Compares the values of two rows whose first eight bytes are equal.
    @inline(__always)
    private func isBelow(_ a: Int, _ b: Int) -> Bool {
        let (a, aEnd, b, bEnd) = (offsets[a], offsets[a &+ 1], offsets[b], offsets[b &+ 1])
        let shared = min(aEnd &- a, bEnd &- b)
        var at = min(8, shared)
        while at &+ 8 <= shared {
            let x = bytes.loadUnaligned(fromByteOffset: a &+ at, as: UInt64.self)
            let y = bytes.loadUnaligned(fromByteOffset: b &+ at, as: UInt64.self)
            if x != y { return UInt64(bigEndian: x) < UInt64(bigEndian: y) }
            at &+= 8
        }
        while at < shared {
            if bytes[a &+ at] != bytes[b &+ at] { return bytes[a &+ at] < bytes[b &+ at] }
            at &+= 1
        }
        return aEnd &- a < bEnd &- b
    }
}

extension [UInt8] {
    fileprivate func isBelow(_ other: [UInt8]) -> Bool { lexicographicallyPrecedes(other) }
}
