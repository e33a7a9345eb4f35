import FirnBytes
import FirnCodecs
import FirnKit
import FirnStore
import Testing

@testable import FirnDatabase
@testable import FirnTable

/// How much a revert and a compaction of several versions store of rows that already exist.
@Suite struct SegmentReuseTests {
    private static let type = TypeSchema(
        "Row",
        columns: [
            ColumnSchema("id", ColumnType(.int)), ColumnSchema("x", ColumnType(.int)),
            ColumnSchema("name", ColumnType(.string, optional: true)),
            ColumnSchema("y", ColumnType(.double, optional: true)),
        ], key: [0])
    private static let count = 70_000

    private func file(_ path: String, index: Bool = false) throws -> Database {
        let database = try Database.create(path: path), transaction = try database.begin()
        try transaction.extendSchema([Self.type])
        if index { try transaction.addIndex("Row", "x", .values) }
        let rows = (0..<Self.count).map { i -> [Value] in
            let mixed = UInt64(i) &* 0x9E37_79B9_7F4A_7C15
            return [
                .int(Int64(i)), .int(Int64(mixed >> 20)), i % 9 == 0 ? .null : .string("name \(mixed >> 44)"),
                i % 9 == 0 ? .null : .double(Double(mixed >> 30) / 8),
            ]
        }
        try transaction.bulkWriter("Row").append(RandomTables.batch(rows, of: Self.type, in: Schema([Self.type])))
        try transaction.commit()
        try database.tag("v1", try database.snapshot())
        return database
    }

    private func commit(_ database: Database, _ tag: String, _ body: (DatabaseTransaction) throws -> Void) throws {
        let transaction = try database.begin()
        try body(transaction)
        try transaction.flushAll()
        try transaction.commit()
        try database.tag(tag, try database.snapshot())
    }

    /// Returns the extents of chunks, overlays and headers of the tagged versions, each once.
    private func extents(_ database: Database) throws -> (refs: Set<ExtentRef>, bytes: Int) {
        var refs: Set<ExtentRef> = []
        for tag in try database.tags() {
            let core = try database.snapshot(version: tag.version).core
            for index in 0..<core.catalogue.types[0].segmentCount {
                let entry = try core.directoryEntry(type: 0, index: index), header = try SegmentHeader(core.store.read(entry.header))
                refs.formUnion(
                    [entry.header] + header.entries.compactMap(\.chunk) + header.entries.compactMap(\.overlay) + header.shared.map(\.ref))
            }
        }
        return (refs, refs.reduce(0) { $0 + Int($1.length) })
    }

    private func compacted(_ database: Database, _ path: String, _ profile: Profile = .standard) throws -> Database {
        try Database.compact(
            try database.versions(upTo: try database.snapshot()), retention: try database.retention(), to: path, profile: profile)
        let copy = try Database.open(path: path, writable: true)
        #expect(try copy.verifyStructure().isEmpty)
        for tag in try database.tags() {
            let old = try database.snapshot(version: tag.version).table(named: "Row")!,
                version = try copy.tags().first { $0.name == tag.name }!.version
            let snapshot = try copy.snapshot(version: version), new = snapshot.table(named: "Row")!
            #expect(snapshot.verify(full: true).isEmpty)
            #expect(new.rowCount == old.rowCount)
            for id in stride(from: Int64(0), to: Int64(Self.count + 10), by: 97) {
                #expect(try new.row(id) == old.row(id), "\(tag.name) \(id)")
            }
        }
        return copy
    }

    @Test(arguments: [Profile.standard, .small])
    func `equal rows of several versions are stored once, independent of the versions between them`(profile: Profile) throws {
        let folder = TemporaryFolder(), database = try file(folder.file("a.firn"))
        let one = try extents(try compacted(database, folder.file("one.firn"), profile))
        try commit(database, "v2") { transaction in
            for id in stride(from: Int64(0), to: Int64(Self.count), by: 2) {
                try transaction.update("Row", rowID: id, column: "x", .int(-id))
            }
        }
        let two = try extents(try compacted(database, folder.file("two.firn"), profile))
        // The other columns are equal.
        #expect(two.bytes < one.bytes * 3 / 2 + 200_000, "\(one.bytes) \(two.bytes)")
        try commit(database, "v3") { try $0.revert(to: database.snapshot(version: 1)) }
        let copy = try compacted(database, folder.file("three.firn"), profile), three = try extents(copy)
        #expect(three.refs.count == two.refs.count && three.bytes == two.bytes, "\(two) \(three)")
        #expect(try copy.tags().count == 3)
    }

    @Test func `a revert keeps the chunks of unchanged columns`() throws {
        let folder = TemporaryFolder(), database = try file(folder.file("a.firn"))
        try commit(database, "v2") { transaction in
            for id in stride(from: Int64(0), to: Int64(Self.count), by: 2) {
                try transaction.update("Row", rowID: id, column: "x", .int(-id))
            }
        }
        let before = try extents(database).bytes
        try commit(database, "v3") { try $0.revert(to: database.snapshot(version: 1)) }
        let after = try extents(database).bytes
        // Column "x" again, and headers.
        let column = try database.snapshot().core.segment(type: 0, index: 0).layout.entries[1].chunk!
        #expect(after - before < Int(column.length) * 3 / 2, "\(before) \(after)")
        #expect(try database.snapshot().verify(full: true).isEmpty)
        #expect(try database.verifyStructure().isEmpty)
    }

    @Test func `few changed and deleted rows of a version are stored as overlays on the chunks of the previous one`() throws {
        let folder = TemporaryFolder(), database = try file(folder.file("a.firn"), index: true)
        let one = try extents(try compacted(database, folder.file("one.firn")))
        for step in 0..<5 as Range<Int64> {
            try commit(database, "step\(step)") { transaction in
                for id in stride(from: step * 5, to: Int64(Self.count), by: 9001) where step != 3 || id % 2 == 0 {
                    try transaction.update("Row", rowID: id, column: "name", .string("step \(step)"))
                }
                try transaction.update("Row", rowID: 40 + step, column: "x", .int(-step))
                try transaction.delete("Row", rowID: 1000 + step)
                _ = try transaction.insert("Row", [.int(Int64(Self.count) + step), .int(step), .null, .null])
            }
        }
        let copy = try compacted(database, folder.file("b.firn")), all = try extents(copy)
        #expect(all.bytes < one.bytes + one.bytes / 10 + 100_000, "\(one.bytes) \(all.bytes)")
        // The copy can be written, and versions can be dropped without affecting the others.
        _ = try copy.untag("v1")
        try commit(copy, "more") { try $0.update("Row", rowID: 5, column: "x", .int(5)) }
        let tags = try copy.tags()
        #expect(!tags.isEmpty && !tags.contains { $0.name == "v1" })
        for tag in tags { #expect(try copy.snapshot(version: tag.version).verify(full: true).isEmpty) }
        #expect(try copy.verifyStructure().isEmpty)
    }
}
