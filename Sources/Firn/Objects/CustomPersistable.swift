import FirnDatabase
import FirnTable

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
public protocol _CustomPersistable: _Persistable, _OptionalProperty, RealmCollectionValue where PersistedType: _CustomStorage {
    /// The stored form of the value.
    var persistableValue: PersistedType { get }
    static func _made(of value: PersistedType) -> Self?
}

extension CustomPersistable {
    public static func _made(of value: PersistedType) -> Self? { Self(persistedValue: value) }
}

extension FailableCustomPersistable {
    public static func _made(of value: PersistedType) -> Self? { Self(persistedValue: value) }
}

/// A type that custom types can be stored as: single values and embedded objects.
public protocol _CustomStorage: _OptionalProperty, RealmCollectionValue {
    static var _customShape: _Shape { get }
    static func _readCustom(_ object: ObjectBase, _ column: Int) -> Self?
    static func _writeCustom(_ object: ObjectBase, _ column: Int, _ value: Self)
    static func _appendCustom(_ value: Self, to sink: _Sink)
}

extension _Scalar {
    public static var _customShape: _Shape { _elementShape }
    public static func _readCustom(_ object: ObjectBase, _ column: Int) -> Self? { _read(object, column) }
    public static func _writeCustom(_ object: ObjectBase, _ column: Int, _ value: Self) { _write(object, column, value) }
    public static func _appendCustom(_ value: Self, to sink: _Sink) { value._appendPresent(to: sink) }
}

extension ObjectBase: _CustomStorage {
    public static var _customShape: _Shape { _optionalShape }
    public static func _readCustom(_ object: ObjectBase, _ column: Int) -> Self? { _readOptionalProperty(object, column) }
    public static func _writeCustom(_ object: ObjectBase, _ column: Int, _ value: ObjectBase) {
        _writeOptionalProperty(object, column, value)
    }
    public static func _appendCustom(_ value: ObjectBase, to sink: _Sink) { sink.appendNull() }
}

extension _CustomPersistable {
    /// The value in place of a missing or invalid one.
    private static var fallback: Self {
        guard let made = _made(of: PersistedType._zero()) else {
            preconditionFailure(
                "Failed to convert the zero of \(PersistedType.self) to \(self): make the property optional, or give it an initial value.")
        }
        return made
    }

    public static var _shape: _Shape { PersistedType._customShape }
    public static func _initial() -> Self { fallback }
    public static func _read(_ object: ObjectBase, _ column: Int) -> Self {
        PersistedType._readCustom(object, column).flatMap { _made(of: $0) } ?? fallback
    }
    public static func _write(_ object: ObjectBase, _ column: Int, _ value: Self) {
        PersistedType._writeCustom(object, column, value.persistableValue)
    }
    public static func _property(at offset: Int) -> _PropertyAccess { PersistedProperty<Self>(at: offset) }
    public var _untyped: Any? { self }
    public static func _fromUntyped(_ value: Any?) -> Self? { _elementFromUntyped(value) }
    public func _append(to sink: _Sink) { PersistedType._appendCustom(persistableValue, to: sink) }

    public static var _optionalShape: _Shape { PersistedType._optionalShape }
    public static func _readOptionalProperty(_ object: ObjectBase, _ column: Int) -> Self? {
        PersistedType._readOptionalProperty(object, column).flatMap { _made(of: $0) }
    }
    public static func _writeOptionalProperty(_ object: ObjectBase, _ column: Int, _ value: Self?) {
        PersistedType._writeOptionalProperty(object, column, value?.persistableValue)
    }
    public static func _makeOptionalProperty(at offset: Int) -> _PropertyAccess { PersistedProperty<Self?>(at: offset) }
    public static func _recordedOptional(_ object: ObjectBase, _ property: Int) -> Self? {
        object._record(property)
        return nil
    }
    public static func _appendOptional(_ value: Self?, to sink: _Sink) { PersistedType._appendOptional(value?.persistableValue, to: sink) }
    public static func _untypedOptional(_ value: Self?) -> Any? { value }
    public static func _presentFromUntyped(_ value: Any) -> Self? { _elementFromUntyped(value) }

    public static var _elementShape: _Shape { PersistedType._elementShape }
    public static func _zero() -> Self { fallback }
    public static func _element(_ stored: _Stored) -> Self? { PersistedType._element(stored).flatMap { _made(of: $0) } }
    public func _stored(in core: _RealmReference?) -> _Stored { persistableValue._stored(in: core) }
    public var _untypedElement: Any? { self }
    /// Accepts a value of the type, or a value of the type that it is stored as.
    public static func _elementFromUntyped(_ value: Any?) -> Self? {
        if let same = value as? Self { return same }
        guard unwrapped(value) != nil else { return nil }
        return PersistedType._elementFromUntyped(value).flatMap { _made(of: $0) }
    }
}
