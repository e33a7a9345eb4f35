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
        var low = -1, high = -1, last = -1, lowWord: UInt64 = 0, highWord: UInt64 = 0, lastWord: UInt64 = 0,
            ascends = present.map { $0.ones == count } ?? true
        text.bytes.withUnsafeBytes { bytes in
            func value(_ row: Int) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes[text.range(row)]) }
            func look(_ row: Int) {
                let own = value(row), word = UInt64(bitPattern: IndexKey.word(own)) ^ 1 << 63
                if low < 0 {
                    (low, high, lowWord, highWord) = (row, row, word, word)
                } else {
                    // The first eight bytes distinguish most values.
                    if ascends, word < lastWord || word == lastWord && TextBounds.isBelow(own, value(last)) { ascends = false }
                    if word < lowWord || word == lowWord && TextBounds.isBelow(own, value(low)) { (low, lowWord) = (row, word) }
                    if word > highWord || word == highWord && TextBounds.isBelow(value(high), own) { (high, highWord) = (row, word) }
                }
                (last, lastWord) = (row, word)
            }
            if let present { present.forEachSet(look) } else { for row in 0..<count { look(row) } }
        }
        guard low >= 0 else { return nil }
        self.init(low: Array(text.bytes[text.range(low)]), high: Array(text.bytes[text.range(high)]), ascends: ascends)
    }

    @inline(__always)
    private static func isBelow(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
        for i in 0..<min(a.count, b.count) where a[i] != b[i] { return a[i] < b[i] }
        return a.count < b.count
    }
}

extension [UInt8] {
    fileprivate func isBelow(_ other: [UInt8]) -> Bool { lexicographicallyPrecedes(other) }
}
