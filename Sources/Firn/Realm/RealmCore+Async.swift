import Dispatch
import FirnBytes
import FirnDatabase

/// Asynchronous writes: waiting for the write lock, and committing outside of the realm's executor.
extension RealmCore {
    /// Returns the transaction that an asynchronous write was granted and that the realm has not entered yet, or nil.
    func stolenTransaction() -> DatabaseTransaction? {
        for request in asyncWrites.lockRequests {
            if let begun = request.take() {
                asyncWrites.lockRequests.removeAll { $0.isOver }
                return begun
            }
        }
        asyncWrites.lockRequests = []
        return nil
    }

    /// Schedules `body` on the realm's executor. `keeper` keeps its actor alive, if the caller has one.
    func onExecutor(_ keeper: ActorKeeper = ActorKeeper(), _ body: @escaping () -> Void) {
        let body = Carried(body)
        switch executor {
        case .queue(let queue): queue.async { body.value() }
        case .actor(let home):
            // The actor was deallocated, so there is nothing to notify.
            guard let actor = keeper.actor ?? home.actor else { return }
            Task { await RealmCore.run(body, on: actor) }
        case .main, .thread: MainExecutor.async { body.value() }
        case .none: body.value()
        }
    }

    private static func run(_ body: Carried<() -> Void>, on actor: isolated any Actor) { body.value() }

    /// Traps unless asynchronous writes can be delivered to this realm.
    func checkDelivery() {
        check()
        trap(unless: !isFrozen, RealmMessage.frozen)
        trap(unless: !configuration.readOnly, "Can't perform transactions on read-only Realms.")
        if case .thread = executor {
            trap(
                "Asynchronous writes need a realm of a queue, an actor or the main thread: open it with queue: or on an actor.")
        }
    }

    // MARK: Blocks that wait

    func enqueue(_ block: @escaping () -> Void, failed: ((Realm.Error) -> Void)?) -> AsyncTransactionId {
        let id = asyncWrites.newID()
        asyncWrites.add(AsyncWrite(id: id, block: block, failed: failed))
        if asyncWrites.waiting.count == 1 { requestLock() }
        return id
    }

    /// Requests the lock for the first block in the queue.
    func requestLock() {
        guard !asyncWrites.waiting.isEmpty else { return }
        let request = LockRequest(file), core = Carried(self), keeper = executor.keeper
        asyncWrites.lockRequests.append(request)
        request.ask { answer in
            // `ask` may answer on the realm's executor while the realm takes the transaction, so the answer is delivered asynchronously.
            DispatchQueue.global().async {
                core.value.onExecutor(keeper) {
                    if case .failure(let failure) = answer {
                        core.value.granted(request, failure)
                    } else {
                        core.value.granted(request, nil)
                    }
                }
            }
        }
    }

    /// Reports that a block will not be called.
    private func refuse(_ write: AsyncWrite, _ error: Realm.Error) {
        if let failed = write.failed { return failed(error) }
        // Too many versions are a temporary condition, which must not mark the realm as failed.
        if error.code != .tooManyVersions { note(error.cause ?? FirnError(.inputOutput, error.message)) }
    }

    private func granted(_ request: LockRequest, _ failure: (any Error)?) {
        finishPendingCommit()
        asyncWrites.lockRequests.removeAll { $0 === request }
        guard let begun = request.take() else {
            // The realm took the transaction itself. The blocks run after that.
            guard let failure else { return requestLock() }
            // The failure applies to all waiting blocks.
            let error = failure as? Realm.Error ?? Realm.Error(.fail, "\(failure)")
            for write in asyncWrites.takeAll() { refuse(write, error) }
            // A failure closure may have enqueued another block.
            return requestLock()
        }
        guard !isInTransaction, let next = asyncWrites.takeNext() else {
            begun.cancel()
            return requestLock()
        }
        do {
            do { try checkVersionCount(holding: pin.pinned?.version) } catch {
                begun.cancel()
                throw error
            }
            do { try enter(begun) } catch { throw Realm.Error(error) }
        } catch {
            refuse(next, error as? Realm.Error ?? Realm.Error(.fail, "\(error)"))
            return requestLock()
        }
        next.block()
        // If the block did not commit, its changes are cancelled.
        if state.isOpen { cancel() }
        runGroup()
        if state.pending == nil { requestLock() }
    }

    /// Commits the block's transaction, with `grouping` together with the waiting blocks. Calls `onComplete` on the realm's executor when
    /// it is durable.
    func commitAsync(grouping: Bool = false, _ onComplete: ((Realm.Error?) -> Void)?) {
        let pending: PendingCommit?
        do {
            if grouping, try joinGroup(onComplete) { return }
            pending = try commitElsewhere()
        } catch {
            let failure = Carried(error as? Realm.Error)
            let done = Carried(onComplete)
            return onExecutor { done.value?(failure.value) }
        }
        guard let pending else { return onExecutor { onComplete?(nil) } }
        let completions = (pending.group?.completions ?? []) + (onComplete.map { [$0] } ?? [])
        let core = Carried(self), done = Carried(completions), keeper = executor.keeper
        asyncWrites.unreported += 1
        pending.whenDone {
            core.value.onExecutor(keeper) {
                core.value.finish(pending)
                core.value.asyncWrites.unreported -= 1
                for completion in done.value { completion(pending.error.map { Realm.Error($0) }) }
                core.value.requestLock()
            }
        }
    }
}
