/// Declares a stored property of an `Object` or `EmbeddedObject`.
///
///     class Dog: Object {
///         @Persisted(primaryKey: true) var id: ObjectId
///         @Persisted(indexed: true) var name = ""
///         @Persisted var owner: Person?
///         @Persisted var toys: List<Toy>
///     }
///
/// What is not marked is not stored. Values given at the declaration are the initial values of new objects.
@propertyWrapper
public struct Persisted<Value: _Persistable> {
    // `column` and `options` come first: they are written and read through the offset of the property within its object (`PropertyAccess`).
    /// The column of a managed object; `unmanagedColumn`, or less where reads are recorded.
    @usableFromInline var column: Int16 = unmanagedColumn
    @usableFromInline var options: PersistedOptions
    @usableFromInline var state: PersistedState<Value>

    @inlinable
    init(options: PersistedOptions, state: PersistedState<Value>) {
        self.options = options
        self.state = state
    }

    // Within the type itself: the compiler looks for the initialisers of a wrapper without arguments here alone.
    /// A property with the initial value of its type: zero, empty, or nil.
    @inlinable
    public init() { self.init(options: PersistedOptions(rawValue: 0), state: .unset) }

    @inlinable
    public init(wrappedValue: @autoclosure @escaping () -> Value) { self.init(options: PersistedOptions(rawValue: 0), state: .initial(wrappedValue)) }

    @available(*, unavailable, message: "@Persisted can only be used on properties of a class derived from Object or EmbeddedObject")
    public var wrappedValue: Value {
        get { fatalError("unavailable") }
        set { fatalError("unavailable") }
    }

    @inlinable
    public static subscript<Owner: ObjectBase>(
        _enclosingInstance object: Owner, wrapped wrappedKeyPath: ReferenceWritableKeyPath<Owner, Value>,
        storage storageKeyPath: ReferenceWritableKeyPath<Owner, Self>
    ) -> Value {
        @inline(__always) get {
            if object._state != nil { return Value._read(object, Int(object[keyPath: storageKeyPath].column)) }
            if case .value(let value) = object[keyPath: storageKeyPath].state, object[keyPath: storageKeyPath].column == unmanagedColumn { return value }
            return object[keyPath: storageKeyPath].settle(object)
        }
        @inline(__always) set {
            if object._state != nil { return Value._write(object, Int(object[keyPath: storageKeyPath].column), newValue) }
            // Straight to the field: what goes through a method of the wrapper costs a walk along the key path.
            if Value._isCollection { object[keyPath: storageKeyPath].assign(newValue, object) } else { object[keyPath: storageKeyPath].state = .value(newValue) }
        }
    }

    /// Evaluates the initial value once; a recorder is told instead.
    @usableFromInline
    mutating func settle(_ object: ObjectBase) -> Value {
        if column < unmanagedColumn { return Value._recorded(object, Int(recordedColumn - column)) }
        let value = switch state {
        case .unset: Value._initial()
        case .initial(let make): make()
        case .value(let value): value
        }
        state = .value(value)
        return value
    }

    /// A property keeps its collection; its contents are replaced.
    @usableFromInline
    mutating func assign(_ value: Value, _ object: ObjectBase) {
        var mine = settle(object)
        mine._replaceContents(with: value)
    }
}

/// `column` of an unmanaged object, and the start (downwards) of those that are recorded.
@inlinable var unmanagedColumn: Int16 { -1 }
@inlinable var recordedColumn: Int16 { -2 }

/// Inverse links have no column: in its place stands this and the number of the property.
let linkingColumn: Int16 = 16_384

@usableFromInline @frozen
enum PersistedState<Value> {
    case unset
    case initial(() -> Value)
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

/// What `indexed:` takes.
public enum SearchIndexMode: Sendable {
    case none
    /// For equality, order and sorting.
    case general
    /// For `TEXT` queries over words.
    case fullText
}

extension Persisted where Value: _Indexable {
    public init(indexed: Bool) { self.init(options: indexed ? .indexed : [], state: .unset) }

    public init(wrappedValue: @autoclosure @escaping () -> Value, indexed: Bool) {
        self.init(options: indexed ? .indexed : [], state: .initial(wrappedValue))
    }
}

extension Persisted where Value: _FullTextIndexable {
    public init(indexed: SearchIndexMode) { self.init(options: PersistedOptions(indexed), state: .unset) }

    public init(wrappedValue: @autoclosure @escaping () -> Value, indexed: SearchIndexMode) {
        self.init(options: PersistedOptions(indexed), state: .initial(wrappedValue))
    }
}

extension Persisted where Value: _PrimaryKey {
    /// The property that identifies its object: no two objects of the type have the same value, and it does not change.
    public init(primaryKey: Bool) { self.init(options: primaryKey ? [.primaryKey, .indexed] : [], state: .unset) }

    public init(wrappedValue: @autoclosure @escaping () -> Value, primaryKey: Bool) {
        self.init(options: primaryKey ? [.primaryKey, .indexed] : [], state: .initial(wrappedValue))
    }
}

extension PersistedOptions {
    init(_ mode: SearchIndexMode) {
        self = switch mode {
        case .none: []
        case .general: .indexed
        case .fullText: .fullText
        }
    }
}
