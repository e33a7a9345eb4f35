import Dispatch
import Firn
import Foundation
import Synchronization
import Testing

private final class DogCard: Projection<Dog> {
    @Projected(\Dog.name) var title
    @Projected(\Dog.owner?.name) var ownerName
    @Projected(\Dog.owner?.address?.city) var city
    @Projected(\Dog.toys) var toys
}

private final class PersonCard: Projection<Person> {
    @Projected(\Person.name) var name
    @Projected(\Person.dogs.projectTo.name) var dogNames: ProjectedCollection<String>
}

@Suite struct HandOverTests {
    private func filled() throws -> Realm {
        let realm = try memoryRealm([Person.self])
        try realm.write {
            let ada = realm.create(Person.self, value: ["id": 1, "name": "Ada", "address": ["city": "Bern"]] as [String: Any])
            for i in 0..<20 {
                let dog = realm.create(
                    Dog.self, value: ["name": "d\(i)", "age": i, "weight": Double(i), "toys": ["t\(i)"]] as [String: Any])
                dog.owner = i % 2 == 0 ? ada : nil
                ada.dogs.append(dog)
                dog.friends.insert(dog)
            }
        }
        return realm
    }

    @Test func `projections read and write the properties of their objects`() throws {
        let realm = try filled()
        let cards = realm.objects(DogCard.self)
        #expect(cards.count == 20 && cards[3].title == "d3" && cards.map(\.title) == (0..<20).map { "d\($0)" })
        #expect(cards[2].ownerName == "Ada" && cards[2].city == "Bern" && cards[3].city == nil && cards[4].toys.first == "t4")
        try realm.write { cards[3].title = "changed" }
        #expect(realm.objects(Dog.self)[3].name == "changed" && cards[3].freeze().title == "changed" && cards[3].freeze().isFrozen)
        #expect(cards.filter("age > 15").map(\.title) == ["d16", "d17", "d18", "d19"])
        #expect(cards.sorted(by: [SortDescriptor(keyPath: "age", ascending: false)])[0].title == "d19")
        #expect(cards[1] == DogCard(projecting: realm.objects(Dog.self)[1]) && cards[1] != cards[2])
        let person = PersonCard(projecting: realm.objects(Person.self)[0])
        #expect(person.dogNames.count == 20 && Array(person.dogNames.prefix(2)) == ["d0", "d1"])
    }

    @Test func `a reference can be resolved in a realm of another thread`() async throws {
        let realm = try filled(), configuration = realm.configuration
        let dog = ThreadSafeReference(to: realm.objects(Dog.self)[7]),
            dogs = ThreadSafeReference(to: realm.objects(Dog.self).filter("age < 5"))
        let list = ThreadSafeReference(to: realm.objects(Person.self)[0].dogs),
            set = ThreadSafeReference(to: realm.objects(Dog.self)[7].friends)
        let gone = ThreadSafeReference(to: realm.objects(Dog.self)[8])
        try realm.write { realm.delete(realm.objects(Dog.self)[8]) }
        let queue = DispatchQueue(label: "there")
        try queue.sync {
            let there = try Realm(configuration: configuration, queue: queue)
            let dog = there.resolve(dog)
            #expect(dog?.name == "d7" && dog?.realm == there && there.resolve(dogs)?.count == 5 && there.resolve(list)?.count == 19)
            #expect(there.resolve(set)?.count == 1 && there.resolve(gone) == nil && gone.isInvalidated)
            try there.write { dog!.name = "there" }
        }
        realm.refresh()
        #expect(realm.objects(Dog.self)[7].name == "there")
    }

    @Test func `a thread-safe variable resolves its object on another thread`() throws {
        let realm = try filled()
        final class Box: Sendable { let dog: ThreadSafe<Dog>; init(_ dog: Dog) { self.dog = ThreadSafe(wrappedValue: dog) } }
        let box = Box(realm.objects(Dog.self)[3])
        #expect(box.dog.wrappedValue?.realm == realm)
        let name = Mutex<String?>(nil)
        let thread = Thread { name.withLock { $0 = box.dog.wrappedValue?.name } }
        thread.start()
        while !thread.isFinished { usleep(1000) }
        #expect(name.withLock { $0 } == "d3")
    }

    @Test func `a thread-safe variable shows what another thread has written`() throws {
        let realm = try filled()
        final class Box: Sendable { let dog: ThreadSafe<Dog>; init(_ dog: Dog) { self.dog = ThreadSafe(wrappedValue: dog) } }
        let box = Box(realm.objects(Dog.self)[3])
        realm.autorefresh = false
        func elsewhere(_ change: @escaping @Sendable (Dog) -> Void) {
            let thread = Thread {
                guard let dog = box.dog.wrappedValue else { return }
                try? dog.realm?.write { change(dog) }
            }
            thread.start()
            while !thread.isFinished { usleep(1000) }
        }
        elsewhere { $0.name = "written" }
        #expect(box.dog.wrappedValue?.name == "written")
        realm.beginWrite()
        #expect(box.dog.wrappedValue?.name == "written")
        realm.cancelWrite()
        elsewhere { $0.realm?.delete($0) }
        #expect(box.dog.wrappedValue == nil)
    }

    @Test func `snapshots can be read by many tasks concurrently`() async throws {
        let realm = try filled()
        try realm.write { for i in 20..<5000 { realm.create(Dog.self, value: ["name": "d\(i)", "age": i, "weight": Double(i)]) } }
        let dogs = Snapshot(realm.objects(Dog.self)), dog = Snapshot(realm.objects(Dog.self)[5]),
            list = Snapshot(realm.objects(Person.self)[0].dogs)
        try realm.write { realm.delete(realm.objects(Dog.self)) }
        #expect(dog.value.name == "d5" && list.value.count == 20 && dogs.value.isFrozen)
        let sums = await withTaskGroup(of: [Int].self) { group in
            for start in 0..<8 {
                group.addTask {
                    var sum = 0, weight = 0.0, names = 0
                    for i in 0..<5000 {
                        let dog = dogs.value[(i * 7 + start * 600) % 5000]
                        sum += dog.age
                        weight += dog.weight
                        names += dog.name == "d\(dog.age)" ? 1 : 0
                    }
                    for dog in dogs.value { sum += dog.age }
                    return [sum, Int(weight), names]
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(sums.count == 8 && sums.allSatisfy { $0 == [24_995_000, 12_497_500, 5000] })
    }

    @Test func `detached copies keep the links between their objects`() throws {
        let realm = try filled()
        let ada = realm.objects(Person.self)[0].detached()
        #expect(ada.realm == nil && ada.dogs.count == 20 && ada.dogs[0].owner === ada && ada.address?.city == "Bern")
        #expect(ada.dogs[4].friends.contains(ada.dogs[4]) && Array(ada.dogs[4].toys) == ["t4"])
        ada.name = "copy"
        #expect(realm.objects(Person.self)[0].name == "Ada")
        try realm.write { realm.deleteAll() }
        let again = Person(value: ["id": 2])
        #expect(again.detached() === again)
        #expect(ada.dogs[19].name == "d19")
    }

    @Test func `a chain of a hundred thousand links can be detached`() throws {
        let realm = try memoryRealm([Link.self])
        try realm.write {
            var next: Link?
            for _ in 0..<100_000 {
                let link = realm.create(Link.self)
                link.next = next
                next = link
            }
        }
        var link: Link? = realm.objects(Link.self).last!.detached()
        var length = 0
        while let one = link {
            length += 1
            link = one.next
            one.next = nil
        }
        #expect(length == 100_000)
    }

    @Test func `cascading deletion deletes objects without other links to them`() throws {
        let realm = try memoryRealm([Person.self])
        try realm.write {
            let a = realm.create(
                Person.self, value: ["id": 1, "dogs": [["name": "own"], ["name": "shared"]], "address": ["street": "x"]] as [String: Any])
            a.best = realm.create(Dog.self, value: ["name": "best"])
            a.best?.friends.insert(realm.create(Dog.self, value: ["name": "friend of best"]))
            a.dogs[1].friends.insert(realm.create(Dog.self, value: ["name": "friend of shared"]))
            a.dogs[0].owner = a
            let b = realm.create(Person.self, value: ["id": 2])
            b.dogs.append(a.dogs[1])
            realm.delete(a, cascading: true)
            #expect(
                Set(realm.objects(Dog.self).map(\.name)) == ["shared", "friend of shared"] && realm.objects(Person.self).map(\.id) == [2])
            realm.delete(b, cascading: false)
        }
        #expect(realm.objects(Dog.self).count == 2 && realm.dynamicObjects("Address").count == 0)
    }

    @Test func `cascading deletion follows values of any type, and keeps objects that others link to`() throws {
        let realm = try memoryRealm()
        try realm.write {
            func dog(_ name: String) -> Dog { realm.create(Dog.self, value: ["name": name]) }
            let gone = realm.create(Bag.self), stays = realm.create(Bag.self), shared = dog("shared"), deep = dog("deep")
            gone.any = .object(dog("own"))
            gone.many.append(objectsIn: [.object(shared), .fromArray([.fromDictionary(["a": .object(deep)]), .object(dog("own too"))])])
            stays.any = .fromDictionary(["x": .fromArray([1, .object(shared)])])
            stays.named["y"] = .object(deep)
            realm.delete(gone, cascading: true)
            #expect(Set(realm.objects(Dog.self).map(\.name)) == ["shared", "deep"] && realm.objects(Bag.self).count == 1)
        }
    }

    @Test func `object identities are those of their rows`() throws {
        let realm = try memoryRealm([Tagged.self])
        let first = realm.objects(Tagged.self)
        try realm.write { for _ in 0..<3 { realm.create(Tagged.self) } }
        #expect(first[0].id == first[0].freeze().id && Set(first.map(\.id)).count == 3)
        let two = [Tagged(), Tagged()]
        #expect(two[0].id != two[1].id)
        #expect(first[0].isSameObject(as: first[0].freeze()) && !first[0].isSameObject(as: first[1]))
    }
}

private class Link: Object {
    @Persisted var next: Link?
}

private final class Tagged: Object, ObjectKeyIdentifiable {
    @Persisted var name = ""
}

private class Bag: Object {
    @Persisted var any: AnyRealmValue
    @Persisted var many: List<AnyRealmValue>
    @Persisted var named: Map<String, AnyRealmValue>
}
