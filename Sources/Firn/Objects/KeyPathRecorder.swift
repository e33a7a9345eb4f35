import FirnBytes
import FirnDatabase
import FirnTable
import Synchronization

/// Turns `\Dog.owner.city` into "owner.city": reads the key path on an object whose properties record that they were read.
final class KeyPathRecorder {
    private(set) var names: [String] = []

    func note(_ name: String) { names.append(name) }

    // The properties that are declared without `@Persisted` do not record that they are read: their instances do when they are used.
    private var expected: [ObjectIdentifier: String] = [:]
    /// Keeps the instances alive, so that their identities stay unique.
    private var instances: [AnyObject] = []

    /// Records the property `name` when its instance is used.
    func expect(_ name: String, of instance: AnyObject) {
        expected[ObjectIdentifier(instance)] = name
        instances.append(instance)
    }

    /// Records the property of an instance that is used.
    func touch(_ instance: AnyObject?) {
        if let instance, let name = expected.removeValue(forKey: ObjectIdentifier(instance)) { note(name) }
    }

    /// Returns the recorded names after the key path was read, whose value is given.
    private func finished(_ value: Any?) -> String? {
        if let value = unwrapped(value) {
            touch((value as? any RecordedCollection)?.recordedInstance ?? (type(of: value) is AnyClass ? value as AnyObject : nil))
        }
        // The instances refer to the recorder.
        instances = []
        expected = [:]
        return names.isEmpty ? nil : names.joined(separator: ".")
    }

    /// Returns an object of a class whose properties record reads.
    func object(_ objectClass: ObjectBase.Type) -> ObjectBase {
        let schema = ClassSchema.of(objectClass)
        let object = objectClass._make()
        object._recorder = self
        for (i, property) in schema.properties.enumerated() { property.access.attach(object, recordedColumn - Int16(i)) }
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
            trap("this key path of \"\(root)\" reads no @Persisted property")
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
            return recorder.finished(recorder.object(objectClass)[keyPath: keyPath])
        } else if let projection = root as? any _ProjectionBase.Type {
            return recorder.finished(projection._projecting(recorder.object(projection._rootClass))[keyPath: keyPath])
        } else {
            trap("key paths of \"\(root)\" contain no stored property: start at an Object, EmbeddedObject or Projection")
        }
    }
}

extension ObjectBase {
    /// Records that the property with this position in the schema was read.
    public final func _firnRecord(_ property: Int) {
        let schema = ClassSchema.of(type(of: self))
        _recorder!.note(schema.properties[property].name)
    }
}
