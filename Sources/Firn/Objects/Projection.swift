import FirnBytes
import FirnTable

/// A view of objects that shows some of their properties, and properties of objects that they refer to, as its own. It stores nothing:
/// reads and writes go to the object.
///
///     class PersonCard: Projection<Person> {
///         @Projected(\Person.name) var name
///         @Projected(\Person.address?.city) var city
///         @Projected(\Person.dogs.projectTo.name) var dogNames: ProjectedCollection<String>
///     }
///     let cards = realm.objects(PersonCard.self)
open class Projection<Root: ObjectBase & RealmCollectionValue>: _ProjectionBase, RealmCollectionValue, KeypathSortable {
    /// The type that a projection is stored as: its root object.
    public typealias PersistedType = Root

    /// The object that is shown.
    public let rootObject: Root

    /// Creates a projection of an object.
    public required init(projecting object: Root) { rootObject = object }

    /// The realm of the object; nil if it is unmanaged.
    public var realm: Realm? { rootObject.realm }
    /// True if the object was deleted or its realm was invalidated.
    public var isInvalidated: Bool { rootObject.isInvalidated }
    /// True if the object is frozen.
    public var isFrozen: Bool { rootObject.isFrozen }
    /// Returns whether both show the same object of the same file, possibly at different versions.
    public func isSameObject(as other: Projection<Root>?) -> Bool { rootObject.isSameObject(as: other?.rootObject) }

    /// Projections are equal if they have the same class and their objects are equal.
    public static func == (a: Projection, b: Projection) -> Bool { type(of: a) == type(of: b) && a.rootObject == b.rootObject }
    /// Hashes the root object. Projections of different classes of one object have the same hash.
    public func hash(into hasher: inout Hasher) { hasher.combine(rootObject) }

    /// The class of the objects that are shown. Used by the library; not for direct use.
    public static var _rootClass: ObjectBase.Type { Root.self }
    /// Returns the projection of an object, which must be of the root class: this is not checked. Used by the library; not for direct use.
    public static func _projecting(_ object: ObjectBase) -> any _ProjectionBase {
        self.init(projecting: object._typed(Root.self))
    }

    // MARK: As an element

    /// The type of one element of a collection: that of the root object. Used by collections; not for direct use.
    public static var _elementShape: _Shape { Root._elementShape }
    /// Returns the projection of a new unmanaged object. Used by collections; not for direct use.
    public static func _zero() -> Self { self.init(projecting: Root._zero()) }
    /// Returns the projection of a stored object; nil if the object was deleted or the value is not a link. Used by collections; not for
    /// direct use.
    public static func _element(_ stored: _Stored) -> Self? { Root._element(stored).map { self.init(projecting: $0) } }
    /// Returns a link to the root object. An unmanaged root object is added to `core`; traps if that is nil. Used by collections; not for
    /// direct use.
    public func _stored(in core: _RealmReference?) -> _Stored {
        core == nil && rootObject._core != nil ? _Stored(.link(rootObject._rowID), rootObject._core) : rootObject._stored(in: core)
    }
    /// The projection itself. Used by collections; not for direct use.
    public var _firnUntyped: Any? { self }
    /// Returns a projection of the class itself, or creates one of an object of the root class or of a dictionary or array of its property
    /// values. Returns nil for any other value. Used by collections; not for direct use.
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

/// Projections, for members that use the class that they are called on.
public protocol ProjectionObservable: _ProjectionBase, ThreadConfined {
    associatedtype Root: ObjectBase & RealmCollectionValue
    var rootObject: Root { get }
    init(projecting object: Root)
}

extension Projection: ProjectionObservable {}

extension Projection {
    /// Returns the projection of the frozen object. Traps if the object cannot be frozen.
    public func freeze() -> Self { type(of: self).init(projecting: rootObject.freeze()) }
    /// Returns the projection of the live object in this thread's realm, or nil if the object no longer exists.
    public func thaw() -> Self? { rootObject.thaw().map { type(of: self).init(projecting: $0) } }
}

extension Projection: ThreadConfined {
    /// Returns the projection of the same object in another realm of the file; nil if the object does not exist there. Used by
    /// `ThreadSafeReference`, `ThreadSafe` and `Snapshot`; not for direct use.
    public func _moved(to realm: Realm) -> Self? { rootObject._moved(to: realm).map { type(of: self).init(projecting: $0) } }
}

/// Declares a property of a projection: a property of the root object, or of an object that it refers to.
@propertyWrapper
public struct Projected<Root: ObjectBase, Value> {
    // Key paths of properties have no mutable state.
    let keyPath: KeyPath<Root, Value>

    /// Declares the key path of the property, from the root object.
    public init(_ projectedKeyPath: KeyPath<Root, Value>) { keyPath = projectedKeyPath }

    /// Unavailable: a projected property is read and written through its projection, and only in classes derived from `Projection`.
    @available(*, unavailable, message: "@Projected can only be used on properties of a class derived from Projection")
    public var wrappedValue: Value {
        get { trap("unavailable") }
        set { trap("unavailable") }
    }

    /// Setting writes to the object. Traps if the key path contains an optional or ends in a derived property.
    public static subscript<Owner: Projection<Root>>(
        _enclosingInstance owner: Owner, wrapped wrappedKeyPath: KeyPath<Owner, Value>,
        storage storageKeyPath: ReferenceWritableKeyPath<Owner, Self>
    ) -> Value {
        get { owner.rootObject[keyPath: owner[keyPath: storageKeyPath].keyPath] }
        set {
            guard let writable = owner[keyPath: storageKeyPath].keyPath as? ReferenceWritableKeyPath<Root, Value> else {
                trap(
                    "This projected property cannot be set: its key path contains an optional or ends in a derived property. Set it on rootObject."
                )
            }
            owner.rootObject[keyPath: writable] = newValue
        }
    }
}

extension Realm {
    /// Returns all objects of a projection's root class, as projections. Live.
    public func objects<Element: _ProjectionBase & RealmFetchable>(_ type: Element.Type) -> Results<Element> {
        core.check()
        return Results(TableSource(core.access(type._rootClass), Element._elementShape))
    }
}
