import FirnBytes
import FirnThreads

/// Runs a function that passes on batches, or texts, on a thread of its own, a few of them ahead of the consumer. On release, the function is
/// stopped at its next batch.
final class BatchPipe<Element: Sendable> {
    private let state = State()
    private let thread: SystemThread
    private let stop: () -> Void

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

    /// `body` calls the function that it receives for each batch, and stops when that returns false. `stop` makes it end sooner.
    init(_ body: @escaping @Sendable ((Element) -> Bool) throws(FirnError) -> Void, stop: @escaping () -> Void = {}) {
        self.stop = stop
        let state = state
        thread = SystemThread {
            do throws(FirnError) {
                try body { state.put($0) }
                state.end(nil)
            } catch { state.end(error) }
        }
        if !thread.isRunning { state.end(FirnError(.outOfMemory, "the system cannot start a thread")) }
    }

    /// Returns the next batch; nil at the end. While it waits, it calls `check` from time to time, whose error it throws.
    func next(_ check: () throws(FirnError) -> Void = CInterrupt.check) throws(FirnError) -> Element? {
        while true {
            if let found = try part() { return found.batch }
            try check()
        }
    }

    /// Returns what there is after a short time at most: a batch, or the end, which has none.
    private func part() throws(FirnError) -> (batch: Element?, Void)? {
        try state.lock.withLock { () throws(FirnError) in
            if state.batches.isEmpty, !state.isDone { state.lock.wait(seconds: CInterrupt.interval) }
            if !state.batches.isEmpty {
                state.lock.wakeAll()
                return (state.batches.removeFirst(), ())
            }
            if let failure = state.failure { throw failure }
            return state.isDone ? (nil, ()) : nil
        }
    }

    /// The seconds that a consumer which releases the pipe waits for the thread. It ends by itself otherwise.
    private static var patience: Double { 0.2 }

    deinit {
        stop()
        state.lock.withLock {
            state.isStopped = true
            state.lock.wakeAll()
        }
        state.lock.withLock { if !state.isDone { state.lock.wait(seconds: BatchPipe.patience) } }
        // What the function uses, it keeps itself.
        if state.lock.withLock({ state.isDone }) { thread.join() } else { thread.detach() }
    }
}
