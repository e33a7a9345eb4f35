import FirnBytes
import FirnThreads

/// Runs a function that passes on batches, or texts, on a thread of its own, a few of them ahead of the consumer. On release, the function is stopped
/// at its next batch, and waited for.
final class BatchPipe<Element: Sendable> {
    private let state = State()
    private let thread: SystemThread

    private static var maximumAhead: Int { 2 }

    private final class State: @unchecked Sendable {
        let lock = Lock()
        var batches: [Element] = []
        var isDone = false, isStopped = false
        var failure: FirnError?

        /// Waits until there is room. Returns false if no more batches are wanted.
        func put(_ batch: Element) -> Bool {
            lock.withLock {
                while batches.count >= BatchPipe.maximumAhead, !isStopped { lock.wait() }
                if !isStopped { batches.append(batch) }
                lock.wakeAll()
                return !isStopped
            }
        }

        func end(_ error: FirnError?) {
            lock.withLock {
                isDone = true
                failure = error
                lock.wakeAll()
            }
        }
    }

    /// `body` calls the function that it receives for each batch, and stops when that returns false.
    init(_ body: @escaping @Sendable ((Element) -> Bool) throws(FirnError) -> Void) {
        let state = state
        thread = SystemThread {
            do throws(FirnError) {
                try body { state.put($0) }
                state.end(nil)
            } catch { state.end(error) }
        }
        if !thread.isRunning { state.end(FirnError(.outOfMemory, "the system cannot start a thread")) }
    }

    /// Returns the next batch; nil at the end.
    func next() throws(FirnError) -> Element? {
        try state.lock.withLock { () throws(FirnError) in
            while state.batches.isEmpty, !state.isDone { state.lock.wait() }
            if !state.batches.isEmpty {
                state.lock.wakeAll()
                return state.batches.removeFirst()
            }
            if let failure = state.failure { throw failure }
            return nil
        }
    }

    deinit {
        state.lock.withLock {
            state.isStopped = true
            state.lock.wakeAll()
        }
        thread.join()
    }
}
