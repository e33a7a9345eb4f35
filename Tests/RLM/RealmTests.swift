import Firn
import FirnKit
import Foundation
import RLM
import Testing

class Cat: Object {
    @Persisted(primaryKey: true) var name = ""
    @Persisted var lives = 9
    @Persisted var friends: MutableSet<Cat>
    @Persisted var toys: List<String>
}

/// Realms of objects without classes.
@Suite struct RealmTests {
    /// A temporary folder for realms.
    private struct Place {
        private let temporary = TemporaryFolder()
        var folder: URL { temporary.url }

        func configuration(_ schema: RLMSchema? = kennelSchema()) -> RLMRealmConfiguration {
            let configuration = RLMRealmConfiguration()
            configuration.fileURL = folder.appendingPathComponent("a.firn")
            configuration.customSchema = schema
            return configuration
        }
    }

    @Test func `types without classes are created once, and can be read without their schema`() throws {
        let place = Place()
        do {
            let realm = try RLMRealm(configuration: place.configuration())
            #expect(
                realm.schema.objectSchema.map(\.className) == ["Dog", "Person", "Address", "Values"]
                    && realm.schema["Person"]?.primaryKeyProperty?.name == "name" && realm.isEmpty)
            try realm.transaction { realm.addObjects(fourDogs()) }
        }
        let realm = try RLMRealm(url: place.configuration().fileURL!)
        #expect(
            realm.schema == kennelSchemaAsStored(realm) && names(realm.allObjects("Dog")) == ["Rex", "Fido", "Bo", "Ada"] && !realm.isEmpty)
        _ = try RLMRealm(configuration: place.configuration())
        let other = RLMSchema(objectSchema: [RLMObjectSchema(className: "Dog", properties: [RLMProperty(name: "name", type: .int)])])
        do {
            _ = try RLMRealm(configuration: place.configuration(other))
            Issue.record("a changed type was accepted")
        } catch let error as RLMError {
            #expect(
                error.code == .schemaMismatch
                    && error.message.contains("Property \"Dog.name\" has been changed from \"string\" to \"int\"."))
        }
    }

    private func kennelSchemaAsStored(_ realm: RLMRealm) -> RLMSchema {
        let wanted = kennelSchema()
        for type in wanted.objectSchema {
            #expect(realm.schema[type.className]?.properties.map(\.description) == type.properties.map(\.description))
        }
        return realm.schema
    }

    @Test func `transactions can be committed or cancelled, and are rolled back if they throw`() throws {
        let realm = try memoryRealm()
        realm.beginWriteTransaction()
        #expect(realm.inWriteTransaction)
        realm.createObject("Dog", withValue: ["name": "Rex"])
        try realm.commitWriteTransaction()
        realm.beginWriteTransaction()
        realm.deleteAllObjects()
        realm.cancelWriteTransaction()
        struct Stop: Error {}
        #expect(throws: Stop.self) {
            try realm.transaction {
                realm.createObject("Dog", withValue: ["Fido"])
                throw Stop()
            }
        }
        #expect(names(realm.allObjects("Dog")) == ["Rex"] && !realm.inWriteTransaction)
        try realm.transaction { realm.deleteObjects(realm.objects("Dog")) }
        #expect(realm.allObjects("Dog").count == 0)
    }

    @Test func `objects are selected by text and by predicates`() throws {
        let realm = try person().realm!
        #expect(names(realm.objects("Dog", where: "age > %@ AND name != 'Ada'", 2)) == ["Rex", "Fido"])
        #expect(
            names(realm.objects("Dog", with: NSPredicate { dog, _ in (dog as! RLMObject).age < 2 })) == ["Bo"]
                && realm.objects("Dog").count == 4)
    }

    @Test func `realms can be frozen, thawed, refreshed, invalidated and observed`() throws {
        let ada = try person(), realm = ada.realm!, frozen = realm.freeze()
        var told = 0
        let token = realm.addNotificationBlock { notification, inner in if notification == .didChange, inner == realm { told += 1 } }
        try realm.transaction { realm.deleteObjects(realm.allObjects("Dog")) }
        #expect(
            frozen.isFrozen && frozen.allObjects("Dog").count == 4 && frozen.thaw() == realm && frozen.freeze() == frozen
                && realm.thaw() == realm && told == 1)
        #expect(!realm.refresh() && realm.autorefresh)
        try realm.transaction(withoutNotifying: [token]) { realm.createObject("Dog") }
        #expect(told == 1)
        realm.beginWriteTransaction()
        realm.createObject("Dog")
        try realm.commitWriteTransactionWithoutNotifying([token])
        #expect(told == 1)
        realm.invalidate()
        #expect(ada.isInvalidated && realm.allObjects("Person").count == 1)
    }

    @Test func `a realm can be copied to a file, and its files can be deleted`() throws {
        let place = Place(), copy = place.folder.appendingPathComponent("b.firn")
        do {
            let realm = try RLMRealm(configuration: place.configuration())
            try realm.transaction { realm.addObjects(fourDogs()) }
            try realm.writeCopy(to: copy)
            #expect(throws: RLMError.fileExists) { try realm.writeCopy(to: copy) }
        }
        #expect(RLMRealm.fileExists(for: place.configuration()))
        #expect(try RLMRealm.deleteFiles(for: place.configuration()) && !RLMRealm.fileExists(for: place.configuration()))
        let configuration = place.configuration(nil)
        configuration.fileURL = copy
        configuration.readOnly = true
        #expect(try RLMRealm(configuration: configuration).allObjects("Dog").count == 4)
    }

    @Test func `objects with and without classes show the same rows`() throws {
        let identifier = UUID().uuidString
        let typed = try Realm(configuration: Realm.Configuration(inMemoryIdentifier: identifier, objectTypes: [Cat.self]))
        let configuration = RLMRealmConfiguration()
        configuration.inMemoryIdentifier = identifier
        let realm = try RLMRealm(configuration: configuration)
        let tom = Cat(value: ["name": "Tom"])
        try typed.write { typed.add(tom) }
        let found = try #require(realm.object(withClassName: "Cat", forPrimaryKey: "Tom"))
        try realm.transaction {
            #expect(typed.isInWriteTransaction)
            found["lives"] = 8
            #expect(tom.lives == 8)
            (found["toys"] as! RLMArray<String>).add("mouse")
            tom.friends.insert(tom)
            #expect((found["friends"] as! RLMSet<RLMObject>).count == 1)
        }
        #expect(Array(tom.toys) == ["mouse"] && (found["friends"] as! RLMSet<RLMObject>)[0].isEqual(to: found))
        try typed.write {
            tom.toys.append("ball")
            #expect((found["toys"] as! RLMArray<String>).count == 2)
        }
        #expect(tom.friends.count == 1)
    }

    @Test func `setting the file of a configuration clears its in-memory identifier`() throws {
        let one = RLMRealmConfiguration()
        one.inMemoryIdentifier = "x"
        #expect(one.fileURL == nil && one.maximumNumberOfActiveVersions == 0)
        one.fileURL = URL(fileURLWithPath: "/tmp/x.firn")
        one.maximumNumberOfActiveVersions = 3
        #expect(one.inMemoryIdentifier == nil && one.maximumNumberOfActiveVersions == 3)
    }
}
