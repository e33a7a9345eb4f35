import FirnBytes
import FirnCodecs
import FirnStore
import Synchronization

/// What all readers of one version share: the pinned store snapshot, the catalogue, the schema, and bounded caches.
/// Caches hold segments that hold this core; `close` breaks that circle when the snapshot's owner goes.
final class SnapshotCore: Sendable {
    let store: any ExtentSource & Sendable
    let catalogue: Catalogue
    let schema: Schema

    private struct Caches {
        var segments: [Int: StoredSegment] = [:]
        var order: [Int] = []
        var shared: [ExtentRef: SharedText] = [:]
        var tails: [Int: DeltaSegment] = [:]
        var isOpen = true
    }

    /// Open segments kept at a time: enough for a vector-wise pass on several threads, little enough for any file.
    private static let most = 64
    private let caches: Mutex<Caches> = Mutex(Caches())

    init(_ store: any ExtentSource & Sendable, catalogue: Catalogue, schema: Schema) {
        self.store = store
        self.catalogue = catalogue
        self.schema = schema
    }

    convenience init(_ store: any ExtentSource & Sendable, catalogueRef: ExtentRef) throws(Damage) {
        let bytes = catalogueRef == .none ? nil : try store.read(catalogueRef)
        if let bytes, Catalogue.isAlone(bytes) {
            let (catalogue, schema) = try Catalogue.decodeAlone(bytes)
            self.init(store, catalogue: catalogue, schema: schema)
            return
        }
        let catalogue = try bytes.map { (bytes) throws(Damage) in try Catalogue(bytes) } ?? .empty
        let schema = catalogue.schemaRef == .none ? Schema() : try Schema(encoded: try store.read(catalogue.schemaRef))
        guard schema.types.count == catalogue.types.count else { throw Damage("schema and catalogue disagree") }
        self.init(store, catalogue: catalogue, schema: schema)
    }

    func close() {
        caches.withLock {
            $0.isOpen = false
            $0.segments = [:]
            $0.tails = [:]
            $0.order = []
        }
    }

    func directoryEntry(type: Int, index: Int) throws(Damage) -> DirectoryEntry {
        let state = catalogue.types[type]
        guard index < state.segmentCount else { throw Damage("segment outside the directory") }
        if let inner = state.inner { return inner.entry }
        let entry = try DirectoryEntry(try store.read(state.directory), index)
        guard entry.lastRowID < state.nextRowID else { throw Damage("a segment holds row ids that were never given") }
        return entry
    }

    /// The bytes of a segment's header, and what keeps them where they are.
    func header(type: Int, _ entry: DirectoryEntry) throws(Damage) -> (bytes: UnsafeRawBufferPointer, owner: any AnyObject & Sendable) {
        if let inner = catalogue.types[type].inner { return (inner.header.bytes, inner.header) }
        return (try store.read(entry.header), store)
    }

    func segment(type: Int, index: Int) throws(Damage) -> StoredSegment {
        let key = type << 32 | index
        if let segment = caches.withLock({ $0.segments[key] }) { return segment }
        let segment = try StoredSegment.open(self, type: type, segment: index, entry: try directoryEntry(type: type, index: index))
        caches.withLock { caches in
            guard caches.isOpen, caches.segments[key] == nil else { return }
            if caches.order.count >= SnapshotCore.most { caches.segments[caches.order.removeFirst()] = nil }
            caches.segments[key] = segment
            caches.order.append(key)
        }
        return segment
    }

    /// The rows of a type that exist in the delta alone, as a segment; nil if there are none.
    func tail(type: Int) throws(Damage) -> DeltaSegment? {
        guard catalogue.types[type].deltaRows > 0 else { return nil }
        if let tail = caches.withLock({ $0.tails[type] }) { return tail }
        let tail = try DeltaSegment(self, type: type)
        caches.withLock { if $0.isOpen { $0.tails[type] = tail } }
        return tail
    }

    /// Whether `tail` answers without decoding.
    func isTailOpen(type: Int) -> Bool { caches.withLock { $0.tails[type] != nil } }

    func sharedText(_ blob: SegmentHeader.Shared) throws(Damage) -> SharedText {
        if let shared = caches.withLock({ $0.shared[blob.ref] }) { return shared }
        let shared = try SharedText(kind: blob.kind, bytes: try store.read(blob.ref))
        return caches.withLock { caches in
            if let first = caches.shared[blob.ref] { return first }
            caches.shared[blob.ref] = shared
            return shared
        }
    }

    func embeddedTable(of column: ColumnSchema) throws(Damage) -> StoredTable {
        guard let index = schema.types.firstIndex(where: { $0.name == column.type.target }) else { throw Damage("type '\(column.type.target ?? "")' is missing") }
        return StoredTable(self, type: index, keeper: nil)
    }
}

/// The delta's records about a range of rows, ascending.
struct DeltaChanges {
    var records: [(rowID: Int64, record: DeltaRecord)] = []

    init(_ core: SnapshotCore, type: Int, rows: ClosedRange<Int64>) throws(Damage) {
        let root = core.catalogue.types[type].delta
        guard !root.isNone else { return }
        var cursor = try TreeReader(root: root, source: core.store).cursor(from: UInt64(rows.lowerBound))
        while try cursor.next() {
            let key = try cursor.keyNumber()
            guard key <= UInt64(rows.upperBound) else { return }
            records.append((Int64(key), try DeltaRecord(try cursor.value())))
        }
    }
}
