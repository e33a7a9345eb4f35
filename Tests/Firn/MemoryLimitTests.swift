import Firn
import Foundation
import Testing

/// `Configuration.memoryLimit`: values of a small file that expand beyond the limit are handled like damage, and the program continues.
struct MemoryLimitTests {
    /// Writes 32 values of 2 MB in a few kilobytes.
    private static func write(_ folder: RealmFolder) throws {
        let realm = try Realm(configuration: folder.configuration([Everything.self]))
        try realm.write {
            for i in 0..<32 {
                let one = Everything()
                one.int = i
                one.string = String(repeating: "a", count: 2 << 20) + "\(i)"
                realm.add(one)
            }
        }
        try realm.writeCopy(toFile: folder.file("copy.firn"))
    }

    private static func configuration(_ folder: RealmFolder, limit: Int) -> Realm.Configuration {
        var configuration = folder.configuration([Everything.self])
        configuration.fileURL = folder.file("copy.firn")
        configuration.memoryLimit = limit
        return configuration
    }

    @Test func `values beyond the memory limit of a realm are empty, and its damage names the column`() throws {
        let folder = try RealmFolder()
        try MemoryLimitTests.write(folder)
        let realm = try Realm(configuration: MemoryLimitTests.configuration(folder, limit: 1 << 20)), all = realm.objects(Everything.self)
        #expect(all.count == 32)
        #expect(realm.damage == nil)
        #expect(all.first?.string.isEmpty == true)
        let damage = realm.damage.map { "\($0)" } ?? ""
        #expect(damage.contains("Everything.string"), "\(damage)")
        #expect(damage.contains("memory"), "\(damage)")
        #expect(all.map(\.int).sorted() == Array(0..<32))
    }

    @Test func `a realm with a sufficient memory limit reads the same file`() throws {
        let folder = try RealmFolder()
        try MemoryLimitTests.write(folder)
        let realm = try Realm(configuration: MemoryLimitTests.configuration(folder, limit: 1 << 30))
        #expect(realm.objects(Everything.self).allSatisfy { $0.string.utf8.count > 2 << 20 })
        #expect(realm.damage == nil)
    }
}
