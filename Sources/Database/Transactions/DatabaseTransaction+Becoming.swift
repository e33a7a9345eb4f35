import FirnBytes
import FirnStore
import FirnTable

/// Taking over the rows of another version, for reverts and for compaction with several versions.
extension DatabaseTransaction {
    /// Restores all rows of all types to an older version of this file, with the same row ids. Keeps segments that have not changed since.
    /// It must be the first change of the transaction.
    ///
    /// Types and columns that were added since then stay, without rows and values, so that programs that use them still find them. A type
    /// whose columns were changed in other ways gets its former columns back. Attributes (metadata, logical types) become those of the
    /// older version; types and columns that it does not have keep theirs.
    package func revert(to snapshot: DatabaseSnapshot) throws(FirnError) {
        checkOpen()
        trap(unless: tables.isEmpty && bulkWriters.isEmpty, "revert must be the first change of a transaction")
        let wanted = snapshot.core
        for type in schema.types.indices {
            guard type < wanted.schema.types.count else {
                try take([], of: nil, type, .all, nextRowID: 0)
                continue
            }
            let old = wanted.schema.types[type], now = schema.types[type]
            if old.id == now.id,
                old.columns.allSatisfy({ column in
                    now.index(ofID: column.id).map { now.columns[$0].name == column.name && now.columns[$0].type == column.type } ?? false
                })
            {
                try take(
                    old.columns, of: wanted, type, try reading { () throws(Damage) in try ChangedRows(between: base, wanted, type: type) })
            } else {
                // The type gets a new id, as in `revise`: ids of removed columns must not be used again within a type.
                var new = old
                new.id = (schema.types.map(\.id).max() ?? 0) + 1
                try replace(type, by: new)
                try take(old.columns, of: wanted, type, .all)
            }
        }
        var whole = schema
        whole.takeAttributes(of: wanted.schema)
        try adoptAttributes(whole)
        do throws(Damage) { try schema.validate() } catch { throw FirnError(.schema, error.what) }
    }

    /// Changes the rows of a file that has exactly the rows of `before` to those of `wanted`, a later version of the file of `before`.
    func follow(_ before: SnapshotCore, to wanted: SnapshotCore) throws(FirnError) {
        for (type, next) in wanted.schema.types.enumerated() {
            if type >= schema.types.count {
                schema.types.append(next)
                states.append(Catalogue.TypeState())
                states[type].indexes = IndexState.marked(next)
                schemaIsNew = true
                try take(next.columns, of: wanted, type, .all)
            } else if next.id != schema.types[type].id {
                try replace(type, by: next)
                try take(next.columns, of: wanted, type, .all)
            } else {
                let marked = next.columns.map(\.indexes), known = schema.types[type].columns.map(\.indexes)
                if next != schema.types[type] {
                    schema.types[type] = next
                    schema.types[type].noteIndexes(states[type].indexes)
                    schemaIsNew = true
                    forgetReadable()
                }
                try take(
                    next.columns, of: wanted, type,
                    try reading { () throws(Damage) in try ChangedRows(between: before, wanted, type: type) })
                if marked != known { try matchIndexes(next) }
            }
        }
        if schema.otherAttributes != wanted.schema.otherAttributes {
            schema.otherAttributes = wanted.schema.otherAttributes
            schemaIsNew = true
        }
        do throws(Damage) { try schema.validate() } catch { throw FirnError(.schema, error.what) }
    }

    private func matchIndexes(_ type: TypeSchema) throws(FirnError) {
        try finishBulk()
        for column in type.columns where column.type.refusal(of: .values) == nil || column.type.refusal(of: .words) == nil {
            for kind in IndexKind.allCases where column.type.refusal(of: kind) == nil {
                if column.indexes.contains(kind) {
                    try addIndex(type.name, column.name, kind)
                } else {
                    try dropIndex(type.name, column.name, kind)
                }
            }
        }
    }

    /// Replaces a type by another one, without rows and with empty indexes.
    private func replace(_ type: Int, by new: TypeSchema) throws(FirnError) {
        try take([], of: nil, type, .all, nextRowID: 0)
        for index in states[type].indexes { for run in index.runs { store.free(run.ref) } }
        let known = states[type].indexes
        entering[type] = nil
        schema.types[type] = new
        states[type].indexes = IndexState.marked(new, like: known)
        schemaIsNew = true
        try directoryChange(type) { _ in }
    }

    /// Replaces the rows of a type by those of `wanted`, whose columns are `columns` (nil: no rows). Keeps segments without row ids in
    /// `changed`, writes all others again, and empties the delta store of the type.
    private func take(_ columns: [ColumnSchema], of wanted: SnapshotCore?, _ type: Int, _ changed: ChangedRows, nextRowID: Int64? = nil)
        throws(FirnError)
    {
        let next = max(states[type].nextRowID, nextRowID ?? wanted!.catalogue.types[type].nextRowID)
        guard !changed.ranges.isEmpty else {
            states[type].nextRowID = next
            return
        }
        unsettled.insert(type)
        // A kept segment loses its delta records, so its rows that are open in memory are not those of this version.
        retaken.insert(type)
        try dropDelta(type)
        var kept: [DirectoryEntry] = []
        try directoryChange(type) { (entries) throws(FirnError) in
            kept = entries.filter { !changed.overlaps($0.firstRowID...$0.lastRowID) }
            let gone = entries.filter { changed.overlaps($0.firstRowID...$0.lastRowID) }
            for index in states[type].indexes.indices {
                states[type].indexes[index].staleRows += gone.reduce(0) { $0 + $1.rowCount - $1.deletedCount }
            }
            let reused = try reuse(gone, wanted, columns, type, beside: kept)
            kept = (kept + reused).sorted { $0.firstRowID < $1.firstRowID }
            entries = kept
        }
        states[type].liveRows = kept.reduce(0) { $0 + $1.rowCount - $1.deletedCount }
        if let wanted { try write(columns, of: wanted, type, between: kept) }
        states[type].nextRowID = max(next, states[type].nextRowID)
        try directoryChange(type) { entries in entries.sort { $0.firstRowID < $1.firstRowID } }
    }

    /// Writes the rows of another version that no kept segment contains.
    private func write(_ columns: [ColumnSchema], of wanted: SnapshotCore, _ type: Int, between kept: [DirectoryEntry]) throws(FirnError) {
        let now = schema.types[type].columns
        let columnPositions = Dictionary(columns.enumerated().map { ($0.element.id, $0.offset) }, uniquingKeysWith: { first, _ in first })
        let sources = now.map { columnPositions[$0.id] }
        let writer = writer(type), state = wanted.catalogue.types[type]
        var last = 0
        for segment in 0..<state.segmentCount + (state.deltaRows > 0 ? 1 : 0) {
            if segment < state.segmentCount {
                let entry = try reading { () throws(Damage) in try wanted.directoryEntry(type: type, index: segment) }
                let segmentPosition = DirectoryEntry.segmentPosition(of: entry.firstRowID, in: kept)
                if segmentPosition < kept.count, kept[segmentPosition].firstRowID <= entry.firstRowID,
                    kept[segmentPosition].lastRowID >= entry.lastRowID
                {
                    continue
                }
            }
            let rows = try reading { () throws(Damage) in try wanted.storedRows(type: type, segment: segment) }
            // Writes a run of rows for each gap between kept segments.
            var start = 0
            while start < rows.rowIDs.count {
                let segmentPosition = DirectoryEntry.segmentPosition(of: rows.rowIDs[start], in: kept)
                let isHeld = segmentPosition < kept.count && kept[segmentPosition].firstRowID <= rows.rowIDs[start]
                let bound =
                    segmentPosition == kept.count
                    ? Int64.max : isHeld ? kept[segmentPosition].lastRowID : kept[segmentPosition].firstRowID - 1
                var end = start
                while end < rows.rowIDs.count, rows.rowIDs[end] <= bound { end += 1 }
                if !isHeld {
                    if segmentPosition != last { try writer.finish() }
                    last = segmentPosition
                    let part = sources.enumerated().map { i, source in
                        Column(
                            now[i].type.stored,
                            from: source.map { end - start == rows.rowIDs.count ? rows.columns[$0] : rows.columns[$0].slice(start..<end) },
                            count: end - start)
                    }
                    try writer.append(stored: part, rowIDs: Array(rows.rowIDs[start..<end]))
                }
                start = end
            }
        }
        try writer.finish()
    }

    /// Deletes all delta records of a type.
    private func dropDelta(_ type: Int) throws(FirnError) {
        guard !states[type].delta.isNone else { return }
        let keys = try reading { () throws(Damage) in
            var keys: [UInt64] = []
            var cursor = try TreeReader(root: states[type].delta, source: store).cursor()
            while try cursor.next() { keys.append(try cursor.keyNumber()) }
            return keys
        }
        let tree = TreeWriter(root: states[type].delta, transaction: store)
        for key in keys { _ = try tree.delete(key) }
        states[type].delta = try tree.finish()
        (states[type].deltaRows, states[type].deltaChanges, states[type].deltaBytes, states[type].touched) = (0, 0, 0, [])
        forgetReadable()
    }
}

extension DirectoryEntry {
    /// The index of the first segment, in ascending order, that does not end before a row id.
    fileprivate static func segmentPosition(of rowID: Int64, in entries: [DirectoryEntry]) -> Int {
        var low = 0, high = entries.count
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].lastRowID < rowID { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
