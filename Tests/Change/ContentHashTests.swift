import FirnBytes
import FirnChange
import FirnDatabase
import FirnKit
import FirnTable
import Foundation
import Testing

/// The content of rows has one hash, however it is stored.
@Suite struct ContentHashTests {
    private func hash(_ table: any Table, key: [String]? = nil) throws -> Hash128 {
        var options = ContentHash.Options()
        options.key = key
        return try ContentHash(of: table, options: options).hash
    }

    private func columns(_ table: any Table, key: [String]? = nil) throws -> [String: Hash128] {
        var options = ContentHash.Options()
        options.key = key
        options.eachColumn = true
        let hash = try ContentHash(of: table, options: options)
        return Dictionary(uniqueKeysWithValues: hash.columns.map { ($0.name, $0.hash) })
    }

    /// A column of every kind and collection, with nulls, and with values that have two representations.
    static let zoo: (columns: [ColumnSchema], rows: [[Value]], embedded: [TypeSchema]) = {
        let part = TypeSchema("Part", columns: [column("n", .int), column("t", .string)], isEmbedded: true)
        let columns = [
            column("id", .int, optional: false), column("flag", .bool), column("real", .double), column("small", .float),
            column("text", .string), column("raw", .data),
            column("day", .date), column("price", .decimal), column("oid", .objectID), column("uid", .uuid), column("any", .any),
            ColumnSchema("part", ColumnType(.embedded, optional: true, target: "Part")),
            ColumnSchema("list", ColumnType(.int, collection: .list, elementOptional: true)),
            ColumnSchema("set", ColumnType(.string, collection: .set)),
            ColumnSchema("map", ColumnType(.double, collection: .map, elementOptional: true)),
        ]
        let first: [Value] = [
            .int(1), .bool(true), .double(-0.0), .float(1.5), .string("grün"), .data([0, 255]),
            .date(Timestamp(seconds: -1, nanoseconds: 5)), .decimal(Decimal("1.50")!),
            .objectID(Identifier(high: 0x0102_0304_0506_0708, low: 0x090A_0B0C)),
            .uuid(Identifier(high: 0x0011_2233_4455_6677, low: 0x8899_AABB_CCDD_EEFF)),
            .list([.int(1), .string("x"), .null, .map([.init("a", .double(0.5))])]), .object([.init("n", .int(7)), .init("t", .null)]),
            .list([.int(3), .null, .int(3)]), .set([.string("a"), .string("b")]), .map([.init("k", .double(2)), .init("n", .null)]),
        ]
        let second: [Value] = [
            .int(-2), .null, .double(.nan), .null, .string(""), .null, .null, .decimal(Decimal("-0.00")!), .null, .null, .double(3), .null,
            .list([]), .set([]), .map([]),
        ]
        return (columns, [first, second], [part])
    }()

    /// These hashes were computed by another program from docs/format/content-hash.md. They must never change.
    @Test func `the hash is the one that docs/format/content-hash.md defines`() throws {
        let zoo = Self.zoo
        let open = table(zoo.columns, zoo.rows, embedded: zoo.embedded),
            keyed = table(zoo.columns, zoo.rows, key: ["id"], embedded: zoo.embedded)
        #expect("\(try hash(open))" == "faeb3ceb1ca49576efbc70e6f310b163")
        #expect("\(try hash(keyed))" == "4e1cfe358b294a9984840e628f403e48")
        #expect("\(try columns(keyed)["part"]!)" == "3baaaacf9a8ef13e01e5419ec329478c")
        #expect("\(try columns(open)["any"]!)" == "a98018616f68e7a2c5c8741aad0980bf")
        let empty = table([column("a", .int)], [])
        #expect("\(try hash(empty))" == "1262da1dca9873a1f4e8fd5851d95f25")
        #expect("\(ContentHash.ofFile([]))" == "477e65043bdc8847a5bfecc8bc236fec")
        #expect("\(ContentHash.ofFile([try ContentHash(of: open), try ContentHash(of: empty)]))" == "2f7b172940a7a27232dc7374333a213e")
    }

    @Test func `the order of rows changes the hash only of a type without a key, and the order of columns never does`() throws {
        let zoo = Self.zoo
        func rows(_ key: [String], _ order: [Int]) -> MemoryTable {
            table(zoo.columns, order.map { zoo.rows[$0] }, key: key, batch: 1, embedded: zoo.embedded)
        }
        #expect(try hash(rows(["id"], [0, 1])) == hash(rows(["id"], [1, 0])))
        #expect(try hash(rows([], [0, 1])) != hash(rows([], [1, 0])))
        #expect(try hash(rows([], [0, 1]), key: ["id"]) == hash(rows(["id"], [1, 0])))
        #expect(try hash(rows([], [0, 1])) != hash(rows(["id"], [0, 1])))
        let turned = table(zoo.columns.reversed(), zoo.rows.map { $0.reversed() }, embedded: zoo.embedded)
        #expect(try hash(turned) == hash(rows([], [0, 1])))
        #expect(try columns(turned) == columns(rows([], [0, 1])))
        // A list differs from its elements, and null differs from empty.
        func one(_ kind: ColumnType, _ values: Value...) throws -> Hash128 {
            try hash(table([ColumnSchema("a", kind)], values.map { [$0] }))
        }
        let list = ColumnType(.string, optional: true, collection: .list), text = ColumnType(.string, optional: true)
        #expect(try one(list, .list([.string("ab")])) != one(list, .list([.string("a"), .string("b")])))
        #expect(try one(list, .list([.string("a")]), .list([.string("b")])) != one(list, .list([.string("a"), .string("b")]), .list([])))
        #expect(try one(list, .null) != one(list, .list([])))
        #expect(try one(text, .null) != one(text, .string("")))
        #expect(try one(text, .null) != one(text, .null, .null))
        #expect(try one(ColumnType(.int), .int(1)) != one(ColumnType(.double), .double(1)))
        #expect(
            try hash(table([column("a", .int), column("b", .int)], [[.int(1), .null]]))
                != hash(table([column("a", .int), column("b", .int)], [[.null, .int(1)]])))
        #expect(throws: FirnError.self) { try hash(rows([], [0]), key: ["nothing"]) }
    }

    @Test func `links are hashed by the key of the target row, or by its position if it has no key`() throws {
        let folder = TemporaryFolder()
        func file(_ name: String, key: [Int], others: Bool) throws -> StoredTable {
            let dog = TypeSchema(
                "Dog",
                columns: [column("owner", .link, optional: true)].map {
                    ColumnSchema($0.name, ColumnType(.link, optional: true, target: "Person"))
                })
            let person = TypeSchema("Person", columns: [column("name", .string)], key: key)
            let database = try Database.create(path: folder.file(name))
            let transaction = try database.begin()
            try transaction.extendSchema([person, dog])
            if others { for i in 0..<5 { try transaction.insert("Person", [.string("gone \(i)")]) } }
            let names = others && !key.isEmpty ? ["Bo", "Al", "Cy"] : ["Al", "Bo", "Cy"]
            var rows: [String: Int64] = [:]
            for name in names { rows[name] = try transaction.insert("Person", [.string(name)]) }
            if others { for i in 0..<5 { try transaction.delete("Person", rowID: Int64(i)) } }
            for name in ["Cy", "Al"] { try transaction.insert("Dog", [.link(rows[name]!)]) }
            try transaction.insert("Dog", [.link(99)])
            try transaction.commit()
            return try #require(try database.snapshot().table(named: "Dog"))
        }
        for key in [[0], []] {
            #expect(
                try hash(file("a\(key.count).firn", key: key, others: false)) == hash(file("b\(key.count).firn", key: key, others: true)))
        }
        #expect(try hash(file("c.firn", key: [0], others: false)) != hash(file("d.firn", key: [], others: false)))
    }

    @Test func `a decimal of kind any has the hash of a double only if their values are exactly equal`() throws {
        func hash(_ value: Value) throws -> Hash128 {
            let type = TypeSchema("Thing", columns: [column("any", .any)])
            let batch = RandomTables.batch([[value]], of: type, in: Schema([type]))
            return try self.hash(MemoryTable(type, schema: Schema([type]), batches: [batch]))
        }
        #expect(try hash(.decimal(Decimal("0.50")!)) == hash(.double(0.5)))
        #expect(try hash(.decimal(Decimal("1E20")!)) == hash(.double(1e20)))
        #expect(try hash(.decimal(Decimal("0.1")!)) != hash(.double(0.1)))
        #expect(try hash(.decimal(Decimal("0.1000000000000000055511151231257827")!)) != hash(.double(0.1)))
        #expect(try hash(.decimal(Decimal("100000000000000000001")!)) != hash(.double(1e20)))
    }

    @Test(arguments: Seed.first(Tier.cases(3, of: 6)))
    func `random rows have one hash in memory, in bulk, in a delta, changed and changed back, and compacted`(seed: Seed) throws {
        let folder = TemporaryFolder()
        var random = RandomTables(seed, salt: 104_729)
        let schema = random.schema(), type = schema["Thing"]!
        var rows = random.rows(random.number(1...2500), of: type, in: schema)
        func memory(_ rows: [[Value]], _ size: Int) -> MemoryTable {
            MemoryTable(
                type, schema: schema,
                batches: stride(from: 0, to: rows.count, by: size).map {
                    RandomTables.batch(Array(rows[$0..<min($0 + size, rows.count)]), of: type, in: schema)
                })
        }
        let truth = try hash(memory(rows, 1000)), parts = try columns(memory(rows, 700))
        let database = try Database.create(path: folder.file("a.firn"), keep: 16)
        func stored() throws -> StoredTable { try #require(try database.snapshot().table(named: "Thing")) }
        let transaction = try database.begin()
        try transaction.extendSchema(schema.types)
        let half = rows.count / 2
        if half > 0 { _ = try transaction.bulkWriter("Thing").append(RandomTables.batch(Array(rows[0..<half]), of: type, in: schema)) }
        try transaction.commit()
        let more = try database.begin()
        for row in rows[half...] { try more.insert("Thing", row) }
        try more.commit()
        #expect(try hash(stored()) == truth, "seed \(seed)")
        #expect(try columns(stored()) == parts, "seed \(seed)")
        let extra = try database.begin()
        let other = random.rows(3, of: type, in: schema)
        for row in other { try extra.insert("Thing", row) }
        try extra.commit()
        #expect(try hash(stored()) != truth, "seed \(seed)")
        let back = try database.begin()
        for id in rows.count..<(rows.count + 3) { try back.delete("Thing", rowID: Int64(id)) }
        try back.commit()
        #expect(try hash(stored()) == truth, "seed \(seed)")
        try database.snapshot().compact(
            to: folder.file("b.firn"), overwrite: true, encryption: .plain, profile: .small, threads: 1, progress: { _ in })
        let compacted = try Database.open(path: folder.file("b.firn")).snapshot()
        #expect(try hash(#require(compacted.table(named: "Thing"))) == truth, "seed \(seed)")
        // A value that is not equal changes the hash of the rows and of its column, but not those of other columns.
        for _ in 0..<20 {
            let row = random.number(0...rows.count - 1), position = random.number(0...type.columns.count - 1), before = rows[row][position]
            rows[row][position] = random.value(type.columns[position].type, in: schema)
            defer { rows[row][position] = before }
            let same = Value.areEquivalent(before, rows[row][position], tolerance: 0)
            let now = try columns(memory(rows, 1024))
            #expect((try hash(memory(rows, 1024)) == truth) == same, "seed \(seed): \(before) and \(rows[row][position])")
            for column in type.columns {
                #expect(
                    (now[column.name] == parts[column.name]) == (same || column.name != type.columns[position].name),
                    "seed \(seed): \(column.name)")
            }
        }
    }
}
