import Synchronization
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A thread while it runs: what the realms of a thread belong to. The system gives the number of a thread that has ended to a later one; that one has a
/// token of its own.
final class ThreadToken: Sendable {
    /// No other token of this process has it.
    let serial: UInt64
    /// What `currentThread()` gives there.
    let number: UInt
    private let over = Atomic<Bool>(false)
    private let realms: Mutex<[Held]> = Mutex([])

    // Looked at on the token's own thread, when that ends.
    private struct Held: @unchecked Sendable {
        weak var core: RealmCore?
    }

    private static let serials = Atomic<UInt64>(0)

    private init() {
        serial = ThreadToken.serials.add(1, ordering: .relaxed).newValue
        number = currentThread()
    }

    /// That of the thread that asks.
    static var current: ThreadToken {
        if let held = pthread_getspecific(key) { return Unmanaged<ThreadToken>.fromOpaque(held).takeUnretainedValue() }
        let token = ThreadToken()
        precondition(pthread_setspecific(key, Unmanaged.passRetained(token).toOpaque()) == 0, "no memory for another thread")
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
        precondition(failure == 0, "the program has no place left for what belongs to threads (\(failure))")
        return key
    }()

    /// The thread has ended: whatever comes after it is another one.
    var isOver: Bool { over.load(ordering: .acquiring) }

    /// The thread that asks is this one.
    var isCurrent: Bool { number == currentThread() && !isOver }

    /// The realm is told when the thread ends.
    func hold(_ core: RealmCore) {
        let held = Held(core: core)
        realms.withLock { realms in
            realms.removeAll { $0.core == nil }
            realms.append(held)
        }
    }

    private func end() {
        over.store(true, ordering: .releasing)
        let realms = realms.withLock { realms in
            defer { realms = [] }
            return realms
        }
        for realm in realms { realm.core?.closeFastPaths() }
    }
}

extension RealmCore {
    /// The thread has ended: a later one may have its number, by which fast paths know it.
    func closeFastPaths() {
        thread = 0
        for access in allAccesses { access.state.pointee.thread = 0 }
    }
}
