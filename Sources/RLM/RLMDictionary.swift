import Firn
import Foundation

/// Values by string key, in the order of the keys: a property of an object.
public final class RLMDictionary<RLMKeyType, RLMObjectType>: RLMThreadConfined {
    private let base: Map<String, DynamicElement>
    private let declared: DynamicType

    init(_ base: Map<String, DynamicElement>, _ declared: DynamicType) {
        self.base = base
        self.declared = declared
    }

    @available(*, unavailable, message: "RLMDictionaries cannot be created directly: they are properties of objects")
    public init() { fatalError("unavailable") }

    public var count: UInt { UInt(base.count) }
    /// What one value is.
    public var type: RLMPropertyType { declared.kind }
    public var isOptional: Bool { declared.isOptional }
    public var objectClassName: String? { declared.className }
    public var realm: RLMRealm? { base.realm.map(RLMRealm.init) }
    public var isInvalidated: Bool { base.isInvalidated }
    public var isFrozen: Bool { base.isFrozen }

    public var allKeys: [String] { base.keys }
    public var allValues: [RLMObjectType] { base.values.map { typed($0) } }

    /// The value of a key; nil if there is none. Setting nil removes the key.
    public subscript(key: String) -> RLMObjectType? {
        get { base[key].map { typed($0) } }
        set { if let newValue { setObject(newValue, forKey: key) } else { removeObject(forKey: key) } }
    }

    public func object(forKey key: String) -> RLMObjectType? { self[key] }

    public func setObject(_ object: RLMObjectType, forKey key: String) {
        guard let element = DynamicElement(given(object), as: declared) else { preconditionFailure("Invalid value '\(object)' of type '\(Swift.type(of: object))' for expected type '\(declared.name)'.") }
        base[key] = element
    }

    public func removeObject(forKey key: String) { base.removeObject(for: key) }
    public func removeAllObjects() { base.removeAll() }

    /// As `freeze()` and `thaw()` of other collections.
    public func freeze() -> RLMDictionary { RLMDictionary(base.freeze(), declared) }
    public func thaw() -> RLMDictionary? { base.thaw().map { RLMDictionary($0, declared) } }

    /// As other collections tell, with the keys whose entries went, came or changed.
    public func addNotificationBlock(_ block: @escaping (RLMDictionary?, RLMDictionaryChange?, (any Error)?) -> Void, keyPaths: [String]? = nil, queue: DispatchQueue? = nil) -> RLMNotificationToken {
        let declared = declared
        return base.observe(keyPaths: keyPaths, on: queue) { change in
            switch change {
            case .initial(let now): block(RLMDictionary(now, declared), nil, nil)
            case .update(let now, let deletions, let insertions, let modifications):
                block(RLMDictionary(now, declared), RLMDictionaryChange(deletions: deletions, insertions: insertions, modifications: modifications), nil)
            case .error(let error): block(nil, nil, error)
            }
        }
    }
}

/// The keys of a dictionary whose entries went, came or changed; ascending.
public final class RLMDictionaryChange {
    public let deletions: [String]
    public let insertions: [String]
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
