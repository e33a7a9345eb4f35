import Dispatch
import Firn
import FirnBytes
import FirnDatabase
import FirnDisk
import FirnTable
import Foundation
import Synchronization
import Testing

/// Asynchronous writes and observers whose blocks wait, for a lock, another process or their queue.
@Suite struct WaitingBlockTests {
    @Test(.timeLimit(.minutes(15))) func `asynchronous writes that cannot begin are reported as errors`() async throws {
        let folder = try RealmFolder(), configuration = folder.configuration([Dog.self]), queue = DispatchQueue(label: "writes")
        let received: Mutex<[String]> = Mutex([])
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            queue.async {
                let realm = try! Realm(configuration: configuration, queue: queue)
                try! realm.write { realm.create(Dog.self) }
                try! FileManager.default.removeItem(at: folder.file())
                realm.writeAsync(
                    { received.withLock { $0.append("called") } },
                    onComplete: { error in received.withLock { $0.append(error.map { "\($0.code)" } ?? "written") } })
                realm.beginAsyncWrite(
                    { received.withLock { $0.append("called") } },
                    onFailure: { error in received.withLock { $0.append("begin \(error.code)") } })
                realm.writeAsync(
                    { received.withLock { $0.append("called") } },
                    onComplete: { error in
                        received.withLock { $0.append(error.map { "\($0.code)" } ?? "written") }
                        #expect(!realm.isPerformingAsynchronousWriteOperations)
                        // Reading continues.
                        #expect(realm.objects(Dog.self).count == 1 && realm.damage == nil)
                        continuation.resume()
                    })
            }
        }
        #expect(received.withLock { $0 } == ["fileAccess", "begin fileAccess", "fileAccess"])
    }

    @Test(.timeLimit(.minutes(15))) func `asynchronous writes respect the maximum number of active versions [D12]`() async throws {
        let folder = try RealmFolder(), queue = DispatchQueue(label: "writes")
        var configuration = folder.configuration([Dog.self])
        configuration.maximumNumberOfActiveVersions = 2
        let limited = configuration
        let codes = await withCheckedContinuation { (continuation: CheckedContinuation<[String], Never>) in
            queue.async {
                let realm = try! Realm(configuration: limited, queue: queue)
                nonisolated(unsafe) var held: [Realm] = []
                nonisolated(unsafe) var codes: [String] = []
                func next() {
                    held.append(realm.freeze())
                    realm.writeAsync(
                        { realm.create(Dog.self) },
                        onComplete: { error in
                            codes.append(error.map { "\($0.code)" } ?? "written")
                            if codes.count == 4 { return continuation.resume(returning: codes) }
                            if error != nil { held = [] }
                            next()
                        })
                }
                next()
            }
        }
        #expect(
            codes == ["written", "written", "tooManyVersions", "written"]
                || codes == ["written", "tooManyVersions", "written", "tooManyVersions"], "\(codes)")
    }

    @Test(.timeLimit(.minutes(15))) func `an observer is notified of an earlier commit of another process`() throws {
        let folder = try RealmFolder(), queue = DispatchQueue(label: "observes"), configuration = folder.configuration([Dog.self]),
            log = Log()
        nonisolated(unsafe) var realm: Realm? = try queue.sync { try Realm(configuration: configuration, queue: queue) }
        // Like another process: with another open file.
        let other = try Database.open(path: folder.file().path, writable: true), transaction = try other.begin()
        try transaction.extendSchema([TypeSchema("Other", columns: [ColumnSchema("n", ColumnType(.int))])])
        try transaction.insert("Other", [.int(7)])
        try transaction.commit()
        nonisolated(unsafe) var token: NotificationToken?
        queue.sync { token = realm!.observe { what, realm in log.note("\(what) \(realm.dynamicObjects("Other").count)") } }
        #expect(log.waits(for: 1))
        #expect(log.take() == ["didChange 1"])
        queue.sync { (token, realm) = (nil, nil) }
    }

    @Test(.timeLimit(.minutes(15))) func `the deletion of an object before its observer's first call is reported as a deletion`() throws {
        let folder = try RealmFolder(), configuration = folder.configuration([Dog.self]), queue = DispatchQueue(label: "observes")
        let realm = try Realm(configuration: configuration)
        try realm.write { realm.create(Dog.self) }
        let dog = realm.objects(Dog.self)[0], log = Log()
        queue.suspend()
        let token = dog.observe(on: queue) { change in
            if case .deleted = change { log.note("deleted") } else { log.note("a change other than the deletion") }
        }
        try realm.write { realm.delete(dog) }
        queue.resume()
        #expect(log.waits(for: 1))
        queue.sync {}
        #expect(log.take() == ["deleted"])
        token.invalidate()
    }
}
