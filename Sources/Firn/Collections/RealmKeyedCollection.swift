import Dispatch
import Foundation

/// A collection of values by key, which is live, frozen or unmanaged: what `Map` offers, for generic code.
public protocol RealmKeyedCollection<Key, Value>: Sequence, ThreadConfined, CustomStringConvertible, _ObservableMap
where Key: _MapKey {
    /// The type of the values.
    associatedtype Value: RealmCollectionValue

    /// The number of entries.
    var count: Int { get }
    /// The keys, in ascending order.
    var keys: [Key] { get }
    /// The values, in the order of their keys.
    var values: [Value] { get }
    /// The value of a key; nil if there is none. Setting nil removes the key.
    subscript(key: Key) -> Value? { get set }

    /// Sets the value of a key.
    func updateValue(_ value: Value, forKey key: Key)
    /// Removes a key and its value.
    func removeObject(for key: Key)
    /// Removes all entries.
    func removeAll()

    /// Returns the value of a key as an untyped one.
    func value(forKey key: String) -> Any?
    /// Returns the value of a key or, with further names, a property of the object there.
    func value(forKeyPath keyPath: String) -> Any?
    /// Sets the value of a key; nil removes the key.
    func setValue(_ value: Any?, forKey key: String)

    /// Returns the values that match an `NSPredicate`.
    func filter(_ predicate: NSPredicate) -> Results<Value>
    /// Returns the values that match a predicate.
    func filter(_ predicateFormat: String, _ args: Any?...) -> Results<Value>
    /// Returns whether an entry satisfies `isWanted`.
    func contains(where isWanted: (_ key: Key, _ value: Value) throws -> Bool) rethrows -> Bool
    /// Returns the values sorted by several key paths.
    func sorted<S: Sequence>(by sortDescriptors: S) -> Results<Value> where S.Element == SortDescriptor

    /// Returns the minimum of a property of the values; nil if there is no value.
    func min<T: _HasPersistedType & _Element>(ofProperty property: String) -> T? where T.PersistedType: MinMaxType
    /// Returns the maximum of a property of the values; nil if there is no value.
    func max<T: _HasPersistedType & _Element>(ofProperty property: String) -> T? where T.PersistedType: MinMaxType
    /// Returns the sum of a property of the values; 0 if there is no value.
    func sum<T: _HasPersistedType & _Element>(ofProperty property: String) -> T where T.PersistedType: AddableType
    /// Returns the average of a property of the values; nil if there is no value.
    func average<T: _HasPersistedType & _Element>(ofProperty property: String) -> T? where T.PersistedType: AddableType

    /// Calls `block` with the collection, then after each change.
    func observe(keyPaths: [String]?, on queue: DispatchQueue?, _ block: @escaping (RealmMapChange<Self>) -> Void) -> NotificationToken
}

extension RealmKeyedCollection {
    /// Calls `block` with the collection, then after each change.
    public func observe(on queue: DispatchQueue? = nil, _ block: @escaping (RealmMapChange<Self>) -> Void) -> NotificationToken {
        observe(keyPaths: nil, on: queue, block)
    }
}

extension Map: RealmKeyedCollection {}
