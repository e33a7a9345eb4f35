import FirnBytes
import FirnChange
import FirnModel

/// The changes of a collection, for `for await`: first what is there, then what became of it. See `RealmCollection.changes(keyPaths:)`.
public struct RealmChanges<Element>: AsyncSequence, Sendable {
    public typealias Failure = Never
    private let make: @Sendable () -> ChangeFeed<Element>

    init<Target: Observed>(_ keyPaths: [String]?, _ target: () throws -> Target, _ element: @escaping (Target, Target.Difference?) -> Element) {
        do {
            let target = try target()
            try target.check(keyPaths)
            // Each iteration begins with what is there then; where it is is settled here.
            let frozen = target.core.frozen()
            guard let still = withExtendedLifetime(frozen, { target.moved(to: frozen) }) else {
                preconditionFailure("Cannot observe a collection in the same write transaction as its object was created in: commit first.")
            }
            let begin: () -> ChangeFeed<Element> = { ChangeFeed(frozen: still, keyPaths, element) }
            let handed = Carried(begin)
            make = { handed.value() }
        } catch { preconditionFailure("\(error)") }
    }

    public struct AsyncIterator: AsyncIteratorProtocol {
        let feed: ChangeFeed<Element>

        public mutating func next() async -> Element? { await feed.next()?.value }
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? { await feed.next()?.value }
    }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(feed: make()) }

    /// The sequence itself: for code that asks a publisher for its values.
    public var values: RealmChanges { self }
    /// What comes is frozen already.
    public func freeze() -> RealmChanges { self }
    /// What comes can be handed to any thread already.
    public func threadSafeReference() -> RealmChanges { self }
}

/// What stands in for publishers, which Linux does not have: the same members give sequences of the same elements.
public enum RealmPublishers {
    /// `()` after each change.
    public typealias WillChange<Collection> = RealmChanges<Void>
    /// The collection as it is, and after each change.
    public typealias Value<Collection> = RealmChanges<Collection>
    /// What changed.
    public typealias CollectionChangeset<Collection> = RealmChanges<RealmCollectionChange<Collection>>
    public typealias MapChangeset<Collection: _ObservableMap> = RealmChanges<RealmMapChange<Collection>>
    public typealias ObjectChangeset<T> = RealmChanges<ObjectChange<T>>
}

extension RealmCollection {
    /// What `observe` tells, as a sequence that any task can go through:
    ///
    ///     for await change in dogs.changes() { … }
    ///
    /// The collections in the changes are frozen: each can be read anywhere and stays as it is. Whatever happens while a change is dealt with is the next one.
    /// The sequence ends when its task is cancelled. Key paths, and where this traps: as `observe`.
    public func changes(keyPaths: [String]? = nil) -> RealmChanges<RealmCollectionChange<Self>> {
        RealmChanges(Element.rooted(keyPaths), observed) { target, difference in target.frozen().change(difference) }
    }

    @_disfavoredOverload
    public func changes(keyPaths: [PartialKeyPath<Element>]) -> RealmChanges<RealmCollectionChange<Self>> where Element: ObjectBase {
        changes(keyPaths: keyPaths.map(KeyPathRecorder.path))
    }

    /// `()` each time the collection changes: after the change, whatever the name says.
    public var objectWillChange: RealmPublishers.WillChange<Self> {
        RealmChanges(nil, { Changing(target: try observed()) }) { _, _ in () }
    }

    /// The collection, frozen, as it is and after each change.
    public var collectionPublisher: RealmPublishers.Value<Self> { collectionPublisher(keyPaths: nil) }
    public func collectionPublisher(keyPaths: [String]?) -> RealmPublishers.Value<Self> {
        RealmChanges(Element.rooted(keyPaths), observed) { target, _ in target.frozen().collection }
    }

    /// The same as `changes(keyPaths:)`.
    public var changesetPublisher: RealmPublishers.CollectionChangeset<Self> { changes() }
    public func changesetPublisher(keyPaths: [String]?) -> RealmPublishers.CollectionChangeset<Self> { changes(keyPaths: keyPaths) }
}

extension Map {
    /// As `RealmCollection.changes`, with frozen maps.
    public func changes(keyPaths: [String]? = nil) -> RealmChanges<RealmMapChange<Map>> {
        RealmChanges(keyPaths, observed) { target, difference in target.frozen().change(difference) }
    }

    public var objectWillChange: RealmPublishers.WillChange<Map> {
        RealmChanges(nil, { Changing(target: try observed()) }) { _, _ in () }
    }
    public var collectionPublisher: RealmPublishers.Value<Map> { collectionPublisher(keyPaths: nil) }
    public func collectionPublisher(keyPaths: [String]?) -> RealmPublishers.Value<Map> {
        RealmChanges(keyPaths, observed) { target, _ in target.frozen().map }
    }
    public var changesetPublisher: RealmPublishers.MapChangeset<Map> { changes() }
    public func changesetPublisher(keyPaths: [String]?) -> RealmPublishers.MapChangeset<Map> { changes(keyPaths: keyPaths) }
}

extension RealmCollectionValue where Self: ObjectBase {
    /// As `observe`, as a sequence: the objects in the changes are frozen. It ends after `.deleted`.
    public func changes(keyPaths: [String]? = nil) -> RealmChanges<ObjectChange<Self>> {
        RealmChanges(keyPaths?.isEmpty ?? true ? nil : keyPaths, { try observed(keyPaths) }) { target, difference in target.frozen().change(difference) }
    }
}

extension Observed {
    /// Itself at the version of its realm, for any thread; where it is not there, as it is.
    func frozen() -> Self {
        let frozen = core.frozen()
        return withExtendedLifetime(frozen) { moved(to: frozen) ?? self }
    }
}

/// Something without its first notification.
private struct Changing<Target: Observed>: Observed {
    let target: Target
    var core: RealmCore { target.core }
    var rootType: String? { target.rootType }
    var defaultKeyPaths: [String]? { target.defaultKeyPaths }
    var dependencies: Set<String>? { target.dependencies }
    var hasInitial: Bool { false }
    func state() -> Target.State { target.state() }
    func difference(from old: Target.State, to new: Target.State, _ versions: VersionChanges, _ filter: KeyPathFilter?) throws(Damage) -> Target.Difference? {
        try target.difference(from: old, to: new, versions, filter)
    }
    func isLast(_ difference: Target.Difference) -> Bool { target.isLast(difference) }
    var end: Target.Difference? { target.end }
    func moved(to core: RealmCore) -> Changing? { target.moved(to: core).map { Changing(target: $0) } }
}
