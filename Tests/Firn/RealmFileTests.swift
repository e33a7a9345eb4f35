import Firn
import FirnDisk
import FirnKit
import Foundation
import Synchronization
import Testing

@Suite struct RealmFileTests {
    @Test func `copies can be written of a version and of the changes of a transaction`() throws {
        let folder = try RealmFolder()
        let realm = try Realm(configuration: folder.configuration([Dog.self]))
        try realm.write { for i in 0..<100 { realm.create(Dog.self, value: ["name": "d\(i)"]) } }
        try realm.writeCopy(toFile: folder.file("b.firn"))
        try realm.write {
            realm.objects(Dog.self)[0].name = "changed"
            realm.objects(Dog.self)[1].toys.append("bone")
            try realm.writeCopy(toFile: folder.file("c.firn"))
            realm.objects(Dog.self)[2].name = "after"
        }
        #expect(realm.objects(Dog.self).prefix(3).map(\.name) == ["changed", "d1", "after"])
        let b = try Realm(fileURL: folder.file("b.firn")), c = try Realm(fileURL: folder.file("c.firn"))
        #expect(b.objects(Dog.self).prefix(3).map(\.name) == ["d0", "d1", "d2"])
        #expect(c.objects(Dog.self).prefix(3).map(\.name) == ["changed", "d1", "d2"] && c.objects(Dog.self)[1].toys.first == "bone")
        #expect(throws: Realm.Error.fileExists) { try realm.writeCopy(toFile: folder.file("b.firn")) }
        try realm.writeCopy(configuration: Realm.Configuration(fileURL: folder.file("d.firn")))
        #expect(try Realm(fileURL: folder.file("d.firn")).objects(Dog.self).count == 100)
    }

    @Test func `realms in memory are the same only if their complete identifiers are equal`() throws {
        func open(_ identifier: String) throws -> Realm {
            try Realm(configuration: Realm.Configuration(inMemoryIdentifier: identifier, objectTypes: [Dog.self]))
        }
        let end = String(repeating: "x", count: 300), place = try RealmFolder().file("a").path
        let one = try open(place + "1" + end), two = try open(place + "2" + end), same = try open(place + "1" + end)
        // Bytes whose hexadecimal digits are equal when concatenated.
        let three = try open(place + "\u{1}#"), four = try open(place + "\u{12}\u{3}")
        try one.write { one.create(Dog.self, value: ["name": "a"]) }
        try three.write { three.create(Dog.self, value: ["name": "b"]) }
        #expect(same.objects(Dog.self).count == 1 && two.objects(Dog.self).isEmpty && four.objects(Dog.self).isEmpty)
    }

    #if os(Linux)
        @Test func `the file of a realm in memory is removed after its process has ended, and other users cannot read it`() throws {
            let process = Process()
            process.executableURL = URL(filePath: "/bin/true")
            try process.run()
            process.wait()
            // The name of a file of a killed process: its process id and start time.
            let own = "\(ProcessStamp.own)".split(separator: "-")
            let left = "/dev/shm/firn-memory-\(own[0])-\(String(process.processIdentifier, radix: 36))-1-mark-name-1.firn"
            let other = "/dev/shm/firn-memory-00000001-\(String(process.processIdentifier, radix: 36))-1-mark-name-1.firn"
            defer { for path in [left, other] { try? FileManager.default.removeItem(atPath: path) } }
            for path in [left, other] { try Data([1]).write(to: URL(filePath: path)) }
            let identifier = UUID().uuidString
            let realm = try Realm(configuration: Realm.Configuration(inMemoryIdentifier: identifier, objectTypes: [Dog.self]))
            #expect(!FileManager.default.fileExists(atPath: left) && FileManager.default.fileExists(atPath: other))
            let made = try FileManager.default.contentsOfDirectory(atPath: "/dev/shm").filter {
                $0.hasPrefix("firn-memory-\(ProcessStamp.own)-")
            }
            #expect(!made.isEmpty)
            for name in made {
                let mode = (try? FileManager.default.attributesOfItem(atPath: "/dev/shm/" + name))?[.posixPermissions] as? NSNumber
                #expect(mode == nil || mode == 0o600, "\(name)")
            }
            withExtendedLifetime(realm) {}
        }
    #endif

    @Test func `files can be found and deleted, but not while they are open`() throws {
        let folder = try RealmFolder(), configuration = folder.configuration()
        #expect(!Realm.fileExists(for: configuration))
        #expect(try !Realm.deleteFiles(for: configuration))
        var realm: Realm? = try Realm(configuration: configuration)
        #expect(Realm.fileExists(for: configuration) && realm?.isEmpty == true)
        #expect(throws: Realm.Error.alreadyOpen) { try Realm.deleteFiles(for: configuration) }
        realm = nil
        #expect(try Realm.deleteFiles(for: configuration))
        #expect(!Realm.fileExists(for: configuration))
    }

    @Test func `opening missing and invalid files throws different errors`() throws {
        let folder = try RealmFolder()
        #expect(throws: Realm.Error.fileNotFound) { try Realm(configuration: Realm.Configuration(fileURL: folder.file(), readOnly: true)) }
        #expect(throws: Realm.Error.invalidDatabase) { try Realm.schemaVersionAtURL(folder.file()) }
        try Data("no realm at all, but long enough to be looked at".utf8).write(to: folder.file())
        #expect(throws: Realm.Error.invalidDatabase) { try Realm(fileURL: folder.file()) }
        #expect(throws: Realm.Error.invalidInput) { try Realm(configuration: Realm.Configuration(fileURL: nil)) }
        #expect(throws: Realm.Error.fileNotFound) { try Realm(fileURL: folder.url.appendingPathComponent("none/there.firn")) }
    }

    @Test func `nested writes are refused, and so are writes to read-only realms`() throws {
        let folder = try RealmFolder()
        do {
            let realm = try Realm(configuration: folder.configuration([Dog.self]))
            try realm.write {
                realm.create(Dog.self)
                do {
                    try realm.write {}
                    Issue.record("a nested write was accepted")
                } catch let error as Realm.Error { #expect(error.message == "The Realm is already in a write transaction") }
            }
            #expect(realm.objects(Dog.self).count == 1)
        }
        let realm = try Realm(configuration: Realm.Configuration(fileURL: folder.file(), readOnly: true))
        #expect(realm.objects(Dog.self).count == 1)
        #expect(throws: Realm.Error.filePermissionDenied) { try realm.write {} }
    }

    @Test func `a new file begins as a copy of its seed`() throws {
        let folder = try RealmFolder()
        let seed = try Realm(fileURL: folder.file("seed.firn"))
        try seed.write { seed.create(Dog.self, value: ["name": "Seed"]) }
        var configuration = folder.configuration([Dog.self])
        configuration.seedFilePath = folder.file("seed.firn")
        for expected in [1, 2] {
            let realm = try Realm(configuration: configuration)
            #expect(realm.objects(Dog.self).count == expected && realm.objects(Dog.self)[0].name == "Seed")
            try realm.write { realm.create(Dog.self) }
        }
        #expect(seed.objects(Dog.self).count == 1)
        configuration.fileURL = folder.file("b.firn")
        configuration.seedFilePath = folder.file("none.firn")
        #expect(throws: Realm.Error.fileNotFound) { try Realm(configuration: configuration) }
    }

    @Test func `a file is compacted at launch if the block returns true`() throws {
        let folder = try RealmFolder()
        do {
            let realm = try Realm(configuration: folder.configuration([Dog.self]))
            for i in 0..<30 { try realm.write { for j in 0..<500 { realm.create(Dog.self, value: ["name": "dog \(i) \(j) \(UUID())"]) } } }
            try realm.write { realm.deleteAll() }
            try realm.write { realm.create(Dog.self, value: ["name": "left"]) }
        }
        func size() throws -> Int { try Data(contentsOf: folder.file()).count }
        let before = try size()
        let asked = Mutex<[[Int]]>([])
        var configuration = folder.configuration([Dog.self])
        configuration.shouldCompactOnLaunch = { total, used in
            asked.withLock { $0.append([total, used]) }
            return asked.withLock { $0.count } > 1
        }
        do { #expect(try Realm(configuration: configuration).objects(Dog.self).count == 1) }
        #expect(try size() == before)
        do {
            let realm = try Realm(configuration: configuration)
            #expect(realm.objects(Dog.self)[0].name == "left")
            // The file is already open, so the block is not called.
            _ = try Realm(configuration: configuration)
            try realm.write { realm.create(Dog.self) }
        }
        let sizes = asked.withLock { $0 }
        #expect(sizes.count == 2 && sizes[0][0] == before && sizes[0][1] < before && sizes[0][1] > 0)
        #expect(try size() < before)
    }

    @Test func `the number of active versions is limited, and the error names the holder of the oldest [D12]`() throws {
        let folder = try RealmFolder()
        var configuration = folder.configuration([Dog.self])
        configuration.maximumNumberOfActiveVersions = 3
        let realm = try Realm(configuration: configuration)
        var frozen: [Realm] = []
        for _ in 0..<2 {
            try realm.write { realm.create(Dog.self) }
            frozen.append(realm.freeze())
        }
        try realm.write { realm.create(Dog.self) }
        #expect(try realm.activeVersions.count == 3)
        frozen.append(realm.freeze())
        do {
            try realm.write { realm.create(Dog.self) }
            Issue.record("a version beyond the limit was written")
        } catch let error as Realm.Error {
            #expect(
                error.code == .tooManyVersions && error.message.contains("exceed the limit of 3")
                    && error.message.contains("read by a frozen realm"), "\(error)")
        }
        let versions = try realm.activeVersions
        #expect(versions.count == 3 && versions[0].holders == ["a frozen realm"] && versions[2].holders.count == 2)
        #expect(versions.allSatisfy { $0.age.map { $0 >= 0 && $0 < 600 } ?? false })
        frozen.removeFirst()
        try realm.write { realm.create(Dog.self) }
        #expect(realm.objects(Dog.self).count == 4)
        #expect(try realm.bytesOfOlderVersions > 0)
    }

    @Test func `the schema has the types and properties of the classes`() throws {
        let realm = try memoryRealm([Person.self])
        let schema = realm.schema
        #expect(schema.objectSchema.map(\.className).sorted() == ["Address", "Dog", "Person"])
        let person = try #require(schema["Person"])
        #expect(person.primaryKeyProperty?.name == "id" && person["dogs"]?.isArray == true && person["dogs"]?.objectClassName == "Dog")
        #expect(person["age"]?.isOptional == true && person["age"]?.type == .int && schema["Address"]?.isEmbedded == true)
        #expect(Person().objectSchema["age"]?.isIndexed == true && Dog().objectSchema["friends"]?.isSet == true)
        let stored = try realm.write { realm.create(Person.self, value: ["id": 1]) }
        #expect(stored.objectSchema["age"]?.isIndexed == true && "\(person)".contains("id: int, primary key"))
    }

    @Test func `dynamic objects and objects of classes have the same data`() throws {
        let realm = try memoryRealm([Person.self])
        try realm.write {
            let person = realm.create(
                Person.self, value: ["id": 1, "name": "Ada", "dogs": [["name": "Rex"]], "address": ["street": "x"]] as [String: Any])
            let dynamic = try #require(realm.dynamicObject(ofType: "Person", forPrimaryKey: 1))
            #expect(dynamic.name as? String == "Ada" && (dynamic.dogs as? List<DynamicObject>)?.first?["name"] as? String == "Rex")
            #expect((dynamic.address as? DynamicObject)?["city"] as? String == "Zürich")
            dynamic["name"] = "Grace"
            dynamic["age"] = 36
            #expect(person.name == "Grace" && person.age == 36)
            person.name = "Edith"
            person.dogs.append(Dog(value: ["name": "Bello"]))
            #expect(dynamic.name as? String == "Edith" && (dynamic.dogs as? List<DynamicObject>)?.count == 2)
            dynamic["dogs"] = [realm.dynamicCreate("Dog", value: ["name": "Waldi"])]
            #expect(person.dogs.map(\.name) == ["Waldi"])
            dynamic["address"] = ["street": "new"]
            #expect(person.address?.street == "new" && realm.dynamicObjects("Address").count == 1)
            let second = realm.dynamicCreate(
                "Person", value: ["id": 2, "best": ["name": "Hasso"], "address": ["street": "y"]] as [String: Any])
            #expect(realm.objects(Person.self).count == 2 && realm.object(ofType: Person.self, forPrimaryKey: 2)?.best?.name == "Hasso")
            realm.dynamicCreate("Person", value: ["id": 2, "name": "Two"] as [String: Any], update: .modified)
            #expect(second.name as? String == "Two" && realm.objects(Person.self).count == 2)
        }
        let all = realm.dynamicObjects("Person")
        #expect(all.count == 2 && all.map { $0.name as? String ?? "" } == ["Edith", "Two"] && all.filter("name == 'Two'").count == 1)
        #expect(all.freeze()[1]["name"] as? String == "Two")
        #expect(realm.dynamicObject(ofType: "Person", forPrimaryKey: 3) == nil)
    }
}
