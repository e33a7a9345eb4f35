import FirnBytes
import FirnChange
import FirnTable

/// The changes of a collection, map or object, for `for await`: first its state (except for objects), then the changes. See
/// `RealmCollection.changes(keyPaths:)`.
public struct RealmChanges<Element>: AsyncSequence, Sendable {
    /// The type of the errors of an iteration, which never throws.
    public typealias Failure = Never
    private let make: @Sendable () -> ChangeFeed<Element>

    init<Target: Observed>(
        _ keyPaths: [String]?, _ target: () throws -> Target, _ element: @escaping (Target, Target.Difference?) -> Element?
    ) {
        do {
            let target = try target()
            try target.check(keyPaths)
            // Each iteration begins with the state at that time. Which target is observed is resolved here.
            let frozen = target.core.frozen()
            guard let still = withExtendedLifetime(frozen, { target.moved(to: frozen) }) else {
                trap("Cannot observe a collection in the same write transaction as its object was created in: commit first.")
            }
            let begin: () -> ChangeFeed<Element> = { ChangeFeed(frozen: still, keyPaths, element) }
            let handed = Carried(begin)
            make = { handed.value() }
        } catch { trap("\(error)") }
    }

    /// The iterator of one iteration. Only one task can use it at a time.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let feed: ChangeFeed<Element>

        /// Returns the next change; nil when the sequence has ended or its task is cancelled.
        public mutating func next() async -> Element? { await feed.next()?.value }
        /// Returns the next change; nil when the sequence has ended or its task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? { await feed.next()?.value }
    }

    /// Starts an iteration.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(feed: make()) }

    /// The sequence itself, for code that reads the values of a publisher.
    public var values: RealmChanges { self }
    /// Returns the sequence itself: its elements are frozen already.
    public func freeze() -> RealmChanges { self }
    /// Returns the sequence itself: its elements can be passed to any thread already.
    public func threadSafeReference() -> RealmChanges { self }
}

/// Replaces Realm's publishers, which need Combine: members with the same names return sequences of the same elements.
public enum RealmPublishers {
    /// `()` after each change.
    public typealias WillChange<Collection> = RealmChanges<Void>
    /// The collection as it is, and after each change.
    public typealias Value<Collection> = RealmChanges<Collection>
    /// The changes of a collection.
    public typealias CollectionChangeset<Collection> = RealmChanges<RealmCollectionChange<Collection>>
    /// The changes of a map.
    public typealias MapChangeset<Collection: _ObservableMap> = RealmChanges<RealmMapChange<Collection>>
    /// The changes of an object.
    public typealias ObjectChangeset<T> = RealmChanges<ObjectChange<T>>
}

extension RealmCollection {
    /// Returns the changes that `observe` reports, as a sequence that any task can iterate over:
    ///
    ///     for await change in dogs.changes() { … }
    ///
    /// The collections in the changes are frozen and usable from any thread. Changes that happen while one is being processed are merged
    /// into the next. The sequence ends when its task is cancelled. Key paths and traps are those of `observe`.
    public func changes(keyPaths: [String]? = nil) -> RealmChanges<RealmCollectionChange<Self>> {
        RealmChanges(Element.rooted(keyPaths), observed) { target, difference in target.frozen().change(difference) }
    }

    /// Returns the changes as a sequence, for Swift key paths.
    @_disfavoredOverload
    public func changes(keyPaths: [PartialKeyPath<Element>]) -> RealmChanges<RealmCollectionChange<Self>> where Element: ObjectBase {
        changes(keyPaths: keyPaths.map(KeyPathRecorder.path))
    }

    /// `()` after each change of the collection, not before it as the name suggests.
    public var objectWillChange: RealmPublishers.WillChange<Self> {
        RealmChanges(nil, { Changing(target: try observed()) }) { _, _ in () }
    }

    /// The collection, frozen: as it is, and after each change.
    public var collectionPublisher: RealmPublishers.Value<Self> { collectionPublisher(keyPaths: nil) }
    /// Returns the collection, frozen: as it is, and after each change of the key paths.
    public func collectionPublisher(keyPaths: [String]?) -> RealmPublishers.Value<Self> {
        RealmChanges(Element.rooted(keyPaths), observed) { target, _ in target.frozen().collection }
    }

    /// The same as `changes(keyPaths:)`.
    public var changesetPublisher: RealmPublishers.CollectionChangeset<Self> { changes() }
    /// Returns the same as `changes(keyPaths:)`.
    public func changesetPublisher(keyPaths: [String]?) -> RealmPublishers.CollectionChangeset<Self> { changes(keyPaths: keyPaths) }
}

extension Map {
    /// Returns the changes of the map as a sequence, with frozen maps. See `RealmCollection.changes(keyPaths:)`.
    public func changes(keyPaths: [String]? = nil) -> RealmChanges<RealmMapChange<Map>> {
        RealmChanges(keyPaths, observed) { target, difference in target.frozen().change(difference) }
    }

    /// `()` after each change of the map, not before it as the name suggests.
    public var objectWillChange: RealmPublishers.WillChange<Map> {
        RealmChanges(nil, { Changing(target: try observed()) }) { _, _ in () }
    }
    /// The map, frozen: as it is, and after each change.
    public var collectionPublisher: RealmPublishers.Value<Map> { collectionPublisher(keyPaths: nil) }
    /// Returns the map, frozen: as it is, and after each change of the key paths.
    public func collectionPublisher(keyPaths: [String]?) -> RealmPublishers.Value<Map> {
        RealmChanges(keyPaths, observed) { target, _ in target.frozen().map }
    }
    /// The same as `changes(keyPaths:)`.
    public var changesetPublisher: RealmPublishers.MapChangeset<Map> { changes() }
    /// Returns the same as `changes(keyPaths:)`.
    public func changesetPublisher(keyPaths: [String]?) -> RealmPublishers.MapChangeset<Map> { changes(keyPaths: keyPaths) }
}

extension RealmCollectionValue where Self: ObjectBase {
    /// Returns the changes that `observe` reports, as a sequence. The objects in the changes are frozen. The sequence ends after
    /// `.deleted`.
    public func changes(keyPaths: [String]? = nil) -> RealmChanges<ObjectChange<Self>> {
        RealmChanges(keyPaths?.isEmpty ?? true ? nil : keyPaths, { try observed(keyPaths) }) { target, difference in
            target.frozen().change(difference)
        }
    }
}

extension Observed {
    /// Returns the target at the version of its realm, usable from any thread; the target itself if it does not exist at that version.
    func frozen() -> Self {
        let frozen = core.frozen()
        return withExtendedLifetime(frozen) { moved(to: frozen) ?? self }
    }
}

/// A target without its initial notification.
private struct Changing<Target: Observed>: Observed {
    let target: Target
    var core: RealmCore { target.core }
    var rootType: String? { target.rootType }
    var defaultKeyPaths: [String]? { target.defaultKeyPaths }
    var dependencies: Set<String>? { target.dependencies }
    var hasInitial: Bool { false }
    func state() -> Target.State { target.state() }
    func difference(from old: Target.State, to new: Target.State, _ versions: VersionChanges, _ filter: KeyPathFilter?) throws(Damage)
        -> Target.Difference?
    {
        try target.difference(from: old, to: new, versions, filter)
    }
    func isLast(_ difference: Target.Difference) -> Bool { target.isLast(difference) }
    var end: Target.Difference? { target.end }
    func moved(to core: RealmCore) -> Changing? { target.moved(to: core).map { Changing(target: $0) } }
}
