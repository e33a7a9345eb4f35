import Dispatch
import FirnDatabase
import FirnTable

extension RealmCollectionValue where Self: ObjectBase {
    /// Calls `block` after each commit that changed a property of the object, with the changed properties, and once when the object is
    /// deleted. There is no initial notification. For where and when the block is called, see `RealmCollection.observe`.
    ///
    /// `keyPaths` are the properties to observe, which can lead through links: `["best.name"]` reports `best` when its name changed. If
    /// they are nil or empty, all properties of the object itself are observed.
    public func observe(keyPaths: [String]? = nil, on queue: DispatchQueue? = nil, _ block: @escaping (ObjectChange<Self>) -> Void)
        -> NotificationToken
    {
        observing { try tryObserve(keyPaths: keyPaths, on: queue, block) }
    }

    /// Observes the object, for Swift key paths.
    @_disfavoredOverload
    public func observe(keyPaths: [PartialKeyPath<Self>], on queue: DispatchQueue? = nil, _ block: @escaping (ObjectChange<Self>) -> Void)
        -> NotificationToken
    {
        observe(keyPaths: keyPaths.map(KeyPathRecorder.path), on: queue, block)
    }

    /// Observes the object as `observe` does.
    ///
    /// - Throws: `Realm.Error` where `observe` traps.
    public func tryObserve(keyPaths: [String]? = nil, on queue: DispatchQueue? = nil, _ block: @escaping (ObjectChange<Self>) -> Void)
        throws -> NotificationToken
    {
        try observed(keyPaths).observe(keyPaths?.isEmpty ?? true ? nil : keyPaths, on: queue) { block($0.change($1)) }
    }

    /// Observes the object on an actor. See `RealmCollection.observe`.
    public func observe<A: Actor>(
        keyPaths: [String]? = nil, on actor: A, _isolation: isolated (any Actor)? = #isolation,
        _ block: @Sendable @escaping (isolated A, ObjectChange<Self>) -> Void
    ) async -> NotificationToken {
        await observingOnActor(actor, keyPaths?.isEmpty ?? true ? nil : keyPaths, { try observed(keyPaths) }, { $0.change($1) }, block)
    }

    /// Observes the object on an actor, for Swift key paths.
    @_disfavoredOverload
    public func observe<A: Actor>(
        keyPaths: [PartialKeyPath<Self>], on actor: A, _isolation: isolated (any Actor)? = #isolation,
        _ block: @Sendable @escaping (isolated A, ObjectChange<Self>) -> Void
    ) async -> NotificationToken {
        let paths = keyPaths.map { KeyPathRecorder.path($0) }
        return await observe(keyPaths: paths, on: actor, _isolation: _isolation, block)
    }

    func observed(_ keyPaths: [String]?) throws -> ObservedObject<Self> {
        guard _core != nil else {
            throw Realm.Error(.invalidInput, "Only objects which are managed by a Realm support change notifications.")
        }
        if !isFrozen { _settled() }
        return ObservedObject(self, keyPaths)
    }
}
