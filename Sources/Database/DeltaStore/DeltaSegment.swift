import FirnBytes
import FirnStore
import FirnTable

/// The rows of a type that exist only in the delta store, decoded. They are the last segment of its table.
final class DeltaSegment: StoredRows {
    let rowCount: Int
    var live: Bits? { nil }
    private let rowIDs: [Int64]
    private let columns: [RawColumn]
    private let leaves: DeltaLeaves

    /// `earlier` contains the rows of another version. Leaves of the delta store that both versions have are not decoded again.
    init(_ core: SnapshotCore, type index: Int, after earlier: DeltaSegment? = nil) throws(Damage) {
        let type = core.schema.types[index]
        let state = core.catalogue.types[index]
        let first = state.segmentCount == 0 ? 0 : try core.directoryEntry(type: index, index: state.segmentCount - 1).lastRowID + 1
        let leaves = DeltaLeaves(firstRowID: first, nextRowID: state.nextRowID, columns: type.columns)
        var reading = DeltaReading(type, core.source.memory, leaves, after: earlier.flatMap { $0.leaves.isPrefix(of: leaves) ? $0 : nil })
        if first < state.nextRowID { try reading.read(core, root: state.delta) }
        guard reading.rowIDs.count == state.deltaRows else {
            throw Damage("the number of rows in the delta store differs from the catalogue")
        }
        rowIDs = reading.rowIDs
        rowCount = rowIDs.count
        self.leaves = reading.leaves
        let positions = Array(0..<rowIDs.count)
        columns = reading.columns.map { column in
            RawColumn(
                type: column.type, rowCount: column.count, chunk: nil,
                overlay: ColumnOverlay(positions: positions, values: column), zone: nil, owner: nil,
                memory: MemoryScope(core.source.memory, type: type.name))
        }
    }

    var firstRowID: Int64 { rowIDs.first ?? 0 }

    func rowID(at position: Int) throws(Damage) -> Int64 { rowIDs[position] }

    func position(of rowID: Int64) throws(Damage) -> Int? {
        let low = lowerBound(rowID)
        return low < rowIDs.count && rowIDs[low] == rowID ? low : nil
    }

    private func lowerBound(_ rowID: Int64) -> Int {
        var low = 0, high = rowIDs.count
        while low < high {
            let middle = (low + high) / 2
            if rowIDs[middle] < rowID { low = middle + 1 } else { high = middle }
        }
        return low
    }

    func storedColumn(_ index: Int) throws(Damage) -> any ColumnReader { StoredColumn(columns[index]) }
    func word(at position: Int, _ column: Int) throws(Damage) -> Int64? { try columns[column].word(at: position) }
    func real(at position: Int, _ column: Int) throws(Damage) -> Double? { try columns[column].real(at: position) }

    func rowsThatMayDiffer(from other: any StoredRows) throws(Damage) -> Bits? {
        if let other = other as? WorkingRows { return try other.rowsThatMayDiffer(from: self) }
        return self === other ? Bits(count: rowCount) : nil
    }

    /// All rows of one column, embedded objects as row ids.
    func values(_ index: Int) -> Column { columns[index].overlay!.values }

    /// Returns the positions of the rows that a leaf contains if they were read from it, and its first one has this row id.
    fileprivate func rows(of leaf: ExtentRef, from rowID: Int64) -> Range<Int>? {
        let start = lowerBound(rowID)
        guard let known = leaves.leaf(at: start), known.ref == leaf, start < known.end, rowIDs[start] == rowID else { return nil }
        return start..<known.end
    }

    fileprivate func rowIDs(_ rows: Range<Int>) -> ArraySlice<Int64> { rowIDs[rows] }
}

/// The leaves of the tree from which a delta segment was read, with the positions of their rows.
private struct DeltaLeaves {
    struct Leaf {
        var ref: ExtentRef
        var start: Int
        var end: Int
    }

    /// The row ids that the segment can contain.
    let firstRowID: Int64
    let nextRowID: Int64
    let columns: [ColumnSchema]
    /// Ascending by position.
    var leaves: [Leaf] = []

    init(firstRowID: Int64, nextRowID: Int64, columns: [ColumnSchema]) {
        self.firstRowID = firstRowID
        self.nextRowID = nextRowID
        self.columns = columns
    }

    /// Returns whether leaves that both versions have contain the same rows of both: later versions have more row ids.
    func isPrefix(of other: DeltaLeaves) -> Bool {
        firstRowID == other.firstRowID && nextRowID <= other.nextRowID && columns == other.columns
    }

    /// Returns the leaf whose rows begin at a position.
    func leaf(at start: Int) -> Leaf? {
        var low = 0, high = leaves.count
        while low < high {
            let middle = (low + high) / 2
            if leaves[middle].start < start { low = middle + 1 } else { high = middle }
        }
        return low < leaves.count && leaves[low].start == start ? leaves[low] : nil
    }
}

/// Reads the rows of a delta segment: decodes records, and copies the rows of leaves that an earlier version has too.
private struct DeltaReading {
    private let type: TypeSchema
    private let memory: MemoryBudget
    private let earlier: DeltaSegment?
    private(set) var rowIDs: [Int64] = []
    private(set) var columns: [Column]
    private(set) var leaves: DeltaLeaves
    /// Rows of `earlier` that follow the rows read so far.
    private var pending = 0..<0

    init(_ type: TypeSchema, _ memory: MemoryBudget, _ leaves: DeltaLeaves, after earlier: DeltaSegment?) {
        self.type = type
        self.memory = memory
        self.leaves = leaves
        self.earlier = earlier
        columns = type.columns.map { Column($0.type.stored) }
    }

    mutating func read(_ core: SnapshotCore, root: ExtentRef) throws(Damage) {
        var decoded = 0
        defer { core.source.counts.addDeltaRecords(decoded) }
        // Many records can refer to one extent.
        let charge = MemoryCharge(memory)
        var cursor = try TreeReader(root: root, source: core.store).cursor(from: UInt64(leaves.firstRowID)), leaf: ExtentRef?
        while try cursor.next() {
            let key = try cursor.keyNumber()
            guard key < UInt64(leaves.nextRowID) else {
                // The leaf has entries that were not read.
                if cursor.leaf == leaf { leaves.leaves.removeLast() }
                break
            }
            if cursor.leaf != leaf {
                leaf = cursor.leaf
                if let known = earlier?.rows(of: cursor.leaf, from: Int64(key)) {
                    try take(known, from: cursor.leaf)
                    cursor.skipLeaf(endingAt: UInt64(rowIDs[rowIDs.count - 1]))
                    continue
                }
                leaves.leaves.append(DeltaLeaves.Leaf(ref: cursor.leaf, start: rowIDs.count, end: rowIDs.count))
            }
            try copyPending()
            let value = try cursor.value()
            try charge.add(try DeltaRecord.footprint(value), for: "the delta of type \"\(type.name)\"")
            try append(Int64(key), try DeltaRecord(value))
            leaves.leaves[leaves.leaves.count - 1].end = rowIDs.count
            decoded += 1
        }
        try copyPending()
        for i in columns.indices { try columns[i].hold(scope(i)) }
    }

    private func scope(_ column: Int) -> MemoryScope { MemoryScope(memory, type: type.name, column: type.columns[column].name) }

    private mutating func append(_ rowID: Int64, _ record: DeltaRecord) throws(Damage) {
        guard record.kind == .row else { throw Damage("a delta record changes a row that does not exist") }
        rowIDs.append(rowID)
        for (i, column) in type.columns.enumerated() {
            let value =
                i < record.values.count && record.values[i].column == column.id
                ? record.values[i].value : record.value(of: column.id)
            guard let value else {
                columns[i].appendAbsent()
                continue
            }
            if !columns[i].append(value) { throw Damage("a delta value of the wrong type") }
        }
    }

    /// Takes over the rows of a leaf. Rows of leaves that follow each other are copied in one piece.
    private mutating func take(_ rows: Range<Int>, from leaf: ExtentRef) throws(Damage) {
        if pending.isEmpty || pending.upperBound != rows.lowerBound {
            try copyPending()
            pending = rows
        } else {
            pending = pending.lowerBound..<rows.upperBound
        }
        leaves.leaves.append(DeltaLeaves.Leaf(ref: leaf, start: rowIDs.count, end: rowIDs.count + rows.count))
        rowIDs.append(contentsOf: earlier?.rowIDs(rows) ?? [])
    }

    private mutating func copyPending() throws(Damage) {
        guard !pending.isEmpty, let earlier else { return }
        for i in columns.indices {
            let values = earlier.values(i)
            if columns[i].count == 0, pending == 0..<values.count {
                columns[i] = values
                continue
            }
            try columns[i].hold(scope(i), adding: values.footprint(of: pending))
            columns[i].append(contentsOf: values, range: pending)
        }
        pending = 0..<0
    }
}
