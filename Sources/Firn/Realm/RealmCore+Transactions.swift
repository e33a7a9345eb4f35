import FirnBytes
import FirnDatabase

/// Beginning and ending transactions: the transitions of `state`.
extension RealmCore {
    /// The transaction of the file that is under way, whether or not it can be written to now.
    var transaction: DatabaseTransaction? { state.current?.transaction }

    /// As `transaction`. Traps if none is under way.
    var requiredTransaction: DatabaseTransaction {
        guard let transaction else { trap("there is no transaction under way") }
        return transaction
    }

    /// True in a transaction, except between the parts of a group. A transaction that is being made durable on another thread is included.
    var isInTransaction: Bool {
        switch state {
        case .open, .committing: true
        case .none, .betweenParts: false
        }
    }

    func requireTransaction(_ action: @autoclosure () -> String) {
        if isInTransaction { return }
        if isFrozen { trap(RealmMessage.frozen) }
        trap(RealmMessage.outsideTransaction(action()))
    }

    // MARK: Beginning

    func begin() throws {
        if state.isBetweenParts {
            check()
            return resume()
        }
        try notifyBeforeTransaction()
        try checkBegin()
        if let begun = stolenTransaction() { return try enter(begun) }
        try file.checkWaiting()
        do { try enter(file.database.begin()) } catch { throw Realm.Error(error) }
    }

    /// Throws, or traps, if no transaction can begin.
    func checkBegin() throws {
        check()
        trap(unless: !isFrozen, RealmMessage.frozen)
        guard !configuration.readOnly else { throw Realm.Error(.filePermissionDenied, "Can't perform transactions on read-only Realms.") }
        guard state.isNone else { throw Realm.Error(.alreadyInTransaction, "The Realm is already in a write transaction") }
        if let damage { throw Realm.Error(damage) }
        try checkVersionCount(holding: pin.pinned?.version)
    }

    /// Moves the realm into a transaction that has begun, at the version that it began from.
    func enter(_ begun: DatabaseTransaction) throws(FirnError) {
        let newest: DatabaseSnapshot
        do { newest = try begun.baseSnapshot() } catch {
            begun.cancel()
            throw error
        }
        let open = OpenTransaction(begun, file, versionBefore: newest.version, changesBefore: changeCount)
        state = .open(open, nil)
        // A thread that is the only one to use the realm also ends the transaction.
        if executor.thread == currentThread() { open.endsHere() }
        install(newest)
        Logger.note(.trace, "began a transaction of \"\(file.path)\" at version \(newest.version)")
    }

    /// Records that the transaction under way ends on this thread.
    func staysHere() { state.current?.endsHere() }

    /// Does not notify these observers of the transaction under way.
    func silence(_ observers: [Subscription]) { state.current?.silenced = observers }

    // MARK: Ending

    func commit(_ durability: Realm.Durability? = nil) throws {
        check()
        guard case .open(let open, let group) = state else {
            trap("Can't commit a non-existing write transaction: begin one with beginWrite() or write { … }.")
        }
        let isChanged: Bool
        do {
            try flushForCommit()
            isChanged = hasChanges
            if isChanged {
                try open.transaction.commit(durability: (durability ?? configuration.durability).ofCommits)
            } else {
                open.transaction.cancel()
            }
        } catch { throw abandon(error) }
        leave()
        arrive(isChanged)
        committed(open, isChanged)
        complete(group, nil)
    }

    /// Writes all changes into the transaction. Throws the first error of any change.
    func flushForCommit() throws(FirnError) {
        try throwDamage()
        try flushCells()
        try throwDamage()
    }

    private func throwDamage() throws(FirnError) { if let damage { throw damage } }

    /// Starts making the changes durable on another thread. Code that uses the realm before that completes waits. Returns nil if the commit
    /// completed here.
    func commitElsewhere() throws -> PendingCommit? {
        check()
        guard case .open(let open, let group) = state else {
            trap("Can't commit a non-existing write transaction: begin one with beginAsyncWrite or asyncWrite.")
        }
        // Nothing on this thread would be notified of the end of the commit.
        if case .thread = executor { return try commitHere() }
        do { try flushForCommit() } catch { throw abandon(error) }
        guard hasChanges else { return try commitHere() }
        let pending = PendingCommit(open, group, configuration.durability)
        state = .committing(pending)
        // They do not check for a pending commit.
        closeFastPaths()
        // The transaction no longer ends on this thread.
        open.endsAnywhere()
        return pending
    }

    private func commitHere() throws -> PendingCommit? {
        try commit()
        return nil
    }

    /// Waits for a commit that is being made durable on another thread, if there is one, and moves to its version.
    func finishPendingCommit() { if let pending = state.pending { finish(pending) } }

    /// Waits for a commit that is being made durable, and moves to its version.
    func finish(_ pending: PendingCommit) {
        executor.check()
        guard state.pending === pending else { return }
        pending.wait()
        leave()
        openFastPaths()
        guard pending.error == nil else {
            changedCells = [:]
            return moved()
        }
        arrive(true)
        committed(pending.open, true, soon: true)
    }

    func cancel() {
        check()
        guard case .open(let open, let group) = state else { trap("Can't cancel a non-existing write transaction") }
        if let group {
            // Blocks that were already committed to the group are kept.
            open.transaction.rollBack()
            return hold(group)
        }
        open.transaction.cancel()
        leave()
        changedCells = [:]
        moved()
        ringIfObserved()
    }

    /// Cancels the transaction, and the whole group with it, after a failure. Returns the error to throw.
    func abandon(_ error: FirnError) -> Realm.Error {
        guard case .open(let open, let group) = state else { trap("only a transaction that is under way can be abandoned") }
        let failure = Realm.Error(error)
        open.transaction.cancel()
        leave()
        changedCells = [:]
        moved()
        complete(group, failure)
        return failure
    }

    /// Ends the realm's part in the transaction, which was committed or cancelled.
    func leave() {
        state.current?.endsAnywhere()
        state = .none
    }

    /// Moves to the version that a commit of this realm has made. The commit is already durable: if the version cannot be pinned, the realm
    /// stays at the version before, and the doorbell moves it later.
    private func arrive(_ isChanged: Bool) {
        var isThere = true
        if isChanged { do { try pin.moveToNewest() } catch { isThere = false } }
        moved()
        if !isThere { doorbell?.ring() }
    }

    // MARK: Groups of commits

    /// Leaves the transaction, which other blocks of the group continue.
    func hold(_ group: CommitGroup) {
        guard case .open(let open, _) = state else { trap("only a transaction that is under way can be held") }
        state = .betweenParts(open, group)
        // The next block may run on another thread.
        if open.writer != executor.thread { open.endsAnywhere() }
        changedCells = [:]
        moved()
    }

    /// Re-enters the transaction that a group was committed to.
    func resume() {
        guard case .betweenParts(let open, let group) = state else { trap("only a transaction that is held can be resumed") }
        state = .open(open, group)
        moved()
    }

    /// Makes the commits of a group durable now, and cancels changes that were not committed.
    func endGroup() {
        if case .open(_, .some) = state { cancel() }
        guard state.isBetweenParts else { return }
        resume()
        // The completion blocks report a failure.
        try? commit()
    }

    /// Reports the result of a group on the realm's executor.
    func complete(_ group: CommitGroup?, _ error: Realm.Error?) {
        for completion in group?.completions ?? [] { onExecutor { completion(error) } }
    }
}
