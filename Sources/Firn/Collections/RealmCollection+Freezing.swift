import FirnBytes

/// The same collection at other versions.
extension RealmCollection {
    /// Returns the collection at the version of its realm (in a transaction: the version that the transaction began from). The copy and all
    /// objects read from it are immutable and usable from any thread. A frozen collection returns itself.
    ///
    /// Traps if the collection is unmanaged, if it no longer exists, or if its object was added in the current transaction.
    ///
    /// A frozen collection keeps its version in the file. If it is held for long while others write, the file grows (see
    /// `Realm.Configuration.maximumNumberOfActiveVersions`).
    public func freeze() -> Self {
        do { return try tryFreeze() } catch { trap(error.message) }
    }

    /// Returns the same as `freeze`.
    ///
    /// - Throws: `Realm.Error` where `freeze` traps.
    public func tryFreeze() throws(Realm.Error) -> Self {
        let source = source
        guard let core = source.core else {
            throw Realm.Error(.invalidInput, "freeze() requires a managed collection: use Array(_:) to copy an unmanaged one")
        }
        core.check()
        if core.isFrozen { return self }
        guard !source.isInvalidated else {
            throw Realm.Error(.invalidInput, "Access to an invalidated collection: its object was deleted, or its realm was invalidated.")
        }
        guard let moved = source.moved(to: core.frozen()) else {
            throw Realm.Error(
                .invalidInput, "Cannot freeze a collection of an object in the same write transaction as it was created in: commit first.")
        }
        return _with(moved)
    }

    /// Returns the live collection of this thread's realm, at that realm's version; nil if its object does not exist there. A live
    /// collection returns itself.
    public func thaw() -> Self? {
        let source = managedSource("thaw()", instead: "the collection itself")
        let core = source.managedCore
        guard core.isFrozen else { return self }
        let live = core.thawed()
        return withExtendedLifetime(live) { source.moved(to: live).map(_with) }
    }
}
