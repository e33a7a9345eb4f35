import FirnBytes
import FirnDatabase
import FirnTable

/// The schema version of a file: one row of a type that no property links to and that schemas do not list
/// (`docs/format/model.md`, "What the object layer keeps").
enum SchemaVersion {
    static let typeName = "_Realm"
    private static let column = "schemaVersion"
    private static let type = TypeSchema(typeName, columns: [ColumnSchema(column, ColumnType(.int))], isEmbedded: true)

    /// Returns 0 if no version was ever set.
    static func read(_ snapshot: DatabaseSnapshot) throws(FirnError) -> UInt64 {
        guard let table = snapshot.table(named: typeName), let index = table.type.index(of: column) else { return 0 }
        do {
            guard let row = try table.liveRowIDs().first, case .int(let version) = try table.storedValue(rowID: row, index) else {
                return 0
            }
            return UInt64(clamping: version)
        } catch { throw FirnError(error, in: snapshot.path) }
    }

    static func write(_ version: UInt64, _ transaction: DatabaseTransaction) throws(FirnError) {
        try transaction.extendSchema([type])
        let table = transaction.table(typeName)
        guard let index = table.type.index(of: column) else {
            throw FirnError(.damaged, "type \"\(typeName)\" has no column \"\(column)\"")
        }
        let rows: [Int64]
        do { rows = try table.liveRowIDs() } catch { throw FirnError(.damaged, error.what) }
        let value = Value.int(Int64(clamping: version))
        if let row = rows.first { return try table.set(row, index, value) }
        _ = try table.append { (columns) throws(FirnError) in
            for i in columns.indices where !columns[i].append(i == index ? value : Column.absentValue(columns[i].type)) {
                columns[i].appendNull()
            }
        }
    }
}

extension StoredTable {
    fileprivate func storedValue(rowID: Int64, _ column: Int) throws(Damage) -> Value {
        guard let found = try location(of: rowID) else { return .null }
        return try segment(found.segment).storedColumn(column).value(at: found.position)
    }
}

extension RealmCore {
    /// Brings the file to the configuration's schema version and adds the classes to its types. Throws if this is not possible.
    func prepare() throws {
        let classes = configuration.objectTypes?.map(ClassSchema.of)
        do {
            let stored = try SchemaVersion.read(snapshot), wanted = configuration.schemaVersion
            if wanted > stored, !configuration.readOnly { try migrate(classes ?? migratable()) } else { try checkVersion(stored) }
        } catch let error as FirnError { throw Realm.Error(error) }
        if let classes { try adopt(classes) }
    }

    /// Returns the classes that are migrated if the configuration names none: those that the program has used, and its classes for the other
    /// types of the file.
    private func migratable() -> [ClassSchema] {
        var found = ClassSchema.used
        for type in schema.types where !found.contains(where: { $0.name == type.name }) {
            guard let objectClass = ProgramClasses.named(type.name) else { continue }
            let schema = ClassSchema.of(objectClass)
            // Classes that share a name with another one are migrated when they are named.
            if (try? reached(found + [schema])) != nil { found.append(schema) }
        }
        return found
    }

    private func checkVersion(_ stored: UInt64) throws {
        guard configuration.schemaVersion < stored else { return }
        throw Realm.Error(
            .schemaMismatch, "Provided schema version \(configuration.schemaVersion) is less than last set version \(stored).")
    }

    private func migrate(_ classes: [ClassSchema]) throws {
        try begin()
        do {
            // Another realm may have migrated the file first.
            let stored = try SchemaVersion.read(snapshot)
            try checkVersion(stored)
            guard stored < configuration.schemaVersion else { return cancel() }
            let isFresh = schema.types.isEmpty
            if !isFresh {
                guard file.others(than: self).isEmpty else {
                    throw Realm.Error(
                        .schemaMismatch,
                        "The file is open with schema version \(stored): to migrate it to version \(configuration.schemaVersion), first release all realms of it and everything read from them."
                    )
                }
                Logger.note(.detail, "migrating \"\(file.path)\" from schema version \(stored) to \(configuration.schemaVersion)")
                try migrate(classes, from: stored)
            }
            try SchemaVersion.write(configuration.schemaVersion, requiredTransaction)
            noteChange()
            try commit()
        } catch {
            if isInTransaction { cancel() }
            throw error
        }
    }

    private func migrate(_ classes: [ClassSchema], from stored: UInt64) throws {
        let wanted = try reached(classes)
        let old = frozen(), transaction = requiredTransaction
        let before = transaction.schema
        let changed = ordered(wanted.filter { before[$0.name] != nil && !mismatches($0).isEmpty }, before)
        try transaction.extendSchema(wanted.filter { before[$0.name] == nil }.map(\.typeSchema))
        for schema in changed {
            // The block may set keys one by one, so uniqueness is enforced only after it has run.
            var type = schema.typeSchema
            type.key = []
            try transaction.revise(type)
        }
        noteChange()
        let keys = Dictionary(uniqueKeysWithValues: changed.map { ($0.name, $0.typeSchema.key) })
        configuration.migrationBlock?(Migration(old: old, new: self, keys: keys), stored)
        try flushCells()
        if let damage { throw damage }
        for schema in changed { try requireDistinctKeys(schema) }
        try deleteOrphans(before)
        for schema in changed where schema.isEmbedded && before[schema.name]?.isEmbedded == false { try requireOwners(schema) }
        for schema in changed where schema.primaryKey != nil { try transaction.rekey(schema.name, schema.typeSchema.key) }
        forgetAccesses()
    }

    /// Returns the classes in an order in which embedded objects are of embedded types after each change: types become embedded before their
    /// owners are changed, and top-level after them.
    private func ordered(_ changed: [ClassSchema], _ before: Schema) -> [ClassSchema] {
        func step(_ schema: ClassSchema) -> Int { before[schema.name]?.isEmbedded == schema.isEmbedded ? 1 : schema.isEmbedded ? 0 : 2 }
        return (0...2).flatMap { wanted in changed.filter { step($0) == wanted } }
    }

    /// Throws if an object of a class that was made embedded does not have exactly one owner, or an owner refers to a deleted one.
    private func requireOwners(_ schema: ClassSchema) throws {
        guard let access = dynamicAccess(schema.name) else { return }
        let owners = try references(to: schema.name) { _ in true }, rows = Set(rowIDs(access))
        let without = rows.filter { owners[$0] == nil }.count, several = owners.filter { $0.value > 1 }.count
        let deleted = owners.filter { !rows.contains($0.key) }.count
        if without == 0, several == 0, deleted == 0 { return }
        throw Realm.Error(
            .schemaMismatch,
            "Class \"\(schema.name)\" has been changed from top-level to embedded, but \(without) of its objects have no owner, \(several) have more than one, and owners refer to \(deleted) deleted ones: delete objects without an owner in the migration block, and give each owner an object of its own before the migration."
        )
    }

    /// Returns how often the objects of a type are referred to, in the columns of its type that `isCounted` accepts.
    private func references(to name: String, _ isCounted: (ColumnSchema) -> Bool) throws(FirnError) -> [Int64: Int] {
        var counts: [Int64: Int] = [:]
        for owner in schema.types {
            for (index, column) in owner.columns.enumerated() where column.type.target == name && isCounted(column) {
                guard let table = dynamicAccess(owner.name) else { continue }
                for rowID in rowIDs(table) { try table.working.storedValue(rowID, index).forEachLink { counts[$0, default: 0] += 1 } }
            }
        }
        return counts
    }

    /// Throws if a migration has made keys that are not unique.
    private func requireDistinctKeys(_ schema: ClassSchema) throws {
        guard schema.primaryKey != nil, let access = dynamicAccess(schema.name), let column = schema.typeSchema.key.first else { return }
        var seen: Set<Value> = []
        for rowID in rowIDs(access) where !seen.insert(try access.working.storedValue(rowID, column)).inserted {
            throw Realm.Error(
                .duplicatePrimaryKey,
                "Primary key property \"\(schema.name).\(access.type.columns[column].name)\" has duplicate values after migration.")
        }
    }

    /// Deletes embedded objects whose owning property was removed.
    private func deleteOrphans(_ before: Schema) throws(FirnError) {
        let owned = Set(
            before.types.flatMap { type in
                let now = schema[type.name]?.columns ?? []
                return type.columns.filter { old in old.type.kind == .embedded && !now.contains { $0.id == old.id } }.compactMap(
                    \.type.target)
            })
        for name in owned {
            guard let type = schema[name], type.isEmbedded, let access = dynamicAccess(name) else { continue }
            let held = try references(to: name) { $0.type.kind == .embedded }
            delete(rowIDs(access).filter { held[$0] == nil }, access)
        }
    }
}

extension ClassSchema {
    /// The schemas of the classes that this program has used.
    static var used: [ClassSchema] { everyKnown.filter { $0.objectClass != DynamicObject.self } }
}
