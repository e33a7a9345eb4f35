import FirnModel

/// What `Object`, `EmbeddedObject` and `DynamicObject` have in common.
///
/// An object that was made with `init` is unmanaged: its properties live in its own memory. Added to a realm, or read from one, it is managed:
/// it keeps nothing but where its row is, and reads and writes the realm's data.
open class ObjectBase {
    // Unchecked: the check for overlapping access costs more than the access, and these are numbers, read and set whole.

    /// What the realm keeps for objects of this type; nil: unmanaged. Owned by `_core`.
    @usableFromInline @exclusivity(unchecked) final var _state: UnsafeMutablePointer<AccessState>?
    /// Where the row stood when the type's `generation` was `_generation`.
    @usableFromInline @exclusivity(unchecked) final var _segment: Int32 = 0
    @usableFromInline @exclusivity(unchecked) final var _position: Int32 = 0
    @usableFromInline @exclusivity(unchecked) final var _generation: UInt32 = 0
    /// Row id of the managed object.
    @usableFromInline @exclusivity(unchecked) final var _rowID: Int64 = -1
    /// Keeps the realm, and with it `_state`, alive.
    final var _core: RealmCore?
    /// Receives the names of properties that are read (see `KeyPathRecorder`).
    final var _recorder: KeyPathRecorder?

    /// An unmanaged object with the initial values of its properties.
    public required init() {}

    /// The name of the type in files: that of the class, without its module, unless `_realmObjectName` says otherwise.
    public final class func className() -> String { _realmObjectName() ?? String(describing: self) }

    /// Another name for the type in files.
    open class func _realmObjectName() -> String? { nil }

    /// Names in files for properties that are called otherwise in code: `["code": "stored"]`.
    open class func propertiesMapping() -> [String: String] { [:] }

    /// The name of the property that is the primary key: another way to say `@Persisted(primaryKey: true)`.
    open class func primaryKey() -> String? { nil }

    /// Names of properties that have an index: another way to say `@Persisted(indexed: true)`.
    open class func indexedProperties() -> [String] { [] }

    /// Not needed: what is not `@Persisted` is not stored. Traps where it names a property that is.
    open class func ignoredProperties() -> [String] { [] }

    /// The properties, those of objects in it at most five levels deep.
    open var description: String { text(depth: 5) }

    /// What `==` asks for objects that are not identical. Managed objects are equal if they are the same object at the same version of the same realm (live
    /// ones: at the realm's version); unmanaged ones only to themselves. Who overrides it overrides `hash` too.
    open func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? ObjectBase else { return false }
        if self === other { return true }
        guard let first = _access, let second = other._access else { return false }
        return first === second && _rowID == other._rowID
    }

    /// Equal for equal objects.
    open var hash: Int { _state != nil ? _rowID.hashValue : ObjectIdentifier(self).hashValue }

    /// The columns of a managed object; nil: unmanaged.
    final var _access: TypeAccess? { _state.map { $0.pointee.access.takeUnretainedValue() } }
}

extension ObjectBase: Hashable {
    /// As `isEqual(_:)` says.
    public static func == (a: ObjectBase, b: ObjectBase) -> Bool { a === b || a.isEqual(b) }

    public func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}
