import Dispatch
import FirnModel

extension RealmCollectionValue where Self: ObjectBase {
    /// Calls `block` after every commit that changed a property of the object, with the properties that did, and once it is deleted. There is no first call
    /// with what is there.
    ///
    /// Where and when: as `RealmCollection.observe`.
    ///
    /// - Parameter keyPaths: which properties count; through links: `["best.name"]` tells of `best` when its name changed. nil or empty: the object's own.
    public func observe(keyPaths: [String]? = nil, on queue: DispatchQueue? = nil, _ block: @escaping (ObjectChange<Self>) -> Void) -> NotificationToken {
        observing { try tryObserve(keyPaths: keyPaths, on: queue, block) }
    }

    @_disfavoredOverload
    public func observe(keyPaths: [PartialKeyPath<Self>], on queue: DispatchQueue? = nil, _ block: @escaping (ObjectChange<Self>) -> Void) -> NotificationToken {
        observe(keyPaths: keyPaths.map(KeyPathRecorder.path), on: queue, block)
    }

    /// As `observe`, but throws `Realm.Error` where that traps.
    public func tryObserve(keyPaths: [String]? = nil, on queue: DispatchQueue? = nil, _ block: @escaping (ObjectChange<Self>) -> Void) throws -> NotificationToken {
        try observed(keyPaths).observe(keyPaths?.isEmpty ?? true ? nil : keyPaths, on: queue) { block($0.change($1)) }
    }

    /// As `observe`, on an actor.
    public func observe<A: Actor>(keyPaths: [String]? = nil, on actor: A, _isolation: isolated (any Actor)? = #isolation,
                                  _ block: @Sendable @escaping (isolated A, ObjectChange<Self>) -> Void) async -> NotificationToken {
        await observingOnActor(actor, keyPaths?.isEmpty ?? true ? nil : keyPaths, { try observed(keyPaths) }, { $0.change($1) }, block)
    }

    @_disfavoredOverload
    public func observe<A: Actor>(keyPaths: [PartialKeyPath<Self>], on actor: A, _isolation: isolated (any Actor)? = #isolation,
                                  _ block: @Sendable @escaping (isolated A, ObjectChange<Self>) -> Void) async -> NotificationToken {
        let paths = keyPaths.map { KeyPathRecorder.path($0) }
        return await observe(keyPaths: paths, on: actor, _isolation: _isolation, block)
    }

    func observed(_ keyPaths: [String]?) throws -> ObservedObject<Self> {
        guard _core != nil else { throw Realm.Error(.invalidInput, "Only objects which are managed by a Realm support change notifications.") }
        if !isFrozen { _settled() }
        return ObservedObject(self, keyPaths)
    }
}
