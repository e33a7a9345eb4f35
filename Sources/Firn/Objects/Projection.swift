import FirnModel

/// A view of objects that shows some of what they have, and what they lead to, as its own properties. It holds nothing itself: what it shows is read from the
/// object, and written there.
///
///     class PersonCard: Projection<Person> {
///         @Projected(\Person.name) var name
///         @Projected(\Person.address?.city) var city
///         @Projected(\Person.dogs.projectTo.name) var dogNames: ProjectedCollection<String>
///     }
///     let cards = realm.objects(PersonCard.self)
open class Projection<Root: ObjectBase & RealmCollectionValue>: _ProjectionBase, RealmCollectionValue, KeypathSortable {
    public typealias PersistedType = Root

    /// What is shown.
    public let rootObject: Root

    public required init(projecting object: Root) { rootObject = object }

    public var realm: Realm? { rootObject.realm }
    public var isInvalidated: Bool { rootObject.isInvalidated }
    public var isFrozen: Bool { rootObject.isFrozen }
    public func isSameObject(as other: Projection<Root>?) -> Bool { rootObject.isSameObject(as: other?.rootObject) }

    /// Equal are projections of the same class of equal objects.
    public static func == (a: Projection, b: Projection) -> Bool { type(of: a) == type(of: b) && a.rootObject == b.rootObject }
    public func hash(into hasher: inout Hasher) { hasher.combine(rootObject) }

    public static var _rootClass: ObjectBase.Type { Root.self }
    public static func _projecting(_ object: ObjectBase) -> any _ProjectionBase { self.init(projecting: unsafeDowncast(object, to: Root.self)) }

    // MARK: As an element

    public static var _elementShape: _Shape { Root._elementShape }
    public static func _zero() -> Self { self.init(projecting: Root._zero()) }
    public static func _element(_ stored: _Stored) -> Self? { Root._element(stored).map { self.init(projecting: $0) } }
    public func _stored(in core: _RealmReference?) -> _Stored {
        core == nil && rootObject._core != nil ? _Stored(.link(rootObject._rowID), rootObject._core) : rootObject._stored(in: core)
    }
    public var _untypedElement: Any? { self }
    public static func _elementFromUntyped(_ value: Any?) -> Self? {
        if let same = value as? Self { return same }
        return Root._elementFromUntyped(value).map { self.init(projecting: $0) }
    }
}

/// Any projection.
public protocol _ProjectionBase: AnyObject {
    static var _rootClass: ObjectBase.Type { get }
    static func _projecting(_ object: ObjectBase) -> any _ProjectionBase
}

/// Projections, for members that speak of the class they are called on.
public protocol ProjectionObservable: _ProjectionBase, ThreadConfined {
    associatedtype Root: ObjectBase & RealmCollectionValue
    var rootObject: Root { get }
    init(projecting object: Root)
}

extension Projection: ProjectionObservable {}

extension Projection {
    /// The projection of the object as it is at this version, for good.
    public func freeze() -> Self { type(of: self).init(projecting: rootObject.freeze()) }
    /// The projection of the live object of this thread's realm; nil if it is not there any more.
    public func thaw() -> Self? { rootObject.thaw().map { type(of: self).init(projecting: $0) } }
}

extension Projection: ThreadConfined {
    public func _moved(to realm: Realm) -> Self? { rootObject._moved(to: realm).map { type(of: self).init(projecting: $0) } }
}

/// Declares what a property of a projection shows: a property of the root object, or of what it leads to.
@propertyWrapper
public struct Projected<Root: ObjectBase, Value> {
    // Key paths of properties hold nothing that threads could change.
    let keyPath: KeyPath<Root, Value>

    public init(_ projectedKeyPath: KeyPath<Root, Value>) { keyPath = projectedKeyPath }

    @available(*, unavailable, message: "@Projected can only be used on properties of a class derived from Projection")
    public var wrappedValue: Value {
        get { fatalError("unavailable") }
        set { fatalError("unavailable") }
    }

    /// Setting writes the object; traps where the key path leads through optionals or ends in something derived.
    public static subscript<Owner: Projection<Root>>(
        _enclosingInstance owner: Owner, wrapped wrappedKeyPath: KeyPath<Owner, Value>, storage storageKeyPath: ReferenceWritableKeyPath<Owner, Self>
    ) -> Value {
        get { owner.rootObject[keyPath: owner[keyPath: storageKeyPath].keyPath] }
        set {
            guard let writable = owner[keyPath: storageKeyPath].keyPath as? ReferenceWritableKeyPath<Root, Value> else {
                preconditionFailure("This projected property cannot be set: its key path leads through an optional, or to something derived. Set it on rootObject.")
            }
            owner.rootObject[keyPath: writable] = newValue
        }
    }
}

extension Realm {
    /// All objects of a projection's class, projected.
    public func objects<Element: _ProjectionBase & RealmFetchable>(_ type: Element.Type) -> Results<Element> {
        core.confinement.check()
        return Results(TableSource(core.access(type._rootClass), Element._elementShape))
    }
}
