import Dispatch
import Firn
import Foundation
import Testing

/// Realms of the main executor in a program that never runs a run loop on its main thread, as this test process: the main thread is parked,
/// and jobs of the main queue and the main actor run on other threads.
@Suite struct MainExecutorTests {
    /// Ends the job of the main actor that runs. The next one may run on another thread.
    private func pause() async throws { try await Task.sleep(nanoseconds: 2_000_000) }

    @Test(.timeLimit(.minutes(15))) @MainActor func `a realm of the main actor can be used after each await`() async throws {
        let realm = try memoryRealm([Person.self, Dog.self])
        let dog = try realm.write { realm.create(Dog.self, value: ["name": "Rex"]) }
        for age in 2..<50 {
            try await pause()
            try realm.write { dog.age = age }
            await Task.yield()
            #expect(dog.age == age && realm.objects(Dog.self).filter("age == %@", age).count == 1)
        }
        let same = try Realm(configuration: realm.configuration)
        let isolated = try await Realm.open(configuration: realm.configuration)
        #expect(same == realm && isolated == realm)
    }

    @Test(.timeLimit(.minutes(15))) @MainActor func `a transaction of the main actor can span an await`() async throws {
        let realm = try memoryRealm([Person.self, Dog.self])
        realm.beginWrite()
        let dog = realm.create(Dog.self)
        try await pause()
        dog.age = 7
        try await pause()
        try realm.commitWrite()
        #expect(realm.objects(Dog.self).first?.age == 7)
    }

    @Test(.timeLimit(.minutes(15))) @MainActor func `main queue, main actor and tasks on it share one realm`() async throws {
        let file = TemporaryRealm()
        let configuration = Realm.Configuration(fileURL: file.url, objectTypes: [Person.self, Dog.self])
        let realm = try Realm(configuration: configuration)
        try realm.write { _ = realm.create(Dog.self, value: ["age": 3]) }
        let held = DogRealm.Held(realm: realm)
        let ages = await withCheckedContinuation { (done: CheckedContinuation<[Int], Never>) in
            DispatchQueue.main.async {
                let queued = try? Realm(configuration: configuration, queue: .main)
                done.resume(returning: queued == held.realm ? held.realm.objects(Dog.self).map(\.age) : [])
            }
        }
        #expect(ages == [3])
        let task = Task { @MainActor in held.realm.objects(Dog.self).first?.age }
        #expect(await task.value == 3)
    }

    @Test(.timeLimit(.minutes(15))) @MainActor func `a job of the main actor can use its realm in sync of another queue`() async throws {
        let realm = try memoryRealm([Person.self, Dog.self]), other = DispatchQueue(label: "other"), next = DispatchQueue(label: "next")
        try await pause()
        let dog = try other.sync {
            try realm.write { realm.create(Dog.self, value: ["age": 3]) }
        }
        try await pause()
        #expect(next.sync { other.sync { realm.objects(Dog.self).map(\.age) } } == [3] && dog.age == 3)
        #expect(try other.sync { try Realm(configuration: realm.configuration) == realm })
    }

    @Test(.timeLimit(.minutes(15))) @MainActor func `a queue that the main actor does not wait for cannot use its realm`() async throws {
        let wrong = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { @MainActor in
            let held = DogRealm.Held(realm: try memoryRealm([Person.self, Dog.self])), other = DispatchQueue(label: "other")
            _ = other.sync { held.realm.objects(Dog.self).count }
            other.async { _ = held.realm.objects(Dog.self).count }
            try await Task.sleep(nanoseconds: 5_000_000_000)
        }
        #expect(said(wrong).contains("Realm accessed from incorrect thread"), "\(said(wrong).prefix(300))")
    }

    @Test(.timeLimit(.minutes(15))) @MainActor func `changes arrive on the main actor, for blocks and for await`() async throws {
        let file = TemporaryRealm(), log = Log()
        let configuration = Realm.Configuration(fileURL: file.url, objectTypes: [Person.self, Dog.self])
        let realm = try Realm(configuration: configuration), dogs = realm.objects(Dog.self)
        try await pause()
        let token = dogs.observe { change in
            MainActor.assertIsolated()
            log.note(change)
        }
        var seen: [Int] = []
        let writer = Task.detached {
            for _ in 0..<3 {
                try await Task.sleep(nanoseconds: 5_000_000)
                let realm = try Realm(configuration: configuration)
                try realm.write { _ = realm.create(Dog.self) }
            }
        }
        for await change in dogs.changes() {
            seen.append(change.collection?.count ?? -1)
            if change.collection?.count == 3 { break }
        }
        try await writer.value
        while dogs.count < 3 || log.count < 2 { try await pause() }
        #expect(seen.last == 3 && log.take().first == "initial 0")
        token.invalidate()
    }

    @Test(.timeLimit(.minutes(15))) @MainActor func `an asynchronous write of the main actor commits on another thread`() async throws {
        let file = TemporaryRealm()
        let realm = try Realm(configuration: .init(fileURL: file.url, objectTypes: [Person.self, Dog.self]))
        let dog = try await realm.asyncWrite { realm.create(Dog.self, value: ["age": 1]) }
        #expect(dog.age == 1)
        let received = await withCheckedContinuation { (done: CheckedContinuation<Int, Never>) in
            realm.writeAsync({ dog.age += 1 }) { _ in
                MainActor.assertIsolated()
                done.resume(returning: dog.age)
            }
        }
        #expect(received == 2 && dog.age == 2)
        realm.beginWrite()
        dog.age = 3
        realm.commitAsyncWrite()
        // This waits for the commit.
        #expect(dog.age == 3 && !realm.isInWriteTransaction)
    }

    @Test func `other threads trap, also while a job of the main queue runs`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { @MainActor in
            let held = DogRealm.Held(realm: try memoryRealm([Person.self, Dog.self]))
            DispatchQueue.global().async { _ = held.realm.objects(Dog.self).count }
            Thread.sleep(forTimeInterval: 5)
        }
        #expect(said(result).contains("Realm accessed from incorrect thread"), "\(said(result).prefix(400))")
    }

    actor Desk { var log: [String] = [] }

    @Test(.timeLimit(.minutes(15))) func `observing on an actor in a cancelled task registers nothing`() async throws {
        let file = TemporaryRealm(), desk = Desk()
        let configuration = Realm.Configuration(fileURL: file.url, objectTypes: [Person.self, Dog.self])
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            let realm = try Realm(configuration: configuration)
            return await realm.objects(Dog.self).observe(on: desk) { desk, _ in desk.log.append("received") }
        }
        let token = try await task.value
        do {
            let realm = try Realm(configuration: configuration)
            try realm.write { _ = realm.create(Dog.self) }
        }
        try await Task.sleep(nanoseconds: 50_000_000)
        #expect(await desk.log == [] && !token.invalidate())
    }

    @Test func `results are equal only to themselves`() throws {
        let realm = try memoryRealm([Person.self, Dog.self]), dogs = realm.objects(Dog.self), same = dogs
        #expect(dogs == same && dogs != realm.objects(Dog.self) && dogs.filter("age > 1") != dogs.filter("age > 1"))
        #expect(dogs.isSameCollection(as: realm.objects(Dog.self)))
        #expect(
            AnyRealmCollection(dogs) == AnyRealmCollection(same) && AnyRealmCollection(dogs) != AnyRealmCollection(realm.objects(Dog.self)))
    }

    @Test func `the enums of notifications have exactly the cases of Realm Swift`() {
        func sections<C>(_ change: SectionedResultsChange<C>) -> String {
            switch change {
            case .initial: "initial"
            case .update(_, deletions: _, insertions: _, modifications: _, sectionsToInsert: _, sectionsToDelete: _): "update"
            }
        }
        func object<T>(_ change: ObjectChange<T>) -> Int {
            switch change {
            case .error(let error as NSError): error.code
            case .change: 1
            case .deleted: 2
            }
        }
        func realm(_ notification: Realm.Notification) -> Int {
            switch notification {
            case .didChange: 1
            case .refreshRequired: 2
            }
        }
        #expect(sections(SectionedResultsChange<Int>.initial(1)) == "initial" && realm(.didChange) == 1)
        #expect(object(ObjectChange<Dog>.error(NSError(domain: "io.realm", code: 7))) == 7 && object(ObjectChange<Dog>.deleted) == 2)
    }
}
