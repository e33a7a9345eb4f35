import FirnBytes
import FirnDatabase
import Synchronization

/// A wait for the write lock outside of the realm's executor. If the realm begins a transaction itself before the answer arrives, it uses
/// this request's transaction.
final class LockRequest: Sendable {
    private struct State {
        var begun: Carried<DatabaseTransaction>?
        var isOver = false
        var answer: Result<Void, any Error>?
        var onAnswer: (@Sendable (Result<Void, any Error>) -> Void)?
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

    /// Waits in the writer queue until it has the lock or the request ends, and then calls `answered` once, on any thread. It occupies no
    /// thread of Swift's task pool, because all of those may be waiting.
    func ask(_ answered: @escaping @Sendable (Result<Void, any Error>) -> Void) {
        let answer = state.withLock { state in
            if state.answer == nil { state.onAnswer = answered }
            return state.answer
        }
        if let answer { return answered(answer) }
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
        do {
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
        let onAnswer = state.withLock { state in
            if state.answer == nil { state.answer = result }
            defer { state.onAnswer = nil }
            return state.onAnswer
        }
        onAnswer?(result)
    }
}
