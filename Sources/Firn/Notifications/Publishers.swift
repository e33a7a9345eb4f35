// The functions of Realm that return publishers. Combine does not exist on Linux: they return sequences of the same elements, for
// `for await`.

/// Returns the object, frozen, after each change of it. The sequence ends when the object is deleted.
public func valuePublisher<T: ObjectBase & RealmCollectionValue>(_ object: T, keyPaths: [String]? = nil) -> RealmPublishers.Value<T> {
    RealmChanges(keyPaths?.isEmpty ?? true ? nil : keyPaths, { try object.observed(keyPaths) }) { target, difference in
        if case .deleted? = difference { nil } else { target.frozen().object }
    }
}

/// Returns the projection of the frozen object after each change of it. The sequence ends when the object is deleted.
public func valuePublisher<T: ProjectionObservable>(_ projection: T, keyPaths: [String]? = nil) -> RealmPublishers.Value<T> {
    projection.values(keyPaths)
}

/// Returns the collection, frozen: as it is, and after each change.
public func valuePublisher<T: RealmCollection>(_ collection: T, keyPaths: [String]? = nil) -> RealmPublishers.Value<T> {
    collection.collectionPublisher(keyPaths: keyPaths)
}

/// Returns the map, frozen: as it is, and after each change.
public func valuePublisher<Key, Value>(_ collection: Map<Key, Value>, keyPaths: [String]? = nil) -> RealmPublishers.Value<Map<Key, Value>> {
    collection.collectionPublisher(keyPaths: keyPaths)
}

/// Returns the sections, frozen: as they are, and after each change.
public func valuePublisher<Key, Element>(_ collection: SectionedResults<Key, Element>, keyPaths: [String]? = nil)
    -> RealmPublishers.Value<SectionedResults<Key, Element>>
{
    collection.collectionPublisher(keyPaths: keyPaths)
}

/// Returns the changes of the object. The sequence ends after `.deleted`.
public func changesetPublisher<T: ObjectBase & RealmCollectionValue>(_ object: T, keyPaths: [String]? = nil)
    -> RealmPublishers.ObjectChangeset<T>
{
    object.changes(keyPaths: keyPaths)
}

/// Returns the changes of the projection. The sequence ends after `.deleted`.
public func changesetPublisher<T: ProjectionObservable>(_ projection: T, keyPaths: [String]? = nil) -> RealmPublishers.ObjectChangeset<T> {
    projection.changes(keyPaths: keyPaths)
}

/// Returns the changes of the collection.
public func changesetPublisher<T: RealmCollection>(_ collection: T, keyPaths: [String]? = nil) -> RealmPublishers.CollectionChangeset<T> {
    collection.changes(keyPaths: keyPaths)
}

/// Returns the changes of the map.
public func changesetPublisher<Key, Value>(_ collection: Map<Key, Value>, keyPaths: [String]? = nil)
    -> RealmPublishers.MapChangeset<Map<Key, Value>>
{
    collection.changes(keyPaths: keyPaths)
}

/// Returns the changes of the sections.
public func changesetPublisher<Key, Element>(_ collection: SectionedResults<Key, Element>, keyPaths: [String]? = nil)
    -> RealmPublishers.SectionChangeset<SectionedResults<Key, Element>>
{
    collection.changes(keyPaths: keyPaths)
}

extension RealmPublishers {
    /// The changes of sectioned results or of one section.
    public typealias SectionChangeset<Collection: RandomAccessCollection> = RealmChanges<SectionedResultsChange<Collection>>
}

extension RealmCollectionValue where Self: ObjectBase {
    /// `()` after each change of the object, not before it as the name suggests.
    public var objectWillChange: RealmPublishers.WillChange<Self> { RealmChanges(nil, { try observed(nil) }) { _, _ in () } }
}

extension ResultsSection {
    /// The same as `changes(keyPaths:)`.
    public var changesetPublisher: RealmPublishers.SectionChangeset<ResultsSection> { changes() }
    /// Returns the same as `changes(keyPaths:)`.
    public func changesetPublisher(keyPaths: [String]?) -> RealmPublishers.SectionChangeset<ResultsSection> { changes(keyPaths: keyPaths) }
}
