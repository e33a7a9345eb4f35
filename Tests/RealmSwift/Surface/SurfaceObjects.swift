import Foundation
import RealmSwift

/// The overrides that classes can have.
class SurfaceOld: Object {
    @Persisted var code = 0
    @Persisted var text = ""
    override class func primaryKey() -> String? { "code" }
    override class func indexedProperties() -> [String] { ["text"] }
    override class func ignoredProperties() -> [String] { [] }
    override class func propertiesMapping() -> [String: String] { ["text": "words"] }
    override class func _realmObjectName() -> String? { "Old" }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
    override var description: String { "old" }
    override func isEqual(_ object: Any?) -> Bool { super.isEqual(object) }
    override var hash: Int { super.hash }
}

/// Properties that are declared without `@Persisted`.
class SurfaceElder: Object {
    let age = RealmProperty<Int?>()
    let mixed = RealmProperty<AnyRealmValue>()
    let size = RealmProperty<SurfaceSize?>(.small)
    let pets = List<SurfacePet>()
    let names = MutableSet<String>()
    let scores = Map<String, Int>()
    let friends = LinkingObjects(fromType: SurfaceElder.self, property: "elders")
    let elders = List<SurfaceElder>()
    override init() {
        super.init()
        age.value = 3
    }
}

@available(*, deprecated)
class SurfaceEldest: Object {
    let age = RealmOptional<Int>()
    let weight = RealmOptional<Double>(1.5)
    required override init() { super.init() }
}

extension Surface {
    private mutating func addOlderDeclarations(_ realm: Realm) {
        use("RealmProperty.init()", "RealmProperty.init(_:)", "RealmProperty.value") {
            let elder = SurfaceElder()
            elder.age.value = 4
            elder.mixed.value = .string("any")
            _ = (elder.age.value, elder.size.value, RealmProperty<Int?>(5) == elder.age)
            _ = realm.objects(SurfaceElder.self).where { $0.age.value > 3 && $0.pets.count > 0 && $0.size.value == .small }
            elder.pets.append(SurfacePet())
            elder.names.insert("Rex")
            elder.scores["a"] = 1
            _ = (elder.friends.count, elder.elders.first)
        }
        addOldestDeclarations()
    }

    @available(*, deprecated)
    private mutating func addDeprecatedDeclarations() {
        use("RealmOptional.init(_:)", "RealmOptional.value") {
            let eldest = SurfaceEldest()
            eldest.age.value = nil
            _ = (eldest.age.value, eldest.weight.value)
        }
    }

    private mutating func addOldestDeclarations() { (DeprecatedUses.self as any SurfaceUses.Type).add(to: &self) }

    /// Calls deprecated members without a warning.
    private enum DeprecatedUses: SurfaceUses {
        @available(*, deprecated)
        static func add(to surface: inout Surface) { surface.addDeprecatedDeclarations() }
    }
}

protocol SurfaceUses {
    static func add(to surface: inout Surface)
}

extension Surface {
    mutating func addObjects(_ realm: Realm, _ pet: SurfacePet) {
        use("Object.init()", "Object.init(value:)") { _ = (SurfacePet(), SurfacePet(value: ["name": "Rex"])) }
        use(
            "Object.primaryKey()", "Object.indexedProperties()", "Object.ignoredProperties()", "Object.propertiesMapping()",
            "Object._realmObjectName()", "Object.shouldIncludeInDefaultSchema()", "Object.isEqual(_:)", "Object.hash"
        ) {
            _ = SurfaceOld()
        }
        use("Object.realm", "Object.objectSchema", "Object.isInvalidated", "Object.isFrozen", "Object.description") {
            _ = (pet.realm, pet.objectSchema, pet.isInvalidated, pet.isFrozen, pet.description)
        }
        use("Object.className()", "Object.sharedSchema()") { _ = (SurfacePet.className(), SurfacePet.sharedSchema()) }
        use(
            "Object.subscript(_:)", "Object.value(forKey:)", "Object.setValue(_:forKey:)", "Object.value(forKeyPath:)",
            "Object.setValue(_:forKeyPath:)"
        ) {
            pet["name"] = "Rex"
            pet.setValue("Rex", forKey: "name")
            pet.setValue("Rex", forKeyPath: "best.name")
            _ = (pet["name"], pet.value(forKey: "name"), pet.value(forKeyPath: "best.name"))
        }
        use("Object.isSameObject(as:)", "Object.freeze()", "Object.thaw()") { _ = (pet.isSameObject(as: pet), pet.freeze(), pet.thaw()) }
        use("Object.dynamicList(_:)", "Object.dynamicMutableSet(_:)", "Object.dynamicMap(_:)") {
            let list: List<DynamicObject> = pet.dynamicList("friends")
            let set: MutableSet<DynamicObject> = pet.dynamicMutableSet("rivals")
            let map: Map<String, DynamicObject?> = pet.dynamicMap("byName")
            _ = (list, set, map)
        }
        use("ObjectKeyIdentifiable.id") { _ = pet.id }
        use("EmbeddedObject.init(value:)", "EmbeddedObject.objectSchema") { _ = SurfacePlace(value: ["city": "Bern"]).objectSchema }
        use("EmbeddedObject.isSameObject(as:)", "EmbeddedObject.freeze()", "EmbeddedObject.thaw()") {
            if let home = pet.home { _ = (home.isSameObject(as: home), home.freeze(), home.thaw(), home.isInvalidated, home.realm) }
        }
        use("DynamicObject.subscript(dynamicMember:)") {
            let object = realm.dynamicObjects("SurfacePet")[0]
            object.name = "Rex"
            _ = object["name"]
        }
        use("Persisted.init(wrappedValue:)", "Persisted.init(primaryKey:)", "Persisted.init(indexed:)", "Persisted.init(originProperty:)") {
            _ = pet.admirers
        }
        use("PersistableEnum", "CustomPersistable", "FailableCustomPersistable") { _ = (pet.mood, pet.tag, pet.code) }
        use("Persisted.encode(to:)") { _ = try JSONEncoder().encode(pet.numbers) }
        addSchemas(realm, pet)
        addOlderDeclarations(realm)
    }

    private mutating func addSchemas(_ realm: Realm, _ pet: SurfacePet) {
        use("Schema.objectSchema", "Schema.subscript(_:)", "Schema.description", "Schema.==(_:_:)") {
            let schema: Schema = realm.schema
            _ = (schema.objectSchema.map(\.className), schema["SurfacePet"], schema.description, schema == schema)
        }
        use(
            "ObjectSchema.properties", "ObjectSchema.className", "ObjectSchema.objectClass", "ObjectSchema.primaryKeyProperty",
            "ObjectSchema.subscript(_:)", "ObjectSchema.description"
        ) {
            let schema: ObjectSchema = pet.objectSchema
            let type: AnyClass = schema.objectClass
            _ = (schema.properties, schema.className, type, schema.primaryKeyProperty, schema["name"], schema.description, schema == schema)
        }
        use(
            "Property.name", "Property.columnName", "Property.type", "Property.isArray", "Property.isSet", "Property.isMap",
            "Property.isIndexed", "Property.isOptional", "Property.objectClassName", "Property.description"
        ) {
            guard let property: Property = pet.objectSchema["name"] else { return }
            _ = (property.name, property.columnName, property.type, property.isArray, property.isSet, property.isMap)
            _ = (property.isIndexed, property.isOptional, property.objectClassName, property.description, property == property)
        }
        use("PropertyType") {
            let type: PropertyType = .int
            switch type {
            case .int, .bool, .float, .double, .string, .data, .any, .date, .object, .linkingObjects, .objectId, .decimal128, .UUID: break
            }
        }
    }

    mutating func addProjections(_ realm: Realm, _ card: SurfaceCard) {
        use(
            "Projection.init(projecting:)", "Projection.rootObject", "Projection.realm", "Projection.isInvalidated", "Projection.isFrozen",
            "Projection.isSameObject(as:)"
        ) {
            _ = (SurfaceCard(projecting: card.rootObject), card.realm, card.isInvalidated, card.isFrozen, card.isSameObject(as: card))
        }
        use("Projection.freeze()", "Projection.thaw()") { _ = (card.freeze(), card.thaw()) }
        use("Projected.init(_:)") { card.title = "Rex" }
        use("Projection in Realm.objects(_:)", "Projection in Results") {
            let cards: Results<SurfaceCard> = realm.objects(SurfaceCard.self)
            _ = (cards.sorted(byKeyPath: "name"), cards.filter("name == 'Rex'"))
        }
        use("Projection.observe(keyPaths:on:_:)") {
            _ = card.observe(keyPaths: ["title"], on: nil) { change in
                if case .change(let card, let properties) = change { _ = (card.title, properties.first?.name) }
            }
            _ = card.observe(keyPaths: [\SurfaceCard.title]) { _ in }
        }
        let names = card.friendNames
        use(
            "ProjectedCollection.count", "ProjectedCollection.subscript(_:)", "ProjectedCollection.first", "ProjectedCollection.last",
            "ProjectedCollection.description"
        ) {
            names[0] = "Rex"
            _ = (names.count, names[0], names.first, names.last, names.description)
        }
        use(
            "ProjectedCollection.realm", "ProjectedCollection.isInvalidated", "ProjectedCollection.isFrozen",
            "ProjectedCollection.freeze()", "ProjectedCollection.thaw()"
        ) {
            _ = (names.realm, names.isInvalidated, names.isFrozen, names.freeze(), names.thaw())
        }
        use("ProjectedCollection.observe(on:_:)", "ProjectedCollection.observe(keyPaths:on:_:)") {
            _ = names.observe(on: nil) { change in
                if case .update(let names, deletions: _, insertions: _, modifications: _) = change { _ = names.count }
            }
            _ = names.observe(keyPaths: ["name"]) { _ in }
        }
        use("RealmCollection.projectTo") { _ = card.rootObject.friends.projectTo.age }
    }
}
