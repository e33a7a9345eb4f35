import Firn
import Foundation
import RLM
import Testing

/// Objects without classes: creating, adding, reading and changing them.
@Suite struct ObjectTests {
    private func dogSchema() -> RLMObjectSchema { kennelSchema()["Dog"]! }

    @Test func `an object keeps its values when a realm adds it`() throws {
        let rex = dog("Rex", 3, 20)
        #expect(
            rex.realm == nil && !rex.isInvalidated && !rex.isFrozen && rex.className == "Dog" && rex.objectSchema.properties.count == 10)
        #expect(
            rex.name == "Rex" && rex["teeth"] as? Int == 20 && rex["owner"] == nil && rex["weight"] as? Double == 1.5 && rex["thing"] == nil
        )
        rex["teeth"] = nil
        rex.setValue("Rexi", forKey: "name")
        rex["toys"] = ["ball", "bone"]
        (rex["toys"] as! RLMArray<String>).add("rope")
        #expect(
            rex["teeth"] == nil && rex.value(forKey: "name") as? String == "Rexi"
                && Array(rex["toys"] as! RLMArray<String>) == ["ball", "bone", "rope"])
        let realm = try memoryRealm()
        try realm.transaction { realm.add(rex) }
        #expect(
            rex.realm == realm && rex.name == "Rexi" && rex["teeth"] == nil
                && Array(rex["toys"] as! RLMArray<String>) == ["ball", "bone", "rope"])
        #expect(
            realm.allObjects("Dog")[0] == rex && rex.isEqual(to: realm.allObjects("Dog")[0])
                && Set([rex, realm.allObjects("Dog")[0]]).count == 1)
    }

    @Test func `adding an object adds all objects that it links to, also in cycles`() throws {
        let ada = RLMObject(objectSchema: kennelSchema()["Person"]!, value: ["name": "Ada", "scores": ["go": 3]]), rex = dog("Rex", 3),
            bo = dog("Bo", 1)
        rex["owner"] = ada
        ada["best"] = rex
        ada.dogs.addObjects([rex, bo, rex])
        ada.pack.add(bo)
        ada["byName"] = ["Bo": bo]
        rex["thing"] = bo
        ada["address"] = RLMObject(objectSchema: kennelSchema()["Address"]!, value: ["city": "Zürich"])
        ada["addresses"] = [RLMObject(objectSchema: kennelSchema()["Address"]!, value: ["city": "Bern"])]
        let realm = try memoryRealm()
        try realm.transaction { realm.add(ada) }
        let found = try #require(realm.object(withClassName: "Person", forPrimaryKey: "Ada"))
        #expect(
            found == ada && realm.allObjects("Dog").count == 2 && names(found.dogs) == ["Rex", "Bo", "Rex"] && names(found.pack) == ["Bo"])
        #expect((found["best"] as? RLMObject) == rex && (rex["owner"] as? RLMObject) == ada && (rex["thing"] as? RLMObject)?.name == "Bo")
        #expect(
            found.value(forKeyPath: "address.city") as? String == "Zürich" && found.value(forKeyPath: "best.owner.name") as? String == "Ada"
        )
        #expect(
            (found.value(forKeyPath: "dogs.name") as? [String]) == ["Rex", "Bo", "Rex"]
                && found.value(forKeyPath: "dogs.@count") as? Int == 3)
        let addresses = found["addresses"] as! RLMArray<RLMObject>, scores = found["scores"] as! RLMDictionary<String, Int>,
            byName = found["byName"] as! RLMDictionary<String, RLMObject?>
        #expect(addresses[0]["city"] as? String == "Bern" && scores["go"] == 3 && scores["chess"] == nil && byName["Bo"] == bo)
        #expect(
            found.description.contains("Zürich") && found.description.contains("dogs = <3 objects>")
                && rex.linkingObjects(ofClass: "Person", forProperty: "best").count == 1)
        #expect(
            names(rex.linkingObjects(ofClass: "Person", forProperty: "dogs")) == ["Ada", "Ada"]
                && bo.linkingObjects(ofClass: "Person", forProperty: "pack").count == 1)
    }

    @Test func `embedded objects are replaced, and deleted with their owner`() throws {
        let realm = try memoryRealm()
        try realm.transaction {
            let ada = realm.createObject(
                "Person", withValue: ["name": "Ada", "address": ["city": "Bern"], "addresses": [["city": "A"], ["city": "B"]]])
            ada["address"] = RLMObject(objectSchema: kennelSchema()["Address"]!, value: ["city": "Chur"])
            let addresses = ada["addresses"] as! RLMArray<RLMObject>
            addresses.add(addresses[0])
            #expect(addresses.map { $0["city"] as? String } == ["A", "B", "A"] && addresses[0] != addresses[2])
            ada["addresses"] = [["city": "C"]]
            #expect(addresses.map { $0["city"] as? String } == ["C"] && (ada["address"] as? RLMObject)?["city"] as? String == "Chur")
            #expect(realm.allObjects("Address").count == 2)
            realm.delete(ada)
            #expect(realm.allObjects("Address").count == 0)
        }
    }

    @Test func `createOrUpdate and addOrUpdate change the existing object with the key`() throws {
        let realm = try memoryRealm()
        var told: [String] = []
        try realm.transaction { realm.createObject("Person", withValue: ["name": "Ada", "town": "Bern"]) }
        let ada = try #require(realm.object(withClassName: "Person", forPrimaryKey: "Ada"))
        let token = ada.addNotificationBlock { deleted, changes, _ in
            told.append(
                deleted ? "deleted" : changes!.map { "\($0.name) \($0.previousValue ?? "-") \($0.value ?? "-")" }.joined(separator: ", "))
        }
        realm.refresh()
        try realm.transaction { realm.createOrUpdateObject("Person", withValue: ["name": "Ada", "town": "Chur"]) }
        realm.refresh()
        try realm.transaction {
            realm.addOrUpdate(
                RLMObject(objectSchema: kennelSchema()["Person"]!, value: ["name": "Ada", "town": "Genf", "dogs": [dog("Rex", 3)]]))
        }
        realm.refresh()
        #expect(realm.allObjects("Person").count == 1 && ada["town"] as? String == "Genf" && names(ada.dogs) == ["Rex"])
        try realm.transaction { realm.delete(ada) }
        realm.refresh()
        #expect(told.count == 3 && told[0] == "town Bern Chur" && told[1].contains("town Chur Genf") && told[2] == "deleted")
        #expect(ada.isInvalidated && realm.object(withClassName: "Person", forPrimaryKey: "Ada") == nil)
        token.invalidate()
    }

    @Test func `arrays have the editing methods of Objective-C`() throws {
        let ada = try person(), realm = ada.realm!, dogs = ada.dogs
        try realm.transaction {
            dogs.insert(dog("Max", 2), at: 1)
            #expect(names(dogs) == ["Rex", "Max", "Fido", "Bo", "Ada"])
            dogs.moveObject(at: 0, to: 4)
            dogs.exchangeObject(at: 0, withObjectAt: 1)
            #expect(names(dogs) == ["Fido", "Max", "Bo", "Ada", "Rex"])
            dogs.removeObject(at: 2)
            dogs.replaceObject(at: 0, with: dogs[3])
            dogs[1] = dogs[2]
            dogs.removeLastObject()
            #expect(names(dogs) == ["Rex", "Ada", "Ada"])
            dogs.removeAllObjects()
            dogs.removeLastObject()
            dogs.addObjects(realm.objects("Dog", where: "age > 2"))
        }
        #expect(names(dogs) == ["Rex", "Fido", "Ada"] && dogs.isEqual(to: dogs.freeze()) && ada["dogs"] as? RLMArray<RLMObject> !== dogs)
    }

    @Test func `values of a wrong type, unknown properties and changes outside of a transaction trap`() async {
        let other = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let ada = try person()
            ada.realm!.beginWriteTransaction()
            ada.dogs.add(ada)
        }
        #expect(said(other).contains("Object of type \"Person\" does not match RLMArray type \"Dog\"."))
        let null = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            RLMObject(objectSchema: kennelSchema()["Person"]!).dogs.addObjects([NSNull()])
        }
        #expect(said(null).contains("Invalid nil value for array of \"Dog\"."))
        let outside = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try person().dogs.removeLastObject()
        }
        #expect(said(outside).contains("Can only perform removeLastObject() in a Realm in a write transaction"))
        let value = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { dog("Rex", 1)["age"] = "old" }
        #expect(said(value).contains("Invalid value \"old\" for property \"Dog.age\", which takes int."))
        let name = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { _ = dog("Rex", 1)["wings"] }
        #expect(said(name).contains("type \"Dog\" has no property \"wings\""))
        let elements = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { dog("Rex", 1)["toys"] = [1] }
        #expect(said(elements).contains("for property \"Dog.toys\", which takes list<string>."))
    }

    @Test func `dictionaries store values by key, and report changes by key`() throws {
        let ada = try person(), realm = ada.realm!, scores = ada["scores"] as! RLMDictionary<String, Int>
        var told: [String] = []
        let token = scores.addNotificationBlock { scores, change, _ in
            told.append(change.map { "-\($0.deletions) +\($0.insertions) ~\($0.modifications)" } ?? "initial \(scores!.count)")
        }
        realm.refresh()
        try realm.transaction {
            scores["go"] = 3
            scores["chess"] = 1
        }
        realm.refresh()
        let frozen = scores.freeze()
        try realm.transaction {
            scores.setObject(4, forKey: "go")
            scores["chess"] = nil
        }
        realm.refresh()
        #expect(told == ["initial 0", "-[] +[\"chess\", \"go\"] ~[]", "-[\"chess\"] +[] ~[\"go\"]"])
        #expect(
            scores.allKeys == ["go"] && scores.allValues == [4] && frozen.allKeys == ["chess", "go"] && frozen.thaw()?.count == 1
                && scores.type == .int && scores.objectClassName == nil)
        try realm.transaction { ada["scores"] = ["a": 1] }
        #expect(scores.allKeys == ["a"] && scores.object(forKey: "a") == 1 && !scores.isInvalidated && scores.realm == realm)
        token.invalidate()
    }

    @Test func `properties of any type can have values, objects and lists`() throws {
        let ada = try person(), rex = ada.dogs[0]
        try ada.realm!.transaction { rex["thing"] = 3 }
        #expect(rex["thing"] as? Int == 3)
        try ada.realm!.transaction { rex["thing"] = ada }
        #expect(rex["thing"] as? RLMObject == ada)
        // The links form a cycle, and the description ends.
        try ada.realm!.transaction { ada["best"] = rex }
        #expect(ada.description.contains("maximum depth exceeded"))
        try ada.realm!.transaction { rex["thing"] = ["a", 1, NSNull()] as [Any] }
        let list = try #require(rex["thing"] as? [Any])
        #expect(list.count == 3 && list[0] as? String == "a" && list[2] is NSNull)
    }

    @Test func `sets of any values can have objects and values`() throws {
        let ada = try person(), realm = ada.realm!
        try realm.transaction {
            let any = realm.createObject("Values")["anySet"] as! RLMSet<Any>
            any.addObjects([ada, 1, "a", ada, NSNull(), 1.0])
            #expect(any.count == 4 && any.contains(ada) && any.contains(1) && any.contains(NSNull()) && !any.contains(ada.dogs[0]))
            #expect(any.contains { ($0 as? RLMObject) == ada })
            any.remove(ada)
            #expect(any.count == 3 && !any.contains(ada))
        }
    }

    @Test func `adding embedded objects or objects of an unknown type to a realm traps`() async {
        let added = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try memoryRealm()
            realm.beginWriteTransaction()
            realm.add(RLMObject(objectSchema: kennelSchema()["Address"]!))
        }
        #expect(said(added).contains("\"Address\" is embedded: set it as a property of its owner instead."))
        let created = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try memoryRealm()
            realm.beginWriteTransaction()
            realm.createObject("Address")
        }
        #expect(said(created).contains("\"Address\" is embedded: set it as a property of its owner instead."))
        let unknown = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try memoryRealm().allObjects("Wolf")
        }
        #expect(
            said(unknown).contains(
                "Object type \"Wolf\" is not managed by the Realm: its schema has [\"Dog\", \"Person\", \"Address\", \"Values\"]."))
        let nowhere = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try memoryRealm()
            realm.beginWriteTransaction()
            realm.add(RLMObject(objectSchema: RLMObjectSchema(className: "Wolf", properties: [RLMProperty(name: "age", type: .int)])))
        }
        #expect(said(nowhere).contains("Object type \"Wolf\" is not managed by the Realm"))
    }

    @Test func `collections and sections have a description`() throws {
        let ada = try person()
        #expect(
            ada.dogs.description.hasPrefix("RLMArray<Dog> (\n\t[0] Dog {\n\t\t\tname = Rex;")
                || ada.dogs.description.hasPrefix("RLMArray<Dog> (\n\t[0] Dog {\n\t\tname = Rex;"))
        #expect(
            try intSet([2, 1]).description == "RLMSet<int> (\n\t[0] 1,\n\t[1] 2\n)"
                && intSet(Array(0..<102), .unmanaged).description.hasSuffix("... 2 objects skipped.\n)"))
        let sections = try intSet([2, 1]).sectionedResultsSorted(usingKeyPath: "self", ascending: true) { ($0 as! Int) % 2 }
        #expect(
            sections[0].description == "RLMSection 1 (\n\t[0] 1\n)"
                && sections.description == "RLMSectionedResults (\n\tRLMSection 1 (\n\t\t[0] 1\n\t),\n\tRLMSection 0 (\n\t\t[0] 2\n\t)\n)")
    }

    @Test func `a collection object shows the values that are assigned to its property, also its own`() throws {
        let ada = try person(), realm = ada.realm!, dogs = ada.dogs
        try realm.transaction {
            ada["dogs"] = [dogs[1]]
            #expect(names(dogs) == ["Fido"] && names(ada.dogs) == ["Fido"])
            ada["dogs"] = ada.dogs
            ada["pack"] = Set(ada.pack)
            ada["pack"] = ada.pack
            #expect(names(dogs) == ["Fido"] && ada.pack.count == 4)
        }
        #expect(realm.freeze().allObjects("Person")[0].dogs.count == 1)
    }
}
