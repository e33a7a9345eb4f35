import FirnBytes
import FirnDatabase
import FirnTable

/// Commits that become durable together. The blocks of a group run in sequence within one transaction of the file. The part of each block
/// is kept or rolled back separately; the parts that are kept become one version.
struct CommitGroup {
    /// The number of blocks that were committed to the group.
    var count = 0
    var completions: [(Realm.Error?) -> Void] = []

    /// The maximum number of blocks in a group. It bounds how long the first commit waits.
    static let most = 100
}

extension RealmCore {
    /// Keeps the changes of the current block for a commit together with those of the waiting blocks. Returns false if no block is waiting,
    /// the group is full or there are no changes.
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

    /// Called after a block of the queue: runs the waiting blocks as long as each joins the group, then commits the group.
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
