import FirnBytes
import FirnDisk

extension StoreTransaction {
    /// Commits the transaction's extents and `catalogue` as the newest version, and ends the transaction. `durability` determines when it
    /// returns; `retention` determines which versions stay readable, by default the rule in the file.
    ///
    /// After an error nothing is stored, with one exception: if the sync after the root fails, readers of all processes can see the
    /// version, and it may still be there after the file is opened again. If a write or a sync failed, the store rejects further commits
    /// until it is opened again.
    /// - Returns: the version.
    @discardableResult
    package func commit(catalogue: ExtentRef, retention: Retention? = nil, time: Int64? = nil, durability: Durability = .full)
        throws(FirnError) -> UInt64
    {
        try commit(catalogue: catalogue, retention, time: time, forcingCheckpoint: false, durability)
    }

    /// Commits like `commit(catalogue:retention:time:durability:)`; the newest `keep` versions (at least two) stay readable.
    @discardableResult
    package func commit(catalogue: ExtentRef, keep: Int, durability: Durability = .full) throws(FirnError) -> UInt64 {
        try commit(catalogue: catalogue, Retention(versions: keep), forcingCheckpoint: false, durability)
    }

    func commit(
        catalogue: ExtentRef, _ retention: Retention?, time: Int64? = nil, forcingCheckpoint: Bool, _ durability: Durability = .full
    ) throws(FirnError) -> UInt64 {
        guard !store.isInherited else { throw store.file.inherited }
        let joined: Bool
        do throws(FirnError) {
            joined = try lock.withLock { () throws(FirnError) in
                trap(unless: isOpen, "commit a transaction once")
                try checkUnbroken()
                // If the file was truncated while it was mapped, zeros may have been read; nothing based on them may be committed.
                do throws(Damage) { try base.checkIntact() } catch { throw FirnError(error, in: store.path) }
                let plan = try plan(catalogue, retention, time, forcingCheckpoint, durability), version = try encode(plan)
                try write(version, plan, durability)
                adopt(version, plan)
                close()
                return plan.joinsGroup
            }
        } catch {
            cancel()
            throw error
        }
        if joined, durability != .none, !isLast { try store.awaitDurable(version) }
        return version
    }
}
