import FirnBytes
import FirnTable

/// Objects without a class that do not belong to a realm yet.
extension DynamicObject {
    /// Creates an unmanaged object of a type; its properties are zero, empty or nil.
    package convenience init(unmanaged schema: ObjectSchema) {
        self.init()
        contents = DynamicContents(schema.typeSchema(among: [schema]))
    }

    /// The name of the type in the file.
    package var className: String { _typeName }

    /// Returns the content of a property. Collections are returned as such and can be changed.
    package func content(_ name: String) -> DynamicContent {
        if let contents { return contents.values[contents.index(of: name)] }
        let access = _settled()
        guard let column = access.column(name) else { trap("type \"\(access.name)\" has no property \"\(name)\"") }
        let type = access.type.columns[column].type
        switch type.collection {
        case .none: return .value(DynamicElement(_value(column), type, access.core))
        case .list: return .list(List(CollectionCell.of(self, column)), DynamicType(type.element))
        case .set: return .set(MutableSet(CollectionCell.of(self, column)), DynamicType(type.element))
        case .map: return .map(Map(CollectionCell.of(self, column)), DynamicType(type.element))
        }
    }

    /// Returns the objects of a type that link to this one through a property.
    package func linking(_ typeName: String, _ property: String) -> Results<DynamicElement> {
        let target = _settled()
        guard let access = target.core.dynamicAccess(typeName) else {
            trap("Object type \"\(typeName)\" is not managed by the Realm.")
        }
        guard let link = access.column(property), access.type.columns[link].type.target == target.name else {
            trap("\"\(typeName)\" has no property \"\(property)\" that links to \"\(target.name)\"")
        }
        return Results(LinkingSource(access, column: link, to: target, rowID: _rowID, .dynamic(ColumnType(.link, target: typeName))))
    }

    /// Replaces the content of a property with the content of another, which belongs to this realm or to none.
    func take(_ content: DynamicContent, _ name: String) {
        switch (content, self.content(name)) {
        case (.list(let theirs, _), .list(let mine, _)): mine.replaceSubrange(0..<mine.count, with: Array(theirs))
        case (.set(let theirs, _), .set(let mine, _)): mine.assign(theirs)
        case (.map(let theirs, _), .map(let mine, _)): mine._replaceContents(with: theirs)
        default: self[name] = content.untyped
        }
    }

    /// Returns an unmanaged copy. Embedded objects are copied too; links lead to the same objects.
    func copiedWithoutRealm() -> DynamicObject {
        let copy = DynamicObject()
        let contents = DynamicContents(_access?.type ?? self.contents!.type)
        copy.contents = contents
        func element(_ element: DynamicElement) -> DynamicElement {
            guard let object = element._firnObject as? DynamicObject, object.isEmbedded else { return element }
            return DynamicElement(.object(object.copiedWithoutRealm()))
        }
        for (index, column) in contents.type.columns.enumerated() {
            switch (content(column.name), contents.values[index]) {
            case (.list(let from, _), .list(let to, _)): to.append(objectsIn: from.map(element))
            case (.set(let from, _), .set(let to, _)): to.insert(objectsIn: from)
            case (.map(let from, _), .map(let to, _)): for (key, value) in from.asKeyValueSequence() { to[key] = element(value) }
            case (.value(let value), _): _ = contents.set(index, element(value)._firnUntyped)
            default: break
            }
        }
        return copy
    }

    /// Returns the type of a property with a single value; nil if there is no such property.
    func valueType(_ name: String) -> ColumnType? {
        guard let type = _access?.type ?? contents?.type, let index = _access?.column(name) ?? type.index(of: name),
            !type.columns[index].type.isCollection
        else {
            return nil
        }
        return type.columns[index].type
    }

    var isEmbedded: Bool { _access?.type.isEmbedded ?? contents?.type.isEmbedded ?? false }
}

extension ObjectBase {
    /// Itself if it has no class, otherwise nil. The types are compared because that costs less than a cast.
    @inline(__always)
    final var asDynamic: DynamicObject? { Swift.type(of: self) == DynamicObject.self ? _typed(DynamicObject.self) : nil }

    /// The contents of an unmanaged object without a class; otherwise nil.
    final var unmanagedContents: DynamicContents? { asDynamic?.contents }

    /// The name of the type in the file.
    final var _typeName: String { _access?.name ?? unmanagedContents?.type.name ?? Swift.type(of: self).className() }

    /// The same object without its class. An unmanaged object of a class returns itself.
    final var withoutClass: ObjectBase {
        guard !(self is DynamicObject), let access = _access else { return self }
        return access.core.dynamicAccess(access.name)?.object(_rowID) ?? self
    }
}

extension RealmCore {
    /// Returns the access through which an object is added. Traps if the schema does not contain its type.
    func accessToAdd(_ object: ObjectBase) -> TypeAccess {
        guard let contents = object.unmanagedContents else { return access(Swift.type(of: object)) }
        guard let access = dynamicAccess(contents.type.name) else {
            trap(
                "Object type \"\(contents.type.name)\" is not managed by the Realm: its schema has \(schema.types.map(\.name)).")
        }
        return access
    }
}

extension TypeAccess {
    /// Adds an object without a class, and the objects that it links to.
    func add(_ object: DynamicObject, _ contents: DynamicContents, update: Realm.UpdatePolicy) {
        var plain: [String: Any?] = [:], leading: [(name: String, content: DynamicContent)] = []
        for (column, content) in zip(contents.type.columns, contents.values) {
            let leads = column.type.isCollection || column.type.target != nil || column.type.kind == .any
            if leads { leading.append((column.name, content)) } else { plain.updateValue(content.untyped, forKey: column.name) }
        }
        let rowID = create(plain, update: type.key.isEmpty ? .error : update)
        guard rowID >= 0 else { return }
        object.contents = nil
        manage(object, rowID)
        object._generation = 0
        // Links and collections are set after the object has its row, because they can lead back to it.
        for (name, content) in leading { core.setContent(update) { object.take(content, name) } }
    }
}
