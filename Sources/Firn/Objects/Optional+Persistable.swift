import FirnDatabase
import FirnTable
import Foundation

// Optional properties and elements of scalars. For objects see `Object+Link.swift`.

/// A type that optional properties can have: scalars, enums, custom types, and objects (whose properties are always optional).
public protocol _OptionalProperty {
    static var _optionalShape: _Shape { get }
    static func _readOptionalProperty(_ object: ObjectBase, _ column: Int) -> Self?
    static func _writeOptionalProperty(_ object: ObjectBase, _ column: Int, _ value: Self?)
    static func _makeOptionalProperty(at offset: Int) -> _PropertyAccess
    static func _recordedOptional(_ object: ObjectBase, _ property: Int) -> Self?
    static func _appendOptional(_ value: Self?, to sink: _Sink)
    static func _untypedOptional(_ value: Self?) -> Any?
    /// Returns nil if the value does not fit.
    static func _presentFromUntyped(_ value: Any) -> Self?
}

extension Optional: _Persistable where Wrapped: _OptionalProperty {
    /// The type of the column: that of the wrapped type, and it can be null. Used by `@Persisted`; not for direct use.
    public static var _shape: _Shape { Wrapped._optionalShape }
    /// Returns nil. Used by `@Persisted`; not for direct use.
    public static func _initial() -> Wrapped? { nil }
    /// Returns the value in a column of a managed object, or nil if it is null. Used by `@Persisted`; not for direct use.
    @inlinable public static func _read(_ object: ObjectBase, _ column: Int) -> Wrapped? { Wrapped._readOptionalProperty(object, column) }
    /// Sets the value in a column of a managed object; nil is stored as null. Traps outside of a write transaction. Used by `@Persisted`;
    /// not for direct use.
    @inlinable public static func _write(_ object: ObjectBase, _ column: Int, _ value: Wrapped?) {
        Wrapped._writeOptionalProperty(object, column, value)
    }
    /// Records that the property was read. Returns an object that records reads if the wrapped type is a class of objects, otherwise nil.
    /// Used while key paths are recorded; not for direct use.
    public static func _recorded(_ object: ObjectBase, _ property: Int) -> Wrapped? { Wrapped._recordedOptional(object, property) }
    /// Returns the access to optional properties at an offset in bytes from the start of an object. Used by `@Persisted`; not for direct
    /// use.
    public static func _property(at offset: Int) -> _PropertyAccess { Wrapped._makeOptionalProperty(at: offset) }
    /// Appends the value of an object that is being added to a realm; nil is appended as null. Used by `@Persisted`; not for direct use.
    public func _append(to sink: _Sink) { Wrapped._appendOptional(self, to: sink) }
    /// The wrapped value, or nil. Used by `@Persisted`; not for direct use.
    public var _untyped: Any? { Wrapped._untypedOptional(self) }
    /// Returns an untyped value as an optional; the outer optional is nil if the value does not fit. Nil and `NSNull` fit. Used by
    /// `@Persisted`; not for direct use.
    public static func _fromUntyped(_ value: Any?) -> Wrapped?? {
        guard let value = unwrapped(value) else { return .some(nil) }
        return Wrapped._presentFromUntyped(value).map { .some($0) }
    }
}

extension _Scalar {
    /// The type of the column of an optional property: that of the type, and it can be null. Used by `@Persisted`; not for direct use.
    public static var _optionalShape: _Shape {
        var shape = _elementShape
        shape.type.isOptional = true
        return shape
    }
    /// Returns the value in a column of a managed object, or nil if it is null. Used by `@Persisted`; not for direct use.
    @inlinable public static func _readOptionalProperty(_ object: ObjectBase, _ column: Int) -> Self? { _readOptional(object, column) }
    /// Sets the value in a column of a managed object; nil is stored as null. Traps outside of a write transaction. Used by `@Persisted`;
    /// not for direct use.
    @inlinable public static func _writeOptionalProperty(_ object: ObjectBase, _ column: Int, _ value: Self?) {
        _writeOptional(object, column, value)
    }
    /// Returns the access to optional properties of this type at an offset in bytes from the start of an object. Used by `@Persisted`; not
    /// for direct use.
    public static func _makeOptionalProperty(at offset: Int) -> _PropertyAccess { _optionalProperty(at: offset) }
    /// Records that an optional property was read, and returns nil. Used while key paths are recorded; not for direct use.
    public static func _recordedOptional(_ object: ObjectBase, _ property: Int) -> Self? {
        object._firnRecord(property)
        return nil
    }
    /// Appends a value to a column; nil is appended as null. Used by `@Persisted`; not for direct use.
    public static func _appendOptional(_ value: Self?, to sink: _Sink) {
        if let value { value._appendPresent(to: sink) } else { sink.appendNull() }
    }
    /// Returns the value itself, or nil. Used by `@Persisted`; not for direct use.
    public static func _untypedOptional(_ value: Self?) -> Any? { value }
    /// Returns an untyped value as this type, converted as by `_elementFromUntyped`; nil if it does not fit. Used by `@Persisted`; not for
    /// direct use.
    public static func _presentFromUntyped(_ value: Any) -> Self? { _elementFromUntyped(value) }
}

// MARK: Elements

extension Optional: _HasPersistedType where Wrapped: _HasPersistedType {
    /// The type that a value is stored as: that of the wrapped type.
    public typealias PersistedType = Wrapped.PersistedType
}

extension Optional: _Element where Wrapped: _Element {
    /// The type of one element of a collection: that of the wrapped type, and it can be null. Used by collections; not for direct use.
    public static var _elementShape: _Shape {
        var shape = Wrapped._elementShape
        shape.type.isOptional = true
        return shape
    }
    /// Returns nil. Used by collections; not for direct use.
    public static func _zero() -> Wrapped? { nil }
    /// Returns a stored element; the outer optional is nil if the value is neither null nor of the wrapped type. Used by collections; not
    /// for direct use.
    public static func _element(_ stored: _Stored) -> Wrapped?? {
        stored.value.isNull ? .some(nil) : Wrapped._element(stored).map { .some($0) }
    }
    /// Returns the stored form of the wrapped value, or null for nil. Used by collections; not for direct use.
    public func _stored(in core: _RealmReference?) -> _Stored { self?._stored(in: core) ?? _Stored(.null) }
    /// The wrapped value without its type, or nil. Used by collections; not for direct use.
    public var _firnUntyped: Any? { self?._firnUntyped }
    /// The wrapped object; nil for nil and for values that are not objects. Used by collections; not for direct use.
    public var _firnObject: ObjectBase? { self?._firnObject }
    /// Whether the wrapped type is a class of objects. Used by collections; not for direct use.
    public static var _isObject: Bool { Wrapped._isObject }
    /// Returns an untyped value as an element; the outer optional is nil if the value does not fit. Nil and `NSNull` fit. Used by
    /// collections; not for direct use.
    public static func _elementFromUntyped(_ value: Any?) -> Wrapped?? {
        guard let value = unwrapped(value) else { return .some(nil) }
        return Wrapped._elementFromUntyped(value).map { .some($0) }
    }
}

extension Optional: RealmCollectionValue where Wrapped: RealmCollectionValue {}
extension Optional: _PrimaryKey where Wrapped: _PrimaryKey {}
extension Optional: _Indexable where Wrapped: _Indexable {}
extension Optional: _FullTextIndexable where Wrapped: _FullTextIndexable {}
extension Optional: MinMaxType where Wrapped: MinMaxType {}
extension Optional: SortableType where Wrapped: SortableType {}
extension Optional: AddableType where Wrapped: AddableType {
    /// Returns a sum or average as the wrapped type; never nil. Used by `sum` and `average`; not for direct use.
    public static func _sum(_ value: _Stored) -> Wrapped? { Wrapped._sum(value) }
}

/// Returns the value without the optionals that an `Any` may contain, or nil.
func unwrapped(_ value: Any?) -> Any? {
    guard let value else { return nil }
    guard let hidden = value as? any AnyOptional else { return value is NSNull ? nil : value }
    return hidden.content.flatMap(unwrapped)
}

private protocol AnyOptional {
    var content: Any? { get }
}

extension Optional: AnyOptional {
    fileprivate var content: Any? { self }
}
