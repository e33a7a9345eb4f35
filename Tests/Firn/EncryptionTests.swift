import Firn
import Foundation
import Testing

class Diary: Object {
    @Persisted(primaryKey: true) var day: Int
    @Persisted var confession = ""
    @Persisted(indexed: true) var witness: String?
}

/// T13: realms with encrypted files.
@Suite struct EncryptionTests {
    private let key = Data(0..<64), other = Data(1..<65)

    private func configuration(_ folder: RealmFolder, _ key: Data?, _ name: String = "a.firn") -> Realm.Configuration {
        Realm.Configuration(fileURL: folder.file(name), encryptionKey: key, objectTypes: [Diary.self])
    }

    private func code(_ body: () throws -> Void) -> Realm.Error.Code? {
        do { try body() } catch { return (error as? Realm.Error)?.code }
        return nil
    }

    private func write(_ configuration: Realm.Configuration) throws {
        let realm = try Realm(configuration: configuration)
        for day in 0..<5 {
            try realm.write {
                for hour in 0..<20 {
                    realm.create(
                        Diary.self,
                        value: ["day": day * 100 + hour, "confession": "walrus embezzlement \(hour)", "witness": "constable plod"])
                }
            }
        }
    }

    private func holds(_ configuration: Realm.Configuration, count: Int = 100) throws -> Bool {
        let days = try Realm(configuration: configuration).objects(Diary.self)
        return days.count == count && days.filter("witness == 'constable plod' AND confession CONTAINS 'walrus'").count == count
    }

    @Test func `the file of a realm with a key contains no plain text of data or schema [T13]`() throws {
        let folder = try RealmFolder()
        try write(configuration(folder, key))
        try write(configuration(folder, nil, "plain.firn"))
        let words = ["walrus", "embezzlement", "constable", "Diary", "confession", "witness"]
        func found(_ name: String) throws -> [String] {
            let bytes = try Data(contentsOf: folder.file(name))
            return words.filter { bytes.range(of: Data($0.utf8)) != nil }
        }
        // A control: a file without a key contains them.
        #expect(try found("plain.firn").count > 3)
        #expect(try found("a.firn") == [])
        #expect(try holds(configuration(folder, key)))
        let realm = try Realm(configuration: configuration(folder, key))
        try realm.writeCopy(toFile: folder.file("copy.firn"), encryptionKey: other)
        try realm.write {
            realm.create(Diary.self, value: ["day": 9999, "confession": "walrus", "witness": "constable plod"])
            // Also within a transaction.
            try realm.writeCopy(configuration: configuration(folder, other, "inner.firn"))
        }
        #expect(try found("copy.firn") == [] && found("inner.firn") == [] && found("a.firn") == [])
        #expect(try holds(configuration(folder, other, "copy.firn")) && holds(configuration(folder, other, "inner.firn"), count: 101))
        try realm.writeCopy(toFile: folder.file("open.firn"))
        #expect(try holds(configuration(folder, nil, "open.firn"), count: 101))
        // No temporary file remains.
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).count == 5)
    }

    @Test func `a missing, wrong or unexpected key does not open a realm [T13]`() throws {
        let folder = try RealmFolder()
        try write(configuration(folder, key))
        try write(configuration(folder, nil, "plain.firn"))
        for wrong in [configuration(folder, nil), configuration(folder, other), configuration(folder, key, "plain.firn")] {
            #expect(code { _ = try Realm(configuration: wrong) } == .invalidDatabase)
            // A file that cannot be opened is not deleted either.
            var deleting = wrong
            deleting.deleteRealmIfMigrationNeeded = true
            #expect(code { _ = try Realm(configuration: deleting) } == .invalidDatabase)
        }
        do { _ = try Realm(configuration: configuration(folder, other)) } catch let error as Realm.Error {
            #expect(error.cause?.code == .wrongKey && error.message.contains("set Realm.Configuration.encryptionKey"))
            #expect(!error.message.contains("--key-file") && error.cause?.advice?.contains("--key-file") == false)
        }
        do { _ = try Realm(configuration: configuration(folder, nil)) } catch let error as Realm.Error {
            #expect(error.cause?.code == .encrypted && error.message.contains("set Realm.Configuration.encryptionKey"))
        }
        #expect(try holds(configuration(folder, key)))
        // While it is open, a wrong key is refused as well.
        let realm = try Realm(configuration: configuration(folder, key))
        #expect(code { _ = try Realm(configuration: configuration(folder, nil)) } == .invalidDatabase)
        #expect(code { _ = try Realm(configuration: configuration(folder, other)) } == .invalidDatabase)
        #expect(code { _ = try Realm(configuration: configuration(folder, other), queue: DispatchQueue(label: "q")) } == .invalidDatabase)
        withExtendedLifetime(realm) {}
    }

    @Test func `keys of other lengths, and keys of realms in memory, are refused [T13]`() throws {
        let folder = try RealmFolder()
        for count in [0, 1, 32, 63, 65, 128] {
            let key = Data(repeating: 7, count: count)
            #expect(code { _ = try Realm(configuration: configuration(folder, key)) } == .invalidInput, "\(count)")
            #expect(!FileManager.default.fileExists(atPath: folder.file().path))
        }
        do { _ = try Realm(configuration: configuration(folder, Data(count: 5))) } catch let error as Realm.Error {
            #expect(error.message.contains("Encryption key must be exactly 64 bytes long"))
        }
        #expect(code { _ = try Realm(configuration: Realm.Configuration(inMemoryIdentifier: "x", encryptionKey: key)) } == .invalidInput)
        let realm = try Realm(configuration: configuration(folder, key))
        #expect(code { try realm.writeCopy(toFile: folder.file("b.firn"), encryptionKey: Data(count: 63)) } == .invalidInput)
    }

    @Test func `frozen realms, other threads, seeds, migrations and compaction work with a key [T13]`() throws {
        let folder = try RealmFolder()
        try write(configuration(folder, key))
        do {
            let realm = try Realm(configuration: configuration(folder, key)), frozen = realm.freeze()
            try realm.write { realm.deleteAll() }
            #expect(realm.objects(Diary.self).isEmpty && frozen.objects(Diary.self).count == 100)
            #expect(frozen.objects(Diary.self).filter("confession CONTAINS 'walrus'").count == 100)
        }
        try write(configuration(folder, key))
        let task = configuration(folder, key)
        let thread = Thread { #expect((try? Realm(configuration: task).objects(Diary.self).count) == 100) }
        thread.start()
        while !thread.isFinished { usleep(1000) }

        for (name, seed, seedKey) in [("b.firn", "a.firn", key), ("c.firn", "plain.firn", nil)] as [(String, String, Data?)] {
            if seedKey == nil { try write(configuration(folder, nil, seed)) }
            var seeded = configuration(folder, key, name)
            seeded.seedFilePath = folder.file(seed)
            #expect(try holds(seeded))
            #expect(code { _ = try Realm(configuration: configuration(folder, nil, name)) } == .invalidDatabase)
        }

        var later = configuration(folder, key)
        later.schemaVersion = 2
        later.shouldCompactOnLaunch = { _, _ in true }
        #expect(try Realm.performMigration(for: later))
        #expect(try Realm.schemaVersionAtURL(folder.file(), encryptionKey: key) == 2)
        #expect(code { _ = try Realm.schemaVersionAtURL(folder.file()) } == .invalidDatabase)
        #expect(try holds(later))
        #expect(try Data(contentsOf: folder.file()).range(of: Data("walrus".utf8)) == nil)
    }
}
