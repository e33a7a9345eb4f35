import FirnBytes
import FirnStore
import FirnTable

/// The rows of a type that exist only in the delta store, decoded. They are the last segment of its table.
final class DeltaSegment: StoredRows {
    let rowCount: Int
    var live: Bits? { nil }
    private let rowIDs: [Int64]
    private let columns: [RawColumn]

    init(_ core: SnapshotCore, type index: Int) throws(Damage) {
        let type = core.schema.types[index]
        let state = core.catalogue.types[index]
        let first = state.segmentCount == 0 ? 0 : try core.directoryEntry(type: index, index: state.segmentCount - 1).lastRowID + 1
        var rowIDs: [Int64] = []
        var columns = type.columns.map { Column($0.type.stored) }
        if first < state.nextRowID {
            let changes = try DeltaChanges(core, type: index, rows: first...(state.nextRowID - 1))
            for (rowID, record) in changes.records {
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
        }
        for (i, column) in type.columns.enumerated() {
            try columns[i].hold(MemoryScope(core.source.memory, type: type.name, column: column.name))
        }
        guard rowIDs.count == state.deltaRows else { throw Damage("the number of rows in the delta store differs from the catalogue") }
        self.rowIDs = rowIDs
        rowCount = rowIDs.count
        self.columns = columns.map { column in
            RawColumn(
                type: column.type, rowCount: column.count, chunk: nil,
                overlay: ColumnOverlay(positions: Array(0..<column.count), values: column), zone: nil, owner: nil,
                memory: MemoryScope(core.source.memory, type: type.name))
        }
    }

    var firstRowID: Int64 { rowIDs.first ?? 0 }

    func rowID(at position: Int) throws(Damage) -> Int64 { rowIDs[position] }

    func position(of rowID: Int64) throws(Damage) -> Int? {
        var low = 0, high = rowIDs.count
        while low < high {
            let middle = (low + high) / 2
            if rowIDs[middle] < rowID { low = middle + 1 } else { high = middle }
        }
        return low < rowIDs.count && rowIDs[low] == rowID ? low : nil
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
}
