import Firn
import Foundation
import Testing

/// `Realm.shrink()`: the file keeps its identity and becomes shorter.
@Suite struct ShrinkTests {
    private func size(_ folder: RealmFolder) throws -> Int { try Data(contentsOf: folder.file()).count }

    private func grown(_ folder: RealmFolder, key: Data?) throws -> Realm {
        var configuration = folder.configuration([Dog.self])
        configuration.encryptionKey = key
        let realm = try Realm(configuration: configuration)
        try realm.write {
            for i in 0..<6000 { realm.create(Dog.self, value: ["name": "dog number \(i &* 0x9E37_79B9)", "age": i % 15]) }
        }
        try realm.write { realm.delete(realm.objects(Dog.self).where { $0.age > 2 }) }
        return realm
    }

    @Test(arguments: [false, true]) func `the file of an open realm can be shrunk, and its objects do not change`(
        isEncrypted: Bool
    ) throws {
        let folder = try RealmFolder(), key = isEncrypted ? Data((0..<64).map { UInt8($0) }) : nil
        let realm = try grown(folder, key: key), dogs = realm.objects(Dog.self), first = dogs[0], names = Array(dogs.map(\.name))
        let before = try size(folder), result = try realm.shrink(), after = try size(folder)
        #expect(result.bytesBefore == before && result.bytesAfter == after && after < before / 2, "\(result)")
        #expect(!result.ranOutOfSpace && result.waitingForTags == 0)
        #expect(first.name == names[0] && Array(dogs.map(\.name)) == names)
        try realm.write { first.name = "Rex" }
        #expect(realm.objects(Dog.self).where { $0.name == "Rex" }.count == 1)
    }

    @Test func `space that a frozen realm holds is freed by a later shrink, and writes without durability are kept`() throws {
        let folder = try RealmFolder(), realm = try grown(folder, key: nil), count = realm.objects(Dog.self).count
        var frozen: Realm? = realm.freeze()
        try realm.write(durability: .none) { realm.create(Dog.self, value: ["name": "late"]) }
        let held = try realm.shrink()
        #expect(held.waitingForReaders > 0, "\(held)")
        #expect(frozen?.objects(Dog.self).count == count && realm.objects(Dog.self).count == count + 1)
        frozen = nil
        let result = try realm.shrink()
        #expect(result.bytesAfter < held.bytesBefore / 2 && result.waitingForReaders == 0, "\(result)")
        #expect(realm.objects(Dog.self).count == count + 1)
    }

    @Test func `the file of a read-only realm cannot be shrunk`() throws {
        let folder = try RealmFolder()
        _ = try grown(folder, key: nil)
        var configuration = folder.configuration([Dog.self])
        configuration.readOnly = true
        let realm = try Realm(configuration: configuration)
        #expect(throws: Realm.Error.filePermissionDenied) { try realm.shrink() }
    }
}
