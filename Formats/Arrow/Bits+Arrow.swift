import FirnBytes

extension Bits {
    /// Makes bits of a bitmap in memory, from the bit `start` on. The memory has them all.
    init(_ memory: UnsafeRawPointer, from start: Int, count: Int) {
        var words = [UInt64](repeating: 0, count: (count + 63) >> 6)
        let shift = UInt64(start & 7), end = (start + count + 7) >> 3
        for w in words.indices {
            let at = start >> 3 + w * 8
            if at + 9 <= end {
                var word = UInt64(littleEndian: memory.loadUnaligned(fromByteOffset: at, as: UInt64.self)) >> shift
                if shift > 0 { word |= UInt64(memory.load(fromByteOffset: at + 8, as: UInt8.self)) << (64 - shift) }
                words[w] = word
            } else {
                for i in 0..<min(9, end - at) {
                    let byte = UInt64(memory.load(fromByteOffset: at + i, as: UInt8.self))
                    words[w] |= i == 0 ? byte >> shift : byte << (UInt64(i) * 8 - shift)
                }
            }
        }
        self.init(words: words, count: count)
    }

    /// Returns the bits that are set in both.
    static func both(_ a: Bits?, _ b: Bits?) -> Bits? {
        guard let a else { return b }
        guard let b else { return a }
        var out = a
        for i in out.words.indices { out.words[i] &= b.words[i] }
        return out
    }
}
