import FirnBytes
import FirnKit
import Testing

@testable import FirnDatabase
@testable import FirnTable

/// Reading nested embedded objects: its cost, and that all methods of reading agree.
@Suite struct EmbeddedReadTests {
    /// Returns a schema with a root type "Row" and `depth` levels of objects in its column "c". Each level has a number "a", and all but
    /// the last have a column "c".
    private func chain(_ depth: Int, collection: CollectionKind = .none) -> Schema {
        var types: [TypeSchema] = []
        for level in (0...depth).reversed() {
            var columns = [ColumnSchema("a", ColumnType(.int))]
            if level < depth {
                columns.append(
                    ColumnSchema(
                        "c", ColumnType(.embedded, optional: collection == .none, collection: collection, target: "Level\(level + 1)")))
            }
            types.append(TypeSchema(level == 0 ? "Row" : "Level\(level)", columns: columns, isEmbedded: level > 0))
        }
        return Schema(types)
    }

    private func row(_ number: Int, _ depth: Int, isThere: (Int) -> Bool) -> [Value] {
        var value = Value.null
        let last = (1..<depth + 1).first { !isThere($0) } ?? depth + 1
        for level in (1..<last).reversed() {
            let a = Value.Entry("", .int(Int64(number * 100 + level)))
            value = .object(level == depth ? [a] : [a, .init("", value)])
        }
        return [.int(Int64(number)), value]
    }

    private func write(_ rows: [[Value]], _ schema: Schema, in folder: TemporaryFolder) throws -> (database: Database, table: StoredTable) {
        let database = try Database.create(path: folder.file("a.firn")), transaction = try database.begin()
        try transaction.extendSchema(schema.types)
        try transaction.bulkWriter("Row").append(RandomTables.batch(rows, of: schema["Row"]!, in: schema))
        try transaction.commit()
        let reopened = try Database.open(path: folder.file("a.firn"), writable: true)
        return (reopened, try #require(try reopened.snapshot().table(named: "Row")))
    }

    @Test(arguments: [1, 2, 3, 5, 7]) func `each level of embedded objects decodes its own vectors once, independent of the other levels`(
        depth: Int
    ) throws {
        let rows = (0..<10_000).map { row($0, depth) { _ in true } }
        let folder = TemporaryFolder(), (database, table) = try write(rows, chain(depth), in: folder)
        #expect(try allRows(table).map(\.values) == rows)
        // Ten vectors, two columns per level, and one in the last.
        #expect(database.counts.objectVectors == 20 * (depth - 1) + 10)
        #expect(database.counts.objectValues == 0)
    }

    @Test(arguments: [1, 3, 5, 7])
    func `vectors of embedded objects are decoded once if half of the objects are absent`(depth: Int) throws {
        var random = RandomTables(seed: UInt64(depth)), counts = [Int](repeating: 0, count: depth + 1)
        let rows = (0..<20_000).map { number in
            let present = (0...depth).map { _ in random.chance(50) }
            for level in 1...depth where present[1...level].allSatisfy({ $0 }) { counts[level] += 1 }
            return row(number, depth) { present[$0] }
        }
        let folder = TemporaryFolder(), (database, table) = try write(rows, chain(depth), in: folder)
        #expect(try allRows(table).map(\.values) == rows)
        let stored: Int = (1...depth).reduce(0) { sum, level in sum + (counts[level] + 1023) / 1024 * (level == depth ? 1 : 2) }
        #expect(database.counts.objectVectors <= stored)
        // If few objects of a vector are needed, they are read one by one, but never more than decoding the vector costs.
        #expect(database.counts.objectValues <= 24 * stored)
    }

    @Test(arguments: [1, 2, 4]) func `lists of objects in lists of objects are decoded once`(depth: Int) throws {
        var random = RandomTables(seed: 5), counts = [Int](repeating: 0, count: depth + 1)
        func list(_ level: Int, _ number: Int) -> Value {
            .list(
                (0..<random.number(0...3)).map { i in
                    counts[level] += 1
                    let a = Value.Entry("", .int(Int64(number + i)))
                    return .object(level == depth ? [a] : [a, .init("", list(level + 1, number))])
                })
        }
        let rows: [[Value]] = (0..<5000).map { [.int(Int64($0)), list(1, $0)] }
        let folder = TemporaryFolder(), (database, table) = try write(rows, chain(depth, collection: .list), in: folder)
        #expect(try allRows(table).map(\.values) == rows)
        let stored: Int = (1...depth).reduce(0) { sum, level in sum + (counts[level] + 1023) / 1024 * (level == depth ? 1 : 2) }
        #expect(database.counts.objectVectors == stored)
        // Paths flatten: all numbers of the deepest level, row by row.
        let path = Array(repeating: 1, count: depth) + [0], reader = try table.segment(0).column(path: path)
        func leaves(_ value: Value, _ level: Int) -> [Value] {
            guard case .list(let objects) = value else { return [] }
            return objects.flatMap { object -> [Value] in
                guard case .object(let fields) = object else { return [] }
                return level == depth ? [fields[0].value] : leaves(fields[1].value, level + 1)
            }
        }
        var column = Column(reader.type)
        for vector in 0..<5 {
            try reader.read(vector: vector, into: &column)
            for i in stride(from: 0, to: column.count, by: 7) {
                #expect(column.value(at: i) == .list(leaves(rows[vector * 1024 + i][1], 1)))
            }
        }
        #expect(try reader.value(at: 4321) == .list(leaves(rows[4321][1], 1)))
    }

    @Test(arguments: Seed.first(6))
    func `embedded objects in random row order cost in proportion to their values, and all methods of reading agree`(seed: Seed)
        throws
    {
        var random = RandomTables(seed)
        let depth = 1 + Int(seed.number) % 4, count = 6000
        var rows = (0..<count).map { number in row(number, depth) { _ in random.chance(90) } }
        let folder = TemporaryFolder()
        var (database, table) = try write(rows, chain(depth), in: folder)
        // Objects that are replaced get new rows of their types, in the order of the changes.
        for round in 0..<2 {
            let transaction = try database.begin()
            for _ in 0..<2500 {
                let rowIndex = random.number(0...count - 1)
                rows[rowIndex] = [rows[rowIndex][0], row(rowIndex + count * (round + 1), depth) { _ in random.chance(90) }[1]]
                try transaction.update("Row", rowID: Int64(rowIndex), column: "c", rows[rowIndex][1])
            }
            if round == 0 { try transaction.flushAll() }
            try transaction.commit()
        }
        database = try Database.open(path: folder.file("a.firn"))
        table = try #require(try database.snapshot().table(named: "Row"))
        #expect(try allRows(table).map(\.values) == rows)
        let values = rows.count * (2 * depth - 1)
        #expect(database.counts.objectVectors * 25 <= values && database.counts.objectValues <= values)
        let segment = try table.segment(0), reader = try segment.column(1),
            leaf = try segment.column(path: Array(repeating: 1, count: depth) + [0])
        var column = Column(table.type.columns[1], in: table.schema), leaves = Column(leaf.type)
        for _ in 0..<30 {
            let rowIndex = random.number(0...count - 1)
            let one = stripped(try reader.value(at: rowIndex))
            #expect(one == rows[rowIndex][1])
            var wanted = rows[rowIndex][1]
            for _ in 1..<depth { if case .object(let fields) = wanted { wanted = fields[1].value } }
            if case .object(let fields) = wanted { wanted = fields[0].value }
            #expect(try leaf.value(at: rowIndex) == wanted)
            try leaf.read(vector: rowIndex / 1024, into: &leaves)
            #expect(leaves.value(at: rowIndex % 1024) == wanted)
            try reader.read(vector: rowIndex / 1024, into: &column)
            #expect(column.value(at: rowIndex % 1024) == rows[rowIndex][1])
        }
    }

    @Test func `threads that read the same column of embedded objects get the same rows`() async throws {
        let rows = (0..<9000).map { number in row(number, 4) { (number >> $0) % 3 != 0 } }
        let folder = TemporaryFolder(), (_, table) = try write(rows, chain(4), in: folder)
        let reader = try table.segment(0).column(1)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<4 {
                group.addTask {
                    var column = Column(reader.type)
                    for step in 0..<27 {
                        let vector = (step * (task + 1) + task) % 9
                        try reader.read(vector: vector, into: &column)
                        for i in stride(from: 0, to: column.count, by: 5) { #expect(column.value(at: i) == rows[vector * 1024 + i][1]) }
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test(arguments: [3, 2000]) func `objects of a type that contains itself are read to any depth`(count: Int) throws {
        let types = [
            TypeSchema(
                "Node",
                columns: [
                    ColumnSchema("a", ColumnType(.int)), ColumnSchema("next", ColumnType(.embedded, optional: true, target: "Node")),
                ], isEmbedded: true),
            TypeSchema("Row", columns: [ColumnSchema("c", ColumnType(.embedded, optional: true, target: "Node"))]),
        ]
        let folder = TemporaryFolder(), database = try Database.create(path: folder.file("a.firn")), transaction = try database.begin()
        try transaction.extendSchema(types)
        // The first vector is shallow, the second one is deeper than columns unfold without recursion.
        func value(_ row: Int) -> Value {
            (0..<(row < 1024 && count > 1024 ? 2 : 14)).reduce(.null) { .object([.init("", .int(Int64(row * 20 + $1))), .init("", $0)]) }
        }
        for row in 0..<count { try transaction.insert("Row", [value(row)]) }
        try transaction.commit()
        let table = try #require(try Database.open(path: folder.file("a.firn")).snapshot().table(named: "Row")),
            reader = try table.segment(0).column(0)
        var whole = Column(reader.type), part = whole
        for vector in 0..<(count + 1023) / 1024 {
            try reader.read(vector: vector, into: &part)
            whole.append(contentsOf: part)
        }
        func depth(_ value: Value) -> Int {
            if case .object(let fields) = value, fields.count == 2 { 1 + depth(fields[1].value) } else { 0 }
        }
        for row in stride(from: 0, to: count, by: max(1, count / 50)) {
            let one = stripped(try reader.value(at: row))
            #expect(whole.value(at: row) == value(row) && one == value(row))
            #expect(depth(whole.value(at: row)) == (row < 1024 && count > 1024 ? 2 : 14))
        }
    }

    @Test func `rows that contain themselves are damage, without endless recursion`() throws {
        let types = [
            TypeSchema("Node", columns: [ColumnSchema("next", ColumnType(.embedded, optional: true, target: "Node"))], isEmbedded: true),
            TypeSchema("Row", columns: [ColumnSchema("c", ColumnType(.embedded, optional: true, target: "Node"))]),
        ]
        let folder = TemporaryFolder(), database = try Database.create(path: folder.file("a.firn")), transaction = try database.begin()
        try transaction.extendSchema(types)
        var links = Column(ColumnType(.link, optional: true, target: "Node"))
        links.words = [0]
        links.count = 1
        try transaction.bulkWriter("Node").append(stored: [links], rowIDs: [0])
        try transaction.bulkWriter("Row").append(stored: [links], rowIDs: [0])
        try transaction.commit()
        let table = try #require(try Database.open(path: folder.file("a.firn")).snapshot().table(named: "Row")),
            reader = try table.segment(0).column(0)
        var column = Column(reader.type)
        #expect(throws: Damage.self) { try reader.read(vector: 0, into: &column) }
        #expect(throws: Damage.self) { try reader.value(at: 0) }
    }
}
