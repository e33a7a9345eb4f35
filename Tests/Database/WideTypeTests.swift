import FirnBytes
import FirnDisk
import FirnKit
import Foundation
import Testing

@testable import FirnDatabase
@testable import FirnTable

/// Types with very many columns: no operation takes quadratic time.
@Suite struct WideTypeTests {
    private func type(_ width: Int) -> TypeSchema {
        TypeSchema(
            "Wide", columns: (0..<width).map { ColumnSchema("c\($0)", ColumnType($0 % 3 == 0 ? .string : .int, optional: $0 % 5 == 0)) })
    }

    private func batch(_ type: TypeSchema, rows: Int) -> Batch {
        var batch = Batch(type, in: Schema([type]))
        for c in type.columns.indices {
            for row in 0..<rows {
                batch.columns[c].append(
                    c % 5 == 0 && (row + c) % 2 == 0 ? .null : c % 3 == 0 ? .string("t\(c % 50 + row)") : .int(Int64(c * row)))
            }
        }
        batch.count = rows
        return batch
    }

    @Test func `types with more than 128 columns have segments of fewer rows, in bulk, after changes and after compaction`() throws {
        #expect([0, 1, 128].map { BulkWriter.segmentRows(columns: $0) } == [segmentSize, segmentSize, segmentSize])
        #expect(
            [129, 181, 256, 1000, 10_000, 100_000].map { BulkWriter.segmentRows(columns: $0) } == [
                64_512, 32_768, 16_384, 4096, 1024, 1024,
            ])
        let type = TypeSchema("Wide", columns: (0..<2000).map { ColumnSchema("c\($0)", ColumnType(.int)) })
        let folder = TemporaryFolder(), database = try Database.create(path: folder.file("a.firn"))
        let transaction = try database.begin()
        try transaction.extendSchema([type])
        let writer = try transaction.bulkWriter("Wide")
        for start in stride(from: 0, to: 9000, by: 3000) {
            var batch = Batch(type, in: Schema([type]))
            for c in type.columns.indices { for row in start..<start + 3000 { batch.columns[c].append(.int(Int64(c < 2 ? row : c))) } }
            batch.count = 3000
            try writer.append(batch)
        }
        try transaction.commit()
        func rows(_ path: String) throws -> [Int] {
            let snapshot = try Database.open(path: path).snapshot(), table = snapshot.table(named: "Wide")!
            #expect(snapshot.verify(full: true).isEmpty)
            for row in [0, 4095, 4096, 8191, 8192, 8999] { #expect(try table.row(Int64(row))?[1] == .int(Int64(row))) }
            return try (0..<table.segmentCount).map { try table.segment($0).liveCount }
        }
        #expect(try rows(database.path) == [2048, 2048, 2048, 2048, 808])
        let change = try database.begin()
        for row in 100..<4000 { try change.delete("Wide", rowID: Int64(row)) }
        try change.commit()
        try database.snapshot().compact(to: folder.file("b.firn"))
        #expect(try rows(folder.file("b.firn")) == [2048, 2048, 1004])
    }

    @Test func `segments with more columns than bytes in them are packed, and remain whole when they are changed and when the file is cut`()
        throws
    {
        let width = 1200, count = 9000
        let type = TypeSchema("Wide", columns: (0..<width).map { ColumnSchema("c\($0)", ColumnType($0 == 7 ? .string : .int)) })
        func value(_ row: Int, _ column: Int) -> Value {
            column == 7 ? .string("t\(row % 3)") : .int(column == 0 ? Int64(row) : (row * column) % 97 == 1 ? 1 : 0)
        }
        let folder = TemporaryFolder(), database = try Database.create(path: folder.file("a.firn"), atFirstCommit: true)
        let transaction = try database.begin()
        try transaction.extendSchema([type])
        let writer = try transaction.bulkWriter("Wide")
        var batch = Batch(type, in: Schema([type]))
        for c in 0..<width { for row in 0..<count { batch.columns[c].append(value(row, c)) } }
        batch.count = count
        try writer.append(batch)
        try transaction.commit()
        let snapshot = try database.snapshot()
        #expect(snapshot.table(named: "Wide")!.segmentCount == 3)
        for index in 0..<3 {
            let header = try snapshot.core.segment(type: 0, index: index).header
            #expect(header.entries.allSatisfy { $0.packed != nil } && header.shared.isEmpty)
        }
        // Wide headers alone would take three times 112 bytes for each column.
        let whole = Array(try Data(contentsOf: URL(filePath: database.path)))
        #expect(whole.count < 3 * 112 * width)

        func check(_ path: String, changed: Set<Int> = [], rows: Int = count) throws {
            let snapshot = try Database.open(path: path).snapshot(), table = snapshot.table(named: "Wide")!
            #expect(snapshot.verify(full: true).isEmpty && table.rowCount == rows)
            for row in stride(from: 0, to: rows, by: 611) {
                let expected = (0..<width).map { $0 == 9 && changed.contains(row) ? Value.int(5) : value(row, $0) }
                #expect(try table.row(Int64(row)) == expected, "row \(row)")
            }
        }
        try check(database.path)
        // A file that lost its end has its first segments.
        try File(path: folder.file("cut.firn"), .createOrTruncate).write(Array(whole[..<(whole.count * 9 / 10)]), at: 0)
        _ = try Recovery.run(from: folder.file("cut.firn"), to: folder.file("saved.firn"), profile: .fast, threads: 1)
        let saved = try Database.open(path: folder.file("saved.firn")).snapshot().table(named: "Wide")!.rowCount
        #expect([3072, 6144].contains(saved))
        try check(folder.file("saved.firn"), rows: saved)

        let change = try database.begin()
        let changed = Set(stride(from: 0, to: count, by: 13))
        for row in changed { try change.update("Wide", rowID: Int64(row), column: "c9", .int(5)) }
        try change.flushAll()
        try change.commit()
        try check(database.path, changed: changed)
        try database.snapshot().compact(to: folder.file("b.firn"))
        try check(folder.file("b.firn"), changed: changed)
    }

    @Test(arguments: [1000, 2000, 4000]) func `looking up every name reads every name once`(width: Int) {
        let names = (0..<width).map { "c\($0 % (width - 10))" }, positions = EntryPositions<String>()
        var reads = 0
        for name in names + ["none"] {
            let found = positions.first(name, of: width) {
                reads += 1
                return names[$0]
            }
            #expect(found == names.firstIndex(of: name))
        }
        #expect(reads == width)
    }

    @Test(arguments: [3, 40]) func `the index of a type follows changes of its columns`(width: Int) {
        var type = type(width)
        for i in type.columns.indices { type.columns[i].id = UInt32(i * 2 + 1) }
        #expect(type.index(of: "c2") == 2 && type.index(ofID: 5) == 2 && type.index(of: "x") == nil && type.index(ofID: 4) == nil)
        let before = type
        type.columns[2].name = "x"
        type.columns[2].id = 4
        type.columns.append(ColumnSchema("c0", ColumnType(.int), id: 99))
        #expect(type.index(of: "x") == 2 && type.index(ofID: 4) == 2 && type.index(of: "c2") == nil && type.index(ofID: 5) == nil)
        #expect(type.index(of: "c0") == 0 && type.index(ofID: 99) == width)
        #expect(before.index(of: "c2") == 2 && before.index(of: "x") == nil && before != type)
        var other = before
        other.columns[0].name = before.columns[0].name
        #expect(other == before && other.hashValue == before.hashValue)
    }

    @Test(arguments: [3, 40]) func `the entry of a column is found at any position in a header`(width: Int) {
        let zone = Zone(mayHaveNulls: false, allNull: false, bounds: .none)
        var header = SegmentHeader(rowCount: 1, firstRowID: 0, entries: (0..<width).map { .init(columnID: UInt32(width - $0), zone: zone) })
        for column in 0..<width { #expect(header.entryPosition(of: UInt32(column + 1), near: column) == width - column - 1) }
        #expect(header.entryPosition(of: 0, near: 0) == nil && header.entryPosition(of: 1, near: width + 7) == width - 1)
        header.entries.append(.init(columnID: 1000, zone: zone))
        #expect(header.entryPosition(of: 1000, near: 0) == width)
    }

    @Test func `a type with very many columns can be written, read, extended, updated, compacted and verified`() throws {
        let folder = TemporaryFolder(), path = folder.file("a.firn"), width = 20_000
        var type = type(width)
        let database = try Database.create(path: path), first = try database.begin()
        try first.extendSchema([type])
        let rows = batch(type, rows: 3)
        try first.bulkWriter("Wide").append(rows)
        try first.commit()
        let second = try database.begin()
        type.columns += (0..<200).map { ColumnSchema("more\($0)", ColumnType(.int, optional: true)) }
        try second.extendSchema([type])
        for c in stride(from: 1, to: width, by: 101) {
            try second.update("Wide", rowID: 1, column: "c\(c)", c % 3 == 0 ? .string("new") : .int(-1))
        }
        try second.flushAll()
        try second.commit()
        let snapshot = try Database.open(path: path).snapshot(), table = try #require(snapshot.table(named: "Wide"))
        #expect(snapshot.verify(full: true).isEmpty)
        try snapshot.compact(to: folder.file("b.firn"))
        for table in [table, try #require(try Database.open(path: folder.file("b.firn")).snapshot().table(named: "Wide"))] {
            let row = try #require(try table.row(1))
            #expect(row.count == width + 200 && row[width + 199] == .null)
            for c in 0..<width {
                let changed: Value = c % 3 == 0 ? .string("new") : .int(-1), wanted = c % 101 == 1 ? changed : rows.columns[c].value(at: 1)
                #expect(row[c] == wanted)
            }
        }
        let statistics = try snapshot.statistics()[0]
        #expect(statistics.columns.count == width + 200 && statistics.columns[width - 1].name == "c\(width - 1)")
    }

    @Test func `wide types without nesting are valid, and embedded types that unfold without end are damage`() throws {
        let part = TypeSchema(
            "Part", columns: (0..<300_000).map { ColumnSchema("p\($0)", ColumnType(.int), id: UInt32($0 + 1)) }, isEmbedded: true, id: 2)
        var wide = type(300_000)
        for i in wide.columns.indices { wide.columns[i].id = UInt32(i + 1) }
        wide.columns.append(ColumnSchema("part", ColumnType(.embedded, optional: true, target: "Part"), id: 900_000))
        wide.id = 1
        try Schema([wide, part]).validate()
        // Ten types with ten objects each unfold without end.
        let many = (0..<10).map { level in
            TypeSchema(
                "T\(level)",
                columns: (0..<10).map {
                    ColumnSchema("c\($0)", ColumnType(.embedded, optional: true, target: "T\(min(level + 1, 9))"), id: UInt32($0 + 1))
                }, isEmbedded: true, id: UInt32(level + 1))
        }
        #expect(throws: Damage.self) { try Schema(many).validate() }
    }
}
