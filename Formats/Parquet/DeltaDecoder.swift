import FirnBytes
import FirnExchange

/// Decodes DELTA_BINARY_PACKED: blocks of bit-packed differences.
struct DeltaDecoder {
    private let bytes: UnsafeRawBufferPointer
    private var at = 0
    private let blockSize: Int
    private let perMini: Int
    private let miniCount: Int
    /// The number of values that are left, and of those that the current miniblock has left.
    private(set) var left: Int
    private var miniLeft = 0
    private var mini: Int
    private var widths = 0
    private var bit = 0
    private var minimum: UInt64 = 0
    private var last: UInt64 = 0
    private var hasFirst = false

    init(_ bytes: UnsafeRawBufferPointer) throws(ParquetFault) {
        self.bytes = bytes
        var at = 0
        func fault() -> ParquetFault { ParquetFault("the header of delta-encoded values is cut short or invalid") }
        guard let block = DeltaDecoder.varint(bytes, &at), let minis = DeltaDecoder.varint(bytes, &at),
            let total = DeltaDecoder.varint(bytes, &at), let first = DeltaDecoder.varint(bytes, &at), block > 0, block <= 1 << 24,
            minis > 0,
            minis <= block, block % minis == 0, (block / minis) % 8 == 0, total <= 1 << 31
        else { throw fault() }
        blockSize = Int(block)
        miniCount = Int(minis)
        perMini = blockSize / miniCount
        left = Int(total)
        mini = miniCount
        last = first >> 1 ^ (0 &- (first & 1))
        self.at = at
    }

    private static func varint(_ bytes: UnsafeRawBufferPointer, _ at: inout Int) -> UInt64? {
        var value: UInt64 = 0, shift: UInt64 = 0
        while at < bytes.count, shift < 64 {
            let byte = bytes[at]
            at += 1
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
            shift += 7
        }
        return nil
    }

    private func cut() -> ParquetFault { ParquetFault("the delta-encoded values are cut short") }

    /// Begins the next miniblock, and a block if necessary. Returns the number of bits of its values.
    private mutating func beginMini() throws(ParquetFault) -> Int {
        if mini == miniCount {
            guard let zigzag = DeltaDecoder.varint(bytes, &at), bytes.count - at >= miniCount else { throw cut() }
            minimum = zigzag >> 1 ^ (0 &- (zigzag & 1))
            widths = at
            at += miniCount
            mini = 0
        }
        let width = Int(bytes[widths + mini])
        guard width <= 64 else { throw ParquetFault("delta-encoded values have \(width) bits") }
        return width
    }

    /// Writes the next `count` values.
    mutating func next(_ count: Int, into out: UnsafeMutablePointer<Int64>) throws(ParquetFault) {
        guard count <= left else { throw cut() }
        left -= count
        var done = 0
        if !hasFirst, count > 0 {
            hasFirst = true
            out[0] = Int64(bitPattern: last)
            done = 1
        }
        while done < count {
            if miniLeft == 0 {
                _ = try beginMini()
                miniLeft = perMini
                bit = 0
            }
            let width = Int(bytes[widths + mini]), take = min(miniLeft, count - done)
            // The last miniblock can lack the bytes that no value needs.
            guard (bit + take * width + 7) / 8 <= bytes.count - at else { throw cut() }
            let room = UnsafeRawBufferPointer(rebasing: bytes[at...])
            BitUnpacking.unpack(room, from: bit, width: width, count: take, into: out + done)
            var value = last
            for i in done..<done + take {
                value = value &+ minimum &+ UInt64(bitPattern: out[i])
                out[i] = Int64(bitPattern: value)
            }
            last = value
            bit += take * width
            done += take
            miniLeft -= take
            if miniLeft == 0 { endMini(width) }
        }
    }

    private mutating func endMini(_ width: Int) {
        at = min(bytes.count, at + perMini * width / 8)
        mini += 1
    }

    /// Returns the offset of the first byte after the values. Call it before `next`.
    func end() throws(ParquetFault) -> Int {
        var copy = self, rest = max(0, left - 1)
        while rest > 0 {
            let width = try copy.beginMini(), needed = (min(rest, perMini) * width + 7) / 8
            guard needed <= bytes.count - copy.at else { throw cut() }
            copy.endMini(width)
            rest -= min(rest, perMini)
        }
        return copy.at
    }
}
