import FirnDatabase
import FirnTable

extension RealmCollectionValue where Self: ObjectBase {
    /// Returns an unmanaged copy of the object and of all objects that it refers to. Each object is copied once, so shared references and
    /// cycles are kept. Returns the object itself if it is unmanaged.
    public func detached() -> Self {
        guard _state != nil else { return self }
        return unsafeDowncast(Detachment().copy(of: self), to: Self.self)
    }
}

/// Copies objects out of a realm, each once.
private final class Detachment {
    private struct Key: Hashable {
        var type: ObjectIdentifier
        var rowID: Int64
    }
    private var copies: [Key: ObjectBase] = [:]
    /// The copies without values so far: a list instead of a recursion, because chains of links can be long.
    private var empty: [(original: ObjectBase, copy: ObjectBase)] = []

    func copy(of object: ObjectBase) -> ObjectBase {
        let copy = shell(object)
        while let (original, copy) = empty.popLast() {
            let schema = ClassSchema.of(Swift.type(of: original))
            for property in schema.stored { _ = property.access.set(copy, detached(property.access.get(original))) }
        }
        return copy
    }

    private func shell(_ object: ObjectBase) -> ObjectBase {
        guard let access = object._access else { return object }
        precondition(access.schema != nil, "Dynamic objects cannot be detached: detach objects of a class.")
        let key = Key(type: ObjectIdentifier(access), rowID: object._rowID)
        if let copy = copies[key] { return copy }
        let copy = Swift.type(of: object).init()
        copies[key] = copy
        empty.append((object, copy))
        return copy
    }

    private func detached(_ content: Any?) -> Any? {
        switch unwrapped(content) {
        case nil: return nil
        case let object as ObjectBase: return shell(object)
        case let map as any _AnyMap: return map._untypedEntries.mapValues { detached($0) }
        case let collection as any _AnyCollection: return collection._untypedElements.map { detached($0) }
        case .object(let object)? as AnyRealmValue?: return AnyRealmValue.object(unsafeDowncast(shell(object), to: Object.self))
        case let some?: return some
        }
    }
}

/// Any `Map`.
protocol _AnyMap: AnyObject {
    var _untypedEntries: [String: Any?] { get }
}

extension Map: _AnyMap {
    var _untypedEntries: [String: Any?] { Dictionary(zip(keys, values).map { ($0._name, $1._untypedElement) }) { $1 } }
}
