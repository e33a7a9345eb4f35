import FirnBytes
import FirnDisk

/// Versions that are read. Their space is not reused.
extension Store {
    func pin(_ version: UInt64, isWriters: Bool = false) throws(FirnError) {
        try lock.withLock { () throws(FirnError) in
            try readers.pin(version, isVisible: !isWriters) { () throws(FirnError) in try lockPin(version) }
        }
    }

    /// Makes a pin visible to other processes. Returns false if the medium has no locks.
    private func lockPin(_ version: UInt64) throws(FirnError) -> Bool {
        do throws(FirnError) {
            guard try file.lock(.shared, at: Store.pinBase + version) else {
                throw FirnError(
                    .locked, "version \(version) cannot be read: another program holds an exclusive lock; end that program or wait for it",
                    at: .init(file: path))
            }
            return true
        } catch {
            // A medium without locks can be read: no process can write there.
            guard !isWritable, error.code == .inputOutput else { throw error }
            return false
        }
    }

    func unpin(_ version: UInt64) {
        // The pin belongs to the parent process, and a thread that does not exist here may hold the lock.
        if isInherited { return }
        lock.withLock { if readers.unpin(version) { file.unlock(at: Store.pinBase + version) } }
    }

    /// Returns the versions that are read now, in any process, in ascending order.
    package func pins() throws(FirnError) -> [UInt64] { try pins(newest: try newestRoot().version) }

    func pins(newest: UInt64) throws(FirnError) -> [UInt64] {
        guard !isInherited else { throw file.inherited }
        let (own, isLockless) = lock.withLock { (readers.pins.keys, readers.isLockless) }
        var pinned = Set(own)
        if isLockless { return pinned.sorted() }
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
