import Synchronization

/// Keeps an observation going: notifications come while the token is held, and end when it is let go of or invalidated. It also keeps the realm that is
/// observed open.
public final class NotificationToken: Sendable {
    let subscription: Subscription

    init(_ subscription: Subscription) { self.subscription = subscription }

    deinit { _ = subscription.end() }

    /// Ends the notifications, from any thread: the block is not called again, except where it is being called right now. True if there were any to end.
    @discardableResult
    public func invalidate() -> Bool { subscription.end() }
}

/// What a token and its observer share. Holds the observer, which belongs to the place of its realm, wherever the token is.
final class Subscription: Sendable {
    private struct State {
        var observer: Carried<Observer>?
        var isOver = false
    }
    private let state: Mutex<State> = Mutex(State())

    var isOver: Bool { state.withLock { $0.isOver } }

    /// False: the token is gone already.
    func hold(_ observer: Observer) -> Bool {
        let observer = Carried(observer)
        return state.withLock { state in
            if state.isOver { return false }
            state.observer = observer
            return true
        }
    }

    func end() -> Bool {
        // Released after the lock: what goes with the observer may be a whole realm.
        let (wasOver, observer) = state.withLock { state in
            defer { state = State(observer: nil, isOver: true) }
            return (state.isOver, state.observer)
        }
        _ = observer
        return !wasOver
    }

    /// True if this one is the token's observer.
    func holds(_ observer: Observer) -> Bool { state.withLock { $0.observer?.value === observer } }
}
