import FirnBytes
import FirnTable

/// Matching the classes of the program with the types of the file.
extension RealmCore {
    /// Adds the classes, and those that they refer to, to the types of the file, if it does not have them yet.
    func adopt(_ classes: [ClassSchema]) throws { try adopt(types: reached(classes).map(\.typeSchema)) }

    /// Adds types to the file, if it does not have them yet. Throws `.schemaMismatch` if the file's types differ.
    func adopt(types wanted: [TypeSchema]) throws {
        let problems = wanted.flatMap(mismatches)
        guard problems.isEmpty else {
            throw Realm.Error(
                .schemaMismatch,
                "Migration is required due to the following errors:" + problems.map { "\n- " + $0 }.joined()
                    + "\nIncrease the configuration's schemaVersion, and list the classes in its objectTypes.")
        }
        let missing = wanted.filter { schema[$0.name] == nil || lacksIndexes($0) }
        guard !missing.isEmpty else { return }
        guard !configuration.readOnly, !isFrozen else { return }
        if transaction == nil { try file.checkWaiting() }
        do {
            if let transaction {
                try transaction.extendSchema(missing)
                noteChange()
                state.current?.addedTypes += 1
            } else {
                let own = try file.database.begin()
                // If another process has added them first, this changes nothing.
                try own.extendSchema(missing)
                try own.commit()
                install(try file.database.snapshot())
            }
        } catch { throw Realm.Error(error) }
    }

    /// Returns the classes and those that they refer to. Throws if two of them have the same type name.
    func reached(_ classes: [ClassSchema]) throws -> [ClassSchema] {
        var wanted: [ClassSchema] = []
        for schema in classes {
            for reached in schema.reachable() where !wanted.contains(where: { $0 === reached }) { wanted.append(reached) }
        }
        for (i, schema) in wanted.enumerated() {
            if let other = wanted[..<i].first(where: { $0.name == schema.name }) {
                throw Realm.Error(
                    .invalidInput,
                    "classes \"\(other.objectClass)\" and \"\(schema.objectClass)\" are both stored as \"\(schema.name)\": give one of them another name with _realmObjectName()"
                )
            }
        }
        return wanted
    }

    /// Returns the position of a class's type in the file. Returns nil if it has none and none can be added, because the realm is frozen or
    /// read-only or the file cannot be written now. Traps if the class and the type differ.
    func adopt(_ schema: ClassSchema) -> Int? {
        if configuration.objectTypes == nil, !schema.objectClass.shouldIncludeInDefaultSchema() {
            trap(
                "Object type \"\(schema.name)\" is not managed by the Realm: shouldIncludeInDefaultSchema() leaves it out of realms without objectTypes; add it to the configuration's objectTypes."
            )
        }
        if let index = self.schema.types.firstIndex(where: { $0.name == schema.name }), mismatches(schema).isEmpty,
            isFrozen || configuration.readOnly || !lacksIndexes(schema.typeSchema),
            schema.reachable().allSatisfy({ self.schema[$0.name] != nil })
        {
            return index
        }
        if let types = configuration.objectTypes, !types.contains(where: { $0 == schema.objectClass }),
            !types.contains(where: { ClassSchema.of($0).reachable().contains { $0 === schema } })
        {
            trap(
                "Object type \"\(schema.name)\" is not managed by the Realm: add \(schema.name).self to the configuration's objectTypes.")
        }
        do { try adopt([schema]) } catch {
            // For example, the disk is full. Reading works without the type, and the next transaction reports the error.
            guard transaction == nil, let cause = (error as? Realm.Error)?.cause, [.noSpace, .inputOutput, .locked].contains(cause.code)
            else { trap("\(error)") }
        }
        return self.schema.types.firstIndex { $0.name == schema.name }
    }

    /// Returns whether a class marks a property as indexed that has no index in the file. Indexes that only the file has are kept.
    func lacksIndexes(_ wanted: TypeSchema) -> Bool {
        guard let stored = schema[wanted.name] else { return false }
        return wanted.columns.contains { column in
            stored.index(of: column.name).map { !stored.columns[$0].indexes.isSuperset(of: column.indexes) } ?? false
        }
    }

    /// Returns the differences between a class and the file's type of the same name, one sentence each.
    func mismatches(_ schema: ClassSchema) -> [String] { mismatches(schema.typeSchema) }

    private func mismatches(_ wanted: TypeSchema) -> [String] {
        guard let stored = schema[wanted.name] else { return [] }
        var found: [String] = []
        if stored.isEmbedded != wanted.isEmbedded {
            found.append(
                "Class \"\(wanted.name)\" has been changed from \(stored.isEmbedded ? "embedded to top-level" : "top-level to embedded").")
        }
        for column in wanted.columns {
            guard let index = stored.index(of: column.name) else {
                found.append("Property \"\(wanted.name).\(column.name)\" has been added.")
                continue
            }
            let old = stored.columns[index].type
            if old == column.type { continue }
            if old.kind == column.type.kind, old.collection == column.type.collection, old.target == column.type.target {
                found.append(
                    "Property \"\(wanted.name).\(column.name)\" has been made \(column.type.isOptional || column.type.elementIsOptional ? "optional" : "required")."
                )
            } else {
                found.append("Property \"\(wanted.name).\(column.name)\" has been changed from \"\(old.name)\" to \"\(column.type.name)\".")
            }
        }
        for (i, column) in stored.columns.enumerated() where wanted.index(of: column.name) == nil && !stored.isCompanion(i) {
            found.append("Property \"\(wanted.name).\(column.name)\" has been removed.")
        }
        let oldKey = stored.key.map { stored.columns[$0].name }, newKey = wanted.key.map { wanted.columns[$0].name }
        if oldKey != newKey {
            found.append(
                "Primary key of class \"\(wanted.name)\" has been changed from \"\(oldKey.joined(separator: ", "))\" to \"\(newKey.joined(separator: ", "))\"."
            )
        }
        return found
    }
}
