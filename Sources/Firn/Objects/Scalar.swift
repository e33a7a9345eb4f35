import FirnTable
import Foundation

/// A type of single values that are not objects, with what properties, optional properties and elements of collections of it have in
/// common.
public protocol _Scalar: _Persistable, _OptionalProperty, _CustomStorage where PersistedType == Self {
    /// Reads a property that can be null.
    static func _readOptional(_ object: ObjectBase, _ column: Int) -> Self?
    static func _writeOptional(_ object: ObjectBase, _ column: Int, _ value: Self?)
    static func _optionalProperty(at offset: Int) -> _PropertyAccess
    func _appendPresent(to sink: _Sink)
}

extension _Scalar {
    public static var _shape: _Shape { _elementShape }
    public static func _initial() -> Self { _zero() }

    public static func _read(_ object: ObjectBase, _ column: Int) -> Self {
        _element(_Stored(object._value(column))) ?? _zero()
    }

    public static func _write(_ object: ObjectBase, _ column: Int, _ value: Self) {
        object._set(column, value._stored(in: nil).value)
    }

    public static func _readOptional(_ object: ObjectBase, _ column: Int) -> Self? {
        _element(_Stored(object._value(column)))
    }

    public static func _writeOptional(_ object: ObjectBase, _ column: Int, _ value: Self?) {
        object._set(column, value?._stored(in: nil).value ?? .null)
    }

    public static func _property(at offset: Int) -> _PropertyAccess { PersistedProperty<Self>(at: offset) }
    public static func _optionalProperty(at offset: Int) -> _PropertyAccess { PersistedProperty<Self?>(at: offset) }
    public func _append(to sink: _Sink) { _appendPresent(to: sink) }
    public func _appendPresent(to sink: _Sink) { sink.append(_stored(in: nil).value) }
    public var _untyped: Any? { self }
    public var _untypedElement: Any? { self }
    public static func _fromUntyped(_ value: Any?) -> Self? { _elementFromUntyped(value) }
    /// Converts through the stored form, so that, for example, an `Int` fits a `Double` property.
    public static func _elementFromUntyped(_ value: Any?) -> Self? {
        if let same = value as? Self { return same }
        guard let stored = Value(any: value), let fitting = stored.fitted(to: _elementShape.type.kind) else { return nil }
        return _element(_Stored(fitting))
    }
}

// MARK: Integers

/// The integer types; all are stored as 64 bits.
public protocol _IntegerScalar: _Scalar, FixedWidthInteger, MinMaxType, AddableType, SortableType, _PrimaryKey, _Indexable {}

extension _IntegerScalar {
    public static var _elementShape: _Shape { _Shape(ColumnType(.int)) }
    public static func _zero() -> Self { 0 }
    public static func _element(_ stored: _Stored) -> Self? {
        guard case .int(let word) = stored.value else { return nil }
        return Self(truncatingIfNeeded: word)
    }
    public func _stored(in core: _RealmReference?) -> _Stored { _Stored(.int(Int64(truncatingIfNeeded: self))) }
    public var _word: Int64? { Int64(truncatingIfNeeded: self) }
    public static func _fromWord(_ word: Int64) -> Self? { Self(truncatingIfNeeded: word) }
    @inlinable public static func _read(_ object: ObjectBase, _ column: Int) -> Self { Self(truncatingIfNeeded: object._word(column)) }
    @inlinable public static func _write(_ object: ObjectBase, _ column: Int, _ value: Self) {
        object._setWord(column, Int64(truncatingIfNeeded: value))
    }
    @inlinable public static func _readOptional(_ object: ObjectBase, _ column: Int) -> Self? {
        object._optionalWord(column).map { Self(truncatingIfNeeded: $0) }
    }
    public func _appendPresent(to sink: _Sink) { sink.append(word: Int64(truncatingIfNeeded: self)) }
    public static func _sum(_ value: _Stored) -> Self {
        switch value.value {
        case .int(let sum):
            guard let fitting = Self(exactly: sum) else {
                preconditionFailure(
                    "the sum \(sum) does not fit into \(Self.self): use sum(ofProperty:) with another type, such as Int or Double")
            }
            return fitting
        case .double(let sum):
            guard let fitting = Self(exactly: sum.rounded(.towardZero)) else {
                preconditionFailure("the sum \(sum) does not fit into \(Self.self): use sum(ofProperty:) with the type Double")
            }
            return fitting
        case .decimal(let sum): return _sum(_Stored(.double(sum.double)))
        default: return 0
        }
    }
}

// Overridden for common types, so that their code is specialized.
extension Int: _IntegerScalar {
    public typealias PersistedType = Int
    public static func _property(at offset: Int) -> _PropertyAccess { PersistedProperty<Int>(at: offset) }
    public static func _optionalProperty(at offset: Int) -> _PropertyAccess { PersistedProperty<Int?>(at: offset) }
}
extension Int8: _IntegerScalar { public typealias PersistedType = Int8 }
extension Int16: _IntegerScalar { public typealias PersistedType = Int16 }
extension Int32: _IntegerScalar {
    public typealias PersistedType = Int32
    public static func _property(at offset: Int) -> _PropertyAccess { PersistedProperty<Int32>(at: offset) }
}
extension Int64: _IntegerScalar {
    public typealias PersistedType = Int64
    public static func _property(at offset: Int) -> _PropertyAccess { PersistedProperty<Int64>(at: offset) }
}

extension Bool: _Scalar, _PrimaryKey, _Indexable, SortableType {
    public typealias PersistedType = Bool
    public static var _elementShape: _Shape { _Shape(ColumnType(.bool)) }
    public static func _zero() -> Bool { false }
    public static func _element(_ stored: _Stored) -> Bool? { if case .bool(let value) = stored.value { value } else { nil } }
    public func _stored(in core: _RealmReference?) -> _Stored { _Stored(.bool(self)) }
    public var _word: Int64? { self ? 1 : 0 }
    public static func _fromWord(_ word: Int64) -> Bool? { word != 0 }
    @inlinable public static func _read(_ object: ObjectBase, _ column: Int) -> Bool { object._word(column) != 0 }
    public static func _property(at offset: Int) -> _PropertyAccess { PersistedProperty<Bool>(at: offset) }
    public func _appendPresent(to sink: _Sink) { sink.append(word: self ? 1 : 0) }
}

// MARK: Reals

extension Double: _Scalar, MinMaxType, AddableType, SortableType {
    public typealias PersistedType = Double
    public static var _elementShape: _Shape { _Shape(ColumnType(.double)) }
    public static func _zero() -> Double { 0 }
    public static func _element(_ stored: _Stored) -> Double? { if case .double(let value) = stored.value { value } else { nil } }
    public func _stored(in core: _RealmReference?) -> _Stored { _Stored(.double(self)) }
    @inlinable public static func _read(_ object: ObjectBase, _ column: Int) -> Double { object._real(column) }
    @inlinable public static func _write(_ object: ObjectBase, _ column: Int, _ value: Double) { object._setReal(column, value) }
    @inlinable public static func _readOptional(_ object: ObjectBase, _ column: Int) -> Double? { object._optionalReal(column) }
    public static func _property(at offset: Int) -> _PropertyAccess { PersistedProperty<Double>(at: offset) }
    public static func _optionalProperty(at offset: Int) -> _PropertyAccess { PersistedProperty<Double?>(at: offset) }
    public func _appendPresent(to sink: _Sink) { sink.append(real: self) }
    public static func _sum(_ value: _Stored) -> Double {
        switch value.value {
        case .int(let sum): Double(sum)
        case .double(let sum): sum
        case .float(let sum): Double(sum)
        case .decimal(let sum): sum.double
        default: 0
        }
    }
}

extension Float: _Scalar, MinMaxType, AddableType, SortableType {
    public typealias PersistedType = Float
    public static var _elementShape: _Shape { _Shape(ColumnType(.float)) }
    public static func _zero() -> Float { 0 }
    public static func _element(_ stored: _Stored) -> Float? { if case .float(let value) = stored.value { value } else { nil } }
    public func _stored(in core: _RealmReference?) -> _Stored { _Stored(.float(self)) }
    @inlinable public static func _read(_ object: ObjectBase, _ column: Int) -> Float { Float(object._real(column)) }
    @inlinable public static func _write(_ object: ObjectBase, _ column: Int, _ value: Float) { object._setReal(column, Double(value)) }
    @inlinable public static func _readOptional(_ object: ObjectBase, _ column: Int) -> Float? {
        object._optionalReal(column).map { Float($0) }
    }
    public static func _property(at offset: Int) -> _PropertyAccess { PersistedProperty<Float>(at: offset) }
    public func _appendPresent(to sink: _Sink) { sink.append(real: Double(self)) }
    public static func _sum(_ value: _Stored) -> Float { Float(Double._sum(value)) }
}

// MARK: Text and bytes

extension String: _Scalar, SortableType, _PrimaryKey, _Indexable, _FullTextIndexable {
    public typealias PersistedType = String
    public static var _elementShape: _Shape { _Shape(ColumnType(.string)) }
    public static func _zero() -> String { "" }
    public static func _element(_ stored: _Stored) -> String? { if case .string(let value) = stored.value { value } else { nil } }
    public func _stored(in core: _RealmReference?) -> _Stored { _Stored(.string(self)) }
    public static func _read(_ object: ObjectBase, _ column: Int) -> String { object._text(column) ?? "" }
    public static func _readOptional(_ object: ObjectBase, _ column: Int) -> String? { object._text(column) }
    public static func _write(_ object: ObjectBase, _ column: Int, _ value: String) { object._setText(column, value) }
    public static func _property(at offset: Int) -> _PropertyAccess { PersistedProperty<String>(at: offset) }
    public static func _optionalProperty(at offset: Int) -> _PropertyAccess { PersistedProperty<String?>(at: offset) }
    public func _appendPresent(to sink: _Sink) { sink.append(text: self) }
}

extension Data: _Scalar {
    public typealias PersistedType = Data
    public static var _elementShape: _Shape { _Shape(ColumnType(.data)) }
    public static func _zero() -> Data { Data() }
    public static func _element(_ stored: _Stored) -> Data? { if case .data(let bytes) = stored.value { Data(bytes) } else { nil } }
    public func _stored(in core: _RealmReference?) -> _Stored { _Stored(.data([UInt8](self))) }
    public static func _read(_ object: ObjectBase, _ column: Int) -> Data { object._bytes(column) ?? Data() }
    public static func _readOptional(_ object: ObjectBase, _ column: Int) -> Data? { object._bytes(column) }
    public static func _property(at offset: Int) -> _PropertyAccess { PersistedProperty<Data>(at: offset) }
}

// MARK: Dates and identifiers

extension Date: _Scalar, MinMaxType, SortableType, _Indexable {
    public typealias PersistedType = Date
    public static var _elementShape: _Shape { _Shape(ColumnType(.date)) }
    public static func _zero() -> Date { Date(timeIntervalSince1970: 0) }
    public static func _element(_ stored: _Stored) -> Date? { if case .date(let time) = stored.value { Date(time) } else { nil } }
    public func _stored(in core: _RealmReference?) -> _Stored { _Stored(.date(Timestamp(self))) }
    public static func _read(_ object: ObjectBase, _ column: Int) -> Date { _readOptional(object, column) ?? _zero() }
    public static func _readOptional(_ object: ObjectBase, _ column: Int) -> Date? {
        object._pair(column).map { Date(Timestamp(seconds: $0.0, nanoseconds: Int32(truncatingIfNeeded: $0.1))) }
            ?? _element(_Stored(object._value(column)))
    }
    public static func _property(at offset: Int) -> _PropertyAccess { PersistedProperty<Date>(at: offset) }
}

extension UUID: _Scalar, SortableType, _PrimaryKey, _Indexable {
    public typealias PersistedType = UUID
    public static var _elementShape: _Shape { _Shape(ColumnType(.uuid)) }
    public static func _zero() -> UUID { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) }
    public static func _element(_ stored: _Stored) -> UUID? { if case .uuid(let id) = stored.value { UUID(id) } else { nil } }
    public func _stored(in core: _RealmReference?) -> _Stored { _Stored(.uuid(Identifier(self))) }
    public static func _read(_ object: ObjectBase, _ column: Int) -> UUID { _readOptional(object, column) ?? _zero() }
    public static func _readOptional(_ object: ObjectBase, _ column: Int) -> UUID? {
        object._pair(column).map { UUID(Column.uuid($0.0, $0.1)) } ?? _element(_Stored(object._value(column)))
    }
    public static func _property(at offset: Int) -> _PropertyAccess { PersistedProperty<UUID>(at: offset) }
}

extension ObjectId: _Scalar, SortableType, _PrimaryKey, _Indexable {
    public typealias PersistedType = ObjectId
    public static var _elementShape: _Shape { _Shape(ColumnType(.objectID)) }
    public static func _zero() -> ObjectId { ObjectId.zero }
    /// A new property gets a generated identifier.
    public static func _initial() -> ObjectId { ObjectId.generate() }
    public static func _element(_ stored: _Stored) -> ObjectId? { if case .objectID(let id) = stored.value { ObjectId(id) } else { nil } }
    public func _stored(in core: _RealmReference?) -> _Stored { _Stored(.objectID(identifier)) }
    public static func _read(_ object: ObjectBase, _ column: Int) -> ObjectId { _readOptional(object, column) ?? _zero() }
    public static func _readOptional(_ object: ObjectBase, _ column: Int) -> ObjectId? {
        object._pair(column).map { ObjectId(Column.objectID($0.0, $0.1)) } ?? _element(_Stored(object._value(column)))
    }
    public static func _property(at offset: Int) -> _PropertyAccess { PersistedProperty<ObjectId>(at: offset) }
}

extension Decimal128: _Scalar, MinMaxType, AddableType, SortableType {
    public typealias PersistedType = Decimal128
    public static var _elementShape: _Shape { _Shape(ColumnType(.decimal)) }
    public static func _zero() -> Decimal128 { 0 }
    public static func _element(_ stored: _Stored) -> Decimal128? {
        if case .decimal(let value) = stored.value { Decimal128(value) } else { nil }
    }
    public func _stored(in core: _RealmReference?) -> _Stored { _Stored(.decimal(modelDecimal)) }
    public static func _read(_ object: ObjectBase, _ column: Int) -> Decimal128 { _readOptional(object, column) ?? _zero() }
    public static func _readOptional(_ object: ObjectBase, _ column: Int) -> Decimal128? {
        object._pair(column).map { Decimal128(FirnTable.Decimal(high: UInt64(bitPattern: $0.0), low: UInt64(bitPattern: $0.1))) }
            ?? _element(_Stored(object._value(column)))
    }
    public static func _property(at offset: Int) -> _PropertyAccess { PersistedProperty<Decimal128>(at: offset) }
    public static func _sum(_ value: _Stored) -> Decimal128 {
        switch value.value {
        case .decimal(let sum): Decimal128(sum)
        case .int(let sum): Decimal128(sum)
        case .double(let sum): Decimal128(sum)
        default: 0
        }
    }
}

extension Value {
    /// Returns the same value as a value of another kind, such as an integer as a double or a double as a decimal, or nil if there is none.
    func fitted(to kind: ScalarKind) -> Value? {
        switch (self, kind) {
        case (.null, _), (.bool, .bool), (.int, .int), (.float, .float), (.double, .double), (.string, .string), (.data, .data),
            (.date, .date),
            (.decimal, .decimal), (.objectID, .objectID), (.uuid, .uuid), (_, .any):
            self
        case (.int(let x), .double): .double(Double(x))
        case (.int(let x), .float): .float(Float(x))
        case (.int(let x), .decimal): .decimal(Decimal(x))
        case (.float(let x), .double): .double(Double(x))
        case (.double(let x), .float): .float(Float(x))
        case (.double(let x), .decimal): .decimal(Decimal(x))
        // Dictionary literals with mixed numbers turn integers into doubles, and so do some JSON readers.
        case (.double(let x), .int): Int64(exactly: x).map { .int($0) }
        case (.string(let x), .decimal): Decimal(x).map { .decimal($0) }
        case (.string(let x), .objectID): Identifier(objectIDText: x).map { .objectID($0) }
        case (.string(let x), .uuid): Identifier(uuidText: x).map { .uuid($0) }
        default: nil
        }
    }
}
