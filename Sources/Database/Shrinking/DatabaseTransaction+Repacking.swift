import FirnBytes
import FirnStore
import FirnTable

/// Adjacent segments that are to be rewritten as one.
struct RepackPiece {
    var type: Int
    var segments: Range<Int>
    /// About how many bytes this will write.
    var bytes: UInt64
}

/// Segments that were rewritten without a gain: rows that are few but large fill as many segments again. By type, their first row ids.
struct SettledSegments {
    private var firstRows: [Int: Set<Int64>] = [:]

    func contains(_ entry: DirectoryEntry, type: Int) -> Bool { firstRows[type]?.contains(entry.firstRowID) ?? false }
    mutating func insert(_ entries: ArraySlice<DirectoryEntry>, type: Int) {
        firstRows[type, default: []].formUnion(entries.map(\.firstRowID))
    }
}

/// Dropping deleted rows inside segments: writes the same rows into fewer and fuller segments, as compaction does, a few at a time.
extension DatabaseTransaction {
    /// A segment is rewritten if more than one in this many of its rows is deleted.
    private static let wornRows = 16
    /// A segment with more bytes is full, even if its rows are few.
    private static let fullBytes: UInt64 = 2 << 20

    /// Moves the changes in the delta store into segments, except into those that version `held` or one before it has, which would then be
    /// stored twice. Returns nil if nothing changed, otherwise how many deleted rows were dropped: small segments are rewritten without
    /// them.
    func flush(after held: UInt64) throws(FirnError) -> Int? {
        var dropped: Int?
        for type in states.indices where !states[type].delta.isNone {
            if states[type].deltaRows > 0 {
                try sealTail(type)
                dropped = dropped ?? 0
            }
            // From the end: a segment without rows is removed, and those after it move up.
            for segment in (0..<states[type].segmentCount).reversed() where states[type].touches(segment) {
                let count = states[type].segmentCount,
                    before = try reading { () throws(Damage) in try current().liveSegment(type: type, index: segment) }
                guard before.birth > held else { continue }
                try flushChanges(type, segment)
                let after =
                    states[type].segmentCount < count
                    ? 0 : try reading { () throws(Damage) in try current().directoryEntry(type: type, index: segment).rowCount }
                dropped = (dropped ?? 0) + before.entry.rowCount - after
            }
        }
        for table in tables.values { table.begin() }
        return dropped
    }

    /// Returns the first adjacent segments, in the order of types and rows, that are worth rewriting, because they contain many deleted
    /// rows or fit into fewer segments: about `budget` bytes, or what one segment takes.
    func nextPiece(budget: UInt64, after held: UInt64, except settled: SettledSegments) throws(FirnError) -> RepackPiece? {
        for type in states.indices {
            let entries = try reading { () throws(Damage) in
                let core = current()
                return try (0..<states[type].segmentCount).mapTyped { (i) throws(Damage) in try core.directoryEntry(type: type, index: i) }
            }
            var start = 0
            while start < entries.count {
                if let piece = try piece(type, entries, from: start, budget, held, settled) { return piece }
                start += 1
            }
        }
        return nil
    }

    private func isWorn(_ entry: DirectoryEntry) -> Bool { entry.deletedCount * DatabaseTransaction.wornRows > entry.rowCount }

    private func piece(
        _ type: Int, _ entries: [DirectoryEntry], from start: Int, _ budget: UInt64, _ held: UInt64, _ settled: SettledSegments
    ) throws(FirnError) -> RepackPiece? {
        var piece = RepackPiece(type: type, segments: start..<start, bytes: 0), live = 0, isWorn = false
        let full = BulkWriter.segmentRows(columns: schema.types[type].columns.count)
        for index in start..<entries.count {
            let entry = entries[index], rows = entry.rowCount - entry.deletedCount
            guard self.isWorn(entry) || rows < full / 2 && !settled.contains(entry, type: type), !states[type].touches(index) else { break }
            // Nothing is gained if the first segment has few deleted rows and no segment follows it.
            if index == start, !self.isWorn(entry), index + 1 == entries.count { break }
            let segment = try reading { () throws(Damage) in try current().liveSegment(type: type, index: index) }
            guard segment.birth > held, self.isWorn(entry) || segment.bytes < DatabaseTransaction.fullBytes else { break }
            let bytes = entry.header.length + UInt64(Double(segment.bytes) * Double(rows) / Double(entry.rowCount))
            // Fill at least one segment: half-full ones would be rewritten again.
            guard index == start || piece.bytes + bytes <= budget || (live < full && piece.bytes + bytes <= 2 * budget) else {
                break
            }
            piece.segments = start..<index + 1
            piece.bytes += bytes
            live += rows
            isWorn = isWorn || self.isWorn(entry)
        }
        guard isWorn || (live + full - 1) / full < piece.segments.count else { return nil }
        return piece
    }

    /// Writes the live rows of adjacent segments without delta records into as few segments as they fill. Returns the number of deleted
    /// rows that were dropped, and adds the new segments to `settled` if they are not fewer.
    func repack(_ piece: RepackPiece, _ settled: inout SettledSegments) throws(FirnError) -> Int {
        let type = piece.type, core = current(), before = states[type].segmentCount, columns = schema.types[type].columns.count
        let writer = writer(type)
        writer.entersIndexes = false
        var dropped = 0, last: Int64 = -1
        for index in piece.segments {
            let (live, all) = try reading { () throws(Damage) in
                let segment = try core.segment(type: type, index: index), live = try segment.liveRows(columns: columns)
                guard live.rowIDs.first ?? .max > last else { throw Damage("row ids do not ascend from the segment before") }
                return (live, segment.rowCount)
            }
            last = live.rowIDs.last ?? last
            dropped += all - live.rowIDs.count
            try writer.add(live.columns, rowIDs: live.rowIDs)
        }
        try writer.finish()
        bulkWriters[type] = nil
        let added = states[type].segmentCount - before
        try directoryChange(type) { (entries) throws(FirnError) in
            let gone = Array(entries[piece.segments]), new = Array(entries[before...])
            if added >= piece.segments.count { settled.insert(new[...], type: type) }
            entries.removeLast(added)
            entries.replaceSubrange(piece.segments, with: new)
            try free(gone, keeping: entries)
        }
        states[type].untouch(piece.segments, replacedBy: added)
        return dropped
    }

    // MARK: Indexes

    /// Returns an index with many entries of rows that no longer exist, and about how many bytes it takes without them, or nil.
    func staleIndex(after held: UInt64) -> (type: Int, index: Int, bytes: UInt64)? {
        for type in states.indices {
            for (number, index) in states[type].indexes.enumerated()
            where index.entryCount > 0 && index.runs.allSatisfy({ $0.ref.birth > held }) {
                let rows = max(states[type].liveRows - states[type].deltaRows, 0), entries = index.entryCount
                let isStale = index.kind == .values ? entries > rows + rows / 16 + 64 : index.staleRows > rows / 8 + 64
                if isStale { return (type, number, UInt64(clamping: index.bytes / entries * min(rows, entries))) }
            }
        }
        return nil
    }

    func remakeIndex(_ type: Int, _ index: Int) throws(FirnError) {
        try remake(type, index)
        try directoryChange(type) { _ in }
    }
}
