import FirnBytes
import FirnModel

/// Commits that become durable together. The blocks of a group run one after the other within one transaction of the file, of which each block's
/// part is kept or given up by itself; those that are kept are one version.
struct CommitGroup {
    /// Blocks that were committed to the group.
    var count = 0
    var completions: [(Realm.Error?) -> Void] = []

    /// A group ends here, so that whoever waits for its first commit does not wait for ever.
    static let most = 100
}

extension RealmCore {
    /// Keeps the changes of the block under way for a commit together with those of the blocks that wait. False: nobody waits, or the group is full.
    func joinGroup(_ onComplete: ((Realm.Error?) -> Void)?) throws -> Bool {
        guard let transaction, isInTransaction, !asyncWrites.isEmpty, group?.count ?? 0 < CommitGroup.most, hasChanges else { return false }
        do throws(FirnError) {
            if let damage { throw damage }
            try flushCells()
            if let damage { throw damage }
            try transaction.keepPart()
        } catch {
            let failure = Realm.Error(error)
            cancelGroup(failure)
            throw failure
        }
        var joined = group ?? CommitGroup()
        joined.count += 1
        if let onComplete { joined.completions.append(onComplete) }
        hold(joined)
        return true
    }

    /// After a block of the queue: runs those that wait as long as each joins the group, then commits what the group holds.
    func runGroup() {
        while isBetweenParts, !asyncWrites.isEmpty {
            resume()
            let next = asyncWrites.removeFirst()
            next.block()
            if isInTransaction, pendingCommit == nil { cancel() }
        }
        if isBetweenParts {
            resume()
            commitAsync(nil)
        }
    }
}
