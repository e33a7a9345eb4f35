import FirnBytes
import FirnExchange
import FirnTable

/// The Bloom filter of a column of a row group: a split block Bloom filter of XXH64 hashes (Parquet's specification, "Parquet Bloom Filter").
///
///     header (Thrift): bytes i32 · algorithm · hash · compression     blocks of 32 bytes, each of 8 words u32
///
/// The upper half of a hash chooses a block, the lower half one bit of each of its words.
struct BloomFilter: Sendable {
    private let blocks: Range<Int>
    private let file: FileBytes

    private static let blockBytes = 32
    private static let salts: [UInt32] = [
        0x47b6_137b, 0x4497_4d91, 0x8824_ad5b, 0xa2b7_289d, 0x7054_95c7, 0x2df1_424b, 0x9efc_4947, 0x5c6b_fb31,
    ]

    /// Returns nil if the chunk has no filter that can be used: it is not needed.
    init?(_ file: FileBytes, _ chunk: ParquetChunk) {
        guard let start = chunk.bloomOffset, start >= 4, start < file.count else { return nil }
        var count = 0, kinds: [Int16] = [0, 0, 0], first = start
        do throws(ParquetFault) {
            var reader = ThriftReader(try file.slice(start, file.count - start, "the Bloom filter"), origin: start)
            var last: Int16 = 0
            while let field = try reader.field(after: &last) {
                switch field.id {
                case 1: count = try reader.int(field)
                case 2, 3, 4:
                    try reader.enter(field)
                    var inner: Int16 = 0
                    while let kind = try reader.field(after: &inner) {
                        kinds[Int(field.id) - 2] = kind.id
                        try reader.skip(kind)
                    }
                default: try reader.skip(field)
                }
            }
            first += reader.position
        } catch { return nil }
        // Split blocks, XXH64, not compressed.
        guard kinds == [1, 1, 1], count > 0, count % BloomFilter.blockBytes == 0, count <= file.count - first else { return nil }
        self.file = file
        blocks = first..<first + count
    }

    /// Returns false only if the column has no value with these bytes.
    func mayHold(_ bytes: [UInt8]) -> Bool {
        let hash = XXHash64.hash(bytes), blockCount = UInt64(blocks.count / BloomFilter.blockBytes)
        let block = blocks.lowerBound + Int(((hash >> 32) &* blockCount) >> 32) * BloomFilter.blockBytes
        let key = UInt32(truncatingIfNeeded: hash)
        return (0..<8).allSatisfy { i in
            let word = UInt32(littleEndian: file.bytes.loadUnaligned(fromByteOffset: block + 4 * i, as: UInt32.self))
            return word >> ((key &* BloomFilter.salts[i]) >> 27) & 1 == 1
        }
    }

    /// Returns the bytes with which a value of a query is stored; nil if the filter cannot be asked for it.
    static func stored(_ value: Value, _ form: LeafForm, _ physical: ParquetFormat.Physical) -> [UInt8]? {
        func bytes<T: FixedWidthInteger>(_ number: T) -> [UInt8] {
            (0..<T.bitWidth / 8).map { UInt8(truncatingIfNeeded: number >> T(8 * $0)) }
        }
        switch (form, physical, value) {
        case (.int, .int64, .int(let x)): return bytes(x)
        case (.int, .int32, .int(let x)): return Int32(exactly: x).map(bytes)
        case (.unsigned, .int32, .int(let x)): return UInt32(exactly: x).map(bytes)
        // Zero and NaN are equal to values with other bits.
        case (.real, .double, .double(let x)) where x != 0 && !x.isNaN: return bytes(x.bitPattern)
        case (.real, .float, .double(let x)) where x != 0 && !x.isNaN: return Float(exactly: x).map { bytes($0.bitPattern) }
        case (.text, .byteArray, .data(let x)), (.bytes, .byteArray, .data(let x)): return x
        default: return nil
        }
    }
}

/// XXH64 with seed 0, of a few bytes.
enum XXHash64 {
    private static let p1: UInt64 = 0x9E37_79B1_85EB_CA87, p2: UInt64 = 0xC2B2_AE3D_27D4_EB4F, p3: UInt64 = 0x1656_67B1_9E37_79F9
    private static let p4: UInt64 = 0x85EB_CA77_C2B2_AE63, p5: UInt64 = 0x27D4_EB2F_1656_67C5

    static func hash(_ bytes: [UInt8]) -> UInt64 {
        func word(_ at: Int) -> UInt64 { (0..<8).reduce(0) { $0 | UInt64(bytes[at + $1]) << UInt64(8 * $1) } }
        var at = 0, hash = p5
        if bytes.count >= 32 {
            var lanes = [p1 &+ p2, p2, 0, 0 &- p1]
            while at + 32 <= bytes.count {
                for i in 0..<4 { lanes[i] = round(lanes[i], word(at + 8 * i)) }
                at += 32
            }
            hash = rotated(lanes[0], 1) &+ rotated(lanes[1], 7) &+ rotated(lanes[2], 12) &+ rotated(lanes[3], 18)
            for lane in lanes { hash = (hash ^ round(0, lane)) &* p1 &+ p4 }
        }
        hash &+= UInt64(bytes.count)
        while at + 8 <= bytes.count {
            hash = rotated(hash ^ round(0, word(at)), 27) &* p1 &+ p4
            at += 8
        }
        if at + 4 <= bytes.count {
            let half = (0..<4).reduce(0 as UInt64) { $0 | UInt64(bytes[at + $1]) << UInt64(8 * $1) }
            hash = rotated(hash ^ half &* p1, 23) &* p2 &+ p3
            at += 4
        }
        while at < bytes.count {
            hash = rotated(hash ^ UInt64(bytes[at]) &* p5, 11) &* p1
            at += 1
        }
        hash = (hash ^ hash >> 33) &* p2
        hash = (hash ^ hash >> 29) &* p3
        return hash ^ hash >> 32
    }

    private static func round(_ sum: UInt64, _ word: UInt64) -> UInt64 { rotated(sum &+ word &* p2, 31) &* p1 }
    private static func rotated(_ x: UInt64, _ bits: UInt64) -> UInt64 { x << bits | x >> (64 - bits) }
}
