import FirnModel

/// An object or collection as it is at one version, for good: to be handed to any task, thread or actor, and read there.
///
///     let snapshot = Snapshot(realm.objects(Dog.self))
///     await Task.detached { snapshot.value.count }.value
///
/// Like all that is frozen it keeps its version in the file as long as it is held.
public struct Snapshot<Value: ThreadConfined>: @unchecked Sendable {
    /// Frozen: nobody can change it, anybody may read it.
    public let value: Value

    /// The state of the realm's version; in a transaction: the one when it began. Traps where there is none: for what belongs to no realm, is deleted, or was
    /// made in the same transaction.
    public init(_ value: Value) {
        guard let realm = value.realm else { preconditionFailure("Unmanaged objects have no snapshot: add them to a realm first, or hand over a detached() copy.") }
        if realm.isFrozen {
            self.value = value
            return
        }
        realm.core.confinement.check()
        precondition(!value.isInvalidated, "Object has been deleted or invalidated.")
        guard let frozen = value._moved(to: realm.freeze()) else {
            preconditionFailure("Cannot freeze an object in the same write transaction as it was created in.")
        }
        self.value = frozen
    }
}

extension Snapshot: Equatable where Value: Equatable {}
