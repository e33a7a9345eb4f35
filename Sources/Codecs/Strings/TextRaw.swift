import FirnBytes

/// Reads strings that are stored uncompressed.
///
///     0x64 · size varint + lengths stream · bytes
final class RawTextReader: Sendable {
    private let lengths: LengthsReader
    private let bytes: BorrowedBytes
    private let memory: MemoryScope

    /// `reader` is positioned after the id of the encoding.
    init(_ reader: inout ByteReader, count: Int, memory: MemoryScope) throws(Damage) {
        self.memory = memory
        lengths = try LengthsReader(try reader.readLengthPrefixed(), count: count)
        bytes = BorrowedBytes(try reader.read(count: reader.remaining))
        guard lengths.total == bytes.buffer.count else { throw Damage("the size of raw text does not match its lengths") }
    }

    /// The features that the nested stream needs.
    var features: EncodingFeatures { lengths.features }

    static func encode(_ text: Text, profile: Profile) -> [UInt8] {
        var out = ByteWriter(reserving: text.bytes.count + text.count)
        out.append(TextEncoding.raw.rawValue)
        out.append(lengthPrefixed: text.offsets.withUnsafeBufferPointer { LengthsEncoder.encode($0, profile: profile) })
        out.append(contentsOf: text.bytes)
        return out.bytes
    }

    func decode(vector: Int, into text: inout Text) throws(Damage) {
        let n = min(1024, lengths.count &- vector << 10)
        let offsets = UnsafeMutablePointer<Int>.allocate(capacity: 1025)
        defer { offsets.deallocate() }
        try lengths.decode(vector: vector, into: offsets)
        try check(offsets, n)
        try text.reserve(offsets[n] &- offsets[0], memory)
        text.fill(n) {
            (offsets[$0], offsets[$0 &+ 1])
        } from: {
            bytes.buffer
        }
    }

    private func check(_ offsets: UnsafeMutablePointer<Int>, _ n: Int) throws(Damage) {
        guard offsets[0] >= 0, offsets[n] <= bytes.buffer.count else { throw Damage("a string lies outside the stream") }
        for i in 0..<n where offsets[i] > offsets[i &+ 1] { throw Damage("a string lies outside the stream") }
    }

    func withValue<R>(at row: Int, _ body: (UnsafeRawBufferPointer) -> R) throws(Damage) -> R {
        let range = try lengths.range(at: row)
        guard range.lowerBound >= 0, range.upperBound <= bytes.buffer.count else { throw Damage("a string lies outside the stream") }
        return body(UnsafeRawBufferPointer(rebasing: bytes.buffer[range]))
    }
}
