import Firn
import Foundation
import Testing

/// The threads on which notifications are delivered, and when: N5 and rulings D20 and D21.
@Suite struct NotificationDeliveryTests {
    @Test(.timeLimit(.minutes(15)))
    func `an observer on a thread with a run loop is called there, after own and other commits [N5, D21]`() throws {
        let file = TemporaryRealm(), log = Log(), ended = DispatchSemaphore(value: 0)
        let url = file.url
        Thread.detachNewThread {
            let realm = try! Realm(fileURL: url)
            let hounds = realm.objects(Beagle.self)
            var isOver = false
            let token = hounds.observe { change in
                log.note(change)
                if change.collection!.count == 3 { isOver = true }
            }
            try! realm.write { realm.add(Beagle()) }
            if log.count > 0 { log.note("the observer was called before the run loop") }
            let keepAlive = Timer(timeInterval: 30, repeats: true) { _ in }
            RunLoop.current.add(keepAlive, forMode: .default)
            while log.count == 0 { _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 0.05)) }
            try! realm.write { realm.add(Beagle()) }
            // A long wait, which the commit of another thread must end.
            while !isOver { _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 5)) }
            token.invalidate()
            ended.signal()
        }
        #expect(log.waits(for: 2))
        let other = try Realm(fileURL: url)
        try other.write { other.add(Beagle()) }
        #expect(log.waits(for: 3))
        ended.wait()
        #expect(log.take() == ["initial 1", "2: -[] +[1] ~[]", "3: -[] +[2] ~[]"])
    }

    @Test(.timeLimit(.minutes(15)))
    func `an observer with a queue is called on it, with a collection of a realm of the queue [N5, R23]`() throws {
        let file = TemporaryRealm(), log = Log()
        let realm = try Realm(fileURL: file.url), queue = DispatchQueue(label: "test")
        let list = Beagle(value: ["words": ["a"]])
        try realm.write { realm.add(list) }
        queue.suspend()
        let tokens = [
            realm.objects(Beagle.self).filter("age >= 0").observe(on: queue) { change in
                dispatchPrecondition(condition: .onQueue(queue))
                log.note(change)
                #expect(change.collection!.allSatisfy { $0.age >= 0 })
            }, list.words.observe(on: queue) { log.note($0) }, list.observe(on: queue) { log.note($0) },
            list.scores.observe(on: queue) { log.note($0) },
        ]
        try realm.write { realm.add(Beagle()) }
        // The queue was suspended: one call includes the changes.
        queue.resume()
        #expect(log.waits(for: 3))
        #expect(log.take() == ["initial 2", "initial 1", "initial 0"])
        try realm.write { list.words.append("b") }
        #expect(log.waits(for: 3))
        #expect(Set(log.take()) == ["2: -[] +[] ~[0]", "2: -[] +[1] ~[]", "words: nil -> nil"])
        for token in tokens { token.invalidate() }
        try realm.write { realm.add(Beagle()) }
        queue.sync {}
        #expect(log.take() == [])
    }

    @Test(.timeLimit(.minutes(15))) func `an observer of a queue's realm is called on this queue by default [N5]`() throws {
        let file = TemporaryRealm(), log = Log(), queue = DispatchQueue(label: "test")
        nonisolated(unsafe) var kept: [Any] = []
        try queue.sync {
            let realm = try Realm(configuration: Realm.Configuration(fileURL: file.url), queue: queue)
            kept = [
                realm,
                realm.objects(Beagle.self).observe { change in
                    dispatchPrecondition(condition: .onQueue(queue))
                    log.note(change)
                },
            ]
        }
        #expect(log.waits(for: 1))
        let other = try Realm(fileURL: file.url)
        try other.write { other.add(Beagle()) }
        #expect(log.waits(for: 2))
        #expect(log.take() == ["initial 0", "1: -[] +[0] ~[]"])
        queue.sync { kept = [] }
    }

    actor Keeper {
        var received: [String] = []

        func note(_ change: RealmCollectionChange<Results<Beagle>>) {
            preconditionIsolated()
            let log = Log()
            log.note(change)
            received += log.take()
            // The collection belongs to the actor.
            #expect(change.collection!.realm!.isFrozen == false && change.collection!.first?.age ?? 0 == 0)
        }
    }

    @Test(.timeLimit(.minutes(15))) func `an observer with an actor runs isolated to this actor [R25, R26, N5]`() async throws {
        let file = TemporaryRealm(), keeper = Keeper()
        let url = file.url
        func add() throws {
            let realm = try Realm(fileURL: url)
            try realm.write { realm.add(Beagle()) }
        }
        try add()
        let token = try await observe(url, keeper)
        #expect(await keeper.received == ["initial 1"])
        try add()
        while await keeper.received.count < 2 { try await Task.sleep(nanoseconds: 1_000_000) }
        #expect(await keeper.received == ["initial 1", "2: -[] +[1] ~[]"])
        token.invalidate()
    }

    private func observe(_ url: URL, _ keeper: Keeper) async throws -> NotificationToken {
        let hounds = try Realm(fileURL: url).objects(Beagle.self)
        return await hounds.observe(keyPaths: [\.name, \.age], on: keeper) { keeper, change in keeper.note(change) }
    }

    @Test func `without autorefresh a realm keeps its version, and its observers get refreshRequired`() throws {
        let file = TemporaryRealm(), log = Log(), queue = DispatchQueue(label: "test")
        nonisolated(unsafe) var kept: [Any] = []
        try queue.sync {
            let realm = try Realm(configuration: Realm.Configuration(fileURL: file.url), queue: queue)
            realm.autorefresh = false
            kept = [realm, realm.objects(Beagle.self).observe { log.note($0) }, realm.observe { what, _ in log.note("\(what)") }]
        }
        #expect(log.waits(for: 1))
        let other = try Realm(fileURL: file.url)
        try other.write { other.add(Beagle()) }
        #expect(log.waits(for: 2))
        #expect(log.take() == ["initial 0", "refreshRequired"])
        queue.sync {
            let realm = kept[0] as! Realm
            #expect(realm.objects(Beagle.self).count == 0)
            realm.refresh()
            #expect(realm.objects(Beagle.self).count == 1)
        }
        #expect(log.take() == ["didChange", "1: -[] +[0] ~[]"])
        queue.sync { kept = [] }
    }

    @Test(.timeLimit(.minutes(15))) func `a realm without observers follows the commits of others`() throws {
        let file = TemporaryRealm(), queue = DispatchQueue(label: "test")
        nonisolated(unsafe) var kept: Realm?
        try queue.sync { kept = try Realm(configuration: Realm.Configuration(fileURL: file.url), queue: queue) }
        let other = try Realm(fileURL: file.url)
        try other.write { other.add(Beagle()) }
        queue.sync { #expect(kept!.objects(Beagle.self).count == 1) }
        queue.sync { kept = nil }
    }

    @Test func `a transaction first notifies observers of commits of other realms [R23]`() throws {
        let file = TemporaryRealm(), log = Log()
        let realm = try Realm(fileURL: file.url)
        let token = realm.objects(Beagle.self).observe { log.note($0) }
        realm.refresh()
        let done = DispatchSemaphore(value: 0), url = file.url
        Thread.detachNewThread {
            let other = try! Realm(fileURL: url)
            try! other.write { other.add(Beagle()) }
            done.signal()
        }
        done.wait()
        #expect(log.take() == ["initial 0"])
        try realm.write { #expect(log.take() == ["1: -[] +[0] ~[]"]) }
        token.invalidate()
    }

    @Test(.timeLimit(.minutes(2))) func `observers are notified of commits of another process`() async throws {
        // The other process finds the file by the process id of its parent.
        let file = TemporaryRealm("\(getpid())-processes"), log = Log(), queue = DispatchQueue(label: "test")
        nonisolated(unsafe) var kept: [Any] = []
        try queue.sync {
            let realm = try Realm(configuration: Realm.Configuration(fileURL: file.url), queue: queue)
            kept = [realm, realm.objects(Beagle.self).observe { log.note($0) }]
        }
        #expect(log.waits(for: 1))
        await #expect(processExitsWith: .success) {
            let realm = try Realm(fileURL: TemporaryRealm.url("\(getppid())-processes"))
            try realm.write { realm.add(Beagle(value: ["name": "foreign"])) }
        }
        #expect(log.waits(for: 2))
        #expect(log.take() == ["initial 0", "1: -[] +[0] ~[]"])
        queue.sync { kept = [] }
    }

    @Test func `each of twenty tokens gets the changes of its own query`() throws {
        let realm = try memoryRealm()
        let logs = (0..<20).map { _ in Log() }
        let tokens = (0..<20).map { i in realm.objects(Beagle.self).filter("age < %@", i).observe { logs[i].note($0) } }
        realm.refresh()
        for log in logs { #expect(log.take() == ["initial 0"]) }
        try realm.write { realm.add(Beagle(value: ["age": 10])) }
        realm.refresh()
        for i in 0..<20 { #expect(logs[i].take() == (i > 10 ? ["1: -[] +[0] ~[]"] : [])) }
        withExtendedLifetime(tokens) {}
    }
}
