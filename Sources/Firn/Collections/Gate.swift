import Synchronization

/// A lock for state that is created on first use by any thread, as in frozen collections.
final class Gate: Sendable {
    private let mutex = Mutex(())

    func pass<R>(_ body: () -> R) -> R { mutex.withLock { _ in Carried(body()) }.value }
}
