/// Groups of asynchronous commits.
extension RealmCore {
    /// Keeps the changes of the current block for a commit together with those of the waiting blocks. Returns false if no block is waiting,
    /// the group is full or there are no changes.
    func joinGroup(_ onComplete: ((Realm.Error?) -> Void)?) throws -> Bool {
        guard case .open(let open, let group) = state, !asyncWrites.waiting.isEmpty, !(group?.isFull ?? false), hasChanges else {
            return false
        }
        do {
            try flushForCommit()
            try open.transaction.keepPart()
        } catch { throw abandon(error) }
        var joined = group ?? CommitGroup()
        joined.add(onComplete)
        hold(joined)
        return true
    }

    /// Called after a block of the queue: runs the waiting blocks as long as each joins the group, then commits the group.
    func runGroup() {
        while state.isBetweenParts, let next = asyncWrites.takeNext() {
            resume()
            next.block()
            if state.isOpen { cancel() }
        }
        if state.isBetweenParts {
            resume()
            commitAsync(nil)
        }
    }
}
