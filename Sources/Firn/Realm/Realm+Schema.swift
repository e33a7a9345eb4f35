import FirnModel

extension Realm {
    /// The types of a file.
    public struct Schema: Equatable, CustomStringConvertible {
        /// In the order of the file.
        public let objectSchema: [ObjectSchema]

        public subscript(className: String) -> ObjectSchema? { objectSchema.first { $0.className == className } }
        public var description: String { objectSchema.map { "\($0)" }.joined(separator: "\n") }

        package init(_ types: [ObjectSchema]) { objectSchema = types }
        init(_ schema: FirnModel.Schema) { objectSchema = schema.types.filter { $0.name != SchemaVersion.typeName }.map { ObjectSchema($0, nil) } }
    }

    /// The types that the file has at this version; those of classes that were not used yet may be missing.
    public var schema: Schema {
        core.confinement.check()
        return Schema(core.schema)
    }
}

/// One type: its name and its properties.
public struct ObjectSchema: Equatable, CustomStringConvertible {
    public let className: String
    /// Those with a column, in the file's order; of a class that is known, inverse links too.
    public let properties: [Property]
    public let isEmbedded: Bool

    public var primaryKeyProperty: Property? { properties.first(where: \.isPrimaryKey) }
    public subscript(propertyName: String) -> Property? { properties.first { $0.name == propertyName } }

    public var description: String {
        "\(className)\(isEmbedded ? " (embedded)" : "") {\n" + properties.map { "\t\($0)\n" }.joined() + "}"
    }

    package init(className: String, properties: [Property], embedded isEmbedded: Bool) {
        self.className = className
        self.properties = properties
        self.isEmbedded = isEmbedded
    }

    /// As a file holds it; `all` tells which types are embedded.
    func typeSchema(among all: [ObjectSchema]) -> TypeSchema {
        let stored = properties.filter { $0.type != .linkingObjects }
        let columns = stored.map { property in
            ColumnSchema(property.columnName, property.columnType(isEmbedded: all.contains { $0.className == property.objectClassName && $0.isEmbedded }))
        }
        return TypeSchema(className, columns: columns, key: stored.indices.filter { stored[$0].isPrimaryKey }, isEmbedded: isEmbedded)
    }

    init(_ type: TypeSchema, _ schema: ClassSchema?) {
        className = type.name
        isEmbedded = type.isEmbedded
        var found = type.columns.enumerated().map { place, column in
            let known = schema?.properties.first { $0.name == column.name }
            return Property(name: known?.codeName ?? column.name, columnName: column.name, column.type, isPrimaryKey: type.key.contains(place),
                            isIndexed: known.map { !$0.options.isDisjoint(with: [.indexed, .fullText]) } ?? (type.key.contains(place) || !column.indexes.isEmpty))
        }
        for property in schema?.properties ?? [] where property.shape.isLinking { found.append(Property(linking: property)) }
        properties = found
    }
}

/// One property of a type.
public struct Property: Equatable, CustomStringConvertible {
    /// In code.
    public let name: String
    /// In the file.
    public let columnName: String
    /// Of collections: of one element.
    public let type: PropertyType
    /// The type that links and embedded objects are of.
    public let objectClassName: String?
    /// Of inverse links: the property that they are the inverse of.
    public let linkOriginPropertyName: String?
    public let isIndexed: Bool
    public let isPrimaryKey: Bool
    /// Nil may be in it; of collections: their elements may be nil.
    public let isOptional: Bool
    public let isArray: Bool
    public let isSet: Bool
    public let isMap: Bool

    package init(name: String, type: PropertyType, objectClassName: String?, isPrimaryKey: Bool, isIndexed: Bool, isOptional: Bool, isArray: Bool, isSet: Bool, isMap: Bool) {
        self.name = name
        columnName = name
        self.type = type
        self.objectClassName = objectClassName
        linkOriginPropertyName = nil
        self.isPrimaryKey = isPrimaryKey
        self.isIndexed = isIndexed
        self.isOptional = isOptional
        self.isArray = isArray
        self.isSet = isSet
        self.isMap = isMap
    }

    func columnType(isEmbedded: Bool) -> ColumnType {
        let collection: CollectionKind = isArray ? .list : isSet ? .set : isMap ? .map : .none
        let kind = type.scalarKind(isEmbedded: isEmbedded), leads = type == .object
        return ColumnType(kind, optional: collection == .none && (isOptional || leads), collection: collection,
                          // A map keeps a key whose object was deleted.
                          elementOptional: collection != .none && (isOptional || collection == .map && kind == .link), target: objectClassName)
    }

    init(name: String, columnName: String, _ type: ColumnType, isPrimaryKey: Bool, isIndexed: Bool) {
        self.name = name
        self.columnName = columnName
        self.type = PropertyType(type.kind)
        objectClassName = type.target
        linkOriginPropertyName = nil
        self.isPrimaryKey = isPrimaryKey
        self.isIndexed = isIndexed
        isOptional = type.isCollection ? type.elementIsOptional : type.isOptional
        isArray = type.collection == .list
        isSet = type.collection == .set
        isMap = type.collection == .map
    }

    init(linking property: ClassSchema.Property) {
        name = property.codeName
        columnName = property.name
        type = .linkingObjects
        objectClassName = property.shape.target?.className()
        linkOriginPropertyName = property.origin
        isPrimaryKey = false
        isIndexed = false
        isOptional = false
        isArray = true
        isSet = false
        isMap = false
    }

    public var description: String {
        let value = objectClassName ?? "\(type)"
        let inner = value + (isOptional ? "?" : "")
        let shape = isArray ? "[\(inner)]" : isSet ? "{\(inner)}" : isMap ? "[string: \(inner)]" : inner
        return "\(name): \(shape)\(isPrimaryKey ? ", primary key" : isIndexed ? ", indexed" : "")"
    }
}

extension ObjectBase {
    /// What the object's type is made of: of a managed object as its file has it, else as its class says.
    public final var objectSchema: ObjectSchema {
        if let access = _access { return ObjectSchema(access.type, access.schema) }
        if let contents = unmanagedContents { return ObjectSchema(contents.type, nil) }
        let schema = ClassSchema.of(Swift.type(of: self))
        return ObjectSchema(schema.typeSchema, schema)
    }
}
