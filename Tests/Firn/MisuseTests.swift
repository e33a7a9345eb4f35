import Dispatch
import Firn
import Foundation
import Testing

/// Wrong use of the library ends the process with a message.
@Suite struct MisuseTests {
    private func check(_ result: ExitTest.Result?, _ message: String, sourceLocation: SourceLocation = #_sourceLocation) {
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains(message), "\(text.prefix(500))", sourceLocation: sourceLocation)
    }

    @Test func `changes outside of a transaction trap`() async {
        let property = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let dog = try DogRealm().dog
            dog.age = 2
        }
        check(property, "Cannot modify Dog objects outside of a write transaction: do it within realm.write { … }.")
        let list = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { try DogRealm().dog.toys.append("x") }
        check(list, "outside of a write transaction")
        let add = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { try DogRealm().realm.add(Dog()) }
        check(add, "Cannot add objects outside of a write transaction")
        let delete = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let all = try DogRealm(); all.realm.delete(all.dog)
        }
        check(delete, "Cannot delete objects outside of a write transaction")
        let commit = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { try DogRealm().realm.commitWrite() }
        check(commit, "Can't commit a non-existing write transaction")
        let cancel = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { try DogRealm().realm.cancelWrite() }
        check(cancel, "Can't cancel a non-existing write transaction")
        let nested = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try DogRealm().realm
            realm.beginWrite()
            realm.beginWrite()
        }
        check(nested, "The Realm is already in a write transaction")
        let readOnly = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let folder = try RealmFolder()
            do { _ = try Realm(configuration: folder.configuration([Dog.self])) }
            try Realm(configuration: .init(fileURL: folder.file(), readOnly: true)).beginWrite()
        }
        check(readOnly, "Can't perform transactions on read-only Realms.")
    }

    @Test func `access from another thread, queue or actor traps`() async {
        let thread = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            nonisolated(unsafe) let dog = try DogRealm().dog
            let done = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                _ = dog.name
                done.signal()
            }
            done.wait()
        }
        check(thread, "Realm accessed from incorrect thread: open another Realm on this thread, or pass on a frozen copy")
        let queue = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let queue = DispatchQueue(label: "kennel")
            let realm = try queue.sync { try Realm(configuration: .init(inMemoryIdentifier: "x", objectTypes: [Dog.self]), queue: queue) }
            _ = realm.objects(Dog.self)
        }
        check(queue, "it was opened for the queue \"kennel\"")
        let actor = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let held = try await DogRealm.onMain()
            await Task.detached { _ = held.realm.objects(Dog.self).count }.value
        }
        check(actor, "This one belongs to the main thread, with the main queue and the main actor.")
        let desk = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            actor Desk {
                func open() async throws -> DogRealm.Held {
                    DogRealm.Held(realm: try await Realm.open(configuration: .init(inMemoryIdentifier: "desk", objectTypes: [Dog.self])))
                }
            }
            let desk = Desk(), held = try await desk.open()
            _ = held.realm.objects(Dog.self).count
            _ = desk
        }
        // The message is the Swift runtime's own.
        #expect(desk != nil)
        let results = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            nonisolated(unsafe) let dogs = try DogRealm().realm.objects(Dog.self)
            let done = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                _ = dogs.count
                done.signal()
            }
            done.wait()
        }
        check(results, "Realm accessed from incorrect thread")
    }

    @Test func `tokens of other realms, links as sort keys and impossible polygons trap`() async {
        let token = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let a = try DogRealm(), b = try DogRealm(), token = b.realm.objects(Dog.self).observe { _ in }
            try a.realm.write(withoutNotifying: [token]) {}
        }
        check(token, "Incorrect Realm: only notifications for the Realm being modified can be skipped.")
        let commit = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let a = try DogRealm(), token = a.realm.objects(Dog.self).observe(on: DispatchQueue(label: "kennel")) { _ in }
            a.realm.beginWrite()
            try a.realm.commitWrite(withoutNotifying: [token])
        }
        check(commit, "Incorrect Realm")
        let sort = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try DogRealm().realm.objects(Dog.self).sorted(byKeyPath: "owner")
        }
        check(
            sort,
            "Cannot use sorted with this key path: property \"owner\" of type \"object\" cannot be the final property in the key path")
        let shape = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let bow = GeoPolygon(outerRing: [(0, 0), (1, 1), (0, 1), (1, 0)])!
            _ = try memoryRealm([GeoInn.self, GeoInnPoint.self]).objects(GeoInn.self).where { $0.place.geoWithin(bow) }
        }
        check(shape, "this is not a polygon: edges 0 and 2 of the outline cross")
    }

    @Test func `access to deleted objects and invalidated realms traps`() async {
        let deleted = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let all = try DogRealm()
            try all.realm.write { all.realm.delete(all.dog) }
            _ = all.dog.name
        }
        check(deleted, "Object has been deleted or invalidated.")
        let again = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let all = try DogRealm()
            try all.realm.write {
                all.realm.delete(all.dog)
                all.realm.delete(all.dog)
            }
        }
        check(again, "Object has been deleted or invalidated.")
        let added = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let all = try DogRealm()
            try all.realm.write {
                all.realm.delete(all.dog)
                all.realm.add(all.dog)
            }
        }
        check(added, "Adding a deleted or invalidated object to a Realm is not permitted")
        let invalidated = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let all = try DogRealm()
            all.realm.invalidate()
            _ = all.dog.age
        }
        check(invalidated, "Object has been deleted or invalidated.")
        let frozen = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let all = try DogRealm()
            try all.realm.write { _ = all.realm.create(Dog.self).freeze() }
        }
        check(frozen, "Cannot freeze an object in the same write transaction as it was created in.")
    }

    @Test func `a realm that is invalidated within a loop traps`() async {
        let results = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let all = try DogRealm()
            try all.realm.write { for _ in 0..<3 { all.realm.add(Dog()) } }
            for _ in all.realm.objects(Dog.self) { all.realm.invalidate() }
        }
        check(results, "The realm was invalidated while a collection of Dog was iterated over")
        let filtered = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let all = try DogRealm()
            try all.realm.write { for _ in 0..<3 { all.realm.add(Dog()) } }
            for _ in all.realm.objects(Dog.self).filter("age > 0") { all.realm.invalidate() }
        }
        check(filtered, "The realm was invalidated while a collection of Dog was iterated over")
        let list = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let all = try DogRealm()
            try all.realm.write { all.dog.toys.append(objectsIn: ["a", "b"]) }
            for _ in all.dog.toys { all.realm.invalidate() }
        }
        check(list, "The realm was invalidated while a collection of String was iterated over")
    }

    @Test func `changes with objects of other or frozen realms trap`() async {
        let added = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let a = try DogRealm(), b = try DogRealm()
            try a.realm.write { a.realm.add(b.dog) }
        }
        check(added, "Object is already managed by another Realm. Use create instead to copy it into this Realm.")
        let linked = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let a = try DogRealm(), b = try DogRealm()
            try a.realm.write { a.dog.friends.insert(b.dog) }
        }
        check(linked, "Object is already managed by another Realm.")
        let deleted = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let a = try DogRealm(), b = try DogRealm()
            try a.realm.write { a.realm.delete(b.dog) }
        }
        check(deleted, "Can only delete an object from the Realm it belongs to.")
        let unmanaged = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let a = try DogRealm()
            try a.realm.write { a.realm.delete(Dog()) }
        }
        check(unmanaged, "this one is not managed")
        let frozen = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let a = try DogRealm(); a.dog.freeze().age = 3
        }
        check(frozen, "Cannot modify a frozen realm or objects read from it: use thaw() to get the live ones.")
        let write = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try DogRealm().realm.freeze().write {}
        }
        check(write, "Cannot modify a frozen realm")
    }

    @Test func `values and types that do not fit the schema trap`() async {
        let null = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try DogRealm().realm
            try realm.write { realm.create(Dog.self, value: ["name": nil] as [String: Any?]) }
        }
        check(null, "Invalid value nil for property \"Dog.name\", which takes string.")
        let type = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { _ = Dog(value: ["age": "three"]) }
        check(type, "for property \"Dog.age\", which takes int.")
        let unknown = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { _ = Dog()["colour"] }
        check(unknown, "type \"Dog\" has no property \"colour\"")
        let dynamic = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try DogRealm().realm
            try realm.write { realm.dynamicObjects("Dog")[0]["age"] = nil }
        }
        check(dynamic, "Invalid value \"nil\" for property \"Dog.age\"")
        let none = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try DogRealm().realm.dynamicObjects("Cat")
        }
        check(none, "Object type \"Cat\" is not managed by the Realm")
        let foreign = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try DogRealm().realm.objects(Legacy.self)
        }
        check(foreign, "Object type \"Legacy\" is not managed by the Realm: add Legacy.self to the configuration's objectTypes.")
    }

    @Test func `duplicate, changed and missing primary keys trap`() async {
        let taken = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try DogRealm().realm
            try realm.write { for _ in 0..<2 { realm.create(Person.self, value: ["id": 4]) } }
        }
        check(taken, "Attempting to create an object of type \"Person\" with an existing primary key value \"4\".")
        let changed = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try DogRealm().realm
            try realm.write { realm.create(Person.self, value: ["id": 4]).id = 5 }
        }
        check(changed, "Primary key can't be changed after an object is inserted")
        let missing = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try DogRealm().realm.object(ofType: Dog.self, forPrimaryKey: 1)
        }
        check(missing, "does not have a primary key")
        let update = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try DogRealm().realm
            try realm.write { realm.add(Dog(), update: .modified) }
        }
        check(update, "does not have a primary key and can not be updated")
    }

    @Test func `references that are resolved twice or in another realm trap`() async {
        let twice = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let all = try DogRealm(), reference = ThreadSafeReference(to: all.dog)
            _ = all.realm.resolve(reference)
            _ = all.realm.resolve(reference)
        }
        check(twice, "Can only resolve a thread safe reference once")
        let elsewhere = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let all = try DogRealm()
            _ = try DogRealm().realm.resolve(ThreadSafeReference(to: all.dog))
        }
        check(elsewhere, "with different configuration than the source Realm")
        let unmanaged = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = ThreadSafeReference(to: Dog())
        }
        check(unmanaged, "Cannot construct reference to unmanaged object")
        let snapshot = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { _ = Snapshot(Dog()) }
        check(snapshot, "Unmanaged objects have no snapshot")
        let asynchronous = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let done = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                try! DogRealm().realm.writeAsync({})
                done.signal()
            }
            done.wait()
        }
        check(asynchronous, "Asynchronous writes need a realm of a queue, an actor or the main thread")
    }
}

/// A realm in memory with a dog.
struct DogRealm {
    let realm: Realm
    let dog: Dog

    init() throws {
        let realm = try memoryRealm([Person.self, Dog.self])
        self.realm = realm
        dog = try realm.write { realm.create(Dog.self, value: ["name": "Rex"]) }
    }

    /// Passes a realm to another thread, which is not allowed.
    struct Held: @unchecked Sendable { let realm: Realm }

    @MainActor static func onMain() async throws -> Held {
        Held(realm: try await Realm.open(configuration: .init(inMemoryIdentifier: "main", objectTypes: [Dog.self])))
    }
}

class GeoInn: Object {
    @Persisted var place: GeoInnPoint?
}

class GeoInnPoint: EmbeddedObject {
    @Persisted var type = "Point"
    @Persisted var coordinates: List<Double>
}
