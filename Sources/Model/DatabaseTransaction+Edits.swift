import FirnBytes
import FirnStore

/// Writing what a transaction has changed in memory: few rows as delta records, many as sealed rows and chunks.
extension DatabaseTransaction {
    /// Rows that are new in one transaction, from which on they are sealed at once: records in the delta would cost more.
    static let sealedRows = 2048

    /// Writes the changes of a type, and lets its table begin anew from there.
    func writeEdits(_ type: Int) throws(FirnError) {
        guard let table = openTable(type) else { return }
        let sealed = table.edited.indices.filter { table.edited[$0] != nil }
        let anew = sealed.filter { isRewritten(table.edited[$0]!) }
        try writeRecords(table, type, of: sealed.filter { !anew.contains($0) })
        // From behind: a segment without rows goes, and those behind it move up.
        for segment in anew.reversed() { try flushChanges(type, segment, table.edited[segment]!) }
    }

    /// Whether so much of a segment has changed that its columns are written anew.
    private func isRewritten(_ rows: WorkingRows) -> Bool {
        let limit = max(16, rows.rowCount / DatabaseTransaction.patchLimit)
        return rows.deletedPositions.count > limit || rows.types.indices.contains { rows.changedCount($0) > limit }
    }

    private func writeRecords(_ table: WorkingTable, _ type: Int, of segments: [Int]) throws(FirnError) {
        let tree = TreeWriter(root: states[type].delta, transaction: store)
        var hasWritten = false
        for segment in segments {
            for (rowID, record) in try records(of: table.edited[segment]!, type) {
                try change(rowID, record, in: tree, type, segment)
                hasWritten = true
            }
        }
        let tail = table.tail
        var added = 0
        for position in tail.countBefore..<max(tail.countBefore, tail.rowCount) where tail.isLive(position) { added += 1 }
        let isSealed = bulkWriters[type]?.isPending ?? false || added >= DatabaseTransaction.sealedRows
        if !isSealed, try writeTail(tail, added, type, tree) { hasWritten = true }
        if hasWritten {
            states[type].delta = try tree.finish()
            if states[type].delta.isNone { states[type].deltaBytes = 0 }
            forgetReadable()
            if !isSealed { table.noteTailWritten() }
        }
        if isSealed { try sealTail(type) }
    }

    /// What the delta says of the rows of a sealed segment that were changed, ascending.
    private func records(of rows: WorkingRows, _ type: Int) throws(FirnError) -> [(rowID: Int64, record: DeltaRecord)] {
        var changes: [Int: DeltaRecord] = [:]
        for column in rows.types.indices {
            let id = schema.types[type].columns[column].id
            for position in rows.changedPositions(column) where rows.isLive(position) {
                changes[position, default: DeltaRecord(.update)].values.append((id, rows.heldValue(at: position, column)!))
            }
        }
        for position in rows.deletedPositions { changes[position] = DeltaRecord(.deletion) }
        return try reading { () throws(Damage) in
            try changes.sorted { $0.key < $1.key }.mapTyped { (change) throws(Damage) in (try rows.rowID(at: change.key), change.value) }
        }
    }

    private func change(_ rowID: Int64, _ record: DeltaRecord, in tree: TreeWriter, _ type: Int, _ segment: Int) throws(FirnError) {
        let key = UInt64(rowID)
        var record = record
        let old = try reading { () throws(Damage) in try tree.get(key) }
        if let old {
            states[type].deltaBytes -= min(states[type].deltaBytes, old.count + 16)
            if record.kind == .update {
                var whole = try reading { () throws(Damage) in try DeltaRecord(old) }
                whole.update(with: record.values)
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

    /// Writes the rows of the tail that are new or changed as records. False if there are none.
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
                if let held = rows.heldValue(at: position, i) { values.append((column.id, held)) } else {
                    values.append((column.id, try rows.base!.storedColumn(i).value(at: position)))
                }
            }
            return DeltaRecord(.row, values)
        }
    }
}

/// What a transaction leaves in memory for the versions after it.
extension DatabaseTransaction {
    /// Rows behind which so many deleted ones lie that reading them again is cheaper than keeping them.
    private static let deadRows = 4096

    func openRows(version: UInt64, _ catalogue: Catalogue) -> OpenRows {
        var open = base.openRows(version: version)
        for type in base.schema.types.indices where type < schema.types.count && schema.types[type].columns != base.schema.types[type].columns { open.forget(type) }
        for type in retaken { open.forget(type) }
        for (type, table) in tables {
            if table.hasBegunAnew { open.forget(type) }
            for (segment, rows) in table.edited.enumerated() { if let rows { open.put(rows, type, segment) } }
            let tail = table.tail, dead = tail.rowCount - tail.liveCount
            let isKept = states[type].deltaRows > 0 && !tail.needsBase && tail.liveCount == states[type].deltaRows
                && (dead <= DatabaseTransaction.deadRows || dead * 2 <= tail.rowCount)
            open.tails[type] = isKept ? tail : nil
        }
        // A tail that no table was asked for is there as it was, unless it was sealed.
        for type in open.tails.keys where states[type].deltaRows == 0 { open.tails[type] = nil }
        open.catalogue = catalogue
        open.schema = schema
        return open
    }
}
