import Firn
import Foundation

/// An object of a type without a Swift class. Its properties are accessed by name.
///
/// A managed object is live: it reads and writes the realm's data. An object created with `init` stores its values until it is added.
/// Collections are
/// `RLMArray`, `RLMSet` and `RLMDictionary` of `RLMObject`s or of the Swift type of their values (`Any` for values of any type).
public final class RLMObject: RLMThreadConfined {
    let base: DynamicObject

    init(_ base: DynamicObject) { self.base = base }

    /// Creates an unmanaged object of a type, with values by property name. Traps if a value does not fit.
    public init(objectSchema: RLMObjectSchema, value: [String: Any?] = [:]) {
        base = DynamicObject(unmanaged: objectSchema)
        for (name, one) in value { self[name] = one }
    }

    // MARK: What and where it is

    /// The schema of the type.
    public var objectSchema: RLMObjectSchema { base.objectSchema }
    /// The name of the type.
    public var className: String { base.className }
    /// The realm of the object; nil if the object is unmanaged.
    public var realm: RLMRealm? { base.realm.map(RLMRealm.init) }
    /// True if the object was deleted or its realm was invalidated. Always false for unmanaged objects.
    public var isInvalidated: Bool { base.isInvalidated }
    /// True if the object belongs to a frozen realm.
    public var isFrozen: Bool { base.isFrozen }

    /// Returns whether both are the same object of the same file, possibly at different versions.
    public func isEqual(to object: RLMObject) -> Bool { base.isSameObject(as: object.base) }

    /// Returns the frozen object at the version of its realm, for any thread. Traps on unmanaged objects.
    public func freeze() -> RLMObject { RLMObject(base.freeze()) }
    /// Returns the live object at the version of this thread's realm, or nil if it no longer exists.
    public func thaw() -> RLMObject? { base.thaw().map { RLMObject($0) } }

    // MARK: Properties

    /// The value of a property: a value, an `RLMObject`, a collection, or nil. Traps if there is none with this name.
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

    /// Returns the value of a property. Traps if there is none with this name.
    public func value(forKey key: String) -> Any? { self[key] }
    /// Sets a property. Traps if there is none with this name, or if the value does not fit it.
    public func setValue(_ value: Any?, forKey key: String) { self[key] = value }

    /// Returns the value at the end of a path through links, embedded objects and collections: `owner.address.city`.
    public func value(forKeyPath keyPath: String) -> Any? {
        guard let point = keyPath.firstIndex(of: ".") else { return self[keyPath] }
        let rest = String(keyPath[keyPath.index(after: point)...])
        switch self[String(keyPath[..<point])] {
        case let object as RLMObject: return object.value(forKeyPath: rest)
        case let collection as any RLMCollection: return collection.value(forKeyPath: rest)
        default: return nil
        }
    }

    /// Returns the objects of a type whose property links to this object.
    public func linkingObjects(ofClass className: String, forProperty property: String) -> RLMLinkingObjects<RLMObject> {
        RLMLinkingObjects(base.linking(className, property))
    }

    // MARK: Notifications

    /// Calls `block` after every commit that changed a property of the object, and once after it was deleted. There is no first call. The
    /// calls are made where those for collections are.
    ///
    /// - Parameter keyPaths: The properties to observe; if nil or empty, the object's own.
    public func addNotificationBlock(_ block: @escaping RLMObjectChangeBlock, keyPaths: [String]? = nil, queue: DispatchQueue? = nil)
        -> RLMNotificationToken
    {
        base.observe(keyPaths: keyPaths, on: queue) { change in
            switch change {
            case .deleted: block(true, nil, nil)
            case .error(let error): block(false, nil, error)
            case .change(_, let properties):
                block(
                    false,
                    properties.map { RLMPropertyChange(name: $0.name, previousValue: shown($0.oldValue), value: shown($0.newValue)) }, nil)
            }
        }
    }
}

extension RLMObject: Hashable, CustomStringConvertible {
    /// Returns whether both are the same managed object at the same version of the same realm, or identical unmanaged objects.
    public static func == (a: RLMObject, b: RLMObject) -> Bool { a.base == b.base }
    /// Hashes the identity of the object. The hash changes when the object is added to a realm, so remove it from sets and dictionaries
    /// before.
    public func hash(into hasher: inout Hasher) { hasher.combine(base) }
    /// The properties as text, with those of referenced objects down to five levels.
    public var description: String { base.description }
}
