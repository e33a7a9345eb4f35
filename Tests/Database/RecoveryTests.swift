import FirnBytes
import FirnDisk
import FirnKit
import Foundation
import Testing

@testable import FirnCodecs
@testable import FirnDatabase
@testable import FirnStore
@testable import FirnTable

/// T6: rows that the newest version has lost are restored from an older one if possible, and reported.
@Suite struct RecoveryTests {
    private static let type = TypeSchema(
        "T", columns: [ColumnSchema("id", ColumnType(.int)), ColumnSchema("a", ColumnType(.int)), ColumnSchema("b", ColumnType(.string))],
        key: [0])
    private static let key = EncryptionKey((0..<64).map { UInt8(255 - $0) })!

    private let folder = TemporaryFolder()
    private var path: String { folder.file("a.firn") }
    private var saved: String { folder.file("saved.firn") }

    /// Writes version 1: rows with a = id and b = "b id".
    private func database(_ rows: Int, key: EncryptionKey? = nil) throws -> Database {
        let database = try Database.create(path: path, key: key)
        try commit(database) {
            try $0.extendSchema([RecoveryTests.type])
            try $0.bulkWriter("T").append(
                RandomBatches.batch((0..<rows).map { [.int(Int64($0)), .int(Int64($0)), .string("b \($0)")] }, of: RecoveryTests.type))
        }
        return database
    }

    private func commit(_ database: Database, _ body: (DatabaseTransaction) throws -> Void) throws {
        let transaction = try database.begin()
        try body(transaction)
        try transaction.commit()
    }

    private func damage(_ offset: UInt64) throws {
        var bytes = try Data(contentsOf: URL(filePath: path))
        bytes[Int(offset)] ^= 0x40
        try bytes.write(to: URL(filePath: path))
    }

    private func rows(_ path: String, key: EncryptionKey? = nil) throws -> [Int64: [Value]] {
        let snapshot = try Database.open(path: path, key: key).snapshot(), table = snapshot.table(named: "T")!
        #expect(snapshot.verify(full: true).isEmpty)
        var rows: [Int64: [Value]] = [:]
        for index in 0..<table.segmentCount {
            let segment = try table.segment(index)
            for row in 0..<segment.rowCount where segment.live?[row] ?? true {
                rows[try segment.rowID(at: row)] = try table.row(segment.rowID(at: row))
            }
        }
        return rows
    }

    @Test(arguments: [false, true]) func `a lost column is restored from the previous version, together with changes in the delta [T6]`(
        isEncrypted: Bool
    ) throws {
        let key = isEncrypted ? RecoveryTests.key : nil
        var database: Database? = try database(30_000, key: key)
        try commit(database!) {
            for id in 0..<30_000 { try $0.update("T", rowID: Int64(id), column: "a", .int(Int64(truncatingIfNeeded: GoldenRows.mix(id)))) }
            try $0.flushAll()
        }
        try commit(database!) { try $0.update("T", rowID: 5, column: "a", .int(-5)) }
        let header = try database!.snapshot().core.segment(type: 0, index: 0).header
        let chunk = try #require(header.entries[1].chunk)
        database = nil
        try damage(chunk.offset + chunk.length / 2)
        let recovery = try Recovery.run(from: path, key: key, to: saved, profile: .fast, threads: 1)
        #expect(recovery.version == 3 && recovery.losses.count == 1, "\(recovery)")
        let loss = recovery.losses[0]
        #expect(
            loss.type == "T" && loss.column == "a" && loss.rows == 0...29_999 && loss.takenFrom == 1
                && loss.damage.what.contains("version 1"), "\(loss)")
        let rows = try rows(saved, key: key)
        #expect(
            rows.count == 30_000 && rows[5] == [.int(5), .int(-5), .string("b 5")] && rows[6] == [.int(6), .int(6), .string("b 6")]
                && rows[29_999]![1] == .int(29_999))
        #expect(try Database.open(path: saved, key: key).snapshot().schema["T"]!.key == [0])
    }

    @Test func `lost rows of embedded objects are reported with the columns that contain them`() throws {
        let inner = TypeSchema("Inner", columns: [ColumnSchema("x", ColumnType(.int, optional: true))], isEmbedded: true)
        let outer = TypeSchema(
            "Outer", columns: [ColumnSchema("deep", ColumnType(.embedded, optional: true, target: "Inner"))], isEmbedded: true)
        let root = TypeSchema(
            "Root",
            columns: [ColumnSchema("id", ColumnType(.int)), ColumnSchema("o", ColumnType(.embedded, optional: true, target: "Outer"))],
            key: [0])
        var database: Database? = try Database.create(path: path)
        try commit(database!) {
            try $0.extendSchema([inner, outer, root])
            let objects: [[Value]] = (0..<9000).map {
                [.int(Int64($0)), .object([.init("deep", .object([.init("x", .int(Int64(GoldenRows.mix($0) % 99_991)))]))])]
            }
            try $0.bulkWriter("Root").append(RandomTables.batch(objects, of: root, in: Schema([inner, outer, root])))
        }
        let core = try database!.snapshot().core
        let type = try #require(core.schema.types.firstIndex { $0.name == "Inner" })
        let header = try core.directoryEntry(type: type, index: 0).header
        database = nil
        try damage(header.offset + 30)
        let recovery = try Recovery.run(from: path, to: saved, profile: .fast, threads: 1)
        #expect(recovery.losses.contains { $0.type == "Inner" && $0.column == nil }, "\(recovery.losses)")
        #expect(recovery.losses.contains { $0.type == "Root" && $0.column == "o.deep" }, "\(recovery.losses)")
        #expect(!recovery.losses.contains { $0.type == "Outer" }, "\(recovery.losses)")
    }

    @Test func `lost rows are restored from the previous version without deleted rows and with later changes [T6]`()
        throws
    {
        var database: Database? = try database(500)
        try commit(database!) {
            for id in 0..<500 { try $0.update("T", rowID: Int64(id), column: "a", .int(-1)) }
            try $0.flushAll()
        }
        try commit(database!) {
            try $0.delete("T", rowID: 3)
            try $0.update("T", rowID: 4, column: "b", .string("new"))
            try $0.insert("T", [.int(9000), .int(9), .string("later")])
        }
        let header = try database!.snapshot().core.directoryEntry(type: 0, index: 0).header
        database = nil
        try damage(header.offset + 30)
        let recovery = try Recovery.run(from: path, to: saved, profile: .fast, threads: 1)
        #expect(
            recovery.losses.count == 1 && recovery.losses[0].takenFrom == 1 && recovery.losses[0].rows == 0...499
                && recovery.losses[0].column == nil, "\(recovery.losses)")
        let rows = try rows(saved)
        #expect(
            rows.count == 500 && rows[3] == nil && rows[4] == [.int(4), .int(4), .string("new")]
                && rows[7] == [.int(7), .int(7), .string("b 7")] && rows[500]?[2] == .string("later"))
    }

    @Test func `a key that two recovered rows share is removed from the schema [T6]`() throws {
        var database: Database? = try database(500)
        // Row 3 is deleted, and a new row gets its key. Everything is sealed, so that no record of the deletion remains.
        try commit(database!) {
            try $0.delete("T", rowID: 3)
            for id in 0..<500 where id != 3 { try $0.update("T", rowID: Int64(id), column: "a", .int(-1)) }
            try $0.flushAll()
        }
        try commit(database!) { try $0.insert("T", [.int(3), .int(1), .string("the other")]) }
        let header = try database!.snapshot().core.directoryEntry(type: 0, index: 0).header
        database = nil
        try damage(header.offset + 30)
        let recovery = try Recovery.run(from: path, to: saved, profile: .fast, threads: 1)
        #expect(
            recovery.losses.count == 1 && recovery.losses[0].takenFrom == 1
                && recovery.remarks.contains { $0.contains("no longer has a primary key") }, "\(recovery)")
        #expect(try Database.open(path: saved).snapshot().schema["T"]!.key.isEmpty)
        #expect(try rows(saved).values.filter { $0[0] == .int(3) }.count == 2)
    }

    @Test func `lost changes are restored from the previous version, if nothing was sealed in between [T6]`() throws {
        var database: Database? = try database(30_000)
        try commit(database!) {
            for id in stride(from: Int64(0), to: 30_000, by: 50) {
                try $0.update("T", rowID: id, column: "b", .string("second version of row \(id)"))
            }
        }
        try commit(database!) {
            for id in stride(from: Int64(0), to: 30_000, by: 100) {
                try $0.update("T", rowID: id, column: "b", .string("third version of row \(id)"))
            }
        }
        let snapshot = try database!.snapshot(), state = snapshot.core.catalogue.types[0]
        let node = try TreeNodeView(try snapshot.pinned.read(state.delta), level: nil)
        #expect(node.level > 0)
        let leaf = try node.child(0)
        database = nil
        try damage(leaf.offset + 20)
        let recovery = try Recovery.run(from: path, to: saved, profile: .fast, threads: 1)
        let loss = try #require(recovery.losses.first { $0.takenFrom == 2 }), range = try #require(loss.rows)
        #expect(recovery.losses.count == 1 && range.lowerBound == 0, "\(recovery.losses)")
        let rows = try rows(saved)
        for id in stride(from: Int64(0), to: 30_000, by: 50) {
            let isThird = id % 100 == 0 && !range.contains(id)
            #expect(rows[id]?[2] == .string("\(isThird ? "third" : "second") version of row \(id)"), "row \(id)")
        }
    }

    @Test func `an encrypted file is recovered only with its key [T6, T13]`() throws {
        _ = try database(500, key: RecoveryTests.key)
        func code(_ key: EncryptionKey?) -> FirnError.Code? {
            do { _ = try Recovery.run(from: path, key: key, to: saved, threads: 1) } catch let error as FirnError {
                return error.code
            } catch {}
            return nil
        }
        #expect(
            code(nil) == .encrypted && code(EncryptionKey([UInt8](repeating: 1, count: 64))) == .wrongKey
                && !FileManager.default.fileExists(atPath: saved))
        let whole = try Data(contentsOf: URL(filePath: path))
        // A root with a damaged hash can be opened with the key. Without any root, recovery fails.
        var bytes = whole
        bytes[4096 + 310] ^= 1
        bytes.replaceSubrange(0..<512, with: Data(count: 512))
        try bytes.write(to: URL(filePath: path))
        let recovery = try Recovery.run(from: path, key: RecoveryTests.key, to: saved, threads: 1)
        #expect(recovery.losses.isEmpty && recovery.version == 1)
        #expect(try rows(saved, key: RecoveryTests.key).count == 500)
        bytes.replaceSubrange(4096..<4608, with: Data(count: 512))
        try bytes.write(to: URL(filePath: path))
        try FileManager.default.removeItem(atPath: saved)
        let last = code(RecoveryTests.key)
        #expect(last != nil && !FileManager.default.fileExists(atPath: saved))
    }

    @Test func `an older version can be recovered by number or tag [T6]`() throws {
        var database: Database? = try database(100)
        try database!.tag("first", database!.snapshot())
        try commit(database!) { for id in 0..<50 { try $0.delete("T", rowID: Int64(id)) } }
        database = nil
        for (wanted, count) in [("1", 100), ("first", 100)] {
            let recovery = try Recovery.run(from: path, version: wanted, to: saved, overwrite: true, threads: 1)
            #expect(recovery.losses.isEmpty && recovery.version == 1)
            #expect(try rows(saved).count == count)
        }
        #expect(throws: FirnError.self) { try Recovery.run(from: path, version: "none", to: saved, overwrite: true, threads: 1) }
    }

    @Test func `a damaged number in a root is not used as the recovered version [T6]`() throws {
        let transaction = try Database.create(path: path, atFirstCommit: true).begin()
        try transaction.extendSchema([RecoveryTests.type])
        try transaction.bulkWriter("T").append(
            RandomBatches.batch((0..<20).map { [.int(Int64($0)), .int(1), .string("b")] }, of: RecoveryTests.type))
        try transaction.commit()
        try damage(33)
        let recovery = try Recovery.run(from: path, to: saved, profile: .fast, threads: 1)
        #expect(recovery.version == 1 && recovery.losses.isEmpty, "\(recovery)")
    }

    /// Writes a file of one extent.
    private func inlineFile() throws -> Data {
        let transaction = try Database.create(path: path, overwrite: true, atFirstCommit: true).begin()
        try transaction.extendSchema([RecoveryTests.type])
        try transaction.bulkWriter("T").append(
            RandomBatches.batch(
                (0..<60).map { [.int(Int64($0)), .int(Int64($0) * 7), .string("Sacramento \($0)")] }, of: RecoveryTests.type))
        try transaction.commit()
        return try Data(contentsOf: URL(filePath: path))
    }

    private func run(_ bytes: Data, unproven: Bool = false) throws -> Recovery {
        try bytes.write(to: URL(filePath: path))
        try? FileManager.default.removeItem(atPath: saved)
        return try Recovery.run(from: path, unproven: unproven, to: saved, profile: .fast, threads: 1)
    }

    @Test func `no value of an inline file whose hash does not match is recovered, even on request`() throws {
        let whole = try inlineFile()
        #expect(whole.count < 4096)
        for byte in 192..<whole.count {
            var bytes = whole
            bytes[byte] ^= 1 << UInt8(byte % 8)
            for unproven in [false, true] {
                do {
                    let recovery = try run(bytes, unproven: unproven)
                    Issue.record("byte \(byte): the file was recovered: \(recovery)")
                } catch let error as FirnError {
                    #expect(error.code == .damaged && error.advice?.contains("--unproven") != true, "byte \(byte): \(error)")
                }
            }
            #expect(!FileManager.default.fileExists(atPath: saved))
        }
        // One changed bit of the root is corrected, which its hash proves: all rows are recovered.
        for byte in 0..<176 {
            var bytes = whole
            bytes[byte] ^= 1 << UInt8(byte % 8)
            let recovery = try run(bytes)
            #expect(recovery.losses.isEmpty && recovery.version == 1, "byte \(byte): \(recovery)")
        }
    }

    @Test func `an inline file without its root is recovered on request, with each row reported as unproven`() throws {
        var bytes = try inlineFile()
        bytes.replaceSubrange(0..<176, with: Data(count: 176))
        do {
            _ = try run(bytes)
            Issue.record("unproven rows were recovered without a request")
        } catch let error as FirnError {
            #expect(
                error.code == .damaged && error.advice?.hasPrefix("60 rows") == true && error.advice?.contains("--unproven") == true,
                "\(error)")
        }
        let recovery = try run(bytes, unproven: true)
        #expect(
            recovery.losses.contains { $0.type == "T" && $0.isUnproven && $0.rows == 0...59 && $0.count == 60 }
                && recovery.losses.allSatisfy(\.isUnproven), "\(recovery.losses)")
        #expect(try rows(saved).count == 60)
    }

    @Test func `rows of a segment with a damaged header are left out, and recovered on request as unproven`() throws {
        // Values that do not compress: separate chunks, not packed into the header.
        var database: Database? = try Database.create(path: path)
        try commit(database!) {
            try $0.extendSchema([RecoveryTests.type])
            let rows: [[Value]] = (0..<60_000).map {
                [.int(Int64($0)), .int(Int64(truncatingIfNeeded: GoldenRows.mix($0))), .string("b \($0)")]
            }
            try $0.bulkWriter("T").append(RandomBatches.batch(rows, of: RecoveryTests.type))
        }
        let header = try database!.snapshot().core.directoryEntry(type: 0, index: 0).header
        database = nil
        let whole = try Data(contentsOf: URL(filePath: path))
        var taken = 0
        for byte in stride(from: Int(header.offset), to: Int(header.offset + header.length), by: Tier.isLong ? 5 : 23) {
            var bytes = whole
            bytes[byte] ^= 1
            // There is no other version and no other segment.
            var advice = ""
            do {
                let recovery = try run(bytes)
                Issue.record("byte \(byte): the file was recovered: \(recovery)")
            } catch let error as FirnError {
                #expect(error.code == .damaged, "\(error)")
                advice = error.advice ?? ""
            }
            guard let recovery = try? run(bytes, unproven: true) else {
                #expect(!advice.contains("--unproven"), "byte \(byte): \(advice)")
                continue
            }
            taken += 1
            #expect(advice.hasPrefix("60000 rows"), "byte \(byte): \(advice)")
            #expect(
                recovery.losses.contains { $0.isUnproven && $0.rows == 0...59_999 } && recovery.saved[0].rows == 60_000,
                "byte \(byte): \(recovery)")
        }
        #expect(taken > 0)
    }

    @Test func `the version is not taken from a root or record whose hash does not match`() throws {
        var database: Database? = try database(100)
        try commit(database!) { try $0.delete("T", rowID: 3) }
        let root = try database!.snapshot().pinned.root
        database = nil
        var bytes = try Data(contentsOf: URL(filePath: path))
        // The version and the record of the root of version 2 are damaged. The other root is overwritten too.
        let offset = Int(root.offset(of: 2))
        bytes[offset + 36] ^= 0x13
        bytes[Int(root.record.offset) + 20] ^= 0x13
        bytes.replaceSubrange(Int(root.offset(of: 1))..<Int(root.offset(of: 1)) + 512, with: Data(count: 512))
        let recovery = try run(bytes)
        // The damaged number is 2 ^ 0x13 = 17. Version 1 had 100 rows, version 2 has 99, and 0 is an unknown number of either.
        #expect([0: [99, 100], 1: [100], 2: [99]][recovery.version]?.contains(recovery.saved[0].rows) == true, "\(recovery)")
    }

    @Test func `a damaged header with row ids beyond the limit is a loss [T7]`() throws {
        let database = try database(5)
        try commit(database) { transaction in
            var random = Random(seed: 1)
            let rows = RandomBatches.batch(
                (0..<8000).map {
                    [
                        .int(Int64($0)), .int(.random(in: 0 ... .max, using: &random)),
                        .string("\(Int64.random(in: 0 ... .max, using: &random))"),
                    ]
                }, of: RecoveryTests.type)
            try transaction.writer(0).append(stored: rows.columns, rowIDs: (0..<8000).map { 100 + 3 * $0 })
        }
        try commit(database) { transaction in
            try transaction.directoryChange(0) { (entries) throws(FirnError) in
                var header = try transaction.reading { () throws(Damage) in try SegmentHeader(try transaction.store.read(entries[1].header))
                }
                #expect(header.entries.allSatisfy { $0.packed == nil })
                let ids = (0..<Int64(7999)).map { $0 } + [.max]
                header.rowIDs = ids.withUnsafeBufferPointer { IntegersEncoder.encode($0, present: nil, profile: .standard) }
                var ref = try transaction.write(header.encoded)
                ref.hash = Hash128(low: 1, high: 2)
                entries[1].header = ref
            }
        }
        let recovery = try Recovery.run(from: path, to: saved)
        #expect(!recovery.losses.isEmpty && recovery.saved[0].rows >= 5)
    }

    @Test func `row ids that readers would refuse are not committed`() throws {
        let database = try database(5)
        let transaction = try database.begin()
        transaction.skipRowIDs(0, to: 1 << 62 - 1)
        _ = try transaction.insert("T", [.int(7), .int(7), .string("seven")])
        do throws(FirnError) {
            try transaction.commit()
            Issue.record("a row id beyond the limit was committed")
        } catch { #expect(error.code == .unsupported, "\(error)") }
        #expect(try rows(path).count == 5)
    }

    @Test func `a file with a hole of a terabyte is searched quickly [T7]`() throws {
        let memory = TemporaryFolder(), hollow = memory.file("a.firn")
        _ = try database(50)
        var bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
        // Without roots, only stray records lead to a version.
        for byte in [0, 4096] { bytes.replaceSubrange(byte..<byte + 512, with: [UInt8](repeating: 0, count: 512)) }
        try File(path: hollow, .createNew).write(bytes, at: 0)
        try File(path: hollow, .readWrite).truncate(to: 1 << 40)
        let recovery = try Recovery.run(from: hollow, to: saved)
        #expect(recovery.saved[0].rows == 50 && recovery.version == 1)
        // The same without any record.
        try File(path: hollow, .createOrTruncate).write([UInt8](repeating: 1, count: 4000), at: 1 << 39)
        try File(path: hollow, .readWrite).truncate(to: 1 << 40)
        #expect(throws: FirnError.self) { try Recovery.run(from: hollow, to: memory.file("b.firn")) }
    }
}
