import Dispatch
import FirnModel

extension SectionedResults {
    /// As `RealmCollection.observe`, with sections. The key of each element is asked for once for each version that is told.
    public func observe(keyPaths: [String]? = nil, on queue: DispatchQueue? = nil, _ block: @escaping (SectionedResultsChange<SectionedResults>) -> Void) -> NotificationToken {
        observing { try tryObserve(keyPaths: keyPaths, on: queue, block) }
    }

    @_disfavoredOverload
    public func observe(keyPaths: [PartialKeyPath<SectionElement>], on queue: DispatchQueue? = nil,
                        _ block: @escaping (SectionedResultsChange<SectionedResults>) -> Void) -> NotificationToken where SectionElement: ObjectBase {
        observe(keyPaths: keyPaths.map(KeyPathRecorder.path), on: queue, block)
    }

    /// As `observe`, but throws `Realm.Error` where that traps.
    public func tryObserve(keyPaths: [String]? = nil, on queue: DispatchQueue? = nil, _ block: @escaping (SectionedResultsChange<SectionedResults>) -> Void) throws -> NotificationToken {
        try ObservedSections(sections).observe(SectionElement.rooted(keyPaths), on: queue) { block($0.change($1)) }
    }

    /// As `observe`, on an actor. The key block is used there too.
    public func observe<A: Actor>(keyPaths: [String]? = nil, on actor: A, _isolation: isolated (any Actor)? = #isolation,
                                  _ block: @Sendable @escaping (isolated A, SectionedResultsChange<SectionedResults>) -> Void) async -> NotificationToken {
        await observingOnActor(actor, SectionElement.rooted(keyPaths), { ObservedSections(sections) }, { $0.change($1) }, block)
    }

    @_disfavoredOverload
    public func observe<A: Actor>(keyPaths: [PartialKeyPath<SectionElement>], on actor: A, _isolation: isolated (any Actor)? = #isolation,
                                  _ block: @Sendable @escaping (isolated A, SectionedResultsChange<SectionedResults>) -> Void) async -> NotificationToken where SectionElement: ObjectBase {
        let paths = keyPaths.map { KeyPathRecorder.path($0) }
        return await observe(keyPaths: paths, on: actor, _isolation: _isolation, block)
    }

    /// As `RealmCollection.changes`.
    public func changes(keyPaths: [String]? = nil) -> RealmChanges<SectionedResultsChange<SectionedResults>> {
        RealmChanges(SectionElement.rooted(keyPaths), { ObservedSections(sections) }) { target, difference in target.frozen().change(difference) }
    }

    public var changesetPublisher: RealmChanges<SectionedResultsChange<SectionedResults>> { changes() }
    public func changesetPublisher(keyPaths: [String]?) -> RealmChanges<SectionedResultsChange<SectionedResults>> { changes(keyPaths: keyPaths) }
    public var collectionPublisher: RealmChanges<SectionedResults> { collectionPublisher(keyPaths: nil) }
    public func collectionPublisher(keyPaths: [String]?) -> RealmChanges<SectionedResults> {
        RealmChanges(SectionElement.rooted(keyPaths), { ObservedSections(sections) }) { target, _ in SectionedResults(target.frozen().sections) }
    }
}

extension ResultsSection {
    /// Tells of this section only: elements that come to it, leave it, move in it or change. When its last element leaves it is told as deleted, and as
    /// inserted when there is one again.
    public func observe(keyPaths: [String]? = nil, on queue: DispatchQueue? = nil, _ block: @escaping (SectionedResultsChange<ResultsSection>) -> Void) -> NotificationToken {
        observing { try tryObserve(keyPaths: keyPaths, on: queue, block) }
    }

    @_disfavoredOverload
    public func observe(keyPaths: [PartialKeyPath<T>], on queue: DispatchQueue? = nil, _ block: @escaping (SectionedResultsChange<ResultsSection>) -> Void) -> NotificationToken where T: ObjectBase {
        observe(keyPaths: keyPaths.map(KeyPathRecorder.path), on: queue, block)
    }

    /// As `observe`, but throws `Realm.Error` where that traps.
    public func tryObserve(keyPaths: [String]? = nil, on queue: DispatchQueue? = nil, _ block: @escaping (SectionedResultsChange<ResultsSection>) -> Void) throws -> NotificationToken {
        try observed().observe(T.rooted(keyPaths), on: queue) { block($0.change($1)) }
    }

    /// As `observe`, on an actor. The key block is used there too.
    public func observe<A: Actor>(keyPaths: [String]? = nil, on actor: A, _isolation: isolated (any Actor)? = #isolation,
                                  _ block: @Sendable @escaping (isolated A, SectionedResultsChange<ResultsSection>) -> Void) async -> NotificationToken {
        await observingOnActor(actor, T.rooted(keyPaths), { observed() }, { $0.change($1) }, block)
    }

    @_disfavoredOverload
    public func observe<A: Actor>(keyPaths: [PartialKeyPath<T>], on actor: A, _isolation: isolated (any Actor)? = #isolation,
                                  _ block: @Sendable @escaping (isolated A, SectionedResultsChange<ResultsSection>) -> Void) async -> NotificationToken where T: ObjectBase {
        let paths = keyPaths.map { KeyPathRecorder.path($0) }
        return await observe(keyPaths: paths, on: actor, _isolation: _isolation, block)
    }

    private func observed() -> ObservedSection<Key, T> { ObservedSection(whole: ObservedSections(part.sections), key: part.key) }

    /// As `RealmCollection.changes`.
    public func changes(keyPaths: [String]? = nil) -> RealmChanges<SectionedResultsChange<ResultsSection>> {
        RealmChanges(T.rooted(keyPaths), observed) { target, difference in target.frozen().change(difference) }
    }
}
