import FirnBytes
import Synchronization

/// Reads strings whose bytes are coded with the predictions of a model. All of them are decoded when the first one is read, and kept as long
/// as the reader.
///
///     0x65 · terminator u8 · size varint · coded bytes
///
/// The text of `size` bytes is each string followed by the terminator, a byte that no string contains.
final class ModelledTextReader: Sendable {
    private let count: Int
    private let terminator: UInt8
    private let size: Int
    private let coded: BorrowedBytes
    private let memory: MemoryScope
    private let decoded = Mutex<Decoded?>(nil)

    private final class Decoded: Sendable {
        let text: Text
        /// Charges the memory as long as it is in use.
        private let charge: MemoryCharge
        init(_ text: Text, _ charge: MemoryCharge) {
            self.text = text
            self.charge = charge
        }
    }

    /// `reader` is positioned after the id of the encoding.
    init(_ reader: inout ByteReader, count: Int, memory: MemoryScope) throws(Damage) {
        self.count = count
        self.memory = memory
        terminator = try reader.read(UInt8.self)
        size = try reader.readCount(limit: ModelledBytes.maximumBytes)
        guard size >= count else { throw Damage("modelled text is too short for its strings", at: reader.position) }
        coded = BorrowedBytes(try reader.read(count: reader.remaining))
    }

    /// Returns nil unless the stream has less than `limit` bytes: also if the text is too large, or contains every byte.
    static func encode(_ text: Text, below limit: Int) -> [UInt8]? {
        let size = text.bytes.count + text.count
        guard size <= ModelledBytes.maximumBytes, limit > 8, let terminator = terminator(for: text) else { return nil }
        var raw: [UInt8] = []
        raw.reserveCapacity(size)
        for row in 0..<text.count {
            raw.append(contentsOf: text.bytes[text.range(row)])
            raw.append(terminator)
        }
        guard let coded = ModelledBytes.encode(raw, terminator: terminator, limit: limit - 6) else { return nil }
        var out = ByteWriter(reserving: coded.count + 6)
        out.append(TextEncoding.modelled.rawValue)
        out.append(terminator)
        out.appendVarint(size)
        out.append(contentsOf: coded)
        return out.count < limit ? out.bytes : nil
    }

    /// The smallest byte that does not occur.
    private static func terminator(for text: Text) -> UInt8? {
        var occurs = [Bool](repeating: false, count: 256)
        for byte in text.bytes { occurs[Int(byte)] = true }
        return occurs.firstIndex(of: false).map { UInt8($0) }
    }

    // MARK: Reading

    private func all() throws(Damage) -> Decoded {
        try decoded.withLock { (decoded) throws(Damage) -> Decoded in
            if let decoded { return decoded }
            let made = try decode()
            decoded = made
            return made
        }
    }

    private func decode() throws(Damage) -> Decoded {
        let charge = try memory.holding(2 &* size &+ 8 &* count)
        var failure: Damage?
        let raw = [UInt8](unsafeUninitializedCapacity: max(size, 1)) { room, filled in
            do throws(Damage) {
                try ModelledBytes.decode(coded.buffer, count: size, terminator: terminator, into: room.baseAddress!)
                filled = size
            } catch { failure = error }
        }
        if let failure { throw failure }
        var text = Text(), start = 0
        text.bytes.reserveCapacity(size &- count)
        text.offsets.reserveCapacity(count &+ 1)
        raw.withUnsafeBytes { bytes in
            for at in bytes.indices where bytes[at] == terminator {
                text.append(UnsafeRawBufferPointer(rebasing: bytes[start..<at]))
                start = at &+ 1
            }
        }
        guard start == size, text.count == count else { throw Damage("modelled text has another number of strings") }
        return Decoded(text, charge)
    }

    func decode(vector: Int, into text: inout Text) throws(Damage) {
        let all = try all().text, first = vector << 10, end = min(count, first &+ 1024)
        text.removeAll()
        try text.reserve(all.offsets[end] &- all.offsets[first], memory)
        text.append(contentsOf: all, range: first..<end)
    }

    func withValue<R>(at row: Int, _ body: (UnsafeRawBufferPointer) -> R) throws(Damage) -> R { try all().text.withBytes(row, body) }
}
