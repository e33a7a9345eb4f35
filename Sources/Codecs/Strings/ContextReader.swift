import FirnBytes
import Synchronization

/// Reads strings whose symbols are coded in contexts.
///
///     0x66 · flags u8 (2 contexts inline, 4 shared) · size varint + `TrainedText` if inline, index u8 if shared
///     · log2(values a page) u8 (≤ 10) · largest page varint · page offsets · pages
final class ContextReader: Sendable {
    private let count: Int
    private let source: SharedText
    private let log2: Int
    private let largest: Int
    private let offsets: PageReader.Offsets
    private let payload: BorrowedBytes
    private let memory: MemoryScope
    /// The opened source, after its first use.
    private let known = Mutex<TrainedText?>(nil)
    /// Pages that were decoded for single values.
    private let kept = KeptPages<Text>()

    /// `reader` is positioned after the id of the encoding.
    init(_ reader: inout ByteReader, count: Int, shared: [SharedText], memory: MemoryScope) throws(Damage) {
        self.count = count
        self.memory = memory
        switch try reader.read(UInt8.self) {
        case 2: source = try SharedText(kind: .trained, bytes: try reader.readLengthPrefixed())
        case 4:
            let index = Int(try reader.read(UInt8.self))
            guard index < shared.count else { throw Damage("text refers to a shared blob that does not exist", at: reader.position) }
            source = shared[index]
        default: throw Damage("unknown flags of symbols in contexts", at: reader.position)
        }
        log2 = Int(try reader.read(UInt8.self))
        guard log2 <= 10 else { throw Damage("pages have too many values", at: reader.position) }
        largest = try reader.readCount(limit: PageEncoder.maximumPageBytes)
        let table = try PageOffsets(&reader, pages: count == 0 ? 0 : ((count &- 1) >> log2) &+ 1)
        offsets = PageReader.Offsets(table: table)
        payload = BorrowedBytes(try reader.read(count: table.total))
        guard reader.isAtEnd else { throw Damage("text pages are followed by other bytes", at: reader.position) }
    }

    private func model() throws(Damage) -> ContextModel {
        let trained: TrainedText
        if let known = known.withLock({ $0 }) {
            trained = known
        } else {
            trained = try source.trained(memory)
            known.withLock { $0 = trained }
        }
        guard case .contexts(let model) = trained.form else { throw Damage("symbols in contexts refer to another trained blob") }
        return model
    }

    func decode(vector: Int, into text: inout Text) throws(Damage) {
        let first = vector << 10, end = min(count, first &+ 1024)
        try decode(pages: (first >> log2)...((end &- 1) >> log2), into: &text)
    }

    private func decode(pages: ClosedRange<Int>, into text: inout Text) throws(Damage) {
        let model = try model()
        text.offsets.removeAll(keepingCapacity: true)
        text.offsets.reserveCapacity(pages.count << log2 + 1)
        text.offsets.append(0)
        var used = 0
        for page in pages {
            let stored = UnsafeRawBufferPointer(rebasing: payload.buffer[try offsets.table.range(page)])
            let room = used &+ largest &+ 16, strings = min(count, (page &+ 1) << log2) &- page << log2
            guard Text.isBelievable(room, stored: payload.buffer.count) else { throw Damage("a vector of text is too long") }
            try text.reserve(room, memory)
            if text.bytes.count < room { text.bytes.append(contentsOf: repeatElement(0, count: room &- text.bytes.count)) }
            let size = text.bytes.withUnsafeMutableBytes { out in
                model.decode(stored, count: strings, to: out.baseAddress! + used, limit: largest, start: used, ends: &text.offsets)
            }
            guard let size else {
                text.removeAll()
                throw Damage("a page does not hold exactly its values")
            }
            used &+= size
        }
        text.bytes.removeLast(text.bytes.count &- used)
    }

    func withValue<R>(at row: Int, _ body: (UnsafeRawBufferPointer) -> R) throws(Damage) -> R {
        let page = row >> log2, index = row &- page << log2
        if let text = kept[page] { return text.withBytes(index, body) }
        var text = Text()
        try decode(pages: page...page, into: &text)
        // A copy has no charge, and no more room than it needs.
        var copy = Text()
        copy.append(contentsOf: text)
        kept.keep(copy, page, bytes: copy.bytes.count &+ copy.offsets.count &* 8)
        return text.withBytes(index, body)
    }
}
