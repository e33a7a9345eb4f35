import Dispatch
import FirnModel

extension Map {
    /// As `RealmCollection.observe`, with the keys whose entries went, came or changed.
    public func observe(keyPaths: [String]? = nil, on queue: DispatchQueue? = nil, _ block: @escaping (RealmMapChange<Map>) -> Void) -> NotificationToken {
        observing { try tryObserve(keyPaths: keyPaths, on: queue, block) }
    }

    @_disfavoredOverload
    public func observe(keyPaths: [PartialKeyPath<Value>], on queue: DispatchQueue? = nil, _ block: @escaping (RealmMapChange<Map>) -> Void) -> NotificationToken where Value: ObjectBase {
        observe(keyPaths: keyPaths.map(KeyPathRecorder.path), on: queue, block)
    }

    /// As `observe`, but throws `Realm.Error` where that traps.
    public func tryObserve(keyPaths: [String]? = nil, on queue: DispatchQueue? = nil, _ block: @escaping (RealmMapChange<Map>) -> Void) throws -> NotificationToken {
        try observed().observe(keyPaths, on: queue) { block($0.change($1)) }
    }

    /// As `observe`, on an actor.
    public func observe<A: Actor>(keyPaths: [String]? = nil, on actor: A, _isolation: isolated (any Actor)? = #isolation,
                                  _ block: @Sendable @escaping (isolated A, RealmMapChange<Map>) -> Void) async -> NotificationToken {
        let subscription = Subscription()
        let handed: Carried<Departure<ObservedMap<Key, Value>>>
        do {
            handed = Carried(try Departure(observed(), subscription, keyPaths) { target, difference in
                let change = Carried(target.change(difference))
                actor.assumeIsolated { block($0, change.value) }
            })
        } catch { preconditionFailure("\(error)") }
        await ObservedMap<Key, Value>.arrive(handed, on: actor)
        return NotificationToken(subscription)
    }

    func observed() throws -> ObservedMap<Key, Value> {
        guard case .managed(let cell) = storage else { throw Realm.Error(.invalidInput, "Change notifications are only supported on managed collections.") }
        return ObservedMap(map: self, cell: cell)
    }
}
