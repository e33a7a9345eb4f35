import FirnBytes
import FirnStore
import FirnTable

/// The index of one column at one version, for look-ups. Usable from any thread while the snapshot is held.
package final class ColumnIndex: RowIndex {
    private let core: SnapshotCore
    private let type: Int
    private let column: Int
    private let state: IndexState
    /// Set in a running transaction: its table, whose changes no index contains yet.
    private let working: WorkingTable?

    init(_ core: SnapshotCore, type: Int, column: Int, _ state: IndexState, changedBy working: WorkingTable? = nil) {
        self.core = core
        self.type = type
        self.column = column
        self.state = state
        self.working = working
    }

    package var kind: IndexKind { state.kind }

    /// Returns the probe in the form that the runs need.
    private func asked(_ probe: IndexProbe) -> IndexProbe {
        switch core.schema.types[type].columns[column].type.kind {
        case .string, .data, .any: state.keepsShort ? probe : probe.hashed
        default: probe
        }
    }

    /// Returns about how many rows of sealed segments the probe selects: the number of its entries, and of rows that a transaction may have
    /// changed. Reads a few words of each run.
    package func estimate(_ probe: IndexProbe) throws(Damage) -> Int {
        var sum = (probe.includesNulls ? state.runs.reduce(0) { $0 + $1.nullCount } : 0) + (working?.editCount(column) ?? 0)
        let probe = asked(probe)
        for ref in state.runs {
            var run: IndexRun?
            for range in probe.ranges where ref.mayHold(range) {
                if run == nil { run = try core.run(ref) }
                sum += try run!.entries(range).count
            }
        }
        return sum
    }

    /// Calls `body` with the row ids that the runs contain for the probe, in no order, some of them perhaps more than once.
    func forEachRow(_ probe: IndexProbe, _ body: (Int64) throws(Damage) -> Void) throws(Damage) {
        let probe = asked(probe)
        for ref in state.runs {
            var run: IndexRun?
            for range in probe.ranges where ref.mayHold(range) {
                if run == nil { run = try core.run(ref) }
                try run!.rows(try run!.entries(range), body)
            }
            guard probe.includesNulls, ref.nullCount > 0 else { continue }
            if run == nil { run = try core.run(ref) }
            try run!.nullRows(body)
        }
    }

    /// Returns every row that may match the probe: those from the runs, those of sealed segments with a value in the delta store or changed
    /// by a transaction, and all rows after the sealed segments.
    package func candidates(_ probe: IndexProbe) throws(Damage) -> RowCandidates {
        var found = RowCandidates()
        var locator = SealedRowLocator(core, type)
        try forEachRow(probe) { (row) throws(Damage) in
            if let (segment, position, count) = try locator.location(of: row) { found.insert(segment, position, of: count) }
        }
        try forEachChange(&locator) { (segment, position, count) throws(Damage) in found.insert(segment, position, of: count) }
        let state = core.catalogue.types[type]
        if let working {
            working.forEachEdit(column) { found.insert($0, $1, of: $2) }
            if working.segmentCount > state.segmentCount { found.insert(whole: state.segmentCount) }
        } else if state.deltaRows > 0 {
            found.insert(whole: state.segmentCount)
        }
        return found
    }

    /// Returns the candidates without the rows after the sealed segments, ascending. For probes that select few rows.
    func sealedRows(_ probe: IndexProbe) throws(Damage) -> [RowLocation] {
        var found: [RowLocation] = []
        var locator = SealedRowLocator(core, type)
        try forEachRow(probe) { (row) throws(Damage) in
            if let (segment, position, _) = try locator.location(of: row) {
                found.append(RowLocation(segment: segment, position: position))
            }
        }
        try forEachChange(&locator) { (segment, position, _) throws(Damage) in
            found.append(RowLocation(segment: segment, position: position))
        }
        if found.count < 2 { return found }
        found.sort()
        var kept = [found[0]]
        for location in found where location != kept[kept.count - 1] { kept.append(location) }
        return kept
    }

    /// Calls `body` with the rows of sealed segments that have a value in the delta store, which the segment or the runs may not have.
    private func forEachChange(
        _ locator: inout SealedRowLocator, _ body: (_ segment: Int, _ position: Int, _ rowCount: Int) throws(Damage) -> Void
    ) throws(Damage) {
        guard core.catalogue.types[type].deltaChanges > 0 else { return }
        for row in try core.changes(type: type, column: column).rowIDs {
            if let (segment, position, count) = try locator.location(of: row) { try body(segment, position, count) }
        }
    }
}

/// Finds the positions of row ids in sealed segments.
private struct SealedRowLocator {
    private let core: SnapshotCore
    private let type: Int
    private var last: (index: Int, entry: DirectoryEntry)?

    init(_ core: SnapshotCore, _ type: Int) {
        self.core = core
        self.type = type
    }

    /// Returns nil if no sealed segment contains the row any more.
    mutating func location(of row: Int64) throws(Damage) -> (segment: Int, position: Int, rowCount: Int)? {
        if let last, last.entry.firstRowID <= row, row <= last.entry.lastRowID { return try location(row, last.index, last.entry) }
        let index = try core.firstSegment(type: type, endingAtOrAfter: row)
        guard index < core.catalogue.types[type].segmentCount else { return nil }
        let entry = try core.directoryEntry(type: type, index: index)
        last = (index, entry)
        return entry.firstRowID <= row && row <= entry.lastRowID ? try location(row, index, entry) : nil
    }

    private func location(_ row: Int64, _ segment: Int, _ entry: DirectoryEntry) throws(Damage) -> (
        segment: Int, position: Int, rowCount: Int
    )? {
        if entry.lastRowID - entry.firstRowID == Int64(entry.rowCount - 1) { return (segment, Int(row - entry.firstRowID), entry.rowCount) }
        return try core.rows(type: type, index: segment).position(of: row).map { (segment, $0, entry.rowCount) }
    }
}

extension SnapshotCore {
    /// Returns the index of a column, by its position, or nil if it has none of the kind.
    func columnIndex(_ type: Int, _ column: Int, _ kind: IndexKind) -> ColumnIndex? {
        let id = schema.types[type].columns[column].id
        return catalogue.types[type].indexes.first { $0.column == id && $0.kind == kind }.map {
            ColumnIndex(self, type: type, column: column, $0)
        }
    }
}

extension StoredTable: IndexedTable {
    package func columnIndex(_ column: Int, _ kind: IndexKind) -> (any RowIndex)? { core.columnIndex(index, column, kind) }
}

/// The description of an index, for `firn index --list`.
package struct IndexSummary: Sendable {
    package var type: String
    package var column: String
    package var kind: IndexKind
    /// Whether it was created because the type's key needs it.
    package var isForKey: Bool
    package var entries: Int
    package var runs: Int
    package var bytes: Int
}

extension DatabaseSnapshot {
    /// All indexes of all types.
    package var indexes: [IndexSummary] {
        zip(core.schema.types, core.catalogue.types).flatMap { type, state in
            state.indexes.map { index in
                IndexSummary(
                    type: type.name, column: type.index(ofID: index.column).map { type.columns[$0].name } ?? "", kind: index.kind,
                    isForKey: index.isForKey,
                    entries: index.entryCount, runs: index.runs.count, bytes: index.bytes)
            }
        }
    }
}
