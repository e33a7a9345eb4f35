import FirnBytes
import FirnExchange

/// Writes DELTA_BINARY_PACKED: blocks of 128 differences in four bit-packed miniblocks.
enum DeltaEncoder {
    private static let blockSize = 128, miniSize = 32

    private static func varint(_ value: UInt64, to out: inout [UInt8]) {
        var rest = value
        while rest >= 0x80 {
            out.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        out.append(UInt8(truncatingIfNeeded: rest))
    }

    /// Appends `count` numbers. The differences wrap around in the width of the type, as readers compute them.
    static func append<T: FixedWidthInteger & SignedInteger>(_ count: Int, to out: inout [UInt8], _ value: (Int) -> T)
    where T.Magnitude: FixedWidthInteger & UnsignedInteger {
        varint(UInt64(blockSize), to: &out)
        varint(4, to: &out)
        varint(UInt64(count), to: &out)
        var last = count > 0 ? value(0) : 0
        varint(zigzag(Int64(last)), to: &out)
        var at = 1
        withUnsafeTemporaryAllocation(of: T.self, capacity: blockSize) { deltas in
            withUnsafeTemporaryAllocation(of: UInt64.self, capacity: blockSize) { rests in
                guard let deltas = deltas.baseAddress, let rests = rests.baseAddress else { return }
                while at < count {
                    let size = min(blockSize, count - at)
                    var least = T.max
                    for i in 0..<size {
                        let next = value(at &+ i)
                        deltas[i] = next &- last
                        least = min(least, deltas[i])
                        last = next
                    }
                    varint(zigzag(Int64(least)), to: &out)
                    let minis = (size + miniSize - 1) / miniSize
                    for i in 0..<minis * miniSize {
                        rests[i] = i < size ? UInt64(T.Magnitude(truncatingIfNeeded: deltas[i] &- least)) : 0
                    }
                    let widths = out.count
                    out.append(zeros: 4)
                    for mini in 0..<minis {
                        let part = rests + mini * miniSize
                        var all: UInt64 = 0
                        for i in 0..<miniSize { all |= part[i] }
                        let width = BitPacking.width(all)
                        out[widths + mini] = UInt8(width)
                        out.grow(width * 4 + 8, zero: 0) { _ = BitPacking.pack(part, count: miniSize, width: width, into: $0) }
                        out.removeLast(8)
                    }
                    at += size
                }
            }
        }
    }
}

extension Array where Element == UInt8 {
    fileprivate mutating func append(zeros count: Int) { append(contentsOf: repeatElement(0, count: count)) }
}
