import FirnBytes
import FirnTable

/// One column of up to 1,024 rows in memory, which a transaction reads and writes in place. Only the transaction that created it may write
/// to it; afterwards it never changes. Collections can be large: a block of them has the changed rows only.
final class WorkingBlock: @unchecked Sendable {
    /// The number of the transaction that created it.
    let owner: UInt64
    // Accesses never overlap: one thread writes, through one function. The check would cost more than the write.
    @exclusivity(unchecked) var column: Column
    /// The changed rows of a column of collections, each a column of one row; nil if `column` has all rows.
    @exclusivity(unchecked) var rows: [Int: Column]?
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

    /// Creates a block of collections in which no row has changed.
    init(owner: UInt64, changesOf type: ColumnType, count: Int) {
        self.owner = owner
        column = Column(type)
        rows = [:]
        dirty = Bits(count: count)
        source = 0
        before = nil
    }

    init(copy: WorkingBlock, owner: UInt64) {
        self.owner = owner
        column = copy.column
        rows = copy.rows
        dirty = Bits(count: copy.dirty.count)
        source = copy.owner
        before = copy.changedSinceBase
    }

    /// Whether the row has its value here, and not in the base.
    func holds(_ row: Int) -> Bool { rows.map { $0[row] != nil } ?? true }

    func value(at row: Int) -> Value { rows?[row]?.value(at: 0) ?? column.value(at: row) }

    /// Returns a row that the block holds as a column.
    func row(at row: Int) -> Column { rows?[row] ?? column.slice(row..<row + 1) }

    /// Lets `body` set a row.
    @inline(__always)
    func set(_ row: Int, _ body: (inout Column, Int) -> Void) {
        if rows == nil { body(&column, row) } else { setCollection(row, body) }
        dirty[row] = true
    }

    private func setCollection(_ row: Int, _ body: (inout Column, Int) -> Void) {
        var one = Column(column.type)
        one.appendNull()
        body(&one, 0)
        if one.isPresent(0) { one.present = nil }
        rows?[row] = one
    }

    /// Replaces the contents of `values`, which are those of the base, by what the rows of the block are.
    func overlay(_ values: inout Column) {
        guard let rows else {
            values.removeAll()
            return values.append(contentsOf: column)
        }
        var out = values.emptyCopy, next = 0
        for (row, one) in rows.sorted(by: { $0.key < $1.key }) {
            out.append(contentsOf: values, range: next..<row)
            out.append(contentsOf: one)
            next = row + 1
        }
        out.append(contentsOf: values, range: next..<values.count)
        values = out
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
