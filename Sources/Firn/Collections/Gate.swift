import Synchronization

/// One thread at a time: for what is made when it is first asked for, by whatever thread (frozen collections).
final class Gate: Sendable {
    private let mutex = Mutex(())

    func pass<R>(_ body: () -> R) -> R {
        // The body is done when `withLock` returns.
        nonisolated(unsafe) let body = body
        nonisolated(unsafe) var result: R?
        mutex.withLock { _ in result = body() }
        return result!
    }
}
