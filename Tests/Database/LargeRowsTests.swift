import FirnBytes
import FirnCodecs
import FirnKit
import Testing

@testable import FirnDatabase
@testable import FirnStore
@testable import FirnTable

/// Rows with long texts and lists, of which a segment of the usual number of rows would take much memory.
@Suite struct LargeRowsTests {
    private static let type = TypeSchema(
        "Page",
        columns: [
            ColumnSchema("id", ColumnType(.int)), ColumnSchema("body", ColumnType(.string, optional: true)),
            ColumnSchema("marks", ColumnType(.int, collection: .list)),
        ])

    private func batch(_ rows: Range<Int>, body: (Int) -> String?, marks: Int = 0) -> Batch {
        RandomBatches.batch(
            rows.map { i in [.int(Int64(i)), body(i).map(Value.string) ?? .null, .list((0..<marks).map { .int(Int64(i + $0)) })] },
            of: LargeRowsTests.type)
    }

    private func text(_ i: Int, _ length: Int) -> String {
        var out = ""
        while out.utf8.count < length { out += "\(GoldenRows.mix(i + out.utf8.count)) " }
        return String(out.prefix(length))
    }

    private func rowCounts(_ database: Database) throws -> [Int] {
        let table = try #require(database.snapshot().table(named: "Page"))
        return try (0..<table.segmentCount).map { try table.segment($0).rowCount }
    }

    private func write(
        _ path: String, rows: Int, step: Int, segmentBytes: Int, profile: Profile = .standard, marks: Int = 0, body: (Int) -> String?
    ) throws -> Database {
        let database = try Database.create(path: path), transaction = try database.begin()
        transaction.profile = profile
        transaction.segmentBytes = segmentBytes
        try transaction.extendSchema([LargeRowsTests.type])
        for start in stride(from: 0, to: rows, by: step) {
            try transaction.bulkWriter("Page").append(batch(start..<min(rows, start + step), body: body, marks: marks))
        }
        try transaction.commit()
        return database
    }

    @Test(arguments: [Profile.fast, .standard, .small])
    func `a segment of long texts ends early, and its rows come back`(profile: Profile) throws {
        let folder = TemporaryFolder(), rows = 1200
        let body: (Int) -> String? = { $0 % 7 == 2 ? nil : text($0, 1000) }
        let database = try write(
            folder.file("a.firn"), rows: rows, step: 300, segmentBytes: 1 << 20, profile: profile, body: body)
        let counts = try rowCounts(database)
        #expect(counts.count >= 4 && counts.reduce(0, +) == rows && counts.allSatisfy { $0 < 400 })
        let read = try allRows(#require(database.snapshot().table(named: "Page")))
        for i in 0..<rows {
            #expect(read[i].values[0] == .int(Int64(i)) && read[i].values[1] == (body(i).map(Value.string) ?? .null))
        }
        #expect(try database.snapshot().verify(full: true).isEmpty)
    }

    @Test func `a segment that has room for more than a vector ends at the end of one`() throws {
        let folder = TemporaryFolder()
        let database = try write(folder.file("a.firn"), rows: 3000, step: 3000, segmentBytes: 6 << 20) { text($0, 1000) }
        #expect(try rowCounts(database) == [1024, 1024, 952])
    }

    @Test func `long lists end a segment early`() throws {
        let folder = TemporaryFolder()
        let database = try write(folder.file("a.firn"), rows: 2000, step: 300, segmentBytes: 1 << 20, marks: 200) { _ in nil }
        let counts = try rowCounts(database)
        #expect(counts.count >= 8 && counts.reduce(0, +) == 2000)
        #expect(
            try allRows(#require(database.snapshot().table(named: "Page")))[1999].values[2]
                == .list((0..<200).map { .int(Int64(1999 + $0)) }))
    }

    @Test func `a row beyond the limit is a segment of its own`() throws {
        let folder = TemporaryFolder()
        let database = try write(folder.file("a.firn"), rows: 5, step: 5, segmentBytes: 1000) { text($0, 3000) }
        #expect(try rowCounts(database) == [1, 1, 1, 1, 1])
    }

    /// Segments of few large rows must not be taken for fragments, which shrinking would rewrite without an end.
    @Test func `shrinking a file of few large rows ends, and keeps its rows`() throws {
        let folder = TemporaryFolder(), path = folder.file("a.firn"), rows = 14_000
        let bodies = (0..<20).map { text($0, 5000) }
        let database = try write(path, rows: rows, step: 2000, segmentBytes: BulkWriter.segmentBytes) { bodies[$0 % 20] }
        let before = try rowCounts(database)
        #expect(before.count >= 2 && before.allSatisfy { $0 < 32_768 })
        let transaction = try database.begin()
        try transaction.delete("Page", rowID: 5)
        try transaction.commit()
        _ = try Database.shrink(path: path)
        let again = try Database.open(path: path)
        #expect(try rowCounts(again).reduce(0, +) == rows - 1)
        #expect(try again.snapshot().verify(full: true).isEmpty)
    }
}

/// A key that ascends has no index. With more segments than can be open, the zones of all of them are kept.
@Suite struct ManySegmentsTests {
    private static let type = TypeSchema(
        "Entry", columns: [ColumnSchema("n", ColumnType(.int)), ColumnSchema("body", ColumnType(.string))], key: [0])

    private func database(_ path: String, rows: Int) throws -> Database {
        let database = try Database.create(path: path), transaction = try database.begin()
        transaction.segmentBytes = 10_000
        try transaction.extendSchema([ManySegmentsTests.type])
        let body = String(repeating: "long ", count: 50)
        try transaction.bulkWriter("Entry").append(
            RandomBatches.batch((0..<rows).map { [.int(Int64($0) * 2), .string(body)] }, of: ManySegmentsTests.type))
        try transaction.commit()
        return database
    }

    private func find(_ database: Database, _ key: Int64) throws -> Int64? {
        try #require(database.snapshot().table(named: "Entry")).find(key: [.int(key)])
    }

    @Test func `keys of many segments are found, also after changes to some of them`() throws {
        let folder = TemporaryFolder(), rows = 1500
        let database = try database(folder.file("a.firn"), rows: rows)
        #expect(try #require(database.snapshot().table(named: "Entry")).segmentCount > 2 * SnapshotCore.maximumSegments)
        for row in stride(from: 0, to: rows, by: 7) {
            #expect(try find(database, Int64(row) * 2) == Int64(row) && find(database, Int64(row) * 2 + 1) == nil)
        }
        // The next version has the same segments, so that a look-up opens one of them.
        let opened = database.counts.openedSegments, first = try database.begin()
        try first.insert("Entry", [.int(-7), .string("")])
        try first.commit()
        #expect(try find(database, 1402) == 701 && find(database, -7) == Int64(rows))
        #expect(database.counts.openedSegments - opened <= 8)
        // Another key in a segment, a row without its key, and a row after the segments: none of them is in the zones.
        let transaction = try database.begin()
        try transaction.update("Entry", rowID: 700, column: "n", .int(9_000_001))
        try transaction.delete("Entry", rowID: 300)
        try transaction.insert("Entry", [.int(-5), .string("")])
        try transaction.commit()
        #expect(try find(database, 9_000_001) == 700 && find(database, 1400) == nil && find(database, 600) == nil)
        #expect(try find(database, -5) == Int64(rows) + 1 && find(database, 1402) == 701)
        // After the changes are in segments of their own, and in a file that was opened again.
        let second = try database.begin()
        try second.flushAll()
        try second.commit()
        for database in [database, try Database.open(path: folder.file("a.firn"))] {
            #expect(try find(database, 9_000_001) == 700 && find(database, 1400) == nil && find(database, 600) == nil)
            #expect(try find(database, -5) == Int64(rows) + 1 && find(database, 2) == 1)
        }
    }
}
