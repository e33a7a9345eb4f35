import FirnBytes
import Dispatch
#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Returns a number that is unique among the running threads. A thread that has ended may have had the same number.
@inlinable
func currentThread() -> UInt {
    #if canImport(Darwin)
        UInt(bitPattern: pthread_self())
    #else
        UInt(pthread_self())
    #endif
}

/// Where a live realm, and everything that is read from it, may be used.
enum RealmExecutor {
    case thread(ThreadToken)
    /// The main executor: the main thread, and jobs of the main queue and the main actor on whatever thread they run.
    case main
    case queue(DispatchQueue)
    case actor(WeakActor)
    /// Frozen realms can be used anywhere.
    case none

    static let queueKey = DispatchSpecificKey<ObjectIdentifier>()

    static func on(_ queue: DispatchQueue?) -> RealmExecutor {
        guard let queue else { return MainExecutor.isCurrent ? .main : .thread(.current) }
        if MainExecutor.isMainQueue(queue) { return .main }
        queue.setSpecific(key: queueKey, value: ObjectIdentifier(queue))
        return .queue(queue)
    }

    static func on(_ actor: any Actor) -> RealmExecutor { actor === MainActor.shared ? .main : .actor(WeakActor(actor)) }

    /// The thread that fast paths compare with; 0 if they must use `isCurrent`.
    var thread: UInt {
        switch self {
        case .thread(let thread): thread.isOver ? 0 : thread.number
        case .main: MainExecutor.thread
        case .queue, .actor, .none: 0
        }
    }

    var isCurrent: Bool {
        switch self {
        case .thread(let thread): return thread.isCurrent
        case .main: return MainExecutor.isCurrent
        case .queue(let queue): return DispatchQueue.getSpecific(key: RealmExecutor.queueKey) == ObjectIdentifier(queue)
        case .actor(let home):
            guard let actor = home.actor else {
                trap(
                    "This realm belongs to an actor that was deallocated: pass on frozen copies, or open another realm where you need it")
            }
            // Traps with the executor's own message if the caller is on another one.
            actor.preconditionIsolated(
                "This realm belongs to an actor: use it, and everything read from it, on that actor only, or pass on a frozen copy")
            return true
        case .none: return true
        }
    }

    func check() {
        guard !isCurrent else { return }
        switch self {
        case .queue(let queue):
            trap(
                "Realm accessed from incorrect thread: it was opened for the queue \"\(queue.label)\". Use it there, or pass on a frozen copy."
            )
        case .main:
            trap(
                "Realm accessed from incorrect thread: open another Realm on this thread, or pass on a frozen copy (freeze()) or a ThreadSafeReference. This one belongs to the main thread, with the main queue and the main actor."
            )
        default:
            trap(
                "Realm accessed from incorrect thread: open another Realm on this thread, or pass on a frozen copy (freeze()) or a ThreadSafeReference."
            )
        }
    }

    /// Identifies the thread, queue or actor in the cache of open realms.
    var identity: String {
        switch self {
        case .thread(let thread): "thread \(thread.serial)"
        case .main: "main"
        case .queue(let queue): "queue \(ObjectIdentifier(queue).hashValue)"
        case .actor(let home): "actor \(home.identifier.hashValue)"
        case .none: "frozen"
        }
    }
}

/// An actor that realms belong to. The reference is weak, because the actor usually keeps the realms.
final class WeakActor: @unchecked Sendable {
    // Set only by the initializer, and to nil by the runtime.
    private(set) weak var actor: (any Actor)?
    /// The identifier of the actor. After the actor is deallocated, another one may have it.
    let identifier: ObjectIdentifier
    let kind: String

    init(_ actor: any Actor) {
        self.actor = actor
        identifier = ObjectIdentifier(actor)
        kind = "\(Swift.type(of: actor))"
    }
}

/// Keeps an actor alive while work is on its way to it.
struct ActorKeeper: Sendable {
    var actor: (any Actor)?
}

extension RealmExecutor {
    var keeper: ActorKeeper { if case .actor(let home) = self { ActorKeeper(actor: home.actor) } else { ActorKeeper() } }

    /// True if the realm's actor was deallocated, so that the realm cannot be used any more.
    var isGone: Bool { if case .actor(let home) = self { home.actor == nil } else { false } }
}
