/// A bitmap: bit i is bit i % 64 of word i / 64. The bits after `count` are zero.
@usableFromInline
package struct Bits: Hashable, Sendable {
    @usableFromInline package var words: [UInt64]
    @usableFromInline package var count: Int

    @inlinable
    package init(repeating value: Bool = false, count: Int) {
        self.count = count
        words = [UInt64](repeating: value ? .max : 0, count: (count &+ 63) >> 6)
        if value { clearTail() }
    }

    /// Takes the words unchanged, except that bits after `count` are cleared.
    @inlinable
    package init(words: [UInt64], count: Int) {
        trap(unless: words.count >= (count + 63) >> 6, "Bits needs one word for every 64 bits")
        self.words = words
        if words.count > (count + 63) >> 6 { self.words.removeLast(words.count - (count + 63) >> 6) }
        self.count = count
        clearTail()
    }

    @inlinable
    package subscript(_ index: Int) -> Bool {
        get { words[index >> 6] >> UInt64(truncatingIfNeeded: index & 63) & 1 == 1 }
        set {
            let mask = UInt64(1) << UInt64(truncatingIfNeeded: index & 63)
            if newValue { words[index >> 6] |= mask } else { words[index >> 6] &= ~mask }
        }
    }

    @inlinable
    package mutating func append(_ value: Bool) {
        if count & 63 == 0 { words.append(0) }
        count &+= 1
        if value { words[(count &- 1) >> 6] |= 1 << UInt64(truncatingIfNeeded: (count &- 1) & 63) }
    }

    @inlinable
    package mutating func append(repeating value: Bool, count more: Int) {
        append(contentsOf: Bits(repeating: value, count: more))
    }

    @inlinable
    package mutating func append(contentsOf other: Bits) {
        let shift = UInt64(truncatingIfNeeded: count & 63)
        if shift == 0 {
            words.append(contentsOf: other.words)
        } else {
            for word in other.words {
                words[words.count &- 1] |= word << shift
                words.append(word >> (64 &- shift))
            }
        }
        count &+= other.count
        let needed = (count &+ 63) >> 6
        if words.count > needed { words.removeLast(words.count &- needed) }
    }

    /// Appends the bits of `other` at the given positions, in that order.
    package mutating func append(gathered other: Bits, rows: [Int]) {
        var more = Bits(repeating: false, count: rows.count)
        for w in more.words.indices {
            var word: UInt64 = 0
            for i in w &* 64..<min(w &* 64 &+ 64, rows.count) where other[rows[i]] { word |= 1 &<< UInt64(truncatingIfNeeded: i & 63) }
            more.words[w] = word
        }
        append(contentsOf: more)
    }

    /// The number of bits that are set.
    @inlinable
    package var ones: Int {
        var sum = 0
        for word in words { sum &+= word.nonzeroBitCount }
        return sum
    }

    /// The number of bits that are set before `index`.
    @inlinable
    package func rank(_ index: Int) -> Int {
        var sum = 0
        for i in 0..<(index >> 6) { sum &+= words[i].nonzeroBitCount }
        if index & 63 != 0 { sum &+= (words[index >> 6] & ((1 << UInt64(truncatingIfNeeded: index & 63)) &- 1)).nonzeroBitCount }
        return sum
    }

    @inlinable package var allSet: Bool { ones == count }
    @inlinable package var noneSet: Bool { words.allSatisfy { $0 == 0 } }

    /// The bits of `range`, renumbered from 0.
    @inlinable
    package func slice(_ range: Range<Int>) -> Bits {
        var out = Bits(repeating: false, count: range.count)
        let shift = UInt64(truncatingIfNeeded: range.lowerBound & 63), first = range.lowerBound >> 6
        for w in 0..<out.words.count {
            var word = words[first &+ w] >> shift
            if shift != 0, first &+ w &+ 1 < words.count { word |= words[first &+ w &+ 1] << (64 &- shift) }
            out.words[w] = word
        }
        out.clearTail()
        return out
    }

    @inlinable
    mutating func clearTail() {
        if count & 63 != 0 { words[words.count &- 1] &= (1 << UInt64(truncatingIfNeeded: count & 63)) &- 1 }
    }

    /// Calls `body` with the position of every set bit, in ascending order.
    @inlinable
    package func forEachSet<E: Error>(_ body: (Int) throws(E) -> Void) throws(E) {
        for (w, word) in words.enumerated() {
            var rest = word
            while rest != 0 {
                try body(w &* 64 &+ rest.trailingZeroBitCount)
                rest &= rest &- 1
            }
        }
    }
}
