import FirnBytes
import FirnStore

/// Neighbouring segments that are to be written anew, as one.
struct RepackPiece {
    var type: Int
    var segments: Range<Int>
    /// About how many bytes that will write.
    var bytes: UInt64
}

/// Dropping what is dead inside segments: the same rows in fewer and fuller ones, as compaction writes them, a few at a time.
extension DatabaseTransaction {
    /// A segment with more than one deleted row in this many is written anew.
    private static let wornRows = 16

    /// Moves what the delta says into segments, but for those that `held` or a version before has, which would then be there twice. Nil if that changed nothing, else how many
    /// dead rows went: small segments are written anew without them.
    func flush(after held: UInt64) throws(FirnError) -> Int? {
        var dropped: Int?
        for type in states.indices where !states[type].delta.isNone {
            if states[type].deltaRows > 0 {
                try sealTail(type)
                dropped = dropped ?? 0
            }
            // From behind: a segment without rows goes, and those behind it move up.
            for segment in (0..<states[type].segmentCount).reversed() where states[type].touches(segment) {
                let count = states[type].segmentCount, before = try reading { () throws(Damage) in try current().liveSegment(type: type, index: segment) }
                guard before.birth > held else { continue }
                try flushChanges(type, segment)
                let after = states[type].segmentCount < count ? 0 : try reading { () throws(Damage) in try current().directoryEntry(type: type, index: segment).rowCount }
                dropped = (dropped ?? 0) + before.entry.rowCount - after
            }
        }
        for table in tables.values { table.begin() }
        return dropped
    }

    /// The first segments, in the order of types and rows, whose dead rows are worth the writing, or that fill fewer than they are: about `budget` bytes of them, or what one
    /// segment takes.
    func nextPiece(budget: UInt64, after held: UInt64) throws(FirnError) -> RepackPiece? {
        for type in states.indices {
            let entries = try reading { () throws(Damage) in
                let core = current()
                return try (0..<states[type].segmentCount).mapTyped { (i) throws(Damage) in try core.directoryEntry(type: type, index: i) }
            }
            var start = 0
            while start < entries.count {
                if let piece = try piece(type, entries, from: start, budget, held) { return piece }
                start += 1
            }
        }
        return nil
    }

    private func isWorn(_ entry: DirectoryEntry) -> Bool { entry.deletedCount * DatabaseTransaction.wornRows > entry.rowCount }

    private func piece(_ type: Int, _ entries: [DirectoryEntry], from start: Int, _ budget: UInt64, _ held: UInt64) throws(FirnError) -> RepackPiece? {
        var piece = RepackPiece(type: type, segments: start..<start, bytes: 0), live = 0, isWorn = false
        for index in start..<entries.count {
            let entry = entries[index], rows = entry.rowCount - entry.deletedCount
            guard self.isWorn(entry) || rows < segmentSize / 2, !states[type].touches(index) else { break }
            // Nothing is gained by the first if it is whole and the next does not fit in with it.
            if index == start, !self.isWorn(entry), index + 1 == entries.count { break }
            let segment = try reading { () throws(Damage) in try current().liveSegment(type: type, index: index) }
            guard segment.birth > held else { break }
            let bytes = entry.header.length + UInt64(Double(segment.bytes) * Double(rows) / Double(entry.rowCount))
            // One full segment at least: half full ones would be written again.
            guard index == start || piece.bytes + bytes <= budget || (live < segmentSize && piece.bytes + bytes <= 2 * budget) else { break }
            piece.segments = start..<index + 1
            piece.bytes += bytes
            live += rows
            isWorn = isWorn || self.isWorn(entry)
        }
        guard isWorn || (live + segmentSize - 1) / segmentSize < piece.segments.count else { return nil }
        return piece
    }

    /// Writes the live rows of neighbouring segments, of which the delta says nothing, into as few as they fill. Returns how many dead ones went.
    func repack(_ piece: RepackPiece) throws(FirnError) -> Int {
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
            entries.removeLast(added)
            entries.replaceSubrange(piece.segments, with: new)
            try free(gone, keeping: entries)
        }
        states[type].untouch(piece.segments, replacedBy: added)
        return dropped
    }

    // MARK: Indexes

    /// An index with many entries of rows that are not there any more, and about how many bytes it takes without them.
    func staleIndex(after held: UInt64) -> (type: Int, index: Int, bytes: UInt64)? {
        for type in states.indices {
            for (place, index) in states[type].indexes.enumerated() where index.entryCount > 0 && index.runs.allSatisfy({ $0.ref.birth > held }) {
                let rows = max(states[type].liveRows - states[type].deltaRows, 0), entries = index.entryCount
                let isStale = index.kind == .values ? entries > rows + rows / 16 + 64 : index.staleRows > rows / 8 + 64
                if isStale { return (type, place, UInt64(clamping: index.bytes / entries * min(rows, entries))) }
            }
        }
        return nil
    }

    func remakeIndex(_ type: Int, _ index: Int) throws(FirnError) {
        try remake(type, index)
        try directoryChange(type) { _ in }
    }
}
