import FirnBytes
import FirnKit
import Foundation
import Testing

@testable import FirnDatabase
@testable import FirnTable

/// T13: databases in encrypted files.
@Suite struct EncryptedFileTests {
    private let key = EncryptionKey([UInt8](0..<64))!, other = EncryptionKey([UInt8](1..<65))!

    private func file(_ name: String) -> String {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().path + "/Fixtures/firn/" + name
    }

    /// This file never changes: every later version of Firn must open it.
    @Test func `an encrypted file of the first version with encryption opens [T13]`() throws {
        let database = try Database.open(path: file("encrypted.firn"), key: key)
        for version in [1, 2] as [UInt64] {
            let snapshot = try database.snapshot(version: version)
            #expect(snapshot.verify(full: true).isEmpty)
            let rows = try allRows(snapshot.table(named: "mathematician")!).map(\.values)
            #expect(rows.map { $0[1] } == [.string("Ada Lovelace"), .string("Emmy Noether"), .string("Sofia Kovalevskaya")])
            #expect(snapshot.indexes.count == (version == 2 ? 1 : 0))
        }
        #expect(try database.verifyStructure().isEmpty)
        #expect(database.fallback == nil)
    }

    @Test(arguments: Seed.first(3))
    func `random tables are equal in files with and without a key after commits, indexes and compaction [T13]`(seed: Seed) throws {
        let folder = TemporaryFolder()
        var random = RandomTables(seed)
        let type = TypeSchema(
            "Submarine",
            columns: [
                ColumnSchema("depth", ColumnType(.int, optional: true)), ColumnSchema("logbook", ColumnType(.string, optional: true)),
                ColumnSchema("speed", ColumnType(.double)),
            ])
        let plain = try Database.create(path: folder.file("plain.firn"), atFirstCommit: seed.number % 2 == 0)
        let sealed = try Database.create(path: folder.file("sealed.firn"), atFirstCommit: seed.number % 2 == 0, key: key)
        var count = 0
        for round in 0..<6 {
            var rows: [[Value]] = []
            for _ in 0..<(round == 3 ? 5000 : random.number(1...40)) {
                rows.append([
                    random.chance(10) ? .null : .int(Int64(random.number(-400...400))), .string("periscope \(random.number(0...60)) up"),
                    .double(Double(random.number(0...99))),
                ])
            }
            for database in [plain, sealed] {
                let transaction = try database.begin()
                if round == 0 { try transaction.extendSchema([type]) }
                if round % 2 == 1 {
                    _ = try transaction.bulkWriter("Submarine").append(
                        RandomTables.batch(rows, of: transaction.schema["Submarine"]!, in: transaction.schema))
                } else {
                    for row in rows { _ = try transaction.insert("Submarine", row) }
                }
                if round == 4 { try transaction.addIndex("Submarine", "logbook", .values) }
                try transaction.commit()
            }
            count += rows.count
            let expected = try allRows(plain.snapshot().table(named: "Submarine")!).map(\.values)
            #expect(
                try allRows(sealed.snapshot().table(named: "Submarine")!).map(\.values) == expected && expected.count == count,
                "seed \(seed), round \(round)")
            #expect(try sealed.snapshot().verify(full: true).isEmpty && sealed.verifyStructure().isEmpty)
        }
        let expected = try allRows(plain.snapshot().table(named: "Submarine")!).map(\.values)
        for (name, encryption, key) in [("same.firn", .same, key), ("other.firn", .key(other), other), ("open.firn", .plain, nil)]
            as [(String, CopyEncryption, EncryptionKey?)]
        {
            try sealed.snapshot().compact(to: folder.file(name), encryption: encryption)
            let copy = try Database.open(path: folder.file(name), key: key)
            #expect(try allRows(copy.snapshot().table(named: "Submarine")!).map(\.values) == expected)
            #expect(try copy.snapshot().verify(full: true).isEmpty && copy.verifyStructure().isEmpty)
            let bytes = try Data(contentsOf: URL(fileURLWithPath: folder.file(name)))
            #expect(["Submarine", "periscope", "logbook"].contains { bytes.range(of: Data($0.utf8)) != nil } == (key == nil), "\(name)")
        }
        // Neither do the commits.
        let bytes = try Data(contentsOf: URL(fileURLWithPath: folder.file("sealed.firn")))
        #expect(["Submarine", "periscope", "logbook"].allSatisfy { bytes.range(of: Data($0.utf8)) == nil })
    }

    @Test func `a ring of keys tries the given key first, and then the one of the environment [T13]`() throws {
        let folder = TemporaryFolder()
        for (name, key) in [("a", key), ("b", other), ("c", nil)] as [(String, EncryptionKey?)] {
            let transaction = try Database.create(path: folder.file(name), key: key).begin()
            try transaction.extendSchema([TypeSchema("T", columns: [ColumnSchema("n", ColumnType(.int))])])
            try transaction.commit()
        }
        let digits = other.bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        func code(_ ring: KeyRing, _ name: String) -> FirnError.Code? {
            do throws(FirnError) { _ = try ring.open(path: folder.file(name)) } catch { return error.code }
            return nil
        }
        let both = KeyRing(given: key, ambient: digits), ambient = KeyRing(ambient: digits), none = KeyRing()
        #expect(code(both, "a") == nil && code(both, "b") == nil && code(both, "c") == .notEncrypted)
        #expect(code(ambient, "a") == .wrongKey && code(ambient, "b") == nil && code(ambient, "c") == nil)
        #expect(code(none, "a") == .encrypted && code(none, "c") == nil)
        #expect(
            code(KeyRing(ambient: "nonsense"), "a") == .usage && code(KeyRing(ambient: "nonsense"), "c") == nil
                && code(KeyRing(ambient: ""), "a") == .encrypted)
    }
}
