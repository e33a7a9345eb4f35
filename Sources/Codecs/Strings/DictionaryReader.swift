import FirnBytes
import Synchronization

/// Reads a dictionary-coded stream.
///
///     0x61 · flags u8 (1 shared values, 2 remapped) · shared: index u8, inline: size varint + `DictionaryValues`
///     · [remapped: local count varint, size varint + integer stream of ascending codes into the shared values] · integer stream of codes
///
/// Remapped codes index only the values that occur in this segment.
final class DictionaryReader: Sendable {
    let codes: IntegersReader
    /// The size in bytes of the stream and of its shared blob.
    private let stored: Int
    private let source: SharedText
    private let memory: MemoryScope
    private let remap: IntegersReader?
    private let localCache = Mutex<DictionaryText?>(nil)

    /// `reader` is positioned after the id of the encoding.
    init(_ reader: inout ByteReader, count: Int, shared: [SharedText], memory: MemoryScope) throws(Damage) {
        self.memory = memory
        let flags = try reader.read(UInt8.self)
        guard flags < 4 else { throw Damage("unknown flags of a dictionary", at: reader.position) }
        if flags & 1 != 0 {
            let index = Int(try reader.read(UInt8.self))
            guard index < shared.count else { throw Damage("text refers to a shared blob that does not exist", at: reader.position) }
            source = shared[index]
        } else {
            source = try SharedText(kind: .values, bytes: try reader.readLengthPrefixed())
        }
        if flags & 2 != 0 {
            let local = try reader.readCount(limit: DictionaryValues.maximumBytes * 4)
            remap = try IntegersReader(try reader.readLengthPrefixed(), count: local)
        } else {
            remap = nil
        }
        codes = try IntegersReader(try reader.read(count: reader.remaining), count: count)
        stored = reader.bytes.count + source.storedBytes
    }

    /// The features that the nested streams need.
    var features: EncodingFeatures { codes.features.union(remap?.features ?? []) }

    /// Returns the values that the codes index.
    func values() throws(Damage) -> DictionaryText {
        let all = try source.values(memory)
        guard let remap else { return all }
        if let found = localCache.withLock({ $0 }) { return found }
        guard remap.count <= all.text.count else { throw Damage("a segment has more values than its dictionary") }
        let made = DictionaryText(try Self.subset(of: all.text, by: remap, memory))
        localCache.withLock { $0 = made }
        return made
    }

    private static func subset(of all: Text, by remap: IntegersReader, _ memory: MemoryScope) throws(Damage) -> Text {
        var codes = [Int64](repeating: 0, count: 1024)
        var local = Text()
        try local.reserve((remap.count + 1) * 8, memory)
        local.offsets.reserveCapacity(remap.count + 1)
        var vector = 0, row = 0
        var before: Int64 = -1
        while row < remap.count {
            try codes.withUnsafeMutableBufferPointer { (room) throws(Damage) in try remap.decode(vector: vector, into: room.baseAddress!) }
            let n = min(1024, remap.count &- row)
            var total = local.bytes.count
            for i in 0..<n {
                let code = codes[i]
                guard code > before, code < all.count else { throw Damage("a segment refers to values that are not in its dictionary") }
                before = code
                total &+= all.length(Int(code))
            }
            try local.reserve(total &+ (remap.count &+ 1) &* 8, memory)
            for i in 0..<n { all.withBytes(Int(codes[i])) { local.append($0) } }
            row &+= 1024
            vector &+= 1
        }
        return local
    }

    func decodeCodes(vector: Int, into codes: UnsafeMutablePointer<Int64>, valueCount: Int) throws(Damage) {
        try self.codes.decode(vector: vector, into: codes)
        let n = min(1024, self.codes.count &- vector << 10)
        var outside: UInt64 = 0
        let limit = Int64(valueCount)
        // The sign bit is set if a code is negative or not below the limit.
        for i in 0..<n { outside |= UInt64(bitPattern: codes[i]) | UInt64(bitPattern: limit &- 1 &- codes[i]) }
        guard outside >> 63 == 0 else { throw Damage("a code has no value in the dictionary") }
    }

    func withValue<R>(at row: Int, _ body: (UnsafeRawBufferPointer) -> R) throws(Damage) -> R {
        let all = try source.values(memory).text
        var code = try codes.value(at: row)
        if let remap {
            guard code >= 0, code < remap.count else { throw Damage("a code has no value in the dictionary") }
            code = try remap.value(at: Int(code))
        }
        guard code >= 0, code < all.count else { throw Damage("a code has no value in the dictionary") }
        return all.withBytes(Int(code), body)
    }

    func decode(vector: Int, into text: inout Text) throws(Damage) {
        let values = try values().text
        let n = min(1024, codes.count &- vector << 10)
        let codes = UnsafeMutablePointer<Int64>.allocate(capacity: 1024)
        defer { codes.deallocate() }
        try decodeCodes(vector: vector, into: codes, valueCount: values.count)
        var total = 0
        values.offsets.withUnsafeBufferPointer { offsets in
            for i in 0..<n { total &+= offsets[Int(truncatingIfNeeded: codes[i]) &+ 1] &- offsets[Int(truncatingIfNeeded: codes[i])] }
        }
        guard total <= Text.maximumVectorBytes, Text.isBelievable(total, stored: stored) else {
            throw Damage("a vector of text is too long")
        }
        try text.reserve(total, memory)
        values.offsets.withUnsafeBufferPointer { offsets in
            values.bytes.withUnsafeBytes { bytes in
                text.fill(n) { i in
                    let code = Int(truncatingIfNeeded: codes[i])
                    return (offsets[code], offsets[code &+ 1])
                } from: {
                    bytes
                }
            }
        }
    }
}

extension Text {
    /// The maximum number of bytes of one decoded vector, because repeated values can expand a few stored bytes without bound.
    static let maximumVectorBytes = 1 << 32

    /// Returns whether `stored` bytes can plausibly decode to `total` bytes. A few untrusted kilobytes can claim a dictionary with one long
    /// value and a thousand rows that have it.
    package static func isBelievable(_ total: Int, stored: Int) -> Bool { total <= 1 << 28 || total >> 16 <= stored }

    /// Replaces the contents with `n` slices of `source`. `slice` returns the bounds of slice i.
    @inline(__always)
    mutating func fill(_ n: Int, slice: (Int) -> (Int, Int), from source: () -> UnsafeRawBufferPointer) {
        offsets.removeAll(keepingCapacity: true)
        offsets.reserveCapacity(n + 1)
        offsets.append(0)
        var total = 0
        for i in 0..<n {
            let (start, end) = slice(i)
            total &+= end &- start
            offsets.append(total)
        }
        // Sixteen extra bytes allow short strings to be copied with one store that may run past their end.
        if bytes.count < total &+ 16 { bytes.append(contentsOf: repeatElement(0, count: total &+ 16 &- bytes.count)) }
        let source = source()
        bytes.withUnsafeMutableBytes { out in
            var at = 0
            for i in 0..<n {
                let (start, end) = slice(i)
                if end &- start <= 16, start &+ 16 <= source.count {
                    out.storeBytes(
                        of: source.loadUnaligned(fromByteOffset: start, as: SIMD16<UInt8>.self), toByteOffset: at, as: SIMD16<UInt8>.self)
                } else if end > start {
                    (out.baseAddress! + at).copyMemory(from: source.baseAddress! + start, byteCount: end &- start)
                }
                at &+= end &- start
            }
        }
        bytes.removeLast(bytes.count &- total)
    }
}
