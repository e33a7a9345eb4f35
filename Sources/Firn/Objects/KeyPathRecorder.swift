import FirnModel
import Synchronization

/// Turns `\Dog.owner.city` into "owner.city": reads the key path on an object whose properties note that they were read.
final class KeyPathRecorder {
    private(set) var names: [String] = []

    func note(_ name: String) { names.append(name) }

    /// An object of a class whose properties are recorded.
    func object(_ objectClass: ObjectBase.Type) -> ObjectBase {
        let schema = ClassSchema.of(objectClass)
        let object = objectClass.init()
        for (i, property) in schema.properties.enumerated() { property.access.attach(object, recordedColumn - Int16(i)) }
        object._recorder = self
        return object
    }

    /// The names that reading `keyPath` goes through, joined by points.
    static func path<Root>(_ keyPath: PartialKeyPath<Root>) -> String {
        path(keyPath, root: Root.self)
    }

    /// Likewise, for a key path that is known by its root's type alone.
    static func path(_ keyPath: AnyKeyPath, root: Any.Type) -> String {
        let name = Name(keyPath: keyPath)
        if let kept = known.withLock({ $0[name] }) { return kept }
        guard let path = recorded(keyPath, root: root) else { preconditionFailure("this key path of '\(root)' reads no @Persisted property") }
        known.withLock { $0[name] = path }
        return path
    }

    // Key paths of stored properties hold nothing that threads could change.
    private struct Name: Hashable, @unchecked Sendable { var keyPath: AnyKeyPath }
    private static let known: Mutex<[Name: String]> = Mutex([:])

    /// Nil: the key path reads no property that is stored.
    static func recorded(_ keyPath: AnyKeyPath, root: Any.Type) -> String? {
        let recorder = KeyPathRecorder()
        if let objectClass = root as? ObjectBase.Type {
            _ = recorder.object(objectClass)[keyPath: keyPath]
        } else if let projection = root as? any _ProjectionBase.Type {
            _ = projection._projecting(recorder.object(projection._rootClass))[keyPath: keyPath]
        } else {
            preconditionFailure("key paths of '\(root)' name no stored property: start at an Object, EmbeddedObject or Projection")
        }
        return recorder.names.isEmpty ? nil : recorder.names.joined(separator: ".")
    }
}

extension ObjectBase {
    /// Notes that property number `property` was read.
    public final func _record(_ property: Int) {
        let schema = ClassSchema.of(type(of: self))
        _recorder!.note(schema.properties[property].name)
    }
}
