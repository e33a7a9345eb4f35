import Firn
import Foundation
import Testing

@Suite struct ManagedTests {
    @Test func `an object that is added to a realm is stored, and reads and writes the realm`() throws {
        let realm = try memoryRealm()
        let dog = Dog(value: ["name": "Rex", "age": 3, "weight": 30.5])
        try realm.write { realm.add(dog) }
        #expect(dog.realm == realm && dog.name == "Rex" && dog.age == 3 && dog.weight == 30.5)
        #expect(realm.objects(Dog.self).count == 1)
        try realm.write {
            dog.age += 1
            dog.name = "Rexy"
            #expect(dog.age == 4 && realm.objects(Dog.self)[0].name == "Rexy")
        }
        #expect(realm.objects(Dog.self)[0].age == 4 && dog.name == "Rexy")
    }

    @Test func `values of every kind round trip`() throws {
        let realm = try memoryRealm()
        let set = Everything()
        set.optBool = false; set.optInt = .min; set.optInt8 = -8; set.optFloat = -0.5; set.optDouble = .infinity
        set.optString = "ö"; set.optData = Data(); set.optDate = Date(timeIntervalSince1970: -1.5); set.optDecimal = -3.25
        set.optObjectId = ObjectId.generate(); set.optUuid = UUID()
        let unset = Everything()
        let expected = [set, unset].map { one in Mirror(reflecting: one).children.count > 0 ? snapshot(one) : [] }
        try realm.write { realm.add([set, unset]) }
        #expect([set, unset].map(snapshot) == expected)
        #expect(realm.objects(Everything.self).map(snapshot) == expected)
    }

    private func snapshot(_ one: Everything) -> [String] {
        [
            "bool", "int", "int8", "int16", "int32", "int64", "float", "double", "string", "data", "date", "decimal", "objectId", "uuid",
            "optBool", "optInt", "optInt8",
            "optFloat", "optDouble", "optString", "optData", "optDate", "optDecimal", "optObjectId", "optUuid",
        ].map { "\($0): \(one[$0] ?? "nil")" }
    }

    @Test func `links, lists, sets and embedded objects are stored with their object, also in cycles`() throws {
        let realm = try memoryRealm()
        let person = Person(value: ["id": 1, "name": "Ada", "address": ["street": "Gasse 1"]] as [String: Any])
        let dog = Dog(value: ["name": "Rex", "toys": ["ball", "bone"]] as [String: Any])
        dog.owner = person
        person.best = dog
        person.dogs.append(objectsIn: [dog, dog, Dog()])
        dog.friends.insert(dog)
        try realm.write { realm.add(person) }
        #expect(realm.objects(Dog.self).count == 2 && realm.objects(Person.self).count == 1)
        let stored = realm.objects(Person.self)[0]
        #expect(stored.best?.name == "Rex" && stored.best?.owner == stored && stored.address?.street == "Gasse 1")
        #expect(stored.dogs.map(\.name) == ["Rex", "Rex", "nameless"] && Array(stored.dogs[0].toys) == ["ball", "bone"])
        #expect(stored.dogs[0].friends.contains(dog))
        #expect(person.dogs.count == 3 && person.dogs == stored.dogs)
    }

    @Test func `objects are found and updated by primary key`() throws {
        let realm = try memoryRealm()
        try realm.write { for i in 0..<1000 { realm.create(Person.self, value: ["id": i * 7 % 1000, "name": "p\(i)"]) } }
        #expect(realm.object(ofType: Person.self, forPrimaryKey: 7)?.name == "p1")
        #expect(realm.object(ofType: Person.self, forPrimaryKey: 1000) == nil)
        try realm.write {
            let other = Person(value: ["id": 7, "name": "new", "age": 3] as [String: Any])
            realm.add(other, update: .modified)
            #expect(other.realm == realm)
        }
        #expect(realm.objects(Person.self).count == 1000)
        #expect(realm.object(ofType: Person.self, forPrimaryKey: 7)?.name == "new")
    }

    @Test func `results can be filtered and sorted, and follow changes`() throws {
        let realm = try memoryRealm()
        try realm.write { for i in 0..<5000 { realm.add(Dog(value: ["name": "d\(i % 10)", "age": i, "weight": Double(5000 - i)])) } }
        let some = realm.objects(Dog.self).filter("name == 'd3' AND age < %@", 100)
        #expect(some.map(\.age) == stride(from: 3, to: 100, by: 10).map { $0 })
        let sorted = some.sorted(by: [SortDescriptor(keyPath: "weight")])
        #expect(sorted.first?.age == 93)
        var sum = 0
        for dog in realm.objects(Dog.self) { sum += dog.age }
        #expect(sum == 4999 * 5000 / 2)
        try realm.write { realm.delete(some[0]) }
        #expect(some.count == 9 && sorted.last?.age == 13 && realm.objects(Dog.self).count == 4999)
        try realm.write { for dog in some { dog.age += 1000 } }
        #expect(some.count == 0)
    }

    @Test func `a transaction that throws or is cancelled changes nothing`() throws {
        struct Stop: Error {}
        let realm = try memoryRealm()
        try realm.write { realm.add(Dog(value: ["age": 1])) }
        let dog = realm.objects(Dog.self)[0]
        #expect(throws: Stop.self) {
            try realm.write {
                dog.age = 5
                realm.add(Dog())
                throw Stop()
            }
        }
        #expect(dog.age == 1 && realm.objects(Dog.self).count == 1)
        realm.beginWrite()
        realm.deleteAll()
        #expect(realm.objects(Dog.self).count == 0)
        realm.cancelWrite()
        #expect(dog.age == 1)
    }

    @Test func `deleting an object clears links to it and deletes its embedded objects`() throws {
        let realm = try memoryRealm()
        let person = Person(value: ["id": 1, "address": ["city": "Bern"]] as [String: Any])
        let dog = Dog(value: ["name": "Rex"])
        person.best = dog
        person.dogs.append(objectsIn: [dog, Dog(), dog])
        try realm.write { realm.add(person) }
        try realm.write { realm.delete(dog) }
        #expect(dog.isInvalidated && person.best == nil && person.dogs.count == 1)
        try realm.write { realm.delete(person) }
        #expect(realm.objects(Person.self).isEmpty && realm.objects(Dog.self).count == 1)
    }

    @Test func `a frozen object does not change, and can be read on any thread`() throws {
        let realm = try memoryRealm()
        let dog = Dog(value: ["name": "Rex", "age": 1])
        try realm.write { realm.add(dog) }
        nonisolated(unsafe) let frozen = dog.freeze()
        try realm.write { dog.age = 2 }
        #expect(frozen.isFrozen && frozen.age == 1 && dog.age == 2)
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            #expect(frozen.age == 1 && frozen.name == "Rex")
            done.signal()
        }
        done.wait()
        #expect(frozen.thaw()?.age == 2)
    }
}
