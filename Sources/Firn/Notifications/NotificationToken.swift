import Synchronization

/// Keeps an observation active: notifications end when the token is released or invalidated. The token also keeps the observed realm open.
public final class NotificationToken: Sendable {
    let subscription: Subscription

    init(_ subscription: Subscription) { self.subscription = subscription }

    deinit { _ = subscription.end() }

    /// Ends the notifications, from any thread. A call of the block that is in progress completes; no other follows. Returns false if they
    /// had ended before.
    @discardableResult
    public func invalidate() -> Bool { subscription.end() }
}

extension NotificationToken: Hashable {
    /// Returns whether both are the same token.
    public static func == (a: NotificationToken, b: NotificationToken) -> Bool { a === b }

    /// Hashes the identity of the token.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// The state that a token and its observer share. It retains the observer, which belongs to the realm's thread, queue or actor, wherever
/// the token is.
final class Subscription: Sendable {
    private struct State {
        var observer: Carried<Observer>?
        var isOver = false
    }
    private let state: Mutex<State> = Mutex(State())

    var isOver: Bool { state.withLock { $0.isOver } }

    /// Retains the observer. Returns false if the token was invalidated already.
    func hold(_ observer: Observer) -> Bool {
        let observer = Carried(observer)
        return state.withLock { state in
            if state.isOver { return false }
            state.observer = observer
            return true
        }
    }

    func end() -> Bool {
        // Released after the lock, because releasing the observer can release a whole realm.
        let (wasOver, observer) = state.withLock { state in
            defer { state = State(observer: nil, isOver: true) }
            return (state.isOver, state.observer)
        }
        _ = observer
        return !wasOver
    }

    /// Returns whether the token observes this realm, or nothing any more.
    func concerns(_ core: RealmCore) -> Bool { state.withLock { $0.isOver || $0.observer?.value.core === core } }

    /// Returns whether this is the token's observer.
    func holds(_ observer: Observer) -> Bool { state.withLock { $0.observer?.value === observer } }
}
