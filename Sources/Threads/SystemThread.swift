#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The thread that runs.
package enum CurrentThread {
    /// A number that no other running thread has.
    package static var id: UInt {
        #if canImport(Glibc)
            UInt(pthread_self())
        #else
            UInt(bitPattern: pthread_self())
        #endif
    }
}

/// One system thread with a stack of 8 MiB, joined by `join` or on release.
package final class SystemThread: @unchecked Sendable {
    #if canImport(Glibc)
        private var handle = pthread_t()
    #else
        private var handle: pthread_t?
    #endif
    private var joined: Bool

    /// Whether the thread was created.
    package let isRunning: Bool

    /// Runs `body` on a new thread. `isRunning` is false if the system could not create it.
    package init(_ body: @escaping @Sendable () -> Void) {
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

    package func join() {
        guard !joined else { return }
        joined = true
        #if canImport(Glibc)
            pthread_join(handle, nil)
        #else
            pthread_join(handle!, nil)
        #endif
    }

    /// Detaches the thread: it ends by itself.
    package func detach() {
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
