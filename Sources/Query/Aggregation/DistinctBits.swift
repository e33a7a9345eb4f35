import FirnBytes

/// A set of words in a range that is not too large, with one bit for each word of the range.
struct DistinctBits {
    /// The number of bits of the largest range, which take 16 MiB.
    static let most = 1 << 27

    private var bits: [UInt64] = []
    /// The word of the first bit, a multiple of 64.
    private var low: Int64 = 0

    /// The memory in use in bytes.
    var bytes: Int { bits.count &* 8 }
    /// - Complexity: O(range).
    var count: Int { bits.reduce(0) { $0 &+ $1.nonzeroBitCount } }
    /// The words, ascending.
    /// - Complexity: O(range).
    var words: [Int64] {
        var out: [Int64] = []
        out.reserveCapacity(count)
        for (i, word) in bits.enumerated() {
            var rest = word
            while rest != 0 {
                out.append(low &+ Int64(i &* 64 &+ rest.trailingZeroBitCount))
                rest &= rest &- 1
            }
        }
        return out
    }

    /// Adds words. Returns false, and adds none, if the range is then too large.
    mutating func insert(_ words: [Int64]) -> Bool {
        guard let first = words.first else { return true }
        var least = first, greatest = first
        for word in words {
            least = min(least, word)
            greatest = max(greatest, word)
        }
        guard reserve(least, greatest) else { return false }
        let low = low
        bits.withUnsafeMutableBufferPointer { bits in
            for word in words {
                let at = Int(truncatingIfNeeded: word &- low)
                bits[at &>> 6] |= 1 &<< UInt64(truncatingIfNeeded: at & 63)
            }
        }
        return true
    }

    /// Adds the words of another set. Returns false, and adds none, if the range is then too large.
    mutating func formUnion(_ other: DistinctBits) -> Bool {
        guard !other.bits.isEmpty else { return true }
        guard reserve(other.low, other.low + Int64(other.bits.count * 64 - 1)) else { return false }
        let start = Int(other.low - low) / 64
        for (i, word) in other.bits.enumerated() { bits[start + i] |= word }
        return true
    }

    /// Makes room for the words of a range. Returns false, and changes nothing, if the whole range is then too large.
    private mutating func reserve(_ least: Int64, _ greatest: Int64) -> Bool {
        let isEmpty = bits.isEmpty
        if !isEmpty, least >= low, UInt64(bitPattern: greatest &- low) < UInt64(bits.count * 64) { return true }
        let first = (isEmpty ? least : min(low, least)) & ~63
        let last = isEmpty ? greatest : max(low + Int64(bits.count * 64 - 1), greatest)
        let (span, overflow) = last.subtractingReportingOverflow(first)
        // The last bit has a word as well.
        guard !overflow, span < DistinctBits.most, first <= Int64.max - Int64(DistinctBits.most) else { return false }
        // Room for as many words again above, unless they move on below: the bits are not copied each time.
        let wanted = Int(span) / 64 + 1, isBelow = !isEmpty && first < low
        let spare = isEmpty ? 0 : max(0, min(bits.count * 2, DistinctBits.most / 64) - wanted)
        let (start, underflow) = first.subtractingReportingOverflow(isBelow ? Int64(spare * 64) : 0)
        guard !underflow else { return false }
        var wider = [UInt64](repeating: 0, count: wanted + spare)
        let offset = isEmpty ? 0 : Int(low - start) / 64
        for (i, word) in bits.enumerated() { wider[offset + i] = word }
        (bits, low) = (wider, start)
        return true
    }
}
