import FirnBytes
import FirnDatabase
import FirnTable

/// The tables of the realm's version, and the accesses to its types.
extension RealmCore {
    /// Returns the rows of a type at the version that is read, or those of the transaction under way.
    func table(_ type: Int) -> any RowTable {
        let name = schema.types[type].name
        if let transaction { return transaction.table(name) }
        guard let table = snapshot.table(named: name) else { trap("version \(version) has no type \"\(name)\"") }
        return table
    }

    /// Returns the rows of a type at the version that is read, without those of a transaction.
    func storedTable(_ access: TypeAccess) throws(Damage) -> StoredTable? { snapshot.table(named: access.name) }

    /// Returns the access to the objects of a class. Traps if the realm cannot hold the class.
    func access(_ objectClass: ObjectBase.Type) -> TypeAccess {
        if isFrozen { return accessGate.pass { find(objectClass) } }
        if let access = bindings.lastUsed(objectClass) { return access }
        let access = find(objectClass)
        bindings.use(access, for: objectClass)
        return access
    }

    private func find(_ objectClass: ObjectBase.Type) -> TypeAccess {
        if let access = bindings[objectClass] { return access }
        let schema = ClassSchema.of(objectClass)
        guard let index = adopt(schema) else {
            return bindings.absent(objectClass) ?? bindings.add(absent: TypeAccess(self, schema, typeIndex: -1), objectClass)
        }
        return bindings.bind(objectClass, to: index) ?? bindings.add(TypeAccess(self, schema, typeIndex: index))
    }

    /// Returns the access to a type by its name, or nil if the file has no such type. Creates one for dynamic objects if there is none.
    func access(named name: String) -> TypeAccess? {
        atType(name) { index in bindings[index] ?? bindings.add(TypeAccess(self, nil, typeIndex: index)) }
    }

    /// Returns the access for the dynamic objects of a type, whatever classes are used for it, or nil if the file has no such type.
    func dynamicAccess(_ name: String) -> TypeAccess? {
        atType(name) { index in bindings.dynamic(index) ?? bindings.add(dynamic: TypeAccess(self, nil, typeIndex: index)) }
    }

    /// Returns the access to a type of which only the name is known: through the program's class for it, if there is one, otherwise for
    /// dynamic objects.
    func knownAccess(_ name: String) -> TypeAccess? {
        guard let bound = atType(name, { bindings[$0] }) else { return nil }
        if let bound, bound.schema != nil { return bound }
        guard let known = knownSchema(name) else { return dynamicAccess(name) }
        return access(known.objectClass)
    }

    /// Calls `body` with the position of a type, or returns nil if the file has no such type. Any thread can use a frozen realm, so its
    /// calls are serialized.
    private func atType<R>(_ name: String, _ body: (Int) -> R) -> R? {
        guard let index = schema.types.firstIndex(where: { $0.name == name }) else { return nil }
        return isFrozen ? accessGate.pass { body(index) } : body(index)
    }

    /// Returns the schema of the program's class for a type of the file; nil if there is none, or if the class and the type differ.
    func knownSchema(_ name: String) -> ClassSchema? {
        if let used = ClassSchema.used.first(where: { $0.name == name && mismatches($0).isEmpty }) { return used }
        guard
            let found = (configuration.objectTypes ?? [ProgramClasses.named(name)].compactMap(\.self)).first(where: {
                $0.className() == name
            })
        else { return nil }
        let schema = ClassSchema.of(found)
        return mismatches(schema).isEmpty ? schema : nil
    }

    /// All accesses to types of the file.
    var allAccesses: [TypeAccess] { bindings.all }

    /// Invalidates everything that was read so far.
    func forgetAccesses() {
        bindings.retireAll()
        noteMove()
    }

    /// Called when the realm has moved to another version, when a transaction has begun or ended, and when rows of the transaction were
    /// rewritten outside of the realm.
    func moved() {
        noteMove()
        bindings.retireOutdated(schema)
        for access in allAccesses { access.moved() }
    }
}
