import Firn
import Foundation
import Testing

/// Changes as asynchronous sequences: rows R42 to R46, rulings D13 and D20.
@Suite struct ChangeSequenceTests {
    private func add(_ url: URL, _ value: [String: Any] = [:]) throws {
        let realm = try Realm(fileURL: url)
        try realm.write { _ = realm.create(Beagle.self, value: value) }
    }

    private func hounds(_ url: URL) throws -> Results<Beagle> { try Realm(fileURL: url).objects(Beagle.self) }

    @Test(.timeLimit(.minutes(15)))
    func `for await returns the initial collection, then its changes, frozen [R45, R46, D20]`() async throws {
        let file = TemporaryRealm(), url = file.url
        try add(url)
        let changes = try hounds(url).changes()
        try add(url)
        let log = Log()
        var round = 0
        for await change in changes {
            log.note(change)
            #expect(change.collection!.isFrozen)
            round += 1
            if round == 3 { break }
            // Two commits between two steps are one change.
            for _ in 0..<round { try add(url) }
        }
        #expect(log.take() == ["initial 2", "3: -[] +[2] ~[]", "5: -[] +[3, 4] ~[]"])
    }

    @Test(.timeLimit(.minutes(15))) func `a sequence returns only for changes of its key paths [R45]`() async throws {
        let file = TemporaryRealm(), url = file.url
        try add(url, ["age": 1])
        var all = try hounds(url).changesetPublisher(keyPaths: ["age"]).values.makeAsyncIterator()
        let log = Log()
        log.note(try #require(await all.next()))
        let writer = Task.detached {
            try await Task.sleep(nanoseconds: 50_000_000)
            let realm = try Realm(fileURL: url)
            try realm.write { realm.objects(Beagle.self)[0].name = "x" }
            try realm.write { realm.objects(Beagle.self)[0].age = 2 }
        }
        log.note(try #require(await all.next()))
        try await writer.value
        #expect(log.take() == ["initial 1", "1: -[] +[] ~[0]"])
    }

    @Test(.timeLimit(.minutes(15)))
    func `objectWillChange has no initial element, and an element after each change [R42, D13]`() async throws {
        let file = TemporaryRealm(), url = file.url
        try add(url)
        let changes = try hounds(url).objectWillChange
        var iterator = changes.makeAsyncIterator()
        try add(url)
        #expect(await iterator.next() != nil)
        #expect(try hounds(url).count == 2)
    }

    @Test(.timeLimit(.minutes(15))) func `collectionPublisher returns the frozen collection after changes [R43, R44]`() async throws {
        let file = TemporaryRealm(), url = file.url
        try add(url, ["age": 1])
        var counts: [Int] = []
        for await all in try hounds(url).filter("age > 0").collectionPublisher {
            counts.append(all.count)
            #expect(all.isFrozen)
            if counts.count == 2 { break }
            try add(url, ["age": 2])
        }
        #expect(counts == [1, 2])
        var some = try hounds(url).collectionPublisher(keyPaths: ["name"]).freeze().threadSafeReference().makeAsyncIterator()
        #expect(await some.next()?.count == 2)
    }

    @Test(.timeLimit(.minutes(15))) func `cancelling a task ends its sequence`() async throws {
        let file = TemporaryRealm(), url = file.url
        let task = Task {
            var rounds = 0
            for await _ in try hounds(url).changes() { rounds += 1 }
            return rounds
        }
        try await Task.sleep(nanoseconds: 100_000_000)
        task.cancel()
        #expect(try await task.value <= 1)
    }

    @Test(.timeLimit(.minutes(15))) func `the sequence of an object ends after its deletion`() async throws {
        let file = TemporaryRealm(), url = file.url
        try add(url, ["name": "a"])
        var changes = try hounds(url)[0].changes().makeAsyncIterator()
        func change(_ body: (Realm, Beagle) -> Void) throws {
            let realm = try Realm(fileURL: url)
            try realm.write { body(realm, realm.objects(Beagle.self)[0]) }
        }
        try change { $1.name = "b" }
        let log = Log()
        log.note(try #require(await changes.next()))
        try change { $0.delete($1) }
        log.note(try #require(await changes.next()))
        let end = await changes.next()
        if case nil = end {} else { Issue.record("the sequence continues after the deletion") }
        #expect(log.take() == ["name: a -> b", "deleted"])
    }
}
