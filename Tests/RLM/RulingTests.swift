import Firn
import Foundation
import RLM
import Testing

class Crate: Object {
    @Persisted var parts: MutableSet<CratePart>
}

class CratePart: EmbeddedObject {
    @Persisted var number = 0
}

class Box: Object {
    @Persisted var numbers: List<Int>
}

/// Rulings of the contract of collections on which both interfaces must agree.
@Suite struct RulingTests {
    @Test(arguments: Conformer.all)
    func `objects at indexes out of bounds are nil here, and an error in the Swift interface [D4]`(_ one: Conformer) throws {
        #expect(try one.collection().objects(at: [0, 9]) == nil && one.collection().objects(at: [0, 3])?.count == 2)
        let realm = try Realm(configuration: Realm.Configuration(inMemoryIdentifier: UUID().uuidString, objectTypes: [Box.self]))
        let box = Box(value: ["numbers": [4, 5]])
        try realm.write { realm.add(box) }
        #expect(try box.numbers.objects(at: [0, 1]) == [4, 5])
        do throws(Realm.Error) {
            _ = try box.numbers.objects(at: [0, 9])
            Issue.record("index 9, which is out of bounds, was accepted")
        } catch { #expect(error.code == .invalidInput && error.message == "Index 9 is out of bounds (must be less than 2).") }
    }

    @Test func `the example of iterating over sections and their objects works [D10]`() throws {
        let realm = try person().realm!
        let dogs = realm.allObjects("Dog")
        let sectioned = dogs.sectionedResultsSorted(usingKeyPath: "name", ascending: true) { dog in
            String(((dog as! RLMObject)["name"] as! String).prefix(1))
        }
        var told: [String] = []
        for section in sectioned {
            told.append("\(section.key):")
            for dog in section { told.append(dog["name"] as! String) }
        }
        #expect(told == ["A:", "Ada", "B:", "Bo", "F:", "Fido", "R:", "Rex"])
    }

    @Test func `sets of embedded objects are refused when a realm is opened [D16]`() async throws {
        let schema = RLMSchema(objectSchema: [
            RLMObjectSchema(
                className: "Crate", properties: [RLMProperty(name: "parts", type: .object, objectClassName: "Part", isSet: true)]),
            RLMObjectSchema(className: "Part", properties: [RLMProperty(name: "number", type: .int)], isEmbedded: true),
        ])
        do {
            _ = try memoryRealm(schema)
            Issue.record("the set was accepted")
        } catch let error as RLMError {
            #expect(
                error.code == .invalidInput
                    && error.message.contains("\"Crate.parts\" is a set of embedded objects, which sets cannot hold"))
        }
        let classes = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try Realm(configuration: Realm.Configuration(inMemoryIdentifier: UUID().uuidString, objectTypes: [Crate.self]))
        }
        #expect(said(classes).contains("MutableSet cannot hold embedded objects"))
    }

    @Test func `thaw returns nil if the owner was deleted [D17]`() throws {
        let ada = try person(owned: true), realm = ada.realm!
        let pack = ada.pack.freeze(), dogs = ada.dogs.freeze(), linking = ada.linkingObjects(ofClass: "Dog", forProperty: "owner").freeze(),
            frozen = ada.freeze()
        let results = ada.dogs.objects(where: "age > 2").freeze(),
            sections = ada.dogs.sectionedResultsSorted(usingKeyPath: "age", ascending: true) { ($0 as! RLMObject).age }.freeze()
        try realm.transaction { realm.delete(ada) }
        #expect(
            pack.thaw() == nil && dogs.thaw() == nil && linking.thaw() == nil && results.thaw() == nil && frozen.thaw() == nil
                && sections.thaw() == nil && sections[0].thaw() == nil)
        #expect(pack.count == 4 && dogs.count == 4 && frozen.name == "Ada")
    }

    @Test func `thawed collections have the version of the thread's realm, not the newest [D17]`() throws {
        let ada = try person(), realm = ada.realm!, frozen = ada.pack.freeze(), identifier = realm.configuration.inMemoryIdentifier
        realm.autorefresh = false
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            let configuration = RLMRealmConfiguration()
            configuration.inMemoryIdentifier = identifier
            let there = try! RLMRealm(configuration: configuration)
            try! there.transaction { there.delete(there.allObjects("Dog")[0]) }
            done.signal()
        }
        done.wait()
        let thawed = try #require(frozen.thaw())
        #expect(thawed.count == 4 && !thawed.isFrozen)
        realm.refresh()
        #expect(thawed.count == 3 && frozen.count == 4)
    }
}
