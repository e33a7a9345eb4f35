import FirnBytes
import Dispatch
import FirnDatabase
import FirnTable

extension Observed {
    /// Checks that the target can be observed.
    ///
    /// - Throws: `Realm.Error` of code `.invalidInput` if it cannot.
    func check(_ keyPaths: [String]?) throws {
        core.check()
        if core.isFrozen { throw Realm.Error(.invalidInput, "Frozen Realms do not change and do not have change notifications.") }
        if core.configuration.readOnly {
            throw Realm.Error(
                .invalidInput,
                "Read-only Realms do not change and do not have change notifications: open the file for writing to observe it.")
        }
        if core.isInTransaction, core.hasChangesOfObjects {
            throw Realm.Error(
                .invalidInput,
                "Cannot create asynchronous query after making changes in a write transaction. Observe before the first change, or after the commit."
            )
        }
        _ = try filter(keyPaths)
    }

    /// Starts an observation on the realm's thread, queue or actor; with `queue`, of the same target in a realm of that queue.
    func observe(_ keyPaths: [String]?, on queue: DispatchQueue?, _ tell: @escaping (Self, Difference?) -> Void) throws -> NotificationToken
    {
        try check(keyPaths)
        let subscription = Subscription()
        guard let queue, !core.executor.isQueue(queue) else {
            try attach(subscription, keyPaths, isReady: { true }, tell)
            return NotificationToken(subscription)
        }
        let departure = try Departure(self, subscription, keyPaths, tell)
        let arrive: () -> Void = { departure.arrive(.on(queue)) }
        let handed = Carried(arrive)
        queue.async { handed.value() }
        return NotificationToken(subscription)
    }

    /// Starts an observation in the target's own realm.
    func attach(
        _ subscription: Subscription, _ keyPaths: [String]?, isReady: @escaping () -> Bool, _ tell: @escaping (Self, Difference?) -> Void
    ) throws {
        let observer = try ChangeObserver(self, keyPaths, subscription, isReady: isReady, tell)
        // Without an initial notification, the changes since now are reported.
        if !hasInitial { observer.begin(at: core.snapshot, state()) }
        guard subscription.hold(observer) else { return }
        core.observers.add(observer)
        core.doorbell?.ring()
    }
}

/// An observation that moves to another queue or actor. The target is passed as a frozen copy.
struct Departure<Target: Observed> {
    private let target: Target?
    private let configuration: Realm.Configuration
    private let subscription: Subscription
    private let keyPaths: [String]?
    private let tell: (Target, Target.Difference?) -> Void
    private let file: RealmFile
    var isReady: () -> Bool = { true }

    init(_ target: Target, _ subscription: Subscription, _ keyPaths: [String]?, _ tell: @escaping (Target, Target.Difference?) -> Void)
        throws
    {
        try target.check(keyPaths)
        let frozen = target.core.frozen()
        // nil if the target no longer exists; then nothing will be reported.
        self.init(withExtendedLifetime(frozen) { target.moved(to: frozen) }, frozen, subscription, keyPaths, tell)
    }

    init(frozen target: Target, _ subscription: Subscription, _ keyPaths: [String]?, _ tell: @escaping (Target, Target.Difference?) -> Void)
    {
        self.init(target, target.core, subscription, keyPaths, tell)
    }

    private init(
        _ target: Target?, _ frozen: RealmCore, _ subscription: Subscription, _ keyPaths: [String]?,
        _ tell: @escaping (Target, Target.Difference?) -> Void
    ) {
        self.target = target
        configuration = frozen.configuration
        file = frozen.file
        self.subscription = subscription
        self.keyPaths = keyPaths
        self.tell = tell
    }

    /// Starts the observation on the other queue or actor. Returns its realm; nil if there is nothing to observe.
    @discardableResult
    func arrive(_ executor: RealmExecutor) -> RealmCore? {
        guard let target, !subscription.isOver, let live = try? RealmCore.opened(configuration, executor) else { return nil }
        _ = try? live.refresh()
        guard let there = target.moved(to: live) else {
            // The target was deleted in the meantime.
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
    /// Starts the observation on an actor.
    func arrive(on actor: isolated any Actor) { arrive(.on(actor)) }
}

extension RealmExecutor {
    func isQueue(_ other: DispatchQueue) -> Bool {
        switch self {
        case .queue(let queue): queue === other
        case .main: MainExecutor.isMainQueue(other)
        case .thread, .actor, .none: false
        }
    }
}

/// Runs `body`, and traps if it throws.
func observing(_ body: () throws -> NotificationToken) -> NotificationToken {
    do { return try body() } catch { trap("\(error)") }
}
