import FirnBytes
import FirnTable
import Foundation

// Dates, identifiers and decimals.

extension Date: _Scalar, MinMaxType, SortableType, _Indexable {
    /// The type that the date is stored as: itself.
    public typealias PersistedType = Date
    /// The type of a column of dates: seconds and nanoseconds since 1970-01-01 00:00 UTC. Used by `@Persisted` and collections; not for
    /// direct use.
    public static var _elementShape: _Shape { _Shape(ColumnType(.date)) }
    /// Returns 1970-01-01 00:00 UTC. Used by `@Persisted` and collections; not for direct use.
    public static func _zero() -> Date { Date(timeIntervalSince1970: 0) }
    /// A new property gets the current time.
    public static func _initial() -> Date { Date() }
    /// Returns a stored date, or nil if the value is of another type. Used by `@Persisted` and collections; not for direct use.
    public static func _element(_ stored: _Stored) -> Date? { if case .date(let time) = stored.value { Date(time) } else { nil } }
    /// Returns the date as a stored value with nanoseconds. Used by `@Persisted` and collections; not for direct use.
    public func _stored(in core: _RealmReference?) -> _Stored { _Stored(.date(Timestamp(self))) }
    /// Returns the date in a column of a managed object, or 1970-01-01 00:00 UTC if it is null. Used by `@Persisted`; not for direct use.
    public static func _read(_ object: ObjectBase, _ column: Int) -> Date { _readOptional(object, column) ?? _zero() }
    /// Returns the date in a column of a managed object, or nil if it is null. Used by `@Persisted`; not for direct use.
    public static func _readOptional(_ object: ObjectBase, _ column: Int) -> Date? {
        object._pair(column).map { Date(Timestamp(seconds: $0.0, nanoseconds: Int32(truncatingIfNeeded: $0.1))) }
            ?? _element(_Stored(object._value(column)))
    }
    /// Returns the access to `Date` properties at an offset in bytes from the start of an object. Used by `@Persisted`; not for direct use.
    public static func _property(at offset: Int) -> _PropertyAccess { PersistedProperty<Date>(at: offset) }
}

extension UUID: _Scalar, SortableType, _PrimaryKey, _Indexable {
    /// The type that the UUID is stored as: itself.
    public typealias PersistedType = UUID
    /// The type of a column of UUIDs. Used by `@Persisted` and collections; not for direct use.
    public static var _elementShape: _Shape { _Shape(ColumnType(.uuid)) }
    /// Returns the UUID whose 16 bytes are 0. Used by `@Persisted` and collections; not for direct use.
    public static func _zero() -> UUID { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) }
    /// A new property gets a new identifier.
    public static func _initial() -> UUID { UUID() }
    /// Returns a stored UUID, or nil if the value is of another type. Used by `@Persisted` and collections; not for direct use.
    public static func _element(_ stored: _Stored) -> UUID? { if case .uuid(let id) = stored.value { UUID(id) } else { nil } }
    /// Returns the UUID as a stored value of 128 bits. Used by `@Persisted` and collections; not for direct use.
    public func _stored(in core: _RealmReference?) -> _Stored { _Stored(.uuid(Identifier(self))) }
    /// Returns the UUID in a column of a managed object, or the UUID whose 16 bytes are 0 if it is null. Used by `@Persisted`; not for
    /// direct use.
    public static func _read(_ object: ObjectBase, _ column: Int) -> UUID { _readOptional(object, column) ?? _zero() }
    /// Returns the UUID in a column of a managed object, or nil if it is null. Used by `@Persisted`; not for direct use.
    public static func _readOptional(_ object: ObjectBase, _ column: Int) -> UUID? {
        object._pair(column).map { UUID(Column.uuid($0.0, $0.1)) } ?? _element(_Stored(object._value(column)))
    }
    /// Returns the access to `UUID` properties at an offset in bytes from the start of an object. Used by `@Persisted`; not for direct use.
    public static func _property(at offset: Int) -> _PropertyAccess { PersistedProperty<UUID>(at: offset) }
}

extension ObjectId: _Scalar, SortableType, _PrimaryKey, _Indexable {
    /// The type that the object id is stored as: itself.
    public typealias PersistedType = ObjectId
    /// The type of a column of object ids. Used by `@Persisted` and collections; not for direct use.
    public static var _elementShape: _Shape { _Shape(ColumnType(.objectID)) }
    /// Returns the object id whose 12 bytes are 0. Used by `@Persisted` and collections; not for direct use.
    public static func _zero() -> ObjectId { ObjectId.zero }
    /// A new property gets a generated identifier.
    public static func _initial() -> ObjectId { ObjectId.generate() }
    /// Returns a stored object id, or nil if the value is of another type. Used by `@Persisted` and collections; not for direct use.
    public static func _element(_ stored: _Stored) -> ObjectId? { if case .objectID(let id) = stored.value { ObjectId(id) } else { nil } }
    /// Returns the object id as a stored value. Used by `@Persisted` and collections; not for direct use.
    public func _stored(in core: _RealmReference?) -> _Stored { _Stored(.objectID(identifier)) }
    /// Returns the object id in a column of a managed object, or the object id whose 12 bytes are 0 if it is null. Used by `@Persisted`;
    /// not for direct use.
    public static func _read(_ object: ObjectBase, _ column: Int) -> ObjectId { _readOptional(object, column) ?? _zero() }
    /// Returns the object id in a column of a managed object, or nil if it is null. Used by `@Persisted`; not for direct use.
    public static func _readOptional(_ object: ObjectBase, _ column: Int) -> ObjectId? {
        object._pair(column).map { ObjectId(Column.objectID($0.0, $0.1)) } ?? _element(_Stored(object._value(column)))
    }
    /// Returns the access to `ObjectId` properties at an offset in bytes from the start of an object. Used by `@Persisted`; not for direct
    /// use.
    public static func _property(at offset: Int) -> _PropertyAccess { PersistedProperty<ObjectId>(at: offset) }
}

extension Decimal128: _Scalar, MinMaxType, AddableType, SortableType {
    /// The type that the decimal is stored as: itself.
    public typealias PersistedType = Decimal128
    /// The type of a column of decimals: 128 bits, 34 digits. Used by `@Persisted` and collections; not for direct use.
    public static var _elementShape: _Shape { _Shape(ColumnType(.decimal)) }
    /// Returns 0. Used by `@Persisted` and collections; not for direct use.
    public static func _zero() -> Decimal128 { 0 }
    /// Returns a stored decimal with the same digits, or nil if the value is of another type. Used by `@Persisted` and collections; not for
    /// direct use.
    public static func _element(_ stored: _Stored) -> Decimal128? {
        if case .decimal(let value) = stored.value { Decimal128(value) } else { nil }
    }
    /// Returns the decimal as a stored value with the same digits. Used by `@Persisted` and collections; not for direct use.
    public func _stored(in core: _RealmReference?) -> _Stored { _Stored(.decimal(modelDecimal)) }
    /// Returns the decimal in a column of a managed object, or 0 if it is null. Used by `@Persisted`; not for direct use.
    public static func _read(_ object: ObjectBase, _ column: Int) -> Decimal128 { _readOptional(object, column) ?? _zero() }
    /// Returns the decimal in a column of a managed object, or nil if it is null. Used by `@Persisted`; not for direct use.
    public static func _readOptional(_ object: ObjectBase, _ column: Int) -> Decimal128? {
        object._pair(column).map { Decimal128(FirnTable.Decimal(high: UInt64(bitPattern: $0.0), low: UInt64(bitPattern: $0.1))) }
            ?? _element(_Stored(object._value(column)))
    }
    /// Returns the access to `Decimal128` properties at an offset in bytes from the start of an object. Used by `@Persisted`; not for
    /// direct use.
    public static func _property(at offset: Int) -> _PropertyAccess { PersistedProperty<Decimal128>(at: offset) }
    /// Returns a sum or average, which can be a decimal, an integer or a double, as a decimal. Returns 0 for a value of another type. Used
    /// by `sum` and `average`; not for direct use.
    public static func _sum(_ value: _Stored) -> Decimal128 {
        switch value.value {
        case .decimal(let sum): Decimal128(sum)
        case .int(let sum): Decimal128(sum)
        case .double(let sum): Decimal128(sum)
        default: 0
        }
    }
}
