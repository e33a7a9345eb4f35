#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Calls `body` once, on a thread of its own, after so many seconds; never, if the system has no thread to give.
package func later(seconds: Double, _ body: @escaping @Sendable () -> Void) {
    Thread {
        var nap = timespec(tv_sec: Int(seconds), tv_nsec: Int((seconds - seconds.rounded(.down)) * 1e9))
        nanosleep(&nap, nil)
        body()
    }.detach()
}
