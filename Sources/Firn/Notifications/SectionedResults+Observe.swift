import Dispatch
import FirnDatabase
import FirnTable

extension SectionedResults {
    /// Calls `block` with the sections, then with their changes. The key of each element is requested once for each delivered version. See
    /// `RealmCollection.observe`.
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil, _ block: @escaping (SectionedResultsChange<SectionedResults>) -> Void
    ) -> NotificationToken {
        observing { try tryObserve(keyPaths: keyPaths, on: queue, block) }
    }

    /// Observes the sections, for Swift key paths.
    @_disfavoredOverload
    public func observe(
        keyPaths: [PartialKeyPath<SectionElement>], on queue: DispatchQueue? = nil,
        _ block: @escaping (SectionedResultsChange<SectionedResults>) -> Void
    ) -> NotificationToken where SectionElement: ObjectBase {
        observe(keyPaths: keyPaths.map(KeyPathRecorder.path), on: queue, block)
    }

    /// Observes the sections as `observe` does.
    ///
    /// - Throws: `Realm.Error` where `observe` traps.
    public func tryObserve(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil, _ block: @escaping (SectionedResultsChange<SectionedResults>) -> Void
    ) throws -> NotificationToken {
        try ObservedSections(sections).observe(SectionElement.rooted(keyPaths), on: queue) { block($0.change($1)) }
    }

    /// Observes the sections on an actor. The key block runs there too.
    public func observe<A: Actor>(
        keyPaths: [String]? = nil, on actor: A, _isolation: isolated (any Actor)? = #isolation,
        _ block: @Sendable @escaping (isolated A, SectionedResultsChange<SectionedResults>) -> Void
    ) async -> NotificationToken {
        await observingOnActor(actor, SectionElement.rooted(keyPaths), { ObservedSections(sections) }, { $0.change($1) }, block)
    }

    /// Observes the sections on an actor, for Swift key paths.
    @_disfavoredOverload
    public func observe<A: Actor>(
        keyPaths: [PartialKeyPath<SectionElement>], on actor: A, _isolation: isolated (any Actor)? = #isolation,
        _ block: @Sendable @escaping (isolated A, SectionedResultsChange<SectionedResults>) -> Void
    ) async -> NotificationToken where SectionElement: ObjectBase {
        let paths = keyPaths.map { KeyPathRecorder.path($0) }
        return await observe(keyPaths: paths, on: actor, _isolation: _isolation, block)
    }

    /// Returns the changes of the sections as a sequence. See `RealmCollection.changes`.
    public func changes(keyPaths: [String]? = nil) -> RealmChanges<SectionedResultsChange<SectionedResults>> {
        RealmChanges(SectionElement.rooted(keyPaths), { ObservedSections(sections) }) { target, difference in
            target.frozen().change(difference)
        }
    }

    /// The same as `changes(keyPaths:)`.
    public var changesetPublisher: RealmChanges<SectionedResultsChange<SectionedResults>> { changes() }
    /// Returns the same as `changes(keyPaths:)`.
    public func changesetPublisher(keyPaths: [String]?) -> RealmChanges<SectionedResultsChange<SectionedResults>> {
        changes(keyPaths: keyPaths)
    }
    /// The sections, frozen: as they are, and after each change.
    public var collectionPublisher: RealmChanges<SectionedResults> { collectionPublisher(keyPaths: nil) }
    /// Returns the sections, frozen: as they are, and after each change of the key paths.
    public func collectionPublisher(keyPaths: [String]?) -> RealmChanges<SectionedResults> {
        RealmChanges(SectionElement.rooted(keyPaths), { ObservedSections(sections) }) { target, _ in
            SectionedResults(target.frozen().sections)
        }
    }
}

extension ResultsSection {
    /// Calls `block` with the section, then with the changes of this section only: elements that enter it, leave it, move within it or
    /// change. When its last element leaves, the section is reported as deleted; when it has elements again, as inserted.
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil, _ block: @escaping (SectionedResultsChange<ResultsSection>) -> Void
    ) -> NotificationToken {
        observing { try tryObserve(keyPaths: keyPaths, on: queue, block) }
    }

    /// Observes the section, for Swift key paths.
    @_disfavoredOverload
    public func observe(
        keyPaths: [PartialKeyPath<T>], on queue: DispatchQueue? = nil, _ block: @escaping (SectionedResultsChange<ResultsSection>) -> Void
    ) -> NotificationToken where T: ObjectBase {
        observe(keyPaths: keyPaths.map(KeyPathRecorder.path), on: queue, block)
    }

    /// Observes the section as `observe` does.
    ///
    /// - Throws: `Realm.Error` where `observe` traps.
    public func tryObserve(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil, _ block: @escaping (SectionedResultsChange<ResultsSection>) -> Void
    ) throws -> NotificationToken {
        try observed().observe(T.rooted(keyPaths), on: queue) { block($0.change($1)) }
    }

    /// Observes the section on an actor. The key block runs there too.
    public func observe<A: Actor>(
        keyPaths: [String]? = nil, on actor: A, _isolation: isolated (any Actor)? = #isolation,
        _ block: @Sendable @escaping (isolated A, SectionedResultsChange<ResultsSection>) -> Void
    ) async -> NotificationToken {
        await observingOnActor(actor, T.rooted(keyPaths), { observed() }, { $0.change($1) }, block)
    }

    /// Observes the section on an actor, for Swift key paths.
    @_disfavoredOverload
    public func observe<A: Actor>(
        keyPaths: [PartialKeyPath<T>], on actor: A, _isolation: isolated (any Actor)? = #isolation,
        _ block: @Sendable @escaping (isolated A, SectionedResultsChange<ResultsSection>) -> Void
    ) async -> NotificationToken where T: ObjectBase {
        let paths = keyPaths.map { KeyPathRecorder.path($0) }
        return await observe(keyPaths: paths, on: actor, _isolation: _isolation, block)
    }

    private func observed() -> ObservedSection<Key, T> { ObservedSection(whole: ObservedSections(part.sections), key: part.key) }

    /// Returns the changes of the section as a sequence. See `RealmCollection.changes`.
    public func changes(keyPaths: [String]? = nil) -> RealmChanges<SectionedResultsChange<ResultsSection>> {
        RealmChanges(T.rooted(keyPaths), observed) { target, difference in target.frozen().change(difference) }
    }
}
