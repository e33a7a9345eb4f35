import FirnBytes
import FirnDatabase
import FirnTable

extension Realm {
    /// What `observe` reports.
    public enum Notification: String, Sendable {
        /// The realm is at another version: it committed, or moved to a later commit.
        case didChange = "RLMRealmDidChangeNotification"
        /// There is a newer version, and `autorefresh` is off.
        case refreshRequired = "RLMRealmRefreshRequiredNotification"
    }

    /// A block that `observe` calls.
    public typealias NotificationBlock = (Notification, Realm) -> Void

    /// Calls `block` when the realm has moved to another version (after its own commits immediately), or when it could move and
    /// `autorefresh` is off. Traps in frozen and read-only realms.
    public func observe(_ block: @escaping NotificationBlock) -> NotificationToken {
        core.check()
        trap(unless: !core.isFrozen, "Frozen Realms do not change and do not have change notifications.")
        trap(
            unless: !core.configuration.readOnly,
            "Read-only Realms do not change and do not have change notifications: open the file for writing to observe it.")
        let subscription = Subscription()
        let observer = RealmObserver(core, subscription, block)
        if subscription.hold(observer) {
            core.observers.add(observer)
            // A commit can have happened before the file was watched.
            core.doorbell?.ring()
        }
        return NotificationToken(subscription)
    }

    /// Runs a write transaction without notifying the observers of these tokens, for code that has shown the change already. Changes that
    /// these observers have not received yet are delivered before `block` runs, within the transaction. Traps if a token observes another
    /// realm; the same file on another thread, queue or actor is another one.
    @discardableResult
    public func write<R>(withoutNotifying tokens: [NotificationToken], _ block: () throws -> R) throws -> R {
        checkOwn(tokens)
        return try write {
            core.observers.deliver(at: core, only: tokens.map(\.subscription))
            let result = try block()
            core.silence(tokens.map(\.subscription))
            return result
        }
    }

    /// Commits without notifying the observers of these tokens. Those with earlier changes still to be delivered are notified of all
    /// changes. Traps if a token observes another realm.
    public func commitWrite(withoutNotifying tokens: [NotificationToken]) throws {
        checkOwn(tokens)
        core.silence(tokens.map(\.subscription))
        try core.commit()
    }

    private func checkOwn(_ tokens: [NotificationToken]) {
        core.check()
        trap(
            unless: tokens.allSatisfy { $0.subscription.concerns(core) },
            "Incorrect Realm: only notifications for the Realm being modified can be skipped. Pass tokens of observations of this Realm, made on its own thread, queue or actor."
        )
    }
}

private final class RealmObserver: Observer {
    private let block: Realm.NotificationBlock

    init(_ core: RealmCore, _ subscription: Subscription, _ block: @escaping Realm.NotificationBlock) {
        self.block = block
        super.init(core, subscription)
    }

    override func deliver(_ versions: VersionChanges?) { delivered = core.snapshot }
    override func skip() { delivered = core.snapshot }
    override func realmChanged(_ notification: Realm.Notification) { block(notification, Realm(core)) }
}
