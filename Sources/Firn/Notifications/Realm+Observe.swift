import FirnModel

extension Realm {
    /// What `observe` tells of.
    public enum Notification: String, Sendable {
        /// The realm is at another version: it committed, or went on to a commit of another.
        case didChange = "RLMRealmDidChangeNotification"
        /// There is a newer version, and `autorefresh` is off.
        case refreshRequired = "RLMRealmRefreshRequiredNotification"
    }

    public typealias NotificationBlock = (Notification, Realm) -> Void

    /// Calls `block` whenever the realm has come to another version, at once after its own commits; or could, where `autorefresh` is off.
    public func observe(_ block: @escaping NotificationBlock) -> NotificationToken {
        core.confinement.check()
        precondition(!core.isFrozen, "Frozen Realms do not change and do not have change notifications.")
        precondition(!core.configuration.readOnly, "Read-only Realms do not change and do not have change notifications: open the file for writing to observe it.")
        let subscription = Subscription()
        let observer = RealmObserver(core, subscription, block)
        if subscription.hold(observer) {
            core.observers.add(observer)
            // Others may have committed since the realm came to its version, when nobody watched the file.
            core.doorbell?.ring()
        }
        return NotificationToken(subscription)
    }

    /// As `write`, without telling of it to the observers of these tokens: for those who have shown the change already. What they were not told of before is
    /// told before `block` runs, within the transaction.
    @discardableResult
    public func write<R>(withoutNotifying tokens: [NotificationToken], _ block: () throws -> R) throws -> R {
        try write {
            core.observers.deliver(at: core, only: tokens.map(\.subscription))
            let result = try block()
            core.silenced = tokens.map(\.subscription)
            return result
        }
    }

    /// As `commitWrite`, without telling of it to the observers of these tokens (but for those with other changes still to be told: they are told of all).
    public func commitWrite(withoutNotifying tokens: [NotificationToken]) throws {
        core.silenced = tokens.map(\.subscription)
        try core.commit()
    }
}

private final class RealmObserver: Observer {
    private let block: Realm.NotificationBlock

    init(_ core: RealmCore, _ subscription: Subscription, _ block: @escaping Realm.NotificationBlock) {
        self.block = block
        super.init(core, subscription)
    }

    override func deliver(_ versions: VersionChanges?) { told = core.snapshot }
    override func skip() { told = core.snapshot }
    override func realmChanged(_ notification: Realm.Notification) { block(notification, Realm(core)) }
}
