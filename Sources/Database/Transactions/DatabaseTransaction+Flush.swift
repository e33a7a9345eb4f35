import FirnBytes
import FirnCodecs
import FirnStore
import FirnTable

/// Moving the delta store into segments: rows become sealed segments, new values chunk overlays, deletions bits of the segment header.
extension DatabaseTransaction {
    /// The delta store of a type is moved into segments when it has at least this many rows, or more than this many bytes.
    static let deltaRows = 65_536
    static let deltaBytes = 1 << 20
    /// The number of bytes that one commit may write for changes to sealed segments. Later commits write the rest.
    private static let budget = 4 << 20
    /// A chunk is encoded again if more than one row in this many would be in its overlay.
    static let overlayLimit = 32
    /// The last segment is merged with the rows after it if it has at most this many times their number: rows are encoded again only a few
    /// times.
    private static let mergeLimit = 4

    /// Brings the delta store of a type below its limits, within the byte budget.
    func flush(_ type: Int) throws(FirnError) {
        guard states[type].deltaRows >= DatabaseTransaction.deltaRows || states[type].deltaBytes > DatabaseTransaction.deltaBytes else {
            return
        }
        try sealTail(type)
        var left = DatabaseTransaction.budget
        var segment = 0
        while states[type].deltaBytes > DatabaseTransaction.deltaBytes / 2, left > 0, segment < states[type].segmentCount {
            if states[type].touches(segment) {
                let before = states[type].segmentCount
                left -= try flushChanges(type, segment)
                if states[type].segmentCount < before { continue }
            }
            segment += 1
        }
    }

    /// Seals the rows after the sealed segments: those of the delta store and new ones. A small last segment is merged with them.
    func sealTail(_ type: Int) throws(FirnError) {
        let table = table(type)
        if bulkWriters[type]?.isPending ?? false { return try table.handOver() }
        guard table.tail.rowCount > 0 else { return }
        var (columns, rowIDs) = try reading { () throws(Damage) in
            try table.needTail()
            return try table.tail.liveRows(columns: schema.types[type].columns.count)
        }
        try dropDeltaRows(type)
        table.emptyTail()
        guard !rowIDs.isEmpty else { return }
        try enter(count: columns.count, type, { columns[$0] }) { rowIDs[$0] }
        let core = current(), full = BulkWriter.segmentRows(columns: columns.count)
        try directoryChange(type) { (entries) throws(FirnError) in
            if let final = entries.last, final.rowCount + rowIDs.count <= full, !states[type].touches(entries.count - 1),
                !table.isEdited(entries.count - 1), final.rowCount <= DatabaseTransaction.mergeLimit * rowIDs.count
            {
                let last = entries.count - 1
                let segment = try reading { () throws(Damage) in try core.segment(type: type, index: last) }
                var merged = try reading { () throws(Damage) in try segment.liveRows(columns: columns.count) }
                for i in columns.indices { merged.columns[i].append(contentsOf: columns[i]) }
                columns = merged.columns
                rowIDs = merged.rowIDs + rowIDs
                try free(segment, type, entries, at: last)
                entries.removeLast()
            }
            // One transaction may have inserted more than a segment holds.
            for start in stride(from: 0, to: rowIDs.count, by: full) {
                let rows = start..<min(start + full, rowIDs.count)
                let part = rows.count == rowIDs.count ? columns : columns.map { $0.slice(rows) }
                entries.append(try writeSegment(part, rowIDs: Array(rowIDs[rows]), type))
            }
        }
    }

    /// Deletes the rows that exist only in the delta store.
    func dropDeltaRows(_ type: Int) throws(FirnError) {
        guard states[type].deltaRows > 0 else { return }
        let sealedEnd = try lastSealedRowID(type)
        let keys = try reading { () throws(Damage) in
            var keys: [Int64] = []
            var cursor = try TreeReader(root: states[type].delta, source: store).cursor(from: UInt64(sealedEnd + 1))
            while try cursor.next() { keys.append(Int64(truncatingIfNeeded: try cursor.keyNumber())) }
            return keys
        }
        let tree = TreeWriter(root: states[type].delta, transaction: store)
        for rowID in keys { try drop(rowID, from: tree, type) }
        states[type].deltaRows = 0
        states[type].delta = try tree.finish()
        if states[type].delta.isNone { states[type].deltaBytes = 0 }
        forgetReadable()
    }

    func lastSealedRowID(_ type: Int) throws(FirnError) -> Int64 {
        guard states[type].segmentCount > 0 else { return -1 }
        return try reading { () throws(Damage) in
            try DirectoryEntry(try store.read(states[type].directory), states[type].segmentCount - 1).lastRowID
        }
    }

    /// Applies the delta records of one sealed segment, and the changes to it that this transaction holds in memory (`edits`), to the
    /// segment. Returns the approximate number of bytes written.
    @discardableResult
    func flushChanges(_ type: Int, _ index: Int, _ edits: WorkingRows? = nil) throws(FirnError) -> Int {
        let (segment, entry, changes) = try reading { () throws(Damage) in
            let core = current()
            let entry = try core.directoryEntry(type: type, index: index)
            let rows = entry.firstRowID...entry.lastRowID
            return (
                try core.segment(type: type, index: index), entry,
                states[type].touches(index) ? try DeltaChanges(core, type: type, rows: rows) : DeltaChanges()
            )
        }
        let layout = segment.layout
        if !changes.records.isEmpty {
            let tree = TreeWriter(root: states[type].delta, transaction: store)
            for (rowID, _) in changes.records { try drop(rowID, from: tree, type) }
            states[type].delta = try tree.finish()
            forgetReadable()
            states[type].deltaChanges -= changes.records.count
        }
        let rows: any StoredRows = edits ?? segment
        var changed = Set(changes.records.flatMap(\.record.columns))
        if let edits {
            for column in schema.types[type].columns.indices where edits.hasChanged(column) {
                changed.insert(schema.types[type].columns[column].id)
            }
        }
        try enterChanges(type, segment, rows, changes, edits)
        var written = 0
        let count = states[type].segmentCount
        try directoryChange(type) { (entries) throws(FirnError) in
            if rows.liveCount == 0 || layout.entries.contains(where: { $0.packed != nil }) {
                let live = try reading { () throws(Damage) in try rows.liveRows(columns: schema.types[type].columns.count) }
                try free(segment, type, entries, at: index)
                if live.rowIDs.isEmpty {
                    entries.remove(at: index)
                } else {
                    entries[index] = try writeSegment(live.columns, rowIDs: live.rowIDs, type)
                    written = Int(entries[index].header.length)
                }
                return
            }
            var header = layout
            written = try rewrite(&header, segment, edits, type, changed)
            try freeShared(Set(layout.shared.map(\.ref)).subtracting(header.shared.map(\.ref)), entries, except: index)
            if let live = rows.live {
                header.deletes = BooleansEncoder.encodeBasic(Bits(words: live.words.map { ~$0 }, count: live.count), profile: profile)
            }
            store.free(entries[index].header)
            entries[index].header = try write(header, ofType: schema.types[type].id)
            entries[index].deletedCount = entry.rowCount - rows.liveCount
            written += Int(entries[index].header.length)
        }
        states[type].untouch(index, removed: states[type].segmentCount < count)
        return written
    }

    /// Gives the changed columns of a header new chunk overlays, or new chunks if the overlays have become too large. Returns the bytes
    /// written.
    private func rewrite(
        _ header: inout SegmentHeader, _ segment: StoredSegment, _ edits: WorkingRows?, _ type: Int, _ changed: Set<UInt32>
    ) throws(FirnError) -> Int {
        var written = 0
        // Freed after everything has been read: validity may be stored in the chunk of another column.
        var replaced: [ExtentRef] = [], reencoded: Set<Int> = []
        // Entries keep their positions, and each column is looked up once, so the positions in the old header are valid.
        let before = header
        for (index, column) in schema.types[type].columns.enumerated() where changed.contains(column.id) {
            let (old, whole) = try reading { () throws(Damage) in
                (try segment.rawColumn(index).overlay?.positions ?? [], try (edits ?? segment as any StoredRows).allRows(index))
            }
            let positions = ColumnOverlay.merged(old, edits?.changedPositions(index) ?? [])
            guard !positions.isEmpty else { continue }
            let overlay = ColumnOverlay(positions: positions, values: whole.gather(positions))
            let zone = overlay.values.zone
            if let entryPosition = before.entryPosition(of: column.id, near: index),
                overlay.positions.count <= max(16, segment.rowCount / DatabaseTransaction.overlayLimit)
            {
                if let old = header.entries[entryPosition].overlay { store.free(old) }
                let ref = try write(overlay)
                header.entries[entryPosition].overlay = ref
                header.entries[entryPosition].zone = header.entries[entryPosition].zone.union(zone)
                header.entries[entryPosition].logicalHash = whole.logicalHash
                written += Int(ref.length)
                continue
            }
            let encoder = ColumnEncoder(column.type.stored, profile: profile, isLookedUp: schema.types[type].isLookedUp(index))
            encoder.add(whole)
            let ready = encoder.finish().ready[0]
            store.require(ready.summary.features)
            let bytes = ready.chunk.encoded
            let fresh = SegmentHeader.Entry(
                columnID: column.id, zone: ready.summary.zone, chunk: try write(bytes), logicalHash: ready.summary.logicalHash)
            written += bytes.count
            if let entryPosition = before.entryPosition(of: column.id, near: index) {
                if let old = header.entries[entryPosition].overlay { store.free(old) }
                written += try separate(from: entryPosition, &header, segment, &replaced)
                written += try unrelate(from: entryPosition, &header, segment, type, &replaced, &reencoded)
                replaced.append(header.entries[entryPosition].chunk!)
                reencoded.insert(entryPosition)
                header.entries[entryPosition] = fresh
            } else {
                header.entries.append(fresh)
            }
        }
        header.shared.removeAll { reencoded.contains($0.column) }
        for ref in replaced { store.free(ref) }
        return written
    }

    // MARK: Parts

    /// Writes a chunk overlay.
    func write(_ overlay: ColumnOverlay) throws(FirnError) -> ExtentRef {
        let encoded = overlay.encoded(profile: profile)
        store.require(encoded.features)
        return try write(encoded.bytes)
    }

    /// Encodes one segment that shares no dictionary with others.
    private func writeSegment(_ columns: [Column], rowIDs: [Int64], _ type: Int) throws(FirnError) -> DirectoryEntry {
        let lookedUp = columns.indices.map(schema.types[type].isLookedUp)
        var found = RelationMemory()
        let plan = RelationPlan(
            columns.indices.map { lookedUp[$0] ? nil : columns[$0] }, canBeCoded: columns.map { _ in true }, profile: profile,
            threads: threads, memory: &found)
        let presence = presence(columns.indices.map { plan.hasOwnPresence($0) ? columns[$0].present : nil }, profile: profile)
        let encoded = inParallel(columns.count) { index in
            let encoder = ColumnEncoder(columns[index].type, profile: profile, isLookedUp: lookedUp[index])
            encoder.add(columns[index], presence: presence[index], role: plan.roles[index], prepared: plan.prepared[index])
            return Unshared(encoder.finish().ready[0])
        }
        let ids = schema.types[type].columns.map(\.id)
        let chunks = encoded.map(\.value.chunk.encoded)
        var entries: [SegmentHeader.Entry] = []
        let packs = chunks.reduce(0) { $0 + $1.count } <= SegmentHeader.packedLimit(columns: chunks.count)
        for (i, part) in encoded.enumerated() {
            store.require(part.value.summary.features)
            let summary = part.value.summary
            let zone = packs ? SegmentHeader.packedZone(summary, of: chunks[i].count, isLookedUp: lookedUp[i]) : summary.zone
            entries.append(
                .init(columnID: ids[i], zone: zone, chunk: packs ? nil : try write(chunks[i]), logicalHash: summary.logicalHash))
        }
        let first = rowIDs[0], last = rowIDs[rowIDs.count - 1]
        var header = SegmentHeader(rowCount: rowIDs.count, firstRowID: first, entries: entries)
        if packs { header.packedChunks = chunks }
        if last - first != Int64(rowIDs.count - 1) {
            header.rowIDs = rowIDs.map { $0 - first }.withUnsafeBufferPointer { IntegersEncoder.encodeBasic($0, profile: profile) }
        }
        return DirectoryEntry(
            firstRowID: first, lastRowID: last, rowCount: rowIDs.count, deletedCount: 0,
            header: try write(header, ofType: schema.types[type].id))
    }

    /// Frees the extents of a segment, and those of its shared dictionaries to which no other segment refers.
    private func free(_ segment: StoredSegment, _ type: Int, _ entries: [DirectoryEntry], at index: Int) throws(FirnError) {
        for entry in segment.layout.entries {
            if let chunk = entry.chunk { store.free(chunk) }
            if let overlay = entry.overlay { store.free(overlay) }
        }
        try freeShared(Set(segment.layout.shared.map(\.ref)), entries, except: index)
        store.free(entries[index].header)
    }

    /// Frees those of the blobs to which no segment except `index` refers. Every segment is checked: between two segments that share a
    /// dictionary, one may have been encoded again without it.
    private func freeShared(_ blobs: Set<ExtentRef>, _ entries: [DirectoryEntry], except index: Int) throws(FirnError) {
        var unused = blobs
        for (other, entry) in entries.enumerated() where other != index && !unused.isEmpty {
            let header = try reading { () throws(Damage) in try SegmentHeader(try store.read(entry.header)) }
            for blob in header.shared { unused.remove(blob.ref) }
        }
        for ref in unused { store.free(ref) }
    }

    /// Lets `body` change the entries of a type's directory, and writes the directory again.
    func directoryChange(_ type: Int, _ body: (inout [DirectoryEntry]) throws(FirnError) -> Void) throws(FirnError) {
        var entries: [DirectoryEntry] = []
        if states[type].directory != .none {
            entries = try reading { () throws(Damage) in
                let bytes = try store.read(states[type].directory)
                return try (0..<states[type].segmentCount).mapTyped { (i) throws(Damage) in try DirectoryEntry(bytes, i) }
            }
        }
        try body(&entries)
        if states[type].directory != .none { store.free(states[type].directory) }
        var out = ByteWriter()
        for entry in entries { entry.encode(into: &out) }
        IndexSection.encode(states[type].indexes, into: &out)
        states[type].segmentCount = entries.count
        states[type].directory = out.count == 0 ? .none : try write(out.bytes)
        forgetReadable()
    }

    func drop(_ rowID: Int64, from tree: TreeWriter, _ type: Int) throws(FirnError) {
        let key = UInt64(rowID)
        let size = try reading { () throws(Damage) in try tree.get(key)?.count ?? 0 }
        states[type].deltaBytes -= min(states[type].deltaBytes, size + 16)
        _ = try tree.delete(key)
    }
}

extension ColumnOverlay {
    /// The union of two ascending lists of positions, ascending.
    static func merged(_ a: [Int], _ b: [Int]) -> [Int] {
        if a.isEmpty || b.isEmpty { return a.isEmpty ? b : a }
        return Array(Set(a).union(b)).sorted()
    }
}

extension DatabaseTransaction {
    /// Moves the whole delta store into segments, regardless of its size and the byte budget.
    package func flushAll() throws(FirnError) {
        for type in tables.keys.sorted() { try writeEdits(type) }
        try finishBulk()
        for table in tables.values { table.begin() }
        for type in states.indices {
            try sealTail(type)
            var segment = 0
            while segment < states[type].segmentCount {
                let before = states[type].segmentCount
                if states[type].touches(segment) { try flushChanges(type, segment) }
                if states[type].segmentCount == before { segment += 1 }
            }
        }
        for table in tables.values { table.begin() }
    }
}
