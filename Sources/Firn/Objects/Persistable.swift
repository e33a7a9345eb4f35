import FirnModel

/// A type that `@Persisted` properties may have: numbers, strings, dates and the like, optionals of them, enums, links, embedded objects,
/// collections. Conform your own types through `PersistableEnum` or `CustomPersistable`.
public protocol _Persistable {
    /// How it is stored.
    static var _shape: _Shape { get }
    /// What a property holds that was never set.
    static func _initial() -> Self
    /// A property of a managed object.
    static func _read(_ object: ObjectBase, _ column: Int) -> Self
    static func _write(_ object: ObjectBase, _ column: Int, _ value: Self)
    /// What the property gives while key paths are recorded: the property number `property` of `object` was read.
    static func _recorded(_ object: ObjectBase, _ property: Int) -> Self
    /// How properties of this type are reached within unmanaged objects. A requirement, so that each type has code of its own.
    static func _property(at offset: Int) -> _PropertyAccess
    /// As an untyped value, and back; nil for what does not fit.
    var _untyped: Any? { get }
    static func _fromUntyped(_ value: Any?) -> Self?
    /// Appends the value of an object that is being added to a realm.
    func _append(to sink: _Sink)
    static var _isCollection: Bool { get }
    mutating func _replaceContents(with other: Self)
}

extension _Persistable {
    @inlinable public static var _isCollection: Bool { false }
    public mutating func _replaceContents(with other: Self) { self = other }
    public static func _recorded(_ object: ObjectBase, _ property: Int) -> Self {
        object._record(property)
        return _initial()
    }
}

/// How a property is stored: its column's type.
public struct _Shape: Sendable {
    var type: ColumnType
    /// The class that links and embedded objects are of, if it is known.
    nonisolated(unsafe) var target: ObjectBase.Type?
    /// A property that is derived from links of other objects: no column.
    var isLinking = false

    init(_ type: ColumnType, target: ObjectBase.Type? = nil) {
        self.type = type
        self.target = target
    }
}

/// Where the value of an object that is being added goes: the end of one column.
public struct _Sink {
    let column: UnsafeMutablePointer<Column>

    func append(word: Int64) {
        column.pointee.words.append(word)
        column.pointee.present?.append(true)
        column.pointee.count &+= 1
    }

    func append(real: Double) {
        column.pointee.reals.append(real)
        column.pointee.present?.append(true)
        column.pointee.count &+= 1
    }

    func append(text: String) {
        var text = text
        text.withUTF8 { column.pointee.text.append(UnsafeRawBufferPointer($0)) }
        column.pointee.present?.append(true)
        column.pointee.count &+= 1
    }

    func append(_ value: Value) {
        if !column.pointee.append(value) { preconditionFailure("a value of another type than its column: \(value)") }
    }

    func appendNull() { column.pointee.appendNull() }
}

/// A stored value on its way to or from a typed one; with the realm that links lead into.
public struct _Stored {
    let value: Value
    let core: RealmCore?

    init(_ value: Value, _ core: RealmCore? = nil) {
        self.value = value
        self.core = core
    }
}

/// A type that elements of collections and properties with one value have.
public protocol _Element {
    static var _elementShape: _Shape { get }
    /// The zero of the type.
    static func _zero() -> Self
    /// Nil if the value is of another type (a file that another program wrote).
    static func _element(_ stored: _Stored) -> Self?
    /// As it is stored; objects that are not managed yet are added to `core` (nil: the collection is unmanaged, objects have no stored form).
    func _stored(in core: _RealmReference?) -> _Stored
    var _untypedElement: Any? { get }
    static func _elementFromUntyped(_ value: Any?) -> Self?
    /// Of ints and bools: as the word that they are stored as, and back, without boxing; nil for all others.
    var _word: Int64? { get }
    /// The object that the element is; a cast would cost more.
    var _object: ObjectBase? { get }
    static var _isObject: Bool { get }
    static func _fromWord(_ word: Int64) -> Self?
}

extension _Element {
    public var _word: Int64? { nil }
    public var _object: ObjectBase? { nil }
    public static var _isObject: Bool { false }
    public static func _fromWord(_ word: Int64) -> Self? { nil }
}

/// The realm that values are stored into.
public struct _RealmReference {
    let core: RealmCore
}

// MARK: The protocols that constrain generic members

/// What collections hold.
public protocol RealmCollectionValue: Hashable, _Element, _HasPersistedType {}

/// A type with a type that it is stored as (its own, but for enums and custom types).
public protocol _HasPersistedType {
    associatedtype PersistedType
}

/// `min` and `max` work on it.
public protocol MinMaxType {}
/// `sum` and `average` work on it.
public protocol AddableType {
    static func _sum(_ value: _Stored) -> Self
}
/// Collections of it can be sorted.
public protocol SortableType {}
/// Collections of it can be sorted by key path: objects and projections.
public protocol KeypathSortable {}
/// A type that `where { }` can be used on.
public protocol _RealmSchemaDiscoverable {}
/// A type that primary keys may have.
public protocol _PrimaryKey {}
/// A type that `indexed: true` takes.
public protocol _Indexable {}
/// A type that `indexed: .fullText` takes.
public protocol _FullTextIndexable {}
