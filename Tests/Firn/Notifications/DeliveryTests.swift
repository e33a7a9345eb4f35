import Firn
import Foundation
import Testing

/// Where and when notifications are told: N5 and rulings D20 and D21.
@Suite struct NotificationDeliveryTests {
    @Test(.timeLimit(.minutes(1))) func `N5 D21 a thread that runs a loop is told there, of its own commits and those of others`() throws {
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
            if log.count > 0 { log.note("told too early") }
            let keepAlive = Timer(timeInterval: 30, repeats: true) { _ in }
            RunLoop.current.add(keepAlive, forMode: .default)
            while log.count == 0 { _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 0.05)) }
            try! realm.write { realm.add(Beagle()) }
            // One long sleep, which the other's commit must end.
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

    @Test(.timeLimit(.minutes(1))) func `N5 R23 on a queue the collection belongs to a realm of that queue`() throws {
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
        // The queue was busy: one call, with what was written.
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

    @Test(.timeLimit(.minutes(1))) func `N5 a realm of a queue is told on it, without naming it`() throws {
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
        var told: [String] = []

        func note(_ change: RealmCollectionChange<Results<Beagle>>) {
            preconditionIsolated()
            let log = Log()
            log.note(change)
            told += log.take()
            // The collection is the actor's own.
            #expect(change.collection!.realm!.isFrozen == false && change.collection!.first?.age ?? 0 == 0)
        }
    }

    @Test(.timeLimit(.minutes(1))) func `R25 R26 N5 on an actor the block is its code`() async throws {
        let file = TemporaryRealm(), keeper = Keeper()
        let url = file.url
        func add() throws {
            let realm = try Realm(fileURL: url)
            try realm.write { realm.add(Beagle()) }
        }
        try add()
        let token = try await observe(url, keeper)
        #expect(await keeper.told == ["initial 1"])
        try add()
        while await keeper.told.count < 2 { try await Task.sleep(nanoseconds: 1_000_000) }
        #expect(await keeper.told == ["initial 1", "2: -[] +[1] ~[]"])
        token.invalidate()
    }

    private func observe(_ url: URL, _ keeper: Keeper) async throws -> NotificationToken {
        let hounds = try Realm(fileURL: url).objects(Beagle.self)
        return await hounds.observe(keyPaths: [\.name, \.age], on: keeper) { keeper, change in keeper.note(change) }
    }

    @Test func `autorefresh off: the realm stays, and its observers hear that it could go on`() throws {
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

    @Test(.timeLimit(.minutes(1))) func `a realm that nobody observes follows others by itself`() throws {
        let file = TemporaryRealm(), queue = DispatchQueue(label: "test")
        nonisolated(unsafe) var kept: Realm?
        try queue.sync { kept = try Realm(configuration: Realm.Configuration(fileURL: file.url), queue: queue) }
        let other = try Realm(fileURL: file.url)
        try other.write { other.add(Beagle()) }
        queue.sync { #expect(kept!.objects(Beagle.self).count == 1) }
        queue.sync { kept = nil }
    }

    @Test func `R23 what another realm committed is told before a transaction begins`() throws {
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

    @Test(.timeLimit(.minutes(2))) func `commits of another process are told`() async throws {
        // The other process finds the file by its parent's number.
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

    @Test func `twenty tokens are told each its own`() throws {
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
