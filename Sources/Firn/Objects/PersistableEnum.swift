import FirnBytes
import FirnDatabase
import FirnTable

/// An enum that is stored as its raw value: an integer, a string, or another type of property.
///
///     enum Mood: String, PersistableEnum { case happy, sad }
///     class Dog: Object { @Persisted var mood = Mood.happy; @Persisted var last: Mood? }
///
/// A file may contain a raw value that the enum does not have, from an older or newer program. Then an optional property is nil; a required
/// property or an element of a collection is the first case. The stored value is unchanged until the property is set.
public protocol PersistableEnum: _Persistable, RealmOptionalType, RealmCollectionValue, RawRepresentable, CaseIterable, _Indexable,
    _QueryByStoredValue
where RawValue: _Scalar, PersistedType == RawValue {}

extension PersistableEnum {
    /// The case in place of a missing or unknown value.
    private static var first: Self {
        guard let first = allCases.first else {
            trap("enum \"\(self)\" has no cases: add one, so that a property can have a value")
        }
        return first
    }

    /// The type of the column: that of the raw value. Used by `@Persisted`; not for direct use.
    public static var _shape: _Shape { RawValue._elementShape }
    /// Returns the first case. Traps if the enum has no cases. Used by `@Persisted`; not for direct use.
    public static func _initial() -> Self { first }
    /// Returns the case whose raw value a column of a managed object has. Null is read as the zero of the raw type. Returns the first case
    /// if the enum has no case with the raw value. Used by `@Persisted`; not for direct use.
    public static func _read(_ object: ObjectBase, _ column: Int) -> Self { Self(rawValue: RawValue._read(object, column)) ?? first }
    /// Sets the raw value in a column of a managed object. Traps outside of a write transaction. Used by `@Persisted`; not for direct use.
    public static func _write(_ object: ObjectBase, _ column: Int, _ value: Self) { RawValue._write(object, column, value.rawValue) }
    /// Returns the access to properties of this type at an offset in bytes from the start of an object. Used by `@Persisted`; not for
    /// direct use.
    public static func _property(at offset: Int) -> _PropertyAccess { PersistedProperty<Self>(at: offset) }
    /// The case itself. Used by `@Persisted`; not for direct use.
    public var _untyped: Any? { self }
    /// Returns an untyped value as a case, converted as by `_elementFromUntyped`; nil if it does not fit. Used by `@Persisted`; not for
    /// direct use.
    public static func _fromUntyped(_ value: Any?) -> Self? { _elementFromUntyped(value) }
    /// Appends the raw value to a column. Used by `@Persisted`; not for direct use.
    public func _append(to sink: _Sink) { rawValue._appendPresent(to: sink) }

    /// The type of the column of an optional property: that of the optional raw value. Used by `@Persisted`; not for direct use.
    public static var _optionalShape: _Shape { RawValue._optionalShape }
    /// Returns the case whose raw value a column of a managed object has; nil if the column is null or the enum has no case with the raw
    /// value. Used by `@Persisted`; not for direct use.
    public static func _readOptionalProperty(_ object: ObjectBase, _ column: Int) -> Self? {
        RawValue._readOptional(object, column).flatMap { Self(rawValue: $0) }
    }
    /// Sets the raw value in a column of a managed object; nil is stored as null. Traps outside of a write transaction. Used by
    /// `@Persisted`; not for direct use.
    public static func _writeOptionalProperty(_ object: ObjectBase, _ column: Int, _ value: Self?) {
        RawValue._writeOptional(object, column, value?.rawValue)
    }
    /// Returns the access to optional properties of this type at an offset in bytes from the start of an object. Used by `@Persisted`; not
    /// for direct use.
    public static func _makeOptionalProperty(at offset: Int) -> _PropertyAccess { PersistedProperty<Self?>(at: offset) }
    /// Records that an optional property was read, and returns nil. Used while key paths are recorded; not for direct use.
    public static func _recordedOptional(_ object: ObjectBase, _ property: Int) -> Self? {
        object._firnRecord(property)
        return nil
    }
    /// Appends the raw value of a case to a column; nil is appended as null. Used by `@Persisted`; not for direct use.
    public static func _appendOptional(_ value: Self?, to sink: _Sink) {
        if let value { value.rawValue._appendPresent(to: sink) } else { sink.appendNull() }
    }
    /// Returns the case itself, or nil. Used by `@Persisted`; not for direct use.
    public static func _untypedOptional(_ value: Self?) -> Any? { value }
    /// Returns an untyped value as a case, converted as by `_elementFromUntyped`; nil if it does not fit. Used by `@Persisted`; not for
    /// direct use.
    public static func _presentFromUntyped(_ value: Any) -> Self? { _elementFromUntyped(value) }

    /// The type of one element of a collection: that of the raw value. Used by collections; not for direct use.
    public static var _elementShape: _Shape { RawValue._elementShape }
    /// Returns the first case. Traps if the enum has no cases. Used by collections; not for direct use.
    public static func _zero() -> Self { first }
    /// Returns the case of a stored raw value, or nil if the enum has no such case. Used by collections; not for direct use.
    public static func _element(_ stored: _Stored) -> Self? { RawValue._element(stored).flatMap { Self(rawValue: $0) } }
    /// Returns the stored form of the raw value. Used by collections; not for direct use.
    public func _stored(in core: _RealmReference?) -> _Stored { rawValue._stored(in: core) }
    /// The case itself. Used by collections; not for direct use.
    public var _firnUntyped: Any? { self }
    /// Accepts a case, or the raw value of one.
    public static func _elementFromUntyped(_ value: Any?) -> Self? {
        if let same = value as? Self { return same }
        return RawValue._elementFromUntyped(value).flatMap { Self(rawValue: $0) }
    }
}
