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
            waiting += 1
            defer { waiting -= 1 }
            while true {
                if durableVersion ?? 0 >= version { return false }
                if let failure { throw failure }
                if !isWriting, beginners == 0 || pending?.isFull(waiting: waiting) ?? true {
                    isWriting = true
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
        while let newest = lock.withLock({ pending?.newest }) {
            let last = StoreTransaction(store: self, base: try writersSnapshot(), isLast: true)
            _ = try last.commit(catalogue: newest.catalogue, .everything, forcingCheckpoint: false)
        }
    }

    /// Makes pending versions durable. `wait` determines whether it waits for a running transaction; without it, nothing is done in this
    /// case.
    package func settle(wait: Bool = true) throws(FirnError) {
        if isInherited { return }
        let mine = lock.withLock { () -> Bool in
            while isWriting {
                guard wait else { return false }
                lock.wait()
            }
            if pending == nil || hasFailed { return false }
            isWriting = true
            return true
        }
        guard mine else { return }
        defer { endWriting() }
        try publishPending()
    }

    /// Returns whether a commit leaves its root to a later one. The caller is the writer.
    func joins(_ durability: Durability, version: UInt64) -> Bool {
        lock.withLock {
            switch durability {
            case .none: return true
            case .grouped where beginners > 0: return true
            default: return pending.map { (version - $0.durable.version) % 2 == 0 } ?? false
            }
        }
    }

    /// Adds a version whose extents are in the file to the group. The caller is the writer.
    func add(_ root: Root, after base: Root, _ durability: Durability, written: [ExtentRef], dead: [ExtentRef]) {
        let isFirst = lock.withLock { () -> Bool in
            let wasVisible = pending?.visible != nil
            var group = pending ?? PendingVersions(durable: base, newest: root)
            group.newest = root
            for ref in dead { group.listed[ref.offset] = nil }
            for ref in written {
                group.listed[ref.offset] = ref
                group.bytes += ref.length
            }
            if durability == .none { group.visible = root }
            pending = group
            return !wasVisible && durability == .none
        }
        guard isFirst else { return }
        later(seconds: 1) { [weak self] in try? self?.settle() }
    }

    /// Records that a root is durable and that no version is pending.
    func published(_ version: UInt64) {
        lock.withLock {
            pending = nil
            durableVersion = version
            seen.max(version, ordering: .relaxed)
        }
        tellDurable(version)
    }

    /// Marks the store as failed: no more commits are possible. Pending versions that readers can see stay readable; others are discarded.
    func fail(_ error: FirnError) {
        lock.withLock {
            hasFailed = true
            failure = failure ?? error
            if pending?.visible == nil { pending = nil }
        }
    }
}
