import FirnBytes
import Synchronization

/// The state of a transaction that its tables check with every row. It is separate, so that they need not count references to the
/// transaction.
final class TransactionMark {
    private let writes = Atomic<Int>(0)
    @exclusivity(unchecked) var hasEnded = false
    /// The transaction has been released.
    @exclusivity(unchecked) var isGone = false

    /// The number of writes after which readers of the transaction find rows at other locations than before.
    var structures: Int { writes.load(ordering: .acquiring) }
    func noteStructure() { writes.add(1, ordering: .releasing) }

    @inline(__always)
    func checkOpen() { trap(unless: !hasEnded, "this transaction has ended: begin another") }
}
