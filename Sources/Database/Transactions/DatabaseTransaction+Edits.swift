import FirnBytes
import FirnStore
import FirnTable

/// Writing the changes that a transaction holds in memory: few rows as delta records, many as sealed rows and chunks.
extension DatabaseTransaction {
    /// From this number of new rows in one transaction, they are sealed directly: delta records would cost more.
    static let sealedRows = 2048

    /// Writes the changes of all types that their tables hold in memory, and returns these types. Callers that continue to use the tables
    /// then call `begin` of these.
    @discardableResult
    func writeEdits() throws(FirnError) -> Set<Int> {
        var written = editedTables
        for (type, writer) in bulkWriters where writer.isPending && tables[type] != nil { written.insert(type) }
        for type in written.sorted() { try writeEdits(type) }
        return written
    }

    /// Writes the changes of a type that its table holds in memory. Callers that continue to use the table then call its `begin`.
    func writeEdits(_ type: Int) throws(FirnError) {
        guard let table = openTable(type) else { return }
        let sealed = table.edited.indices.filter { table.edited[$0] != nil }
        let rewritten = Set(sealed.filter { isRewritten(table.edited[$0]!) })
        let left = try writeRecords(table, type, of: sealed.filter { !rewritten.contains($0) })
        // In descending order: a segment without rows is removed, and the later ones move up.
        for segment in rewritten.union(left).sorted(by: >) { try flushChanges(type, segment, table.edited[segment]!) }
    }

    /// Whether so many rows of a segment have changed that the segment is changed directly, without delta records.
    private func isRewritten(_ rows: WorkingRows) -> Bool {
        let limit = max(16, rows.rowCount / DatabaseTransaction.overlayLimit)
        return rows.deletedPositions.count > limit || rows.types.indices.contains { rows.changedCount($0) > limit }
    }

    /// Writes delta records, and returns the segments that are to be changed directly instead.
    private func writeRecords(_ table: WorkingTable, _ type: Int, of segments: [Int]) throws(FirnError) -> [Int] {
        let tree = TreeWriter(root: states[type].delta, transaction: store)
        var hasWritten = false, left: [Int] = []
        for segment in segments {
            guard let records = try records(of: table.edited[segment]!, type, tree) else {
                left.append(segment)
                continue
            }
            for (rowID, record) in records {
                try change(rowID, record, in: tree, type, segment)
                hasWritten = true
            }
        }
        let tail = table.tail
        var added = 0
        for position in tail.countBefore..<max(tail.countBefore, tail.rowCount) where tail.isLive(position) { added += 1 }
        var isSealed = bulkWriters[type]?.isPending ?? false || added >= DatabaseTransaction.sealedRows
        if !isSealed { isSealed = try hasLargeChange(tail, type, tree) }
        if !isSealed, try writeTail(tail, added, type, tree) { hasWritten = true }
        if hasWritten {
            states[type].delta = try tree.finish()
            if states[type].delta.isNone { states[type].deltaBytes = 0 }
            forgetReadable()
            if !isSealed { table.noteTailWritten() }
        }
        if isSealed { try sealTail(type) }
        return left
    }

    private func change(_ rowID: Int64, _ record: DeltaRecord, in tree: TreeWriter, _ type: Int, _ segment: Int) throws(FirnError) {
        let key = UInt64(rowID)
        var record = record
        let old = try reading { () throws(Damage) in try tree.get(key) }
        if let old {
            states[type].deltaBytes -= min(states[type].deltaBytes, old.count + 16)
            if record.kind == .update {
                var whole = try reading { () throws(Damage) in try DeltaRecord(old) }
                whole.update(with: record)
                record = whole
            }
        } else {
            states[type].deltaChanges += 1
            states[type].touch(segment)
        }
        try put(record, at: key, in: tree, type)
    }

    private func put(_ record: DeltaRecord, at key: UInt64, in tree: TreeWriter, _ type: Int) throws(FirnError) {
        let bytes = record.encoded
        states[type].deltaBytes += bytes.count + 16
        try tree.put(key, bytes)
    }

    /// Writes new and changed rows of the tail as delta records, and removes deleted ones. Returns false if there was nothing to write.
    private func writeTail(_ tail: WorkingRows, _ added: Int, _ type: Int, _ tree: TreeWriter) throws(FirnError) -> Bool {
        var hasWritten = false
        for position in tail.deletedPositions {
            try drop(try reading { () throws(Damage) in try tail.rowID(at: position) }, from: tree, type)
            states[type].deltaRows -= 1
            hasWritten = true
        }
        var changed: [Int] = []
        tail.changedRows.forEachSet { if tail.isLive($0) { changed.append($0) } }
        for position in changed {
            let key = UInt64(try reading { () throws(Damage) in try tail.rowID(at: position) })
            let size = try reading { () throws(Damage) in try tree.get(key)?.count ?? 0 }
            states[type].deltaBytes -= min(states[type].deltaBytes, size + 16)
            try put(try whole(position, of: tail, type), at: key, in: tree, type)
            hasWritten = true
        }
        guard added > 0 else { return hasWritten }
        for position in tail.countBefore..<tail.rowCount where tail.isLive(position) {
            let rowID = try reading { () throws(Damage) in try tail.rowID(at: position) }
            try put(try whole(position, of: tail, type), at: UInt64(rowID), in: tree, type)
        }
        states[type].deltaRows += added
        return true
    }

    private func whole(_ position: Int, of rows: WorkingRows, _ type: Int) throws(FirnError) -> DeltaRecord {
        try reading { () throws(Damage) in
            var values: [(column: UInt32, value: Value)] = []
            values.reserveCapacity(rows.types.count)
            for (i, column) in schema.types[type].columns.enumerated() {
                if let held = rows.heldValue(at: position, i) {
                    values.append((column.id, held))
                } else {
                    values.append((column.id, try rows.base!.storedColumn(i).value(at: position)))
                }
            }
            return DeltaRecord(.row, values)
        }
    }
}

/// The rows that a transaction leaves in memory for later versions.
extension DatabaseTransaction {
    /// A tail with more deleted rows than this, if they are more than half of its rows, is not kept: reading it again is cheaper.
    private static let deadRows = 4096

    func openRows(version: UInt64, _ catalogue: Catalogue) -> OpenRows {
        var open = base.openRows(version: version)
        for type in base.schema.types.indices
        where type < schema.types.count && schema.types[type].columns != base.schema.types[type].columns { open.forget(type) }
        for type in retaken { open.forget(type) }
        for (type, table) in tables {
            if table.hasBegunAnew { open.forget(type) }
            for (segment, rows) in table.edited.enumerated() { if let rows { open.put(rows, type, segment) } }
            let tail = table.tail, dead = tail.rowCount - tail.liveCount
            let isKept =
                states[type].deltaRows > 0 && !tail.needsBase && tail.liveCount == states[type].deltaRows
                && (dead <= DatabaseTransaction.deadRows || dead * 2 <= tail.rowCount)
            open.tails[type] = isKept ? tail : nil
        }
        // The tail of a type that the transaction did not use stays as it was, unless it was sealed.
        for type in open.tails.keys where states[type].deltaRows == 0 { open.tails[type] = nil }
        for key in open.order where isWritten(key >> 32, key & 0xFFFF_FFFF, open.sealed[key], in: catalogue) { open.forget(key: key) }
        open.catalogue = catalogue
        open.schema = schema
        return open
    }

    /// Whether the commit wrote a segment again, with changes that were in memory or in the delta store: its open rows, which are based on
    /// the segment before, are then those of no segment of the new version.
    private func isWritten(_ type: Int, _ segment: Int, _ rows: (any StoredRows)?, in catalogue: Catalogue) -> Bool {
        guard !catalogue.types[type].touches(segment) else { return false }
        return rows is WorkingRows || type < base.catalogue.types.count && base.catalogue.types[type].touches(segment)
    }
}
