import Synchronization
#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Calls a closure repeatedly on a thread of its own until it is stopped, and then once more, to clean up.
package final class Ticker {
    private let isStopped = Flag()
    private let thread: SystemThread

    /// Calls `body` every `seconds`. Its argument is true in the last call. It is never called on two threads at the same time.
    package init(every seconds: Double, _ body: sending @escaping (_ isLast: Bool) -> Void) {
        let flag = isStopped, work = Work(body)
        thread = SystemThread {
            // Short pauses, so that `stop` returns soon.
            var waited = 0.0
            while !flag.value.load(ordering: .acquiring) {
                var nap = timespec(tv_sec: 0, tv_nsec: 5_000_000)
                nanosleep(&nap, nil)
                waited += 0.005
                if waited >= seconds {
                    waited = 0
                    work.body(false)
                }
            }
            work.body(true)
        }
    }

    /// Stops the ticker and returns after the last call. Further calls do nothing.
    package func stop() {
        isStopped.value.store(true, ordering: .releasing)
        thread.join()
    }

    deinit { stop() }

    private final class Flag: Sendable { let value = Atomic<Bool>(false) }
    /// Only the ticker's thread calls the body.
    private final class Work: @unchecked Sendable {
        let body: (Bool) -> Void
        init(_ body: @escaping (Bool) -> Void) { self.body = body }
    }
}
