import FirnBytes
import FirnDisk

/// Commits that become durable together. See docs/format/store.md, "Groups".
///
/// Each is a version of its own, whose extents and record are in the file; what is missing is a root that leads there. The root is that of the last of
/// them, and takes the slot that is not the durable version's: so the group has an odd number of versions, an empty one made up if need be.
extension Store {
    /// Waits until a version is durable, or makes it so if nobody else is about to add to its group.
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

    /// Writes the root that leads to what is pending. The caller is the writer.
    func publishPending() throws(FirnError) {
        // Twice, if the first has the durable version's slot.
        while let newest = lock.withLock({ pending?.newest }) {
            let last = StoreTransaction(store: self, base: try writersSnapshot(), isLast: true)
            _ = try last.commit(catalogue: newest.catalogue, .everything, forcingCheckpoint: false)
        }
    }

    /// Makes durable what was committed without that. `wait`: for a transaction that is under way; else nothing is done then.
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

    /// Whether a commit leaves the root to a later one. The caller is the writer.
    func joins(_ durability: Durability, version: UInt64) -> Bool {
        lock.withLock {
            switch durability {
            case .none: return true
            case .grouped where beginners > 0: return true
            default: return pending.map { (version - $0.durable.version) % 2 == 0 } ?? false
            }
        }
    }

    /// Takes in a version whose extents are in the file. The caller is the writer.
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

    /// A root is durable, and nothing is pending.
    func published(_ version: UInt64) {
        lock.withLock {
            pending = nil
            durableVersion = version
            seen.max(version, ordering: .relaxed)
        }
        tellDurable(version)
    }

    /// No commit can be made any more. What readers see stays there, and the file with it; the rest is given up.
    func fail(_ error: FirnError) {
        lock.withLock {
            hasFailed = true
            failure = failure ?? error
            if pending?.visible == nil { pending = nil }
        }
    }
}
