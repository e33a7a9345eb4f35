import Dispatch
import FirnModel

extension Observed {
    /// Throws where nothing can be observed.
    func check(_ keyPaths: [String]?) throws {
        core.confinement.check()
        if core.isFrozen { throw Realm.Error(.invalidInput, "Frozen Realms do not change and do not have change notifications.") }
        if core.configuration.readOnly { throw Realm.Error(.invalidInput, "Read-only Realms do not change and do not have change notifications: open the file for writing to observe it.") }
        if core.isInTransaction, core.hasChanges {
            throw Realm.Error(.invalidInput, "Cannot create asynchronous query after making changes in a write transaction. Observe before the first change, or after the commit.")
        }
        _ = try filter(keyPaths)
    }

    /// Notifications at the place of the realm, or on a queue, where the same is observed in a realm of that queue.
    func observe(_ keyPaths: [String]?, on queue: DispatchQueue?, _ tell: @escaping (Self, Difference?) -> Void) throws -> NotificationToken {
        try check(keyPaths)
        let subscription = Subscription()
        guard let queue, !core.confinement.isQueue(queue) else {
            try attach(subscription, keyPaths, isReady: { true }, tell)
            return NotificationToken(subscription)
        }
        let departure = try Departure(self, subscription, keyPaths, tell)
        let arrive: () -> Void = { departure.arrive(.on(queue)) }
        let handed = Carried(arrive)
        queue.async { handed.value() }
        return NotificationToken(subscription)
    }

    /// Begins to observe in the realm that this is from.
    func attach(_ subscription: Subscription, _ keyPaths: [String]?, isReady: @escaping () -> Bool, _ tell: @escaping (Self, Difference?) -> Void) throws {
        let observer = try ChangeObserver(self, keyPaths, subscription, isReady: isReady, tell)
        // What has no first notification counts from here.
        if !hasInitial { observer.begin(at: core.snapshot, state()) }
        guard subscription.hold(observer) else { return }
        core.observers.add(observer)
        core.doorbell?.ring()
    }
}

/// An observation on its way to the place where it will be told: what is observed goes as a frozen copy.
struct Departure<Target: Observed> {
    private let target: Target?
    private let configuration: Realm.Configuration
    private let subscription: Subscription
    private let keyPaths: [String]?
    private let tell: (Target, Target.Difference?) -> Void
    private let file: RealmFile
    var isReady: () -> Bool = { true }

    init(_ target: Target, _ subscription: Subscription, _ keyPaths: [String]?, _ tell: @escaping (Target, Target.Difference?) -> Void) throws {
        try target.check(keyPaths)
        let frozen = target.core.frozen()
        // Nil: it is not there any more, and nothing will be told.
        self.init(withExtendedLifetime(frozen) { target.moved(to: frozen) }, frozen, subscription, keyPaths, tell)
    }

    init(frozen target: Target, _ subscription: Subscription, _ keyPaths: [String]?, _ tell: @escaping (Target, Target.Difference?) -> Void) {
        self.init(target, target.core, subscription, keyPaths, tell)
    }

    private init(_ target: Target?, _ frozen: RealmCore, _ subscription: Subscription, _ keyPaths: [String]?, _ tell: @escaping (Target, Target.Difference?) -> Void) {
        self.target = target
        configuration = frozen.configuration
        file = frozen.file
        self.subscription = subscription
        self.keyPaths = keyPaths
        self.tell = tell
    }

    /// At the other place. Nil where nothing is there to observe.
    @discardableResult
    func arrive(_ confinement: Confinement) -> RealmCore? {
        guard let target, !subscription.isOver, let live = try? RealmCore.opened(configuration, confinement) else { return nil }
        _ = try? live.refresh()
        guard let there = target.moved(to: live) else {
            // Deleted on the way here.
            if let end = target.end, live.damage == nil, subscription.end() { tell(target, end) }
            return nil
        }
        guard let observer = try? ChangeObserver(there, keyPaths, subscription, isReady: isReady, tell) else { return nil }
        if !there.hasInitial { observer.begin(at: target.core.snapshot, target.state()) }
        guard subscription.hold(observer) else { return nil }
        live.observers.add(observer)
        live.observers.deliver(at: live)
        return live
    }
}

extension Departure {
    /// At the place of an actor.
    func arrive(on actor: isolated any Actor) { arrive(.actor(ActorPlace(actor))) }
}

extension Confinement {
    func isQueue(_ other: DispatchQueue) -> Bool { if case .queue(let queue) = self { queue === other } else { false } }
}

/// As observing does where it was called wrongly.
func observing(_ body: () throws -> NotificationToken) -> NotificationToken {
    do { return try body() } catch { preconditionFailure("\(error)") }
}
