import FirnBytes
import FirnTable

/// Objects of types without a Swift class.
extension Realm {
    /// Returns all objects of a type of the file, live.
    public func dynamicObjects(_ typeName: String) -> Results<DynamicObject> {
        let access = dynamic(typeName)
        return Results(TableSource(access, _Shape(ColumnType(.link, target: access.name), target: DynamicObject.self)))
    }

    /// Returns the object of a type with a primary key, or nil if there is none. Traps if the type does not have a primary key of one
    /// property.
    public func dynamicObject<Key>(ofType typeName: String, forPrimaryKey key: Key) -> DynamicObject? {
        let access = dynamic(typeName)
        guard let index = access.type.key.first, access.type.key.count == 1 else {
            trap(
                "Type \"\(typeName)\" does not have a primary key of one property: filter the results of dynamicObjects(\"\(typeName)\").")
        }
        let type = access.type.columns[index].type
        guard let value = Value(key: key)?.fitted(to: type.kind), !value.isNull || type.isOptional else {
            trap("Invalid value \"\(key)\" to query for property type \"\(type.name)\".")
        }
        return access.find(value).flatMap { access.object($0) } as? DynamicObject
    }

    /// Creates and adds an object from a dictionary by property name, an array in the order of the properties, or another object.
    /// Properties without a value have the initial value of the program's class for the type; without a class, they are zero or nil.
    @discardableResult
    public func dynamicCreate(_ typeName: String, value: Any = [String: Any](), update: UpdatePolicy = .error) -> DynamicObject {
        dynamicCreate(typeName, value: value, update: update, usesClass: true)
    }

    /// As above; unless `usesClass` is true, properties without a value are zero or nil.
    func dynamicCreate(_ typeName: String, value: Any, update: UpdatePolicy, usesClass: Bool) -> DynamicObject {
        core.check()
        core.requireTransaction("create objects")
        let access = dynamic(typeName)
        trap(unless: !access.type.isEmbedded, "\"\(typeName)\" is embedded: set it as a property of its owner instead.")
        return access.object(access.create(value, update: update, usesClass: usesClass)) as! DynamicObject
    }

    private func dynamic(_ typeName: String) -> TypeAccess {
        core.check()
        if let access = core.dynamicAccess(typeName) { return access }
        // The file has no type for a class that was not used yet.
        if core.configuration.objectTypes == nil, let objectClass = ProgramClasses.named(typeName) {
            _ = core.access(objectClass)
            if let access = core.dynamicAccess(typeName) { return access }
        }
        trap(
            "Object type \"\(typeName)\" is not managed by the Realm: its schema has \(schema.storedTypes.map(\.className)). If it is a class of this program, name it in the configuration: objectTypes: [\(typeName).self]"
        )
    }
}

extension TypeAccess {
    /// Adds (or updates) the row that an untyped value describes. Returns its row id, or -1 if it could not be written.
    func create(_ value: Any, update: Realm.UpdatePolicy, usesClass: Bool = false) -> Int64 {
        var given: [Int: Any?] = [:]
        switch value {
        case let object as ObjectBase:
            for (i, column) in type.columns.enumerated() { if object.has(column.name) { given[i] = object[column.name] } }
        case let dictionary as [String: Any?]:
            for (key, one) in dictionary {
                if let index = column(key) { given[index] = one } else { UnknownKeys.note(key, of: name) }
            }
        case let array as [Any?]:
            let properties = type.visibleColumns
            trap(unless: array.count <= properties.count, "\(array.count) values for the \(properties.count) properties of \"\(name)\"")
            for (i, one) in zip(properties, array) { given[i] = one }
        default: trap("objects are made from a dictionary, an array or an object, not from \(Swift.type(of: value))")
        }
        if update != .error {
            guard let key = type.key.first else {
                trap("\"\(name)\" does not have a primary key and can not be updated: create it without update:.")
            }
            let wanted = stored(given[key] ?? nil, key)
            if let existing = find(wanted) {
                let object = object(existing)!
                for (index, one) in given where index != key {
                    // Setting an equal value would notify observers.
                    if update == .modified, !type.columns[index].type.isCollection, type.columns[index].type.target == nil,
                        object._value(index) == stored(one, index)
                    {
                        continue
                    }
                    object.setDynamicValue(type.columns[index].name, one, self)
                }
                return existing
            }
        }
        let initial = usesClass ? initialValues(except: given) : [:]
        let values = type.columns.indices.map { index in
            given[index].map { stored($0, index) } ?? initial[index] ?? Column.absentValue(type.columns[index].type)
        }
        let table = working
        do {
            let rowID = try table.append { (columns) throws(FirnError) in
                for i in columns.indices where !columns[i].append(values[i]) { columns[i].appendNull() }
            }
            core.noteChange()
            return rowID
        } catch {
            if error.code == .duplicateKey, let key = type.key.first {
                trap(
                    "Attempting to create an object of type \"\(name)\" with an existing primary key value \"\(given[key].flatMap { $0 } ?? "nil")\"."
                )
            }
            core.note(error)
            return -1
        }
    }

    /// Returns the initial values that the program's class declares for properties of single values.
    private func initialValues(except given: [Int: Any?]) -> [Int: Value] {
        guard given.count < type.columns.count, let known = core.knownSchema(name) else { return [:] }
        let example = known.objectClass._make()
        var found: [Int: Value] = [:]
        for property in known.stored where !property.leadsOn {
            guard let index = type.index(of: property.name), given[index] == nil, type.columns[index].type == property.shape.type else {
                continue
            }
            found[index] = storedKey(property, of: example)
        }
        return found
    }

    private func stored(_ value: Any?, _ index: Int) -> Value {
        let column = type.columns[index]
        guard let stored = core.stored(value, column.type) else {
            trap(RealmMessage.invalidValue(value, of: type, index))
        }
        return stored
    }
}

extension ObjectBase {
    /// Returns whether the object has a property with this name.
    final func has(_ name: String) -> Bool {
        if let access = _access, access.schema == nil { return access.column(name) != nil }
        if let contents = unmanagedContents { return contents.type.index(of: name) != nil }
        return ClassSchema.of(Swift.type(of: self)).stored.contains { $0.name == name || $0.codeName == name }
    }
}

extension _CollectionSource {
    /// Returns an element of a collection of dynamic objects.
    func dynamicObject(_ index: Int) -> DynamicObject {
        let access = elementAccess
        if let access, case .link(let rowID) = value(index), let object = access.object(rowID) as? DynamicObject { return object }
        // The row of a damaged file cannot be found: returns an object without values.
        let nothing = DynamicObject()
        nothing.contents = access.map { DynamicContents($0.type) }
        return nothing
    }
}

extension Realm {
    /// Returns all objects of a type of the file.
    package func elements(_ typeName: String) -> Results<DynamicElement> { Results(untyped: dynamicObjects(typeName).source) }

    /// Adds types without a class to the file, if it does not have them yet. Throws if a type is not valid or differs from the file's.
    package func adopt(_ types: [ObjectSchema]) throws {
        for type in types {
            for property in type.properties
            where property.isSet && types.contains(where: { $0.className == property.objectClassName && $0.isEmbedded }) {
                throw Error(
                    .invalidInput,
                    "\"\(type.className).\(property.name)\" is a set of embedded objects, which sets cannot hold: make it a list, or make \"\(property.objectClassName!)\" a type that is not embedded."
                )
            }
        }
        try core.adopt(types: types.map { $0.typeSchema(among: types) })
    }
}
