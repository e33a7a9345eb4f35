import FirnBytes
import FirnStore

/// Rows that are open in memory and belong to one version: the next one takes over those that did not change.
///
/// They pin nothing. Their bytes are there as long as a version is pinned that holds them, which `rows(sharedBy:)` makes sure of: what it hands
/// out lies in extents that the given catalogue refers to.
struct OpenRows: Sendable {
    var version: UInt64
    var catalogue: Catalogue
    var schema: Schema
    /// As they were read from a file the last time.
    var read: (catalogue: Catalogue, schema: Schema)
    /// By type and segment.
    var sealed: [Int: any StoredRows]
    /// Keys of `sealed`, oldest first.
    var order: [Int]
    /// By type: the rows that exist in the delta alone.
    var tails: [Int: any StoredRows]
    /// Runs of indexes.
    var runs: [ExtentRef: IndexRun]

    /// Blocks in memory that versions take over in changed segments (8 KiB and more each); segments beyond are read from the file again.
    static let mostBlocks = 4096

    /// The rows that are the same in a version with this catalogue.
    func rows(sharedBy catalogue: Catalogue, _ schema: Schema, _ store: any ExtentSource) -> (sealed: [(key: Int, rows: any StoredRows)], tails: [Int: any StoredRows]) {
        var kept: [(key: Int, rows: any StoredRows)] = [], tails: [Int: any StoredRows] = [:]
        var blocks = 0
        for key in order.suffix(SnapshotCore.most) {
            guard let rows = sealed[key], let type = index(of: key >> 32, in: schema) else { continue }
            let index = key & 0xFFFF_FFFF
            guard isSame(rows, key >> 32, index, catalogue.types[type], store) else { continue }
            if let working = rows as? WorkingRows {
                blocks += working.blockCount
                if blocks > OpenRows.mostBlocks { continue }
            }
            kept.append((type << 32 | index, rows))
        }
        for (type, rows) in unchangedTails(catalogue, schema) { tails[type] = rows }
        return (kept, tails)
    }

    /// The runs that a version with this catalogue has too.
    func runs(sharedBy catalogue: Catalogue) -> [ExtentRef: IndexRun] {
        if runs.isEmpty { return [:] }
        var kept: [ExtentRef: IndexRun] = [:]
        for type in catalogue.types { for index in type.indexes { for run in index.runs { kept[run.ref] = runs[run.ref] } } }
        return kept
    }

    mutating func put(_ rows: any StoredRows, _ type: Int, _ segment: Int) {
        let key = type << 32 | segment
        order.removeAll { $0 == key }
        order.append(key)
        sealed[key] = rows
    }

    mutating func forget(_ type: Int) {
        order.removeAll { $0 >> 32 == type }
        sealed = sealed.filter { $0.key >> 32 != type }
        tails[type] = nil
    }

    /// Where a type of this version stands in another schema; nil if it is not there with the same columns.
    private func index(of type: Int, in other: Schema) -> Int? {
        let mine = schema.types[type]
        let index = type < other.types.count && other.types[type].id == mine.id ? type : other.types.firstIndex { $0.id == mine.id }
        return index.flatMap { other.types[$0].columns == mine.columns ? $0 : nil }
    }

    /// The header is the same, and the delta says nothing of the segment in either version, or is the same tree.
    private func isSame(_ rows: any StoredRows, _ type: Int, _ index: Int, _ state: Catalogue.TypeState, _ store: any ExtentSource) -> Bool {
        let mine = catalogue.types[type]
        guard let base = rows.sealedBase, !base.headerRef.isNone, base.source.isLasting, state.inner == nil, index < state.segmentCount,
              state.delta == mine.delta || (!mine.touches(index) && !state.touches(index)) else { return false }
        guard let bytes = try? store.read(state.directory), let entry = try? DirectoryEntry(bytes, index) else { return false }
        return entry.header == base.headerRef
    }

    private func unchangedTails(_ catalogue: Catalogue, _ schema: Schema) -> [(Int, any StoredRows)] {
        tails.compactMap { type, rows in
            guard let other = index(of: type, in: schema) else { return nil }
            let mine = self.catalogue.types[type], state = catalogue.types[other]
            guard state.delta == mine.delta, state.deltaRows == mine.deltaRows, state.nextRowID == mine.nextRowID, state.segmentCount == mine.segmentCount else { return nil }
            return (other, rows)
        }
    }
}

extension StoredRows {
    /// The sealed segment that lies under the rows.
    var sealedBase: StoredSegment? { self as? StoredSegment ?? (self as? WorkingRows)?.base as? StoredSegment }
}
