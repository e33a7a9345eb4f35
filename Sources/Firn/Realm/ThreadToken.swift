import FirnBytes
import Synchronization
#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Represents a running thread, which realms belong to. The system may reuse the number of a thread that has ended; the new thread has a
/// token of its own.
final class ThreadToken: Sendable {
    /// Unique among all tokens of this process.
    let serial: UInt64
    /// The value of `currentThread()` on this thread.
    let number: UInt
    private let over = Atomic<Bool>(false)
    private let realms: Mutex<[Held]> = Mutex([])

    // Used only on the token's own thread, when it ends.
    private struct Held {
        weak var core: RealmCore?
    }

    private static let serials = Atomic<UInt64>(0)

    private init() {
        serial = ThreadToken.serials.add(1, ordering: .relaxed).newValue
        number = currentThread()
    }

    /// The token of the calling thread.
    static var current: ThreadToken {
        if let held = pthread_getspecific(key) { return Unmanaged<ThreadToken>.fromOpaque(held).takeUnretainedValue() }
        let token = ThreadToken()
        trap(
            unless: pthread_setspecific(key, Unmanaged.passRetained(token).toOpaque()) == 0,
            "no memory for the thread-specific data of another thread")
        return token
    }

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        let failure = pthread_key_create(&key) { held in
            #if canImport(Darwin)
                Unmanaged<ThreadToken>.fromOpaque(held).takeRetainedValue().end()
            #else
                if let held { Unmanaged<ThreadToken>.fromOpaque(held).takeRetainedValue().end() }
            #endif
        }
        trap(unless: failure == 0, "cannot create the key of thread-specific data (error \(failure))")
        return key
    }()

    /// True after the thread has ended. A later thread with the same number is another one.
    var isOver: Bool { over.load(ordering: .acquiring) }

    /// True on this token's thread.
    var isCurrent: Bool { number == currentThread() && !isOver }

    /// Registers a realm whose fast paths are closed when the thread ends.
    func hold(_ core: RealmCore) {
        let core = Carried(core)
        realms.withLock { realms in
            realms.removeAll { $0.core == nil }
            realms.append(Held(core: core.value))
        }
    }

    private func end() {
        over.store(true, ordering: .releasing)
        let ended = realms.withLock { realms in
            defer { realms = [] }
            return Carried(realms)
        }
        for realm in ended.value { realm.core?.closeFastPaths() }
    }
}

extension RealmCore {
    /// Stops the fast paths: they must not use the number of a thread that has ended, which a later thread may get, and they do not check for
    /// a pending commit.
    func closeFastPaths() { setFastPaths(0) }

    /// Allows the fast paths again on the realm's thread.
    func openFastPaths() { setFastPaths(executor.thread) }

    private func setFastPaths(_ number: UInt) {
        thread = number
        for access in allAccesses { access.state.pointee.thread = number }
    }
}
