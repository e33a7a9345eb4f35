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
enum Confinement {
    case thread(ThreadToken)
    case queue(DispatchQueue)
    case actor(ActorPlace)
    /// Frozen realms can be used anywhere.
    case none

    static let queueKey = DispatchSpecificKey<ObjectIdentifier>()

    static func on(_ queue: DispatchQueue?) -> Confinement {
        guard let queue else { return .thread(.current) }
        queue.setSpecific(key: queueKey, value: ObjectIdentifier(queue))
        return .queue(queue)
    }

    /// The thread that fast paths compare with; 0 if they must use `isHere`.
    var thread: UInt { if case .thread(let thread) = self, !thread.isOver { thread.number } else { 0 } }

    var isHere: Bool {
        switch self {
        case .thread(let thread): return thread.isCurrent
        case .queue(let queue): return DispatchQueue.getSpecific(key: Confinement.queueKey) == ObjectIdentifier(queue)
        case .actor(let home):
            guard let actor = home.actor else {
                preconditionFailure(
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
        guard !isHere else { return }
        switch self {
        case .queue(let queue):
            preconditionFailure(
                "Realm accessed from incorrect thread: it was opened for the queue \"\(queue.label)\". Use it there, or pass on a frozen copy."
            )
        default:
            preconditionFailure(
                "Realm accessed from incorrect thread: open another Realm on this thread, or pass on a frozen copy (freeze()) or a ThreadSafeReference."
            )
        }
    }

    /// Identifies the thread, queue or actor in the cache of open realms.
    var identity: String {
        switch self {
        case .thread(let thread): "thread \(thread.serial)"
        case .queue(let queue): "queue \(ObjectIdentifier(queue).hashValue)"
        case .actor(let home): "actor \(home.identifier.hashValue)"
        case .none: "frozen"
        }
    }
}

/// An actor that realms belong to. The reference is weak, because the actor usually keeps the realms.
final class ActorPlace: @unchecked Sendable {
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
struct PlaceKeeper: Sendable {
    var actor: (any Actor)?
}

extension Confinement {
    var keeper: PlaceKeeper { if case .actor(let home) = self { PlaceKeeper(actor: home.actor) } else { PlaceKeeper() } }

    /// True if the realm's actor was deallocated, so that the realm cannot be used any more.
    var isGone: Bool { if case .actor(let home) = self { home.actor == nil } else { false } }
}
