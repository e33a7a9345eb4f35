import FirnBytes
import FirnTable

/// Values by string key: a property of an object, or unmanaged. Keys are in ascending order of their UTF-8 bytes. They must not begin with
/// `$` nor contain a point.
///
///     @Persisted var scores: Map<String, Int>
public final class Map<Key: _MapKey, Value: RealmCollectionValue> {
    enum Storage {
        /// In ascending order of the keys.
        case unmanaged([(key: String, value: Value)])
        case managed(CollectionCell)
    }
    private var held: Storage
    /// The property of a managed object that is declared without `@Persisted`, until its elements are first used.
    private var bound: RowProperty?
    var storage: Storage {
        get {
            if let bound { find(bound) }
            return held
        }
        set { held = newValue }
    }

    /// Creates an empty unmanaged map.
    public init() { held = .unmanaged([]) }
    init(_ cell: CollectionCell) { held = .managed(cell) }

    private func find(_ property: RowProperty) {
        held = .managed(property.cell)
        bound = nil
    }

    // MARK: Reading

    /// The number of entries.
    public var count: Int {
        switch storage {
        case .unmanaged(let entries): entries.count
        case .managed(let cell): cell.count
        }
    }

    /// Whether the map has no entries.
    public var isEmpty: Bool { count == 0 }

    /// The keys, in ascending order.
    public var keys: [Key] { names.map { Key(_name: $0) } }

    /// The values, in the order of their keys.
    public var values: [Value] {
        switch storage {
        case .unmanaged(let entries): entries.map(\.value)
        case .managed(let cell): cell.values.map { cell.element($0) }
        }
    }

    private var names: [String] {
        switch storage {
        case .unmanaged(let entries): entries.map(\.key)
        case .managed(let cell): cell.keys
        }
    }

    /// The value of a key; nil if the map has no such key. Setting nil removes the key.
    public subscript(key: Key) -> Value? {
        get {
            // The type annotation keeps a null value from becoming a missing one, which would happen if the optional were returned
            // directly.
            let value: Value
            switch storage {
            case .unmanaged(let entries):
                let (position, isThere) = position(of: key._name)
                guard isThere else { return nil }
                value = entries[position].value
            case .managed(let cell):
                guard let stored = cell.value(forKey: key._name) else { return nil }
                value = cell.element(stored)
            }
            return value
        }
        set { if let newValue { set(newValue, for: key._name) } else { removeObject(for: key) } }
    }

    /// The value of a key, or the default if the map has no such key.
    public subscript(key: Key, default defaultValue: @autoclosure () -> Value) -> Value {
        get { self[key] ?? defaultValue() }
        set { self[key] = newValue }
    }

    /// Returns the value of a key; nil if the map has no such key.
    public func object(forKey key: Key) -> Value? { self[key] }

    private func position(of key: String) -> (position: Int, isThere: Bool) {
        switch storage {
        case .unmanaged(let entries):
            var low = 0, high = entries.count
            while low < high {
                let middle = (low + high) / 2
                if entries[middle].key.precedes(key) { low = middle + 1 } else { high = middle }
            }
            return (low, low < entries.count && entries[low].key.utf8.elementsEqual(key.utf8))
        case .managed(let cell):
            let (index, isThere) = cell.elements.position(ofKey: key)
            return (index, isThere)
        }
    }

    // MARK: Changing

    private func set(_ value: Value, for key: String) {
        if let fault = Map.fault(inKey: key) { trap(fault) }
        let (position, isThere) = position(of: key)
        switch storage {
        case .unmanaged(var entries):
            storage = .unmanaged([])
            if isThere { entries[position].value = value } else { entries.insert((key, value), at: position) }
            storage = .unmanaged(entries)
        case .managed(let cell):
            let new = stored([value], in: cell)[0]
            if let old = cell.change("Map", { $0.set(new, forKey: key) }) { release([old], in: cell) }
        }
    }

    /// Sets the value of a key. Traps if the key is not allowed.
    public func updateValue(_ value: Value, forKey key: Key) { set(value, for: key._name) }
    /// Sets the value of a key. Traps if the key is not allowed.
    public func setValue(_ value: Value, forKey key: Key) { set(value, for: key._name) }

    /// Removes a key and its value. Does nothing if the map has no such key.
    public func removeObject(for key: Key) {
        let (position, isThere) = position(of: key._name)
        guard isThere else {
            if case .managed(let cell) = storage { cell.core.requireTransaction("modify a Map") }
            return
        }
        switch storage {
        case .unmanaged(var entries):
            storage = .unmanaged([])
            entries.remove(at: position)
            storage = .unmanaged(entries)
        case .managed(let cell):
            release([cell.change("Map") { $0.removeEntry(at: position) }], in: cell)
        }
    }

    /// Removes all entries. Linked objects stay in their realm; embedded objects are deleted.
    public func removeAll() {
        switch storage {
        case .unmanaged: storage = .unmanaged([])
        case .managed(let cell):
            let old = cell.change("Map") { elements in
                defer { elements.removeAllEntries() }
                return elements.all
            }
            release(old, in: cell)
        }
    }

    /// Sets the entries of another map. For keys that both maps have, the other's value is used.
    public func merge<S: Sequence>(_ other: S) where S.Element == (key: Key, value: Value) {
        for (key, value) in other { set(value, for: key._name) }
    }
}

/// The type of a map's keys: strings.
public protocol _MapKey: Hashable {
    init(_name: String)
    var _name: String { get }
}

extension String: _MapKey {
    /// Returns a name as a key: the string itself. Used by `Map`; not for direct use.
    public init(_name: String) { self = _name }
    /// The key as a string: itself. Used by `Map`; not for direct use.
    public var _name: String { self }

    /// Returns whether this precedes another string in the order of their UTF-8 bytes.
    func precedes(_ other: String) -> Bool { utf8.lexicographicallyPrecedes(other.utf8) }
}

extension Map: Sequence {
    /// A key and its value.
    public struct Entry {
        /// The key.
        public let key: Key
        /// The value.
        public let value: Value
    }

    /// Returns an iterator over the entries at the time of this call. Later changes do not affect it.
    public func makeIterator() -> IndexingIterator<[Entry]> { zip(keys, values).map { Entry(key: $0, value: $1) }.makeIterator() }

    /// Returns the entries as tuples, in the order of their keys.
    public func asKeyValueSequence() -> [(key: Key, value: Value)] { zip(keys, values).map { (key: $0, value: $1) } }
}

extension Map: Hashable {
    /// Returns whether both maps have the same entries. Live, frozen and unmanaged maps compare alike.
    public static func == (a: Map, b: Map) -> Bool {
        a.isSameCollection(as: b) || a.keys == b.keys && zip(a.values, b.values).allSatisfy(isSameElement)
    }
    /// Hashes the number of entries. Maps with equally many entries have the same hash, and the hash of a map changes with that number.
    public func hash(into hasher: inout Hasher) { hasher.combine(count) }
}

extension Map: _Persistable {
    /// The type of the column: a map from strings to the value type. Used by `@Persisted`; not for direct use.
    public static var _shape: _Shape { .collection(.map, of: Value.self) }
    /// Returns an empty unmanaged map. Used by `@Persisted`; not for direct use.
    public static func _initial() -> Map { Map() }
    /// Returns the live map in a column of a managed object. Used by `@Persisted`; not for direct use.
    public static func _read(_ object: ObjectBase, _ column: Int) -> Map { Map(CollectionCell.of(object, column)) }
    /// Replaces the contents of the map in a column of a managed object. Traps outside of a write transaction. Used by `@Persisted`; not
    /// for direct use.
    ///
    /// - Complexity: O(*n* log *n*) for the entries of both maps.
    public static func _write(_ object: ObjectBase, _ column: Int, _ value: Map) { _read(object, column)._replaceContents(with: value) }
    /// Returns the access to properties of this type at an offset in bytes from the start of an object. Used by `@Persisted`; not for
    /// direct use.
    public static func _property(at offset: Int) -> _PropertyAccess { PersistedProperty<Map>(at: offset) }
    /// Returns a map itself, or an unmanaged map of the entries of an untyped dictionary. Returns an empty map for nil, and nil if a value
    /// does not fit. Traps if a key begins with `$` or contains a point. Used by `@Persisted`; not for direct use.
    ///
    /// - Complexity: O(*n* log *n*) for a dictionary of *n* entries.
    public static func _fromUntyped(_ value: Any?) -> Map? {
        if let map = value as? Map { return map }
        let map = Map()
        return map._replaceAll(untyped: value) ? map : nil
    }
    /// The map itself. Used by `@Persisted`; not for direct use.
    public var _untyped: Any? { self }
    /// Appends an empty map to a column. The entries are set after their owner has a row. Used by `@Persisted`; not for direct use.
    public func _append(to sink: _Sink) { sink.append(.map([])) }
    /// True: setting the property replaces the contents of its map. Used by `@Persisted`; not for direct use.
    public static var _isCollection: Bool { true }
    /// Replaces the entries with those of `other`. Does nothing if both are the same map. Removed embedded objects are deleted. Traps if
    /// the map is managed and its realm is not in a write transaction. Used by `@Persisted`; not for direct use.
    ///
    /// - Complexity: O(*n* log *n*) for the entries of both maps.
    public func _replaceContents(with other: Map) {
        if other === self { return }
        if case .managed(let mine) = storage, case .managed(let theirs) = other.storage, mine === theirs { return }
        let entries = other.asKeyValueSequence()
        removeAll()
        merge(entries)
    }
}

extension Map: _AnyCollection {
    var _untypedElements: [Any?] { values.map(\._firnUntyped) }

    func _replaceAll(untyped value: Any?) -> Bool {
        var entries: [(key: Key, value: Value)] = []
        switch unwrapped(value) {
        case nil: break
        case let map as Map: entries = map.asKeyValueSequence()
        case let dictionary as [String: Any?]:
            // In the order of the keys, so that each entry is appended.
            for (key, one) in dictionary.sorted(by: { $0.key.precedes($1.key) }) {
                guard let fitting = Value._elementFromUntyped(one) else { return false }
                entries.append((Key(_name: key), fitting))
            }
        default: return false
        }
        removeAll()
        merge(entries)
        return true
    }

    func _value(forKeyPath path: String) -> Any? { value(forKeyPath: path) }
}

extension Map: _OlderCollection {
    func bind(to property: RowProperty) {
        held = .unmanaged([])
        bound = property
        // Any thread can use a frozen map.
        if property.isFrozen { find(property) }
    }
    func record(_ name: String, by recorder: KeyPathRecorder) { recorder.expect(name, of: self) }
    func unmanagedCopy() -> Map {
        let map = Map()
        map.merge(asKeyValueSequence())
        return map
    }
}
