import Firn
import Foundation
import Testing

/// Rulings for cases in which the documentation and the code of Realm differ.
@Suite struct RulingTests {
    @Test func `freezing within a transaction gives the state at its beginning [D7, R28]`() throws {
        let realm = try memoryRealm(), kennel = Doghouse(value: ["name": "k"])
        try realm.write {
            kennel.list.append(objectsIn: fourPups())
            realm.add(kennel)
        }
        let pups = realm.objects(Pup.self), old = kennel.list[0]
        try realm.write {
            old.age = 100
            kennel.list.removeLast()
            kennel.set.insert(old)
            #expect(old.freeze().age == 3 && old.age == 100)
            #expect(kennel.list.freeze().count == 4 && kennel.list.count == 3 && kennel.list.freeze()[0].age == 3)
            #expect(
                kennel.set.freeze().isEmpty && pups.filter("age == 100").freeze().isEmpty && realm.freeze().objects(Pup.self).count == 4)
            let one = try old.tryFreeze(), all = try kennel.list.tryFreeze()
            #expect(one.isFrozen && one.age == 3 && all.count == 4)
            #expect(Snapshot(old).value.age == 3)
        }
        #expect(old.freeze().age == 100 && kennel.list.freeze().count == 3)
    }

    @Test func `new objects of a transaction cannot be frozen in it [D7]`() async throws {
        let realm = try memoryRealm()
        try realm.write {
            let kennel = realm.create(Doghouse.self, value: ["list": fourPups()])
            #expect(throws: Realm.Error.invalidInput) { _ = try kennel.tryFreeze() }
            #expect(throws: Realm.Error.invalidInput) { _ = try kennel.list.tryFreeze() }
            #expect(throws: Realm.Error.invalidInput) { _ = try kennel.list[0].tryFreeze() }
        }
        #expect(throws: Realm.Error.invalidInput) { _ = try Pup().tryFreeze() }
        #expect(throws: Realm.Error.invalidInput) { _ = try List<Int>().tryFreeze() }
        let gone = realm.objects(Pup.self)[0]
        try realm.write { realm.delete(gone) }
        #expect(throws: Realm.Error.invalidInput) { _ = try gone.tryFreeze() }
        let trap = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try memoryRealm()
            try realm.write { _ = realm.create(Pup.self).freeze() }
        }
        #expect(said(trap).contains("Cannot freeze an object in the same write transaction as it was created in"))
    }

    @Test func `the initial notification is the first one, and is sent once [D9]`() throws {
        let realm = try memoryRealm()
        try realm.write { realm.add(fourPups()) }
        let pups = realm.objects(Pup.self)
        var received: [String] = []
        let token = pups.observe { change in
            switch change {
            case .initial: received.append("initial")
            case .update: received.append("update")
            case .error: received.append("error")
            }
        }
        for age in 0..<3 {
            realm.refresh()
            try realm.write { pups[0].age = 50 + age }
        }
        realm.refresh()
        #expect(received == ["initial", "update", "update", "update"])
        withExtendedLifetime(token) {}
    }

    @Test func `the maximum is the greatest value, and the minimum the least [D15]`() throws {
        let realm = try memoryRealm(), kennel = Doghouse(value: ["set": fourPups(), "list": fourPups()])
        try realm.write { realm.add(kennel) }
        #expect(kennel.set.max(ofProperty: "age") == 7 as Int? && kennel.set.min(ofProperty: "age") == 1 as Int?)
        #expect(kennel.list.max(ofProperty: "weight") == 3.5 as Double? && kennel.list.min(of: \.weight) == 0.5)
    }

    @Test func `block predicates, #Predicate and text select the same objects [D19]`() throws {
        let realm = try memoryRealm()
        try realm.write { realm.add(fourPups()) }
        let pups = realm.objects(Pup.self)
        let block = NSPredicate { pup, _ in (pup as! Pup).age > 2 && (pup as! Pup).name != "Ada" }
        let macro = #Predicate<Pup> { $0.age > 2 && $0.name != "Ada" }
        #expect(pups.filter(block).map(\.name) == ["Rex", "Fido"])
        #expect(pups.filter(macro).map(\.name) == ["Rex", "Fido"])
        #expect(pups.filter("age > %@ AND name != %@", 2, "Ada").map(\.name) == ["Rex", "Fido"])
        #expect(pups.index(matching: block) == 0 && pups.index(matching: "age == 7") == 1)
    }

    @Test func `object(at:) of a section returns the object, or an error if the index is out of bounds [X04]`() throws {
        let realm = try memoryRealm()
        try realm.write { realm.add(fourPups()) }
        let section = realm.objects(Pup.self).sectioned(by: \.age)[2]
        #expect(try section.object(at: 1) == section[1])
        #expect(try section.freeze().object(at: 0).isFrozen)
        #expect(throws: Realm.Error.invalidInput) { _ = try section.object(at: 2) }
        #expect(throws: Realm.Error.invalidInput) { _ = try section.object(at: -1) }
    }

    // MARK: Classes and files that differ

    @Test func `opening a realm with a listed class that differs from the stored type is an error`() throws {
        let folder = try RealmFolder()
        do {
            let realm = try Realm(configuration: folder.configuration([OldShape.self]))
            try realm.write { realm.create(OldShape.self) }
        }
        #expect { _ = try Realm(configuration: folder.configuration([NewShape.self])) } throws: { error in
            (error as? Realm.Error)?.code == .schemaMismatch && "\(error)".contains("Property \"Shape.count\" has been added")
                && "\(error)".contains("schemaVersion")
        }
        // The same if the file is already open by code that did not list the class.
        let open = try Realm(configuration: folder.configuration())
        #expect(throws: Realm.Error.schemaMismatch) { _ = try Realm(configuration: folder.configuration([NewShape.self])) }
        withExtendedLifetime(open) {}
    }

    @Test func `using a class that is not listed and differs from the stored type traps with advice`() async {
        let trap = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let folder = try RealmFolder()
            do {
                let realm = try Realm(configuration: folder.configuration([OldShape.self]))
                try realm.write { realm.create(OldShape.self) }
            }
            _ = try Realm(configuration: folder.configuration()).objects(NewShape.self).count
        }
        #expect(
            said(trap).contains("Property \"Shape.count\" has been added") && said(trap).contains("list the classes in its objectTypes"))
    }
}

class OldShape: Object {
    @Persisted var name = ""
    override class func _realmObjectName() -> String? { "Shape" }
}

class NewShape: Object {
    @Persisted var name = ""
    @Persisted var count = 0
    override class func _realmObjectName() -> String? { "Shape" }
}
