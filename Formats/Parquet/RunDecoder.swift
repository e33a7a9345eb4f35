import FirnBytes
import FirnExchange

/// Unpacks values of a fixed number of bits, the first in the lowest bits.
enum BitUnpacking {
    /// Writes `count` values of up to 64 bits, from bit `start` of `bytes`, which must have them all.
    @inline(__always)
    static func unpack<T: FixedWidthInteger>(
        _ bytes: UnsafeRawBufferPointer, from start: Int, width: Int, count: Int, into out: UnsafeMutablePointer<T>
    ) {
        guard width > 0, let base = bytes.baseAddress else { return out.update(repeating: 0, count: count) }
        let mask: UInt64 = width == 64 ? .max : (1 << UInt64(truncatingIfNeeded: width)) &- 1
        var bit = start, i = 0
        if width <= 56 {
            // The last byte of an eight-byte read must be within the bytes.
            let safe = bytes.count >= 8 ? min(count, ((bytes.count &- 8) &* 8 &+ 7 &- start) / width &+ 1) : 0
            while i < safe {
                let word = UInt64(littleEndian: base.loadUnaligned(fromByteOffset: bit >> 3, as: UInt64.self))
                out[i] = T(truncatingIfNeeded: word >> UInt64(truncatingIfNeeded: bit & 7) & mask)
                bit &+= width
                i &+= 1
            }
        }
        while i < count {
            out[i] = T(truncatingIfNeeded: slow(bytes, bit, width) & mask)
            bit &+= width
            i &+= 1
        }
    }

    @inline(never)
    private static func slow(_ bytes: UnsafeRawBufferPointer, _ bit: Int, _ width: Int) -> UInt64 {
        var value: UInt64 = 0, got = -(bit & 7), at = bit >> 3
        while got < width, at < bytes.count {
            let byte = UInt64(bytes[at])
            value |= got >= 0 ? byte << UInt64(got) : byte >> UInt64(-got)
            got += 8
            at += 1
        }
        return value
    }
}

/// Decodes the hybrid of runs and bit-packed values: levels, codes of a dictionary, booleans.
struct RunDecoder {
    private var rest: UnsafeRawBufferPointer
    private let width: Int
    /// The number of values of the current run that are left.
    private var left = 0
    private var value: UInt32 = 0
    private var packed: UnsafeRawBufferPointer?
    private var bit = 0

    /// `width` is the number of bits of a value, up to 32.
    init(_ bytes: UnsafeRawBufferPointer, width: Int) {
        rest = bytes
        self.width = width
    }

    private mutating func varint() throws(ParquetFault) -> UInt64 {
        var value: UInt64 = 0, shift: UInt64 = 0
        for (i, byte) in rest.prefix(5).enumerated() {
            value |= UInt64(byte & 0x7F) << shift
            shift += 7
            if byte < 0x80 {
                rest = UnsafeRawBufferPointer(rebasing: rest[(i + 1)...])
                return value
            }
        }
        throw ParquetFault("a run is cut short")
    }

    private mutating func begin() throws(ParquetFault) {
        // A dictionary of one value needs no bits, and some writers no runs either.
        if width == 0, rest.isEmpty {
            (packed, value, left) = (nil, 0, .max)
            return
        }
        let head = try varint()
        if head & 1 == 1 {
            let groups = head >> 1
            guard groups > 0, groups <= 1 << 31 else { throw ParquetFault("a bit-packed run has \(groups) groups") }
            // The last group of a page can lack the bytes that no value needs.
            let needed = Int(groups) * width, have = min(needed, rest.count)
            left = have == needed ? Int(groups) * 8 : have * 8 / max(width, 1)
            guard left > 0 else { throw ParquetFault("a bit-packed run is cut short") }
            packed = UnsafeRawBufferPointer(rebasing: rest[..<have])
            bit = 0
            rest = UnsafeRawBufferPointer(rebasing: rest[have...])
        } else {
            let count = (width + 7) / 8
            guard head >> 1 > 0, rest.count >= count else { throw ParquetFault("a run is cut short or empty") }
            value = 0
            for i in 0..<count { value |= UInt32(rest[i]) << UInt32(8 * i) }
            if width < 32, value >> UInt32(width) != 0 {
                throw ParquetFault("a run has the value \(value), which needs more than \(width) bits")
            }
            left = Int(head >> 1)
            packed = nil
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
    }

    /// Writes the next `count` values.
    mutating func next<T: FixedWidthInteger>(_ count: Int, into out: UnsafeMutablePointer<T>) throws(ParquetFault) {
        var done = 0
        while done < count {
            if left == 0 { try begin() }
            let take = min(left, count - done)
            if let packed {
                BitUnpacking.unpack(packed, from: bit, width: width, count: take, into: out + done)
                bit += take * width
            } else {
                (out + done).update(repeating: T(truncatingIfNeeded: value), count: take)
            }
            left -= take
            done += take
        }
    }
}

/// Decodes levels of a page.
enum LevelDecoder {
    /// All levels are 0.
    case none
    case runs(RunDecoder)
    /// The former encoding: the first value is in the highest bits.
    case bitPacked(UnsafeRawBufferPointer, width: Int, bit: Int)

    mutating func next(_ count: Int, into out: UnsafeMutablePointer<UInt8>) throws(ParquetFault) {
        switch self {
        case .none: out.update(repeating: 0, count: count)
        case .runs(var runs):
            try runs.next(count, into: out)
            self = .runs(runs)
        case .bitPacked(let bytes, let width, var bit):
            guard bit + count * width <= bytes.count * 8 else { throw ParquetFault("the levels are cut short") }
            for i in 0..<count {
                var value: UInt8 = 0
                for _ in 0..<width {
                    value = value << 1 | bytes[bit >> 3] >> UInt8(7 - bit & 7) & 1
                    bit += 1
                }
                out[i] = value
            }
            self = .bitPacked(bytes, width: width, bit: bit)
        }
    }

    /// The number of bits of levels up to a maximum.
    static func width(_ maximum: Int) -> Int { Int.bitWidth - maximum.leadingZeroBitCount }
}
