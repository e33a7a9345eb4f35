import FirnTable

extension Realm {
    /// The types of a file and of the program's classes.
    public struct Schema: Equatable, CustomStringConvertible {
        /// The types that the file has, in its order.
        package let storedTypes: [ObjectSchema]

        /// The types: those of the file in its order, then those of the classes that the file has no type for yet. These are the classes of
        /// the configuration's `objectTypes`, or without these all valid classes of the program in the order of their names.
        public var objectSchema: [ObjectSchema] {
            let stored = Set(storedTypes.map(\.className))
            return storedTypes + unused().filter { !stored.contains($0.name) }.map { ObjectSchema($0.typeSchema, $0) }
        }

        /// Returns the schemas of the classes that the file may have no types for.
        private var unused: @Sendable () -> [ClassSchema] = { [] }
        /// Returns the schema of such a class.
        private var unusedNamed: @Sendable (String) -> ClassSchema? = { _ in nil }

        /// Returns the type with a name, or nil if there is none. Without `objectTypes` in the configuration, all classes of the program
        /// are known.
        public subscript(className: String) -> ObjectSchema? {
            storedTypes.first { $0.className == className } ?? unusedNamed(className).map { ObjectSchema($0.typeSchema, $0) }
        }
        /// Returns whether both have the same types.
        public static func == (a: Schema, b: Schema) -> Bool { a.objectSchema == b.objectSchema }
        /// The types as text, in the order of `objectSchema`. See `ObjectSchema.description`.
        public var description: String { objectSchema.map { "\($0)" }.joined(separator: "\n") }

        /// Creates a schema of types.
        package init(_ types: [ObjectSchema]) { storedTypes = types }

        /// `known` returns the schema of the program's class for a type of the file, if there is one.
        init(_ schema: FirnTable.Schema, _ listed: [ObjectBase.Type]?, known: (String) -> ClassSchema? = { _ in nil }) {
            storedTypes = schema.types.filter { $0.name != SchemaVersion.typeName }.map { ObjectSchema($0, known($0.name)) }
            if let listed = listed?.map({ ClassSchema.of($0) }) {
                unused = { listed }
                unusedNamed = { name in listed.first { $0.name == name } }
            } else {
                unused = { ProgramClasses.included.compactMap { ClassSchema.valid($0) } }
                unusedNamed = { ProgramClasses.named($0).map { ClassSchema.of($0) } }
            }
        }
    }

    /// The types of the file at this version, and those of the classes that it has no types for yet.
    public var schema: Schema {
        core.check()
        return Schema(core.schema, core.configuration.objectTypes) { core.knownSchema($0) }
    }
}

/// The name and the properties of one type.
public struct ObjectSchema: Equatable, CustomStringConvertible {
    /// The name of the type.
    public let className: String
    /// The stored properties in the order of the file. Inverse links are found by name only, as in Realm.
    public let properties: [Property]
    /// The inverse links of the class, if it is known.
    private let inverseLinks: [Property]
    /// True if the type is embedded.
    public let isEmbedded: Bool
    /// The class of the objects; `DynamicObject` if it is not known.
    public var objectClass: AnyClass {
        known.type ?? ClassSchema.everyKnown.first { $0.name == className && $0.isEmbedded == isEmbedded }?.objectClass
            ?? DynamicObject.self
    }
    private let known: KnownClass

    /// Two schemas are equal if their names and properties are, whatever their classes.
    private struct KnownClass: Equatable {
        var type: ObjectBase.Type?
        static func == (a: KnownClass, b: KnownClass) -> Bool { true }
    }

    /// The property that is the primary key, or nil.
    public var primaryKeyProperty: Property? { properties.first(where: \.isPrimaryKey) }
    /// Returns the property or the inverse link with a name in code or in the file, or nil if there is none.
    public subscript(propertyName: String) -> Property? {
        let all = properties + inverseLinks
        return all.first { $0.name == propertyName } ?? all.first { $0.columnName == propertyName }
    }

    /// The name of the type as text, whether it is embedded, and its properties and inverse links in one line each. See
    /// `Property.description`.
    public var description: String {
        "\(className)\(isEmbedded ? " (embedded)" : "") {\n" + (properties + inverseLinks).map { "\t\($0)\n" }.joined() + "}"
    }

    /// Creates the schema of a type.
    package init(className: String, properties: [Property], embedded isEmbedded: Bool) {
        self.className = className
        self.properties = properties
        inverseLinks = []
        self.isEmbedded = isEmbedded
        known = KnownClass()
    }

    /// Returns the type as a file stores it. `all` is searched for the embedded types.
    func typeSchema(among all: [ObjectSchema]) -> TypeSchema {
        let columns = properties.map { property in
            ColumnSchema(
                property.columnName,
                property.columnType(isEmbedded: all.contains { $0.className == property.objectClassName && $0.isEmbedded }))
        }
        return TypeSchema(
            className, columns: columns, key: properties.indices.filter { properties[$0].isPrimaryKey }, isEmbedded: isEmbedded)
    }

    init(_ type: TypeSchema, _ schema: ClassSchema?) {
        className = type.name
        isEmbedded = type.isEmbedded
        known = KnownClass(type: schema?.objectClass)
        properties = type.visibleColumns.map { index in
            let column = type.columns[index]
            let known = schema?.properties.first { $0.name == column.name }
            return Property(
                name: known?.codeName ?? column.name, columnName: column.name, column.type, isPrimaryKey: type.key.contains(index),
                isIndexed: type.key.contains(index) || !column.indexes.isEmpty
                    || known.map { !$0.options.isDisjoint(with: [.indexed, .fullText]) } ?? false)
        }
        inverseLinks = (schema?.properties ?? []).filter(\.shape.isLinking).map { Property(linking: $0) }
    }
}

/// One property of a type.
public struct Property: Equatable, CustomStringConvertible {
    /// The name in code.
    public let name: String
    /// The name in the file.
    public let columnName: String
    /// The type of the value; for a collection, of one element.
    public let type: PropertyType
    /// The type that links or embedded objects have; nil for other properties.
    public let objectClassName: String?
    /// The property that an inverse link is the inverse of; nil for other properties.
    public let linkOriginPropertyName: String?
    /// True if the property is indexed.
    public let isIndexed: Bool
    /// True if the property is the primary key.
    public let isPrimaryKey: Bool
    /// True if the value can be nil; for a collection, if its elements can.
    public let isOptional: Bool
    /// True if the property is a list.
    public let isArray: Bool
    /// True if the property is a set.
    public let isSet: Bool
    /// True if the property is a map.
    public let isMap: Bool

    /// Creates a property that has the same name in code and in the file.
    package init(
        name: String, type: PropertyType, objectClassName: String?, isPrimaryKey: Bool, isIndexed: Bool, isOptional: Bool, isArray: Bool,
        isSet: Bool, isMap: Bool
    ) {
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
        return ColumnType(
            kind, optional: collection == .none && (isOptional || leads), collection: collection,
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

    /// The name in code and the type as text: `id: int, primary key`, `name: string?, indexed`, `dogs: [Dog]`, `scores: [string: int]`; the
    /// elements of a set are in braces.
    public var description: String {
        let value = objectClassName ?? "\(type)"
        let inner = value + (isOptional ? "?" : "")
        let shape = isArray ? "[\(inner)]" : isSet ? "{\(inner)}" : isMap ? "[string: \(inner)]" : inner
        return "\(name): \(shape)\(isPrimaryKey ? ", primary key" : isIndexed ? ", indexed" : "")"
    }
}

extension ObjectBase {
    /// Returns the schema of the class; nil for classes that cannot have properties of their own.
    public final class func sharedSchema() -> ObjectSchema? {
        if self == ObjectBase.self || self == Object.self || self == EmbeddedObject.self || self == DynamicObject.self { return nil }
        let schema = ClassSchema.of(self)
        return ObjectSchema(schema.typeSchema, schema)
    }

    /// The schema of the object's type: that of the file for a managed object, otherwise that of the class.
    public final var objectSchema: ObjectSchema {
        if let access = _access { return ObjectSchema(access.type, access.schema) }
        if let contents = unmanagedContents { return ObjectSchema(contents.type, nil) }
        let schema = ClassSchema.of(Swift.type(of: self))
        return ObjectSchema(schema.typeSchema, schema)
    }
}
