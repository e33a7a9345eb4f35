import FirnBytes

/// Finding the values of a vector that are in a range, on the stored form where the encoding allows it.
extension IntegersReader {
    /// Writes 16 words with one bit for each value: set if the value is in `low ... high`. Bits past the end are zero.
    package func search(vector: Int, _ low: Int64, _ high: Int64, into out: UnsafeMutablePointer<UInt64>) throws(Damage) {
        let n = length(ofVector: vector, in: count)
        if n < vectorLength { out.update(repeating: 0, count: vectorLength / 64) }
        try body.search(vector: vector, count: n, low, high, into: out)
    }
}

extension IntegersBody {
    /// Decodes the vector; for encodings without a faster method.
    func searchDecoded(vector: Int, count n: Int, _ low: Int64, _ high: Int64, into out: UnsafeMutablePointer<UInt64>) throws(Damage) {
        try withScratch(of: Int64.self, count: vectorLength) { (scratch) throws(Damage) in
            try decode(from: vector &* vectorLength, count: n, into: scratch)
            RangeBits.of(scratch, count: n, low, high, into: out)
        }
    }
}

/// Writes one bit for each of the 1,024 values of a full narrow body (`Packing.swift`): set if the value is in `first ... last`. A row has
/// 32 values.
func searchNarrow(_ body: UnsafeRawPointer, width: Int, first: UInt32, last: UInt32, into out: UnsafeMutablePointer<UInt64>) {
    let mask = SIMD16<UInt32>(repeating: UInt32(truncatingIfNeeded: lowMask(width)))
    // v is within the range ⇔ v - first, unsigned, is at most last - first ⇔ the same with both top bits flipped, signed.
    let shift = SIMD16<UInt32>(repeating: first &+ 0x8000_0000)
    let most = SIMD16<Int32>(repeating: Int32(bitPattern: (last &- first) ^ 0x8000_0000))
    for w in 0..<16 {
        let low = searchRow(body, 2 &* w, width, mask, shift, most), high = searchRow(body, 2 &* w &+ 1, width, mask, shift, most)
        out[w] = UInt64(low) | UInt64(high) &<< 32
    }
}

@inline(__always)
private func searchRow(
    _ body: UnsafeRawPointer, _ row: Int, _ width: Int, _ mask: SIMD16<UInt32>, _ shift: SIMD16<UInt32>, _ most: SIMD16<Int32>
) -> UInt32 {
    let start = row &* width, down = UInt32(truncatingIfNeeded: start & 31), source = body + (start >> 5) &* 128
    var a = source.loadUnaligned(as: SIMD16<UInt32>.self) &>> SIMD16(repeating: down)
    var b = source.loadUnaligned(fromByteOffset: 64, as: SIMD16<UInt32>.self) &>> SIMD16(repeating: down)
    if Int(down) &+ width > 32 {
        let up = SIMD16<UInt32>(repeating: 32 &- down)
        a |= source.loadUnaligned(fromByteOffset: 128, as: SIMD16<UInt32>.self) &<< up
        b |= source.loadUnaligned(fromByteOffset: 192, as: SIMD16<UInt32>.self) &<< up
    }
    let x = SIMD16<Int32>(truncatingIfNeeded: (a & mask) &- shift), y = SIMD16<Int32>(truncatingIfNeeded: (b & mask) &- shift)
    let lower = SIMD16<UInt32>(1, 2, 4, 8, 16, 32, 64, 128, 1 << 8, 1 << 9, 1 << 10, 1 << 11, 1 << 12, 1 << 13, 1 << 14, 1 << 15)
    let none = SIMD16<UInt32>(repeating: 0)
    let upper = SIMD16<UInt32>(
        1 << 16, 1 << 17, 1 << 18, 1 << 19, 1 << 20, 1 << 21, 1 << 22, 1 << 23,
        1 << 24, 1 << 25, 1 << 26, 1 << 27, 1 << 28, 1 << 29, 1 << 30, 1 << 31)
    let hits = lower.replacing(with: none, where: x .> most) | upper.replacing(with: none, where: y .> most)
    let eight = hits.lowHalf | hits.highHalf, four = eight.lowHalf | eight.highHalf
    let two = unsafeBitCast(four, to: SIMD2<UInt64>.self), one = two[0] | two[1]
    return UInt32(truncatingIfNeeded: one | one >> 32)
}

extension TextReader {
    /// Like `IntegersReader.search`, on the codes of a vector. May be called only if `values` is not nil.
    package func searchCodes(vector: Int, _ low: Int64, _ high: Int64, into out: UnsafeMutablePointer<UInt64>) throws(Damage) {
        guard let codes else {
            out.update(repeating: 0, count: vectorLength / 64)
            return RangeBits.fill(out, count: min(vectorLength, count &- vector &* vectorLength), low <= 0 && high >= 0)
        }
        try codes.search(vector: vector, low, high, into: out)
    }
}
