import FirnBytes
import FirnDatabase
import FirnKit
import FirnTable
import Testing

@testable import FirnQuery

/// Queries of a transaction that nothing has read before: the first thread that follows a column opens what the others read, too.
@Suite struct TransactionThreadsTests {
    private static let schema = Schema([
        TypeSchema("Inner", columns: [ColumnSchema("name", ColumnType(.string))], isEmbedded: true),
        TypeSchema(
            "Part",
            columns: [ColumnSchema("n", ColumnType(.int)), ColumnSchema("inner", ColumnType(.embedded, optional: true, target: "Inner"))],
            isEmbedded: true),
        TypeSchema("Leaf", columns: [ColumnSchema("text", ColumnType(.string))]),
        TypeSchema(
            "Node",
            columns: [
                ColumnSchema("i", ColumnType(.int)), ColumnSchema("part", ColumnType(.embedded, optional: true, target: "Part")),
                ColumnSchema("parts", ColumnType(.embedded, collection: .list, target: "Part")),
                ColumnSchema("leaf", ColumnType(.link, optional: true, target: "Leaf")),
            ]),
    ])
    private static let segments = 12, rows = 300

    private static func part(_ i: Int) -> Value {
        .object([.init("n", .int(Int64(i % 7))), .init("inner", .object([.init("name", .string("name \(i % 3)"))]))])
    }

    private static func nodes(_ range: Range<Int>) -> Batch {
        let rows = range.map { i in
            [
                Value.int(Int64(i)), i % 5 == 0 ? .null : part(i), .list((0..<i % 3).map { part(i + $0) }),
                i % 4 == 0 ? .null : .link(Int64(i % 10)),
            ]
        }
        return RandomTables.batch(rows, of: schema["Node"]!, in: schema)
    }

    /// A file with many small segments of nodes, and leaves in the delta store.
    private static func database(_ folder: TemporaryFolder) throws -> Database {
        let database = try Database.create(path: folder.file("t.firn"))
        let transaction = try database.begin()
        try transaction.extendSchema(schema.types)
        for segment in 0..<segments {
            let writer = try transaction.bulkWriter("Node")
            try writer.append(nodes(segment * rows..<(segment + 1) * rows))
            try writer.finish()
        }
        for i in 0..<10 { _ = try transaction.insert("Leaf", [.string("leaf \(i)")]) }
        try transaction.commit()
        return database
    }

    private static let conditions: [(text: String, holds: @Sendable (Int) -> Bool)] = [
        ("part.n == 3", { $0 % 5 != 0 && $0 % 7 == 3 }),
        ("part.inner.name == 'name 1'", { $0 % 5 != 0 && $0 % 3 == 1 }),
        ("leaf.text == 'leaf 7'", { $0 % 4 != 0 && $0 % 10 == 7 }),
        ("ANY parts.n == 2", { i in (0..<i % 3).contains { (i + $0) % 7 == 2 } }),
    ]

    @Test(arguments: [false, true]) func `threads that are the first to read a transaction agree with one thread`(isWriting: Bool) throws {
        let folder = TemporaryFolder(), database = try Self.database(folder)
        for round in 0..<60 {
            let transaction = try database.begin()
            var count = Self.segments * Self.rows
            if isWriting {
                try transaction.bulkWriter("Node").append(Self.nodes(count..<count + 100))
                count += 100
            }
            let (text, holds) = Self.conditions[round % Self.conditions.count]
            let run = try QueryRun(QueryRequest(filter: text), table: transaction.table("Node"), threads: 8)
            #expect(try run.count() == (0..<count).count(where: holds), "round \(round): \(text)")
            transaction.cancel()
        }
    }
}
