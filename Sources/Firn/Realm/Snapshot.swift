import FirnBytes
import FirnTable

/// An object or collection at one version, which any task, thread or actor can read.
///
///     let snapshot = Snapshot(realm.objects(Dog.self))
///     await Task.detached { snapshot.value.count }.value
///
/// Like every frozen object, it keeps its version in the file as long as it exists.
public struct Snapshot<Value: ThreadConfined>: @unchecked Sendable {
    /// The frozen value: immutable, and readable on any thread.
    public let value: Value

    /// Freezes a value at the realm's version; in a transaction, at the version that it began from. Traps if the value is unmanaged,
    /// deleted or was created in the same transaction.
    public init(_ value: Value) {
        guard let realm = value.realm else {
            trap("Unmanaged objects have no snapshot: add them to a realm first, or pass on a detached() copy.")
        }
        if realm.isFrozen {
            self.value = value
            return
        }
        realm.core.check()
        trap(unless: !value.isInvalidated, "Object has been deleted or invalidated.")
        guard let frozen = value._moved(to: realm.freeze()) else {
            trap("Cannot freeze an object in the same write transaction as it was created in.")
        }
        self.value = frozen
    }
}

extension Snapshot: Equatable where Value: Equatable {}
