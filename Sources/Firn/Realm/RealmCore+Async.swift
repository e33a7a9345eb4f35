import Dispatch
import FirnBytes
import FirnDatabase
import Foundation
import Synchronization

/// Identifies an asynchronous write of a realm.
public typealias AsyncTransactionId = UInt32

/// A value, such as a transaction, on its way from one thread to the thread, queue or actor that uses it.
struct Carried<T>: @unchecked Sendable {
    let value: T
    init(_ value: T) { self.value = value }
}

/// A wait for the write lock outside of the realm's executor. If the realm begins a transaction itself before the answer arrives, it uses
/// this request's transaction.
final class LockRequest: Sendable {
    private struct State {
        var begun: Carried<DatabaseTransaction>?
        var isOver = false
        var answer: Result<Void, any Error>?
        var whoAsked: (@Sendable (Result<Void, any Error>) -> Void)?
    }
    private let file: RealmFile
    private let state: Mutex<State> = Mutex(State())

    init(_ file: RealmFile) { self.file = file }

    /// Ends the request, and returns its transaction if it has one.
    func take() -> DatabaseTransaction? {
        let taken = state.withLock { state in
            defer {
                state.begun = nil
                state.isOver = true
            }
            return state.begun
        }
        answer(.success(()))
        // The request may be ahead of the caller in the writer queue.
        if taken == nil { file.database.wakeWaiting() }
        return taken?.value
    }

    var isOver: Bool { state.withLock { $0.isOver } }

    /// Waits in the writer queue until it has the lock or the request ends, and then calls `told` once, on any thread. It occupies no
    /// thread of Swift's task pool, because all of those may be waiting.
    func ask(_ told: @escaping @Sendable (Result<Void, any Error>) -> Void) {
        let answer = state.withLock { state in
            if state.answer == nil { state.whoAsked = told }
            return state.answer
        }
        if let answer { return told(answer) }
        file.waiters.async { self.obtain() }
    }

    /// As `ask`, for a task. Throws `CancellationError` if the task is cancelled.
    func wait() async throws {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiter in ask { waiter.resume(with: $0) } }
        } onCancel: {
            answer(.failure(CancellationError()))
            state.withLock { $0.isOver = true }
            file.database.wakeWaiting()
        }
    }

    private func obtain() {
        do throws(FirnError) {
            let begun = Carried(try file.database.begin(wait: .asLongAs { !self.isOver }))
            let isWanted = state.withLock { state in
                if !state.isOver { state.begun = begun }
                return !state.isOver
            }
            // The request ended in the meantime.
            if !isWanted { begun.value.cancel() }
        } catch {
            if !isOver { return answer(.failure(Realm.Error(error))) }
        }
        answer(.success(()))
    }

    private func answer(_ result: Result<Void, any Error>) {
        let whoAsked = state.withLock { state in
            if state.answer == nil { state.answer = result }
            defer { state.whoAsked = nil }
            return state.whoAsked
        }
        whoAsked?(result)
    }
}

/// A commit that is being made durable outside of the realm's executor.
final class PendingCommit: @unchecked Sendable {
    private let transaction: DatabaseTransaction
    private let group = DispatchGroup()
    /// Valid after `wait`.
    private(set) var error: FirnError?

    init(_ transaction: DatabaseTransaction, _ durability: Realm.Durability) {
        self.transaction = transaction
        let durability = durability.ofCommits
        // Started here, so that it never depends on the thread that waits for it.
        DispatchQueue.global().async(group: group) {
            do throws(FirnError) { _ = try self.transaction.commit(durability: durability) } catch { self.error = error }
        }
    }

    func wait() { group.wait() }

    func whenDone(_ body: @escaping @Sendable () -> Void) { group.notify(queue: .global(), execute: body) }

    /// Waits without blocking a thread.
    func done() async {
        await withCheckedContinuation { continuation in whenDone { continuation.resume() } }
    }
}

/// A block that is waiting for its transaction.
struct AsyncWrite {
    var id: AsyncTransactionId
    var block: () -> Void
    /// Called instead of `block`, on the realm's executor, if no transaction could begin; nil if the caller gave no closure.
    var failed: ((Realm.Error) -> Void)?
}

extension RealmCore {
    /// Returns the transaction that an asynchronous write was granted and that the realm has not entered yet, or nil.
    func stolenTransaction() -> DatabaseTransaction? {
        for request in lockRequests {
            if let begun = request.take() {
                lockRequests.removeAll { $0.isOver }
                return begun
            }
        }
        lockRequests = []
        return nil
    }

    /// Schedules `body` on the realm's executor. `keeper` keeps its actor alive, if the caller has one.
    func atPlace(_ keeper: PlaceKeeper = PlaceKeeper(), _ body: @escaping () -> Void) {
        let body = Carried(body)
        switch place {
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
        confinement.check()
        trap(unless: !isFrozen, RealmMessage.frozen)
        trap(unless: !configuration.readOnly, "Can't perform transactions on read-only Realms.")
        if case .thread = place {
            trap(
                "Asynchronous writes need a realm of a queue, an actor or the main thread: open it with queue: or on an actor.")
        }
    }

    // MARK: Blocks that wait

    func enqueue(_ block: @escaping () -> Void, failed: ((Realm.Error) -> Void)?) -> AsyncTransactionId {
        let id = nextAsyncID
        nextAsyncID &+= 1
        asyncWrites.append(AsyncWrite(id: id, block: block, failed: failed))
        if asyncWrites.count == 1 { requestLock() }
        return id
    }

    /// Requests the lock for the first block in the queue.
    func requestLock() {
        guard !asyncWrites.isEmpty else { return }
        let request = LockRequest(file), core = Carried(self), keeper = place.keeper
        lockRequests.append(request)
        request.ask { answer in
            // `ask` may answer on the realm's executor while the realm takes the transaction, so the answer is delivered asynchronously.
            DispatchQueue.global().async {
                core.value.atPlace(keeper) {
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
        if let pendingCommit { finish(pendingCommit) }
        lockRequests.removeAll { $0 === request }
        guard let begun = request.take() else {
            // The realm took the transaction itself. The blocks run after that.
            guard let failure else { return requestLock() }
            // The failure applies to all waiting blocks.
            let waiting = asyncWrites, error = failure as? Realm.Error ?? Realm.Error(.fail, "\(failure)")
            asyncWrites = []
            for write in waiting { refuse(write, error) }
            // A failure closure may have enqueued another block.
            return requestLock()
        }
        guard !asyncWrites.isEmpty, !isInTransaction else {
            begun.cancel()
            return requestLock()
        }
        let next = asyncWrites.removeFirst()
        do {
            do { try checkVersionCount(holding: pinnedVersion) } catch {
                begun.cancel()
                throw error
            }
            do throws(FirnError) { try enter(begun) } catch { throw Realm.Error(error) }
        } catch {
            refuse(next, error as? Realm.Error ?? Realm.Error(.fail, "\(error)"))
            return requestLock()
        }
        next.block()
        // If the block did not commit, its changes are cancelled.
        if isInTransaction, pendingCommit == nil { cancel() }
        runGroup()
        if pendingCommit == nil { requestLock() }
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
            return atPlace { done.value?(failure.value) }
        }
        guard let pending else { return atPlace { onComplete?(nil) } }
        let core = Carried(self), done = Carried(takeCompletions() + (onComplete.map { [$0] } ?? [])), keeper = place.keeper
        untold += 1
        pending.whenDone {
            core.value.atPlace(keeper) {
                core.value.finish(pending)
                core.value.untold -= 1
                for completion in done.value { completion(pending.error.map { Realm.Error($0) }) }
                core.value.requestLock()
            }
        }
    }
}
