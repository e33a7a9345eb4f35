import FirnBytes
import FirnExchange

/// Decodes ALP (AlpEncoding.md of the Parquet format; Afroozeh, Kuffo and Boncz, "ALP: Adaptive Lossless floating-Point Compression",
/// SIGMOD 2024): vectors of whole numbers that are multiplied by powers of ten, with exceptions.
struct AlpDecoder {
    private let body: UnsafeRawBufferPointer
    private let isDouble: Bool
    private let vectorSize: Int
    private let total: Int
    private var vector = 0
    /// The values of the current vector, as bits, and the position of the next one.
    private var values: [UInt64] = []
    private var position = 0

    init(_ bytes: UnsafeRawBufferPointer, isDouble: Bool) throws(ParquetFault) {
        guard bytes.count >= 7 else { throw ParquetFault("the header of ALP values is cut short") }
        guard bytes[0] == 0, bytes[1] == 0 else {
            throw ParquetFault.unknown("the ALP values have the mode \(bytes[0]) and the integer encoding \(bytes[1]), which are not known")
        }
        let size = Int(bytes[2]), count = Int(Int32(littleEndian: bytes.loadUnaligned(fromByteOffset: 3, as: Int32.self)))
        guard (3...15).contains(size), count >= 0 else { throw ParquetFault("the header of ALP values is invalid") }
        self.isDouble = isDouble
        vectorSize = 1 << size
        total = count
        body = UnsafeRawBufferPointer(rebasing: bytes[7...])
    }

    /// Writes the bits of the next `count` values, of four or eight bytes each.
    mutating func next(_ count: Int, into out: UnsafeMutableRawPointer) throws(ParquetFault) {
        var done = 0
        while done < count {
            if position == values.count { try decode() }
            let take = min(count - done, values.count - position)
            for i in 0..<take {
                let bits = values[position + i]
                if isDouble {
                    out.storeBytes(of: bits.littleEndian, toByteOffset: (done + i) * 8, as: UInt64.self)
                } else {
                    out.storeBytes(of: UInt32(truncatingIfNeeded: bits).littleEndian, toByteOffset: (done + i) * 4, as: UInt32.self)
                }
            }
            position += take
            done += take
        }
    }

    private mutating func decode() throws(ParquetFault) {
        func cut() -> ParquetFault { ParquetFault("the ALP values are cut short") }
        let count = min(vectorSize, total - vector * vectorSize)
        guard count > 0, body.count >= vector * 4 + 4 else { throw cut() }
        let width = isDouble ? 8 : 4, offset = Int(UInt32(littleEndian: body.loadUnaligned(fromByteOffset: vector * 4, as: UInt32.self)))
        guard offset <= body.count, body.count - offset >= 5 + width else { throw cut() }
        let head = UnsafeRawBufferPointer(rebasing: body[offset...])
        let exponent = Int(head[0]), factor = Int(head[1]), bits = Int(head[4 + width])
        let exceptions = Int(UInt16(littleEndian: head.loadUnaligned(fromByteOffset: 2, as: UInt16.self)))
        guard exponent <= (isDouble ? 18 : 10), factor <= exponent, bits <= width * 8, exceptions <= count else {
            throw ParquetFault("a vector of ALP values has an invalid header")
        }
        let packedSize = (count * bits + 7) / 8, positions = 5 + width + packedSize, originals = positions + exceptions * 2
        guard head.count >= originals + exceptions * width else { throw cut() }
        values.removeAll(keepingCapacity: true)
        values.append(contentsOf: repeatElement(0, count: count))
        let packed = UnsafeRawBufferPointer(rebasing: head[(5 + width)..<positions])
        values.withUnsafeMutableBufferPointer { values in
            guard let base = values.baseAddress else { return }
            BitUnpacking.unpack(packed, from: 0, width: bits, count: count, into: base)
            if isDouble {
                let reference = head.loadUnaligned(fromByteOffset: 4, as: UInt64.self).littleEndian
                let up = AlpDecoder.powers[factor], down = AlpDecoder.fractions[exponent]
                for i in 0..<count { base[i] = (Double(Int64(bitPattern: base[i] &+ reference)) * up * down).bitPattern }
            } else {
                let reference = head.loadUnaligned(fromByteOffset: 4, as: UInt32.self).littleEndian
                let up = Float(AlpDecoder.powers[factor]), down = AlpDecoder.shortFractions[exponent]
                for i in 0..<count {
                    let whole = Int32(bitPattern: UInt32(truncatingIfNeeded: base[i]) &+ reference)
                    base[i] = UInt64((Float(whole) * up * down).bitPattern)
                }
            }
        }
        for i in 0..<exceptions {
            let at = Int(UInt16(littleEndian: head.loadUnaligned(fromByteOffset: positions + i * 2, as: UInt16.self)))
            guard at < count else { throw ParquetFault("an exception of ALP values is outside its vector") }
            values[at] =
                isDouble
                ? head.loadUnaligned(fromByteOffset: originals + i * 8, as: UInt64.self).littleEndian
                : UInt64(head.loadUnaligned(fromByteOffset: originals + i * 4, as: UInt32.self).littleEndian)
        }
        position = 0
        vector += 1
    }

    private static let powers: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    ]
    private static let fractions: [Double] = [
        1e0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12, 1e-13, 1e-14, 1e-15, 1e-16, 1e-17, 1e-18,
    ]
    private static let shortFractions: [Float] = [1e0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10]
}
