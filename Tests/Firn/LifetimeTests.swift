import Dispatch
import Firn
import FirnBytes
import FirnDatabase
import FirnDisk
import FirnTable
import Foundation
import Synchronization
import Testing
#if canImport(Glibc)
    import Glibc
#endif

/// An actor that keeps a realm and a token, as programs do.
private actor Pack {
    private var realm: Realm?
    private var token: NotificationToken?
    private var changes = 0

    init(_ configuration: Realm.Configuration) async throws { realm = try await Realm(configuration: configuration, actor: self) }

    func observe() async {
        token = await realm!.objects(Dog.self).observe(on: self) { me, _ in me.changes += 1 }
        try! await realm!.asyncWrite { realm!.create(Dog.self) }
    }

    var count: Int { realm!.objects(Dog.self).count }
}

/// Opening and releasing realms in any order and on any thread.
@Suite struct LifetimeTests {
    @Test func `an actor with an observed realm is released without other references, and its file can be deleted`() async throws {
        let folder = try RealmFolder(), configuration = folder.configuration([Dog.self])
        weak var gone: Pack?
        do {
            let kennel = try await Pack(configuration)
            await kennel.observe()
            #expect(await kennel.count == 1)
            gone = kennel
        }
        // Calls in progress may keep it for a moment.
        for _ in 0..<2000 where gone != nil { try await Task.sleep(nanoseconds: 1_000_000) }
        #expect(gone == nil)
        var isDeleted = false
        for _ in 0..<2000 where !isDeleted {
            do { isDeleted = try Realm.deleteFiles(for: configuration) } catch Realm.Error.alreadyOpen {
                try await Task.sleep(nanoseconds: 1_000_000)
            }
        }
        #expect(isDeleted)
        // A new actor may have the same address.
        for _ in 0..<20 { #expect(try await Pack(configuration).count == 0) }
    }

    @Test func `realms in memory can be opened and released on several threads concurrently`() throws {
        let configuration = Realm.Configuration(inMemoryIdentifier: UUID().uuidString, objectTypes: [Dog.self])
        let failures: Mutex<[String]> = Mutex([])
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
            for _ in 0..<150 {
                do {
                    let realm = try Realm(configuration: configuration)
                    try realm.write { realm.create(Dog.self) }
                    if realm.objects(Dog.self).isEmpty { failures.withLock { $0.append("the realm has no objects") } }
                } catch { failures.withLock { $0.append("\(error)") } }
            }
        }
        #expect(failures.withLock { $0 } == [])
        #expect(!Realm.fileExists(for: configuration))
    }

    @Test func `a compaction block can open other realms`() throws {
        let folder = try RealmFolder(), other = Realm.Configuration(fileURL: folder.file("other.firn"), objectTypes: [Dog.self])
        do {
            let realm = try Realm(configuration: folder.configuration([Dog.self]))
            try realm.write { realm.create(Dog.self) }
        }
        var configuration = folder.configuration([Dog.self])
        configuration.shouldCompactOnLaunch = { total, used in
            let realm = try! Realm(configuration: other)
            try! realm.write { realm.create(Dog.self, value: ["name": "asked", "age": total - used]) }
            return true
        }
        #expect(try Realm(configuration: configuration).objects(Dog.self).count == 1)
        #expect(try Realm(configuration: other).objects(Dog.self).first?.name == "asked")
    }

    @Test func `a compaction block that opens the same realm traps`() async {
        await #expect(processExitsWith: .failure) {
            let folder = try RealmFolder()
            do { _ = try Realm(configuration: folder.configuration([Dog.self])) }
            var configuration = folder.configuration([Dog.self])
            let same = configuration
            configuration.shouldCompactOnLaunch = { _, _ in try! Realm(configuration: same).isEmpty }
            _ = try Realm(configuration: configuration)
        }
    }

    @Test func `read-only and writable realms share a file in one process`() throws {
        let folder = try RealmFolder(), writing = folder.configuration([Dog.self])
        do { _ = try Realm(configuration: writing) }
        var reading = writing
        reading.readOnly = true
        let reader = try Realm(configuration: reading), writer = try Realm(configuration: writing)
        try writer.write { writer.create(Dog.self) }
        reader.refresh()
        #expect(reader.objects(Dog.self).count == 1 && reader != writer)
        #expect(throws: Realm.Error.filePermissionDenied) { try reader.write {} }
        #expect(throws: Realm.Error.alreadyOpen) { try Realm.deleteFiles(for: reading) }
        withExtendedLifetime((reader, writer)) {}
    }

    @Test func `a folder is never deleted as the file of a realm`() throws {
        let folder = try RealmFolder()
        try Data("of the user".utf8).write(to: folder.file("kept"))
        let configuration = Realm.Configuration(fileURL: folder.url)
        #expect(throws: Realm.Error.fileAccess) { try Realm.deleteFiles(for: configuration) }
        #expect(FileManager.default.fileExists(atPath: folder.file("kept").path))
        #expect(!Realm.fileExists(for: configuration))
    }

    @Test func `a file that another process creates at the same moment is opened`() throws {
        /// When the first file gets its name, another file with this name exists.
        final class First: DiskCalls {
            private let seen = Atomic<Bool>(false)
            private let path: String
            init(_ path: String) { self.path = path }
            func before(_ call: DiskCall, of file: UInt64) -> Int32? {
                guard case .link(_, path) = call, !seen.exchange(true, ordering: .relaxed) else { return nil }
                let database = try! Database.create(path: path)
                let transaction = try! database.begin()
                try! transaction.extendSchema([TypeSchema("Other", columns: [ColumnSchema("n", ColumnType(.int))])])
                try! transaction.insert("Other", [.int(7)])
                try! transaction.commit()
                return nil
            }
        }
        for seeded in [false, true] {
            let folder = try RealmFolder()
            var configuration = folder.configuration([Dog.self])
            if seeded {
                let seed = try Realm(configuration: Realm.Configuration(fileURL: folder.file("seed.firn"), objectTypes: [Dog.self]))
                try seed.write { seed.create(Dog.self) }
                configuration.seedFilePath = seed.configuration.fileURL
            }
            ScriptedDisk.begin(in: folder.url.path, First(folder.file().path))
            defer { ScriptedDisk.end(in: folder.url.path) }
            let realm = try Realm(configuration: configuration)
            try realm.write { realm.create(Dog.self) }
            #expect(realm.dynamicObjects("Other").count == 1 && realm.objects(Dog.self).count == 1)
        }
    }

    #if os(Linux)
        @Test(.enabled(if: dlsym(nil, "__asan_init") == nil, "the address sanitizer delays the reuse of freed memory"))
        func `a realm that is invalidated repeatedly does not grow in memory`() async {
            // Runs in a separate process, because its memory is measured.
            await #expect(processExitsWith: .success) {
                let realm = try memoryRealm([Person.self, Dog.self])
                try realm.write { for i in 0..<3000 { realm.create(Dog.self, value: ["name": "dog \(i)", "age": i]) } }
                func bytes(after rounds: Int) throws -> Int {
                    for _ in 0..<rounds {
                        realm.refresh()
                        var sum = 0
                        for dog in realm.objects(Dog.self).filter("age < 1100") { sum += dog.age + dog.name.utf8.count }
                        precondition(sum > 600_000)
                        realm.invalidate()
                    }
                    return Int(try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")[1])! * 4096
                }
                let before = try bytes(after: 100), after = try bytes(after: 400)
                precondition(after - before < 400 * 4000, "\((after - before) / 400) bytes for each")
            }
        }
    #endif

    @Test func `an advanced or invalidated realm pins no version for objects that were read before`() throws {
        let folder = try RealmFolder(), realm = try Realm(configuration: folder.configuration([Person.self, Dog.self]))
        try realm.write {
            for i in 0..<3000 { realm.create(Person.self, value: ["id": i, "name": "p\(i)", "dogs": [["name": "d"]]] as [String: Any]) }
        }
        let other = try Database.open(path: folder.file().path)
        func read() -> [Any] {
            let people = realm.objects(Person.self), some = people.filter("id > 2990").sorted(byKeyPath: "name"), first = people[0]
            let sections = people.sectioned(by: { String($0.name.prefix(2)) }, sortDescriptors: [SortDescriptor(keyPath: "name")])
            var iterator = people.makeIterator()
            _ = (
                some.count, some.first?.name, first.dogs.first?.name, sections.count, iterator.next()?.name,
                people.sum(ofProperty: "id") as Int
            )
            return [people, some, first, first.dogs, sections]
        }
        let held = read()
        try realm.write { realm.create(Dog.self) }
        #expect(try other.pinnedVersions() == [realm.versions[0].number])
        let more = read()
        realm.invalidate()
        #expect(try other.pinnedVersions() == [])
        withExtendedLifetime((held, more)) {}
    }

    @Test func `invalidating a frozen realm traps`() async {
        await #expect(processExitsWith: .failure) {
            let realm = try memoryRealm([Dog.self]).freeze()
            realm.invalidate()
        }
    }

    @Test func `signal handlers of the program stay unchanged`() async {
        #if !os(Windows)
            await #expect(processExitsWith: .success) {
                let folder = try RealmFolder()
                // The parent process may have blocked signals.
                var none = sigset_t()
                sigemptyset(&none)
                sigprocmask(SIG_SETMASK, &none, nil)
                // Like services, before they open a realm.
                signal(SIGTERM) { _ in handled.store(true, ordering: .relaxed) }
                let realm = try Realm(configuration: folder.configuration([Dog.self]))
                try realm.write { realm.create(Dog.self) }
                try realm.writeCopy(toFile: folder.file("copy.firn"))
                raise(SIGTERM)
                precondition(handled.load(ordering: .relaxed))
                signal(SIGHUP, SIG_IGN)
                _ = try Realm(configuration: Realm.Configuration(fileURL: folder.file("second.firn")))
                raise(SIGHUP)
            }
            await #expect(processExitsWith: .signal(SIGTERM)) {
                var none = sigset_t()
                sigemptyset(&none)
                sigprocmask(SIG_SETMASK, &none, nil)
                signal(SIGTERM, SIG_DFL)
                let folder = try RealmFolder(), realm = try Realm(configuration: folder.configuration([Dog.self]))
                try realm.write { realm.create(Dog.self) }
                withExtendedLifetime((try Database.create(path: folder.file("unfinished").path, atFirstCommit: true), realm)) {
                    _ = raise(SIGTERM)
                }
            }
        #endif
    }

    @Test func `a write that waits for a transaction of its own thread is an error`() throws {
        let folder = try RealmFolder(), configuration = folder.configuration([Dog.self]), queue = DispatchQueue(label: "inner")
        let realm = try Realm(configuration: configuration)
        try realm.write {
            // On the same thread.
            try queue.sync {
                let other = try Realm(configuration: configuration, queue: queue)
                #expect(throws: Realm.Error.alreadyInTransaction) { try other.write { other.create(Dog.self) } }
                #expect(throws: Realm.Error.alreadyInTransaction) { try other.tag("x") }
                #expect(throws: Realm.Error.alreadyInTransaction) { try other.shrink() }
            }
            realm.create(Dog.self)
        }
        try queue.sync {
            let other = try Realm(configuration: configuration, queue: queue)
            try other.write {
                #expect(throws: Realm.Error.alreadyInTransaction) { try realm.write {} }
                other.create(Dog.self)
            }
        }
        try realm.write { realm.create(Dog.self) }
        #expect(realm.objects(Dog.self).count == 3)
        // A migration that opens the realm that is being migrated.
        var next = folder.configuration([Dog.self], version: 1)
        next.fileURL = folder.file("b.firn")
        try realm.writeCopy(toFile: folder.file("b.firn"))
        let block: MigrationBlock = { _, _ in
            var same = folder.configuration([Dog.self], version: 1)
            same.fileURL = folder.file("b.firn")
            #expect(throws: Realm.Error.alreadyInTransaction) { try Realm(configuration: same) }
        }
        next.migrationBlock = block
        #expect(try Realm(configuration: next).objects(Dog.self).count == 3)
    }

    @Test func `a write block can commit asynchronously, and later writes wait until this is durable`() throws {
        let folder = try RealmFolder(), configuration = folder.configuration([Dog.self]), queue = DispatchQueue(label: "inner")
        let outer = try Realm(configuration: configuration)
        try queue.sync {
            let realm = try Realm(configuration: configuration, queue: queue)
            try realm.write {
                realm.create(Dog.self)
                realm.commitAsyncWrite()
                // The commit becomes durable on another thread, and the next writer waits for that.
                try outer.write { outer.create(Dog.self) }
            }
            struct Refused: Error {}
            #expect(throws: Refused.self) {
                try realm.write {
                    realm.create(Dog.self)
                    realm.commitAsyncWrite()
                    throw Refused()
                }
            }
            #expect(!realm.isInWriteTransaction && realm.objects(Dog.self).count == 3)
        }
        outer.refresh()
        #expect(outer.objects(Dog.self).count == 3)
    }

    @Test(.timeLimit(.minutes(15))) func `an asynchronous write block can commit by itself`() async throws {
        let folder = try RealmFolder(), queue = DispatchQueue(label: "writes"), configuration = folder.configuration([Dog.self])
        let count = await withCheckedContinuation { (continuation: CheckedContinuation<Int, Never>) in
            queue.async {
                let realm = try! Realm(configuration: configuration, queue: queue)
                realm.writeAsync(
                    {
                        realm.create(Dog.self)
                        realm.commitAsyncWrite()
                    }, onComplete: { error in continuation.resume(returning: error == nil ? realm.objects(Dog.self).count : -1) })
            }
        }
        #expect(count == 1)
    }

    @Test func `a class without a type in the file has no objects`() throws {
        let folder = try RealmFolder(), configuration = folder.configuration()
        let realm = try Realm(configuration: configuration)
        try realm.write { realm.create(Dog.self, value: ["name": "first"]) }
        let first = try realm.versions[0].number
        func check(_ realm: Realm) {
            let all = realm.objects(Person.self)
            #expect(
                all.isEmpty && all.first == nil && all.filter("name == 'x' AND ANY dogs.name == 'y' AND age > 2").isEmpty
                    && all.sorted(byKeyPath: "best.name").isEmpty)
            #expect(realm.object(ofType: Person.self, forPrimaryKey: 1) == nil && all.sum(ofProperty: "age") == 0 && all.freeze().isEmpty)
            #expect(realm.objects(Dog.self).first?.name == "first" && realm.damage == nil)
            for _ in all { Issue.record("an object of the missing type was found") }
        }
        // The version before the type existed.
        try realm.write { realm.create(Person.self, value: ["id": 1]) }
        check(try realm.freeze(at: first))
        let second = Realm.Configuration(fileURL: folder.file("b.firn"))
        try realm.freeze(at: first).writeCopy(toFile: folder.file("b.firn"))
        var reading = second
        reading.readOnly = true
        check(try Realm(configuration: reading))
        // A disk that is full for some time.
        final class Full: DiskCalls {
            let isFull = Atomic<Bool>(true)
            func before(_ call: DiskCall, of file: UInt64) -> Int32? {
                switch call {
                case .write, .allocate: isFull.load(ordering: .relaxed) ? ENOSPC : nil
                default: nil
                }
            }
        }
        let disk = Full()
        ScriptedDisk.begin(in: folder.url.path, disk)
        defer { ScriptedDisk.end(in: folder.url.path) }
        let full = try Realm(configuration: second)
        check(full)
        let people = full.objects(Person.self)
        #expect(throws: Realm.Error.self) { try full.write { full.create(Person.self, value: ["id": 2]) } }
        #expect(people.isEmpty)
        disk.isFull.store(false, ordering: .relaxed)
        withExtendedLifetime(full) {}
    }
}

private let handled = Atomic<Bool>(false)
