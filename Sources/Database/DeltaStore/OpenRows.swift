import FirnBytes
import FirnStore
import FirnTable

/// The column of a type with this directory: the zones of its segments are the same in every version with the directory.
struct ZonesOfColumn: Hashable {
    var directory: ExtentRef
    var column: UInt32
}

/// Rows of one version that are open in memory. The next version takes over those that did not change.
///
/// They pin no version. Their bytes are valid as long as a version that contains them is pinned. `rows(sharedBy:)` ensures this: it returns
/// only rows in extents that the given catalogue refers to.
struct OpenRows: Sendable {
    var version: UInt64
    var catalogue: Catalogue
    var schema: Schema
    /// The catalogue and schema as they were last read from the file.
    var read: (catalogue: Catalogue, schema: Schema)
    /// By `type << 32 | segment`.
    var sealed: [Int: any StoredRows]
    /// The keys of `sealed`, oldest first.
    var order: [Int]
    /// The rows that exist only in the delta store, by type.
    var tails: [Int: any StoredRows]
    /// The same as an earlier version has them, for types that `tails` does not contain.
    var earlierTails: [Int: DeltaSegment] = [:]
    /// Open runs of indexes.
    var runs: [ExtentRef: IndexRun]
    var zones: [ZonesOfColumn: [Zone?]] = [:]
    /// Changes of indexed columns, of this version or an earlier one.
    var changes: [ColumnOfType: ColumnChanges] = [:]

    /// The maximum number of changed blocks in memory that versions take over (8 KiB and more each). Segments beyond it are read from the
    /// file again.
    static let maximumBlocks = 4096

    /// Returns the rows that are the same in a version with this catalogue.
    func rows(sharedBy catalogue: Catalogue, _ schema: Schema, _ store: any ExtentSource) -> (
        sealed: [(key: Int, rows: any StoredRows)], tails: [Int: any StoredRows]
    ) {
        var kept: [(key: Int, rows: any StoredRows)] = [], tails: [Int: any StoredRows] = [:]
        var blocks = 0
        for key in order.suffix(SnapshotCore.maximumSegments) {
            guard let rows = sealed[key], let type = index(of: key >> 32, in: schema) else { continue }
            let index = key & 0xFFFF_FFFF
            guard isSame(rows, key >> 32, index, catalogue.types[type], store) else { continue }
            if let working = rows as? WorkingRows {
                blocks += working.blockCount
                if blocks > OpenRows.maximumBlocks { continue }
            }
            kept.append((type << 32 | index, rows))
        }
        for (type, rows) in unchangedTails(catalogue, schema) { tails[type] = rows }
        return (kept, tails)
    }

    /// Returns rows of the delta store that a version with this catalogue can have too. At most one version of them is kept for each type.
    func earlierTails(for catalogue: Catalogue, _ schema: Schema) -> [Int: DeltaSegment] {
        var kept: [Int: DeltaSegment] = [:]
        for type in Set(tails.keys).union(earlierTails.keys) {
            guard let rows = tails[type] as? DeltaSegment ?? earlierTails[type], let other = index(of: type, in: schema) else { continue }
            let state = catalogue.types[other]
            if state.deltaRows > 0, state.delta != self.catalogue.types[type].delta,
                state.segmentCount == self.catalogue.types[type].segmentCount
            {
                kept[other] = rows
            }
        }
        return kept
    }

    /// Returns the runs that a version with this catalogue has too.
    func runs(sharedBy catalogue: Catalogue) -> [ExtentRef: IndexRun] {
        if runs.isEmpty { return [:] }
        var kept: [ExtentRef: IndexRun] = [:]
        for type in catalogue.types { for index in type.indexes { for run in index.runs { kept[run.ref] = runs[run.ref] } } }
        return kept
    }

    /// Returns the zones that a version with this catalogue has too.
    func zones(sharedBy catalogue: Catalogue) -> [ZonesOfColumn: [Zone?]] {
        zones.isEmpty ? [:] : zones.filter { zones in catalogue.types.contains { $0.directory == zones.key.directory } }
    }

    mutating func put(_ rows: any StoredRows, _ type: Int, _ segment: Int) {
        let key = type << 32 | segment
        order.removeAll { $0 == key }
        order.append(key)
        sealed[key] = rows
    }

    /// Removes the rows of a segment, by its key.
    mutating func forget(key: Int) {
        order.removeAll { $0 == key }
        sealed[key] = nil
    }

    mutating func forget(_ type: Int) {
        order.removeAll { $0 >> 32 == type }
        sealed = sealed.filter { $0.key >> 32 != type }
        tails[type] = nil
        earlierTails[type] = nil
    }

    /// Returns the position of a type of this version in another schema, or nil if it is missing there or has other columns.
    private func index(of type: Int, in other: Schema) -> Int? {
        let mine = schema.types[type]
        let index = type < other.types.count && other.types[type].id == mine.id ? type : other.types.firstIndex { $0.id == mine.id }
        return index.flatMap { other.types[$0].columns == mine.columns ? $0 : nil }
    }

    /// Returns whether the header is the same, and the records of the delta store about the segment, if there are any.
    private func isSame(_ rows: any StoredRows, _ type: Int, _ index: Int, _ state: Catalogue.TypeState, _ store: any ExtentSource) -> Bool
    {
        let mine = catalogue.types[type]
        guard let base = rows.sealedBase, !base.headerRef.isNone, base.source.isLasting, state.inner == nil, index < state.segmentCount,
            mine.touches(index) == state.touches(index), let bytes = try? store.read(state.directory),
            let entry = try? DirectoryEntry(bytes, index), entry.header == base.headerRef
        else { return false }
        if state.delta == mine.delta || !state.touches(index) { return true }
        guard let leaves = (rows as? StoredSegment)?.deltaLeaves else { return false }
        return leaves == (try? entry.leaves(ofDelta: state.delta, store))
    }

    private func unchangedTails(_ catalogue: Catalogue, _ schema: Schema) -> [(Int, any StoredRows)] {
        tails.compactMap { type, rows in
            guard let other = index(of: type, in: schema) else { return nil }
            let mine = self.catalogue.types[type], state = catalogue.types[other]
            guard state.delta == mine.delta, state.deltaRows == mine.deltaRows, state.nextRowID == mine.nextRowID,
                state.segmentCount == mine.segmentCount
            else { return nil }
            return (other, rows)
        }
    }
}

extension DirectoryEntry {
    /// Returns the leaves of a delta store that can contain records about the segment; nil if there are too many.
    func leaves(ofDelta root: ExtentRef, _ store: any ExtentSource) throws(Damage) -> [ExtentRef]? {
        try TreeReader(root: root, source: store).leaves(from: UInt64(firstRowID), through: UInt64(lastRowID))
    }
}

extension StoredRows {
    /// The sealed segment that the rows are based on, if there is one.
    var sealedBase: StoredSegment? { self as? StoredSegment ?? (self as? WorkingRows)?.base as? StoredSegment }
}
