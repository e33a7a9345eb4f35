import FirnBytes
import FirnCodecs
import FirnStore
import FirnTable
import Synchronization

/// A sealed segment at one version: its chunks, its chunk overlays, and the delta records about its rows.
final class StoredSegment: StoredRows {
    let rowCount: Int
    let storedBytes: Int
    let live: Bits?
    let source: SegmentSource
    /// The reference of its header; none if the header is inside the catalogue.
    let headerRef: ExtentRef
    let type: TypeSchema
    let header: SegmentHeader
    nonisolated(unsafe) let headerBytes: UnsafeRawBufferPointer
    private let headerOwner: any AnyObject & Sendable
    /// Row ids minus the first one; nil if they are consecutive.
    let rowIDs: [Int64]?
    /// The delta records about its rows.
    let changes: SegmentChanges
    /// The values in the delta store of columns with splices, once they were applied.
    let applied: Mutex<[Int: ColumnOverlay]> = Mutex([:])
    /// Columns with changes in the delta store, opened without them.
    let sealed: Mutex<[Int: RawColumn]> = Mutex([:])
    /// Collections that were decoded to compare changes with them.
    let kept: Mutex<[(column: Int, position: Int, row: Column)]> = Mutex([])
    /// The leaves of the delta store that the delta records were read from; nil if there are none, or if they are not known.
    let deltaLeaves: [ExtentRef]?
    private let raws: Mutex<[RawColumn?]>
    /// The positions of shared blobs in the header's list, by the position of their column in the header.
    let sharedIndices: [Int: [Int]]
    /// The memory charge of the columns' readers. It grows only while `raws` is locked.
    private let held: MemoryCharge

    private init(
        _ source: SegmentSource, _ headerRef: ExtentRef, type: TypeSchema, header: SegmentHeader, headerBytes: UnsafeRawBufferPointer,
        headerOwner: any AnyObject & Sendable,
        rowIDs: [Int64]?, changes: SegmentChanges, deltaLeaves: [ExtentRef]?
    ) {
        self.source = source
        self.headerRef = headerRef
        self.type = type
        self.header = header
        self.headerBytes = headerBytes
        self.headerOwner = headerOwner
        self.rowIDs = rowIDs
        self.changes = changes
        self.deltaLeaves = deltaLeaves
        live = changes.deleted.map { bits in Bits(words: bits.words.map { ~$0 }, count: bits.count) }
        rowCount = header.rowCount
        storedBytes = header.entries.reduce(headerBytes.count) {
            $0 &+ Int(truncatingIfNeeded: ($1.chunk?.length ?? 0) &+ ($1.overlay?.length ?? 0))
        }
        sharedIndices = Dictionary(grouping: header.shared.indices) { header.shared[$0].column }
        held = MemoryCharge(source.memory)
        raws = Mutex(Array(repeating: nil, count: type.columns.count))
    }

    /// A function and not an initialiser: one that threw between its fields was measured to release fields that it had not set (Swift 6.3,
    /// with a
    /// `Mutex` among the fields).
    static func open(_ core: SnapshotCore, type index: Int, segment: Int, entry: DirectoryEntry) throws(Damage) -> StoredSegment {
        let type = core.schema.types[index], state = core.catalogue.types[index]
        let (headerBytes, headerOwner) = try core.header(type: index, entry)
        let header = try SegmentHeader(headerBytes)
        guard state.touches(segment) else {
            return try open(core, schema: type, entry: entry, header: header, bytes: headerBytes, owner: headerOwner, changes: [])
        }
        let last = entry.lastRowID
        let changes = try DeltaChanges(core, type: index, rows: min(header.firstRowID, last)...last).records
        return try open(
            core, schema: type, entry: entry, header: header, bytes: headerBytes, owner: headerOwner, changes: changes,
            leaves: try entry.leaves(ofDelta: state.delta, core.store))
    }

    /// `changes` are the delta records about its rows.
    static func open(
        _ core: SnapshotCore, schema type: TypeSchema, entry: DirectoryEntry, header: SegmentHeader, bytes: UnsafeRawBufferPointer,
        owner: any AnyObject & Sendable,
        changes: [(rowID: Int64, record: DeltaRecord)], leaves: [ExtentRef]? = nil
    ) throws(Damage) -> StoredSegment {
        guard header.rowCount == entry.rowCount, header.firstRowID == entry.firstRowID else {
            throw Damage("segment header and directory disagree")
        }
        let rowIDs = try header.decodeRowIDs()
        if let last = rowIDs?.last, last > entry.lastRowID - entry.firstRowID { throw Damage("row ids exceed those in the directory") }
        var found = SegmentChanges(deleted: try header.decodeDeletes())
        for (rowID, record) in changes {
            guard let position = StoredSegment.position(of: rowID, header, rowIDs) else {
                throw Damage("a delta record for a row that does not exist")
            }
            try found.add(record, at: position, of: header.rowCount, type)
        }
        try found.hold { MemoryScope(core.source.memory, type: type.name, column: type.columns[$0].name) }
        core.source.counts.addOpenedSegment()
        return StoredSegment(
            core.source, entry.header, type: type, header: header, headerBytes: bytes, headerOwner: owner, rowIDs: rowIDs,
            changes: found, deltaLeaves: leaves)
    }

    func rowID(at position: Int) throws(Damage) -> Int64 { header.firstRowID + (rowIDs?[position] ?? Int64(position)) }

    func position(of rowID: Int64) throws(Damage) -> Int? { StoredSegment.position(of: rowID, header, rowIDs) }

    private static func position(of rowID: Int64, _ header: SegmentHeader, _ rowIDs: [Int64]?) -> Int? {
        let offset = rowID &- header.firstRowID
        guard let rowIDs else { return offset >= 0 && offset < header.rowCount ? Int(offset) : nil }
        var low = 0, high = rowIDs.count
        while low < high {
            let middle = (low + high) / 2
            if rowIDs[middle] < offset { low = middle + 1 } else { high = middle }
        }
        return low < rowIDs.count && rowIDs[low] == offset ? low : nil
    }

    func storedColumn(_ index: Int) throws(Damage) -> any ColumnReader {
        do throws(Damage) { return StoredColumn(try rawColumn(index), of: (self, index)) } catch { throw location(of: index).named(error) }
    }

    func word(at position: Int, _ column: Int) throws(Damage) -> Int64? {
        do throws(Damage) { return try rawColumn(column).word(at: position) } catch { throw location(of: column).named(error) }
    }

    func real(at position: Int, _ column: Int) throws(Damage) -> Double? {
        do throws(Damage) { return try rawColumn(column).real(at: position) } catch { throw location(of: column).named(error) }
    }

    /// Returns the location of a column's values, for errors about their bytes.
    func location(of column: Int) -> ColumnLocation {
        ColumnLocation(
            type: type.name, column: type.columns[column].name,
            rows: header.firstRowID...header.firstRowID + (rowIDs?.last ?? Int64(max(rowCount, 1) - 1)),
            base: entry(column)?.chunk?.offset ?? headerRef.offset)
    }

    /// Returns the header's entry of a column, or nil if the segment has no chunk of it.
    func entry(_ column: Int) -> SegmentHeader.Entry? {
        header.entryPosition(of: type.columns[column].id, near: column).map { header.entries[$0] }
    }

    /// Returns the column in stored form, embedded objects as row ids.
    func rawColumn(_ index: Int) throws(Damage) -> RawColumn {
        if let raw = raws.withLock({ $0[index] }) { return raw }
        let raw = try openRaw(index, try deltaOverlay(index))
        // Dictionaries of numbers, which readers keep, are not charged separately.
        try raw.memory.note(rowCount * 8)
        let isCharged = raws.withLock { raws in
            guard raws[index] == nil else { return true }
            guard held.take(StoredSegment.readerBytes) else { return false }
            raws[index] = raw
            return true
        }
        guard isCharged else { throw source.memory.exceeded(StoredSegment.readerBytes, scope(index).name) }
        return raw
    }

    /// About how much memory the readers of a column take.
    private static let readerBytes = 1024

    /// Returns the scope that the memory of a column is charged to.
    func scope(_ index: Int) -> MemoryScope { MemoryScope(source.memory, type: type.name, column: type.columns[index].name) }

    /// Returns the column without the changes in the delta store, as the segment's header describes it.
    func sealedColumn(_ index: Int) throws(Damage) -> RawColumn { try !hasDelta(index) ? rawColumn(index) : openRaw(index, nil) }

    /// Returns the column with the changes in the delta store, and without its chunk overlay, and splices, which are relative to it, unless
    /// `overlaid` is set. Returns nil if there is no chunk.
    func rawColumn(_ index: Int, overlaid: Bool) throws(Damage) -> RawColumn? {
        header.entryPosition(of: type.columns[index].id, near: index) != nil
            ? try openRaw(index, overlaid ? try deltaOverlay(index) : changes.overlays[index], overlaid: overlaid) : nil
    }

    /// Returns the column without its chunk overlay and without the changes in the delta store.
    func chunkColumn(_ index: Int) throws(Damage) -> RawColumn { try openRaw(index, nil, overlaid: false) }

    private func openRaw(_ index: Int, _ delta: ColumnOverlay?, overlaid: Bool = true) throws(Damage) -> RawColumn {
        do throws(Damage) { return try openStreams(index, delta, overlaid: overlaid) } catch {
            throw error.judged(hasUnknownEncodings: source.store.hasUnknownEncodings)
        }
    }

    private func openStreams(_ index: Int, _ delta: ColumnOverlay?, overlaid: Bool) throws(Damage) -> RawColumn {
        let column = type.columns[index]
        guard let entryPosition = header.entryPosition(of: column.id, near: index) else {
            return RawColumn(
                type: column.type, rowCount: rowCount, chunk: nil, overlay: delta, zone: nil, owner: source.store, memory: scope(index))
        }
        let entry = header.entries[entryPosition]
        let memory = scope(index)
        let chunk = try ChunkReader(
            try chunkBytes(entryPosition), type: column.type, rowCount: rowCount,
            sharedText: try shared(entryPosition, .text), sharedKeys: try shared(entryPosition, .keys), memory: memory,
            presence: { (reference) throws(Damage) in try self.presence(reference, of: entryPosition) },
            related: { (relation) throws(Damage) in
                try self.source(of: relation, at: entryPosition, type: column.type, memory: memory)
            },
            predicted: { (prediction) throws(Damage) in try self.sources(of: prediction, at: entryPosition, memory: memory) },
            pieced: { (pieces) throws(Damage) in try self.sources(of: pieces, at: entryPosition, memory: memory) })
        var overlay = try (overlaid ? entry.overlay : nil).map { (ref) throws(Damage) in
            try ColumnOverlay(try source.store.read(ref), type: column.type, rowCount: rowCount, memory: memory)
        }
        if let delta { overlay = try overlay?.overlaid(by: delta, memory) ?? delta }
        return RawColumn(
            type: column.type, rowCount: rowCount, chunk: chunk, overlay: overlay, zone: delta == nil ? entry.zone : nil,
            owner: entry.packed != nil ? headerOwner : source.store, memory: memory)
    }

    /// Returns the chunk of an entry of the header.
    func chunkBytes(_ entryPosition: Int) throws(Damage) -> UnsafeRawBufferPointer {
        let entry = header.entries[entryPosition]
        if let range = entry.packed { return UnsafeRawBufferPointer(rebasing: headerBytes[range]) }
        return try source.store.read(entry.chunk!)
    }

    func shared(_ entryPosition: Int, _ stream: StreamKind) throws(Damage) -> [SharedText] {
        var out: [SharedText] = []
        for i in sharedIndices[entryPosition] ?? [] {
            guard let of = header.shared[i].stream else { throw Damage(unknown: "stream of a shared blob \(header.shared[i].code >> 4)") }
            guard of == stream else { continue }
            out.append(try source.sharedText(header.shared[i]))
        }
        return out
    }

    /// The header, which describes what the segment occupies, for `firn info` and for freeing the segment.
    var layout: SegmentHeader { header }
}

extension SegmentHeader {
    func decodeRowIDs() throws(Damage) -> [Int64]? {
        guard let rowIDs else { return nil }
        let ids: [Int64] = try SegmentHeader.withBytes(rowIDs) { (bytes) throws(Damage) in
            let reader = try IntegersReader(bytes, count: rowCount)
            var ids: [Int64] = []
            for vector in 0..<(rowCount + vectorSize - 1) / vectorSize {
                ids += try Array(count: min(vectorSize, rowCount - vector * vectorSize)) { (out) throws(Damage) in
                    try reader.decode(vector: vector, into: out)
                }
            }
            return ids
        }
        guard ids[0] == 0 else { throw Damage("listed row ids do not begin with the first row id of the segment") }
        for i in 1..<max(ids.count, 1) where ids[i] <= ids[i - 1] { throw Damage("row ids do not ascend") }
        return ids
    }

    func decodeDeletes() throws(Damage) -> Bits? {
        guard let deletes else { return nil }
        return try SegmentHeader.withBytes(deletes) { (bytes) throws(Damage) in
            try BooleansReader(bytes, count: rowCount).allBits()
        }
    }

    private static func withBytes<R>(_ bytes: [UInt8], _ body: (UnsafeRawBufferPointer) throws(Damage) -> R) throws(Damage) -> R {
        let result = bytes.withUnsafeBytes { pointer in Result { () throws(Damage) -> R in try body(pointer) } }
        return try result.get()
    }
}

/// The encoded form of a chunk overlay (`docs/format/model.md`, "Chunk overlays").
///
///     count varint · positions: length varint, integer stream (ascending) · the new values as a chunk of `count` rows
extension ColumnOverlay {
    /// The bytes, and the reader features that they need.
    func encoded(profile: Profile) -> (bytes: [UInt8], features: EncodingFeatures) {
        var out = ByteWriter()
        out.appendVarint(positions.count)
        let stream = positions.map(Int64.init).withUnsafeBufferPointer { IntegersEncoder.encodeBasic($0, profile: profile) }
        out.append(lengthPrefixed: stream)
        let encoder = ColumnEncoder(values.type, profile: profile)
        encoder.add(values)
        let end = encoder.finish()
        trap(unless: end.ready.count == 1 && end.text.isEmpty && end.keys.isEmpty, "a chunk overlay cannot share text with other segments")
        out.append(contentsOf: end.ready[0].chunk.encoded)
        return (out.bytes, end.ready[0].summary.features)
    }

    init(_ bytes: UnsafeRawBufferPointer, type: ColumnType, rowCount: Int, memory: MemoryScope) throws(Damage) {
        var reader = ByteReader(bytes)
        let count = try reader.readCount(limit: rowCount)
        guard count > 0 else { throw Damage("a chunk overlay without rows") }
        let stream = try IntegersReader(try reader.readLengthPrefixed(), count: count)
        positions = []
        let chunk = try ChunkReader(
            try reader.read(count: reader.remaining), type: type.stored, rowCount: count, sharedText: [], sharedKeys: [], memory: memory)
        values = Column(type.stored)
        var scratch = Column(type.stored)
        for vector in 0..<(count + vectorSize - 1) / vectorSize {
            let part: [Int64] = try Array(count: min(vectorSize, count - vector * vectorSize)) { (out) throws(Damage) in
                try stream.decode(vector: vector, into: out)
            }
            for position in part {
                guard position >= 0, position < Int64(rowCount), positions.last.map({ Int64($0) < position }) ?? true else {
                    throw Damage("positions of a chunk overlay do not ascend")
                }
                positions.append(Int(position))
            }
            try chunk.read(vector: vector, into: &scratch)
            try values.hold(memory, adding: scratch.footprint)
            values.append(contentsOf: scratch)
        }
    }
}
