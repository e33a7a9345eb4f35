import FirnBytes
import FirnTable

/// Within a transaction, the indexes of the version that it began from can be used as long as the sealed segments are the same. The rows
/// that the transaction has changed are checked in addition.
extension WorkingTable: IndexedTable {
    package func columnIndex(_ column: Int, _ kind: IndexKind) -> (any RowIndex)? {
        settleBulk()
        let before = transaction.base.catalogue.types, now = core.catalogue.types[index]
        // The runs do not contain the rows of a type that the transaction has added, nor those of segments that it has written.
        guard index < before.count, before[index].segmentCount == now.segmentCount, before[index].directory == now.directory,
            (before[index].inner == nil) == (now.inner == nil), column < type.columns.count
        else { return nil }
        let id = type.columns[column].id
        guard let state = before[index].indexes.first(where: { $0.column == id && $0.kind == kind }),
            transaction.states[index].indexes.contains(where: { $0.column == id && $0.kind == kind })
        else { return nil }
        return ColumnIndex(core, type: index, column: column, state, changedBy: self)
    }

    /// Returns how many rows `forEachEdit` calls its closure with.
    func editCount(_ column: Int) -> Int {
        edited.reduce(0) { sum, rows in rows.map { $0.overlays[column].reduce(sum) { $0 + ($1?.changedSinceBase.ones ?? 0) } } ?? sum }
    }

    /// Calls `body` with the rows of sealed segments that may have another value in a column than in the file.
    func forEachEdit(_ column: Int, _ body: (_ segment: Int, _ position: Int, _ rowCount: Int) -> Void) {
        for (segment, rows) in edited.enumerated() {
            guard let rows else { continue }
            for position in rows.positionsChangedSinceBase(column) { body(segment, position, rows.rowCount) }
        }
    }
}

extension WorkingRows {
    /// Returns the rows of the base whose value in a column may differ from that of the base, whichever transaction set it, ascending.
    func positionsChangedSinceBase(_ column: Int) -> [Int] {
        var positions: [Int] = []
        for (vector, block) in overlays[column].enumerated() {
            block?.changedSinceBase.forEachSet { positions.append(vector * vectorSize + $0) }
        }
        return positions
    }
}
