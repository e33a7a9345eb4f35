import Synchronization

/// Runs `body` for 0 ..< `count` on up to `threads` threads, including the calling one, and returns when all have ended. Numbers are taken
/// in ascending order. After an error no new ones are started, and the error of the lowest number is thrown.
package func parallel<E: Error>(count: Int, threads: Int = Processors.count, _ body: @Sendable (Int) throws(E) -> Void) throws(E) {
    if count <= 1 || threads <= 1 {
        for index in 0..<max(count, 0) { try body(index) }
        return
    }
    let state = SharedWork<E>()
    // The threads are joined before this function returns, so the closure does not escape it.
    withoutActuallyEscaping(body) { body in
        let run: @Sendable () -> Void = {
            while true {
                let index = state.next.wrappingAdd(1, ordering: .relaxed).oldValue
                if index >= count { return }
                do throws(E) {
                    try body(index)
                } catch {
                    state.next.store(count, ordering: .relaxed)
                    state.failure.withLock { if $0 == nil || $0!.index > index { $0 = (index, error) } }
                }
            }
        }
        let others = (1..<min(threads, count)).map { _ in SystemThread(run) }
        run()
        for thread in others { thread.join() }
    }
    if let failed = state.failure.withLock({ $0 }) { throw failed.error }
}

/// Returns the results of `body` for 0 ..< `count`, in this order, computed as by `parallel`.
package func parallelMap<R, E: Error>(
    count: Int, threads: Int = Processors.count, _ body: @Sendable (Int) throws(E) -> R
) throws(E) -> [R] {
    let results = Slots<R>(count: count)
    try parallel(count: count, threads: threads) { (index) throws(E) in results[index] = try body(index) }
    return (0..<results.count).map { results[$0]! }
}

private final class SharedWork<E: Error>: Sendable {
    let next = Atomic<Int>(0)
    let failure = Mutex<(index: Int, error: E)?>(nil)
}
