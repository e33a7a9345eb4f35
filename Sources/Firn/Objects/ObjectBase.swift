import FirnBytes
import FirnDatabase
import FirnTable

/// The common base class of `Object`, `EmbeddedObject` and `DynamicObject`.
///
/// An object created with `init` is unmanaged: it stores its properties in memory. An object that was added to a realm or read from one is
/// managed: it stores only the location of its row, and reads and writes the realm's data.
open class ObjectBase {
    // Unchecked: the check for overlapping access costs more than the access itself, and these are numbers that are read and set as a
    // whole.

    /// The state that the realm keeps for objects of this type; nil if the object is unmanaged. Owned by `_core`.
    @usableFromInline @exclusivity(unchecked) final var _state: UnsafeMutablePointer<AccessState>?
    /// The position of the row when the `generation` of the type was `_generation`.
    @usableFromInline @exclusivity(unchecked) final var _segment: Int32 = 0
    @usableFromInline @exclusivity(unchecked) final var _position: Int32 = 0
    @usableFromInline @exclusivity(unchecked) final var _generation: UInt32 = 0
    /// The row id of a managed object.
    @usableFromInline @exclusivity(unchecked) final var _rowID: Int64 = -1
    /// Keeps the realm alive, and with it `_state`.
    final var _core: RealmCore?
    /// The cells of the collections that were read through this object (see `KeptCells`).
    @exclusivity(unchecked) final var _cells: [CollectionCell] = []
    /// Records the names of properties that are read (see `KeyPathRecorder`).
    final var _recorder: KeyPathRecorder?

    /// Creates an unmanaged object with the initial values of its properties. A subclass can override it, with `required` or without. The
    /// library calls it for every object that it creates: a class with designated initializers of its own needs `override init()` too.
    public init() {}

    /// Called by `_make()`.
    @_silgen_name("firn_object_make")
    convenience init(_make: Void) { self.init() }

    /// Returns the name of the type in files: `_realmObjectName()`, or the name of the class without its module.
    public final class func className() -> String { _realmObjectName() ?? String(describing: self) }

    /// Override this to give the type another name in files.
    open class func _realmObjectName() -> String? { nil }

    /// Override this to give properties other names in files: `["code": "stored"]`.
    open class func propertiesMapping() -> [String: String] { [:] }

    /// Override this to name the primary key: the same as `@Persisted(primaryKey: true)`.
    open class func primaryKey() -> String? { nil }

    /// Override this to name indexed properties: the same as `@Persisted(indexed: true)`.
    open class func indexedProperties() -> [String] { [] }

    /// Override this to name `List`, `MutableSet`, `Map`, `LinkingObjects` and `RealmProperty` properties without `@Persisted` that are not
    /// stored. Other properties without `@Persisted` are never stored. Traps if it names a `@Persisted` property.
    open class func ignoredProperties() -> [String] { [] }

    /// Override this to return false, and realms whose configuration has no `objectTypes` do not hold objects of the class: using it there
    /// traps.
    open class func shouldIncludeInDefaultSchema() -> Bool { true }

    /// The properties as text, with those of referenced objects down to five levels.
    open var description: String { text(depth: 5) }

    /// Used by `==` for objects that are not identical. Managed objects are equal if they are the same object in the same realm (for frozen
    /// realms, at the same version). Unmanaged objects are equal only to themselves. A subclass that overrides this must also override
    /// `hash`.
    open func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? ObjectBase else { return false }
        if self === other { return true }
        guard let first = _access, let second = other._access else { return false }
        return first === second && _rowID == other._rowID
    }

    /// The hash value; equal objects have equal values.
    open var hash: Int { _state != nil ? _rowID.hashValue : ObjectIdentifier(self).hashValue }

    /// The access to the columns of a managed object; nil if the object is unmanaged.
    final var _access: TypeAccess? { _state.map { $0.pointee.access.takeUnretainedValue() } }

    /// As `_access`, for objects that are managed. Traps if the object is not.
    final var _managedAccess: TypeAccess {
        guard let _access else { trap("this object is not managed by a realm") }
        return _access
    }

    /// Returns the object as an object of its class, or of a class that it is derived from. The caller has made sure of that: in release
    /// builds it is not checked, because that costs more than reading a property.
    @inline(__always)
    final func _typed<T: ObjectBase>(_ type: T.Type) -> T { unsafeDowncast(self, to: type) }
}

extension ObjectBase: Hashable {
    /// Returns whether the objects are identical or equal by `isEqual(_:)`.
    public static func == (a: ObjectBase, b: ObjectBase) -> Bool { a === b || a.isEqual(b) }

    /// Hashes the value of `hash`. Unless a class overrides `hash`, it changes when an object is added to a realm: remove the object from
    /// sets and dictionaries before.
    public func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}
