import FirnBytes

/// One column of up to 1,024 rows in memory, where a transaction reads and writes it. Whoever made it may write it; for everybody after, it stays as it is.
final class WorkingBlock: @unchecked Sendable {
    /// The number of the transaction that made it.
    let owner: UInt64
    // Accesses never overlap: one thread writes, through one function. The check would cost more than the write.
    @exclusivity(unchecked) var column: Column
    /// Rows that its owner changed.
    @exclusivity(unchecked) var dirty: Bits
    /// The number of the transaction that made the block which this one is a copy of; 0: it was decoded from the base.
    let source: UInt64
    /// Rows that differed from the base before its owner changed any.
    private let before: Bits?

    init(owner: UInt64, _ column: Column, dirty: Bits? = nil) {
        self.owner = owner
        self.column = column
        self.dirty = dirty ?? Bits(count: column.count)
        source = 0
        before = nil
    }

    init(copy: WorkingBlock, owner: UInt64) {
        self.owner = owner
        column = copy.column
        dirty = Bits(count: copy.column.count)
        source = copy.owner
        before = copy.changedSinceBase
    }

    /// Rows that may differ from the base.
    var changedSinceBase: Bits {
        guard let before else { return dirty }
        return Bits(words: zip(dirty.words, before.words).map { $0 | $1 }, count: dirty.count)
    }

    /// Rows that may differ from those of another block in the same place; nil on either side: the base.
    static func differences(_ a: WorkingBlock?, _ b: WorkingBlock?) -> Bits? {
        if a === b { return nil }
        guard let a, let b else { return (a ?? b)!.changedSinceBase }
        if a.source == b.owner { return a.dirty }
        if b.source == a.owner { return b.dirty }
        return Bits(words: zip(a.changedSinceBase.words, b.changedSinceBase.words).map { $0 | $1 }, count: a.dirty.count)
    }
}
