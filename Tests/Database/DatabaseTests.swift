import FirnBytes
import FirnDatabase
import FirnKit
import FirnTable
import Testing

@Suite struct DatabaseTests {
    @Test(arguments: Seed.first(60))
    func `rows of any schema that are written in bulk round trip, also through compaction`(seed: Seed) throws {
        var random = RandomTables(seed)
        let schema = random.schema()
        let type = schema.types.last!
        let rows = random.rows(random.chance(10) ? 3000 : random.number(0...300), of: type, in: schema)
        let folder = TemporaryFolder()
        let database = try Database.create(path: folder.file("a.firn"), atFirstCommit: seed.number.isMultiple(of: 2))
        let transaction = try database.begin()
        try transaction.extendSchema(schema.types)
        let writer = try transaction.bulkWriter("Thing")
        let cut = random.number(0...rows.count)
        try writer.append(RandomTables.batch(Array(rows[..<cut]), of: type, in: schema))
        try writer.append(RandomTables.batch(Array(rows[cut...]), of: type, in: schema))
        try transaction.commit()
        let snapshot = try Database.open(path: folder.file("a.firn")).snapshot()
        let table = try #require(snapshot.table(named: "Thing"))
        #expect(table.rowCount == rows.count)
        let back = try allRows(table)
        #expect(back.map(\.values) == rows.map { $0.map(stripped) }, "seed \(seed)")
        for row in rows.indices.prefix(50) {
            let one = try table.row(Int64(row))!
            #expect(one.map(stripped) == rows[row].map(stripped), "seed \(seed), row \(row)")
        }
        #expect(snapshot.verify(full: true).isEmpty, "seed \(seed): \(snapshot.verify(full: true))")
        try snapshot.compact(to: folder.file("b.firn"))
        let compacted = try Database.open(path: folder.file("b.firn")).snapshot()
        let again = try allRows(compacted.table(named: "Thing")!)
        #expect(again.map(\.values) == back.map(\.values), "seed \(seed)")
        #expect(compacted.verify(full: true).isEmpty)
    }

    @Test func `many segments share dictionaries and round trip`() throws {
        let type = TypeSchema(
            "T",
            columns: [
                ColumnSchema("id", ColumnType(.int)), ColumnSchema("name", ColumnType(.string)),
                ColumnSchema("note", ColumnType(.string, optional: true)), ColumnSchema("tags", ColumnType(.string, collection: .list)),
            ])
        let folder = TemporaryFolder()
        let database = try Database.create(path: folder.file("a.firn"))
        let transaction = try database.begin()
        try transaction.extendSchema([type])
        let writer = try transaction.bulkWriter("T")
        let count = 150_000
        func row(_ i: Int) -> [Value] {
            [
                .int(Int64(i)), .string("name \(i * 7919 % 5000)"),
                i % 3 == 0 ? .null : .string("note number \(i) of many, each different"),
                .list((0..<i % 3).map { .string("tag\((i + $0) % 10)") }),
            ]
        }
        for start in stride(from: 0, to: count, by: 10_000) {
            try writer.append(RandomTables.batch((start..<start + 10_000).map(row), of: type, in: Schema([type])))
        }
        try transaction.commit()
        let snapshot = try Database.open(path: folder.file("a.firn")).snapshot()
        let table = snapshot.table(named: "T")!
        #expect(table.segmentCount == 3)
        for (i, back) in try allRows(table).enumerated() where back.values != row(i) { Issue.record("row \(i): \(back.values)"); break }
        for i in stride(from: 0, to: count, by: 4999) {
            let one = try table.row(Int64(i))!
            #expect(one == row(i))
        }
        #expect(snapshot.verify(full: true).isEmpty)
    }

    @Test(arguments: [65_537, 140_000])
    func `a transaction can insert more rows one by one than a segment has`(count: Int) throws {
        let type = TypeSchema("T", columns: [ColumnSchema("n", ColumnType(.int)), ColumnSchema("s", ColumnType(.string, optional: true))])
        let folder = TemporaryFolder(), database = try Database.create(path: folder.file("a.firn"))
        for round in 0..<2 as Range<Int64> {
            let transaction = try database.begin()
            try transaction.extendSchema([type])
            for n in 0..<count { try transaction.insert("T", [.int(Int64(n)), n % 3 == 0 ? .null : .string("row \(n)")]) }
            try transaction.delete("T", rowID: round * Int64(count) + 7)
            try transaction.commit()
        }
        let snapshot = try Database.open(path: folder.file("a.firn")).snapshot(), table = snapshot.table(named: "T")!
        #expect(snapshot.verify(full: true).isEmpty && table.rowCount == 2 * count - 2)
        for n in [0, 6, 8, count / 2, count - 1, count, 2 * count - 1] {
            let value = n % count
            #expect(try table.row(Int64(n)) == [.int(Int64(value)), value % 3 == 0 ? .null : .string("row \(value)")])
        }
        #expect(try table.row(7) == nil && table.row(Int64(count) + 7) == nil)
    }
}
