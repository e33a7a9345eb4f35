import FirnBytes
import FirnTable
import Foundation

/// The realm of a map, and its values as a collection.
extension Map {
    /// The values, in the order of their keys.
    var valueResults: Results<Value> {
        switch storage {
        case .unmanaged(let entries): Results(UnmanagedSource(entries.map(\.value)))
        case .managed(let cell): Results(CellSource(cell, cell.shape(of: Value.self)))
        }
    }

    // MARK: Realm and version

    /// The realm of the map; nil if the map is unmanaged.
    public var realm: Realm? { if case .managed(let cell) = storage { Realm(cell.core) } else { nil } }
    /// Whether the map can no longer be used, because its object was deleted or its realm was invalidated.
    public var isInvalidated: Bool { if case .managed(let cell) = storage { !cell.isValid } else { false } }
    /// Whether the map is frozen.
    public var isFrozen: Bool { realm?.isFrozen ?? false }

    /// Returns the map at its realm's version, immutable and usable from any thread. See `RealmCollection.freeze()`.
    public func freeze() -> Map { Map(valueResults.freeze().source.propertyCell) }
    /// Returns the live map of this thread's realm; nil if its object does not exist there. See `RealmCollection.thaw()`.
    public func thaw() -> Map? { valueResults.thaw().map { Map($0.source.propertyCell) } }

    /// Returns whether both are the same map at the same version (live or frozen), whatever it contains.
    public func isSameCollection(as other: Map) -> Bool {
        if self === other { return true }
        if case .managed(let mine) = storage, case .managed(let theirs) = other.storage { return mine === theirs }
        return false
    }

    // MARK: Entries

    /// The entry with the least key; nil if the map is empty.
    public var first: Entry? {
        let key =
            switch storage {
            case .unmanaged(let entries): entries.first?.key
            case .managed(let cell): cell.firstKey
            }
        return key.map { Key(_name: $0) }.flatMap { key in self[key].map { Entry(key: key, value: $0) } }
    }

    /// Returns whether an entry satisfies `isWanted`.
    public func contains(where isWanted: (_ key: Key, _ value: Value) throws -> Bool) rethrows -> Bool {
        try asKeyValueSequence().contains { try isWanted($0.key, $0.value) }
    }

    /// Sets the entries of another map. For keys that both maps have, `combine` returns the new value.
    public func merge<S: Sequence>(_ other: S, uniquingKeysWith combine: (Value, Value) throws -> Value) rethrows
    where S.Element == (key: Key, value: Value) {
        for (key, value) in other { updateValue(try self[key].map { try combine($0, value) } ?? value, forKey: key) }
    }

    /// Sets the entries of another map. For keys that both maps have, `combine` returns the new value.
    public func merge(_ other: Map, uniquingKeysWith combine: (Value, Value) throws -> Value) rethrows {
        try merge(other.asKeyValueSequence(), uniquingKeysWith: combine)
    }

    /// Sets the entries of another map. For keys that both maps have, the other's value is used.
    public func merge(_ other: Map) {
        if !isSameCollection(as: other) { merge(other.asKeyValueSequence()) }
    }

    /// Returns why a key is not allowed; nil if it is.
    static func fault(inKey key: String) -> String? {
        key.hasPrefix("$") || key.contains(".") ? "Map keys must not begin with \"$\" nor contain \".\": \"\(key)\"" : nil
    }

    // MARK: Values as a collection

    /// Returns the values that match a predicate, in the order of their keys. Traps if the predicate is not valid for the values.
    public func filter(_ predicateFormat: String, _ args: Any?...) -> Results<Value> {
        do { return try valueResults.filtered(predicateFormat, args) } catch { trap("\(error)") }
    }

    /// Returns the same as `filter`.
    ///
    /// - Throws: `Realm.Error` of code `.invalidInput` if the predicate is not valid; the message contains the position of the error.
    public func filtered(_ predicateFormat: String, _ args: [Any?] = []) throws -> Results<Value> {
        try valueResults.filtered(predicateFormat, args)
    }

    /// Returns the values that match an `NSPredicate`, which is evaluated for each value.
    public func filter(_ predicate: NSPredicate) -> Results<Value> { valueResults.filter(predicate) }

    /// Returns the values that match a query, in the order of their keys: `scores.where { $0 > 3 }`.
    public func `where`(_ isIncluded: (Query<Value>) -> Query<Bool>) -> Results<Value> { valueResults.where(isIncluded) }

    /// Returns the values sorted by several key paths. See `RealmCollection.sorted(by:)`.
    public func sorted<S: Sequence>(by sortDescriptors: S) -> Results<Value> where S.Element == SortDescriptor {
        valueResults.sorted(by: sortDescriptors)
    }
    /// Returns the values sorted by a key path.
    public func sorted(byKeyPath keyPath: String, ascending: Bool = true) -> Results<Value> where Value: KeypathSortable {
        valueResults.sorted(byKeyPath: keyPath, ascending: ascending)
    }
    /// Returns the values in their own order.
    public func sorted(ascending: Bool = true) -> Results<Value> where Value: SortableType { valueResults.sorted(ascending: ascending) }
    /// Returns each distinct value once.
    public func distinct() -> Results<Value> { valueResults.distinct() }
    /// Returns the first value for each combination of values at the key paths.
    public func distinct<S: Sequence>(by keyPaths: S) -> Results<Value> where S.Element == String { valueResults.distinct(by: keyPaths) }

    /// The minimum of a property of the values. See `RealmCollection.min(ofProperty:)`.
    public func min<T: _HasPersistedType & _Element>(ofProperty property: String) -> T? where T.PersistedType: MinMaxType {
        valueResults.min(ofProperty: property)
    }
    /// The maximum of a property of the values.
    public func max<T: _HasPersistedType & _Element>(ofProperty property: String) -> T? where T.PersistedType: MinMaxType {
        valueResults.max(ofProperty: property)
    }
    /// The sum of a property of the values.
    public func sum<T: _HasPersistedType & _Element>(ofProperty property: String) -> T where T.PersistedType: AddableType {
        valueResults.sum(ofProperty: property)
    }
    /// The average of a property of the values.
    public func average<T: _HasPersistedType & _Element>(ofProperty property: String) -> T? where T.PersistedType: AddableType {
        valueResults.average(ofProperty: property)
    }
    /// The minimum of the values; nil if there is none.
    public func min() -> Value? where Value: MinMaxType { valueResults.min() }
    /// The maximum of the values; nil if there is none.
    public func max() -> Value? where Value: MinMaxType { valueResults.max() }
    /// The sum of the values; 0 if there are none.
    public func sum() -> Value where Value.PersistedType: AddableType { valueResults.sum() }
    /// The average of the values; nil if there are none.
    public func average<T: _HasPersistedType & _Element>() -> T? where Value.PersistedType: AddableType, T.PersistedType: AddableType {
        valueResults.average()
    }

    /// Returns the value of a key as an untyped one; nil if the map has no such key. `@allKeys`, `@allValues` and `@count` are those of
    /// `value(forKeyPath:)`.
    public func value(forKey key: String) -> Any? {
        key.hasPrefix("@") ? value(forKeyPath: key) : self[Key(_name: key)]?._firnUntyped
    }

    /// Sets the value of a key; nil removes the key. Traps if the value is of another type or the key is not allowed.
    @_disfavoredOverload
    public func setValue(_ value: Any?, forKey key: String) {
        guard let some = unwrapped(value) else { return removeObject(for: Key(_name: key)) }
        guard let fitting = Value._elementFromUntyped(some) else {
            trap("Invalid value \"\(some)\" for key \"\(key)\" of a Map of \(Value.self)")
        }
        updateValue(fitting, forKey: Key(_name: key))
    }

    /// Returns the value of a key; with further names after the key, a property of the object there. Other paths are `@count`, `@allKeys`,
    /// `@allValues`, and aggregates of the values such as `@sum.age`.
    public func value(forKeyPath path: String) -> Any? {
        switch path {
        case "@allKeys": return keys
        case "@allValues": return values
        default: break
        }
        if path.hasPrefix("@") { return valueResults.value(forKeyPath: path) }
        let name = path.prefix { $0 != "." }
        guard let value = self[Key(_name: String(name))] else { return nil }
        if name.utf8.count == path.utf8.count { return value._firnUntyped }
        return (value._firnUntyped as? ObjectBase)?.value(forKeyPath: String(path.dropFirst(name.count + 1)))
    }
}
