import FirnBytes
import FirnTable

/// One column of up to 1,024 rows in memory, which a transaction reads and writes in place. Only the transaction that created it may write
/// to it; afterwards it never changes.
final class WorkingBlock: @unchecked Sendable {
    /// The number of the transaction that created it.
    let owner: UInt64
    // Accesses never overlap: one thread writes, through one function. The check would cost more than the write.
    @exclusivity(unchecked) var column: Column
    /// The rows that its owner changed.
    @exclusivity(unchecked) var dirty: Bits
    /// The number of the transaction that created the block of which this is a copy; 0 if this block was decoded from the base.
    let source: UInt64
    /// The rows that differed from the base before its owner changed any.
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

    /// The rows that may differ from the base.
    var changedSinceBase: Bits {
        guard let before else { return dirty }
        return Bits(words: zip(dirty.words, before.words).map { $0 | $1 }, count: dirty.count)
    }

    /// Returns the rows that may differ between two blocks at the same position, where nil is the base. Returns nil if no rows differ.
    static func differences(_ a: WorkingBlock?, _ b: WorkingBlock?) -> Bits? {
        if a === b { return nil }
        guard let a, let b else { return (a ?? b)!.changedSinceBase }
        if a.source == b.owner { return a.dirty }
        if b.source == a.owner { return b.dirty }
        return Bits(words: zip(a.changedSinceBase.words, b.changedSinceBase.words).map { $0 | $1 }, count: a.dirty.count)
    }
}
