import FirnBytes
import FirnDisk

/// Versions that are read. Their space is not reused.
extension Store {
    /// The snapshots of one version that this store holds.
    struct Pins {
        var count = 0
        /// Whether other processes see the pin. The writer's own pin need not be visible.
        var isLocked = false
    }

    func pin(_ version: UInt64, isWriters: Bool = false) throws(FirnError) {
        try lock.withLock { () throws(FirnError) in
            var pins = pinCounts[version] ?? Pins()
            if !pins.isLocked, !isWriters, !lockless {
                do throws(FirnError) {
                    guard try file.lock(.shared, at: Store.pinBase + version) else {
                        throw FirnError(.locked, "version \(version) is locked by another program", at: .init(file: path))
                    }
                } catch {
                    // A medium without locks can be read: no process can write there.
                    guard !isWritable, error.code == .inputOutput else { throw error }
                    lockless = true
                }
                pins.isLocked = !lockless
            }
            pins.count += 1
            pinCounts[version] = pins
        }
    }

    func unpin(_ version: UInt64) {
        // The pin belongs to the parent process, and a thread that does not exist here may hold the lock.
        if isInherited { return }
        lock.withLock {
            var pins = pinCounts[version]!
            pins.count -= 1
            if pins.count > 0 {
                pinCounts[version] = pins
            } else {
                pinCounts[version] = nil
                if pins.isLocked { file.unlock(at: Store.pinBase + version) }
            }
        }
    }

    /// Returns the versions that are read now, in any process, in ascending order.
    package func pins() throws(FirnError) -> [UInt64] { try pins(newest: try newestRoot().version) }

    func pins(newest: UInt64) throws(FirnError) -> [UInt64] {
        guard !isInherited else { throw file.inherited }
        var pinned = Set(lock.withLock { pinCounts.keys })
        if lock.withLock({ lockless }) { return pinned.sorted() }
        var next = Store.pinBase
        let end = Store.pinBase + newest + 1
        while next < end, let found = try file.firstConflict(in: next..<end) {
            pinned.insert(found - Store.pinBase)
            next = found + 1
        }
        return pinned.sorted()
    }

    /// Returns the processes that read each version, as far as the system provides this. Pins of this store itself are not included.
    package func pinHolders() throws(FirnError) -> [UInt64: [LockHolder]] {
        let range = Store.pinBase..<Store.pinBase + (try newestRoot().version) + 1
        return Dictionary(grouping: file.lockHolders(in: range)) { $0.offset - Store.pinBase }
    }
}
