import FirnBytes

/// The commits that become durable together, and the state of durability. Guarded by the store's lock. See docs/format/store.md, "Groups".
struct GroupCommit {
    /// The versions whose root is not written yet. Only the writer changes it.
    private(set) var pending: PendingVersions?
    /// The newest version that this store made durable, together with the name of the file.
    private(set) var durableVersion: UInt64?
    /// The error that made the store fail: no more commits are possible.
    private(set) var failure: FirnError?
    /// The number of threads that wait until their commit is durable.
    var waiting = 0

    /// Whether the group must become durable before another commit joins it.
    var isFull: Bool { pending?.isFull(waiting: waiting) ?? false }

    /// Whether a version has the parity of the durable one: its root would overwrite the durable root.
    func hasParityOfDurable(_ version: UInt64) -> Bool { pending.map { (version - $0.durable.version) % 2 == 0 } ?? false }

    /// Adds a version whose extents are in the file. Returns whether readers see pending versions from now on and did not before.
    mutating func add(_ root: Root, after base: Root, isVisible: Bool, written: [ExtentRef], dead: [ExtentRef]) -> Bool {
        let wasVisible = pending?.visible != nil
        var group = pending ?? PendingVersions(durable: base, newest: root)
        group.newest = root
        for ref in dead { group.listed[ref.offset] = nil }
        for ref in written {
            group.listed[ref.offset] = ref
            group.bytes += ref.length
        }
        if isVisible { group.visible = root }
        pending = group
        return isVisible && !wasVisible
    }

    /// Records that a root is durable and that no version is pending.
    mutating func published(_ version: UInt64) {
        pending = nil
        durableVersion = version
    }

    /// Records the first failure. Pending versions that readers can see stay readable; others are discarded.
    mutating func fail(_ error: FirnError) {
        failure = failure ?? error
        if pending?.visible == nil { pending = nil }
    }
}
