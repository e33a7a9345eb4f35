#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Calls `body` once after so many seconds, on a thread of its own. If the system cannot create a thread, `body` is never called.
package func later(seconds: Double, _ body: @escaping @Sendable () -> Void) {
    SystemThread {
        var nap = timespec(tv_sec: Int(seconds), tv_nsec: Int((seconds - seconds.rounded(.down)) * 1e9))
        nanosleep(&nap, nil)
        body()
    }.detach()
}
