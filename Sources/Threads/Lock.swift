#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A mutual exclusion lock with a condition that threads can wait for. It is not recursive.
package final class Lock: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    package init() {
        pthread_mutex_init(mutex, nil)
        #if os(macOS)
            pthread_cond_init(condition, nil)
        #else
            // With the monotonic clock, setting the system's clock does not make waits longer.
            var attributes = pthread_condattr_t()
            pthread_condattr_init(&attributes)
            pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
            pthread_cond_init(condition, &attributes)
            pthread_condattr_destroy(&attributes)
        #endif
    }

    deinit {
        pthread_mutex_destroy(mutex)
        pthread_cond_destroy(condition)
        mutex.deallocate()
        condition.deallocate()
    }

    /// Runs `body` while it holds the lock.
    package func withLock<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body()
    }

    /// Releases the lock, which the caller holds, until `wakeAll`, and takes it again. It can also return without cause.
    package func wait() { pthread_cond_wait(condition, mutex) }

    /// Like `wait`, for at most so many seconds.
    package func wait(seconds: Double) {
        #if os(macOS)
            var time = timespec(tv_sec: Int(seconds), tv_nsec: Int((seconds - seconds.rounded(.down)) * 1e9))
            pthread_cond_timedwait_relative_np(condition, mutex, &time)
        #else
            var time = timespec()
            clock_gettime(CLOCK_MONOTONIC, &time)
            let end = Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9 + seconds
            time = timespec(tv_sec: Int(end), tv_nsec: Int((end - end.rounded(.down)) * 1e9))
            pthread_cond_timedwait(condition, mutex, &time)
        #endif
    }

    /// Wakes all waiting threads.
    package func wakeAll() { pthread_cond_broadcast(condition) }
}
