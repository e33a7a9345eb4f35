import FirnDatabase
import FirnDisk
import FirnKit
import Foundation
import Testing

@testable import Firn

/// T5: realms on a disk that is really full: a small one in memory. Needs root.
@Suite struct FullDiskTests {
    private func configuration(_ path: String, compacts: Bool = false) -> Realm.Configuration {
        var configuration = Realm.Configuration(fileURL: URL(fileURLWithPath: path), objectTypes: [Dog.self])
        if compacts { configuration.shouldCompactOnLaunch = { _, _ in true } }
        return configuration
    }

    private func add(_ realm: Realm, _ count: Int, from first: Int) throws {
        // Names that do not compress.
        var random = Random(seed: UInt64(first))
        try realm.write {
            for number in first..<first + count {
                realm.create(
                    Dog.self,
                    value: ["name": "\(number) " + String(decoding: (0..<1000).map { _ in UInt8(random.number(33...126)) }, as: UTF8.self)])
            }
        }
    }

    private func numbers(_ realm: Realm) -> [Int] { realm.objects(Dog.self).map { Int($0.name.prefix { $0 != " " })! }.sorted() }

    private func check(_ path: String, _ moment: Comment) throws {
        let database = try Database.open(path: path)
        #expect(try database.snapshot().verify(full: true).isEmpty && database.verifyStructure().isEmpty, moment)
    }

    @Test func `without space a write throws, reading continues, and after reopening with space writing works [T5]`() throws {
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
                // The rows of the failed write are rolled back, and the earlier rows remain.
                #expect(written > 20 && !realm.isInWriteTransaction && realm.damage == nil)
                #expect(numbers(realm) == Array(0..<written) && dogs.count == written)
                #expect(throws: Realm.Error.self) { try add(realm, 1, from: 9000) }
                // Additional space alone is not enough: the bytes after the last commit are unknown.
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
    func `without space, copies and compaction at launch are errors that leave the file unchanged to the byte [T5]`()
        throws
    {
        try SmallDisk.with { disk in
            let path = disk.file("a.firn"), url = URL(fileURLWithPath: path)
            do {
                let realm = try Realm(configuration: configuration(path))
                try add(realm, 170, from: 0)
                // Several versions are compacted together, so the first one may already be written.
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
            // The file can be opened and read.
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
