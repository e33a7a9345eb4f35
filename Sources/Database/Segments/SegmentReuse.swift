import FirnBytes
import FirnCodecs
import FirnStore
import FirnTable

/// Segments that a compaction wrote for earlier versions and that the newest version does not have. A later version may contain the same
/// rows again. Their space is freed with the last version, so that nothing is written to it before then.
final class SpareSegments {
    /// By the id of their type.
    fileprivate(set) var segments: [UInt32: [DirectoryEntry]] = [:]

    init() {}
}

/// Reusing stored segments when rows change: the whole segment if one contains exactly the wanted rows, otherwise the chunks of the columns
/// that stay the same.
extension DatabaseTransaction {
    /// Returns directory entries for rows of `wanted` that are stored in segments that are being removed (`gone`) or were removed before.
    /// None of them overlaps `kept`. The rest of `gone` is freed, or kept for later versions (`spares`).
    func reuse(_ gone: [DirectoryEntry], _ wanted: SnapshotCore?, _ columns: [ColumnSchema], _ type: Int, beside kept: [DirectoryEntry])
        throws(FirnError) -> [DirectoryEntry]
    {
        let id = schema.types[type].id
        var reused: [DirectoryEntry] = []
        if let wanted {
            var candidates = gone.map { (entry: $0, isSpare: false) }
            for spare in spares?.segments[id] ?? [] where !kept.contains(where: { $0.overlaps(spare) }) { candidates.append((spare, true)) }
            // Segments that are being removed now come first: their rows are in the indexes.
            candidates.sort { ($0.entry.firstRowID, $0.isSpare ? 1 : 0) < ($1.entry.firstRowID, $1.isSpare ? 1 : 0) }
            var start = 0
            while start < candidates.count {
                let first = candidates[start].entry
                var end = start + 1
                while end < candidates.count, candidates[end].entry.firstRowID == first.firstRowID { end += 1 }
                if reused.last.map({ $0.lastRowID < first.firstRowID }) ?? true,
                    let entry = try reuse(candidates[start..<end], wanted, columns, type)
                {
                    reused.append(entry)
                }
                start = end
            }
        }
        if let spares {
            spares.segments[id, default: []] += gone
        } else {
            try free(gone, keeping: kept, and: reused)
        }
        return reused
    }

    /// Returns one entry made from segments that begin with the same row, or nil.
    private func reuse(
        _ candidates: ArraySlice<(entry: DirectoryEntry, isSpare: Bool)>, _ wanted: SnapshotCore, _ columns: [ColumnSchema], _ type: Int
    ) throws(FirnError) -> DirectoryEntry? {
        var best: DerivedSegment?
        var rows: [Int64: WantedRows] = [:]
        for (entry, isSpare) in candidates {
            if rows[entry.lastRowID] == nil {
                rows[entry.lastRowID] = try reading { () throws(Damage) in
                    try WantedRows(wanted, type, columns, schema.types[type].columns, entry.firstRowID...entry.lastRowID)
                }
            }
            let segment = try reading { () throws(Damage) in
                let bytes = try store.read(entry.header)
                return try StoredSegment.open(
                    current(), schema: schema.types[type], entry: entry, header: SegmentHeader(bytes), bytes: bytes, owner: store,
                    changes: [])
            }
            guard
                let derived = try reading({ () throws(Damage) in
                    try DerivedSegment(entry, segment, rows[entry.lastRowID]!, mayDiffer: !isSpare)
                })
            else { continue }
            if derived.isExact {
                for i in states[type].indexes.indices where !isSpare {
                    states[type].indexes[i].staleRows -= entry.rowCount - entry.deletedCount
                }
                if isSpare { try enter(derived.rows, type) }
                return entry
            }
            if best == nil { best = derived }
        }
        guard let best else { return nil }
        try enter(best.rows, type)
        return try write(best, type)
    }

    private func enter(_ rows: WantedRows, _ type: Int) throws(FirnError) {
        guard !states[type].indexes.isEmpty else { return }
        let columns = try reading { () throws(Damage) in
            try schema.types[type].columns.indices.mapTyped { (i) throws(Damage) in try rows.column(i) }
        }
        try enter(count: columns.count, type, { columns[$0] }) { rows.rowIDs[$0] }
    }

    /// Writes the segment's header with chunk overlays, or with other chunks, for the columns that differ.
    private func write(_ derived: DerivedSegment, _ type: Int) throws(FirnError) -> DirectoryEntry {
        let segment = derived.segment
        var header = segment.layout, reencoded: Set<Int> = []
        for (index, positions) in derived.differing {
            let column = schema.types[type].columns[index]
            let entryPosition = header.entryPosition(of: column.id, near: index)
            let whole = try reading { () throws(Damage) in try derived.whole(index) }
            if let entryPosition, let positions {
                let overlay = ColumnOverlay(positions: positions, values: whole.gather(positions))
                header.entries[entryPosition].overlay = try write(overlay)
                header.entries[entryPosition].zone = header.entries[entryPosition].zone.union(overlay.values.zone)
                header.entries[entryPosition].logicalHash = whole.logicalHash
                continue
            }
            let encoder = ColumnEncoder(column.type.stored, profile: profile, isLookedUp: schema.types[type].isLookedUp(index))
            encoder.add(whole)
            let ready = encoder.finish().ready[0]
            store.require(ready.summary.features)
            let fresh = SegmentHeader.Entry(
                columnID: column.id, zone: ready.summary.zone, chunk: try write(ready.chunk.encoded), logicalHash: ready.summary.logicalHash
            )
            if let entryPosition {
                reencoded.insert(entryPosition)
                header.entries[entryPosition] = fresh
            } else {
                header.entries.append(fresh)
            }
        }
        header.shared.removeAll { reencoded.contains($0.column) }
        let deleted = derived.deleted
        header.deletes = deleted.noneSet ? nil : BooleansEncoder.encodeBasic(deleted, profile: profile)
        var entry = derived.entry
        entry.deletedCount = deleted.ones
        entry.header = try write(header, ofType: schema.types[type].id)
        return entry
    }

    /// Frees the extents of removed segments, except those that other segments use too.
    func free(_ gone: [DirectoryEntry], keeping kept: [DirectoryEntry], and reused: [DirectoryEntry] = []) throws(FirnError) {
        guard !gone.isEmpty else { return }
        var refs: Set<ExtentRef> = []
        for entry in gone { refs.formUnion(try self.refs(of: entry)) }
        // With segments that stay as they are, only dictionaries are shared.
        for entry in kept { for blob in try header(of: entry).shared { refs.remove(blob.ref) } }
        for entry in reused { refs.subtract(try self.refs(of: entry)) }
        for ref in refs.sorted(by: { $0.offset < $1.offset }) { store.free(ref) }
    }

    /// Frees the extents of the spare segments that no segment of this version uses.
    func freeSpares() throws(FirnError) {
        guard let spares else { return }
        var gone: Set<ExtentRef> = []
        for entry in spares.segments.values.joined() { gone.formUnion(try refs(of: entry)) }
        for type in states.indices where !states[type].directory.isNone && !gone.isEmpty {
            for index in 0..<states[type].segmentCount {
                let entry = try reading { () throws(Damage) in try DirectoryEntry(try store.read(states[type].directory), index) }
                gone.subtract(try refs(of: entry))
            }
        }
        for ref in gone.sorted(by: { $0.offset < $1.offset }) { store.free(ref) }
        self.spares = nil
    }

    private func header(of entry: DirectoryEntry) throws(FirnError) -> SegmentHeader {
        try reading { () throws(Damage) in try SegmentHeader(try store.read(entry.header)) }
    }

    private func refs(of entry: DirectoryEntry) throws(FirnError) -> Set<ExtentRef> {
        let header = try header(of: entry)
        return Set([entry.header] + header.entries.compactMap(\.chunk) + header.entries.compactMap(\.overlay) + header.shared.map(\.ref))
    }
}

extension DirectoryEntry {
    fileprivate func overlaps(_ other: DirectoryEntry) -> Bool { firstRowID <= other.lastRowID && other.firstRowID <= lastRowID }
}

/// The rows of a version within a range of row ids, read by column.
private final class WantedRows {
    private let parts: [(rows: any StoredRows, positions: [Int])]
    /// The positions of the segment's columns in the version; nil for columns that the version lacks.
    private let sources: [Int?]
    private let types: [ColumnType]
    let rowIDs: [Int64]
    private var hashes: [Int: Hash128] = [:]
    private var last: (index: Int, values: Column)?

    init(_ core: SnapshotCore, _ type: Int, _ columns: [ColumnSchema], _ now: [ColumnSchema], _ range: ClosedRange<Int64>) throws(Damage) {
        let columnPositions = Dictionary(columns.enumerated().map { ($0.element.id, $0.offset) }, uniquingKeysWith: { first, _ in first })
        sources = now.map { columnPositions[$0.id] }
        types = now.map(\.type.stored)
        var parts: [(rows: any StoredRows, positions: [Int])] = [], ids: [Int64] = []
        let state = core.catalogue.types[type], count = state.segmentCount + (state.deltaRows > 0 ? 1 : 0)
        var index = try core.firstSegment(type: type, endingAtOrAfter: range.lowerBound)
        while index < count {
            if index < state.segmentCount, try core.directoryEntry(type: type, index: index).firstRowID > range.upperBound { break }
            let rows = try core.rows(type: type, index: index)
            var positions: [Int] = []
            for position in 0..<rows.rowCount where rows.isLive(position) {
                let id = try rows.rowID(at: position)
                if range.contains(id) {
                    positions.append(position)
                    ids.append(id)
                }
            }
            if !positions.isEmpty { parts.append((rows, positions)) }
            index += 1
        }
        self.parts = parts
        rowIDs = ids
    }

    /// Returns the rows' values of a column in canonical form.
    func column(_ index: Int) throws(Damage) -> Column {
        if let last, last.index == index { return last.values }
        var values = Column(types[index])
        if let source = sources[index] {
            for (rows, positions) in parts {
                let all = try rows.allRows(source)
                values.append(contentsOf: positions.count == all.count ? all : all.gather(positions))
            }
        } else {
            values = Column(types[index], from: nil, count: rowIDs.count)
        }
        values.normalise()
        last = (index, values)
        return values
    }

    func hash(_ index: Int) throws(Damage) -> Hash128 {
        if let known = hashes[index] { return known }
        let hash = try column(index).logicalHash
        hashes[index] = hash
        return hash
    }
}

/// Wanted rows as an existing segment would store them.
private struct DerivedSegment {
    let entry: DirectoryEntry
    let segment: StoredSegment
    let rows: WantedRows
    /// The rows of the segment that are not wanted.
    let deleted: Bits
    /// The columns whose chunks cannot be used as they are, with the rows of a chunk overlay; nil for a new chunk.
    private(set) var differing: [(column: Int, overlaid: [Int]?)] = []
    private let positions: [Int]

    var isExact: Bool {
        differing.isEmpty && deleted.words == (segment.live.map { live in live.words.map { ~$0 } } ?? deleted.words.map { _ in 0 })
    }

    /// Fails if a row is missing in the segment, or almost nothing of the segment could be reused. If `mayDiffer` is false, only a segment
    /// with exactly the wanted rows is accepted.
    init?(_ entry: DirectoryEntry, _ segment: StoredSegment, _ rows: WantedRows, mayDiffer: Bool) throws(Damage) {
        guard !rows.rowIDs.isEmpty, rows.rowIDs.count <= segment.rowCount, mayDiffer || rows.rowIDs.count == segment.liveCount else {
            return nil
        }
        var deleted = Bits(repeating: true, count: segment.rowCount), positions: [Int] = []
        for id in rows.rowIDs {
            guard let position = try segment.position(of: id) else { return nil }
            deleted[position] = false
            positions.append(position)
        }
        self.entry = entry
        self.segment = segment
        self.rows = rows
        self.deleted = deleted
        self.positions = positions
        let header = segment.layout
        // Chunks in a packed header cannot be shared.
        let isWide = header.entries.allSatisfy { $0.chunk != nil }
        if (!mayDiffer || !isWide), !isExact { return nil }
        guard deleted.ones <= segment.rowCount / 4 else { return nil }
        for index in segment.type.columns.indices {
            let stored = header.entryPosition(of: segment.type.columns[index].id, near: index).map { header.entries[$0] }
            if !mayDiffer, positions.count == segment.rowCount, let hash = stored?.logicalHash, try rows.hash(index) != hash { return nil }
            guard let rows = try differences(index, stored) else { continue }
            if !mayDiffer || !isWide { return nil }
            differing.append((index, stored == nil ? nil : rows))
        }
        // A chunk that shares the validity of a replaced chunk, or follows from it, is replaced too.
        let replaced = Set(
            differing.compactMap {
                $0.overlaid == nil ? header.entryPosition(of: segment.type.columns[$0.column].id, near: $0.column) : nil
            })
        for (entryPosition, stored) in header.entries.enumerated() where !replaced.contains(entryPosition) {
            var references = Set(try segment.relationSources(of: entryPosition))
            if let other = try segment.presenceSource(of: entryPosition) { references.insert(other) }
            guard !replaced.isDisjoint(with: references), let index = segment.type.index(ofID: stored.columnID)
            else { continue }
            differing.removeAll { $0.column == index }
            differing.append((index, nil))
        }
        if !differing.isEmpty, differing.count(where: { $0.overlaid == nil }) == segment.type.columns.count { return nil }
    }

    /// Returns the rows of a column that differ, together with those that already have a chunk overlay; `.some(nil)` if there are too many
    /// for an overlay, `.none` if no row differs.
    private func differences(_ index: Int, _ stored: SegmentHeader.Entry?) throws(Damage) -> [Int]?? {
        let mine = try segment.allRows(index), wanted = try rows.column(index)
        let there = positions.count == mine.count ? mine : mine.gather(positions)
        if there.isStoredAs(wanted) { return .none }
        var found: [Int] = []
        for i in positions.indices where there.value(at: i) != wanted.value(at: i) { found.append(positions[i]) }
        if found.isEmpty { return .none }
        let all = ColumnOverlay.merged(try segment.rawColumn(index).overlay?.positions ?? [], found)
        return .some(all.count <= max(16, segment.rowCount / DatabaseTransaction.overlayLimit) ? all : nil)
    }

    /// Returns all rows of the segment in a column, with the wanted values in the wanted rows.
    func whole(_ index: Int) throws(Damage) -> Column {
        let wanted = try rows.column(index)
        if positions.count == segment.rowCount { return wanted }
        let mine = try segment.allRows(index)
        var out = mine.emptyCopy, next = 0
        for (i, position) in positions.enumerated() {
            if next < position { out.append(contentsOf: mine, range: next..<position) }
            out.append(contentsOf: wanted, range: i..<i + 1)
            next = position + 1
        }
        if next < mine.count { out.append(contentsOf: mine, range: next..<mine.count) }
        out.normalise()
        return out
    }
}
