import FirnBytes
import FirnTable

/// Converts data of an older schema version, within the transaction that sets the new one.
public typealias MigrationBlock = @Sendable (_ migration: Migration, _ oldSchemaVersion: UInt64) -> Void
/// An object during a migration. Its properties are accessed by name.
public typealias MigrationObject = DynamicObject
/// Receives an object before and after a migration; `oldObject` or `newObject` is nil if its type does not exist on that side.
public typealias MigrationObjectEnumerateBlock = (_ oldObject: MigrationObject?, _ newObject: MigrationObject?) -> Void

/// The data before and after a change of the classes.
///
/// When the block runs, the types of the file already have the properties of the classes. A property keeps its values if its name and type
/// are the same (nil becomes zero if the property is now required). The block converts everything else.
///
///     Realm.Configuration(schemaVersion: 2, migrationBlock: { migration, old in
///         if old < 1 { migration.renameProperty(onType: "Person", from: "town", to: "city") }
///         if old < 2 {
///             migration.enumerateObjects(ofType: "Person") { old, new in new!["name"] = "\(old!["first"]!) \(old!["last"]!)" }
///         }
///     }, objectTypes: [Person.self])
public struct Migration {
    let old: RealmCore
    let new: RealmCore
    /// The primary keys of changed types, which have none until the block has run.
    let keys: [String: [Int]]

    /// The schema before the migration.
    public var oldSchema: Realm.Schema { Realm.Schema(old.schema, []) }
    /// The schema after the migration.
    public var newSchema: Realm.Schema {
        var schema = new.schema
        for i in schema.types.indices { if let key = keys[schema.types[i].name] { schema.types[i].key = key } }
        return Realm.Schema(schema, [])
    }

    /// Calls `block` with each object of a type, before and after the migration. The old object is immutable; it is nil if the type is new.
    public func enumerateObjects(ofType typeName: String, _ block: MigrationObjectEnumerateBlock) {
        let before = old.dynamicAccess(typeName)
        guard let after = new.dynamicAccess(typeName) else {
            guard let before else { return }
            for rowID in old.rowIDs(before) { block(before.object(rowID) as? MigrationObject, nil) }
            return
        }
        for rowID in new.rowIDs(after) {
            block(before?.object(rowID) as? MigrationObject, after.object(rowID) as? MigrationObject)
        }
    }

    /// Creates an object from a dictionary, an array or another object. Properties without a value are zero or nil.
    @discardableResult
    public func create(_ typeName: String, value: Any = [String: Any]()) -> MigrationObject {
        Realm(new).dynamicCreate(typeName, value: value, update: .error, usesClass: false)
    }

    /// Deletes an object. An embedded object is removed from its owner.
    public func delete(_ object: MigrationObject) { Realm(new).delete(object) }

    /// Deletes all objects of a type. Returns false if the file has no such type.
    @discardableResult
    public func deleteData(forType typeName: String) -> Bool {
        guard let access = new.dynamicAccess(typeName) else { return false }
        new.delete(new.rowIDs(access), access, havingOwners: true)
        return true
    }

    /// Copies the values of the old property `oldName` to the new property `newName`. Traps unless the old type has `oldName`, the new type
    /// has `newName` and not `oldName`, and both properties have the same type.
    public func renameProperty(onType typeName: String, from oldName: String, to newName: String) {
        guard let before = old.dynamicAccess(typeName), let from = before.type.index(of: oldName) else {
            trap("Cannot rename property \"\(typeName).\(oldName)\" because it does not exist.")
        }
        guard let after = new.dynamicAccess(typeName), let to = after.type.index(of: newName) else {
            trap("Renamed property \"\(typeName).\(newName)\" does not exist.")
        }
        let old = before.type.columns[from].type, new = after.type.columns[to].type
        trap(
            unless: old.kind == new.kind && old.collection == new.collection && old.target == new.target,
            "Cannot rename property \"\(typeName).\(oldName)\" to \"\(newName)\" because it would change from type \"\(old.name)\" to \"\(new.name)\"."
        )
        trap(
            unless: after.type.index(of: oldName) == nil,
            "Cannot rename property \"\(typeName).\(oldName)\" to \"\(newName)\" because the source property still exists.")
        self.new.failing(()) { () throws(FirnError) in
            for rowID in self.new.rowIDs(after) {
                guard self.old.has(before, rowID) else { continue }
                var value = try (before.table as any RowTable).storedValue(rowID, from)
                if value.isNull, !new.isOptional { value = Column.absentValue(new) }
                try after.working.set(rowID, to, value)
            }
        }
        after.changed(to)
    }
}

extension RealmCore {
    func rowIDs(_ access: TypeAccess) -> [Int64] { reading([]) { () throws(Damage) in try access.table.liveRowIDs() } }
    func has(_ access: TypeAccess, _ rowID: Int64) -> Bool { access.position(of: rowID) != nil }
}
