import FirnBytes
import Dispatch

/// Observation of objects by blocks that name a class of their own: `{ (change: ObjectChange<ObjectBase>) in … }`.
extension RealmCollectionValue where Self: ObjectBase {
    /// Observes the object as `observe` does. Traps if the object is not of the class that `block` names.
    @_disfavoredOverload
    public func observe<T: ObjectBase>(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil, _ block: @escaping (ObjectChange<T>) -> Void
    )
        -> NotificationToken
    {
        _ = cast(self, to: T.self)
        return observing { try tryObserve(keyPaths: keyPaths, on: queue) { (change: ObjectChange<Self>) in block(change.cast()) } }
    }

    /// Observes the object on an actor. Traps if the object is not of the class that `block` names.
    @_disfavoredOverload
    public func observe<A: Actor, T: ObjectBase>(
        keyPaths: [String]? = nil, on actor: A, _isolation: isolated (any Actor)? = #isolation,
        _ block: @Sendable @escaping (isolated A, ObjectChange<T>) -> Void
    ) async -> NotificationToken {
        _ = cast(self, to: T.self)
        return await observingOnActor(
            actor, keyPaths?.isEmpty ?? true ? nil : keyPaths, { try observed(keyPaths) }, { $0.change($1).cast() as ObjectChange<T> },
            block)
    }
}

extension ObjectChange where T: ObjectBase {
    fileprivate func cast<Other: ObjectBase>() -> ObjectChange<Other> {
        switch self {
        case .error(let error): .error(error)
        case .change(let object, let properties): .change(Firn.cast(object, to: Other.self), properties)
        case .deleted: .deleted
        }
    }
}

private func cast<T: ObjectBase>(_ object: ObjectBase, to type: T.Type) -> T {
    guard let same = object as? T else {
        trap(
            "the observed object is of class \"\(Swift.type(of: object))\", not \"\(T.self)\": name its own class in the block")
    }
    return same
}
