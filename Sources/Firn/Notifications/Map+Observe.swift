import Dispatch
import FirnTable

extension Map {
    /// Calls `block` with the map, then after each change with the keys whose entries were removed, added or changed. See
    /// `RealmCollection.observe`.
    public func observe(keyPaths: [String]? = nil, on queue: DispatchQueue? = nil, _ block: @escaping (RealmMapChange<Map>) -> Void)
        -> NotificationToken
    {
        observing { try tryObserve(keyPaths: keyPaths, on: queue, block) }
    }

    /// Observes the map, for Swift key paths of its values.
    @_disfavoredOverload
    public func observe(keyPaths: [PartialKeyPath<Value>], on queue: DispatchQueue? = nil, _ block: @escaping (RealmMapChange<Map>) -> Void)
        -> NotificationToken where Value: ObjectBase
    {
        observe(keyPaths: keyPaths.map(KeyPathRecorder.path), on: queue, block)
    }

    /// Observes the map as `observe` does.
    ///
    /// - Throws: `Realm.Error` where `observe` traps.
    public func tryObserve(keyPaths: [String]? = nil, on queue: DispatchQueue? = nil, _ block: @escaping (RealmMapChange<Map>) -> Void)
        throws -> NotificationToken
    {
        try observed().observe(keyPaths, on: queue) { block($0.change($1)) }
    }

    /// Observes the map on an actor. See `RealmCollection.observe`.
    public func observe<A: Actor>(
        keyPaths: [String]? = nil, on actor: A, _isolation: isolated (any Actor)? = #isolation,
        _ block: @Sendable @escaping (isolated A, RealmMapChange<Map>) -> Void
    ) async -> NotificationToken {
        await observingOnActor(actor, keyPaths, { try observed() }, { $0.change($1) }, block)
    }

    /// Observes the map on an actor, for Swift key paths of its values.
    @_disfavoredOverload
    public func observe<A: Actor>(
        keyPaths: [PartialKeyPath<Value>], on actor: A, _isolation: isolated (any Actor)? = #isolation,
        _ block: @Sendable @escaping (isolated A, RealmMapChange<Map>) -> Void
    ) async -> NotificationToken where Value: ObjectBase {
        let paths = keyPaths.map { KeyPathRecorder.path($0) }
        return await observe(keyPaths: paths, on: actor, _isolation: _isolation, block)
    }

    func observed() throws -> ObservedMap<Key, Value> {
        guard case .managed(let cell) = storage else {
            throw Realm.Error(.invalidInput, "Change notifications are only supported on managed collections.")
        }
        return ObservedMap(map: self, cell: cell)
    }
}
