import FirnBytes
import FirnTable

extension WorkingRows {
    func storedColumn(_ index: Int) throws(Damage) -> any ColumnReader {
        WorkingColumn(self, index, base: try base.map { (base) throws(Damage) in try base.storedColumn(index) })
    }

    func word(at position: Int, _ column: Int) throws(Damage) -> Int64? {
        if position < baseCount {
            if let block = editedBlock(column, position / vectorSize) { return block.column.word(at: position & (vectorSize - 1)) }
            return try base!.word(at: position, column)
        }
        let row = position - baseCount
        return row < grownCount
            ? grown[column][row / vectorSize].column.word(at: row & (vectorSize - 1)) : open[column].word(at: row - grownCount)
    }

    func real(at position: Int, _ column: Int) throws(Damage) -> Double? {
        if position < baseCount {
            if let block = editedBlock(column, position / vectorSize) { return block.column.real(at: position & (vectorSize - 1)) }
            return try base!.real(at: position, column)
        }
        let row = position - baseCount
        return row < grownCount
            ? grown[column][row / vectorSize].column.real(at: row & (vectorSize - 1)) : open[column].real(at: row - grownCount)
    }

    /// Returns a value of a block in memory, or nil if the row has its value from the base.
    func heldValue(at position: Int, _ column: Int) -> Value? {
        if position < baseCount {
            guard let block = editedBlock(column, position / vectorSize), case let row = position & (vectorSize - 1), block.holds(row)
            else {
                return nil
            }
            return block.value(at: row)
        }
        let row = position - baseCount
        return row < grownCount
            ? grown[column][row / vectorSize].column.value(at: row & (vectorSize - 1)) : open[column].value(at: row - grownCount)
    }

    /// Returns a row of a block in memory as a column, or nil if the row has its value from the base.
    func heldRow(at position: Int, _ column: Int) -> Column? {
        if position < baseCount {
            guard let block = editedBlock(column, position / vectorSize), case let row = position & (vectorSize - 1), block.holds(row)
            else {
                return nil
            }
            return block.row(at: row)
        }
        let row = position - baseCount
        if row >= grownCount { return open[column].slice(row - grownCount..<row - grownCount + 1) }
        return grown[column][row / vectorSize].column.slice(row & (vectorSize - 1)..<(row & (vectorSize - 1)) + 1)
    }

    /// Returns whether some row of the vector is not read from the base.
    func isHeld(vector: Int, _ column: Int) -> Bool {
        (vector + 1) * vectorSize > baseCount && rowCount > baseCount || editedBlock(column, vector) != nil
    }

    func rowsThatMayDiffer(from other: any StoredRows) throws(Damage) -> Bits? {
        if other === self { return Bits(count: rowCount) }
        let working = other as? WorkingRows
        let (longer, shorter): (any StoredRows, any StoredRows) = rowCount >= other.rowCount ? (self, other) : (other, self)
        let otherBase: (any StoredRows)? = working == nil ? other : working!.base
        guard !needsBase, working.map({ !$0.needsBase && $0.firstGrown == firstGrown }) ?? true, otherBase?.rowCount ?? 0 == baseCount
        else { return nil }
        var bits = Bits(count: longer.rowCount)
        if let base, let otherBase, base !== otherBase {
            guard let under = try base.rowsThatMayDiffer(from: otherBase) else { return nil }
            for w in under.words.indices { bits.words[w] |= under.words[w] }
        }
        func mark(_ rows: Range<Int>) { for row in rows where row < bits.count { bits[row] = true } }
        for column in types.indices {
            for vector in 0..<(baseCount + vectorSize - 1) / vectorSize {
                WorkingBlock.differences(editedBlock(column, vector), working?.editedBlock(column, vector))?.forEachSet {
                    bits[vector * vectorSize + $0] = true
                }
            }
            // Rows that one has in blocks and the other has open are marked with the open rows.
            guard let theirs = working?.grown[column] else { continue }
            for (block, pair) in zip(grown[column], theirs).enumerated() where pair.0 !== pair.1 {
                let start = baseCount + block * vectorSize
                if pair.0.source == pair.1.owner {
                    pair.0.dirty.forEachSet { bits[start + $0] = true }
                } else if pair.1.source == pair.0.owner {
                    pair.1.dirty.forEachSet { bits[start + $0] = true }
                } else {
                    mark(start..<start + vectorSize)
                }
            }
        }
        // Open rows have no identity by which they can be compared. There are few.
        mark(baseCount + min(grownCount, working?.grownCount ?? 0)..<longer.rowCount)
        mark(shorter.rowCount..<longer.rowCount)
        for row in 0..<shorter.rowCount where longer.isLive(row) != shorter.isLive(row) { bits[row] = true }
        return bits
    }
}

/// Reads one column of rows that a transaction has changed or is changing.
final class WorkingColumn: ColumnReader {
    private let rows: WorkingRows
    private let index: Int
    private let base: (any ColumnReader)?

    init(_ rows: WorkingRows, _ index: Int, base: (any ColumnReader)?) {
        self.rows = rows
        self.index = index
        self.base = base
    }

    var type: ColumnType { rows.types[index] }
    var rowCount: Int { rows.rowCount }
    private var isAsBase: Bool { rows.overlays[index].isEmpty && rows.rowCount == rows.baseCount }

    func zone() -> Zone? { isAsBase ? base?.zone() : nil }
    func zone(ofVector vector: Int) -> Zone? { rows.isHeld(vector: vector, index) ? nil : base?.zone(ofVector: vector) }
    func dictionary() throws(Damage) -> Text? { isAsBase ? try base?.dictionary() : nil }

    func readCodes(vector: Int, into column: inout Column) throws(Damage) {
        guard isAsBase, let base else { trap("this segment has no dictionary: ask dictionary() first") }
        try base.readCodes(vector: vector, into: &column)
    }

    /// Returns the base's reader if the vector is unchanged.
    private func untouched(_ vector: Int) -> (any ColumnReader)? { rows.isHeld(vector: vector, index) ? nil : base }

    var storedBytes: Int { base?.storedBytes ?? 0 }
    func search(_ range: SoughtRange, vector: Int, into out: UnsafeMutablePointer<UInt64>) throws(Damage) -> SearchOutcome {
        try untouched(vector)?.search(range, vector: vector, into: out) ?? .notDone
    }
    func sum(vector: Int) throws(Damage) -> VectorSum { try untouched(vector)?.sum(vector: vector) ?? .notDone }
    func gather(_ chosen: UnsafeBufferPointer<Int32>, vector: Int, into column: inout Column) throws(Damage) -> Bool {
        try untouched(vector)?.gather(chosen, vector: vector, into: &column) ?? false
    }
    func numbers(vector: Int, only chosen: UnsafeBufferPointer<Int32>?, into room: NumberRoom) throws(Damage) -> Bool {
        try untouched(vector)?.numbers(vector: vector, only: chosen, into: room) ?? false
    }

    func read(vector: Int, into column: inout Column) throws(Damage) {
        let first = vector * vectorSize, end = min(first + vectorSize, rowCount), behind = rows.baseCount
        trap(unless: first >= 0 && first < end, "vector outside the segment")
        if first < behind {
            let block = rows.editedBlock(index, vector)
            if block.map({ $0.rows != nil }) ?? true { try base!.read(vector: vector, into: &column) }
            block?.overlay(&column)
            if end <= behind { return }
        } else {
            column.removeAll()
        }
        // The new rows of this vector are in one block or, if the end of the base does not align with vectors, in two.
        var row = max(first, behind) - behind
        let last = end - behind
        while row < last {
            if row >= rows.grownCount {
                column.append(contentsOf: rows.open[index], range: row - rows.grownCount..<last - rows.grownCount)
                return
            }
            let block = row / vectorSize, start = block * vectorSize
            let stop = min(last, start + vectorSize)
            column.append(contentsOf: rows.grown[index][block].column, range: row - start..<stop - start)
            row = stop
        }
    }

    func value(at row: Int) throws(Damage) -> Value {
        trap(unless: row >= 0 && row < rowCount, "row outside the segment")
        if let held = rows.heldValue(at: row, index) { return held }
        return try base!.value(at: row)
    }

    func row(at row: Int) throws(Damage) -> Column {
        trap(unless: row >= 0 && row < rowCount, "row outside the segment")
        if let held = rows.heldRow(at: row, index) { return held }
        return try base!.row(at: row)
    }
}
