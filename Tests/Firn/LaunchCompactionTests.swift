import Firn
import FirnDatabase
import FirnDisk
import Foundation
import Synchronization
import Testing
#if canImport(Glibc)
    import Glibc
#endif

/// `shouldCompactOnLaunch`.
@Suite struct LaunchCompactionTests {
    private func filled(_ configuration: Realm.Configuration) throws {
        let realm = try Realm(configuration: configuration)
        try realm.write { for i in 0..<2000 { realm.create(Dog.self, value: ["name": "dog \(i) \(UUID())"]) } }
        try realm.write { realm.delete(Array(realm.objects(Dog.self).prefix(1900))) }
    }

    @Test func `compaction at launch keeps file permissions and symbolic links`() throws {
        let folder = try RealmFolder(), link = folder.file("link.firn")
        try filled(folder.configuration([Dog.self]))
        chmod(folder.file().path, 0o600)
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: folder.file())
        let before = try FileManager.default.attributesOfItem(atPath: folder.file().path)[.size] as! Int
        // Files of a launch that was killed.
        for name in ["a.firn.compacting", "a.firn.compacting.tmp-1a2b3c"] { try Data(count: 100).write(to: folder.file(name)) }
        var configuration = Realm.Configuration(fileURL: link, objectTypes: [Dog.self])
        configuration.shouldCompactOnLaunch = { _, _ in true }
        #expect(try Realm(configuration: configuration).objects(Dog.self).count == 100)
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.file().path)
        #expect((attributes[.size] as! Int) < before / 2 && (attributes[.posixPermissions] as! Int) == 0o600)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link.path) == folder.file().path)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted() == ["a.firn", "link.firn"])
    }

    @Test func `compaction at launch does not change a file with a damaged last commit, or one that another process has opened`() throws {
        let folder = try RealmFolder()
        try filled(folder.configuration([Dog.self]))
        var configuration = folder.configuration([Dog.self])
        configuration.shouldCompactOnLaunch = { _, _ in true }
        // Another process that opens the file while the new file is written.
        final class Guest: DiskCalls {
            private let held: Mutex<DatabaseSnapshot?> = Mutex(nil)
            private let path: String
            private let isBusy = Atomic<Bool>(false)
            init(_ path: String) { self.path = path }
            func before(_ call: DiskCall, of file: UInt64) -> Int32? {
                guard case .sync = call, !isBusy.exchange(true, ordering: .relaxed) else { return nil }
                let snapshot = try! Database.open(path: path).snapshot()
                held.withLock { $0 = snapshot }
                return nil
            }
        }
        let inode = try FileManager.default.attributesOfItem(atPath: folder.file().path)[.systemFileNumber] as! Int
        ScriptedDisk.begin(in: folder.url.path, Guest(folder.file().path))
        #expect(try Realm(configuration: configuration).objects(Dog.self).count == 100)
        ScriptedDisk.end(in: folder.url.path)
        #expect(try FileManager.default.attributesOfItem(atPath: folder.file().path)[.systemFileNumber] as? Int == inode)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["a.firn"])

        // The extent of the newest root is damaged. The rest of that commit can be recovered only from this file.
        do {
            let realm = try Realm(configuration: folder.configuration([Dog.self]))
            try realm.write { realm.objects(Dog.self)[0].name = "last " + UUID().uuidString }
        }
        var bytes = try Data(contentsOf: folder.file())
        let damaged = try #require(
            (0..<bytes.count / 64).reversed().first { unit -> Bool in
                var copy = bytes
                copy[unit * 64 + 5] ^= 0x40
                try? copy.write(to: folder.file())
                return (try? Database.open(path: folder.file().path))?.fallback != nil
            })
        bytes[damaged * 64 + 5] ^= 0x40
        try bytes.write(to: folder.file())
        do {
            let realm = try Realm(configuration: configuration)
            #expect(realm.interruptedCommit != nil)
        }
        #expect(try Data(contentsOf: folder.file()) == bytes)
    }
}
