import FirnDatabase
import FirnTable
import Synchronization

/// Turns `\Dog.owner.city` into "owner.city": reads the key path on an object whose properties record that they were read.
final class KeyPathRecorder {
    private(set) var names: [String] = []

    func note(_ name: String) { names.append(name) }

    /// Returns an object of a class whose properties record reads.
    func object(_ objectClass: ObjectBase.Type) -> ObjectBase {
        let schema = ClassSchema.of(objectClass)
        let object = objectClass.init()
        for (i, property) in schema.properties.enumerated() { property.access.attach(object, recordedColumn - Int16(i)) }
        object._recorder = self
        return object
    }

    /// Returns the names of the properties that reading `keyPath` reads, joined by periods. Traps if it reads no `@Persisted` property.
    static func path<Root>(_ keyPath: PartialKeyPath<Root>) -> String {
        path(keyPath, root: Root.self)
    }

    /// As above, for a key path of which only the type of the root is known.
    static func path(_ keyPath: AnyKeyPath, root: Any.Type) -> String {
        let name = Name(keyPath: keyPath)
        if let kept = known.withLock({ $0[name] }) { return kept }
        guard let path = recorded(keyPath, root: root) else {
            preconditionFailure("this key path of \"\(root)\" reads no @Persisted property")
        }
        known.withLock { $0[name] = path }
        return path
    }

    // Sendable because key paths of stored properties have no mutable state.
    private struct Name: Hashable, @unchecked Sendable { var keyPath: AnyKeyPath }
    private static let known: Mutex<[Name: String]> = Mutex([:])

    /// As `path`, but returns nil if the key path reads no stored property.
    static func recorded(_ keyPath: AnyKeyPath, root: Any.Type) -> String? {
        let recorder = KeyPathRecorder()
        if let objectClass = root as? ObjectBase.Type {
            _ = recorder.object(objectClass)[keyPath: keyPath]
        } else if let projection = root as? any _ProjectionBase.Type {
            _ = projection._projecting(recorder.object(projection._rootClass))[keyPath: keyPath]
        } else {
            preconditionFailure("key paths of \"\(root)\" contain no stored property: start at an Object, EmbeddedObject or Projection")
        }
        return recorder.names.isEmpty ? nil : recorder.names.joined(separator: ".")
    }
}

extension ObjectBase {
    /// Records that the property with this position in the schema was read.
    public final func _record(_ property: Int) {
        let schema = ClassSchema.of(type(of: self))
        _recorder!.note(schema.properties[property].name)
    }
}
