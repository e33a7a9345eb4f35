/// A text of at most 15 bytes as two words. Texts are equal if and only if their words are.
struct ShortText: TableKey {
    static let maximumBytes = 15
    static let zero = ShortText(low: 0, high: 0)

    /// The first eight bytes, or up to seven as in `word(ofUpToSeven:)`.
    private let low: UInt64
    /// The other bytes; the length is in the uppermost byte.
    private let high: UInt64

    private init(low: UInt64, high: UInt64) {
        self.low = low
        self.high = high
    }

    /// The text has at most `maximumBytes`.
    @inline(__always)
    init(_ bytes: UnsafeRawBufferPointer) {
        let count = bytes.count, length = UInt64(truncatingIfNeeded: count) << 56
        if count >= 8 {
            low = bytes.loadUnaligned(as: UInt64.self)
            // Of the last eight bytes, those after the first eight.
            let last = bytes.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self) >> 8
            high = last &>> UInt64(truncatingIfNeeded: (15 &- count) &* 8) | length
        } else {
            low = ShortText.word(ofUpToSeven: bytes)
            high = length
        }
    }

    /// Returns up to seven bytes as one word, unique among texts of the same length.
    @inline(__always)
    static func word(ofUpToSeven bytes: UnsafeRawBufferPointer) -> UInt64 {
        let count = bytes.count
        if count >= 4 {
            return UInt64(bytes.loadUnaligned(as: UInt32.self)) << 32
                | UInt64(bytes.loadUnaligned(fromByteOffset: count &- 4, as: UInt32.self))
        }
        return count == 0 ? 0 : UInt64(bytes[0]) << 16 | UInt64(bytes[count >> 1]) << 8 | UInt64(bytes[count &- 1])
    }

    /// The length in bytes.
    @inline(__always)
    var count: Int { Int(truncatingIfNeeded: high >> 56) }

    /// Writes the bytes to `target`, which has room for them.
    func copy(to target: UnsafeMutableRawPointer) {
        let count = count
        if count >= 8 {
            let more = UInt64(count - 8) * 8
            target.storeBytes(of: low, as: UInt64.self)
            target.storeBytes(of: high << (64 - more) | low >> more, toByteOffset: count - 8, as: UInt64.self)
        } else if count >= 4 {
            target.storeBytes(of: UInt32(truncatingIfNeeded: low >> 32), as: UInt32.self)
            target.storeBytes(of: UInt32(truncatingIfNeeded: low), toByteOffset: count - 4, as: UInt32.self)
        } else if count > 0 {
            target.storeBytes(of: UInt8(truncatingIfNeeded: low >> 16), as: UInt8.self)
            target.storeBytes(of: UInt8(truncatingIfNeeded: low >> 8), toByteOffset: count >> 1, as: UInt8.self)
            target.storeBytes(of: UInt8(truncatingIfNeeded: low), toByteOffset: count - 1, as: UInt8.self)
        }
    }

    /// Without a branch, which the processor could not predict.
    @inline(__always)
    static func == (a: ShortText, b: ShortText) -> Bool { (a.low ^ b.low) | (a.high ^ b.high) == 0 }

    @inline(__always)
    var mixed: UInt64 {
        var x = low
        x ^= x >> 32
        x = x &* 0x9E37_79B9_7F4A_7C15
        x ^= x >> 29
        x = (x ^ high) &* 0xBF58_476D_1CE4_E5B9
        x ^= x >> 32
        return x &* 0x94D0_49BB_1331_11EB
    }

    func add(to hasher: inout Hasher) {
        hasher.combine(low)
        hasher.combine(high)
    }
}
