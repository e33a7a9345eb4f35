import Firn
import Foundation
import RLM
import Testing

class Hen: Object {
    @Persisted var name = ""
    @Persisted var nest: Nest?
    @Persisted var eggs: List<Egg>
}

class Nest: Object {
    @Persisted var hens: MutableSet<Hen>
    @Persisted var place: NestPlace?
}

class Egg: Object { @Persisted var grams = 60 }
class NestPlace: EmbeddedObject { @Persisted var height = 2 }

/// Frozen objects can be read on any thread and passed between threads.
@Suite struct ThreadTests {
    /// Runs `body` on threads that begin together.
    private func inThreads(_ count: Int, _ body: @escaping @Sendable () -> Void) {
        let begin = DispatchSemaphore(value: 0), done = DispatchGroup()
        for _ in 0..<count {
            done.enter()
            Thread.detachNewThread {
                begin.wait()
                body()
                done.leave()
            }
        }
        for _ in 0..<count { begin.signal() }
        done.wait()
    }

    @Test(arguments: Conformer.live)
    func `attributes of a collection can be read on any thread and after invalidation [S02, S03, S05, S06, S07, S08]`(_ one: Conformer)
        throws
    {
        nonisolated(unsafe) let dogs = try one.collection()
        let ask: @Sendable () -> Void = {
            #expect(dogs.type == .object && !dogs.isOptional && dogs.objectClassName == "Dog" && dogs.realm != nil && !dogs.isFrozen)
            _ = dogs.isInvalidated
        }
        inThreads(1, ask)
        dogs.realm!.invalidate()
        ask()
        #expect(dogs.isInvalidated)
        inThreads(1, ask)
    }

    @Test func `reading a set on another thread and changing a set without its owner trap [S01, S09]`() async {
        let thread = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            nonisolated(unsafe) let pack = try person().pack
            let done = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                _ = pack.count
                done.signal()
            }
            done.wait()
        }
        #expect(said(thread).contains("Realm accessed from incorrect thread"))
        let owner = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let ada = try person(), pack = ada.pack, rex = ada.dogs[0]
            ada.realm!.beginWriteTransaction()
            ada.realm!.delete(ada)
            pack.add(rex)
        }
        #expect(said(owner).contains("the object that this MutableSet belongs to has been deleted or invalidated"))
    }

    @Test(arguments: 0..<20)
    func `frozen objects and linked objects of all types can be read on many threads concurrently`(_ round: Int) throws {
        let ada = try person(owned: true), realm = ada.realm!
        try realm.transaction {
            ada["address"] = ["city": "Bern"]
            ada["best"] = ada.dogs[0]
            ada["byName"] = ["Rex": ada.dogs[0]]
            ada.dogs[0]["thing"] = ada
        }
        nonisolated(unsafe) let frozen = ada.freeze()
        inThreads(8) {
            #expect(frozen.value(forKeyPath: "best.owner.address.city") as? String == "Bern")
            #expect(names(frozen.dogs) == ["Rex", "Fido", "Bo", "Ada"] && frozen.pack.sum(ofProperty: "age") == 18)
            #expect((frozen["byName"] as! RLMDictionary<String, RLMObject?>)["Rex"]??.name == "Rex")
            #expect(
                (frozen.dogs[0]["thing"] as? RLMObject)?.name == "Ada"
                    && frozen.linkingObjects(ofClass: "Dog", forProperty: "owner").count == 4)
        }
    }

    @Test(arguments: 0..<20) func `frozen objects of classes can be read on many threads concurrently`(_ round: Int) throws {
        let realm = try Realm(
            configuration: Realm.Configuration(
                inMemoryIdentifier: UUID().uuidString, objectTypes: [Hen.self, Nest.self, Egg.self, NestPlace.self]))
        let hen = Hen(value: ["name": "Berta", "eggs": [[60], [70]], "nest": ["place": [3]]] as [String: Any])
        try realm.write {
            realm.add(hen)
            hen.nest?.hens.insert(hen)
        }
        nonisolated(unsafe) let frozen = hen.freeze()
        inThreads(8) {
            #expect(
                frozen.eggs.map(\.grams).reduce(0, +) == 130 && frozen.nest?.place?.height == 3 && frozen.nest?.hens.first?.name == "Berta")
        }
    }
}
