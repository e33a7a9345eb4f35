import FirnBytes
import FirnDisk

/// Versions that are read: nobody uses their space again.
extension Store {
    /// Who reads a version through this store.
    struct Pins {
        var count = 0
        /// Other programs see that it is read. The writer's alone need not be seen.
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
                    // A medium without locks can be read: whoever writes there has none to look at either.
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
        // The pin is the parent's, and a thread that is not here may hold the lock.
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

    /// Versions that somebody reads now, in any process, ascending.
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

    /// Which processes read which version, as far as the system tells; pins of this very store are not among them.
    package func pinHolders() throws(FirnError) -> [UInt64: [LockHolder]] {
        let range = Store.pinBase..<Store.pinBase + (try newestRoot().version) + 1
        return Dictionary(grouping: file.lockHolders(in: range)) { $0.offset - Store.pinBase }
    }
}
