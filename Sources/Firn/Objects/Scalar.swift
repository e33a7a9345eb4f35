import FirnBytes
import FirnTable
import Foundation

/// A type of single values that are not objects, with what properties, optional properties and elements of collections of it have in
/// common.
public protocol _Scalar: _Persistable, RealmOptionalType, _CustomStorage where PersistedType == Self {
    /// Reads a property that can be null.
    static func _readOptional(_ object: ObjectBase, _ column: Int) -> Self?
    static func _writeOptional(_ object: ObjectBase, _ column: Int, _ value: Self?)
    static func _optionalProperty(at offset: Int) -> _PropertyAccess
    func _appendPresent(to sink: _Sink)
}

extension _Scalar {
    /// The type of the column, which is also the type of an element of a collection. Used by `@Persisted`; not for direct use.
    public static var _shape: _Shape { _elementShape }
    /// Returns the value of a property that was never set: the zero of the type. Used by `@Persisted`; not for direct use.
    public static func _initial() -> Self { _zero() }

    /// Returns the value in a column of a managed object, or the zero of the type if it is null. Traps if the object was deleted or
    /// invalidated. Used by `@Persisted`; not for direct use.
    public static func _read(_ object: ObjectBase, _ column: Int) -> Self {
        _element(_Stored(object._value(column))) ?? _zero()
    }

    /// Sets the value in a column of a managed object. Traps outside of a write transaction, and if the object was deleted or invalidated.
    /// Used by `@Persisted`; not for direct use.
    public static func _write(_ object: ObjectBase, _ column: Int, _ value: Self) {
        object._set(column, value._stored(in: nil).value)
    }

    /// Returns the value in a column of a managed object, or nil if it is null. Traps if the object was deleted or invalidated. Used by
    /// `@Persisted`; not for direct use.
    public static func _readOptional(_ object: ObjectBase, _ column: Int) -> Self? {
        _element(_Stored(object._value(column)))
    }

    /// Sets the value in a column of a managed object; nil is stored as null. Traps outside of a write transaction, and if the object was
    /// deleted or invalidated. Used by `@Persisted`; not for direct use.
    public static func _writeOptional(_ object: ObjectBase, _ column: Int, _ value: Self?) {
        object._set(column, value?._stored(in: nil).value ?? .null)
    }

    /// Returns the access to properties of this type at an offset in bytes from the start of an object. Used by `@Persisted`; not for
    /// direct use.
    public static func _property(at offset: Int) -> _PropertyAccess { PersistedProperty<Self>(at: offset) }
    /// Returns the access to optional properties of this type at an offset in bytes from the start of an object. Used by `@Persisted`; not
    /// for direct use.
    public static func _optionalProperty(at offset: Int) -> _PropertyAccess { PersistedProperty<Self?>(at: offset) }
    /// Appends the value of an object that is being added to a realm. Used by `@Persisted`; not for direct use.
    public func _append(to sink: _Sink) { _appendPresent(to: sink) }
    /// Appends the value to a column, also to one of optional values. Used by `@Persisted`; not for direct use.
    public func _appendPresent(to sink: _Sink) { sink.append(_stored(in: nil).value) }
    /// The value itself. Used by `@Persisted`; not for direct use.
    public var _untyped: Any? { self }
    /// The value itself. Used by collections; not for direct use.
    public var _firnUntyped: Any? { self }
    /// Returns an untyped value as this type, converted as by `_elementFromUntyped`; nil if it does not fit. Used by `@Persisted`; not for
    /// direct use.
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
    /// The type of a column of integers: 64 bits, whatever the width of the Swift type. Used by `@Persisted` and collections; not for
    /// direct use.
    public static var _elementShape: _Shape { _Shape(ColumnType(.int)) }
    /// Returns 0. Used by `@Persisted` and collections; not for direct use.
    public static func _zero() -> Self { 0 }
    /// Returns a stored integer, or nil if the value is of another type. An integer that does not fit `Self` keeps only its low bits. Used
    /// by `@Persisted` and collections; not for direct use.
    public static func _element(_ stored: _Stored) -> Self? {
        guard case .int(let word) = stored.value else { return nil }
        return Self(truncatingIfNeeded: word)
    }
    /// Converts through the stored form, so that, for example, an `Int` fits an `Int8` property. Returns nil for an integer that does not
    /// fit `Self`.
    public static func _elementFromUntyped(_ value: Any?) -> Self? {
        if let same = value as? Self { return same }
        guard case .int(let word)? = Value(any: value)?.fitted(to: .int) else { return nil }
        return Self(exactly: word)
    }
    /// Returns the integer as a stored integer of 64 bits. Used by `@Persisted` and collections; not for direct use.
    public func _stored(in core: _RealmReference?) -> _Stored { _Stored(.int(Int64(truncatingIfNeeded: self))) }
    /// The integer, extended to 64 bits; never nil. Used by collections; not for direct use.
    public var _word: Int64? { Int64(truncatingIfNeeded: self) }
    /// Returns the low bits of a word as an integer; never nil. Used by collections; not for direct use.
    public static func _fromWord(_ word: Int64) -> Self? { Self(truncatingIfNeeded: word) }
    /// Returns the integer in a column of a managed object, or 0 if it is null. A stored integer that does not fit `Self` keeps only its
    /// low bits. Used by `@Persisted`; not for direct use.
    @inlinable public static func _read(_ object: ObjectBase, _ column: Int) -> Self { Self(truncatingIfNeeded: object._word(column)) }
    /// Sets the integer in a column of a managed object. Traps outside of a write transaction. Used by `@Persisted`; not for direct use.
    @inlinable public static func _write(_ object: ObjectBase, _ column: Int, _ value: Self) {
        object._setWord(column, Int64(truncatingIfNeeded: value))
    }
    /// Returns the integer in a column of a managed object, or nil if it is null. A stored integer that does not fit `Self` keeps only its
    /// low bits. Used by `@Persisted`; not for direct use.
    @inlinable public static func _readOptional(_ object: ObjectBase, _ column: Int) -> Self? {
        object._optionalWord(column).map { Self(truncatingIfNeeded: $0) }
    }
    /// Appends the integer to a column as 64 bits. Used by `@Persisted`; not for direct use.
    public func _appendPresent(to sink: _Sink) { sink.append(word: Int64(truncatingIfNeeded: self)) }
    /// Returns a sum or average, which can be an integer, a double or a decimal, without its fraction. Traps if it does not fit `Self`.
    /// Returns 0 for a value of another type. Used by `sum` and `average`; not for direct use.
    public static func _sum(_ value: _Stored) -> Self {
        switch value.value {
        case .int(let sum):
            guard let fitting = Self(exactly: sum) else {
                trap(
                    "the sum \(sum) does not fit into \(Self.self): use sum(ofProperty:) with another type, such as Int or Double")
            }
            return fitting
        case .double(let sum):
            guard let fitting = Self(exactly: sum.rounded(.towardZero)) else {
                trap("the sum \(sum) does not fit into \(Self.self): use sum(ofProperty:) with the type Double")
            }
            return fitting
        case .decimal(let sum): return _sum(_Stored(.double(sum.double)))
        default: return 0
        }
    }
}

// Overridden for common types, so that their code is specialized.
extension Int: _IntegerScalar {
    /// The type that the integer is stored as: itself.
    public typealias PersistedType = Int
    /// Returns the access to `Int` properties at an offset in bytes from the start of an object. Used by `@Persisted`; not for direct use.
    public static func _property(at offset: Int) -> _PropertyAccess { PersistedProperty<Int>(at: offset) }
    /// Returns the access to `Int?` properties at an offset in bytes from the start of an object. Used by `@Persisted`; not for direct use.
    public static func _optionalProperty(at offset: Int) -> _PropertyAccess { PersistedProperty<Int?>(at: offset) }
}
extension Int8: _IntegerScalar { public typealias PersistedType = Int8 }
extension Int16: _IntegerScalar { public typealias PersistedType = Int16 }
extension Int32: _IntegerScalar {
    /// The type that the integer is stored as: itself.
    public typealias PersistedType = Int32
    /// Returns the access to `Int32` properties at an offset in bytes from the start of an object. Used by `@Persisted`; not for direct
    /// use.
    public static func _property(at offset: Int) -> _PropertyAccess { PersistedProperty<Int32>(at: offset) }
}
extension Int64: _IntegerScalar {
    /// The type that the integer is stored as: itself.
    public typealias PersistedType = Int64
    /// Returns the access to `Int64` properties at an offset in bytes from the start of an object. Used by `@Persisted`; not for direct
    /// use.
    public static func _property(at offset: Int) -> _PropertyAccess { PersistedProperty<Int64>(at: offset) }
}

extension Bool: _Scalar, _PrimaryKey, _Indexable, SortableType {
    /// The type that the boolean is stored as: itself.
    public typealias PersistedType = Bool
    /// The type of a column of booleans. Used by `@Persisted` and collections; not for direct use.
    public static var _elementShape: _Shape { _Shape(ColumnType(.bool)) }
    /// Returns false. Used by `@Persisted` and collections; not for direct use.
    public static func _zero() -> Bool { false }
    /// Returns a stored boolean, or nil if the value is of another type. Used by `@Persisted` and collections; not for direct use.
    public static func _element(_ stored: _Stored) -> Bool? { if case .bool(let value) = stored.value { value } else { nil } }
    /// Returns the boolean as a stored value. Used by `@Persisted` and collections; not for direct use.
    public func _stored(in core: _RealmReference?) -> _Stored { _Stored(.bool(self)) }
    /// 1 for true and 0 for false; never nil. Used by collections; not for direct use.
    public var _word: Int64? { self ? 1 : 0 }
    /// Returns whether a word is not 0; never nil. Used by collections; not for direct use.
    public static func _fromWord(_ word: Int64) -> Bool? { word != 0 }
    /// Returns the boolean in a column of a managed object, or false if it is null. Used by `@Persisted`; not for direct use.
    @inlinable public static func _read(_ object: ObjectBase, _ column: Int) -> Bool { object._word(column) != 0 }
    /// Returns the access to `Bool` properties at an offset in bytes from the start of an object. Used by `@Persisted`; not for direct use.
    public static func _property(at offset: Int) -> _PropertyAccess { PersistedProperty<Bool>(at: offset) }
    /// Appends the boolean to a column as 1 or 0. Used by `@Persisted`; not for direct use.
    public func _appendPresent(to sink: _Sink) { sink.append(word: self ? 1 : 0) }
}

// MARK: Reals

extension Double: _Scalar, MinMaxType, AddableType, SortableType {
    /// The type that the number is stored as: itself.
    public typealias PersistedType = Double
    /// The type of a column of doubles. Used by `@Persisted` and collections; not for direct use.
    public static var _elementShape: _Shape { _Shape(ColumnType(.double)) }
    /// Returns 0. Used by `@Persisted` and collections; not for direct use.
    public static func _zero() -> Double { 0 }
    /// Returns a stored double, or nil if the value is of another type. Used by `@Persisted` and collections; not for direct use.
    public static func _element(_ stored: _Stored) -> Double? { if case .double(let value) = stored.value { value } else { nil } }
    /// Returns the number as a stored double. Used by `@Persisted` and collections; not for direct use.
    public func _stored(in core: _RealmReference?) -> _Stored { _Stored(.double(self)) }
    /// Returns the number in a column of a managed object, or 0 if it is null. Used by `@Persisted`; not for direct use.
    @inlinable public static func _read(_ object: ObjectBase, _ column: Int) -> Double { object._real(column) }
    /// Sets the number in a column of a managed object. Traps outside of a write transaction. Used by `@Persisted`; not for direct use.
    @inlinable public static func _write(_ object: ObjectBase, _ column: Int, _ value: Double) { object._setReal(column, value) }
    /// Returns the number in a column of a managed object, or nil if it is null. Used by `@Persisted`; not for direct use.
    @inlinable public static func _readOptional(_ object: ObjectBase, _ column: Int) -> Double? { object._optionalReal(column) }
    /// Returns the access to `Double` properties at an offset in bytes from the start of an object. Used by `@Persisted`; not for direct
    /// use.
    public static func _property(at offset: Int) -> _PropertyAccess { PersistedProperty<Double>(at: offset) }
    /// Returns the access to `Double?` properties at an offset in bytes from the start of an object. Used by `@Persisted`; not for direct
    /// use.
    public static func _optionalProperty(at offset: Int) -> _PropertyAccess { PersistedProperty<Double?>(at: offset) }
    /// Appends the number to a column. Used by `@Persisted`; not for direct use.
    public func _appendPresent(to sink: _Sink) { sink.append(real: self) }
    /// Returns a sum or average, which can be a number of any type, as the nearest double. Returns 0 for a value of another type. Used by
    /// `sum` and `average`; not for direct use.
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
    /// The type that the number is stored as: itself.
    public typealias PersistedType = Float
    /// The type of a column of floats: 32 bits. Used by `@Persisted` and collections; not for direct use.
    public static var _elementShape: _Shape { _Shape(ColumnType(.float)) }
    /// Returns 0. Used by `@Persisted` and collections; not for direct use.
    public static func _zero() -> Float { 0 }
    /// Returns a stored float, or nil if the value is of another type. Used by `@Persisted` and collections; not for direct use.
    public static func _element(_ stored: _Stored) -> Float? { if case .float(let value) = stored.value { value } else { nil } }
    /// Returns the number as a stored float. Used by `@Persisted` and collections; not for direct use.
    public func _stored(in core: _RealmReference?) -> _Stored { _Stored(.float(self)) }
    /// Returns the number in a column of a managed object, or 0 if it is null. Used by `@Persisted`; not for direct use.
    @inlinable public static func _read(_ object: ObjectBase, _ column: Int) -> Float { Float(object._real(column)) }
    /// Sets the number in a column of a managed object. Traps outside of a write transaction. Used by `@Persisted`; not for direct use.
    @inlinable public static func _write(_ object: ObjectBase, _ column: Int, _ value: Float) { object._setReal(column, Double(value)) }
    /// Returns the number in a column of a managed object, or nil if it is null. Used by `@Persisted`; not for direct use.
    @inlinable public static func _readOptional(_ object: ObjectBase, _ column: Int) -> Float? {
        object._optionalReal(column).map { Float($0) }
    }
    /// Returns the access to `Float` properties at an offset in bytes from the start of an object. Used by `@Persisted`; not for direct
    /// use.
    public static func _property(at offset: Int) -> _PropertyAccess { PersistedProperty<Float>(at: offset) }
    /// Appends the number to a column. Used by `@Persisted`; not for direct use.
    public func _appendPresent(to sink: _Sink) { sink.append(real: Double(self)) }
    /// Returns a sum or average, which can be a number of any type, as the nearest float. Returns 0 for a value of another type. Used by
    /// `sum` and `average`; not for direct use.
    public static func _sum(_ value: _Stored) -> Float { Float(Double._sum(value)) }
}

// MARK: Text and bytes

extension String: _Scalar, SortableType, _PrimaryKey, _Indexable, _FullTextIndexable {
    /// The type that the string is stored as: itself.
    public typealias PersistedType = String
    /// The type of a column of strings. Used by `@Persisted` and collections; not for direct use.
    public static var _elementShape: _Shape { _Shape(ColumnType(.string)) }
    /// Returns the empty string. Used by `@Persisted` and collections; not for direct use.
    public static func _zero() -> String { "" }
    /// Returns a stored string, or nil if the value is of another type. Used by `@Persisted` and collections; not for direct use.
    public static func _element(_ stored: _Stored) -> String? { if case .string(let value) = stored.value { value } else { nil } }
    /// Returns the string as a stored value. Used by `@Persisted` and collections; not for direct use.
    public func _stored(in core: _RealmReference?) -> _Stored { _Stored(.string(self)) }
    /// Returns the string in a column of a managed object, or the empty string if it is null. Used by `@Persisted`; not for direct use.
    public static func _read(_ object: ObjectBase, _ column: Int) -> String { object._text(column) ?? "" }
    /// Returns the string in a column of a managed object, or nil if it is null. Used by `@Persisted`; not for direct use.
    public static func _readOptional(_ object: ObjectBase, _ column: Int) -> String? { object._text(column) }
    /// Sets the string in a column of a managed object. Traps outside of a write transaction. Used by `@Persisted`; not for direct use.
    public static func _write(_ object: ObjectBase, _ column: Int, _ value: String) { object._setText(column, value) }
    /// Returns the access to `String` properties at an offset in bytes from the start of an object. Used by `@Persisted`; not for direct
    /// use.
    public static func _property(at offset: Int) -> _PropertyAccess { PersistedProperty<String>(at: offset) }
    /// Returns the access to `String?` properties at an offset in bytes from the start of an object. Used by `@Persisted`; not for direct
    /// use.
    public static func _optionalProperty(at offset: Int) -> _PropertyAccess { PersistedProperty<String?>(at: offset) }
    /// Appends the string to a column, in UTF-8. Used by `@Persisted`; not for direct use.
    public func _appendPresent(to sink: _Sink) { sink.append(text: self) }
}

extension Data: _Scalar, SortableType {
    /// The type that the data is stored as: itself.
    public typealias PersistedType = Data
    /// The type of a column of binary data. Used by `@Persisted` and collections; not for direct use.
    public static var _elementShape: _Shape { _Shape(ColumnType(.data)) }
    /// Returns empty data. Used by `@Persisted` and collections; not for direct use.
    public static func _zero() -> Data { Data() }
    /// Returns a copy of stored data, or nil if the value is of another type. Used by `@Persisted` and collections; not for direct use.
    public static func _element(_ stored: _Stored) -> Data? { if case .data(let bytes) = stored.value { Data(bytes) } else { nil } }
    /// Returns a copy of the data as a stored value. Used by `@Persisted` and collections; not for direct use.
    public func _stored(in core: _RealmReference?) -> _Stored { _Stored(.data([UInt8](self))) }
    /// Returns the data in a column of a managed object, or empty data if it is null. Used by `@Persisted`; not for direct use.
    public static func _read(_ object: ObjectBase, _ column: Int) -> Data { object._bytes(column) ?? Data() }
    /// Returns the data in a column of a managed object, or nil if it is null. Used by `@Persisted`; not for direct use.
    public static func _readOptional(_ object: ObjectBase, _ column: Int) -> Data? { object._bytes(column) }
    /// Returns the access to `Data` properties at an offset in bytes from the start of an object. Used by `@Persisted`; not for direct use.
    public static func _property(at offset: Int) -> _PropertyAccess { PersistedProperty<Data>(at: offset) }
}
