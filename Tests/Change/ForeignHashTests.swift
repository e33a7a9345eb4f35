import FirnBytes
import FirnChange
import FirnDatabase
import FirnKit
import FirnTable
import Testing

/// Files with wrong logical hashes, as another writer may store them: differences are found by comparing values.
@Suite struct ForeignHashTests {
    private static let type = TypeSchema(
        "Row",
        columns: [
            ColumnSchema("id", ColumnType(.int), id: 0), ColumnSchema("x", ColumnType(.int), id: 1),
            ColumnSchema("name", ColumnType(.string, optional: true), id: 2),
        ], key: [0])

    private func rows(_ changed: Range<Int>) -> [[Value]] {
        (0..<20_000).map { i in
            let mixed = UInt64(i) &* 0x9E37_79B9_7F4A_7C15
            return [
                .int(Int64(i)), .int(changed.contains(i) ? -1 : Int64(truncatingIfNeeded: mixed)),
                i % 9 == 0 ? .null : .string("name \(mixed)"),
            ]
        }
    }

    private func write(_ rows: [[Value]], _ path: String) throws {
        let database = try Database.create(path: path), transaction = try database.begin()
        try transaction.extendSchema([Self.type])
        try transaction.bulkWriter("Row").append(RandomTables.batch(rows, of: Self.type, in: Schema([Self.type])))
        try transaction.commit()
    }

    @Test(arguments: [0, 7, 255] as [UInt8])
    func `30 rows that differ between two files are found whatever hashes the files claim`(byte: UInt8) throws {
        let folder = TemporaryFolder()
        let paths = [folder.file("a.firn"), folder.file("b.firn")]
        try write(rows(0..<0), paths[0])
        try write(rows(500..<530), paths[1])
        for path in paths { #expect(try ForeignHashes.write([UInt8](repeating: byte, count: 16), in: path) == 3) }
        let tables = try paths.map { try #require(try Database.open(path: $0).snapshot().table(named: "Row")) }
        let result = try TableDifference.compute(old: tables[0], new: tables[1], options: DifferenceOptions())
        #expect((result.added, result.removed, result.changed, result.unchanged) == (0, 0, 30, 19_970))
        let changes = try TableChanges.between(tables[0], tables[1])
        #expect(changes.modified.rowIDs == Array(500..<530))
        #expect(try ContentHash(of: tables[0]).hash != ContentHash(of: tables[1]).hash)
        var written = 0
        try result.writeChanges { _ in
        } write: { type, batch in
            if type == "new.Row" { written += batch.count }
        }
        #expect(written == 30)
    }

    @Test(arguments: [0, 7] as [UInt8])
    func `rows that differ between two versions are found whatever hashes the file claims`(byte: UInt8) throws {
        let folder = TemporaryFolder(), path = folder.file("a.firn")
        try write(rows(0..<0), path)
        do {
            let transaction = try Database.open(path: path, writable: true).begin()
            for id in 0..<3000 as Range<Int64> { try transaction.update("Row", rowID: id, column: "x", .int(id)) }
            try transaction.flushAll()
            try transaction.commit()
        }
        try ForeignHashes.write([UInt8](repeating: byte, count: 16), in: path)
        let database = try Database.open(path: path)
        let old = try #require(try database.snapshot(version: 1).table(named: "Row")),
            new = try #require(try database.snapshot().table(named: "Row"))
        let result = try TableDifference.compute(old: old, new: new, options: DifferenceOptions())
        #expect((result.changed, result.unchanged) == (2999, 17_001))
        #expect(try TableChanges.between(old, new).modified.rowIDs == Array(1..<3000))
    }
}
