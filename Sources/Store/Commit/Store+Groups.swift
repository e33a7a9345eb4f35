import FirnBytes
import FirnDisk
import FirnThreads

/// Commits that become durable together. See docs/format/store.md, "Groups".
///
/// Each commit is a version whose extents and record are in the file, but no root refers to it. The root of the last version of the group
/// goes into the slot that the durable version does not use. So a group has an odd number of versions; if necessary, an empty one is added.
extension Store {
    /// Waits until a version is durable, or makes it durable if no other thread is about to add to its group.
    func awaitDurable(_ version: UInt64) throws(FirnError) {
        let leads = try lock.withLock { () throws(FirnError) -> Bool in
            group.waiting += 1
            defer { group.waiting -= 1 }
            while true {
                if group.durableVersion ?? 0 >= version { return false }
                if let failure = group.failure { throw failure }
                if !queue.isWriting, queue.starting == 0 || group.pending == nil || group.isFull {
                    queue.begin(isTransaction: false)
                    return true
                }
                lock.wait()
            }
        }
        guard leads else { return }
        defer { endWriting() }
        try publishPending()
    }

    /// Writes the root that makes the pending versions durable. The caller is the writer.
    func publishPending() throws(FirnError) {
        // A second commit is needed if the first one has the parity of the durable version.
        while let newest = lock.withLock({ group.pending?.newest }) {
            let last = StoreTransaction(store: self, base: try writersSnapshot(), isLast: true)
            _ = try last.commit(catalogue: newest.catalogue, .everything, forcingCheckpoint: false)
        }
    }

    /// Makes pending versions durable. `wait` determines whether it waits for a running transaction; without it, nothing is done in this
    /// case.
    package func settle(wait: Bool = true) throws(FirnError) {
        if isInherited { return }
        let mine = lock.withLock { () -> Bool in
            while queue.isWriting {
                guard wait else { return false }
                lock.wait()
            }
            if group.pending == nil || hasFailed { return false }
            queue.begin(isTransaction: false)
            return true
        }
        guard mine else { return }
        defer { endWriting() }
        try publishPending()
    }

    /// Returns whether a commit leaves its root to a later one. The caller is the writer.
    func joinsGroup(_ durability: Durability, version: UInt64) -> Bool {
        lock.withLock {
            switch durability {
            case .none: return true
            case .grouped where queue.starting > 0: return true
            default: return group.hasParityOfDurable(version)
            }
        }
    }

    /// Adds a version whose extents are in the file to the group. The caller is the writer.
    func add(_ root: Root, after base: Root, _ durability: Durability, written: [ExtentRef], dead: [ExtentRef]) {
        let isFirst = lock.withLock { group.add(root, after: base, isVisible: durability == .none, written: written, dead: dead) }
        guard isFirst else { return }
        later(seconds: 1) { [weak self] in try? self?.settle() }
    }

    /// Records that a root is durable and that no version is pending.
    func published(_ version: UInt64) {
        lock.withLock {
            group.published(version)
            seen.max(version, ordering: .relaxed)
        }
        markDurable(version)
    }

    /// Marks the store as failed: no more commits are possible. Pending versions that readers can see stay readable; others are discarded.
    func fail(_ error: FirnError) { lock.withLock { group.fail(error) } }
}
