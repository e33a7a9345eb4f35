import FirnBytes

/// Searches for a byte string in all strings of a vector, in one pass over their contiguous bytes. Compares sixteen positions at a time by
/// the first and the last byte.
struct ByteSearch {
    private let wanted: [UInt8]

    /// `wanted` must have at least one byte.
    init(_ wanted: [UInt8]) { self.wanted = wanted }

    /// Sets the bit of every string that contains the bytes. `out` holds a word for every 64 strings and must be zero before.
    func apply(_ text: Text, count: Int, out: UnsafeMutablePointer<UInt64>) {
        text.bytes.withUnsafeBytes { bytes in
            text.offsets.withUnsafeBufferPointer { offsets in
                wanted.withUnsafeBytes { wanted in
                    guard let base = bytes.baseAddress else { return }
                    let end = offsets[count]
                    var row = 0, at = offsets[0]
                    while let found = ByteSearch.next(base, from: at, to: end, wanted) {
                        while offsets[row &+ 1] <= found { row &+= 1 }
                        if found &+ wanted.count <= offsets[row &+ 1] {
                            out[row >> 6] |= 1 &<< UInt64(truncatingIfNeeded: row & 63)
                            at = offsets[row &+ 1]
                        } else {
                            at = found &+ 1
                        }
                    }
                }
            }
        }
    }

    /// Returns the position of the next complete occurrence between `from` and `to`, or nil.
    static func next(_ base: UnsafeRawPointer, from: Int, to end: Int, _ wanted: UnsafeRawBufferPointer) -> Int? {
        let span = wanted.count &- 1, first = SIMD16<UInt8>(repeating: wanted[0]), last = SIMD16<UInt8>(repeating: wanted[span])
        let one = SIMD16<UInt8>(repeating: 1), none = SIMD16<UInt8>(repeating: 0)
        var at = from
        while at &+ span &+ 16 <= end {
            let a = (base + at).loadUnaligned(as: SIMD16<UInt8>.self), b = (base + (at &+ span)).loadUnaligned(as: SIMD16<UInt8>.self)
            let hits = unsafeBitCast(none.replacing(with: one, where: (a .== first) .& (b .== last)), to: SIMD2<UInt64>.self)
            if hits[0] | hits[1] != 0 {
                for half in 0..<2 {
                    var rest = hits[half]
                    while rest != 0 {
                        let found = at &+ half &* 8 &+ rest.trailingZeroBitCount >> 3
                        if isSame(base + found, wanted) { return found }
                        rest &= rest &- 1
                    }
                }
            }
            at &+= 16
        }
        while at &+ span < end {
            if base.load(fromByteOffset: at, as: UInt8.self) == wanted[0], isSame(base + at, wanted) { return at }
            at &+= 1
        }
        return nil
    }

    @inline(__always)
    private static func isSame(_ pointer: UnsafeRawPointer, _ wanted: UnsafeRawBufferPointer) -> Bool {
        for i in 0..<wanted.count where pointer.load(fromByteOffset: i, as: UInt8.self) != wanted[i] { return false }
        return true
    }
}
