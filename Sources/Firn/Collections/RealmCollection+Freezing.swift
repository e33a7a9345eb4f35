/// Other versions of the same collection.
extension RealmCollection {
    /// The collection as it is in the version that its realm is at (in a transaction: was when it began), for good: immutable, usable from any
    /// thread, and so are the objects that are read from it. A frozen collection gives itself.
    ///
    /// Traps if the collection is unmanaged, not there any more, or of an object that was added in the transaction under way.
    ///
    /// A frozen collection keeps its version in the file: held for long while others write, it makes the file grow (see
    /// `Realm.Configuration.maximumNumberOfActiveVersions`).
    public func freeze() -> Self {
        do { return try tryFreeze() } catch { preconditionFailure(error.message) }
    }

    /// As `freeze`, but throws `Realm.Error` where that traps.
    public func tryFreeze() throws(Realm.Error) -> Self {
        let source = source
        guard let core = source.core else {
            throw Realm.Error(.invalidInput, "freeze() is for managed collections: this one belongs to no realm. Use Array(_:).")
        }
        core.confinement.check()
        if core.isFrozen { return self }
        guard !source.isInvalidated else {
            throw Realm.Error(.invalidInput, "Access to an invalidated collection: what it belongs to was deleted, or its realm invalidated.")
        }
        guard let moved = source.moved(to: core.frozen()) else {
            throw Realm.Error(.invalidInput, "Cannot freeze a collection of an object in the same write transaction as it was created in: commit first.")
        }
        return _with(moved)
    }

    /// The live collection of this thread's realm, at that realm's version; nil if what it belongs to is not there any more. A live collection gives
    /// itself.
    public func thaw() -> Self? {
        let source = managedSource("thaw()", instead: "the collection itself")
        guard source.core!.isFrozen else { return self }
        let live = source.core!.thawed()
        return withExtendedLifetime(live) { source.moved(to: live).map(_with) }
    }
}
