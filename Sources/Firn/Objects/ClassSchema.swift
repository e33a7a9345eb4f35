import FirnBytes
import FirnTable
import Synchronization

/// The schema that a class declares: the name of its type and its properties. Read once for each class.
final class ClassSchema: @unchecked Sendable {
    struct Property {
        /// The name in the schema, which `propertiesMapping` can make different from the name in code.
        var name: String
        var codeName: String
        var access: _PropertyAccess
        var options: PersistedOptions
        /// The link that a `LinkingObjects` property is the inverse of; nil for other properties.
        var origin: String?
        var shape: _Shape { access.shape }
    }

    let objectClass: ObjectBase.Type
    let name: String
    let isEmbedded: Bool
    /// The properties in the order of declaration, those of superclasses first.
    let properties: [Property]
    /// The position in `properties`; nil if there is no primary key.
    let primaryKey: Int?

    /// The properties that have a column.
    let stored: [Property]

    /// True if values of properties can be objects or contain objects.
    let refersToObjects: Bool

    /// True if the objects have properties that are declared without `@Persisted`. Their instances belong to one row.
    let hasOlderProperties: Bool

    private static let known: Mutex<[ObjectIdentifier: ClassSchema]> = Mutex([:])

    /// The schemas that were requested so far.
    static var everyKnown: [ClassSchema] { known.withLock { $0.values.sorted { $0.name < $1.name } } }

    /// Returns the schema of a class. Traps if its declarations contradict each other.
    static func of(_ objectClass: ObjectBase.Type) -> ClassSchema {
        let id = ObjectIdentifier(objectClass)
        if let schema = known.withLock({ $0[id] }) { return schema }
        let schema: ClassSchema
        do { schema = try ClassSchema(objectClass) } catch { trap(error.text) }
        return known.withLock { known in
            if let first = known[id] { return first }
            known[id] = schema
            return schema
        }
    }

    /// What is wrong with the declaration of a class.
    struct Fault: Error { let text: String }

    /// Returns the schema of a class; nil if its declaration is not valid.
    static func valid(_ objectClass: ObjectBase.Type) -> ClassSchema? {
        known.withLock { $0[ObjectIdentifier(objectClass)] } ?? (try? ClassSchema(objectClass)).map { _ in of(objectClass) }
    }

    private init(_ objectClass: ObjectBase.Type) throws(Fault) {
        self.objectClass = objectClass
        name = objectClass.className()
        isEmbedded = objectClass is EmbeddedObject.Type
        let example = objectClass._make()
        let mapping = objectClass.propertiesMapping()
        var properties: [Property] = []
        let ignored = objectClass.ignoredProperties()
        var older: [ClassField] = []
        for field in ClassField.all(of: objectClass) {
            let code: String, access: _PropertyAccess
            if let persisted = field.type as? any AnyPersisted.Type {
                (code, access) = (field.declaredName, persisted.property(at: field.offset))
            } else if !ignored.contains(field.name), !ignored.contains(field.declaredName),
                let declared = try field.olderDeclaration(in: "\(objectClass)")
            {
                (code, access) = (field.name, declared.olderProperty(at: field.offset))
                older.append(field)
            } else {
                continue
            }
            properties.append(
                Property(
                    name: mapping[code] ?? code, codeName: code, access: access, options: access.options(in: example),
                    origin: access.shape.isLinking ? access.origin(in: example) : nil))
        }
        hasOlderProperties = !older.isEmpty
        if let field = older.first, older.count < properties.count {
            throw Fault(
                text:
                    "\"\(objectClass).\(field.name)\" is declared without @Persisted, and other properties of the class with it: write @Persisted var \(field.name): \(field.type), or name it in ignoredProperties()"
            )
        }
        for index in properties.indices {
            let name = properties[index].codeName
            if objectClass.primaryKey() == name { properties[index].options.formUnion([.primaryKey, .indexed]) }
            if objectClass.indexedProperties().contains(name) { properties[index].options.insert(.indexed) }
            if ignored.contains(name) {
                throw Fault(text: "\"\(self.name).\(name)\" is @Persisted and in ignoredProperties(): remove one of them")
            }
        }
        if let key = objectClass.primaryKey() {
            guard properties.contains(where: { $0.codeName == key }) else {
                throw Fault(
                    text: "primaryKey() of \"\(self.name)\" names \"\(key)\", which is not a stored property: declare it with @Persisted")
            }
        }
        self.properties = properties
        stored = properties.filter { !$0.shape.isLinking }
        refersToObjects = stored.contains { $0.shape.mayHoldObjects }
        let keys = properties.indices.filter { properties[$0].options.contains(.primaryKey) }
        primaryKey = keys.first
        try check(keys: keys.count)
    }

    private func check(keys: Int) throws(Fault) {
        if keys > 1 { throw Fault(text: "class \"\(name)\" marks more than one property with primaryKey: true: keep one") }
        if keys > 0, isEmbedded {
            throw Fault(text: "\"\(name)\" is an EmbeddedObject and cannot have a primary key: remove primaryKey: true")
        }
        for (i, property) in properties.enumerated() {
            if property.shape.isLinking, property.origin == nil {
                throw Fault(
                    text: "\"\(name).\(property.codeName)\" needs the property that it is the inverse of: @Persisted(originProperty: \"…\")"
                )
            }
            if properties[..<i].contains(where: { $0.name == property.name }) {
                throw Fault(text: "class \"\(name)\" has two properties \"\(property.name)\": rename one, or map it in propertiesMapping()")
            }
        }
    }

    func index(of property: String) -> Int? { properties.firstIndex { $0.name == property || $0.codeName == property } }

    /// The name in the schema of a property that is given by either of its names; `property` itself if the class has none.
    func schemaName(of property: String) -> String { index(of: property).map { properties[$0].name } ?? property }

    /// The type as a file stores it, without ids.
    var typeSchema: TypeSchema {
        let stored = stored
        let columns = stored.map { property in
            var type = property.shape.type
            if let target = property.shape.target {
                type.target = target.className()
                if target is EmbeddedObject.Type { type.kind = .embedded }
            }
            var indexes: IndexMarks = []
            // The library indexes keys itself when needed.
            if property.options.contains(.indexed), !property.options.contains(.primaryKey), type.refusal(of: .values) == nil {
                indexes.insert(.values)
            }
            if property.options.contains(.fullText), type.refusal(of: .words) == nil { indexes.insert(.words) }
            return ColumnSchema(property.name, type, indexes: indexes)
        }
        let key = stored.firstIndex { $0.options.contains(.primaryKey) }.map { [$0] } ?? []
        return TypeSchema(name, columns: columns, key: key, isEmbedded: isEmbedded)
    }

    /// Returns this schema and those of the classes that its properties refer to, directly or indirectly.
    func reachable() -> [ClassSchema] {
        var found: [ClassSchema] = [self], next = 0
        while next < found.count {
            for property in found[next].properties {
                guard let target = property.shape.target, !found.contains(where: { $0.objectClass == target }) else { continue }
                found.append(ClassSchema.of(target))
            }
            next += 1
        }
        return found
    }
}
