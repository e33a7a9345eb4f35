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
        let first = pages.lowerBound << log2, rows = min(count, (pages.upperBound &+ 1) << log2) &- first
        text.offsets.append(contentsOf: repeatElement(0, count: rows &+ 1))
        var used = 0
        for page in stride(from: pages.lowerBound, through: pages.upperBound, by: 2) {
            let both = page < pages.upperBound, room = used &+ (both ? 2 : 1) &* (largest &+ 16)
            guard Text.isBelievable(room, stored: payload.buffer.count) else { throw Damage("a vector of text is too long") }
            try text.reserve(room, memory)
            if text.bytes.count < room { text.bytes.append(contentsOf: repeatElement(0, count: room &- text.bytes.count)) }
            let isWhole = try decode(model, page, both, at: (page << log2 &- first, used), to: &text)
            used = text.offsets[min(rows, (page &+ (both ? 2 : 1)) << log2 &- first)]
            guard isWhole else {
                text.removeAll()
                throw Damage("a page does not hold exactly its values")
            }
        }
        text.bytes.removeLast(text.bytes.count &- used)
    }

    /// Decodes one page or two neighbours. `start` is the number of strings before them and that of their bytes.
    private func decode(
        _ model: ContextModel, _ page: Int, _ both: Bool, at start: (row: Int, byte: Int), to text: inout Text
    ) throws(Damage) -> Bool {
        let stored = try bytes(of: page), next = both ? try bytes(of: page &+ 1) : nil
        // The end of string i is offset i + 1.
        let row = start.row &+ 1, end = row &+ strings(of: page), second = start.byte &+ largest &+ 16
        return text.bytes.withUnsafeMutableBytes { out in
            text.offsets.withUnsafeMutableBufferPointer { ends in
                var first = ContextModel.Page(stored, to: out, from: start.byte, limit: largest, ends: ends, rows: row..<end)
                var other = next.map {
                    ContextModel.Page($0, to: out, from: second, limit: largest, ends: ends, rows: end..<(end &+ strings(of: page &+ 1)))
                }
                guard model.decode(&first, with: &other) else { return false }
                // The strings of the second page follow those of the first.
                if let other, other.end > second {
                    (out.baseAddress! + first.end).copyMemory(from: out.baseAddress! + second, byteCount: other.end &- second)
                }
                for i in other?.rows ?? end..<end { ends[i] &-= second &- first.end }
                return true
            }
        }
    }

    private func bytes(of page: Int) throws(Damage) -> BorrowedBytes {
        payload[try offsets.table.range(page)]
    }

    private func strings(of page: Int) -> Int { min(count &- page << log2, 1 << log2) }

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
