import FirnBytes
import FirnExchange

/// Packs values of a fixed number of bits, the first in the lowest bits.
enum BitPacking {
    /// Writes `count` values to `out`, which must have space for their bytes rounded up to a multiple of eight. Returns the number of
    /// bytes.
    @inline(__always)
    static func pack<T: FixedWidthInteger & UnsignedInteger>(
        _ values: UnsafePointer<T>, count: Int, width: Int, into out: UnsafeMutableRawPointer
    ) -> Int {
        guard width > 0 else { return 0 }
        var word: UInt64 = 0, filled = 0, at = 0
        for i in 0..<count {
            let value = UInt64(truncatingIfNeeded: values[i])
            word |= value << UInt64(truncatingIfNeeded: filled)
            filled &+= width
            if filled >= 64 {
                out.storeBytes(of: word.littleEndian, toByteOffset: at, as: UInt64.self)
                at &+= 8
                filled &-= 64
                word = filled > 0 ? value >> UInt64(truncatingIfNeeded: width &- filled) : 0
            }
        }
        if filled > 0 { out.storeBytes(of: word.littleEndian, toByteOffset: at, as: UInt64.self) }
        return (count &* width &+ 7) / 8
    }

    static func width(_ maximum: UInt64) -> Int { 64 - maximum.leadingZeroBitCount }
}

/// Writes the hybrid of runs and bit-packed values: levels, codes of a dictionary, booleans.
struct RunEncoder {
    private let width: Int
    private(set) var bytes: [UInt8] = []

    init(width: Int) { self.width = width }

    private mutating func varint(_ value: Int) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    /// Appends a run of one value.
    mutating func append(run value: UInt32, count: Int) {
        guard count > 0 else { return }
        varint(count << 1)
        for i in 0..<(width + 7) / 8 { bytes.append(UInt8(truncatingIfNeeded: value >> UInt32(8 * i))) }
    }

    /// Appends values. Call it once: the last group is filled up with zeros.
    mutating func append<T: FixedWidthInteger & UnsignedInteger>(_ values: UnsafeBufferPointer<T>) {
        guard let base = values.baseAddress else { return }
        let count = values.count
        var at = 0, literals = 0
        while at < count {
            let value = base[at]
            var end = at &+ 1
            while end < count, base[end] == value { end &+= 1 }
            // Bit-packed values are in groups of eight: the run completes the last group.
            let fill = (8 &- (at &- literals) & 7) & 7
            if end &- at >= fill &+ RunEncoder.minimumRun {
                append(literals: base + literals, count: at &+ fill &- literals)
                append(run: UInt32(truncatingIfNeeded: value), count: end &- at &- fill)
                literals = end
            }
            at = end
        }
        append(literals: base + literals, count: count &- literals)
    }

    /// A run that ends a sequence of bit-packed values costs two heads.
    private static let minimumRun = 16

    private mutating func append<T: FixedWidthInteger & UnsignedInteger>(literals: UnsafePointer<T>, count: Int) {
        guard count > 0 else { return }
        let groups = (count + 7) / 8, size = groups * width
        varint(groups << 1 | 1)
        bytes.grow(size + 8, zero: 0) { out in _ = BitPacking.pack(literals, count: count, width: width, into: out) }
        bytes.removeLast(8)
    }
}
