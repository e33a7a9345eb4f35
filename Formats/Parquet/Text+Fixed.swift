import FirnBytes
import FirnExchange
import FirnTable

extension Text {
    /// Appends byte strings of a fixed length.
    mutating func append(fixed bytes: UnsafeRawBufferPointer, stride: Int, count: Int) {
        let first = self.bytes.count
        self.bytes.append(contentsOf: bytes)
        offsets.grow(count, zero: 0) { out in
            for i in 0..<count { out[i] = first &+ (i &+ 1) &* stride }
        }
    }
}

/// Copies `count` bytes. Short strings are copied sixteen bytes at a time where both sides have them.
@inline(__always)
func copyShort(_ from: UnsafeRawPointer, to: UnsafeMutableRawPointer, count: Int, hasSlack: Bool) {
    if hasSlack, count <= 16 {
        to.storeBytes(of: from.loadUnaligned(as: SIMD16<UInt8>.self), as: SIMD16<UInt8>.self)
    } else {
        to.copyMemory(from: from, byteCount: count)
    }
}
