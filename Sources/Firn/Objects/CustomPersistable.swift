import FirnBytes
import FirnDatabase
import FirnTable
import Foundation

/// A type of your own that is stored as a value or as an embedded object. Properties, optional properties and elements of collections can
/// have it.
///
///     extension URL: FailableCustomPersistable {
///         public typealias PersistedType = String
///         public init?(persistedValue: String) { self.init(string: persistedValue) }
///         public var persistableValue: String { absoluteString }
///     }
public protocol CustomPersistable: _CustomPersistable {
    /// Creates a value from its stored form.
    init(persistedValue: PersistedType)
}

/// As `CustomPersistable`, for types that cannot be created from every stored value. If the initializer returns nil, an optional property
/// is nil; other properties have the value that the zero of the stored type gives. They trap if that is nil too.
public protocol FailableCustomPersistable: _CustomPersistable {
    /// Creates a value from its stored form, or returns nil if that is not valid.
    init?(persistedValue: PersistedType)
}

/// The common requirements of both kinds of custom types.
public protocol _CustomPersistable: _Persistable, RealmOptionalType, RealmCollectionValue, _QueryByStoredValue
where PersistedType: _CustomStorage {
    /// The stored form of the value.
    var persistableValue: PersistedType { get }
    static func _made(of value: PersistedType) -> Self?
}

extension CustomPersistable {
    /// Returns the value that `init(persistedValue:)` creates; never nil. Used by `@Persisted` and collections; not for direct use.
    public static func _made(of value: PersistedType) -> Self? { Self(persistedValue: value) }
}

extension FailableCustomPersistable {
    /// Returns the value that `init(persistedValue:)` creates, or nil if the stored value is not valid. Used by `@Persisted` and
    /// collections; not for direct use.
    public static func _made(of value: PersistedType) -> Self? { Self(persistedValue: value) }
}

/// A type that custom types can be stored as: single values and embedded objects.
public protocol _CustomStorage: _OptionalProperty, RealmCollectionValue {
    static var _customShape: _Shape { get }
    /// Returns the value of a property that was never set.
    static func _initialCustom() -> Self
    static func _readCustom(_ object: ObjectBase, _ column: Int) -> Self?
    static func _writeCustom(_ object: ObjectBase, _ column: Int, _ value: Self)
    static func _appendCustom(_ value: Self, to sink: _Sink)
}

extension _Scalar {
    /// The type of the column that a property of a custom type has. Used by `@Persisted`; not for direct use.
    public static var _customShape: _Shape { _elementShape }
    /// Returns the initial stored form of a custom property that declares no value. Used by `@Persisted`; not for direct use.
    public static func _initialCustom() -> Self { _initial() }
    /// Returns the value from which a custom value is created: that of a column, or the zero of the type if it is null. Never nil. Used by
    /// `@Persisted`; not for direct use.
    public static func _readCustom(_ object: ObjectBase, _ column: Int) -> Self? { _read(object, column) }
    /// Sets the stored form of a custom value. Traps outside of a write transaction. Used by `@Persisted`; not for direct use.
    public static func _writeCustom(_ object: ObjectBase, _ column: Int, _ value: Self) { _write(object, column, value) }
    /// Appends the stored form of a custom value to a column. Used by `@Persisted`; not for direct use.
    public static func _appendCustom(_ value: Self, to sink: _Sink) { value._appendPresent(to: sink) }
}

extension ObjectBase: _CustomStorage {
    /// The type of the column that a property of a custom type has: an optional object. Used by `@Persisted`; not for direct use.
    public static var _customShape: _Shape { _optionalShape }
    /// Returns a new object, the initial stored form of a custom property that declares no value. Used by `@Persisted`; not for direct use.
    public static func _initialCustom() -> Self { _make() }
    /// Returns the object from which a custom value is created, or nil if there is none. Used by `@Persisted`; not for direct use.
    public static func _readCustom(_ object: ObjectBase, _ column: Int) -> Self? { _readOptionalProperty(object, column) }
    /// Sets the object that is the stored form of a custom value. A replaced embedded object is deleted. Traps outside of a write
    /// transaction. Used by `@Persisted`; not for direct use.
    public static func _writeCustom(_ object: ObjectBase, _ column: Int, _ value: ObjectBase) {
        _writeOptionalProperty(object, column, value)
    }
    /// Appends null to a column. The object is set after its owner has a row. Used by `@Persisted`; not for direct use.
    public static func _appendCustom(_ value: ObjectBase, to sink: _Sink) { sink.appendNull() }
}

extension _CustomPersistable {
    /// The value in place of a missing or invalid one.
    private static var fallback: Self { made(PersistedType._zero()) }

    private static func made(_ stored: PersistedType) -> Self {
        guard let made = _made(of: stored) else {
            trap(
                "Failed to convert the zero of \(PersistedType.self) to \(self): make the property optional, or give it an initial value.")
        }
        return made
    }

    /// Records that the property was read, and returns some value: that of the zero of the stored form, or if that is not valid, of another
    /// stored form. Traps if none of those that are tried is valid. Used while key paths are recorded; not for direct use.
    public static func _recorded(_ object: ObjectBase, _ property: Int) -> Self {
        object._firnRecord(property)
        let tried: [Any] = ["a", "0", 1, "00000000-0000-0000-0000-000000000000", "2000-01-01", "a@b.c", Date(), [:] as [String: Any]]
        if let made = _made(of: PersistedType._zero()) ?? tried.lazy.compactMap({ _elementFromUntyped($0) }).first { return made }
        trap("a key path to a property of type \(self) needs a value of it: give the property an initial value, or make it optional")
    }

    /// The type of the column: that of the stored form. Used by `@Persisted`; not for direct use.
    public static var _shape: _Shape { PersistedType._customShape }
    /// Returns the value that the zero of the stored form gives. Traps if that is not valid. Used by `@Persisted`; not for direct use.
    public static func _initial() -> Self { made(PersistedType._initialCustom()) }
    /// Returns the value in a column of a managed object. Returns the value of `_initial` if the stored form is missing or not valid. Used
    /// by `@Persisted`; not for direct use.
    public static func _read(_ object: ObjectBase, _ column: Int) -> Self {
        PersistedType._readCustom(object, column).flatMap { _made(of: $0) } ?? fallback
    }
    /// Sets the stored form of a value in a column of a managed object. Traps outside of a write transaction. Used by `@Persisted`; not for
    /// direct use.
    public static func _write(_ object: ObjectBase, _ column: Int, _ value: Self) {
        PersistedType._writeCustom(object, column, value.persistableValue)
    }
    /// Returns the access to properties of this type at an offset in bytes from the start of an object. Used by `@Persisted`; not for
    /// direct use.
    public static func _property(at offset: Int) -> _PropertyAccess { PersistedProperty<Self>(at: offset) }
    /// The value itself. Used by `@Persisted`; not for direct use.
    public var _untyped: Any? { self }
    /// Returns an untyped value as this type, converted as by `_elementFromUntyped`; nil if it does not fit. Used by `@Persisted`; not for
    /// direct use.
    public static func _fromUntyped(_ value: Any?) -> Self? { _elementFromUntyped(value) }
    /// Appends the stored form of the value to a column. Used by `@Persisted`; not for direct use.
    public func _append(to sink: _Sink) { PersistedType._appendCustom(persistableValue, to: sink) }

    /// The type of the column of an optional property: that of the optional stored form. Used by `@Persisted`; not for direct use.
    public static var _optionalShape: _Shape { PersistedType._optionalShape }
    /// Returns the value in a column of a managed object, or nil if the stored form is null or not valid. Used by `@Persisted`; not for
    /// direct use.
    public static func _readOptionalProperty(_ object: ObjectBase, _ column: Int) -> Self? {
        PersistedType._readOptionalProperty(object, column).flatMap { _made(of: $0) }
    }
    /// Sets the stored form of a value in a column of a managed object; nil is stored as null. Traps outside of a write transaction. Used
    /// by `@Persisted`; not for direct use.
    public static func _writeOptionalProperty(_ object: ObjectBase, _ column: Int, _ value: Self?) {
        PersistedType._writeOptionalProperty(object, column, value?.persistableValue)
    }
    /// Returns the access to optional properties of this type at an offset in bytes from the start of an object. Used by `@Persisted`; not
    /// for direct use.
    public static func _makeOptionalProperty(at offset: Int) -> _PropertyAccess { PersistedProperty<Self?>(at: offset) }
    /// Records that an optional property was read, and returns nil. Used while key paths are recorded; not for direct use.
    public static func _recordedOptional(_ object: ObjectBase, _ property: Int) -> Self? {
        object._firnRecord(property)
        return nil
    }
    /// Appends the stored form of a value to a column; nil is appended as null. Used by `@Persisted`; not for direct use.
    public static func _appendOptional(_ value: Self?, to sink: _Sink) { PersistedType._appendOptional(value?.persistableValue, to: sink) }
    /// Returns the value itself, or nil. Used by `@Persisted`; not for direct use.
    public static func _untypedOptional(_ value: Self?) -> Any? { value }
    /// Returns an untyped value as this type, converted as by `_elementFromUntyped`; nil if it does not fit. Used by `@Persisted`; not for
    /// direct use.
    public static func _presentFromUntyped(_ value: Any) -> Self? { _elementFromUntyped(value) }

    /// The type of one element of a collection: that of the stored form. Used by collections; not for direct use.
    public static var _elementShape: _Shape { PersistedType._elementShape }
    /// Returns the value that the zero of the stored form gives. Traps if that is not valid. Used by collections; not for direct use.
    public static func _zero() -> Self { fallback }
    /// Returns the value of a stored form, or nil if it is of another type or not valid. Used by collections; not for direct use.
    public static func _element(_ stored: _Stored) -> Self? { PersistedType._element(stored).flatMap { _made(of: $0) } }
    /// Returns the stored form. A stored form that is an unmanaged object is added to `core`. Used by collections; not for direct use.
    public func _stored(in core: _RealmReference?) -> _Stored { persistableValue._stored(in: core) }
    /// The value itself. Used by collections; not for direct use.
    public var _firnUntyped: Any? { self }
    /// Accepts a value of the type, or a value of the type that it is stored as.
    public static func _elementFromUntyped(_ value: Any?) -> Self? {
        if let same = value as? Self { return same }
        guard unwrapped(value) != nil else { return nil }
        return PersistedType._elementFromUntyped(value).flatMap { _made(of: $0) }
    }
}
