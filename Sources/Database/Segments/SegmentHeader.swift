import FirnBytes
import FirnCodecs
import FirnStore
import FirnTable

/// The description of one segment in the file (`docs/format/model.md`, "Segment header").
///
///     magic "sg" · version u8 = 1 · flags u8 (1 packed, 2 row ids listed, 4 deletes) · row count u32 · column count u32 · first row id i64
///     [row ids: length u32, integer stream] [deletes: length u32, boolean stream]
///     wide:   column count × entry of 112 bytes · shared count u32 · shared × (column u32, kind u8, ref 32)
///     packed: column count × (id varint, chunk length varint, zone) · the chunks end to end
///
///     entry = column id u32 · flags u8 (1 nulls, 2 all null) · zone kind u8 (0 none, 1 integers, 2 floats) · 0 u16
///             · chunk ref 32 · chunk overlay ref 32 · logical hash 16 · zone low 8 · zone high 8 · 0 u64
///     zone (packed) = flags u8 | zone kind << 4 · [low 8 · high 8]
struct SegmentHeader {
    static let magic: [UInt8] = [0x73, 0x67]
    static let version: UInt8 = 1
    static let entrySize = 112
    static let sharedSize = 37
    /// The maximum number of bytes of the chunks of a packed segment, whose chunks are in its header: one extent, one hash. With many columns it
    /// is larger: a wide header and the ends of extents take 144 bytes for each.
    /// A search for proofs reads at most 65,536 columns.
    static func packedLimit(columns: Int) -> Int {
        guard columns <= leastPackedLimit else { return leastPackedLimit }
        return max(leastPackedLimit, min(512 * 1024, columns * 32 * entrySize), columns * entrySize)
    }
    static let leastPackedLimit = 64 * 1024
    /// Decoding a packed chunk below this size costs little more than comparing its bounds, which would take 16 bytes.
    private static let leastBoundedChunk = 256
    /// Stored in place of a logical hash that the writer does not know.
    static let unknownHash = Hash128(low: 0, high: 0)

    struct Entry {
        var columnID: UInt32
        var zone: Zone
        /// Nil in a packed header.
        var chunk: ExtentRef?
        /// The chunk overlay, if there is one.
        var overlay: ExtentRef?
        /// The logical hash of the values that the file claims; nil if it is not known (in a packed header, or zero in the file). It is
        /// untrusted: see
        /// `StoredSegment.rowsThatMayDiffer`.
        var logicalHash: Hash128?
        /// The range of the chunk in the bytes of a packed header.
        var packed: Range<Int>?
    }

    struct Shared: Hashable {
        var column: Int
        /// The kinds of stream and blob, as in the file.
        var code: UInt8
        var ref: ExtentRef

        init(column: Int, code: UInt8, ref: ExtentRef) {
            self.column = column
            self.code = code
            self.ref = ref
        }

        init(column: Int, stream: StreamKind, kind: SharedBlob.Kind, ref: ExtentRef) {
            self.init(column: column, code: stream.rawValue << 4 | kind.rawValue, ref: ref)
        }

        /// `text` or `keys`; nil if this program does not know it.
        var stream: StreamKind? { StreamKind(rawValue: code >> 4) }
        var kind: SharedBlob.Kind? { SharedBlob.Kind(rawValue: code & 15) }
    }

    var rowCount: Int
    var firstRowID: Int64
    /// Row ids minus `firstRowID`, as an integer stream; nil if they are consecutive.
    var rowIDs: [UInt8]?
    /// The deleted rows as a boolean stream, 1 = deleted; nil if there are none.
    var deletes: [UInt8]?
    var entries: [Entry] {
        _read { yield list }
        _modify {
            entryPositions = EntryPositions()
            yield &list
        }
    }
    private var list: [Entry]
    var shared: [Shared] = []
    /// The chunks, one per entry, only while a packed header is being written.
    var packedChunks: [[UInt8]]?
    private var entryPositions = EntryPositions<UInt32>()

    /// Returns the position of a column's entry, which is mostly that of the column in its type.
    func entryPosition(of columnID: UInt32, near column: Int) -> Int? {
        if column < entries.count, entries[column].columnID == columnID { return column }
        return entryPositions.first(columnID, of: entries.count) { entries[$0].columnID }
    }

    /// Returns the zone that a packed header has for a chunk of `count` bytes. The bounds of columns in which rows are looked up are kept, and
    /// those of text with pieces of other columns.
    static func packedZone(_ summary: ColumnEncoder.Summary, of count: Int, isLookedUp: Bool) -> Zone {
        let zone = summary.zone
        guard count < leastBoundedChunk, !isLookedUp, !summary.hasPieces else { return zone }
        return Zone(mayHaveNulls: zone.mayHaveNulls, allNull: zone.allNull, bounds: .none)
    }

    var encoded: [UInt8] {
        var out = ByteWriter(reserving: 64 + entries.count * SegmentHeader.entrySize)
        out.append(contentsOf: SegmentHeader.magic)
        out.append(SegmentHeader.version)
        out.append(UInt8((packedChunks != nil ? 1 : 0) | (rowIDs != nil ? 2 : 0) | (deletes != nil ? 4 : 0)))
        out.append(UInt32(rowCount))
        out.append(UInt32(entries.count))
        out.append(firstRowID)
        for part in [rowIDs, deletes] {
            guard let part else { continue }
            out.append(UInt32(part.count))
            out.append(contentsOf: part)
        }
        if let packedChunks {
            for (entry, chunk) in zip(entries, packedChunks) {
                out.appendVarint(Int(entry.columnID))
                out.appendVarint(chunk.count)
                let bounds = entry.zone.encodedBounds
                out.append(entry.zone.flags | bounds.kind << 4)
                if bounds.kind != 0 {
                    out.append(bounds.low)
                    out.append(bounds.high)
                }
            }
            for chunk in packedChunks { out.append(contentsOf: chunk) }
            encodeTextBounds(into: &out)
            return out.bytes
        }
        for entry in entries {
            let bounds = entry.zone.encodedBounds
            out.append(entry.columnID)
            out.append(entry.zone.flags)
            out.append(bounds.kind)
            out.append(UInt16(0))
            entry.chunk!.encode(to: &out)
            (entry.overlay ?? .none).encode(to: &out)
            out.append(entry.logicalHash ?? SegmentHeader.unknownHash)
            out.append(bounds.low)
            out.append(bounds.high)
            out.append(UInt64(0))
        }
        out.append(UInt32(shared.count))
        for blob in shared {
            out.append(UInt32(blob.column))
            out.append(blob.code)
            blob.ref.encode(to: &out)
        }
        encodeTextBounds(into: &out)
        return out.bytes
    }

    init(rowCount: Int, firstRowID: Int64, entries: [Entry]) {
        self.rowCount = rowCount
        self.firstRowID = firstRowID
        list = entries
    }

    init(_ bytes: UnsafeRawBufferPointer) throws(Damage) {
        var reader = ByteReader(bytes)
        guard try Array(reader.read(count: 2)) == SegmentHeader.magic else { throw Damage("not a segment header") }
        guard try reader.read(UInt8.self) == SegmentHeader.version else { throw Damage("unknown segment version") }
        let flags = try reader.read(UInt8.self)
        guard flags < 8 else { throw Damage("unknown segment flags", at: 3) }
        rowCount = Int(try reader.read(UInt32.self))
        guard rowCount > 0, rowCount <= segmentSize else { throw Damage("row count out of range", at: 4) }
        let columnCount = Int(try reader.read(UInt32.self))
        firstRowID = try reader.read(Int64.self)
        guard firstRowID >= 0 else { throw Damage("negative row id", at: 12) }
        if flags & 2 != 0 { rowIDs = Array(try reader.read(count: Int(try reader.read(UInt32.self)))) }
        if flags & 4 != 0 { deletes = Array(try reader.read(count: Int(try reader.read(UInt32.self)))) }
        guard columnCount <= reader.remaining else { throw Damage("more columns than bytes", at: 8) }
        list = []
        list = flags & 1 != 0 ? try SegmentHeader.readPacked(columnCount, &reader) : try readWide(columnCount, &reader)
        try readParts(&reader)
    }

    private static func readPacked(_ columnCount: Int, _ reader: inout ByteReader) throws(Damage) -> [Entry] {
        var entries: [Entry] = [], lengths: [Int] = []
        entries.reserveCapacity(columnCount)
        for _ in 0..<columnCount {
            let id = UInt32(try reader.readCount(limit: Int(UInt32.max)))
            lengths.append(try reader.readCount(limit: reader.bytes.count))
            let byte = try reader.read(UInt8.self)
            let kind = byte >> 4
            let low = kind == 0 ? 0 : try reader.read(UInt64.self), high = kind == 0 ? 0 : try reader.read(UInt64.self)
            entries.append(Entry(columnID: id, zone: try Zone(flags: byte & 15, kind: kind, low: low, high: high)))
        }
        for i in entries.indices {
            let start = reader.position
            _ = try reader.read(count: lengths[i])
            entries[i].packed = start..<reader.position
        }
        return entries
    }

    private mutating func readWide(_ columnCount: Int, _ reader: inout ByteReader) throws(Damage) -> [Entry] {
        var entries: [Entry] = []
        entries.reserveCapacity(columnCount)
        for _ in 0..<columnCount {
            let id = try reader.read(UInt32.self)
            let flags = try reader.read(UInt8.self), kind = try reader.read(UInt8.self)
            _ = try reader.read(UInt16.self)
            let chunk = try ExtentRef(from: &reader), overlay = try ExtentRef(from: &reader)
            let hash = try reader.readHash()
            let low = try reader.read(UInt64.self), high = try reader.read(UInt64.self)
            _ = try reader.read(UInt64.self)
            entries.append(
                Entry(
                    columnID: id, zone: try Zone(flags: flags, kind: kind, low: low, high: high), chunk: chunk,
                    overlay: overlay == .none ? nil : overlay, logicalHash: hash == SegmentHeader.unknownHash ? nil : hash))
        }
        let sharedCount = Int(try reader.read(UInt32.self))
        guard sharedCount <= reader.remaining else { throw Damage("more shared blobs than bytes", at: reader.position) }
        for _ in 0..<sharedCount {
            let column = Int(try reader.read(UInt32.self)), byte = try reader.read(UInt8.self)
            guard column < columnCount else { throw Damage("a shared blob of a column that does not exist", at: reader.position) }
            shared.append(Shared(column: column, code: byte, ref: try ExtentRef(from: &reader)))
        }
        return entries
    }
}

extension Zone {
    var flags: UInt8 { (mayHaveNulls ? 1 : 0) | (allNull ? 2 : 0) }

    var encodedBounds: (kind: UInt8, low: UInt64, high: UInt64) {
        switch bounds {
        case .none, .text: (0, 0, 0)
        case .words(let low, let high): (1, UInt64(bitPattern: low), UInt64(bitPattern: high))
        case .reals(let low, let high): (2, low.bitPattern, high.bitPattern)
        }
    }

    init(flags: UInt8, kind: UInt8, low: UInt64, high: UInt64) throws(Damage) {
        let bounds: Bounds
        switch kind {
        case 0: bounds = .none
        case 1: bounds = .words(Int64(bitPattern: low), Int64(bitPattern: high))
        case 2: bounds = .reals(Double(bitPattern: low), Double(bitPattern: high))
        default: throw Damage("unknown zone kind")
        }
        self.init(mayHaveNulls: flags & 1 != 0, allNull: flags & 2 != 0, bounds: bounds)
    }

    /// The zone as it is stored: long bounds of text are cut.
    var shortened: Zone {
        guard case .text(let bounds) = bounds else { return self }
        return Zone(mayHaveNulls: mayHaveNulls, allNull: allNull, bounds: .text(bounds.shortened))
    }

    /// Returns a zone that covers the rows of both, where values of one replace some values of the other.
    func union(_ other: Zone) -> Zone {
        let bounds: Bounds =
            switch (self.bounds, other.bounds) {
            case (.words(let a, let b), .words(let c, let d)): .words(min(a, c), max(b, d))
            case (.reals(let a, let b), .reals(let c, let d)): .reals(min(a, c), max(b, d))
            case (.text(let mine), .text(let theirs)): .text(mine.union(theirs).shortened)
            case (let mine, .none) where other.allNull: mine.withoutOrder
            case (.none, let theirs) where allNull: theirs.withoutOrder
            default: .none
            }
        return Zone(mayHaveNulls: mayHaveNulls || other.mayHaveNulls, allNull: allNull && other.allNull, bounds: bounds)
    }
}

extension Zone.Bounds {
    fileprivate var withoutOrder: Zone.Bounds {
        guard case .text(var bounds) = self else { return self }
        bounds.ascends = false
        return .text(bounds.shortened)
    }
}
