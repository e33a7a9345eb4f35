import Dispatch
import FirnChange
import FirnModel

extension RealmCollection {
    /// Calls `block` with the collection as it is, then after every commit that changed which elements are in it, their order, or their properties; with
    /// what changed. Commits of other realms and processes count too. Nothing is told of commits that change nothing here, and what could not be told at
    /// once is told together, the first notification included.
    ///
    /// The block is called by the run loop of this thread if it runs one (on a realm of a queue or an actor: there), and within `realm.refresh()`; with
    /// `queue`: there, with the collection of a realm of that queue. In it the collection is current. The notifications end when the token is let go of.
    ///
    /// - Parameter keyPaths: which properties of the elements count: `["name", "owner.city", "toys.*"]`. A collection's own path (`"toys"`) is about what is in
    ///   it, a path through it about its elements. nil: all, and all that they lead to over up to four links; `.shallow`: all of the elements' own; `[]`: none,
    ///   so that only elements that come, go or move are told of.
    ///
    /// Traps on unmanaged and frozen collections, in read-only realms, after the first change of a write transaction, and for key paths that name nothing.
    public func observe(keyPaths: [String]? = nil, on queue: DispatchQueue? = nil, _ block: @escaping (RealmCollectionChange<Self>) -> Void) -> NotificationToken {
        observing { try tryObserve(keyPaths: keyPaths, on: queue, block) }
    }

    /// `observe(keyPaths: [\.name, \.toys.brand])`.
    @_disfavoredOverload
    public func observe(keyPaths: [PartialKeyPath<Element>], on queue: DispatchQueue? = nil, _ block: @escaping (RealmCollectionChange<Self>) -> Void) -> NotificationToken where Element: ObjectBase {
        observe(keyPaths: keyPaths.map(KeyPathRecorder.path), on: queue, block)
    }

    /// As `observe`, but throws `Realm.Error` where that traps.
    public func tryObserve(keyPaths: [String]? = nil, on queue: DispatchQueue? = nil, _ block: @escaping (RealmCollectionChange<Self>) -> Void) throws -> NotificationToken {
        try observed().observe(Element.rooted(keyPaths), on: queue) { block($0.change($1)) }
    }

    /// As `observe`, on an actor: the block is its code, and the collection it is given belongs to a realm of the actor. Writes before the first notification
    /// are told with it.
    public func observe<A: Actor>(keyPaths: [String]? = nil, on actor: A, _isolation: isolated (any Actor)? = #isolation,
                                  _ block: @Sendable @escaping (isolated A, RealmCollectionChange<Self>) -> Void) async -> NotificationToken {
        await observingOnActor(actor, Element.rooted(keyPaths), { try observed() }, { $0.change($1) }, block)
    }

    @_disfavoredOverload
    public func observe<A: Actor>(keyPaths: [PartialKeyPath<Element>], on actor: A, _isolation: isolated (any Actor)? = #isolation,
                                  _ block: @Sendable @escaping (isolated A, RealmCollectionChange<Self>) -> Void) async -> NotificationToken where Element: ObjectBase {
        let paths = keyPaths.map { KeyPathRecorder.path($0) }
        return await observe(keyPaths: paths, on: actor, _isolation: _isolation, block)
    }

    /// By what the projections show.
    @_disfavoredOverload
    public func observe(keyPaths: [PartialKeyPath<Element>], on queue: DispatchQueue? = nil, _ block: @escaping (RealmCollectionChange<Self>) -> Void) -> NotificationToken where Element: ProjectionObservable {
        observing { try observed().observe(keyPaths.map { KeyPathRecorder.path($0) }, on: queue) { block($0.change($1)) } }
    }

    @_disfavoredOverload
    public func observe<A: Actor>(keyPaths: [PartialKeyPath<Element>], on actor: A, _isolation: isolated (any Actor)? = #isolation,
                                  _ block: @Sendable @escaping (isolated A, RealmCollectionChange<Self>) -> Void) async -> NotificationToken where Element: ProjectionObservable {
        let paths = keyPaths.map { KeyPathRecorder.path($0) }
        return await observingOnActor(actor, paths, { try observed() }, { $0.change($1) }, block)
    }

    func observed() throws -> ObservedCollection<Self> {
        guard source.core != nil else { throw Realm.Error(.invalidInput, "Change notifications are only supported on managed collections.") }
        return ObservedCollection(self)
    }
}
