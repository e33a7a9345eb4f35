import FirnBytes

/// Declares a stored property of an `Object` or `EmbeddedObject`.
///
///     class Dog: Object {
///         @Persisted(primaryKey: true) var id: ObjectId
///         @Persisted(indexed: true) var name = ""
///         @Persisted var owner: Person?
///         @Persisted var toys: List<Toy>
///     }
///
/// Values given in the declaration are the initial values of new objects. Without one, a property is zero, empty, false or nil; an enum is
/// its first case; and a `UUID`, an `ObjectId` and a `Date` are generated for each object: a new identifier, and the current time. Properties
/// without `@Persisted` are not stored, except for the older declarations of `List`, `LinkingObjects` and `RealmProperty` properties.
@propertyWrapper
public struct Persisted<Value: _Persistable> {
    // `column` and `options` come first: they are accessed by the offset of the property within its object (`PropertyAccess`).
    /// The column of a managed object; `unmanagedColumn`, or less while reads are recorded.
    @usableFromInline var column: Int16 = unmanagedColumn
    @usableFromInline var options: PersistedOptions
    @usableFromInline var state: PersistedState<Value>

    @inlinable
    init(options: PersistedOptions, state: PersistedState<Value>) {
        self.options = options
        self.state = state
    }

    // Declared in the type itself: the compiler looks for a wrapper's initializers without arguments only here.
    /// Creates a property with the initial value of its type: zero, empty, or nil.
    @inlinable
    public init() { self.init(options: PersistedOptions(rawValue: 0), state: .unset) }

    // Not an autoclosure: initializers that set the property before `super.init()` call this with the value.
    /// Creates a property with an initial value, which is evaluated once for each object.
    @inlinable
    public init(wrappedValue: Value) { self.init(options: PersistedOptions(rawValue: 0), state: .value(wrappedValue)) }

    /// Unavailable: a property is read and written through its object, and only in classes derived from `Object` or `EmbeddedObject`.
    @available(*, unavailable, message: "@Persisted can only be used on properties of a class derived from Object or EmbeddedObject")
    public var wrappedValue: Value {
        get { trap("unavailable") }
        set { trap("unavailable") }
    }

    /// Reads and writes the property: in the realm's data if the object is managed, otherwise in the object.
    @inlinable
    public static subscript<Owner: ObjectBase>(
        _enclosingInstance object: Owner, wrapped wrappedKeyPath: ReferenceWritableKeyPath<Owner, Value>,
        storage storageKeyPath: ReferenceWritableKeyPath<Owner, Self>
    ) -> Value {
        @inline(__always) get {
            if object._state != nil { return Value._read(object, Int(object[keyPath: storageKeyPath].column)) }
            if case .value(let value) = object[keyPath: storageKeyPath].state, object[keyPath: storageKeyPath].column == unmanagedColumn {
                return value
            }
            return object[keyPath: storageKeyPath].settle(object)
        }
        @inline(__always) set {
            if object._state != nil { return Value._write(object, Int(object[keyPath: storageKeyPath].column), newValue) }
            // Sets the field directly: a call through a method of the wrapper would evaluate the key path.
            if Value._isCollection {
                object[keyPath: storageKeyPath].assign(newValue, object)
            } else {
                object[keyPath: storageKeyPath].state = .value(newValue)
            }
        }
    }

    /// Evaluates the initial value once. While reads are recorded, records the read instead.
    @usableFromInline
    mutating func settle(_ object: ObjectBase) -> Value {
        if column < unmanagedColumn {
            let property = Int(recordedColumn - column)
            // Not every custom type has a value of its own for recording.
            if case .value(let value) = state, Value.self is any _CustomPersistable.Type {
                object._firnRecord(property)
                return value
            }
            return Value._recorded(object, property)
        }
        let value =
            switch state {
            case .unset: Value._initial()
            case .value(let value): value
            }
        state = .value(value)
        return value
    }

    /// Replaces the contents of the property's collection. The property keeps its collection.
    @usableFromInline
    mutating func assign(_ value: Value, _ object: ObjectBase) {
        var mine = settle(object)
        mine._replaceContents(with: value)
    }
}

/// The `column` of an unmanaged object. Columns whose reads are recorded count down from `recordedColumn`.
@inlinable var unmanagedColumn: Int16 { -1 }
@inlinable var recordedColumn: Int16 { -2 }

/// Inverse links have no column; this plus the position of the property is used instead.
let linkingColumn: Int16 = 16_384

@usableFromInline @frozen
enum PersistedState<Value> {
    case unset
    case value(Value)
}

@usableFromInline
struct PersistedOptions: OptionSet, Sendable {
    @usableFromInline var rawValue: UInt16
    @inlinable init(rawValue: UInt16) { self.rawValue = rawValue }
    static let primaryKey = PersistedOptions(rawValue: 1)
    static let indexed = PersistedOptions(rawValue: 2)
    static let fullText = PersistedOptions(rawValue: 4)
}

/// The kinds of indexes, for `indexed:`.
public enum SearchIndexMode: Sendable {
    /// No index.
    case none
    /// An index for equality, comparisons and sorting.
    case general
    /// An index for `TEXT` queries by words.
    case fullText
}

extension Persisted where Value: _HasPersistedType, Value.PersistedType: _Indexable {
    /// Creates a property with or without an index.
    public init(indexed: Bool) { self.init(options: indexed ? .indexed : [], state: .unset) }

    /// Creates a property with an initial value, with or without an index.
    public init(wrappedValue: Value, indexed: Bool) { self.init(options: indexed ? .indexed : [], state: .value(wrappedValue)) }
}

extension Persisted where Value: _HasPersistedType, Value.PersistedType: _FullTextIndexable {
    /// Creates a property with a kind of index.
    public init(indexed: SearchIndexMode) { self.init(options: PersistedOptions(indexed), state: .unset) }

    /// Creates a property with an initial value and a kind of index.
    public init(wrappedValue: Value, indexed: SearchIndexMode) {
        self.init(options: PersistedOptions(indexed), state: .value(wrappedValue))
    }
}

extension Persisted where Value: _HasPersistedType, Value.PersistedType: _PrimaryKey {
    /// Creates the property that is the primary key: unique within its type, and immutable after the object was added.
    public init(primaryKey: Bool) { self.init(options: primaryKey ? [.primaryKey, .indexed] : [], state: .unset) }

    /// As above, with an initial value.
    public init(wrappedValue: Value, primaryKey: Bool) {
        self.init(options: primaryKey ? [.primaryKey, .indexed] : [], state: .value(wrappedValue))
    }
}

extension PersistedOptions {
    init(_ mode: SearchIndexMode) {
        self =
            switch mode {
            case .none: []
            case .general: .indexed
            case .fullText: .fullText
            }
    }
}
