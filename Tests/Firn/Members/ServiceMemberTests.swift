import Dispatch
import Firn
import Foundation
import Synchronization
import Testing

@Suite struct ServiceMemberTests {
    @Test(.timeLimit(.minutes(15))) func `asyncOpen delivers the realm of the queue`() async throws {
        let folder = try RealmFolder(), queue = DispatchQueue(label: "opened")
        let configuration = folder.configuration([Dog.self])
        let found: Result<Int, any Error> = await withCheckedContinuation { continuation in
            Realm.asyncOpen(configuration: configuration, callbackQueue: queue) { result in
                continuation.resume(
                    returning: result.flatMap { realm in
                        Result {
                            try realm.write { realm.add(Dog()) }
                            return realm.objects(Dog.self).count
                        }
                    })
            }
        }
        #expect(try found.get() == 1)
        #expect(try Realm(configuration: configuration).objects(Dog.self).count == 1)
    }

    @Test(.timeLimit(.minutes(15))) func `asyncOpen delivers the error, also that of a cancellation`() async throws {
        let queue = DispatchQueue(label: "opened")
        func outcome(_ configuration: Realm.Configuration, cancels: Bool) async -> (any Error)? {
            await withCheckedContinuation { continuation in
                queue.suspend()
                let task = Realm.asyncOpen(configuration: configuration, callbackQueue: queue) { result in
                    do {
                        _ = try result.get()
                        continuation.resume(returning: nil)
                    } catch { continuation.resume(returning: error) }
                }
                if cancels { task.cancel() }
                queue.resume()
            }
        }
        let folder = try RealmFolder()
        let missing = Realm.Configuration(fileURL: folder.file("none"), readOnly: true)
        #expect((await outcome(missing, cancels: false) as? Realm.Error)?.code == .fileNotFound)
        #expect((await outcome(folder.configuration([Dog.self]), cancels: true) as? POSIXError)?.code == .ECANCELED)
    }

    @Test func `a logger records messages up to its level`() {
        let lines: Mutex<[String]> = Mutex([])
        let logger = Logger(level: .detail) { level, message in lines.withLock { $0.append("\(level) \(message)") } }
        logger.log(level: .info, message: "a")
        logger.log(level: .debug, message: "b")
        logger.log(level: .off, message: "c")
        logger.level = .trace
        logger.log(level: .trace, message: "d")
        #expect(lines.withLock { $0 } == ["info a", "trace d"])
        #expect(LogLevel.off < .fatal && LogLevel.trace < .all && LogLevel.allCases.count == 9)
    }

    @Test func `the shared logger records openings, migrations and commits`() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent, \.standardErrorContent]) {
            let folder = try RealmFolder()
            Logger.shared.level = .debug
            do {
                let realm = try Realm(configuration: folder.configuration([Dog.self]))
                try realm.write { realm.add(Dog()) }
            }
            Logger.shared = Logger(level: .detail) { level, message in print("own", level, message) }
            _ = try Realm(configuration: folder.configuration([Dog.self], version: 2))
            Logger.setLogLevel(.off)
            _ = try Realm(configuration: folder.configuration([Dog.self], version: 2)).write {}
            exit(Logger.logLevel == .off ? 0 : 1)
        }
        let errors = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        let output = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
        #expect(errors.contains("realm debug: opened \"") && errors.contains("realm debug: committed version "), "\(errors)")
        #expect(
            output.contains("own detail migrating \"") && output.contains("from schema version 0 to 2") && !output.contains("opened"),
            "\(output)")
    }

    @Test func `an object is observed by a block that names a base class`() throws {
        let all = try GuildRealm(), object: Object = all.ada
        var log: [String] = []
        let token = object.observe { (change: ObjectChange<ObjectBase>) in
            if case .change(let changed, let properties) = change { log.append("base \(changed === all.ada) \(properties.map(\.name))") }
            if case .deleted = change { log.append("deleted") }
        }
        let own = object.observe(keyPaths: ["age"]) { (change: ObjectChange<Member>) in
            if case .change(let member, _) = change { log.append("own \(member.age)") }
        }
        try all.realm.write { all.ada.age = 41 }
        all.realm.refresh()
        try all.realm.write { all.ada.name = "Eve" }
        all.realm.refresh()
        #expect(log.sorted() == ["base true [\"age\"]", "base true [\"name\"]", "own 41"])
        try all.realm.write { all.realm.delete(all.ada) }
        all.realm.refresh()
        #expect(log.last == "deleted")
        token.invalidate()
        own.invalidate()
    }

    @Test func `a block that names another class traps`() async {
        await #expect(processExitsWith: .failure) {
            let object: Object = try GuildRealm().ada
            _ = object.observe { (change: ObjectChange<Guild>) in _ = change }
        }
    }

    @Test(.timeLimit(.minutes(15))) func `valuePublisher gives the frozen object after each change, and ends with its deletion`()
        async throws
    {
        let file = TemporaryRealm(), url = file.url
        @Sendable func write(_ body: (Realm, Member) -> Void) throws {
            let realm = try Realm(fileURL: url)
            try realm.write { body(realm, realm.objects(Member.self).first ?? realm.create(Member.self)) }
        }
        try write { $1.name = "Ada" }
        let values = try valuePublisher(Realm(fileURL: url).objects(Member.self)[0])
        var iterator = values.makeAsyncIterator()
        let changes = Task { @Sendable in
            try await Task.sleep(nanoseconds: 50_000_000)
            try write { $1.age = 5 }
        }
        let first = try #require(await iterator.next())
        try await changes.value
        #expect(first.isFrozen && first.age == 5)
        let deletion = Task { @Sendable in
            try await Task.sleep(nanoseconds: 50_000_000)
            try write { $0.delete($1) }
        }
        #expect(await iterator.next() == nil)
        try await deletion.value
    }

    @Test(.timeLimit(.minutes(15))) func `valuePublisher and changesetPublisher give collections as they are first`() async throws {
        let file = TemporaryRealm(), realm = try Realm(fileURL: file.url)
        try realm.write {
            let guild = realm.create(Guild.self)
            guild.fees["a"] = 1
            guild.members.append(Member("Ada", 1))
        }
        let guild = realm.objects(Guild.self)[0]
        let all = valuePublisher(guild.members), fees = valuePublisher(guild.fees), changes = changesetPublisher(guild.members)
        let mapChanges = changesetPublisher(guild.fees), sections = valuePublisher(realm.objects(Member.self).sectioned(by: \.name))
        for await members in all {
            #expect(members.isFrozen && members.count == 1)
            break
        }
        for await fees in fees {
            #expect(fees.isFrozen && fees["a"] == 1)
            break
        }
        for await change in changes {
            #expect(change.collection?.count == 1)
            break
        }
        for await change in mapChanges {
            let fees: Map<String, Int>? = if case .initial(let fees) = change { fees } else { nil }
            #expect(fees?.count == 1)
            break
        }
        for await sections in sections {
            #expect(sections.allKeys == ["Ada"])
            break
        }
    }
}
