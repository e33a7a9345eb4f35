import FirnModel
import Foundation

/// A map as part of a realm, and its values as a collection.
extension Map {
    /// The values, in the order of their keys.
    private var valueResults: Results<Value> {
        switch storage {
        case .unmanaged(let entries): Results(UnmanagedSource(entries.map(\.value)))
        case .managed(let cell): Results(CellSource(cell, cell.shape(of: Value.self)))
        }
    }

    // MARK: Where it is

    /// The realm that manages the map; nil for unmanaged ones.
    public var realm: Realm? { if case .managed(let cell) = storage { Realm(cell.core) } else { nil } }
    /// The map can no longer be used: its owner was deleted or its realm invalidated.
    public var isInvalidated: Bool { if case .managed(let cell) = storage { !cell.isValid } else { false } }
    public var isFrozen: Bool { realm?.isFrozen ?? false }

    /// As `freeze()` of other collections.
    public func freeze() -> Map { Map((valueResults.freeze().source as! CellSource).cell) }
    /// As `thaw()` of other collections.
    public func thaw() -> Map? { valueResults.thaw().map { Map(($0.source as! CellSource).cell) } }

    /// The same map, live or frozen at the same version, whatever it contains.
    public func isSameCollection(as other: Map) -> Bool {
        if self === other { return true }
        if case .managed(let mine) = storage, case .managed(let theirs) = other.storage { return mine === theirs }
        return false
    }

    // MARK: Entries

    /// The entry with the least key; nil if there is none.
    public var first: Entry? { keys.first.flatMap { key in self[key].map { Entry(key: key, value: $0) } } }

    public func contains(where isWanted: (_ key: Key, _ value: Value) throws -> Bool) rethrows -> Bool {
        try asKeyValueSequence().contains { try isWanted($0.key, $0.value) }
    }

    /// Sets the entries of another map; keys that both have take what `combine` makes of the two values.
    public func merge<S: Sequence>(_ other: S, uniquingKeysWith combine: (Value, Value) throws -> Value) rethrows where S.Element == (key: Key, value: Value) {
        for (key, value) in other { updateValue(try self[key].map { try combine($0, value) } ?? value, forKey: key) }
    }

    public func merge(_ other: Map) {
        if !isSameCollection(as: other) { merge(other.asKeyValueSequence()) }
    }

    /// What is wrong with a key; nil: nothing.
    static func fault(inKey key: String) -> String? {
        key.hasPrefix("$") || key.contains(".") ? "Map keys must not begin with '$' nor contain '.': '\(key)'" : nil
    }

    // MARK: Values as a collection

    /// The values that a predicate holds for, in the order of their keys.
    public func filter(_ predicateFormat: String, _ args: Any?...) -> Results<Value> {
        do { return try valueResults.filtered(predicateFormat, args) } catch { preconditionFailure("\(error)") }
    }

    /// As `filter`; throws `Realm.Error` of code `.invalidInput` that tells what is wrong and where.
    public func filtered(_ predicateFormat: String, _ args: [Any?] = []) throws -> Results<Value> { try valueResults.filtered(predicateFormat, args) }

    /// The values that a query holds for, in the order of their keys: `` scores.where { $0 > 3 } ``.
    public func `where`(_ isIncluded: (Query<Value>) -> Query<Bool>) -> Results<Value> { valueResults.where(isIncluded) }

    /// The values by several keys.
    public func sorted<S: Sequence>(by sortDescriptors: S) -> Results<Value> where S.Element == SortDescriptor { valueResults.sorted(by: sortDescriptors) }
    public func sorted(byKeyPath keyPath: String, ascending: Bool = true) -> Results<Value> where Value: KeypathSortable {
        valueResults.sorted(byKeyPath: keyPath, ascending: ascending)
    }
    public func sorted(ascending: Bool = true) -> Results<Value> where Value: SortableType { valueResults.sorted(ascending: ascending) }
    public func distinct() -> Results<Value> { valueResults.distinct() }
    public func distinct<S: Sequence>(by keyPaths: S) -> Results<Value> where S.Element == String { valueResults.distinct(by: keyPaths) }

    /// As `min(ofProperty:)` of other collections, of the values.
    public func min<T: _HasPersistedType & _Element>(ofProperty property: String) -> T? where T.PersistedType: MinMaxType { valueResults.min(ofProperty: property) }
    public func max<T: _HasPersistedType & _Element>(ofProperty property: String) -> T? where T.PersistedType: MinMaxType { valueResults.max(ofProperty: property) }
    public func sum<T: _HasPersistedType & _Element>(ofProperty property: String) -> T where T.PersistedType: AddableType { valueResults.sum(ofProperty: property) }
    public func average<T: _HasPersistedType & _Element>(ofProperty property: String) -> T? where T.PersistedType: AddableType { valueResults.average(ofProperty: property) }
    public func min() -> Value? where Value: MinMaxType { valueResults.min() }
    public func max() -> Value? where Value: MinMaxType { valueResults.max() }
    public func sum() -> Value where Value.PersistedType: AddableType { valueResults.sum() }
    public func average<T: _HasPersistedType & _Element>() -> T? where Value.PersistedType: AddableType, T.PersistedType: AddableType { valueResults.average() }

    /// The value of a key (with names behind it: of a property of the object there); `@count`, `@allKeys`, `@allValues`, or a figure over the values:
    /// `@sum.age`.
    public func value(forKeyPath path: String) -> Any? {
        switch path {
        case "@allKeys": return keys
        case "@allValues": return values
        default: break
        }
        if path.hasPrefix("@") { return valueResults.value(forKeyPath: path) }
        let name = path.prefix { $0 != "." }
        guard let value = self[Key(_name: String(name))] else { return nil }
        if name.utf8.count == path.utf8.count { return value._untypedElement }
        return (value._untypedElement as? ObjectBase)?.value(forKeyPath: String(path.dropFirst(name.count + 1)))
    }
}
