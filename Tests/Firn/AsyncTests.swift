import Dispatch
import Firn
import Foundation
import Synchronization
import Testing

/// Keeps a realm, as actors of programs do.
private actor Ledger {
    private var opened: Realm?
    private var realm: Realm { opened! }
    private var versions: NotificationToken?

    // All properties have values before the realm is opened; only then is the initializer isolated to the actor.
    init(_ configuration: Realm.Configuration) async throws { opened = try await Realm(configuration: configuration, actor: self) }

    func add(_ count: Int) async throws -> Int {
        try await realm.asyncWrite {
            for i in 0..<count { realm.create(Dog.self, value: ["age": i]) }
            return realm.objects(Dog.self).count
        }
    }

    func count() -> Int { realm.objects(Dog.self).count }
    func refresh() async -> Bool { await realm.asyncRefresh() }

    func observe(_ log: Log) async throws -> NotificationToken {
        versions = realm.observe { what, _ in log.note("\(what)") }
        return await realm.objects(Dog.self).observe(on: self) { _, change in log.note(change) }
    }

    /// Turns autorefresh off.
    func stay() { realm.autorefresh = false }

    func fail() async throws {
        try await realm.asyncWrite {
            realm.create(Dog.self)
            throw Realm.Error.invalidInput
        }
    }

    /// Makes asynchronous and synchronous writes at the same time.
    func addInTurns() async throws {
        let first = Task { try await self.add(1) }
        await Task.yield()
        try realm.write { realm.create(Dog.self) }
        _ = try await first.value
        _ = try await add(1)
    }
}

@MainActor private func onMain(_ configuration: Realm.Configuration) async throws -> Int {
    let realm = try await Realm(configuration: configuration, actor: MainActor.shared)
    try await realm.asyncWrite { realm.create(Dog.self) }
    return realm.objects(Dog.self).count
}

@Suite struct AsyncTests {
    @Test(.timeLimit(.minutes(15))) func `asynchronous writes notify observers like other writes`() async throws {
        let folder = try RealmFolder(), configuration = folder.configuration([Dog.self]), log = Log()
        let keeper = try await Ledger(configuration), token = try await keeper.observe(log)
        _ = try await keeper.add(3)
        // Sleeps without blocking a thread that the actor may need.
        while log.count < 3 { try await Task.sleep(nanoseconds: 1_000_000) }
        let received = log.take()
        #expect(received.filter { !$0.hasPrefix("didChange") } == ["initial 0", "3: -[] +[0, 1, 2] ~[]"] && received.contains("didChange"))
        token.invalidate()
    }

    @Test func `actors open, write and refresh without blocking their thread`() async throws {
        let folder = try RealmFolder(), configuration = folder.configuration([Dog.self])
        let keeper = try await Ledger(configuration), other = try await Ledger(configuration)
        await other.stay()
        #expect(try await keeper.add(10) == 10)
        #expect(await other.refresh())
        #expect(await other.count() == 10)
        #expect(await other.refresh() == false)
        await #expect(throws: Realm.Error.invalidInput) { try await keeper.fail() }
        #expect(await keeper.count() == 10)
        try await keeper.addInTurns()
        #expect(await keeper.count() == 13)
        #expect(try await onMain(configuration) == 14)
    }

    @Test func `many tasks can write through one actor, and no write is lost`() async throws {
        let folder = try RealmFolder()
        let keeper = try await Ledger(folder.configuration([Dog.self]))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<20 { group.addTask { _ = try await keeper.add(3) } }
            try await group.waitForAll()
        }
        #expect(await keeper.count() == 60)
    }

    @Test func `waiting for the write lock can be cancelled`() async throws {
        let folder = try RealmFolder(), configuration = folder.configuration([Dog.self])
        let keeper = try await Ledger(configuration)
        let began = DispatchSemaphore(value: 0), end = DispatchSemaphore(value: 0), ended = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            let realm = try! Realm(configuration: configuration)
            realm.beginWrite()
            began.signal()
            end.wait()
            realm.cancelWrite()
            ended.signal()
        }
        await wait(began)
        let task = Task { try await keeper.add(1) }
        try await Task.sleep(nanoseconds: 20_000_000)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        end.signal()
        await wait(ended)
        #expect(try await keeper.add(2) == 2)
    }

    private func wait(_ semaphore: DispatchSemaphore) async {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                semaphore.wait()
                continuation.resume()
            }
        }
    }

    @Test func `asynchronous blocks are called in order, and completion follows when their changes are durable`() async throws {
        let folder = try RealmFolder(), configuration = folder.configuration([Dog.self])
        let queue = DispatchQueue(label: "writes")
        final class Log: Sendable { let lines = Mutex<[String]>([]) }
        let log = Log()
        let note: @Sendable (String) -> Void = { line in log.lines.withLock { $0.append(line) } }
        nonisolated(unsafe) var realm: Realm!
        await withCheckedContinuation { continuation in
            queue.async {
                realm = try! Realm(configuration: configuration, queue: queue)
                realm.writeAsync(
                    {
                        note("first")
                        realm.create(Dog.self)
                    }, onComplete: { error in note("first \(error == nil && realm.objects(Dog.self).count == 1)") })
                let given = realm.beginAsyncWrite { note("never") }
                realm.beginAsyncWrite {
                    realm.create(Dog.self)
                    note("given up")
                }
                realm.beginAsyncWrite {
                    realm.create(Dog.self)
                    realm.commitAsyncWrite { error in
                        note("third \(error == nil) \(realm.objects(Dog.self).count)")
                        continuation.resume()
                    }
                    // A read in the block waits for the commit.
                    note("\(realm.objects(Dog.self).count)")
                }
                try! realm.cancelAsyncWrite(given)
                #expect(throws: Realm.Error.invalidInput) { try realm.cancelAsyncWrite(given) }
                #expect(realm.isPerformingAsynchronousWriteOperations)
                try! realm.write { note("now") }
            }
        }
        queue.sync {
            #expect(!realm.isPerformingAsynchronousWriteOperations)
            realm = nil
        }
        #expect(log.lines.withLock { $0 } == ["now", "first", "first true", "given up", "2", "third true 2"])
    }

    @Test(.timeLimit(.minutes(15)), arguments: [false, true])
    func `another realm of the queue can write during an asynchronous write of the first`(ofOtherTypes: Bool) throws {
        let folder = try RealmFolder(), configuration = folder.configuration([Dog.self]), queue = DispatchQueue(label: "home")
        let done = DispatchSemaphore(value: 0)
        var first: Realm?
        try queue.sync {
            first = try Realm(configuration: configuration, queue: queue)
            first!.writeAsync {
                first!.create(Dog.self, value: ["name": "async"])
            } onComplete: { _ in
                done.signal()
            }
            // The lock is held by now, and the queue is blocked here.
            usleep(200_000)
            let second = try Realm(
                configuration: ofOtherTypes ? folder.configuration([Dog.self, Person.self]) : configuration, queue: queue)
            try second.write { second.create(Dog.self, value: ["name": "sync"]) }
        }
        #expect(done.wait(timeout: .now() + 20) == .success)
        try queue.sync {
            let count = try Realm(configuration: configuration, queue: queue).objects(Dog.self).count
            #expect(count == 2)
            first = nil
        }
    }

    @Test(.timeLimit(.minutes(15))) func `asynchronous writes of a queue complete while all threads of the task pool are blocked`()
        async throws
    {
        let folder = try RealmFolder(), configuration = folder.configuration([Dog.self]), done = DispatchSemaphore(value: 0)
        let queue = DispatchQueue(label: "home")
        nonisolated(unsafe) var realm: Realm?
        try queue.sync { realm = try Realm(configuration: configuration, queue: queue) }
        // More waiting tasks than the task pool has threads.
        let waiting = (0..<ProcessInfo.processInfo.activeProcessorCount * 2).map { _ in Task.detached { done.waitForIt() } }
        queue.async {
            realm!.writeAsync {
                realm!.create(Dog.self)
            } onComplete: { _ in
                for _ in waiting { done.signal() }
            }
        }
        for task in waiting { _ = await task.value }
        queue.sync { realm = nil }
    }
}

private extension DispatchSemaphore {
    /// Blocks a thread of the task pool, which tasks should not do.
    func waitForIt() { wait() }
}
