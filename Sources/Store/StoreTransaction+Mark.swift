/// A transaction of several parts, of which the last can be given up by itself.
extension StoreTransaction {
    /// What stands at a mark.
    struct Mark {
        /// Where the extents begin that the transaction had written.
        var written: Set<UInt64>
        /// How many extents of earlier versions it had freed.
        var freedCount: Int
        /// Extents written before the mark and freed after it: they are there until it is clear that nobody goes back.
        var postponed: [ExtentRef] = []
    }

    /// What was written and freed until now is what `rollBack` comes back to. A later mark takes the place of an earlier one.
    package func setMark() {
        lock.withLock {
            precondition(isOpen, "mark before commit or cancel")
            settleMark()
            mark = Mark(written: Set(written.keys), freedCount: freed.count)
        }
    }

    /// Forgets what was written and freed since the mark.
    package func rollBack() {
        lock.withLock {
            precondition(isOpen, "roll back before commit or cancel")
            guard let mark else { preconditionFailure("roll back to a mark: set one first") }
            freed.removeLast(freed.count - mark.freedCount)
            self.mark!.postponed = []
            for ref in written.values.map(\.ref) where !mark.written.contains(ref.offset / 64) { drop(ref) }
        }
    }

    /// Nobody goes back any more.
    package func clearMark() { lock.withLock { settleMark() } }

    private func settleMark() {
        guard let postponed = mark?.postponed else { return }
        mark = nil
        for ref in postponed { drop(ref) }
    }
}
