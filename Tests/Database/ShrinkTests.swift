import FirnBytes
import FirnDisk
import FirnKit
import FirnStore
import FirnThreads
import Foundation
import Testing

@testable import FirnDatabase
@testable import FirnTable

/// Shrinking in place: the size of the file afterwards, and the cost.
@Suite struct ShrinkTests {
    static let type = TypeSchema(
        "T",
        columns: [
            ColumnSchema("n", ColumnType(.int)), ColumnSchema("s", ColumnType(.string)), ColumnSchema("r", ColumnType(.double)),
        ])
    let key = EncryptionKey([UInt8](0..<64))!

    static func rows(_ count: Int, seed: UInt64) -> Batch {
        var random = RandomTables(seed: seed), batch = Batch(type, in: Schema([type]))
        for _ in 0..<count {
            batch.columns[0].words.append(Int64(random.generator.below(10_000_000)))
            batch.columns[1].text.append("word \(random.generator.below(20_000))")
            batch.columns[2].reals.append(Double(random.generator.next() >> 12))
        }
        for i in 0..<3 { batch.columns[i].count = count }
        batch.count = count
        return batch
    }

    func grown(_ path: String, rows: Int, key: EncryptionKey? = nil, index: Bool = false) throws -> Database {
        let database = try Database.create(path: path, key: key), transaction = try database.begin()
        try transaction.extendSchema([ShrinkTests.type])
        try transaction.bulkWriter("T").append(ShrinkTests.rows(rows, seed: UInt64(rows)))
        if index {
            try transaction.addIndex("T", "n", .values)
            try transaction.addIndex("T", "s", .words)
        }
        try transaction.commit()
        return database
    }

    private func delete(_ database: Database, _ isDeleted: (Int) -> Bool) throws {
        let count = Int(try database.snapshot().table(named: "T")!.rowCount)
        for start in stride(from: 0, to: count, by: 40_000) {
            let transaction = try database.begin()
            for id in start..<min(start + 40_000, count) where isDeleted(id) { try transaction.delete("T", rowID: Int64(id)) }
            try transaction.commit()
        }
    }

    /// Checks that a file has no fault, and that no byte of it is lost.
    func check(_ path: String, key: EncryptionKey? = nil, holds digest: Int, _ context: Comment) throws {
        let database = try Database.open(path: path, writable: true, key: key), snapshot = try database.snapshot()
        #expect(try snapshot.contentDigest() == digest, context)
        #expect(snapshot.verify(full: true).map(\.description) == [], context)
        let live = try snapshot.core.liveExtents().all
        let lost = try database.store.verify(live: Array(live) + [snapshot.pinned.catalogue]) { Issue.record("\(context): \($0)") }
        #expect(lost == 0, context)
    }

    enum Pattern: String, CaseIterable, Sendable {
        case everySecond, firstHalf, mixed, most, lastMost

        func isDeleted(_ id: Int, of count: Int) -> Bool {
            let mixed = UInt64(id) &* 0x9E37_79B9_7F4A_7C15 >> 40
            return switch self {
            case .everySecond: id % 2 == 0
            case .firstHalf: id < count / 2
            case .mixed: mixed % 2 == 0
            case .most: mixed % 10 != 0
            case .lastMost: id > count / 10
            }
        }
    }

    @Test(arguments: Pattern.allCases)
    func `shrinking makes a file about as small as compaction, and writes about as many bytes as are live`(_ pattern: Pattern) throws {
        let folder = TemporaryFolder(), path = folder.file("a.firn"), count = Tier.cases(100_000, of: 200_000),
            hasIndex = pattern == .mixed,
            key = pattern == .most ? key : nil
        let digest: Int
        do {
            let database = try grown(path, rows: count, key: key, index: hasIndex)
            try delete(database) { pattern.isDeleted($0, of: count) }
            digest = try database.snapshot().contentDigest()
            try database.snapshot().compact(to: folder.file("b.firn"))
        }
        let compacted = try Paths.size(folder.file("b.firn"))
        let report = try Database.shrink(path: path, key: key), size = try Paths.size(path)
        print(
            "shrunk, \(pattern): \(report.bytesBefore) bytes to \(size), compacted \(compacted), \(report.bytesWritten) written in \(report.commits) commits"
        )
        #expect(size == report.bytesAfter && report.bytesBefore > 10 * count)
        #expect(size <= compacted * 11 / 10 + 65_536, "\(report), compacted \(compacted)")
        #expect(report.bytesWritten <= compacted * 9 / 4 + 131_072, "\(report)")
        #expect(report.waitingForReaders == 0 && report.waitingForTags == 0 && !report.ranOutOfSpace)
        try check(path, key: key, holds: digest, "\(pattern)")
        // Shrinking again finds nothing to do.
        let again = try Database.shrink(path: path, key: key)
        #expect(again.bytesAfter <= size && again.bytesWritten <= 65_536, "\(again)")
    }

    @Test func `free space in the middle of a file is filled by extents from its end`() throws {
        let folder = TemporaryFolder(), path = folder.file("a.firn")
        let types = ["A", "B", "C"].map { TypeSchema($0, columns: ShrinkTests.type.columns) }
        var digest = 0
        do {
            let database = try Database.create(path: path, keep: 2)
            for (index, type) in types.enumerated() {
                let transaction = try database.begin()
                try transaction.extendSchema([type])
                try transaction.bulkWriter(type.name).append(ShrinkTests.rows(index == 1 ? 120_000 : 60_000, seed: UInt64(index)))
                try transaction.commit()
            }
            let transaction = try database.begin()
            for id in 0..<120_000 { try transaction.delete("B", rowID: Int64(id)) }
            try transaction.flushAll()
            try transaction.commit()
            digest = try database.snapshot().contentDigest()
            try database.snapshot().compact(to: folder.file("b.firn"))
        }
        let report = try Database.shrink(path: path), compacted = try Paths.size(folder.file("b.firn"))
        print("shrunk, a hole: \(report), compacted \(compacted)")
        #expect(report.bytesAfter <= compacted * 11 / 10 + 65_536)
        // Only the last quarter of the file had to move.
        #expect(report.bytesWritten <= report.bytesBefore * 3 / 10 + 65_536)
        try check(path, holds: digest, "a hole")
    }

    @Test func `a version that a reader holds keeps its space until it is released`() throws {
        let folder = TemporaryFolder(), path = folder.file("a.firn")
        let database = try grown(path, rows: 100_000)
        let before = try database.snapshot(), old = try before.contentDigest()
        try delete(database) { $0 % 2 == 0 }
        let reader = try Database.open(path: path)
        var held: DatabaseSnapshot? = try reader.snapshot()
        let digest = try held!.contentDigest(), size = try Paths.size(path)
        let report = try Database.shrink(path: path)
        #expect(
            report.bytesAfter >= size * 9 / 10 && report.bytesAfter <= size + 65_536 && report.waitingForReaders > size / 3, "\(report)")
        #expect(report.bytesWritten <= 65_536, "\(report)")
        #expect(try before.contentDigest() == old && before.verify(full: true).isEmpty)
        #expect(try held!.contentDigest() == digest && held!.verify(full: true).isEmpty)
        held = nil
        withExtendedLifetime(before) {}
        let first = try Database.shrink(path: path)
        #expect(first.bytesAfter >= size * 9 / 10, "a version was moved although it is still read: \(first)")
        try release(before)
        let last = try Database.shrink(path: path)
        #expect(last.bytesAfter <= size * 6 / 10 && last.waitingForReaders == 0, "\(last)")
        try check(path, holds: digest, "after the readers")
    }

    private func release(_ snapshot: DatabaseSnapshot) throws { snapshot.pinned.release() }

    @Test func `a reader that follows the commits does not keep a file from shrinking`() throws {
        let folder = TemporaryFolder(), path = folder.file("a.firn")
        let database = try grown(path, rows: 100_000)
        try delete(database) { $0 % 2 == 0 }
        let size = try Paths.size(path), reader = try Database.open(path: path)
        var held = try reader.snapshot()
        let digest = try held.contentDigest()
        let report = try Database.shrink(path: path) { _ in if let next = try? reader.snapshot() { held = next } }
        #expect(try held.contentDigest() == digest)
        #expect(report.bytesAfter <= size * 7 / 10, "\(report)")
        try check(path, holds: digest, "a reader that goes on")
    }

    @Test(arguments: [false, true])
    func `tagged versions stay readable, and their space is freed after the tag is deleted`(isEncrypted: Bool) throws {
        let folder = TemporaryFolder(), path = folder.file("a.firn"), key = isEncrypted ? key : nil
        var digests: [Int] = []
        do {
            let database = try grown(path, rows: 70_000, key: key)
            try database.tag("first", try database.snapshot())
            digests.append(try database.snapshot().contentDigest())
            let transaction = try database.begin()
            try transaction.bulkWriter("T").append(ShrinkTests.rows(140_000, seed: 5))
            try transaction.commit()
            try delete(database) { $0 >= 70_000 && $0 % 4 != 0 || $0 < 30_000 && $0 % 2 == 0 }
            digests.append(try database.snapshot().contentDigest())
        }
        let report = try Database.shrink(path: path, key: key)
        #expect(
            report.bytesAfter < report.bytesBefore * 2 / 3 && report.waitingForTags > 100_000 && report.waitingForReaders == 0, "\(report)")
        do {
            let database = try Database.open(path: path, writable: true, key: key), tagged = try database.snapshot(tag: "first")
            #expect(try tagged.contentDigest() == digests[0] && tagged.verify(full: true).isEmpty)
            #expect(try database.tags().map(\.name) == ["first"])
        }
        try check(path, key: key, holds: digests[1], "with a tag")
        do { _ = try Database.open(path: path, writable: true, key: key).untag("first") }
        let last = try Database.shrink(path: path, key: key)
        #expect(last.bytesAfter + 100_000 < report.bytesAfter && last.waitingForTags == 0, "\(last)")
        try check(path, key: key, holds: digests[1], "without the tag")
    }

    @Test func `extents that fit no hole are moved after a hole was made for them`() throws {
        let folder = TemporaryFolder(), path = folder.file("a.firn")
        var digest = 0
        do {
            // Small rows of data next to each other, every second of which is deleted, then one that is larger than any hole.
            let database = try Database.create(path: path, keep: 2)
            var random = RandomTables(seed: 3)
            for part in 0..<120 {
                let transaction = try database.begin()
                try transaction.extendSchema([TypeSchema("P\(part)", columns: [ColumnSchema("d", ColumnType(.data))])])
                let batch = RandomTables.batch(
                    [[.data((0..<9000).map { _ in UInt8.random(in: 0...255, using: &random.generator) })]],
                    of: transaction.schema.types.last!, in: transaction.schema)
                try transaction.bulkWriter("P\(part)").append(batch)
                try transaction.commit()
            }
            let transaction = try database.begin()
            try transaction.extendSchema([TypeSchema("Large", columns: [ColumnSchema("d", ColumnType(.data))])])
            let large = (0..<6).map { _ in [Value.data((0..<60_000).map { _ in UInt8.random(in: 0...255, using: &random.generator) })] }
            try transaction.bulkWriter("Large").append(
                RandomTables.batch(large, of: transaction.schema.types.last!, in: transaction.schema))
            try transaction.commit()
            let last = try database.begin()
            for part in stride(from: 0, to: 120, by: 2) { try last.delete("P\(part)", rowID: 0) }
            try last.flushAll()
            try last.commit()
            digest = try database.snapshot().contentDigest()
            try database.snapshot().compact(to: folder.file("b.firn"))
        }
        let report = try Database.shrink(path: path), compacted = try Paths.size(folder.file("b.firn"))
        print("shrunk, in pieces: \(report), compacted \(compacted)")
        #expect(report.bytesAfter <= compacted * 11 / 10 + 65_536, "compacted \(compacted)")
        try check(path, holds: digest, "in pieces")
    }

    @Test func `inline and empty files are not changed`() throws {
        let folder = TemporaryFolder()
        do { _ = try Database.create(path: folder.file("empty")) }
        #expect(try Database.shrink(path: folder.file("empty")).bytesAfter == 512)
        do {
            let transaction = try Database.create(path: folder.file("alone"), atFirstCommit: true).begin()
            try transaction.extendSchema([ShrinkTests.type])
            try transaction.bulkWriter("T").append(ShrinkTests.rows(20, seed: 1))
            try transaction.commit()
        }
        let size = try Paths.size(folder.file("alone")), report = try Database.shrink(path: folder.file("alone"))
        #expect(report.bytesAfter == size && report.commits == 0)
    }

    /// Writes a file of some 150 KB, half of which is deleted.
    private func small(_ path: String) throws -> Int {
        let database = try grown(path, rows: 8000, index: true)
        try delete(database) { $0 % 2 == 0 }
        return try database.snapshot().contentDigest()
    }

    @Test(arguments: [false, true]) func `if any call finds no space, nothing is lost, and shrinking later works [T4]`(forEver: Bool)
        throws
    {
        let origin = TemporaryFolder(), digest = try small(origin.file("a.firn")),
            bytes = try File(path: origin.file("a.firn"), .read).readAll()
        var nth = 0, ended = 0, refused = 0
        while true {
            let folder = TemporaryFolder(), path = folder.file("a.firn")
            try File(path: path, .createNew).write(bytes, at: 0)
            let journal = DiskJournal(of: folder, .init(after: nth, forEver: forEver, code: 28 /* ENOSPC */))
            defer { ScriptedDisk.end(in: folder.path) }
            do throws(FirnError) {
                _ = try Database.shrink(path: path)
                if !journal.refusals.isEmpty { ended += 1 }
            } catch { #expect(error.code == .noSpace, "\(nth): \(error)") }
            if journal.refusals.isEmpty { break }
            refused += 1
            journal.refuse(nil)
            try check(path, holds: digest, "call \(nth), \(journal.refusals[0])")
            let report = try Database.shrink(path: path)
            #expect(report.bytesAfter <= UInt64(bytes.count) * 3 / 4 && !report.ranOutOfSpace, "call \(nth): \(report)")
            try check(path, holds: digest, "call \(nth), and then with space")
            nth += CrashRun.scale > 1 ? 1 : forEver ? 4 : 2
        }
        print("shrunk without space: \(refused) calls refused, \(ended) runs that ended all the same")
        #expect(refused > 10 && (forEver || ended > 5))
    }

    @Test(arguments: [0, 480 << 10]) func `on a disk with little or no free space, a file is shrunk as far as possible [T5]`(_ free: Int)
        throws
    {
        let folder = TemporaryFolder()
        let digest: Int
        do {
            let database = try grown(folder.file("a.firn"), rows: 200_000)
            try delete(database) { $0 % 2 == 0 }
            digest = try database.snapshot().contentDigest()
        }
        let bytes = try File(path: folder.file("a.firn"), .read).readAll()
        let size = (bytes.count + 4095) / 4096 * 4096 + free
        try SmallDisk.with(size: "\(size)") { disk in
            let path = disk.file("a.firn")
            try File(path: path, .createNew).write(bytes, at: 0)
            do throws(FirnError) {
                let report = try Database.shrink(path: path)
                print("shrunk with \(free) bytes of space: \(report)")
                if free == 0 { #expect(report.ranOutOfSpace) }
                if free > 0 { #expect(report.bytesAfter <= report.bytesBefore * 6 / 10 && !report.ranOutOfSpace) }
            } catch { #expect(error.code == .noSpace && free == 0, "\(error)") }
            try check(path, holds: digest, "\(free) bytes of space")
            #expect(try Paths.list(disk.path) == ["a.firn"])
        }
    }
}
