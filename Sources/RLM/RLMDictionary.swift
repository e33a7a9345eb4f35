import FirnBytes
import Firn
import Foundation

/// A map of an object: values by string key, in the order of the keys.
public final class RLMDictionary<RLMKeyType, RLMObjectType>: RLMThreadConfined {
    private let base: Map<String, DynamicElement>
    private let declared: DynamicType

    init(_ base: Map<String, DynamicElement>, _ declared: DynamicType) {
        self.base = base
        self.declared = declared
    }

    /// Unavailable: a dictionary is a property of an object and is read from it, such as `object["scores"]`.
    @available(*, unavailable, message: "RLMDictionaries cannot be created directly: they are properties of objects")
    public init() { trap("unavailable") }

    /// The number of entries.
    public var count: UInt { UInt(base.count) }
    /// The type of a value.
    public var type: RLMPropertyType { declared.kind }
    /// True if values can be nil.
    public var isOptional: Bool { declared.isOptional }
    /// The type of the objects; nil if the values are not objects.
    public var objectClassName: String? { declared.className }
    /// The realm of the dictionary; nil if the dictionary is unmanaged.
    public var realm: RLMRealm? { base.realm.map(RLMRealm.init) }
    /// True if the object that has the dictionary was deleted or its realm was invalidated. Always false for unmanaged dictionaries.
    public var isInvalidated: Bool { base.isInvalidated }
    /// True if the dictionary is frozen.
    public var isFrozen: Bool { base.isFrozen }

    /// The keys, in ascending order.
    public var allKeys: [String] { base.keys }
    /// The values, in the order of the keys.
    public var allValues: [RLMObjectType] { base.values.map { typed($0) } }

    /// The value of a key, or nil if there is none. Setting nil removes the key.
    public subscript(key: String) -> RLMObjectType? {
        get { base[key].map { typed($0) } }
        set { if let newValue { setObject(newValue, forKey: key) } else { removeObject(forKey: key) } }
    }

    /// Returns the value of a key, or nil if there is none.
    public func object(forKey key: String) -> RLMObjectType? { self[key] }

    /// Sets the value of a key. Traps if the value does not fit.
    public func setObject(_ object: RLMObjectType, forKey key: String) {
        guard let element = DynamicElement(given(object), as: declared) else {
            trap("Invalid value \"\(object)\" of type \"\(Swift.type(of: object))\" for expected type \"\(declared.name)\".")
        }
        base[key] = element
    }

    /// Removes a key.
    public func removeObject(forKey key: String) { base.removeObject(for: key) }
    /// Removes all keys.
    public func removeAllObjects() { base.removeAll() }

    /// As `freeze()` of other collections.
    public func freeze() -> RLMDictionary { RLMDictionary(base.freeze(), declared) }
    /// As `thaw()` of other collections.
    public func thaw() -> RLMDictionary? { base.thaw().map { RLMDictionary($0, declared) } }

    /// Calls `block` as for other collections, with the keys whose entries were deleted, inserted or modified.
    public func addNotificationBlock(
        _ block: @escaping (RLMDictionary?, RLMDictionaryChange?, (any Error)?) -> Void, keyPaths: [String]? = nil,
        queue: DispatchQueue? = nil
    ) -> RLMNotificationToken {
        let declared = declared
        return base.observe(keyPaths: keyPaths, on: queue) { change in
            switch change {
            case .initial(let now): block(RLMDictionary(now, declared), nil, nil)
            case .update(let now, let deletions, let insertions, let modifications):
                block(
                    RLMDictionary(now, declared),
                    RLMDictionaryChange(deletions: deletions, insertions: insertions, modifications: modifications), nil)
            case .error(let error): block(nil, nil, error)
            }
        }
    }
}

/// The changes of a dictionary: the keys of entries that were deleted, inserted or modified, ascending.
public final class RLMDictionaryChange {
    /// The keys that were deleted.
    public let deletions: [String]
    /// The keys that were inserted.
    public let insertions: [String]
    /// The keys whose values changed.
    public let modifications: [String]

    init(deletions: [String], insertions: [String], modifications: [String]) {
        self.deletions = deletions
        self.insertions = insertions
        self.modifications = modifications
    }
}

/// Any `RLMDictionary`.
protocol AnyDictionary {
    var untypedEntries: [String: Any?] { get }
}

extension RLMDictionary: AnyDictionary {
    var untypedEntries: [String: Any?] { Dictionary(base.asKeyValueSequence().map { ($0.key, $0.value.content) }) { $1 } }
}
