import FirnBytes

/// A row group that was written.
struct WrittenGroup {
    /// A column of the group: its pages are in the file, and their index is written at the end.
    struct Chunk {
        var leaf: SchemaElements.Leaf
        var start: Int
        var dictionarySize: Int?
        var size: Int
        var written: WrittenChunk
        var columnIndex: Range<Int>?
        var offsetIndex: Range<Int>?
    }

    var chunks: [Chunk]
    var rowCount: Int
    /// The position of the leaf by which the rows are in order, and whether they descend.
    var sorting: (leaf: Int, descends: Bool)?
}

/// Makes the metadata at the end of a file.
enum FooterWriter {
    static let program = "firn version "
    static let creator = program + "0.1.0 (build 1)"

    /// Returns the column index of a chunk; nil if a page with values has no bounds.
    static func columnIndex(_ chunk: WrittenChunk) -> [UInt8]? {
        guard chunk.index.allSatisfy({ $0.isNull || $0.bounds != nil }), chunk.index.contains(where: { !$0.isNull }) else { return nil }
        var out = ThriftEncoder()
        out.bools(1, chunk.index.map(\.isNull))
        out.binaries(2, chunk.index.map { $0.bounds?.minimum ?? [] })
        out.binaries(3, chunk.index.map { $0.bounds?.maximum ?? [] })
        out.int(4, order(chunk))
        out.longs(5, chunk.index.map(\.nullCount))
        return out.finished
    }

    /// Returns whether the bounds of pages ascend (1), descend (2) or neither (0).
    private static func order(_ chunk: WrittenChunk) -> Int {
        let bounds = chunk.index.compactMap(\.bounds), pairs = zip(bounds, bounds.dropFirst())
        func isAfter(_ a: [UInt8], _ b: [UInt8]) -> Bool { !chunk.bounds.precedes(b, a) }
        if pairs.allSatisfy({ isAfter($0.minimum, $1.minimum) && isAfter($0.maximum, $1.maximum) }) { return 1 }
        return pairs.allSatisfy { isAfter($1.minimum, $0.minimum) && isAfter($1.maximum, $0.maximum) } ? 2 : 0
    }

    static func offsetIndex(_ chunk: WrittenGroup.Chunk) -> [UInt8] {
        var out = ThriftEncoder(), offset = chunk.start + (chunk.dictionarySize ?? 0)
        out.list(1, chunk.written.index) { out, page in
            out.long(1, offset)
            out.int(2, page.size)
            out.long(3, page.firstRow)
            offset += page.size
        }
        return out.finished
    }

    static func footer(
        _ elements: SchemaElements, _ groups: [WrittenGroup], metadata: [(key: String, value: [UInt8])], _ compression: ParquetCompression
    ) -> [UInt8] {
        var out = ThriftEncoder()
        out.int(1, 2)
        out.list(2, elements.nodes) { add($1, to: &$0) }
        out.long(3, groups.reduce(0) { $0 + $1.rowCount })
        out.list(4, Array(groups.enumerated())) { out, group in add(group.element, number: group.offset, compression, to: &out) }
        if !metadata.isEmpty {
            out.list(5, metadata) { out, entry in
                out.text(1, entry.key)
                out.binary(2, entry.value)
            }
        }
        out.text(6, creator)
        out.list(7, elements.leaves) { out, _ in out.structure(1) { _ in } }
        return out.finished
    }

    // MARK: Schema

    private static func add(_ node: SchemaElements.Node, to out: inout ThriftEncoder) {
        if let leaf = node.leaf {
            out.int(1, leaf.physical.rawValue)
            if leaf.physical == .fixed { out.int(2, leaf.length) }
        }
        if let repetition = node.repetition { out.int(3, repetition.rawValue) }
        out.text(4, node.name)
        if let count = node.childCount { out.int(5, count) }
        guard let logical = node.leaf?.logical ?? node.group else { return }
        if let converted = converted(logical) { out.int(6, converted.rawValue) }
        if case .decimal(let precision, let scale) = logical {
            out.int(7, scale)
            out.int(8, precision)
        }
        guard logical != .interval else { return }
        out.structure(10) { add(logical, to: &$0) }
    }

    /// The former annotation that has the same meaning.
    private static func converted(_ logical: ParquetFormat.Logical) -> ParquetFormat.Converted? {
        switch logical {
        case .string: .utf8
        case .map: .map
        case .list: .list
        case .enumeration: .enumeration
        case .decimal: .decimal
        case .date: .date
        // The former times and timestamps are in UTC.
        case .time(.millis, utc: true): .timeMillis
        case .time(.micros, utc: true): .timeMicros
        case .timestamp(.millis, utc: true): .timestampMillis
        case .timestamp(.micros, utc: true): .timestampMicros
        case .int(let bits): bits == 8 ? .int8 : bits == 16 ? .int16 : bits == 32 ? .int32 : .int64
        case .uint(let bits): bits == 8 ? .uint8 : bits == 16 ? .uint16 : bits == 32 ? .uint32 : .uint64
        case .json: .json
        case .bson: .bson
        case .interval: .interval
        case .time, .timestamp, .null, .uuid, .float16, .variant, .geometry, .geography: nil
        }
    }

    private static func add(_ logical: ParquetFormat.Logical, to out: inout ThriftEncoder) {
        func unit(_ unit: ParquetFormat.Unit, _ utc: Bool, _ out: inout ThriftEncoder) {
            out.bool(1, utc)
            out.structure(2) { $0.structure(Int16(unit.rawValue)) { _ in } }
        }
        switch logical {
        case .string: out.structure(1) { _ in }
        case .map: out.structure(2) { _ in }
        case .list: out.structure(3) { _ in }
        case .enumeration: out.structure(4) { _ in }
        case .decimal(let precision, let scale):
            out.structure(5) {
                $0.int(1, scale)
                $0.int(2, precision)
            }
        case .date: out.structure(6) { _ in }
        case .time(let of, let utc): out.structure(7) { unit(of, utc, &$0) }
        case .timestamp(let of, let utc): out.structure(8) { unit(of, utc, &$0) }
        case .int(let bits), .uint(let bits):
            let isSigned = logical == .int(bits)
            out.structure(10) {
                $0.byte(1, Int8(bits))
                $0.bool(2, isSigned)
            }
        case .null: out.structure(11) { _ in }
        case .json: out.structure(12) { _ in }
        case .bson: out.structure(13) { _ in }
        case .uuid: out.structure(14) { _ in }
        case .float16: out.structure(15) { _ in }
        case .geometry(let system), .geography(let system):
            let isPlane = logical == .geometry(system)
            out.structure(isPlane ? 17 : 18) { if let system { $0.text(1, system) } }
        case .interval, .variant: break
        }
    }

    // MARK: Row groups

    private static func add(_ group: WrittenGroup, number: Int, _ compression: ParquetCompression, to out: inout ThriftEncoder) {
        out.list(1, group.chunks) { add($1, compression, to: &$0) }
        out.long(2, group.chunks.reduce(0) { $0 + $1.written.plainSize })
        out.long(3, group.rowCount)
        if let sorting = group.sorting {
            out.list(4, [sorting]) { out, column in
                out.int(1, column.leaf)
                out.bool(2, column.descends)
                out.bool(3, false)
            }
        }
        if let first = group.chunks.first { out.long(5, first.start) }
        out.long(6, group.chunks.reduce(0) { $0 + $1.size })
        if let number = Int16(exactly: number) { out.short(7, Int(number)) }
    }

    private static func add(_ chunk: WrittenGroup.Chunk, _ compression: ParquetCompression, to out: inout ThriftEncoder) {
        out.long(2, 0)
        out.structure(3) { out in
            let written = chunk.written
            out.int(1, chunk.leaf.shape.physical.rawValue)
            out.ints(2, written.encodings.sorted())
            out.binaries(3, chunk.leaf.path.map { Array($0.utf8) })
            out.int(4, compression.codec.rawValue)
            out.long(5, written.valueCount)
            out.long(6, written.plainSize)
            out.long(7, chunk.size)
            out.long(9, chunk.start + (chunk.dictionarySize ?? 0))
            if chunk.dictionarySize != nil { out.long(11, chunk.start) }
            out.structure(12) { add(written, to: &$0, isFloating: chunk.leaf.shape.hasNaN) }
            var pages: [(Int, Int, Int)] = written.dictionary == nil ? [] : [(2, 0, 1)]
            for (encoding, count) in written.pageCounts.sorted(by: { $0.key < $1.key }) { pages.append((0, encoding, count)) }
            out.list(13, pages) { out, page in
                out.int(1, page.0)
                out.int(2, page.1)
                out.int(3, page.2)
            }
        }
        if let range = chunk.offsetIndex {
            out.long(4, range.lowerBound)
            out.int(5, range.count)
        }
        if let range = chunk.columnIndex {
            out.long(6, range.lowerBound)
            out.int(7, range.count)
        }
    }

    private static func add(_ chunk: WrittenChunk, to out: inout ThriftEncoder, isFloating: Bool) {
        out.long(3, chunk.nullCount)
        if let bounds = chunk.bounds.written {
            out.binary(5, bounds.maximum)
            out.binary(6, bounds.minimum)
            out.bool(7, bounds.maximumIsExact)
            out.bool(8, bounds.minimumIsExact)
        }
        if isFloating { out.long(9, chunk.bounds.nanCount) }
    }
}

extension LeafShape {
    /// Whether values can be NaN.
    var hasNaN: Bool { physical == .float || physical == .double || logical == .float16 }
}
