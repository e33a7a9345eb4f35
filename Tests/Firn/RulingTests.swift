import Firn
import Foundation
import Testing

/// Where Realm's pages and its code differ, what is right here.
@Suite struct RulingTests {
    @Test func `D7 R28 freezing within a transaction gives the state when it began`() throws {
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

    @Test func `D7 what is new in a transaction cannot be frozen in it`() async throws {
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

    @Test func `D9 the initial notification comes once, and first`() throws {
        let realm = try memoryRealm()
        try realm.write { realm.add(fourPups()) }
        let pups = realm.objects(Pup.self)
        var told: [String] = []
        let token = pups.observe { change in
            switch change {
            case .initial: told.append("initial")
            case .update: told.append("update")
            case .error: told.append("error")
            }
        }
        for age in 0..<3 {
            realm.refresh()
            try realm.write { pups[0].age = 50 + age }
        }
        realm.refresh()
        #expect(told == ["initial", "update", "update", "update"])
        withExtendedLifetime(token) {}
    }

    @Test func `D15 the maximum is the greatest value, the minimum the least`() throws {
        let realm = try memoryRealm(), kennel = Doghouse(value: ["set": fourPups(), "list": fourPups()])
        try realm.write { realm.add(kennel) }
        #expect(kennel.set.max(ofProperty: "age") == 7 as Int? && kennel.set.min(ofProperty: "age") == 1 as Int?)
        #expect(kennel.list.max(ofProperty: "weight") == 3.5 as Double? && kennel.list.min(of: \.weight) == 0.5)
    }

    @Test func `D19 block predicates, #Predicate and text choose the same`() throws {
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

    @Test func `X04 the object at a place of a section, or an error`() throws {
        let realm = try memoryRealm()
        try realm.write { realm.add(fourPups()) }
        let section = realm.objects(Pup.self).sectioned(by: \.age)[2]
        #expect(try section.object(at: 1) == section[1])
        #expect(try section.freeze().object(at: 0).isFrozen)
        #expect(throws: Realm.Error.invalidInput) { _ = try section.object(at: 2) }
        #expect(throws: Realm.Error.invalidInput) { _ = try section.object(at: -1) }
    }

    // MARK: Classes and files that differ

    @Test func `a class that another shape of is stored is an error of opening, where it is listed`() throws {
        let place = try Place()
        do {
            let realm = try Realm(configuration: place.configuration([OldShape.self]))
            try realm.write { realm.create(OldShape.self) }
        }
        #expect { _ = try Realm(configuration: place.configuration([NewShape.self])) } throws: { error in
            (error as? Realm.Error)?.code == .schemaMismatch && "\(error)".contains("Property \"Shape.count\" has been added")
                && "\(error)".contains("schemaVersion")
        }
        // Also where the file is open already, by code that did not list it.
        let open = try Realm(configuration: place.configuration())
        #expect(throws: Realm.Error.schemaMismatch) { _ = try Realm(configuration: place.configuration([NewShape.self])) }
        withExtendedLifetime(open) {}
    }

    @Test func `a class that is not listed, and does not fit, traps at its first use with what to do`() async {
        let trap = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let place = try Place()
            do {
                let realm = try Realm(configuration: place.configuration([OldShape.self]))
                try realm.write { realm.create(OldShape.self) }
            }
            _ = try Realm(configuration: place.configuration()).objects(NewShape.self).count
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
