import FirnBytes
import FirnStore
import FirnTable

/// Creating and dropping indexes.
extension DatabaseTransaction {
    /// Creates an index of a column from all rows. If there is one, it is kept; one that was created for the key then counts as created
    /// explicitly. Returns false if nothing has changed.
    /// `progress` is called with the number of rows of each segment that was entered.
    /// - Throws: `.schema` if there is no such column, or it cannot have the index.
    @discardableResult
    package func addIndex(_ typeName: String, _ columnName: String, _ kind: IndexKind, progress: (_ rows: Int) -> Void = { _ in })
        throws(FirnError) -> Bool
    {
        checkOpen()
        let type = index(of: typeName)
        guard let columnPosition = schema.types[type].index(of: columnName) else {
            throw FirnError(.schema, "type \"\(typeName)\" has no column \"\(columnName)\"")
        }
        let column = schema.types[type].columns[columnPosition]
        if let refusal = column.type.refusal(of: kind) {
            throw FirnError(.schema, "\"\(typeName).\(columnName)\" cannot have an index: \(refusal)")
        }
        if let known = states[type].indexes.firstIndex(where: { $0.column == column.id && $0.kind == kind }) {
            guard states[type].indexes[known].isForKey else { return false }
            try changeIndexes(type) { $0[known].isForKey = false }
            return true
        }
        let written = try writeEdits()
        try finishBulk()
        try make(IndexState(column, kind), type, progress)
        try directoryChange(type) { _ in }
        renewTables(written.union([type]))
        return true
    }

    /// Drops an index of a column. Returns false if there is none.
    @discardableResult
    package func dropIndex(_ typeName: String, _ columnName: String, _ kind: IndexKind) throws(FirnError) -> Bool {
        checkOpen()
        let type = index(of: typeName)
        guard let column = schema.types[type].index(of: columnName).map({ schema.types[type].columns[$0] }),
            let number = states[type].indexes.firstIndex(where: { $0.column == column.id && $0.kind == kind })
        else { return false }
        try changeIndexes(type) { (indexes) in
            for run in indexes[number].runs { store.free(run.ref) }
            indexes.remove(at: number)
        }
        if entering[type] != nil { entering[type]!.remove(at: number) }
        return true
    }

    private func changeIndexes(_ type: Int, _ body: (inout [IndexState]) -> Void) throws(FirnError) {
        body(&states[type].indexes)
        schema.types[type].noteIndexes(states[type].indexes)
        try directoryChange(type) { _ in }
    }

    /// Creates the indexes that columns of `wanted` are marked with and do not have yet.
    func markIndexes(wanted: [TypeSchema]) throws(FirnError) {
        for type in wanted {
            for column in type.columns {
                for kind in IndexKind.allCases where column.indexes.contains(kind) && column.type.refusal(of: kind) == nil {
                    try addIndex(type.name, column.name, kind)
                }
            }
            schema.types[index(of: type.name)].noteIndexes(states[index(of: type.name)].indexes)
        }
    }

    /// The states as readers of the transaction see them: without indexes, which do not contain yet what the transaction has sealed.
    var statesToRead: [Catalogue.TypeState] {
        states.map { state in
            var state = state
            state.indexes = []
            return state
        }
    }
}

/// Maintaining indexes when rows are sealed.
extension DatabaseTransaction {
    /// The number of runs of about the same size that are merged.
    private static let mergeCount = 4
    /// The number of stale rows that is always tolerated.
    private static let staleRows = 65_536

    /// Enters rows that are being sealed. `column` returns each of the type's `count` columns; it is called for those that are indexed.
    func enter(count: Int, _ type: Int, _ column: (Int) -> Column, rowID: (Int) -> Int64) throws(FirnError) {
        guard !states[type].indexes.isEmpty else { return }
        prepareEntering(type)
        for i in states[type].indexes.indices {
            guard let columnPosition = columnPosition(of: i, type), columnPosition < count else { continue }
            let column = column(columnPosition)
            // Long texts have many words: enter one vector at a time, so that few entries are pending.
            let step = states[type].indexes[i].kind == .words ? vectorSize : max(column.count, 1)
            for start in stride(from: 0, to: column.count, by: step) {
                let end = min(start + step, column.count)
                let part = step < column.count ? column.slice(start..<end) : column
                entering[type]![i].add(part) { rowID(start + $0) }
                if entering[type]![i].count > IndexRun.maximumEntries { try writeRuns(type, i) }
            }
        }
    }

    /// Enters the new values of rows of a sealed segment, from the delta store (`changes`) and from this transaction (`edits`).
    func enterChanges(_ type: Int, _ segment: StoredSegment, _ rows: any StoredRows, _ changes: DeltaChanges, _ edits: WorkingRows?)
        throws(FirnError)
    {
        guard !states[type].indexes.isEmpty else { return }
        prepareEntering(type)
        let gone = changes.records.reduce(0) { $0 + ($1.record.kind == .deletion ? 1 : 0) } + (edits?.deletedPositions.count ?? 0)
        for i in states[type].indexes.indices {
            states[type].indexes[i].staleRows += gone
            guard let columnPosition = columnPosition(of: i, type) else { continue }
            let id = states[type].indexes[i].column
            let (column, ids) = try reading { () throws(Damage) in
                var positions: [Int] = []
                for (rowID, record) in changes.records where record.updates(id) {
                    if let position = try segment.position(of: rowID) { positions.append(position) }
                }
                positions = ColumnOverlay.merged(positions, edits?.changedPositions(columnPosition) ?? [])
                let reader = try rows.storedColumn(columnPosition)
                var column = Column(schema.types[type].columns[columnPosition].type.stored), ids: [Int64] = []
                for position in positions where rows.isLive(position) {
                    guard column.append(try reader.value(at: position)) else { throw Damage("a value of another type than its column") }
                    ids.append(try rows.rowID(at: position))
                }
                return (column, ids)
            }
            states[type].indexes[i].staleRows += ids.count
            entering[type]![i].add(column) { ids[$0] }
        }
    }

    /// Called before a commit: writes the entries that are pending, and merges runs.
    func writeIndexes() throws(FirnError) {
        for type in states.indices {
            var isChanged = try makeKeyIndex(type)
            for i in states[type].indexes.indices {
                if states[type].indexes[i].staleRows > max(states[type].liveRows, 0) / 2 + DatabaseTransaction.staleRows {
                    try remake(type, i)
                    isChanged = true
                } else if let waiting = entering[type]?[i], waiting.count > 0 {
                    try writeRuns(type, i)
                    isChanged = true
                }
                while let group = IndexState.mergeable(
                    states[type].indexes[i].runs, most: IndexRun.maximumEntries, count: DatabaseTransaction.mergeCount)
                {
                    try merge(type, i, group)
                    isChanged = true
                }
            }
            if isChanged || states[type].directory.isNone && !states[type].indexes.isEmpty { try directoryChange(type) { _ in } }
        }
        if states.contains(where: { !$0.indexes.isEmpty }) { store.require(WriterFeature.indexes) }
        if states.contains(where: { $0.indexes.contains(where: \.keepsShort) }) { store.require(WriterFeature.shortIndexEntries) }
    }

    private func prepareEntering(_ type: Int) {
        if entering[type] == nil { entering[type] = states[type].indexes.map { IndexEntries($0) } }
    }

    private func columnPosition(of index: Int, _ type: Int) -> Int? {
        let id = states[type].indexes[index].column
        return schema.types[type].index(ofID: id)
    }

    private func writeRuns(_ type: Int, _ index: Int) throws(FirnError) {
        guard var waiting = entering[type]?[index] else { return }
        entering[type]![index] = IndexEntries(states[type].indexes[index])
        waiting.sort()
        for start in stride(from: 0, to: max(waiting.entries.count, waiting.nulls.count), by: IndexRun.maximumEntries) {
            let entries = waiting.entries.dropFirst(start).prefix(IndexRun.maximumEntries),
                nulls = waiting.nulls.dropFirst(start).prefix(IndexRun.maximumEntries)
            states[type].indexes[index].runs.append(try write(Array(entries), nulls: Array(nulls)))
        }
    }

    private func write(_ entries: [IndexEntry], nulls: [Int64]) throws(FirnError) -> RunRef {
        RunRef(
            ref: try write(IndexRun.encoded(entries, nulls: nulls)), count: entries.count, nullCount: nulls.count,
            lowest: entries.first?.key ?? .least, highest: entries.last?.key ?? .least)
    }

    private func merge(_ type: Int, _ index: Int, _ group: Range<Int>) throws(FirnError) {
        let refs = states[type].indexes[index].runs[group]
        var all: [IndexEntry] = [], nulls: [Int64] = []
        for ref in refs {
            let part = try reading { () throws(Damage) in try IndexRun(try store.read(ref.ref), owner: nil).all() }
            all += part.entries
            nulls += part.nulls
        }
        var merged = IndexEntries(states[type].indexes[index], all, nulls: nulls)
        merged.sort()
        let run = try write(merged.entries, nulls: merged.nulls)
        for ref in refs { store.free(ref.ref) }
        states[type].indexes[index].runs.replaceSubrange(group, with: [run])
    }

    /// Creates a new index, and enters all rows of the segments that are written.
    private func make(_ state: IndexState, _ type: Int, _ progress: (Int) -> Void = { _ in }) throws(FirnError) {
        prepareEntering(type)
        states[type].indexes.append(state)
        entering[type]!.append(IndexEntries(state))
        schema.types[type].noteIndexes(states[type].indexes)
        try fill(type, states[type].indexes.count - 1, progress)
    }

    /// Builds an index again from the rows that exist, without those that no longer do.
    func remake(_ type: Int, _ index: Int) throws(FirnError) {
        for run in states[type].indexes[index].runs { store.free(run.ref) }
        states[type].indexes[index].runs = []
        states[type].indexes[index].staleRows = 0
        prepareEntering(type)
        entering[type]![index] = IndexEntries(states[type].indexes[index])
        try fill(type, index)
    }

    private func fill(_ type: Int, _ index: Int, _ progress: (Int) -> Void = { _ in }) throws(FirnError) {
        guard let columnPosition = columnPosition(of: index, type) else { return }
        let core = current()
        for segment in 0..<states[type].segmentCount {
            try reading { () throws(Damage) in
                let segment = try core.segment(type: type, index: segment)
                defer { progress(segment.rowCount) }
                // Rows that the delta store deletes are entered: a revert to a version before restores them without writing the segment.
                let sealed = try segment.sealedLive
                try segment.forEachSealed(columnPosition) { (column, first) throws(Damage) in
                    var live = sealed?.slice(first..<first + column.count)
                    if live?.allSet ?? false { live = nil }
                    let rowIDs = segment.rowIDs, start = segment.header.firstRowID
                    entering[type]![index].add(column, live: live) { start + (rowIDs?[first + $0] ?? Int64(first + $0)) }
                }
            }
            if entering[type]![index].count > IndexRun.maximumEntries { try writeRuns(type, index) }
        }
        try writeRuns(type, index)
    }

    /// Creates an index of a key of one column with the second segment, unless zones show that values ascend with the row ids. Returns
    /// whether it was created.
    private func makeKeyIndex(_ type: Int) throws(FirnError) -> Bool {
        let schema = schema.types[type], state = states[type]
        guard state.segmentCount > 1, schema.key.count == 1, !schema.isEmbedded, let column = schema.key.first.map({ schema.columns[$0] }),
            column.type.refusal(of: .values) == nil, !column.indexes.contains(.values)
        else { return false }
        // The commit that sealed earlier rows has already checked them.
        let old = base.schema.types.firstIndex { $0.id == schema.id }.map { base.catalogue.types[$0] }
        if let old, old.segmentCount > 0 {
            guard old.directory != state.directory else { return false }
            let before = try reading { () throws(Damage) -> Int64 in
                if let inner = old.inner { return inner.entry.lastRowID }
                return try DirectoryEntry(try store.read(old.directory), old.segmentCount - 1).lastRowID
            }
            guard try lastSealedRowID(type) > before else { return false }
        }
        let ascends = try reading { () throws(Damage) in try zonesAscend(type, column.id, from: max(0, (old?.segmentCount ?? 0) - 1)) }
        if ascends { return false }
        try make(IndexState(column, .values, isForKey: true), type)
        return true
    }

    private func zonesAscend(_ type: Int, _ column: UInt32, from first: Int) throws(Damage) -> Bool {
        let bytes = try store.read(states[type].directory)
        var last: Zone.Bounds?
        for segment in min(first, states[type].segmentCount - 1)..<states[type].segmentCount {
            let header = try SegmentHeader(try store.read(try DirectoryEntry(bytes, segment).header))
            guard let zone = header.entryPosition(of: column, near: 0).map({ header.entries[$0].zone }) else { return false }
            switch (last, zone.bounds) {
            case (_, .none): return false
            case (.words(_, let high)?, .words(let low, _)) where high >= low: return false
            case (.reals(_, let high)?, .reals(let low, _)) where high >= low: return false
            case (.text(let before)?, .text(let bounds)) where !before.isBelow(bounds.low): return false
            default: last = zone.bounds
            }
        }
        return true
    }
}

extension IndexState {
    /// Returns the indexes that a type's columns are marked with, without entries. `isForKey` is that of the same index in `known`.
    static func marked(_ type: TypeSchema, like known: [IndexState] = []) -> [IndexState] {
        type.columns.flatMap { column in
            IndexKind.allCases.filter { column.indexes.contains($0) && column.type.refusal(of: $0) == nil }.map { kind in
                IndexState(column, kind, isForKey: known.first { $0.column == column.id && $0.kind == kind }?.isForKey ?? false)
            }
        }
    }

    /// Returns the last runs, back to the first whose size class is not greater than that of the last run (each class is four times the one
    /// before), or nil if there are fewer than `count`.
    static func mergeable(_ runs: [RunRef], most: Int, count: Int) -> Range<Int>? {
        guard let last = runs.last else { return nil }
        func size(_ run: RunRef) -> Int { max(0, (Int.bitWidth - run.size.leadingZeroBitCount - 11 + 1) / 2) }
        var first = runs.count
        while first > 0, size(runs[first - 1]) <= size(last) { first -= 1 }
        let group = first..<runs.count
        guard group.count >= count, runs[group].reduce(0, { $0 + $1.count }) <= most, runs[group].reduce(0, { $0 + $1.nullCount }) <= most
        else { return nil }
        return group
    }
}

extension StoredSegment {
    /// The rows that the segment's header does not delete; nil if it deletes none.
    fileprivate var sealedLive: Bits? {
        get throws(Damage) { try header.decodeDeletes().map { Bits(words: $0.words.map { ~$0 }, count: $0.count) } }
    }

    /// Calls `body` with the vectors of a column as its header describes them, without the changes in the delta store.
    func forEachSealed(_ index: Int, _ body: (Column, _ firstRow: Int) throws(Damage) -> Void) throws(Damage) {
        let reader = StoredColumn(try sealedColumn(index))
        var column = Column(reader.type)
        for vector in 0..<vectorCount {
            try reader.read(vector: vector, into: &column)
            guard column.count == rows(ofVector: vector).count else { throw Damage("a vector of another length than its segment has") }
            try body(column, vector * vectorSize)
        }
    }
}
