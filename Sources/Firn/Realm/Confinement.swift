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
    case actor(any Actor)
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
        case .actor(let actor):
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
        case .actor(let actor): "actor \(ObjectIdentifier(actor).hashValue)"
        case .none: "frozen"
        }
    }
}
