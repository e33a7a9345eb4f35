/// The frozen and live versions of what was read from a realm: the same as the methods of objects and collections.
extension Realm {
    /// Returns the frozen object. The same as `object.freeze()`.
    public func freeze<T: ObjectBase>(_ object: T) -> T { object.freeze() }
    /// Returns the live object of this thread's realm, or nil if it no longer exists. The same as `object.thaw()`.
    public func thaw<T: ObjectBase>(_ object: T) -> T? { object.thaw() }
    /// Returns the frozen collection. The same as `collection.freeze()`.
    public func freeze<C: RealmCollection>(_ collection: C) -> C { collection.freeze() }
    /// Returns the live collection of this thread's realm, or nil if it no longer exists. The same as `collection.thaw()`.
    public func thaw<C: RealmCollection>(_ collection: C) -> C? { collection.thaw() }
    /// Returns the frozen map. The same as `map.freeze()`.
    public func freeze<Key, Value>(_ map: Map<Key, Value>) -> Map<Key, Value> { map.freeze() }
    /// Returns the live map of this thread's realm, or nil if it no longer exists. The same as `map.thaw()`.
    public func thaw<Key, Value>(_ map: Map<Key, Value>) -> Map<Key, Value>? { map.thaw() }

    /// Deletes the objects of a map, as `delete(_:)` does with other collections.
    public func delete<Key, T: ObjectBase>(_ map: Map<Key, T?>) { delete(map.values.compactMap { $0 }) }
    /// Deletes the objects of a map, as `delete(_:)` does with other collections.
    public func delete<Key, T: ObjectBase>(_ map: Map<Key, T>) { delete(map.values) }
}

extension Realm.Configuration: CustomStringConvertible {
    /// The options, except the contents of the encryption key.
    public var description: String {
        let location = inMemoryIdentifier.map { "inMemoryIdentifier = \($0)" } ?? "fileURL = \(fileURL?.path ?? "nil")"
        let classes = objectTypes.map { "[" + $0.map { $0.className() }.joined(separator: ", ") + "]" } ?? "nil"
        let options = [
            location, "encryptionKey = \(encryptionKey == nil ? "nil" : "set")", "readOnly = \(readOnly)",
            "schemaVersion = \(schemaVersion)",
            "migrationBlock = \(migrationBlock == nil ? "nil" : "set")", "deleteRealmIfMigrationNeeded = \(deleteRealmIfMigrationNeeded)",
            "shouldCompactOnLaunch = \(shouldCompactOnLaunch == nil ? "nil" : "set")",
            "maximumNumberOfActiveVersions = \(maximumNumberOfActiveVersions.map { "\($0)" } ?? "nil")", "objectTypes = \(classes)",
        ]
        return "Realm.Configuration {\n" + options.map { "\t\($0);\n" }.joined() + "}"
    }
}
