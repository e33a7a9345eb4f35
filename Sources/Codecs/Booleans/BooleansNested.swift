import FirnBytes

// nested bits · number of set outer bits (varint)
// · if count > 1,024: ranks: length (varint), integer stream, one a vector: set outer bits before it
// · booleans to the end: one for each set outer bit

extension BooleansEncoder {
    /// Encodes bits that are set only where those of `outer` are set: stores one bit for each set bit of `outer`.
    package static func encode(_ bits: Bits, within outer: Bits, profile: Profile) -> [UInt8] {
        trap(unless: bits.count == outer.count, "nested bits must have the same count as the outer bits")
        var inner = Bits(repeating: false, count: outer.ones)
        var ranks: [Int64] = [], at = 0
        for (w, mask) in outer.words.enumerated() {
            if w & 15 == 0 { ranks.append(Int64(at)) }
            trap(unless: bits.words[w] & ~mask == 0, "nested bits must be clear wherever the outer bits are clear")
            let taken = mask.nonzeroBitCount
            if taken == 0 { continue }
            let field = gathered(bits.words[w], mask), shift = UInt64(at & 63)
            inner.words[at >> 6] |= field << shift
            if at & 63 &+ taken > 64 { inner.words[at >> 6 &+ 1] |= field >> (64 &- shift) }
            at &+= taken
        }
        var out = ByteWriter()
        out.appendVarint(at)
        if bits.count > vectorLength {
            out.append(lengthPrefixed: ranks.withUnsafeBufferPointer { IntegersEncoder.encode($0, present: nil, profile: profile) })
        }
        out.append(contentsOf: encode(inner, profile: profile))
        return out.bytes
    }
}

/// Returns the bits of a word at the set positions of a mask, packed to the low end. Works run by run, because set validity bits come in
/// runs.
private func gathered(_ word: UInt64, _ mask: UInt64) -> UInt64 {
    var out: UInt64 = 0, left = mask, at: UInt64 = 0
    while left != 0 {
        let start = UInt64(left.trailingZeroBitCount), length = (~(left &>> start)).trailingZeroBitCount, run = lowMask(length)
        out |= (word &>> start & run) &<< at
        at &+= UInt64(length)
        left &= ~(run &<< start)
    }
    return out
}

/// The inverse of `gathered`: moves the lowest bits of a word to the set positions of a mask.
private func scattered(_ word: UInt64, _ mask: UInt64) -> UInt64 {
    var out: UInt64 = 0, left = mask, rest = word
    while left != 0 {
        let start = UInt64(left.trailingZeroBitCount), length = (~(left &>> start)).trailingZeroBitCount, run = lowMask(length)
        out |= (rest & run) &<< start
        // A run of all 64 bits shifts by 64 (a masking shift), which is harmless because no run follows it.
        rest &>>= UInt64(length)
        left &= ~(run &<< start)
    }
    return out
}

/// Booleans that are set only where those of another stream are set.
final class BooleansNested: BooleansBody, @unchecked Sendable {
    private let outer: BooleansBody, inner: BooleansBody, ranks: IntegersBody?

    init(_ reader: inout ByteReader, outer: BooleansBody) throws(Damage) {
        self.outer = outer
        let total = try reader.readCount(limit: outer.count)
        ranks =
            outer.count <= vectorLength
            ? nil
            : try openIntegers(try reader.readLengthPrefixed(), count: (outer.count &+ vectorLength &- 1) / vectorLength, depth: 1)
        inner = try openBooleans(reader.readRest(), count: total, depth: 1)
        super.init(count: outer.count)
    }

    override var features: EncodingFeatures { inner.features.union(ranks?.features ?? []) }
    override var name: String { "nested(\(inner.name))" }

    /// Returns the number of set outer bits before a vector; for the index after the last vector, the number of all set outer bits.
    private func rank(_ vector: Int) throws(Damage) -> Int {
        guard vector > 0 else { return 0 }
        guard let ranks, vector &* vectorLength < count else { return inner.count }
        let rank = try ranks.value(at: vector)
        guard rank >= 0, rank <= Int64(inner.count) else { throw Damage("rank outside the nested bits") }
        return Int(rank)
    }

    override func value(at index: Int) throws(Damage) -> Bool {
        let inside = index & (vectorLength &- 1)
        var before = try rank(index / vectorLength), isSet = false
        try withScratch(of: UInt64.self, count: 16) { (words) throws(Damage) in
            try outer.decode(vector: index / vectorLength, into: words)
            isSet = words[inside >> 6] >> UInt64(inside & 63) & 1 == 1
            for w in 0..<(inside >> 6) { before &+= words[w].nonzeroBitCount }
            before &+= (words[inside >> 6] & lowMask(inside & 63)).nonzeroBitCount
        }
        guard isSet else { return false }
        guard before < inner.count else { throw Damage("fewer nested bits than set outer bits") }
        return try inner.value(at: before)
    }

    override func decode(vector: Int, into words: UnsafeMutablePointer<UInt64>) throws(Damage) {
        try outer.decode(vector: vector, into: words)
        let start = try rank(vector)
        var taken = 0
        for w in 0..<16 { taken &+= words[w].nonzeroBitCount }
        guard start &+ taken == (try rank(vector &+ 1)) else { throw Damage("the number of nested bits does not match the set outer bits") }
        guard taken > 0 else { return }
        // The bits are in two vectors at most; a field that begins in the last word extends into one more word.
        try withScratch(of: UInt64.self, count: 33) { (source) throws(Damage) in
            source.update(repeating: 0, count: 33)
            let first = start / vectorLength, last = (start &+ taken &- 1) / vectorLength
            try inner.decode(vector: first, into: source)
            if last > first { try inner.decode(vector: last, into: source + 16) }
            var at = start & (vectorLength &- 1)
            for w in 0..<16 where words[w] != 0 {
                let mask = words[w], shift = UInt64(at & 63)
                var field = source[at >> 6] >> shift
                if shift != 0 { field |= source[at >> 6 &+ 1] << (64 &- shift) }
                words[w] = scattered(field, mask)
                at &+= mask.nonzeroBitCount
            }
        }
    }
}
