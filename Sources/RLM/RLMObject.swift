import Firn
import Foundation

/// An object of a type that no class stands for: its properties go by name.
///
/// Managed by a realm it is live: it reads and writes the realm's data. One that was made with `init` holds its values itself until it is added.
/// Collections are `RLMArray`, `RLMSet` and `RLMDictionary` of `RLMObject`s or of the Swift type of their values (of any values: `Any`).
public final class RLMObject: RLMThreadConfined {
    let base: DynamicObject

    init(_ base: DynamicObject) { self.base = base }

    /// An unmanaged object of a type, with values by property name. Traps where a value does not fit.
    public init(objectSchema: RLMObjectSchema, value: [String: Any?] = [:]) {
        base = DynamicObject(unmanaged: objectSchema)
        for (name, one) in value { self[name] = one }
    }

    // MARK: What and where it is

    public var objectSchema: RLMObjectSchema { base.objectSchema }
    /// The name of the type.
    public var className: String { base.className }
    public var realm: RLMRealm? { base.realm.map(RLMRealm.init) }
    public var isInvalidated: Bool { base.isInvalidated }
    public var isFrozen: Bool { base.isFrozen }

    /// Both are the same object of the same file, at whatever version.
    public func isEqual(to object: RLMObject) -> Bool { base.isSameObject(as: object.base) }

    /// The object as it is in the version of its realm, for good, for any thread. Traps on unmanaged objects.
    public func freeze() -> RLMObject { RLMObject(base.freeze()) }
    /// The live object, at the version that this thread's realm is at; nil if it is not there any more.
    public func thaw() -> RLMObject? { base.thaw().map { RLMObject($0) } }

    // MARK: Properties

    /// A property: a value, an `RLMObject`, a collection; nil. Traps if there is none of this name.
    public subscript(key: String) -> Any? {
        get {
            switch base.content(key) {
            case .value(let value): return shown(value.content)
            case .list(let list, let type):
                func make<T>(_ element: T.Type) -> Any { RLMArray<T>(list, type) }
                return make(elementClass(type))
            case .set(let set, let type):
                func make<T>(_ element: T.Type) -> Any { RLMSet<T>(set, type) }
                return make(elementClass(type))
            case .map(let map, let type):
                func make<T>(_ element: T.Type) -> Any { RLMDictionary<String, T>(map, type) }
                return make(elementClass(type))
            }
        }
        set { base[key] = given(newValue) }
    }

    public func value(forKey key: String) -> Any? { self[key] }
    public func setValue(_ value: Any?, forKey key: String) { self[key] = value }

    /// Through links, embedded objects and collections: `owner.address.city`.
    public func value(forKeyPath keyPath: String) -> Any? {
        guard let point = keyPath.firstIndex(of: ".") else { return self[keyPath] }
        let rest = String(keyPath[keyPath.index(after: point)...])
        switch self[String(keyPath[..<point])] {
        case let object as RLMObject: return object.value(forKeyPath: rest)
        case let collection as any RLMCollection: return collection.value(forKeyPath: rest)
        default: return nil
        }
    }

    /// The objects of a type that have a link to this one in a property.
    public func linkingObjects(ofClass className: String, forProperty property: String) -> RLMLinkingObjects<RLMObject> {
        RLMLinkingObjects(base.linking(className, property))
    }

    // MARK: Notifications

    /// Calls `block` after every commit that changed a property of the object, and once it is deleted. There is no first call. Where and when: as the
    /// collections.
    ///
    /// - Parameter keyPaths: which properties count; nil or empty: the object's own.
    public func addNotificationBlock(_ block: @escaping RLMObjectChangeBlock, keyPaths: [String]? = nil, queue: DispatchQueue? = nil) -> RLMNotificationToken {
        base.observe(keyPaths: keyPaths, on: queue) { change in
            switch change {
            case .deleted: block(true, nil, nil)
            case .error(let error): block(false, nil, error)
            case .change(_, let properties):
                block(false, properties.map { RLMPropertyChange(name: $0.name, previousValue: shown($0.oldValue), value: shown($0.newValue)) }, nil)
            }
        }
    }
}

extension RLMObject: Hashable, CustomStringConvertible {
    /// Managed objects are equal if they are the same at the same version of the same realm, unmanaged ones if they are identical.
    public static func == (a: RLMObject, b: RLMObject) -> Bool { a.base == b.base }
    public func hash(into hasher: inout Hasher) { hasher.combine(base) }
    public var description: String { base.description }
}
