import FirnBytes
import Dispatch
import FirnTable

/// A property of each object of a collection, as a live collection: `person.dogs.projectTo.name`.
///
/// It has the same realm, version and order as the collection. Setting an element sets the property of the object at that position.
public struct ProjectedCollection<Element>: RandomAccessCollection, CustomStringConvertible {
    let origin: any ProjectionOrigin<Element>

    init(_ origin: any ProjectionOrigin<Element>) { self.origin = origin }

    init<Base: RealmCollection>(_ base: Base, _ keyPath: KeyPath<Base.Element, Element>) {
        origin = ProjectedProperty(base, keyPath)
    }

    // MARK: Elements

    /// The position of the first element, 0.
    public var startIndex: Int { 0 }
    /// The number of elements.
    public var endIndex: Int { origin.count }
    /// The property of the object at a position. Setting it traps outside of a write transaction, and if the key path contains an optional
    /// or ends in a derived property.
    public subscript(position: Int) -> Element {
        get { origin.element(position) }
        nonmutating set { origin.set(position, newValue) }
    }
    /// The values as text, in the form of an array.
    ///
    /// - Complexity: O(*n*) for *n* elements.
    public var description: String { "\(Array(self))" }

    // MARK: Realm and version

    /// The realm of the collection; nil if it is unmanaged.
    public var realm: Realm? { origin.base.realm }
    /// Whether the collection can no longer be used, because its object was deleted or its realm was invalidated.
    public var isInvalidated: Bool { origin.base.isInvalidated }
    /// Whether the collection is frozen.
    public var isFrozen: Bool { origin.base.isFrozen }
    /// Returns the collection at the version of its realm, immutable and usable from any thread. See `RealmCollection.freeze()`.
    public func freeze() -> ProjectedCollection { ProjectedCollection(origin.frozen()) }
    /// Returns the live collection of this thread's realm; nil if its object does not exist there.
    public func thaw() -> ProjectedCollection? { origin.thawed().map { ProjectedCollection($0) } }

    // MARK: Notifications

    /// Calls `block` with the collection, then after each commit that changed the projected property of an object, or which objects the
    /// collection contains, or their order. See `RealmCollection.observe`.
    ///
    /// - Parameters:
    ///   - keyPaths: If the projected property is a link: the properties of the linked objects to observe. nil: the projected property
    ///     itself.
    ///   - queue: The queue that calls `block`; nil: the queue or thread of the realm.
    ///   - block: Receives each change.
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil, _ block: @escaping (RealmCollectionChange<ProjectedCollection>) -> Void
    ) -> NotificationToken {
        observing { try origin.observe(keyPaths, queue, block) }
    }

    /// Observes the collection, for Swift key paths of the projected objects.
    @_disfavoredOverload
    public func observe<Root: ObjectBase>(
        keyPaths: [PartialKeyPath<Root>], on queue: DispatchQueue? = nil,
        _ block: @escaping (RealmCollectionChange<ProjectedCollection>) -> Void
    ) -> NotificationToken {
        observe(keyPaths: keyPaths.map { KeyPathRecorder.path($0) }, on: queue, block)
    }

    /// Observes the collection on an actor. See `RealmCollection.observe`.
    public func observe<A: Actor>(
        keyPaths: [String]? = nil, on actor: A, _isolation: isolated (any Actor)? = #isolation,
        _ block: @Sendable @escaping (isolated A, RealmCollectionChange<ProjectedCollection>) -> Void
    ) async -> NotificationToken {
        await origin.observe(keyPaths, on: actor, isolation: _isolation, block)
    }
}

extension ProjectedCollection: ThreadConfined {
    /// Returns the collection in another realm of the same file, or nil if its object does not exist there. Used by
    /// `ThreadSafeReference`; not for direct use.
    public func _moved(to realm: Realm) -> ProjectedCollection? { origin.moved(to: realm).map { ProjectedCollection($0) } }
}

/// The collection and the property that a `ProjectedCollection` shows, without the type of the collection.
protocol ProjectionOrigin<Element> {
    associatedtype Element
    var base: any RealmCollection { get }
    var count: Int { get }
    func element(_ position: Int) -> Element
    func set(_ position: Int, _ value: Element)
    func frozen() -> any ProjectionOrigin<Element>
    func thawed() -> (any ProjectionOrigin<Element>)?
    func moved(to realm: Realm) -> (any ProjectionOrigin<Element>)?
    func observe(
        _ keyPaths: [String]?, _ queue: DispatchQueue?, _ block: @escaping (RealmCollectionChange<ProjectedCollection<Element>>) -> Void
    ) throws -> NotificationToken
    func observe<A: Actor>(
        _ keyPaths: [String]?, on actor: A, isolation: isolated (any Actor)?,
        _ block: @Sendable @escaping (isolated A, RealmCollectionChange<ProjectedCollection<Element>>) -> Void
    ) async -> NotificationToken
}

/// A property of the objects of one kind of collection.
struct ProjectedProperty<Base: RealmCollection, Element>: ProjectionOrigin {
    let collection: Base
    let keyPath: KeyPath<Base.Element, Element>

    init(_ collection: Base, _ keyPath: KeyPath<Base.Element, Element>) {
        self.collection = collection
        self.keyPath = keyPath
    }

    var base: any RealmCollection { collection }
    var count: Int { collection.count }
    func element(_ position: Int) -> Element { collection[position][keyPath: keyPath] }

    func set(_ position: Int, _ value: Element) {
        guard let writable = keyPath as? ReferenceWritableKeyPath<Base.Element, Element> else {
            trap(
                "This projected property cannot be set: its key path contains an optional or ends in a derived property. Set it on the object."
            )
        }
        collection[position][keyPath: writable] = value
    }

    private func same(_ collection: Base) -> ProjectedProperty { ProjectedProperty(collection, keyPath) }

    func frozen() -> any ProjectionOrigin<Element> { same(collection.freeze()) }
    func thawed() -> (any ProjectionOrigin<Element>)? { collection.thaw().map(same) }
    func moved(to realm: Realm) -> (any ProjectionOrigin<Element>)? { collection._moved(to: realm).map(same) }

    /// The key paths from the objects of the collection.
    private func rooted(_ keyPaths: [String]?) -> [String] {
        let own = KeyPathRecorder.path(keyPath)
        guard let keyPaths, !keyPaths.isEmpty else { return [own] }
        return keyPaths.map { own + "." + $0 }
    }

    private func projected(_ change: RealmCollectionChange<Base>) -> RealmCollectionChange<ProjectedCollection<Element>> {
        switch change {
        case .initial(let collection): .initial(ProjectedCollection(same(collection)))
        case .update(let collection, let deletions, let insertions, let modifications):
            .update(
                ProjectedCollection(same(collection)), deletions: deletions, insertions: insertions, modifications: modifications)
        case .error(let error): .error(error)
        }
    }

    func observe(
        _ keyPaths: [String]?, _ queue: DispatchQueue?, _ block: @escaping (RealmCollectionChange<ProjectedCollection<Element>>) -> Void
    ) throws -> NotificationToken {
        try collection.observed().observe(rooted(keyPaths), on: queue) { block(projected($0.change($1))) }
    }

    func observe<A: Actor>(
        _ keyPaths: [String]?, on actor: A, isolation: isolated (any Actor)?,
        _ block: @Sendable @escaping (isolated A, RealmCollectionChange<ProjectedCollection<Element>>) -> Void
    ) async -> NotificationToken {
        await observingOnActor(
            actor, rooted(keyPaths), { try collection.observed() }, { projected($0.change($1)) }, block, isolation: isolation)
    }
}

/// The result of `projectTo`: reading a property of it reads that property of every element.
@dynamicMemberLookup
public struct CollectionElementMapper<Base: RealmCollection> {
    let base: Base

    /// Returns the values of a property for all elements.
    public subscript<Value>(dynamicMember member: KeyPath<Base.Element, Value>) -> ProjectedCollection<Value> {
        // While key paths are recorded, records the property of the elements.
        if let recorded = base as? any RecordedCollection, let recorder = recorded.recorder {
            recorder.touch(recorded.recordedInstance)
            _ = recorder.object(base.recordedClass)[keyPath: member as AnyKeyPath]
        }
        return ProjectedCollection(base, member)
    }
}

extension RealmCollection {
    fileprivate var recordedClass: ObjectBase.Type { Element.self as! ObjectBase.Type }
}

/// Collections that can be part of a recorded key path.
protocol RecordedCollection {
    var recorder: KeyPathRecorder? { get }
    /// The instance that a property without `@Persisted` keeps.
    var recordedInstance: AnyObject? { get }
}

extension RecordedCollection where Self: AnyObject {
    var recordedInstance: AnyObject? { self }
}

extension List: RecordedCollection {}
extension MutableSet: RecordedCollection {}
extension LinkingObjects: RecordedCollection {}

/// Any `ProjectedCollection`, whatever its elements.
protocol AnyProjectedCollection {}
extension ProjectedCollection: AnyProjectedCollection {}

extension RealmCollection where Element: ObjectBase {
    /// Selects a property of every element, for `@Projected`.
    public var projectTo: CollectionElementMapper<Self> { CollectionElementMapper(base: self) }
}
