import FirnBytes
import FirnTable

/// A type that `@Persisted` properties can have: numbers, strings, dates and similar values, optionals of them, enums, links, embedded
/// objects, collections. Make your own types conform through `PersistableEnum` or `CustomPersistable`.
public protocol _Persistable {
    /// How the property is stored.
    static var _shape: _Shape { get }
    /// Returns the value of a new object's property that was never set: zero, empty or nil, but a new identifier, and the current time.
    static func _initial() -> Self
    /// Reads a property of a managed object.
    static func _read(_ object: ObjectBase, _ column: Int) -> Self
    static func _write(_ object: ObjectBase, _ column: Int, _ value: Self)
    /// Records that a property of `object` was read while key paths are recorded, and returns the value to continue with.
    static func _recorded(_ object: ObjectBase, _ property: Int) -> Self
    /// Returns the access to properties of this type in unmanaged objects. A protocol requirement, so that each type gets specialized code.
    static func _property(at offset: Int) -> _PropertyAccess
    /// The value as an untyped one. `_fromUntyped` is its inverse and returns nil if a value does not fit.
    var _untyped: Any? { get }
    static func _fromUntyped(_ value: Any?) -> Self?
    /// Appends the value of an object that is being added to a realm.
    func _append(to sink: _Sink)
    static var _isCollection: Bool { get }
    mutating func _replaceContents(with other: Self)
}

extension _Persistable {
    /// Whether the property is a list, set or map. False unless a type declares otherwise. Used by `@Persisted`; not for direct use.
    @inlinable public static var _isCollection: Bool { false }
    /// Assigns `other`. Collections replace their contents instead. Used by `@Persisted`; not for direct use.
    public mutating func _replaceContents(with other: Self) { self = other }
    /// Records that the property was read, and returns the value of a property that was never set. Used while key paths are recorded; not
    /// for direct use.
    public static func _recorded(_ object: ObjectBase, _ property: Int) -> Self {
        object._firnRecord(property)
        return _initial()
    }
}

/// How a property is stored: the type of its column.
public struct _Shape: Sendable {
    var type: ColumnType
    /// The class of links and embedded objects, if it is known.
    var target: ObjectBase.Type?
    /// True for a property that is derived from links of other objects and has no column.
    var isLinking = false

    init(_ type: ColumnType, target: ObjectBase.Type? = nil) {
        self.type = type
        self.target = target
    }

    /// True if values can be objects or contain objects.
    var mayHoldObjects: Bool { target != nil || type.kind == .any }
}

/// The end of a column, where the values of an object that is being added are appended.
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
        if !column.pointee.append(value) { trap("the value does not have the type of its column: \(value)") }
    }

    func appendNull() { column.pointee.appendNull() }
}

/// A stored value during its conversion to or from a typed one, with the realm that its links refer to.
public struct _Stored {
    let value: Value
    let core: RealmCore?

    init(_ value: Value, _ core: RealmCore? = nil) {
        self.value = value
        self.core = core
    }
}

/// A type that elements of collections and properties with one value can have.
public protocol _Element {
    static var _elementShape: _Shape { get }
    /// Returns the zero of the type.
    static func _zero() -> Self
    /// Returns nil if the value has another type, in a file that another program wrote.
    static func _element(_ stored: _Stored) -> Self?
    /// Returns the stored form. Unmanaged objects are added to `core`; if that is nil, the collection is unmanaged and objects have no
    /// stored form.
    func _stored(in core: _RealmReference?) -> _Stored
    var _firnUntyped: Any? { get }
    static func _elementFromUntyped(_ value: Any?) -> Self?
    /// Integers and booleans as the word that they are stored as, without boxing; nil for all other types. `_fromWord` is its inverse.
    var _word: Int64? { get }
    /// The element as an object, or nil. A cast would cost more.
    var _firnObject: ObjectBase? { get }
    static var _isObject: Bool { get }
    static func _fromWord(_ word: Int64) -> Self?
}

extension _Element {
    /// Nil: only integers and booleans are stored as words. Used by collections; not for direct use.
    public var _word: Int64? { nil }
    /// Nil: the element is not an object. Used by collections; not for direct use.
    public var _firnObject: ObjectBase? { nil }
    /// False: elements of this type are not objects. Used by collections; not for direct use.
    public static var _isObject: Bool { false }
    /// Returns nil: only integers and booleans are stored as words. Used by collections; not for direct use.
    public static func _fromWord(_ word: Int64) -> Self? { nil }
}

/// The realm that values are stored in.
public struct _RealmReference {
    let core: RealmCore
}

// MARK: The protocols that constrain generic members

/// A type that elements of collections can have.
public protocol RealmCollectionValue: Hashable, _Element, _HasPersistedType {}

/// A type and the type that it is stored as: itself, except for enums and custom types.
public protocol _HasPersistedType {
    associatedtype PersistedType
}

/// A type for which `min` and `max` are defined.
public protocol MinMaxType {}
/// A type for which `sum` and `average` are defined.
public protocol AddableType {
    static func _sum(_ value: _Stored) -> Self
}
/// A type by which collections can be sorted.
public protocol SortableType {}
/// A type whose collections can be sorted by key path: objects and projections.
public protocol KeypathSortable {}
/// A type that `where { }` can be used on.
public protocol _RealmSchemaDiscoverable {}
/// A type that primary keys can have.
public protocol _PrimaryKey {}
/// A type that properties with `indexed: true` can have.
public protocol _Indexable {}
/// A type that properties with `indexed: .fullText` can have.
public protocol _FullTextIndexable {}
