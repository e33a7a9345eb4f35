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

    private func configuration(_ place: Place, _ key: Data?, _ name: String = "a.firn") -> Realm.Configuration {
        Realm.Configuration(fileURL: place.file(name), encryptionKey: key, objectTypes: [Diary.self])
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
        let place = try Place()
        try write(configuration(place, key))
        try write(configuration(place, nil, "plain.firn"))
        let words = ["walrus", "embezzlement", "constable", "Diary", "confession", "witness"]
        func found(_ name: String) throws -> [String] {
            let bytes = try Data(contentsOf: place.file(name))
            return words.filter { bytes.range(of: Data($0.utf8)) != nil }
        }
        // A control: a file without a key contains them.
        #expect(try found("plain.firn").count > 3)
        #expect(try found("a.firn") == [])
        #expect(try holds(configuration(place, key)))
        let realm = try Realm(configuration: configuration(place, key))
        try realm.writeCopy(toFile: place.file("copy.firn"), encryptionKey: other)
        try realm.write {
            realm.create(Diary.self, value: ["day": 9999, "confession": "walrus", "witness": "constable plod"])
            // Also within a transaction.
            try realm.writeCopy(configuration: configuration(place, other, "inner.firn"))
        }
        #expect(try found("copy.firn") == [] && found("inner.firn") == [] && found("a.firn") == [])
        #expect(try holds(configuration(place, other, "copy.firn")) && holds(configuration(place, other, "inner.firn"), count: 101))
        try realm.writeCopy(toFile: place.file("open.firn"))
        #expect(try holds(configuration(place, nil, "open.firn"), count: 101))
        // No temporary file remains.
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.folder.path).count == 5)
    }

    @Test func `a missing, wrong or unexpected key does not open a realm [T13]`() throws {
        let place = try Place()
        try write(configuration(place, key))
        try write(configuration(place, nil, "plain.firn"))
        for wrong in [configuration(place, nil), configuration(place, other), configuration(place, key, "plain.firn")] {
            #expect(code { _ = try Realm(configuration: wrong) } == .invalidDatabase)
            // A file that cannot be opened is not deleted either.
            var deleting = wrong
            deleting.deleteRealmIfMigrationNeeded = true
            #expect(code { _ = try Realm(configuration: deleting) } == .invalidDatabase)
        }
        do { _ = try Realm(configuration: configuration(place, other)) } catch let error as Realm.Error {
            #expect(error.cause?.code == .wrongKey && error.message.contains("key"))
        }
        do { _ = try Realm(configuration: configuration(place, nil)) } catch let error as Realm.Error {
            #expect(error.cause?.code == .encrypted)
        }
        #expect(try holds(configuration(place, key)))
        // While it is open, a wrong key is refused as well.
        let realm = try Realm(configuration: configuration(place, key))
        #expect(code { _ = try Realm(configuration: configuration(place, nil)) } == .invalidDatabase)
        #expect(code { _ = try Realm(configuration: configuration(place, other)) } == .invalidDatabase)
        #expect(code { _ = try Realm(configuration: configuration(place, other), queue: DispatchQueue(label: "q")) } == .invalidDatabase)
        withExtendedLifetime(realm) {}
    }

    @Test func `keys of other lengths, and keys of realms in memory, are refused [T13]`() throws {
        let place = try Place()
        for count in [0, 1, 32, 63, 65, 128] {
            let key = Data(repeating: 7, count: count)
            #expect(code { _ = try Realm(configuration: configuration(place, key)) } == .invalidInput, "\(count)")
            #expect(!FileManager.default.fileExists(atPath: place.file().path))
        }
        do { _ = try Realm(configuration: configuration(place, Data(count: 5))) } catch let error as Realm.Error {
            #expect(error.message.contains("Encryption key must be exactly 64 bytes long"))
        }
        #expect(code { _ = try Realm(configuration: Realm.Configuration(inMemoryIdentifier: "x", encryptionKey: key)) } == .invalidInput)
        let realm = try Realm(configuration: configuration(place, key))
        #expect(code { try realm.writeCopy(toFile: place.file("b.firn"), encryptionKey: Data(count: 63)) } == .invalidInput)
    }

    @Test func `frozen realms, other threads, seeds, migrations and compaction work with a key [T13]`() throws {
        let place = try Place()
        try write(configuration(place, key))
        do {
            let realm = try Realm(configuration: configuration(place, key)), frozen = realm.freeze()
            try realm.write { realm.deleteAll() }
            #expect(realm.objects(Diary.self).isEmpty && frozen.objects(Diary.self).count == 100)
            #expect(frozen.objects(Diary.self).filter("confession CONTAINS 'walrus'").count == 100)
        }
        try write(configuration(place, key))
        let task = configuration(place, key)
        let thread = Thread { #expect((try? Realm(configuration: task).objects(Diary.self).count) == 100) }
        thread.start()
        while !thread.isFinished { usleep(1000) }

        for (name, seed, seedKey) in [("b.firn", "a.firn", key), ("c.firn", "plain.firn", nil)] as [(String, String, Data?)] {
            if seedKey == nil { try write(configuration(place, nil, seed)) }
            var seeded = configuration(place, key, name)
            seeded.seedFilePath = place.file(seed)
            #expect(try holds(seeded))
            #expect(code { _ = try Realm(configuration: configuration(place, nil, name)) } == .invalidDatabase)
        }

        var later = configuration(place, key)
        later.schemaVersion = 2
        later.shouldCompactOnLaunch = { _, _ in true }
        #expect(try Realm.performMigration(for: later))
        #expect(try Realm.schemaVersionAtURL(place.file(), encryptionKey: key) == 2)
        #expect(code { _ = try Realm.schemaVersionAtURL(place.file()) } == .invalidDatabase)
        #expect(try holds(later))
        #expect(try Data(contentsOf: place.file()).range(of: Data("walrus".utf8)) == nil)
    }
}
