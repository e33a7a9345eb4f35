import FirnBytes
import FirnDatabase
import FirnKit
import FirnTable
import Testing

/// Returns every live row of a table with its row id, read by vectors in order.
func allRows(_ table: any Table) throws -> [(id: Int64, values: [Value])] {
    var out: [(id: Int64, values: [Value])] = []
    for s in 0..<table.segmentCount {
        let segment = try table.segment(s)
        var columns = table.type.columns.map { Column($0, in: table.schema) }
        for vector in 0..<segment.vectorCount {
            for i in columns.indices { try segment.column(i).read(vector: vector, into: &columns[i]) }
            for row in segment.rows(ofVector: vector) where segment.live?[row] ?? true {
                out.append((try segment.rowID(at: row), columns.map { named($0.value(at: row - vector * vectorSize), $0) }))
            }
        }
    }
    return out
}

/// Removes the names of embedded fields, because objects are compared by their values in order; the schema has the names.
func named(_ value: Value, _ column: Column) -> Value { stripped(value) }

@Suite struct DatabaseTests {
    @Test(arguments: 1...60 as ClosedRange<UInt64>)
    func `rows of any schema that are written in bulk round trip, also through compaction`(seed: UInt64) throws {
        var random = RandomTables(seed: seed)
        let schema = random.schema()
        let type = schema.types.last!
        let rows = random.rows(random.chance(10) ? 3000 : random.number(0...300), of: type, in: schema)
        let folder = TemporaryFolder()
        let database = try Database.create(path: folder.file("a.firn"), atFirstCommit: seed.isMultiple(of: 2))
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

    @Test(arguments: 1...30 as ClosedRange<UInt64>)
    func `small transactions agree with a plain model, and pinned versions stay readable`(seed: UInt64) throws {
        var random = RandomTables(seed: seed &* 7919)
        let schema = random.schema()
        let type = schema.types.last!
        let folder = TemporaryFolder()
        let path = folder.file("a.firn")
        var database = try Database.create(path: path, atFirstCommit: seed.isMultiple(of: 2))
        var model: [Int64: [Value]] = [:]
        let first = try database.begin()
        try first.extendSchema(schema.types)
        let start = random.rows(random.number(0...2000), of: type, in: schema)
        let base = try first.bulkWriter("Thing").append(RandomTables.batch(start, of: type, in: schema))
        try first.commit()
        for (i, row) in start.enumerated() { model[base + Int64(i)] = row }
        var pinned: [(DatabaseSnapshot, [Int64: [Value]])] = []
        for _ in 0..<random.number(3...12) {
            let transaction = try database.begin()
            let before = model
            for _ in 0..<random.number(0...30) {
                switch random.number(0...3) {
                case 0, 1:
                    let row = random.rows(1, of: type, in: schema)[0]
                    model[try transaction.insert("Thing", row)] = row
                case 2:
                    guard let id = model.keys.sorted().randomElement(using: &random.generator) else { continue }
                    let column = random.number(0...type.columns.count - 1)
                    let value = random.value(type.columns[column].type, in: schema)
                    try transaction.update("Thing", rowID: id, column: type.columns[column].name, value)
                    model[id]![column] = value
                default:
                    guard let id = model.keys.sorted().randomElement(using: &random.generator) else { continue }
                    try transaction.delete("Thing", rowID: id)
                    model[id] = nil
                }
            }
            if random.chance(15) {
                transaction.cancel()
                model = before
            } else {
                if random.chance(30) { try transaction.flushAll() }
                try transaction.commit()
            }
            if random.chance(30) { database = try Database.open(path: path, writable: true) }
            if random.chance(30) { pinned.append((try database.snapshot(), model)) }
        }
        pinned.append((try database.snapshot(), model))
        for (snapshot, expected) in pinned {
            let table = try #require(snapshot.table(named: "Thing"))
            let back = try allRows(table)
            #expect(back.map(\.id) == expected.keys.sorted(), "seed \(seed)")
            #expect(back.map(\.values) == expected.sorted { $0.key < $1.key }.map { $0.value.map(stripped) }, "seed \(seed)")
            #expect(table.rowCount == expected.count)
            for id in expected.keys.sorted().prefix(20) {
                let one = try table.row(id)!
                #expect(one.map(stripped) == expected[id]!.map(stripped), "seed \(seed), row \(id)")
            }
            #expect(snapshot.verify(full: true).isEmpty, "seed \(seed): \(snapshot.verify(full: true))")
            for embedded in snapshot.tables where embedded.type.isEmbedded { #expect(embedded.rowCount <= 100_000) }
        }
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
