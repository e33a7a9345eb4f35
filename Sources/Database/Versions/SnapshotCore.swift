import FirnBytes
import FirnCodecs
import FirnStore
import FirnTable
import Synchronization

/// What all readers of one version share: its extents, the catalogue, the schema, and bounded caches. It pins nothing. Cached segments
/// refer to this object; `close` breaks this cycle when the last owner is released.
final class SnapshotCore: TableHome {
    let source: SegmentSource
    let catalogue: Catalogue
    let schema: Schema

    private struct Caches {
        /// Open rows, sealed or changed in memory, by `type << 32 | segment`.
        var rows: [Int: any StoredRows] = [:]
        var order: [Int] = []
        var segments: [Int: TableSegment] = [:]
        var tails: [Int: any StoredRows] = [:]
        /// Rows of the delta store as another version has them, for types whose rows of this version were not read yet.
        var earlierTails: [Int: DeltaSegment] = [:]
        var runs: [ExtentRef: IndexRun] = [:]
        var changes: [ColumnOfType: ColumnChanges] = [:]
        /// The same of an earlier version, for those that were not requested yet.
        var earlierChanges: [ColumnOfType: ColumnChanges] = [:]
        var keys: [Int: KeySegments] = [:]
        var zones: [ZonesOfColumn: [Zone?]] = [:]
        var isOpen = true
    }

    /// The maximum number of open segments: enough for a pass by vectors on several threads, and small enough for any file.
    static let maximumSegments = 64
    /// The same if half of the memory budget is used.
    private static let maximumUnderPressure = 4
    private let caches: Mutex<Caches>

    var store: any ExtentSource & Sendable { source.store }

    /// `old` contains rows of an earlier version, which can be the same in this one.
    init(
        _ store: any ExtentSource & Sendable, catalogue: Catalogue, schema: Schema, taking old: OpenRows? = nil,
        counts: ReadCounts = ReadCounts()
    ) {
        source = SegmentSource(store, counts: counts)
        self.catalogue = catalogue
        self.schema = schema
        var first = Caches()
        if let old {
            let same = old.rows(sharedBy: catalogue, schema, store)
            for (key, rows) in same.sealed {
                first.rows[key] = rows
                first.order.append(key)
            }
            first.tails = same.tails
            first.earlierTails = old.earlierTails(for: catalogue, schema)
            first.runs = old.runs(sharedBy: catalogue)
            first.earlierChanges = old.changes
            first.zones = old.zones(sharedBy: catalogue)
        }
        caches = Mutex(first)
    }

    convenience init(
        _ store: any ExtentSource & Sendable, catalogueRef: ExtentRef, taking old: OpenRows? = nil, counts: ReadCounts = ReadCounts()
    ) throws(Damage) {
        let bytes = catalogueRef == .none ? nil : try naming("the catalogue") { () throws(Damage) in try store.read(catalogueRef) }
        if let bytes, Catalogue.isInline(bytes) {
            let (catalogue, schema) = try naming("the catalogue") { () throws(Damage) in try Catalogue.decodeInline(bytes) }
            self.init(store, catalogue: catalogue, schema: schema, taking: old, counts: counts)
            return
        }
        var catalogue = try naming("the catalogue") { () throws(Damage) in
            try bytes.map { (bytes) throws(Damage) in try Catalogue(bytes) } ?? .empty
        }
        if let read = old?.read, catalogue.hasSchema(of: read.catalogue) {
            for (type, state) in read.catalogue.types.enumerated() { catalogue.types[type].indexes = state.indexes }
            self.init(store, catalogue: catalogue, schema: read.schema, taking: old, counts: counts)
            return
        }
        let schemaRef = catalogue.schemaRef
        var schema =
            schemaRef == .none ? Schema() : try naming("the schema") { () throws(Damage) in try Schema(encoded: try store.read(schemaRef)) }
        guard schema.types.count == catalogue.types.count else { throw Damage("schema and catalogue disagree") }
        catalogue.takeIndexes(&schema, store)
        self.init(store, catalogue: catalogue, schema: schema, taking: old, counts: counts)
    }

    func close() {
        caches.withLock {
            $0.isOpen = false
            $0.segments = [:]
        }
    }

    /// Returns the rows that are open now, for a later version.
    func openRows(version: UInt64) -> OpenRows {
        caches.withLock {
            OpenRows(
                version: version, catalogue: catalogue, schema: schema, read: (catalogue, schema), sealed: $0.rows, order: $0.order,
                tails: $0.tails, earlierTails: $0.earlierTails, runs: $0.runs, zones: $0.zones,
                changes: $0.changes.merging($0.earlierChanges) { new, _ in new })
        }
    }

    func directoryEntry(type: Int, index: Int) throws(Damage) -> DirectoryEntry {
        // Access fields one by one: a copy of a type's state counts references for each of its arrays.
        guard index < catalogue.types[type].segmentCount else { throw Damage("segment index outside the directory") }
        if catalogue.types[type].inner != nil { return catalogue.types[type].inner!.entry }
        let bytes = try store.read(catalogue.types[type].directory)
        let entry = try DirectoryEntry(bytes, index)
        // Segments that overlap would repeat rows, so each is compared with the one before it whenever it is read.
        if index > 0, try DirectoryEntry(bytes, index - 1).lastRowID >= entry.firstRowID {
            throw Damage("row ids do not ascend from the segment before", at: index * DirectoryEntry.size)
        }
        guard entry.lastRowID < catalogue.types[type].nextRowID else { throw Damage("a segment contains row ids that were never assigned") }
        return entry
    }

    /// Returns the first sealed segment that does not end before a row id, or the number of segments if all do. The row need not exist.
    func firstSegment(type: Int, endingAtOrAfter rowID: Int64) throws(Damage) -> Int {
        let count = catalogue.types[type].segmentCount
        if count == 0 { return 0 }
        if catalogue.types[type].inner != nil { return catalogue.types[type].inner!.entry.lastRowID < rowID ? count : 0 }
        let bytes = try store.read(catalogue.types[type].directory)
        var low = 0, high = count
        while low < high {
            let middle = (low &+ high) >> 1
            let last = Int64(littleEndian: bytes.loadUnaligned(fromByteOffset: middle &* DirectoryEntry.size &+ 8, as: Int64.self))
            if last < rowID { low = middle &+ 1 } else { high = middle }
        }
        return low
    }

    /// Returns the bytes of a segment's header and the object that keeps them valid.
    func header(type: Int, _ entry: DirectoryEntry) throws(Damage) -> (bytes: UnsafeRawBufferPointer, owner: any AnyObject & Sendable) {
        if let inner = catalogue.types[type].inner { return (inner.header.bytes, inner.header) }
        return (try store.read(entry.header), store)
    }

    private func openSegment(type: Int, index: Int) throws(Damage) -> StoredSegment {
        try StoredSegment.open(self, type: type, segment: index, entry: try directoryEntry(type: type, index: index))
    }

    /// Returns a sealed segment as the file contains it.
    func segment(type: Int, index: Int) throws(Damage) -> StoredSegment {
        let key = type << 32 | index
        if let segment = caches.withLock({ $0.rows[key] }) as? StoredSegment { return segment }
        let segment = try openSegment(type: type, index: index)
        caches.withLock { caches in
            guard caches.rows[key] == nil else { return }
            let most = source.memory.isHalfUsed ? SnapshotCore.maximumUnderPressure : SnapshotCore.maximumSegments
            while caches.order.count >= most {
                let oldest = caches.order.removeFirst()
                caches.rows[oldest] = nil
                caches.segments[oldest] = nil
            }
            caches.rows[key] = segment
            caches.order.append(key)
        }
        return segment
    }

    /// Returns the zone of a column in each segment, so that a search does not open segments that cannot hold a value: nil for a segment
    /// without one. Changes in the delta store are not in the zones. Nil for a type with so few segments that all of them can be open.
    func zones(type: Int, column: Int) throws(Damage) -> [Zone?]? {
        let count = catalogue.types[type].segmentCount
        guard count > SnapshotCore.maximumSegments else { return nil }
        let key = ZonesOfColumn(directory: catalogue.types[type].directory, column: schema.types[type].columns[column].id)
        if let zones = caches.withLock({ $0.zones[key] }) { return zones }
        let zones = try (0..<count).mapTyped { (index) throws(Damage) in
            catalogue.types[type].touches(index) ? nil : try openSegment(type: type, index: index).zone(of: column)
        }
        caches.withLock { $0.zones[key] = zones }
        return zones
    }

    /// Returns the rows of a segment, from the file or as a transaction of this process left them. The index after the last sealed segment
    /// is that of the rows that exist only in the delta store.
    func rows(type: Int, index: Int, isReadOnce: Bool = false) throws(Damage) -> any StoredRows {
        if index >= catalogue.types[type].segmentCount, let tail = try tail(type: type) { return tail }
        if let rows = caches.withLock({ $0.rows[type << 32 | index] }) { return rows }
        return isReadOnce ? try openSegment(type: type, index: index) : try segment(type: type, index: index)
    }

    func tableSegment(type: Int, index: Int) throws(Damage) -> TableSegment {
        let key = type << 32 | index
        if let segment = caches.withLock({ $0.segments[key] }) { return segment }
        let segment = TableSegment(try rows(type: type, index: index), type: schema.types[type], home: self)
        caches.withLock { if $0.isOpen, $0.rows[key] === segment.rows || $0.tails[type] === segment.rows { $0.segments[key] = segment } }
        return segment
    }

    /// Returns the rows of a type that exist only in the delta store, or nil if there are none.
    func tail(type: Int) throws(Damage) -> (any StoredRows)? {
        guard catalogue.types[type].deltaRows > 0 else { return nil }
        if let tail = caches.withLock({ $0.tails[type] }) { return tail }
        let tail = try readDelta(type)
        return caches.withLock { caches in
            if let first = caches.tails[type] { return first }
            caches.tails[type] = tail
            return tail
        }
    }

    private func readDelta(_ type: Int) throws(Damage) -> DeltaSegment {
        let delta = try DeltaSegment(self, type: type, after: caches.withLock { $0.earlierTails[type] })
        caches.withLock { $0.earlierTails[type] = nil }
        return delta
    }

    /// Returns the key columns of a type's segments, with which candidates are confirmed.
    func keySegments(type: Int, _ shape: KeyShape) throws(Damage) -> KeySegments {
        if let known = caches.withLock({ $0.keys[type] }) { return known }
        let made = try KeySegments(self, type: type, shape)
        caches.withLock { $0.keys[type] = made }
        return made
    }

    /// Returns a run of an index.
    func run(_ ref: RunRef) throws(Damage) -> IndexRun {
        if let run = caches.withLock({ $0.runs[ref.ref] }) { return run }
        let run = try IndexRun(try store.read(ref.ref), owner: store)
        guard run.count == ref.count, run.nullCount == ref.nullCount else {
            throw Damage("a run has another number of entries than the directory records", at: Int(clamping: ref.ref.offset))
        }
        caches.withLock { $0.runs[ref.ref] = run }
        return run
    }

    /// Returns the rows of sealed segments that have a value of a column in the delta store.
    func changes(type: Int, column: Int) throws(Damage) -> ColumnChanges {
        let key = ColumnOfType(type: schema.types[type].id, column: schema.types[type].columns[column].id)
        let (known, earlier) = caches.withLock { ($0.changes[key], $0.earlierChanges[key]) }
        if let known { return known }
        let changes = try ColumnChanges(self, type: type, column: key.column, after: earlier)
        caches.withLock {
            $0.changes[key] = changes
            $0.earlierChanges[key] = nil
        }
        return changes
    }

    /// Returns the rows of a type in the delta store, as the file contains them.
    func delta(type: Int) throws(Damage) -> DeltaSegment {
        if let open = openTail(type: type) as? DeltaSegment { return open }
        let delta = try readDelta(type)
        caches.withLock { if $0.tails[type] == nil { $0.tails[type] = delta } }
        return delta
    }

    /// Returns the rows of a type in the delta store if they are in memory.
    func openTail(type: Int) -> (any StoredRows)? { caches.withLock { $0.tails[type] } }

    /// Returns whether `tail` returns without decoding.
    func isTailOpen(type: Int) -> Bool { openTail(type: type) != nil }

    var isFixed: Bool { true }
    var counts: ReadCounts { source.counts }

    func embeddedTable(of column: ColumnSchema) throws(Damage) -> any Table {
        guard let index = schema.types.firstIndex(where: { $0.name == column.type.target }) else {
            throw Damage("type \"\(column.type.target ?? "")\" is missing")
        }
        return StoredTable(self, type: index, keeper: nil)
    }
}

/// The delta records about a range of rows, ascending.
struct DeltaChanges {
    var records: [(rowID: Int64, record: DeltaRecord)] = []
    private var charge: MemoryCharge?

    init() {}

    init(_ core: SnapshotCore, type: Int, rows: ClosedRange<Int64>) throws(Damage) {
        let root = core.catalogue.types[type].delta
        guard !root.isNone else { return }
        defer { core.source.counts.addDeltaRecords(records.count) }
        var cursor = try TreeReader(root: root, source: core.store).cursor(from: UInt64(rows.lowerBound))
        let charge = MemoryCharge(core.source.memory)
        self.charge = charge
        while try cursor.next() {
            let key = try cursor.keyNumber()
            guard key <= UInt64(rows.upperBound) else { return }
            // Many records can refer to one extent.
            try charge.add(try DeltaRecord.footprint(try cursor.value()), for: "the delta of type \"\(core.schema.types[type].name)\"")
            records.append((Int64(key), try DeltaRecord(try cursor.value())))
        }
    }
}
