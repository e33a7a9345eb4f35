import FirnDatabase
import FirnTable

/// An enum that is stored as its raw value: an integer, a string, or another type of property.
///
///     enum Mood: String, PersistableEnum { case happy, sad }
///     class Dog: Object { @Persisted var mood = Mood.happy; @Persisted var last: Mood? }
///
/// A file may contain a raw value that the enum does not have, from an older or newer program. Then an optional property is nil; a required
/// property or an element of a collection is the first case. The stored value is unchanged until the property is set.
public protocol PersistableEnum: _Persistable, _OptionalProperty, RealmCollectionValue, RawRepresentable, CaseIterable, _Indexable
where RawValue: _Scalar, PersistedType == RawValue {}

extension PersistableEnum {
    /// The case in place of a missing or unknown value.
    private static var first: Self {
        guard let first = allCases.first else {
            preconditionFailure("enum \"\(self)\" has no cases: add one, so that a property can have a value")
        }
        return first
    }

    public static var _shape: _Shape { RawValue._elementShape }
    public static func _initial() -> Self { first }
    public static func _read(_ object: ObjectBase, _ column: Int) -> Self { Self(rawValue: RawValue._read(object, column)) ?? first }
    public static func _write(_ object: ObjectBase, _ column: Int, _ value: Self) { RawValue._write(object, column, value.rawValue) }
    public static func _property(at offset: Int) -> _PropertyAccess { PersistedProperty<Self>(at: offset) }
    public var _untyped: Any? { self }
    public static func _fromUntyped(_ value: Any?) -> Self? { _elementFromUntyped(value) }
    public func _append(to sink: _Sink) { rawValue._appendPresent(to: sink) }

    public static var _optionalShape: _Shape { RawValue._optionalShape }
    public static func _readOptionalProperty(_ object: ObjectBase, _ column: Int) -> Self? {
        RawValue._readOptional(object, column).flatMap { Self(rawValue: $0) }
    }
    public static func _writeOptionalProperty(_ object: ObjectBase, _ column: Int, _ value: Self?) {
        RawValue._writeOptional(object, column, value?.rawValue)
    }
    public static func _makeOptionalProperty(at offset: Int) -> _PropertyAccess { PersistedProperty<Self?>(at: offset) }
    public static func _recordedOptional(_ object: ObjectBase, _ property: Int) -> Self? {
        object._record(property)
        return nil
    }
    public static func _appendOptional(_ value: Self?, to sink: _Sink) {
        if let value { value.rawValue._appendPresent(to: sink) } else { sink.appendNull() }
    }
    public static func _untypedOptional(_ value: Self?) -> Any? { value }
    public static func _presentFromUntyped(_ value: Any) -> Self? { _elementFromUntyped(value) }

    public static var _elementShape: _Shape { RawValue._elementShape }
    public static func _zero() -> Self { first }
    public static func _element(_ stored: _Stored) -> Self? { RawValue._element(stored).flatMap { Self(rawValue: $0) } }
    public func _stored(in core: _RealmReference?) -> _Stored { rawValue._stored(in: core) }
    public var _untypedElement: Any? { self }
    /// Accepts a case, or the raw value of one.
    public static func _elementFromUntyped(_ value: Any?) -> Self? {
        if let same = value as? Self { return same }
        return RawValue._elementFromUntyped(value).flatMap { Self(rawValue: $0) }
    }
}
