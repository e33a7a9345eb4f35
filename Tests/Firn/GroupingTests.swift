import Dispatch
@testable import Firn
import Foundation
import Synchronization
import Testing

/// Asynchronous commits that become durable together.
@Suite struct GroupingTests {
    /// Runs `body` with a new realm of a queue, and waits until all its asynchronous writes are done. Returns the number of new versions.
    private func versions(of configuration: Realm.Configuration, _ body: @escaping @Sendable (Realm) -> Void) async throws -> UInt64 {
        let queue = DispatchQueue(label: "groups")
        nonisolated(unsafe) var realm: Realm!
        let before = try queue.sync {
            realm = try Realm(configuration: configuration, queue: queue)
            body(realm)
            return realm.core.version
        }
        while queue.sync(execute: { realm.isPerformingAsynchronousWriteOperations }) { try await Task.sleep(nanoseconds: 1_000_000) }
        // Waits until all completion blocks were called.
        queue.sync {}
        let after = queue.sync {
            realm.refresh()
            defer { realm = nil }
            return realm.core.version
        }
        return after - before
    }

    private final class Log: Sendable {
        private let lines = Mutex<[String]>([])
        func note(_ line: String) { lines.withLock { $0.append(line) } }
        var all: [String] { lines.withLock { $0 } }
    }

    @Test(.timeLimit(.minutes(15))) func `grouped commits become one version, and each block can be cancelled separately`() async throws {
        let folder = try RealmFolder(), configuration = folder.configuration([Person.self]), log = Log()
        let came = try await versions(of: configuration) { realm in
            for i in 0..<10 {
                realm.beginAsyncWrite {
                    // Earlier commits of the group are visible.
                    log.note("\(i) sees \(realm.objects(Person.self).count)")
                    realm.create(Person.self, value: ["id": i, "name": "p\(i)", "dogs": [["name": "d\(i)"]]] as [String: Any])
                    realm.objects(Person.self).first?.age = i
                    switch i {
                    case 4: return
                    case 6:
                        realm.cancelWrite()
                        log.note("6 leaves \(realm.objects(Person.self).count)")
                    default:
                        realm.commitAsyncWrite(allowGrouping: true) { error in
                            log.note("\(i) \(error == nil ? "durable" : "failed") \(realm.objects(Person.self).count)")
                        }
                        #expect(!realm.isInWriteTransaction && realm.objects(Person.self).contains { $0.id == i })
                    }
                }
            }
        }
        #expect(came == 1)
        let seen = (0..<10).map { "\($0) sees \($0 <= 4 ? $0 : $0 <= 6 ? $0 - 1 : $0 - 2)" }
        let received = [0, 1, 2, 3, 5, 7, 8, 9].map { "\($0) durable 8" }
        #expect(log.all == Array(seen[...6]) + ["6 leaves 5"] + Array(seen[7...]) + received)
        let realm = try Realm(configuration: configuration)
        #expect(realm.objects(Person.self).map(\.id) == [0, 1, 2, 3, 5, 7, 8, 9] && realm.objects(Dog.self).count == 8)
        #expect(realm.objects(Person.self)[0].age == 9 && realm.object(ofType: Person.self, forPrimaryKey: 6) == nil)
        try realm.write { realm.create(Person.self, value: ["id": 6]) }
    }

    @Test(.timeLimit(.minutes(15))) func `a commit without grouping ends the group, and so does a synchronous write`() async throws {
        let folder = try RealmFolder(), configuration = folder.configuration([Dog.self]), log = Log()
        let came = try await versions(of: configuration) { realm in
            func add(grouping: Bool) {
                realm.beginAsyncWrite {
                    realm.create(Dog.self)
                    realm.commitAsyncWrite(allowGrouping: grouping) { _ in log.note("\(realm.objects(Dog.self).count)") }
                }
            }
            add(grouping: true)
            add(grouping: true)
            add(grouping: false)
            add(grouping: false)
            add(grouping: true)
            realm.beginAsyncWrite {
                realm.create(Dog.self)
                realm.commitAsyncWrite(allowGrouping: true) { _ in log.note("six") }
                try! realm.write { realm.create(Dog.self) }
                #expect(realm.objects(Dog.self).freeze().count == 7, "a durable version could not be frozen")
            }
            add(grouping: true)
        }
        // Three commits, one commit, then the fifth with the sixth and the synchronous write, and the last one.
        #expect(came == 4 && log.all.count == 7)
        #expect(try Realm(configuration: configuration).objects(Dog.self).count == 8)
    }

    @Test(.timeLimit(.minutes(15))) func `observers are notified of a group once, when it is durable`() async throws {
        let folder = try RealmFolder(), configuration = folder.configuration([Dog.self]), log = Log()
        nonisolated(unsafe) var token: NotificationToken?
        let came = try await versions(of: configuration) { realm in
            token = realm.objects(Dog.self).observe { change in
                if case .update(let dogs, _, let insertions, _) = change {
                    log.note("\(dogs.count) +\(insertions)")
                } else {
                    log.note("initial")
                }
            }
            realm.refresh()
            for _ in 0..<3 {
                realm.beginAsyncWrite {
                    realm.create(Dog.self)
                    realm.commitAsyncWrite(allowGrouping: true)
                    realm.refresh()
                }
            }
        }
        while log.all.count < 2 { try await Task.sleep(nanoseconds: 1_000_000) }
        #expect(came == 1 && log.all == ["initial", "3 +[0, 1, 2]"])
        _ = token
        token = nil
    }

    @Test(.timeLimit(.minutes(15))) func `two hundred grouped commits become two versions`() async throws {
        let folder = try RealmFolder(), configuration = folder.configuration([Dog.self]), log = Log()
        let came = try await versions(of: configuration) { realm in
            for i in 0..<200 {
                realm.beginAsyncWrite {
                    realm.create(Dog.self, value: ["age": i])
                    realm.commitAsyncWrite(allowGrouping: true) { _ in log.note("") }
                }
            }
        }
        #expect(came == 2 && log.all.count == 200)
        #expect(try Realm(configuration: configuration).objects(Dog.self).map(\.age) == Array(0..<200))
    }

    /// Writes from an actor's realm.
    private actor Writer {
        func write(_ configuration: Realm.Configuration, _ log: Log) async throws {
            let realm = try await Realm(configuration: configuration, actor: self)
            try await realm.asyncWrite {
                realm.create(Dog.self)
                // A commit joins a group only if a block is waiting.
                let waiting = realm.beginAsyncWrite {}
                realm.commitAsyncWrite(allowGrouping: true) { error in log.note(error == nil ? "durable" : "failed") }
                try realm.cancelAsyncWrite(waiting)
                realm.beginWrite()
                realm.create(Dog.self)
            }
            while log.all.isEmpty { try await Task.sleep(nanoseconds: 1_000_000) }
        }
    }

    @Test(.timeLimit(.minutes(15))) func `an asyncWrite that makes a group durable calls the completion blocks of the group`() async throws
    {
        let folder = try RealmFolder(), configuration = folder.configuration([Dog.self]), log = Log()
        try await Writer().write(configuration, log)
        #expect(log.all == ["durable"])
        #expect(try Realm(configuration: configuration).objects(Dog.self).count == 2)
    }
}
