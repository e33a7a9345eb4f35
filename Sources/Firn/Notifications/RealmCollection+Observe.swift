import Dispatch
import FirnChange
import FirnDatabase
import FirnTable

extension RealmCollection {
    /// Calls `block` with the collection, then after each commit that changed its elements, their order or their properties, with the
    /// changes. Commits of other realms and processes are reported too. Commits that change nothing here are not; changes that could not be
    /// delivered in time are merged into one notification, the first one included.
    ///
    /// The block is called by the run loop of this thread if it has one (for the realm of a queue or an actor: there), and within
    /// `realm.refresh()`. With `queue`, it is called on that queue, with the collection of a realm of that queue. The collection is current
    /// within the block. The notifications end when the token is released.
    ///
    /// `keyPaths` are the properties of the elements to observe: `["name", "owner.city", "toys.*"]`. The path of a collection (`"toys"`)
    /// observes which elements it contains; a path through it observes these elements too. With nil, all properties are observed, and
    /// those reached over up to four links; with `.shallow`, all properties of the elements themselves; with `[]`, none, so that only
    /// insertions, deletions and moves are reported.
    ///
    /// Traps on unmanaged and frozen collections, in read-only realms, after the first change of a write transaction, and for key paths
    /// that are not valid.
    public func observe(keyPaths: [String]? = nil, on queue: DispatchQueue? = nil, _ block: @escaping (RealmCollectionChange<Self>) -> Void)
        -> NotificationToken
    {
        observing { try tryObserve(keyPaths: keyPaths, on: queue, block) }
    }

    /// Observes the collection, for Swift key paths: `observe(keyPaths: [\.name, \.toys.brand])`.
    @_disfavoredOverload
    public func observe(
        keyPaths: [PartialKeyPath<Element>], on queue: DispatchQueue? = nil, _ block: @escaping (RealmCollectionChange<Self>) -> Void
    ) -> NotificationToken where Element: ObjectBase {
        observe(keyPaths: keyPaths.map(KeyPathRecorder.path), on: queue, block)
    }

    /// Observes the collection as `observe` does.
    ///
    /// - Throws: `Realm.Error` where `observe` traps.
    public func tryObserve(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil, _ block: @escaping (RealmCollectionChange<Self>) -> Void
    ) throws -> NotificationToken {
        try observed().observe(Element.rooted(keyPaths), on: queue) { block($0.change($1)) }
    }

    /// Observes the collection on an actor: the block runs isolated to it, and its collection belongs to a realm of the actor. Writes
    /// before the first notification are merged into it.
    public func observe<A: Actor>(
        keyPaths: [String]? = nil, on actor: A, _isolation: isolated (any Actor)? = #isolation,
        _ block: @Sendable @escaping (isolated A, RealmCollectionChange<Self>) -> Void
    ) async -> NotificationToken {
        await observingOnActor(actor, Element.rooted(keyPaths), { try observed() }, { $0.change($1) }, block)
    }

    /// Observes the collection on an actor, for Swift key paths.
    @_disfavoredOverload
    public func observe<A: Actor>(
        keyPaths: [PartialKeyPath<Element>], on actor: A, _isolation: isolated (any Actor)? = #isolation,
        _ block: @Sendable @escaping (isolated A, RealmCollectionChange<Self>) -> Void
    ) async -> NotificationToken where Element: ObjectBase {
        let paths = keyPaths.map { KeyPathRecorder.path($0) }
        return await observe(keyPaths: paths, on: actor, _isolation: _isolation, block)
    }

    /// Observes a collection of projections, for key paths of the projections.
    @_disfavoredOverload
    public func observe(
        keyPaths: [PartialKeyPath<Element>], on queue: DispatchQueue? = nil, _ block: @escaping (RealmCollectionChange<Self>) -> Void
    ) -> NotificationToken where Element: ProjectionObservable {
        observing { try observed().observe(keyPaths.map { KeyPathRecorder.path($0) }, on: queue) { block($0.change($1)) } }
    }

    /// Observes a collection of projections on an actor, for key paths of the projections.
    @_disfavoredOverload
    public func observe<A: Actor>(
        keyPaths: [PartialKeyPath<Element>], on actor: A, _isolation: isolated (any Actor)? = #isolation,
        _ block: @Sendable @escaping (isolated A, RealmCollectionChange<Self>) -> Void
    ) async -> NotificationToken where Element: ProjectionObservable {
        let paths = keyPaths.map { KeyPathRecorder.path($0) }
        return await observingOnActor(actor, paths, { try observed() }, { $0.change($1) }, block)
    }

    func observed() throws -> ObservedCollection<Self> {
        guard source.core != nil else {
            throw Realm.Error(.invalidInput, "Change notifications are only supported on managed collections.")
        }
        return ObservedCollection(self)
    }
}
