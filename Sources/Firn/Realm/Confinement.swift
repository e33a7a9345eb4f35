import Dispatch
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A number that no other running thread has; one that has ended may have had it.
@inlinable
func currentThread() -> UInt {
    #if canImport(Darwin)
    UInt(bitPattern: pthread_self())
    #else
    UInt(pthread_self())
    #endif
}

/// Where a live realm and all that is read from it may be used.
enum Confinement {
    case thread(ThreadToken)
    case queue(DispatchQueue)
    case actor(ActorPlace)
    /// Frozen: anywhere.
    case none

    static let queueKey = DispatchSpecificKey<ObjectIdentifier>()

    static func on(_ queue: DispatchQueue?) -> Confinement {
        guard let queue else { return .thread(.current) }
        queue.setSpecific(key: queueKey, value: ObjectIdentifier(queue))
        return .queue(queue)
    }

    /// The thread that fast paths compare with; 0: they ask `isHere`.
    var thread: UInt { if case .thread(let thread) = self, !thread.isOver { thread.number } else { 0 } }

    var isHere: Bool {
        switch self {
        case .thread(let thread): return thread.isCurrent
        case .queue(let queue): return DispatchQueue.getSpecific(key: Confinement.queueKey) == ObjectIdentifier(queue)
        case .actor(let home):
            guard let actor = home.actor else { preconditionFailure("This realm belongs to an actor that is gone: hand over frozen copies, or open a realm where it is used") }
            // Traps with the executor's own message where it is not.
            actor.preconditionIsolated("This realm belongs to an actor: use it, and what was read from it, on that actor only, or hand over a frozen copy")
            return true
        case .none: return true
        }
    }

    func check() {
        guard !isHere else { return }
        switch self {
        case .queue(let queue):
            preconditionFailure("Realm accessed from incorrect thread: it was opened for the queue '\(queue.label)'. Use it there, or hand over a frozen copy.")
        default:
            preconditionFailure("Realm accessed from incorrect thread: open another Realm on this thread, or hand over a frozen copy (freeze()) or a ThreadSafeReference.")
        }
    }

    /// The same place, for the cache of open realms.
    var identity: String {
        switch self {
        case .thread(let thread): "thread \(thread.serial)"
        case .queue(let queue): "queue \(ObjectIdentifier(queue).hashValue)"
        case .actor(let home): "actor \(home.identifier.hashValue)"
        case .none: "frozen"
        }
    }
}

/// An actor that realms belong to, and that is not theirs to keep: mostly it is the actor that keeps them.
final class ActorPlace: @unchecked Sendable {
    // Set here, and to nil by the system.
    private(set) weak var actor: (any Actor)?
    /// Of the actor; of another one, perhaps, once it is gone.
    let identifier: ObjectIdentifier
    let kind: String

    init(_ actor: any Actor) {
        self.actor = actor
        identifier = ObjectIdentifier(actor)
        kind = "\(Swift.type(of: actor))"
    }
}

/// Keeps an actor while something is under way to it.
struct PlaceKeeper: Sendable {
    var actor: (any Actor)?
}

extension Confinement {
    var keeper: PlaceKeeper { if case .actor(let home) = self { PlaceKeeper(actor: home.actor) } else { PlaceKeeper() } }

    /// Nobody can use what belongs there any more.
    var isGone: Bool { if case .actor(let home) = self { home.actor == nil } else { false } }
}
