/// What the tables of a transaction look at with every row, shared so that they need not count references to the transaction for it.
final class TransactionMark {
    /// How often something was written that readers of the transaction see elsewhere than before.
    @exclusivity(unchecked) var structures = 0
    @exclusivity(unchecked) var hasEnded = false
    /// Its memory is no longer there.
    @exclusivity(unchecked) var isGone = false

    @inline(__always)
    func checkOpen() { precondition(!hasEnded, "this transaction has ended: begin another") }
}
