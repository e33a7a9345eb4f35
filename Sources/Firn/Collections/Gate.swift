import Synchronization

/// A lock for state that is created on first use by any thread, as in frozen collections.
final class Gate: Sendable {
    private let mutex = Mutex(())

    func pass<R>(_ body: () -> R) -> R {
        // `body` does not escape: it has returned when `withLock` returns.
        nonisolated(unsafe) let body = body
        nonisolated(unsafe) var result: R?
        mutex.withLock { _ in result = body() }
        return result!
    }
}
