import FirnBytes
import FirnDatabase
import FirnTable

extension Realm {
    /// Creates an object from a dictionary by property name, an array in the order of the properties, or another object (of any realm), and
    /// adds it. Objects of other realms and unmanaged objects that `value` refers to, at any depth, are copied too, each once; objects of
    /// this realm are linked to.
    ///
    /// With `update:`, if an object with this primary key exists, it gets the given values and keeps its own for the properties that
    /// `value` does not contain. The same holds for objects that dictionaries within `value` describe. A new object has its class's initial
    /// values for missing properties. Keys of a dictionary without a property are ignored, which is logged once for each.
    @discardableResult
    public func create<T: Object>(_ type: T.Type, value: Any = [String: Any](), update: UpdatePolicy = .error) -> T {
        core.check()
        core.requireTransaction("create objects")
        if update != .error { return upsert(type, value, update) as! T }
        let object = type._make()
        if ClassSchema.of(type).refersToObjects {
            for (property, content) in imported(value, as: object) { object.put(content, in: property) }
        } else {
            object.assign(value)
        }
        add(object)
        return object
    }

    /// Returns the values that `value` has for properties of an object, with unmanaged copies in place of the objects that are not of this
    /// realm, and `made` in place of `value` itself.
    private func imported(_ value: Any, as made: ObjectBase) -> [(property: ClassSchema.Property, value: Any?)] {
        let schema = ClassSchema.of(Swift.type(of: made))
        let core = core
        let graph = GraphCopy { object in
            guard let other = object._core else { return nil }
            if other === core { return object }
            // A frozen object of the same file stands for the live one.
            return other.isFrozen && other.file === core.file ? core.object(object._rowID, like: object._access!) : nil
        }
        if let original = value as? ObjectBase, original._core !== core { graph.use(made, insteadOf: original) }
        return ObjectBase.contents(of: value, for: schema).map {
            ($0.property, graph.copy(of: $0.value, for: $0.property))
        }
    }

    private func upsert(_ type: Object.Type, _ value: Any, _ policy: UpdatePolicy) -> ObjectBase {
        let schema = ClassSchema.of(type)
        guard let key = schema.primaryKey else {
            trap("\"\(schema.name)\" does not have a primary key and can not be updated: create it without update:.")
        }
        let access = core.access(type)
        let fresh = type._make()
        for (property, content) in ObjectBase.contents(of: value, for: schema) where property.name == schema.properties[key].name {
            fresh.put(content, in: property)
        }
        let existing = access.find(access.storedKey(schema.properties[key], of: fresh)).flatMap(access.object)
        let contents = imported(value, as: existing ?? fresh).map { ($0.property, upserted($0.value, $0.property, policy)) }
        guard let existing else {
            for (property, content) in contents { fresh.put(content, in: property) }
            add(fresh, update: policy)
            return fresh
        }
        for (property, content) in contents where property.name != schema.properties[key].name {
            if policy == .modified, !property.leadsOn, property.access.sameContent(property.access.get(existing), content) { continue }
            core.adding(policy) { existing.put(content, in: property) }
        }
        return existing
    }

    /// Returns `content` with objects in place of the dictionaries that describe objects with a primary key, also within dictionaries that
    /// describe objects without one.
    private func upserted(_ content: Any?, _ property: ClassSchema.Property, _ policy: UpdatePolicy) -> Any? {
        guard let target = property.shape.target, !property.shape.isLinking else { return content }
        let schema = ClassSchema.of(target)
        func one(_ content: Any?) -> Any? {
            guard let fields = content as? [String: Any?] else { return content }
            if let target = target as? Object.Type, schema.primaryKey != nil { return upsert(target, fields, policy) }
            var made = fields
            for (name, field) in fields {
                guard let index = schema.index(of: name) else { continue }
                made.updateValue(upserted(field, schema.properties[index], policy), forKey: name)
            }
            return made
        }
        switch property.shape.type.collection {
        case .none: return one(content)
        case .list, .set: return (content as? [Any?]).map { $0.map(one) } ?? content
        case .map: return (content as? [String: Any?]).map { $0.mapValues(one) } ?? content
        }
    }
}

extension ObjectBase {
    /// Traps if the value does not fit the property.
    final func put(_ content: Any?, in property: ClassSchema.Property) {
        guard property.access.set(self, content) else {
            trap(RealmMessage.invalidValue(content, property: property, type: type(of: self).className()))
        }
    }
}
