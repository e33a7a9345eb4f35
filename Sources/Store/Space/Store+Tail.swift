import FirnBytes
import FirnDisk

/// Unused space at the end of the file.
extension Store {
    /// Cuts off the free end of the file, unless a transaction is running. Returns the number of bytes by which the file became shorter.
    @discardableResult
    package func truncateTail() throws(FirnError) -> UInt64 {
        guard isWritable, writer.replacement == nil, !isInherited else { return 0 }
        let mine = lock.withLock { () -> Bool in
            if queue.isWriting || hasFailed || group.pending != nil { return false }
            queue.begin(isTransaction: false)
            return true
        }
        guard mine else { return 0 }
        defer { endWriting() }
        guard try file.lock(.exclusive, at: Store.writerLock) else { return 0 }
        let size = try file.size(), newest = try newestRoot(), end = newest.fileLength
        guard size > end else { return 0 }
        // If the newest version did not survive a crash, the version before it would need its extents.
        if !(try isKnownDurable(newest)) {
            do throws(FirnError) { try makeDurable() } catch {
                fail(error)
                throw error
            }
        }
        try file.truncate(to: end)
        return size - end
    }

    /// Drops the history (all versions except the two newest and those that are pinned), moves commit records and checkpoint to low offsets
    /// and cuts off the free end of the file. Adds versions with the same catalogue. Other extents are not moved: the caller rewrites the
    /// high ones first, if it wants to. Returns the number of bytes by which the file became shorter.
    @discardableResult
    package func shrink() throws(FirnError) -> UInt64 {
        let before = try file.size()
        if try newestRoot().isInlineFile { return try truncateTail() }
        // The first commit frees the old records. After two more no kept version sees them. The next one releases them and moves away from
        // the end.
        for _ in 0..<4 {
            let transaction = try begin()
            _ = try transaction.commit(catalogue: transaction.base.catalogue, Retention(versions: 2), forcingCheckpoint: true)
        }
        try truncateTail()
        let after = try file.size()
        return before > after ? before - after : 0
    }
}
