import FirnBytes
import FirnDisk

/// Space at the end of the file that nothing is in.
extension Store {
    /// Gives the free tail of the file back, if nobody is writing. Returns the bytes given back.
    @discardableResult
    package func truncateTail() throws(FirnError) -> UInt64 {
        guard isWritable, replacement == nil, !isInherited else { return 0 }
        let mine = lock.withLock { () -> Bool in
            if isWriting || hasFailed || pending != nil { return false }
            isWriting = true
            return true
        }
        guard mine else { return 0 }
        defer { endWriting() }
        guard try file.lock(.exclusive, at: Store.writerLock) else { return 0 }
        let size = try file.size(), newest = try newestRoot(), end = newest.fileLength
        guard size > end else { return 0 }
        // Should the newest version not outlast a crash, the one before needs what it has.
        if !(try isKnownDurable(newest)) {
            do throws(FirnError) { try makeDurable() } catch {
                fail(error)
                throw error
            }
        }
        try file.truncate(to: end)
        return size - end
    }

    /// Drops the history (all but the two newest versions, and those pinned), gathers the bookkeeping in low places and gives the free tail of the file back.
    /// Adds versions with the same catalogue. Extents are not moved: whoever knows what refers to them may rewrite the high ones first. Returns the bytes given back.
    @discardableResult
    package func shrink() throws(FirnError) -> UInt64 {
        let before = try file.size()
        if try newestRoot().isAlone { return try truncateTail() }
        // The first frees the old records; two more, and no kept version sees them; the next releases them and moves off the tail.
        for _ in 0..<4 {
            let transaction = try begin()
            _ = try transaction.commit(catalogue: transaction.base.catalogue, Retention(versions: 2), forcingCheckpoint: true)
        }
        try truncateTail()
        let after = try file.size()
        return before > after ? before - after : 0
    }
}
