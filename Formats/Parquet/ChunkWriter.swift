import CZlib
import FirnBytes
import FirnTable

/// What is known of a page that was written.
struct WrittenPage: Sendable {
    /// The number of bytes, with its head.
    var size: Int
    var firstRow: Int
    /// The bounds as they are written; nil if the page has none.
    var bounds: (minimum: [UInt8], maximum: [UInt8], minimumIsExact: Bool, maximumIsExact: Bool)?
    var nullCount: Int
    var isNull: Bool
    var nanCount: Int
}

/// A column of a row group, ready to be written.
struct WrittenChunk: Sendable {
    var dictionary: [UInt8]?
    var pages: [[UInt8]] = []
    var index: [WrittenPage] = []
    var valueCount = 0
    var nullCount = 0
    /// The number of bytes before compression, with the heads of pages.
    var plainSize = 0
    var encodings: Set<Int> = []
    /// The number of data pages by encoding.
    var pageCounts: [Int: Int] = [:]
    var bounds: LeafBounds
    var size: Int { (dictionary?.count ?? 0) + pages.reduce(0) { $0 + $1.count } }
}

/// Encodes the pages of one leaf of a row group. Only one thread at a time may use it.
final class ChunkWriter: @unchecked Sendable {
    let leaf: SchemaElements.Leaf
    private let order: LeafOrder
    private let encoder: ValueEncoder
    private var chunk: WrittenChunk
    private var choice: EncodingChoice?
    private var builder: DictionaryBuilder?
    /// The number of values in the dictionary that pages use.
    private var dictionarySize = 0
    private var row = 0
    /// The number of values that were changed, in all row groups.
    private(set) var changed = 0

    init(_ leaf: SchemaElements.Leaf) {
        self.leaf = leaf
        order = LeafOrder(leaf.shape.physical, leaf.shape.logical)
        encoder = ValueEncoder(leaf.shape.physical)
        chunk = WrittenChunk(bounds: LeafBounds(order))
    }

    /// The number of bytes that the pages take in memory.
    private(set) var held = 0

    /// Appends a page. `share` is the part of the row group that the page probably is.
    func add(_ page: LeafPage, share: Double, _ compressor: PageCompressor) throws(FirnError) {
        changed += page.changed
        let count = page.values.count
        var encoding = ParquetFormat.Encoding.plain, body: [UInt8] = []
        if count > 0 {
            let codes = try codes(page.values, share: share, compressor)
            if let codes {
                encoding = .dictionary
                body = DictionaryBuilder.page(codes[...], of: dictionarySize)
            } else {
                encoding = choice?.encoding ?? .plain
                body = encoder.encode(page.values, 0..<count, encoding)
            }
        }
        let bounds = LeafBounds(page.values, order)
        let levels =
            ChunkWriter.levels(page.repetitions, page.count, leaf.maximumRepetition)
            + ChunkWriter.levels(page.definitions, page.count, leaf.maximumDefinition)
        let plain = levels.isEmpty ? body : levels + body
        let stored = try compressor.compress(plain)
        guard plain.count <= Int32.max, stored.count <= Int32.max else {
            throw FirnError(
                .rejected, "column \"\(leaf.path.joined(separator: "."))\": a page of \(plain.count) bytes is longer than Parquet allows",
                advice: "write another format, such as .firn")
        }
        let head = ChunkWriter.head(.data, plain: plain.count, stored) { out in
            out.structure(5) { out in
                out.int(1, page.count)
                out.int(2, encoding.rawValue)
                out.int(3, ParquetFormat.Encoding.runs.rawValue)
                out.int(4, ParquetFormat.Encoding.runs.rawValue)
            }
        }
        append(head, stored, encoding, plain: plain.count)
        chunk.index.append(
            WrittenPage(
                size: head.count + stored.count, firstRow: row, bounds: bounds.written, nullCount: page.count - count, isNull: count == 0,
                nanCount: bounds.nanCount))
        chunk.bounds.add(bounds)
        chunk.valueCount += page.count
        chunk.nullCount += page.count - count
        row += page.rows
    }

    private func append(_ head: [UInt8], _ stored: [UInt8], _ encoding: ParquetFormat.Encoding, plain: Int) {
        chunk.pages.append(head + stored)
        held += head.count + stored.count
        chunk.plainSize += head.count + plain
        chunk.encodings.insert(encoding.rawValue)
        chunk.pageCounts[encoding.rawValue, default: 0] += 1
    }

    /// Returns the codes of values in the dictionary; nil if the page has no dictionary.
    private func codes(_ values: LeafValues, share: Double, _ compressor: PageCompressor) throws(FirnError) -> [UInt32]? {
        if choice == nil {
            let expected = max(values.count, Int(Double(values.count) / max(share, 0.001)))
            var made = try EncodingChoice(values, leaf.shape, expected: expected, compressor)
            let chosen = made.takeDictionary()
            choice = made
            guard let chosen else { return nil }
            builder = chosen.builder
            dictionarySize = chosen.builder.count
            return chosen.codes
        }
        guard builder != nil else { return nil }
        guard let codes = builder?.codes(values) else {
            // The pages so far keep the dictionary; those that follow have none.
            finishDictionary()
            return nil
        }
        held += ((builder?.count ?? 0) - dictionarySize) * 16
        dictionarySize = builder?.count ?? 0
        return codes
    }

    /// The plain body of the dictionary, once no values are added to it.
    private var dictionaryBody: [UInt8]?

    private func finishDictionary() {
        guard let done = builder else { return }
        dictionaryBody = encoder.encode(done.values, 0..<dictionarySize, .plain)
        builder = nil
    }

    /// Returns the finished chunk and begins the next one.
    func take(_ compressor: PageCompressor) throws(FirnError) -> WrittenChunk {
        finishDictionary()
        if let body = dictionaryBody {
            let stored = try compressor.compress(body)
            let head = ChunkWriter.head(.dictionary, plain: body.count, stored) { out in
                out.structure(7) { out in
                    out.int(1, dictionarySize)
                    out.int(2, ParquetFormat.Encoding.plain.rawValue)
                }
            }
            chunk.dictionary = head + stored
            chunk.plainSize += head.count + body.count
            chunk.encodings.insert(ParquetFormat.Encoding.plain.rawValue)
        }
        if leaf.maximumDefinition > 0 || leaf.maximumRepetition > 0 { chunk.encodings.insert(ParquetFormat.Encoding.runs.rawValue) }
        let done = chunk
        chunk = WrittenChunk(bounds: LeafBounds(order))
        (choice, builder, dictionaryBody, dictionarySize, row, held) = (nil, nil, nil, 0, 0, 0)
        return done
    }

    /// Returns the head of a page, with its checksum.
    private static func head(
        _ type: ParquetFormat.Page, plain: Int, _ stored: [UInt8], _ fill: (inout ThriftEncoder) -> Void
    ) -> [UInt8] {
        let checksum = stored.withUnsafeBytes { crc32_z(0, $0.baseAddress?.assumingMemoryBound(to: UInt8.self), $0.count) }
        var out = ThriftEncoder()
        out.int(1, type.rawValue)
        out.int(2, plain)
        out.int(3, stored.count)
        out.int(4, Int(Int32(truncatingIfNeeded: Int(checksum))))
        fill(&out)
        return out.finished
    }

    /// Returns levels with the length before them. No levels stand for `count` times the maximum.
    private static func levels(_ levels: [UInt8], _ count: Int, _ maximum: Int) -> [UInt8] {
        guard maximum > 0 else { return [] }
        var runs = RunEncoder(width: LevelDecoder.width(maximum))
        if levels.isEmpty {
            runs.append(run: UInt32(maximum), count: count)
        } else {
            levels.withUnsafeBufferPointer { runs.append($0) }
        }
        return withUnsafeBytes(of: UInt32(runs.bytes.count).littleEndian) { Array($0) } + runs.bytes
    }
}
