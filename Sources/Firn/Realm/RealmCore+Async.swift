import Dispatch
import FirnBytes
import FirnModel
import Foundation
import Synchronization

/// Names an asynchronous write of a realm.
public typealias AsyncTransactionId = UInt32

/// A transaction on its way from the thread that waited for the write lock to the realm.
struct Carried<T>: @unchecked Sendable {
    let value: T
    init(_ value: T) { self.value = value }
}

/// Somebody waits for the write lock away from the realm's place. If the realm itself begins a transaction before the news arrives, it takes that one.
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

    /// The transaction, if it is there; either way the request is over.
    func take() -> DatabaseTransaction? {
        let taken = state.withLock { state in
            defer {
                state.begun = nil
                state.isOver = true
            }
            return state.begun
        }
        answer(.success(()))
        // It may stand in line before who asks.
        if taken == nil { file.database.wakeWaiting() }
        return taken?.value
    }

    var isOver: Bool { state.withLock { $0.isOver } }

    /// Stands in line for the lock until it is there or the request is over, and tells that, once, on any thread. No thread of a task is needed for it: all of them may be waiting.
    func ask(_ told: @escaping @Sendable (Result<Void, any Error>) -> Void) {
        let answer = state.withLock { state in
            if state.answer == nil { state.whoAsked = told }
            return state.answer
        }
        if let answer { return told(answer) }
        file.waiters.async { self.obtain() }
    }

    /// The same for a task. Throws `CancellationError` if it is cancelled.
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
            // Nobody wants it any more.
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

/// A commit that is being made durable away from its realm.
final class PendingCommit: @unchecked Sendable {
    private let transaction: DatabaseTransaction
    private let group = DispatchGroup()
    /// After `wait`.
    private(set) var error: FirnError?

    init(_ transaction: DatabaseTransaction, _ durability: Realm.Durability) {
        self.transaction = transaction
        let durability = durability.ofCommits
        // Begun here: whoever waits for it must not be who begins it.
        DispatchQueue.global().async(group: group) {
            do throws(FirnError) { _ = try self.transaction.commit(durability: durability) } catch { self.error = error }
        }
    }

    func wait() { group.wait() }

    func whenDone(_ body: @escaping @Sendable () -> Void) { group.notify(queue: .global(), execute: body) }

    /// Without keeping a thread waiting.
    func done() async {
        await withCheckedContinuation { continuation in whenDone { continuation.resume() } }
    }
}

/// A block that waits for its transaction.
struct AsyncWrite {
    var id: AsyncTransactionId
    var block: () -> Void
    /// Called instead, at the realm's place, where no transaction could begin; nil: nobody asked to be told.
    var failed: ((Realm.Error) -> Void)?
}

extension RealmCore {
    /// What an asynchronous write has received from the lock while the realm was busy elsewhere.
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

    /// Runs `body` at the realm's place, soon. `keeper`: the place's, where whoever calls has held it.
    func atPlace(_ keeper: PlaceKeeper = PlaceKeeper(), _ body: @escaping () -> Void) {
        let body = Carried(body)
        switch place {
        case .queue(let queue): queue.async { body.value() }
        case .actor(let home):
            // Where the actor is gone nobody is there to be told.
            guard let actor = keeper.actor ?? home.actor else { return }
            Task { await RealmCore.run(body, on: actor) }
        case .thread: DispatchQueue.main.async { body.value() }
        case .none: body.value()
        }
    }

    private static func run(_ body: Carried<() -> Void>, on actor: isolated any Actor) { body.value() }

    /// Where asynchronous writes can be delivered.
    func checkDelivery() {
        confinement.check()
        precondition(!isFrozen, RealmMessage.frozen)
        precondition(!configuration.readOnly, "Can't perform transactions on read-only Realms.")
        if case .thread = place {
            precondition(Thread.isMainThread, "Asynchronous writes need a realm of a queue, an actor or the main thread: open it with queue: or on an actor.")
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

    /// Asks for the lock for the first block that waits.
    func requestLock() {
        guard !asyncWrites.isEmpty else { return }
        let request = LockRequest(file), core = Carried(self), keeper = place.keeper
        lockRequests.append(request)
        request.ask { answer in
            // The answer may come while the realm takes the transaction, at its place.
            DispatchQueue.global().async {
                core.value.atPlace(keeper) {
                    if case .failure(let failure) = answer { core.value.granted(request, failure) } else { core.value.granted(request, nil) }
                }
            }
        }
    }

    /// Tells whoever asked for a block that it will not be called.
    private func refuse(_ write: AsyncWrite, _ error: Realm.Error) {
        if let failed = write.failed { return failed(error) }
        // Of what may be better next time nobody need know in all eternity.
        if error.code != .tooManyVersions { note(error.cause ?? FirnError(.inputOutput, error.message)) }
    }

    private func granted(_ request: LockRequest, _ failure: (any Error)?) {
        if let pendingCommit { finish(pendingCommit) }
        lockRequests.removeAll { $0 === request }
        guard let begun = request.take() else {
            // A transaction of the realm itself took it: the blocks' turn is after that.
            guard let failure else { return requestLock() }
            // What keeps one from writing keeps all.
            let waiting = asyncWrites, error = failure as? Realm.Error ?? Realm.Error(.fail, "\(failure)")
            asyncWrites = []
            for write in waiting { refuse(write, error) }
            // Whoever was told may have asked for another.
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
        // A block that did not commit has given up its changes.
        if isInTransaction, pendingCommit == nil { cancel() }
        runGroup()
        if pendingCommit == nil { requestLock() }
    }

    /// Commits the block's transaction; `onComplete` is called at the realm's place when it is durable. `grouping`: together with the blocks that wait.
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
