import FirnBytes
import FirnDatabase
import FirnTable

extension RealmCollectionValue where Self: ObjectBase {
    /// Returns an unmanaged copy of the object and of all objects that it refers to. Each object is copied once, so shared references and
    /// cycles are kept. Returns the object itself if it is unmanaged.
    public func detached() -> Self {
        guard _state != nil else { return self }
        return GraphCopy { $0._state == nil ? $0 : nil }.copy(of: self)._typed(Self.self)
    }
}

/// Makes unmanaged copies of objects and of all objects that they refer to, each once.
final class GraphCopy {
    private var copies: [ObjectIdentity: ObjectBase] = [:]
    /// The copies without values so far: a list instead of a recursion, because chains of links can be long.
    private var empty: [(original: ObjectBase, copy: ObjectBase)] = []
    /// Returns the object that takes the place of another one without being copied; nil for objects to copy.
    private let substitute: (ObjectBase) -> ObjectBase?

    init(_ substitute: @escaping (ObjectBase) -> ObjectBase?) { self.substitute = substitute }

    /// Makes `copy` take the place of an object that has one already.
    func use(_ copy: ObjectBase, insteadOf object: ObjectBase) { copies[ObjectIdentity(object)] = copy }

    func copy(of object: ObjectBase) -> ObjectBase {
        let copy = shell(object, nil)
        fill()
        return copy
    }

    /// Returns the content of a property with copies in place of the objects in it, at any depth.
    func copy(of content: Any?, for property: ClassSchema.Property) -> Any? {
        guard property.shape.mayHoldObjects else { return content }
        defer { fill() }
        return copied(content, property.shape)
    }

    private func fill() {
        while let (original, copy) = empty.popLast() {
            let isSame = Swift.type(of: original) == Swift.type(of: copy)
            for property in ClassSchema.of(Swift.type(of: copy)).stored where isSame || original.has(property.name) {
                copy.put(copied(isSame ? property.access.get(original) : original[property.name], property.shape), in: property)
            }
        }
    }

    /// Returns the copy of an object, for a property that holds objects of the class `target`.
    private func shell(_ object: ObjectBase, _ target: ObjectBase.Type?) -> ObjectBase {
        if let same = substitute(object) { return same }
        let identity = ObjectIdentity(object)
        if let copy = copies[identity] { return copy }
        guard let objectClass = object is DynamicObject ? target : Swift.type(of: object) else {
            trap("Dynamic objects cannot be detached: detach objects of a class.")
        }
        let copy = objectClass._make()
        copies[identity] = copy
        empty.append((object, copy))
        return copy
    }

    private func copied(_ content: Any?, _ shape: _Shape) -> Any? {
        if shape.type.collection == .map, let entries = unwrapped(content) as? [String: Any?] {
            return entries.mapValues { copied($0, shape.target) }
        }
        return copied(content, shape.target)
    }

    private func copied(_ content: Any?, _ target: ObjectBase.Type?) -> Any? {
        switch unwrapped(content) {
        case nil: return nil
        case let object as ObjectBase: return shell(object, target)
        case let map as any _AnyMap: return map._untypedEntries.mapValues { self.copied($0, target) }
        case let collection as any _AnyCollection: return collection._untypedElements.map { self.copied($0, target) }
        // An unmanaged object in a value of any type is added with it, unless it is copied already.
        case .object(let object)? as AnyRealmValue? where object._core == nil && copies[ObjectIdentity(object)] == nil: return content
        case .object(let object)? as AnyRealmValue?: return (shell(object, nil) as? Object).map { AnyRealmValue.object($0) }
        case .list(let list)? as AnyRealmValue?: return AnyRealmValue(untyped: Array(list).map { copied($0, nil) })
        case .dictionary(let map)? as AnyRealmValue?:
            return AnyRealmValue(untyped: Dictionary(map.asKeyValueSequence().map { ($0.key, self.copied($0.value, nil)) }) { $1 })
        // Descriptions of objects: dictionaries and arrays of property values.
        case let fields as [String: Any?]:
            guard let target else { return fields.mapValues { copied($0, nil) } }
            let schema = ClassSchema.of(target)
            return Dictionary(
                fields.map { name, field in
                    (name, schema.index(of: name).map { self.copied(field, schema.properties[$0].shape) } ?? field)
                }
            ) { $1 }
        case let elements as [Any?]: return elements.map { copied($0, target) }
        case let some?: return some
        }
    }
}

/// Any `Map`.
protocol _AnyMap: AnyObject {
    var _untypedEntries: [String: Any?] { get }
}

extension Map: _AnyMap {
    var _untypedEntries: [String: Any?] { Dictionary(zip(keys, values).map { ($0._name, $1._firnUntyped) }) { $1 } }
}
