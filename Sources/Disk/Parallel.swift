import Synchronization
#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// One system thread with a stack of 8 MiB, joined by `join` or on release.
final class Thread: @unchecked Sendable {
    #if canImport(Glibc)
        private var handle = pthread_t()
    #else
        private var handle: pthread_t?
    #endif
    private var joined: Bool

    /// Whether the thread was created.
    let isRunning: Bool

    /// Runs `body` on a new thread. `isRunning` is false if the system could not create it.
    init(_ body: @escaping @Sendable () -> Void) {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        pthread_attr_setstacksize(&attributes, 8 << 20)
        defer { pthread_attr_destroy(&attributes) }
        let box = Unmanaged.passRetained(Body(body))
        let code = pthread_create(
            &handle, &attributes,
            { argument in
                #if canImport(Glibc)
                    Unmanaged<Body>.fromOpaque(argument!).takeRetainedValue().run()
                #else
                    Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run()
                #endif
                return nil
            }, box.toOpaque())
        isRunning = code == 0
        joined = code != 0
        if code != 0 { box.release() }
    }

    func join() {
        guard !joined else { return }
        joined = true
        #if canImport(Glibc)
            pthread_join(handle, nil)
        #else
            pthread_join(handle!, nil)
        #endif
    }

    /// Detaches the thread: it ends by itself.
    func detach() {
        guard !joined else { return }
        joined = true
        #if canImport(Glibc)
            pthread_detach(handle)
        #else
            pthread_detach(handle!)
        #endif
    }

    deinit { join() }

    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }
}

/// Runs `body` for 0 ..< `count` on up to `threads` threads, including the calling one, and returns when all have ended. Numbers are taken
/// in ascending order. After an error no new ones are started, and the error of the lowest number is thrown.
package func parallel<E: Error>(count: Int, threads: Int = Machine.cores, _ body: @Sendable (Int) throws(E) -> Void) throws(E) {
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
        let others = (1..<min(threads, count)).map { _ in Thread(run) }
        run()
        for thread in others { thread.join() }
    }
    if let failed = state.failure.withLock({ $0 }) { throw failed.error }
}

/// Returns the results of `body` for 0 ..< `count`, in this order, computed as by `parallel`.
package func parallelMap<R: Sendable, E: Error>(
    count: Int, threads: Int = Machine.cores, _ body: @Sendable (Int) throws(E) -> R
) throws(E) -> [R] {
    let results = UnsafeMutablePointer<R?>.allocate(capacity: max(count, 1))
    results.initialize(repeating: nil, count: count)
    defer {
        results.deinitialize(count: count)
        results.deallocate()
    }
    nonisolated(unsafe) let slots = results  // every index is written by one thread, and read after all are joined
    try parallel(count: count, threads: threads) { (index) throws(E) in slots[index] = try body(index) }
    return (0..<max(count, 0)).map { results[$0]! }
}

private final class SharedWork<E: Error>: Sendable {
    let next = Atomic<Int>(0)
    let failure = Mutex<(index: Int, error: E)?>(nil)
}
