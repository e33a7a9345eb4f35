import FirnDatabase
import FirnDisk
import FirnKit
import Foundation
import Testing

@testable import Firn

/// T5: realms on a disk that is really full, which is a small one in memory; needs root.
@Suite struct FullDiskTests {
    private func configuration(_ path: String, compacts: Bool = false) -> Realm.Configuration {
        var configuration = Realm.Configuration(fileURL: URL(fileURLWithPath: path), objectTypes: [Dog.self])
        if compacts { configuration.shouldCompactOnLaunch = { _, _ in true } }
        return configuration
    }

    private func add(_ realm: Realm, _ count: Int, from first: Int) throws {
        // Names that do not compress.
        try realm.write {
            for number in first..<first + count {
                realm.create(
                    Dog.self,
                    value: ["name": "\(number) " + String(decoding: (0..<1000).map { _ in UInt8.random(in: 33...126) }, as: UTF8.self)])
            }
        }
    }

    private func numbers(_ realm: Realm) -> [Int] { realm.objects(Dog.self).map { Int($0.name.prefix { $0 != " " })! }.sorted() }

    private func check(_ path: String, _ place: Comment) throws {
        let database = try Database.open(path: path)
        #expect(try database.snapshot().verify(full: true).isEmpty && database.verifyStructure().isEmpty, place)
    }

    @Test func `T5: without space a write throws, the realm reads on, and opened again it writes when there is space`() throws {
        try SmallDisk.with { disk in
            let path = disk.file("a.firn")
            var written = 0
            do {
                let realm = try Realm(configuration: configuration(path)), dogs = realm.objects(Dog.self)
                let thrown = #expect(throws: Realm.Error.self) {
                    while written < 4000 {
                        try add(realm, 10, from: written)
                        written += 10
                    }
                }
                #expect(thrown?.code == .outOfDiskSpace, "\(String(describing: thrown))")
                // What the failed write had added is gone, what was written is there.
                #expect(written > 20 && !realm.isInWriteTransaction && realm.damage == nil)
                #expect(numbers(realm) == Array(0..<written) && dogs.count == written)
                #expect(throws: Realm.Error.self) { try add(realm, 1, from: 9000) }
                // Space alone does not mend it: what is in the file beyond the last commit is not known.
                #expect(disk.grow())
                #expect(throws: Realm.Error.self) { try add(realm, 1, from: 9000) }
                #expect(numbers(realm) == Array(0..<written))
            }
            try check(path, "after \(written) rows")
            let realm = try Realm(configuration: configuration(path))
            #expect(numbers(realm) == Array(0..<written))
            try add(realm, 20, from: written)
            #expect(numbers(realm) == Array(0..<written + 20))
            try check(path, "with space")
        }
    }

    @Test
    func `T5: without space a copy and compaction at opening are errors, leave nothing behind, and the file stays as it was to the byte`()
        throws
    {
        try SmallDisk.with { disk in
            let path = disk.file("a.firn"), url = URL(fileURLWithPath: path)
            do {
                let realm = try Realm(configuration: configuration(path))
                try add(realm, 170, from: 0)
                // Several versions are compacted together: the first may have had its place already.
                try Database.open(path: path, writable: true).tag("first", Database.open(path: path).snapshot())
                try add(realm, 10, from: 170)
                #expect(throws: Realm.Error.self) { try realm.writeCopy(toFile: URL(fileURLWithPath: disk.file("copy.firn"))) }
                #expect(numbers(realm) == Array(0..<180))
            }
            #expect(try Paths.list(disk.path) == ["a.firn"])
            let bytes = try Data(contentsOf: url)
            let thrown = #expect(throws: Realm.Error.self) { _ = try Realm(configuration: configuration(path, compacts: true)) }
            #expect(thrown?.code == .outOfDiskSpace, "\(String(describing: thrown))")
            #expect(try Paths.list(disk.path) == ["a.firn"])
            #expect(try Data(contentsOf: url) == bytes)
            // It opens, and reads.
            do {
                let realm = try Realm(configuration: configuration(path))
                #expect(numbers(realm) == Array(0..<180))
            }
            #expect(disk.grow())
            let realm = try Realm(configuration: configuration(path, compacts: true))
            #expect(try numbers(realm) == Array(0..<180) && Data(contentsOf: url) != bytes && realm.versions.count == 2)
            try add(realm, 1, from: 180)
            try realm.writeCopy(toFile: URL(fileURLWithPath: disk.file("copy.firn")))
            try check(disk.file("copy.firn"), "the copy")
            try check(path, "with space")
        }
    }
}
