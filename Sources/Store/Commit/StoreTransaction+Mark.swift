import FirnBytes

/// Transactions of several parts, of which the last one can be rolled back separately.
extension StoreTransaction {
    /// The state of the transaction at a mark.
    struct Mark {
        /// The first units of the extents that the transaction had written.
        var written: Set<UInt64>
        /// The number of extents of earlier versions that it had freed.
        var freedCount: Int
        /// Extents that were written before the mark and freed after it. They stay until the mark is cleared.
        var postponed: [ExtentRef] = []
    }

    /// Sets the state that `rollBack` restores. It replaces an earlier mark.
    package func setMark() {
        lock.withLock {
            trap(unless: isOpen, "mark before commit or cancel")
            settleMark()
            mark = Mark(written: Set(written.keys), freedCount: freed.count)
        }
    }

    /// Undoes everything that was written and freed since the mark.
    package func rollBack() {
        lock.withLock {
            trap(unless: isOpen, "roll back before commit or cancel")
            guard let mark else { trap("roll back to a mark: set one first") }
            freed.removeLast(freed.count - mark.freedCount)
            self.mark!.postponed = []
            for ref in written.values.map(\.ref) where !mark.written.contains(ref.offset / 64) { drop(ref) }
        }
    }

    /// Removes the mark: `rollBack` is not possible any more.
    package func clearMark() { lock.withLock { settleMark() } }

    private func settleMark() {
        guard let postponed = mark?.postponed else { return }
        mark = nil
        for ref in postponed { drop(ref) }
    }
}
