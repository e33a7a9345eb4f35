import FirnBytes
import FirnTable
import Synchronization

/// The rows of one segment as a transaction sees them: a base that is read, blocks of it that were changed, and new rows after the base.
///
/// A block is one column of one vector. The first write to a vector decodes it; later writes are in place. After the transaction has ended,
/// nothing is written here: versions and later transactions share the object, and later transactions write to a successor.
///
///     base rows …                  | new rows, in whole blocks … | open: up to 1,024 rows
///     overlays[column][vector]       grown[column][block]          open[column]
final class WorkingRows: StoredRows, @unchecked Sendable {
    /// The number of the transaction that may write.
    let owner: UInt64
    /// The stored type of each column.
    let types: [ColumnType]
    /// The kind of each column with one value per row; nil for collections.
    let scalars: [ScalarKind?]
    /// Nil if there are no base rows, or none was requested yet.
    private(set) var base: (any StoredRows)?
    private let hasBase: Atomic<Bool>
    let baseCount: Int
    let counts: ReadCounts
    @exclusivity(unchecked) private(set) var live: Bits?
    /// The live rows when the transaction began.
    let liveBefore: Bits?
    let countBefore: Int

    /// The changed blocks, by column and vector of the base; empty for a column that is unchanged.
    @exclusivity(unchecked) private(set) var overlays: [[WorkingBlock?]]
    /// The full blocks of new rows, by column.
    @exclusivity(unchecked) private(set) var grown: [[WorkingBlock]]
    /// The number of rows in `grown`.
    @exclusivity(unchecked) private(set) var grownCount = 0
    /// The last new rows, by column.
    @exclusivity(unchecked) var open: [Column]
    @exclusivity(unchecked) private(set) var openCount = 0
    /// The changed rows among the open rows that existed when the transaction began.
    @exclusivity(unchecked) private(set) var openDirty: Bits?
    /// The row id of the first row after the base.
    let firstGrown: Int64

    init(owner: UInt64, types: [ColumnType], base: (any StoredRows)?, baseCount: Int, firstGrown: Int64, counts: ReadCounts) {
        self.owner = owner
        self.types = types
        scalars = types.map { $0.isCollection ? nil : $0.kind }
        self.base = base
        hasBase = Atomic(base != nil)
        self.baseCount = baseCount
        self.firstGrown = firstGrown
        self.counts = counts
        live = base?.live
        liveBefore = base?.live
        countBefore = baseCount
        overlays = Array(repeating: [], count: types.count)
        grown = Array(repeating: [], count: types.count)
        open = types.map { Column($0) }
    }

    /// Creates the same rows for another transaction to write to.
    init(successorOf old: WorkingRows, owner: UInt64) {
        trap(unless: !old.needsBase, "read the base of the rows before creating a successor")
        self.owner = owner
        types = old.types
        scalars = old.scalars
        base = old.base
        hasBase = Atomic(old.base != nil)
        baseCount = old.baseCount
        firstGrown = old.firstGrown
        counts = old.counts
        live = old.live
        liveBefore = old.live
        countBefore = old.rowCount
        overlays = old.overlays
        grown = old.grown
        grownCount = old.grownCount
        open = old.open
        openCount = old.openCount
    }

    var rowCount: Int { baseCount + grownCount + openCount }
    /// Whether `take` must be called before rows of the base are read. Threads that read may ask at the same time.
    var needsBase: Bool { baseCount > 0 && !hasBase.load(ordering: .acquiring) }

    func take(base: any StoredRows) {
        trap(
            unless: needsBase && base.rowCount == baseCount && base.live == nil,
            "the base must have the announced number of rows, none of them deleted")
        self.base = base
        hasBase.store(true, ordering: .releasing)
    }

    /// The number of changed blocks of the base.
    var blockCount: Int { overlays.reduce(0) { $0 + $1.reduce(0) { $0 + ($1 == nil ? 0 : 1) } } }

    // MARK: Positions

    func rowID(at position: Int) throws(Damage) -> Int64 {
        position < baseCount ? try base!.rowID(at: position) : firstGrown + Int64(position - baseCount)
    }

    func position(of rowID: Int64) throws(Damage) -> Int? {
        if rowID >= firstGrown, rowCount > baseCount {
            let position = baseCount + Int(rowID - firstGrown)
            return position < rowCount ? position : nil
        }
        return try base?.position(of: rowID)
    }

    /// Returns the changed block of a vector of the base, whichever transaction changed it.
    @inline(__always)
    func editedBlock(_ column: Int, _ vector: Int) -> WorkingBlock? {
        overlays[column].isEmpty ? nil : overlays[column][vector]
    }

    // MARK: New rows

    /// Counts the row that was appended to each column of `open`. Closes a full block.
    func noteAppended() {
        openCount += 1
        if live != nil { live!.append(true) }
        if openDirty != nil { openDirty!.append(false) }
        if openCount == vectorSize { closeOpen() }
    }

    private func closeOpen() {
        for i in open.indices {
            grown[i].append(WorkingBlock(owner: owner, open[i], dirty: openDirty))
            open[i] = Column(types[i])
        }
        grownCount += openCount
        openCount = 0
        openDirty = nil
    }

    /// Removes what a failed append left in `open`.
    func takeBack() { for i in open.indices { open[i].truncate(to: openCount) } }

    // MARK: Changes

    func delete(_ position: Int) {
        if live == nil { live = Bits(repeating: true, count: rowCount) }
        live![position] = false
    }

    /// Calls `body` to change a row of a column in place. Returns whether a vector of the base was decoded for it.
    @discardableResult @inline(__always)
    func change(_ position: Int, _ column: Int, _ body: (inout Column, Int) -> Void) throws(Damage) -> Bool {
        if position >= baseCount &+ grownCount {
            let row = position &- baseCount &- grownCount
            body(&open[column], row)
            if position < countBefore {
                if openDirty == nil { openDirty = Bits(count: openCount) }
                openDirty![row] = true
            }
            return false
        }
        var isFirst = false
        let row: Int, block: WorkingBlock
        if position >= baseCount {
            row = (position &- baseCount) & (vectorSize &- 1)
            block = ownGrown(column, (position &- baseCount) / vectorSize)
        } else {
            row = position & (vectorSize &- 1)
            (block, isFirst) = try ownOverlay(column, position / vectorSize)
        }
        block.set(row, body)
        return isFirst
    }

    @inline(__always)
    private func ownGrown(_ column: Int, _ index: Int) -> WorkingBlock {
        let block = grown[column][index]
        if block.owner == owner { return block }
        let copy = WorkingBlock(copy: block, owner: owner)
        grown[column][index] = copy
        return copy
    }

    @inline(__always)
    private func ownOverlay(_ column: Int, _ vector: Int) throws(Damage) -> (WorkingBlock, Bool) {
        if let block = editedBlock(column, vector), block.owner == owner { return (block, false) }
        return try makeOverlay(column, vector)
    }

    private func makeOverlay(_ column: Int, _ vector: Int) throws(Damage) -> (WorkingBlock, Bool) {
        let old = editedBlock(column, vector)
        let block: WorkingBlock
        if let old {
            block = WorkingBlock(copy: old, owner: owner)
        } else if types[column].isCollection {
            block = WorkingBlock(owner: owner, changesOf: types[column], count: min(vectorSize, baseCount - vector * vectorSize))
        } else {
            var values = Column(types[column])
            try base!.storedColumn(column).read(vector: vector, into: &values)
            block = WorkingBlock(owner: owner, values)
            counts.addChangedVector()
        }
        if overlays[column].isEmpty { overlays[column] = Array(repeating: nil, count: (baseCount + vectorSize - 1) / vectorSize) }
        overlays[column][vector] = block
        return (block, old == nil)
    }
}

/// The changes that the transaction has made to its rows.
extension WorkingRows {
    func hasChanged(_ column: Int) -> Bool {
        overlays[column].contains { $0?.owner == owner && !$0!.dirty.noneSet }
            || grown[column].contains { $0.owner == owner && !$0.dirty.noneSet }
    }

    /// Returns the rows of the base whose value in a column the transaction has set, ascending.
    func changedPositions(_ column: Int) -> [Int] {
        var positions: [Int] = []
        for (vector, block) in overlays[column].enumerated() {
            if let block, block.owner == owner { block.dirty.forEachSet { positions.append(vector * vectorSize + $0) } }
        }
        return positions
    }

    func changedCount(_ column: Int) -> Int { overlays[column].reduce(0) { $0 + ($1?.owner == owner ? $1!.dirty.ones : 0) } }

    /// The rows that existed when the transaction began and are deleted now.
    var deletedPositions: [Int] {
        guard let live else { return [] }
        var positions: [Int] = []
        for (w, word) in live.words.enumerated() {
            var gone = (liveBefore?.words[safe: w] ?? (liveBefore == nil ? .max : 0)) & ~word
            while gone != 0 {
                let position = w * 64 + gone.trailingZeroBitCount
                gone &= gone - 1
                if position < countBefore { positions.append(position) }
            }
        }
        return positions
    }

    /// The rows of the base and after it that existed when the transaction began and that have a changed value in any column.
    var changedRows: Bits {
        var bits = Bits(count: countBefore)
        for column in types.indices {
            for position in changedPositions(column) { bits[position] = true }
            for (index, block) in grown[column].enumerated() where block.owner == owner {
                let start = baseCount + index * vectorSize
                // New rows of a block may have been set too.
                block.dirty.forEachSet { if start + $0 < countBefore { bits[start + $0] = true } }
            }
        }
        openDirty?.forEachSet { bits[baseCount + grownCount + $0] = true }
        return bits
    }
}

extension Array {
    fileprivate subscript(safe index: Int) -> Element? { index < count ? self[index] : nil }
}
