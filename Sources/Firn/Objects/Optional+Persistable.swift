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
    public static var _shape: _Shape { Wrapped._optionalShape }
    public static func _initial() -> Wrapped? { nil }
    @inlinable public static func _read(_ object: ObjectBase, _ column: Int) -> Wrapped? { Wrapped._readOptionalProperty(object, column) }
    @inlinable public static func _write(_ object: ObjectBase, _ column: Int, _ value: Wrapped?) {
        Wrapped._writeOptionalProperty(object, column, value)
    }
    public static func _recorded(_ object: ObjectBase, _ property: Int) -> Wrapped? { Wrapped._recordedOptional(object, property) }
    public static func _property(at offset: Int) -> _PropertyAccess { Wrapped._makeOptionalProperty(at: offset) }
    public func _append(to sink: _Sink) { Wrapped._appendOptional(self, to: sink) }
    public var _untyped: Any? { Wrapped._untypedOptional(self) }
    public static func _fromUntyped(_ value: Any?) -> Wrapped?? {
        guard let value = unwrapped(value) else { return .some(nil) }
        return Wrapped._presentFromUntyped(value).map { .some($0) }
    }
}

extension _Scalar {
    public static var _optionalShape: _Shape {
        var shape = _elementShape
        shape.type.isOptional = true
        return shape
    }
    @inlinable public static func _readOptionalProperty(_ object: ObjectBase, _ column: Int) -> Self? { _readOptional(object, column) }
    @inlinable public static func _writeOptionalProperty(_ object: ObjectBase, _ column: Int, _ value: Self?) {
        _writeOptional(object, column, value)
    }
    public static func _makeOptionalProperty(at offset: Int) -> _PropertyAccess { _optionalProperty(at: offset) }
    public static func _recordedOptional(_ object: ObjectBase, _ property: Int) -> Self? {
        object._record(property)
        return nil
    }
    public static func _appendOptional(_ value: Self?, to sink: _Sink) {
        if let value { value._appendPresent(to: sink) } else { sink.appendNull() }
    }
    public static func _untypedOptional(_ value: Self?) -> Any? { value }
    public static func _presentFromUntyped(_ value: Any) -> Self? { _elementFromUntyped(value) }
}

// MARK: Elements

extension Optional: _HasPersistedType where Wrapped: _HasPersistedType {
    public typealias PersistedType = Wrapped.PersistedType
}

extension Optional: _Element where Wrapped: _Element {
    public static var _elementShape: _Shape {
        var shape = Wrapped._elementShape
        shape.type.isOptional = true
        return shape
    }
    public static func _zero() -> Wrapped? { nil }
    public static func _element(_ stored: _Stored) -> Wrapped?? {
        stored.value.isNull ? .some(nil) : Wrapped._element(stored).map { .some($0) }
    }
    public func _stored(in core: _RealmReference?) -> _Stored { self?._stored(in: core) ?? _Stored(.null) }
    public var _untypedElement: Any? { self?._untypedElement }
    public var _object: ObjectBase? { self?._object }
    public static var _isObject: Bool { Wrapped._isObject }
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
