import FirnBytes
import FirnTable

/// The state of a transaction that its tables check with every row. It is separate, so that they need not count references to the
/// transaction.
final class TransactionMark {
    /// The number of writes after which readers of the transaction find rows at other locations than before.
    @exclusivity(unchecked) var structures = 0
    @exclusivity(unchecked) var hasEnded = false
    /// The transaction has been released.
    @exclusivity(unchecked) var isGone = false

    @inline(__always)
    func checkOpen() { trap(unless: !hasEnded, "this transaction has ended: begin another") }
}
