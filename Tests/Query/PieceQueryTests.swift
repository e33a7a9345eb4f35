import FirnBytes
import FirnCodecs
import FirnKit
import Testing

@testable import FirnDatabase
@testable import FirnQuery
@testable import FirnTable

/// Queries of text with pieces of other columns find the rows that they find in memory.
@Suite struct PieceQueryTests {
    private let type = TypeSchema(
        "T",
        columns: [
            ColumnSchema("id", ColumnType(.int)), ColumnSchema("name", ColumnType(.string, optional: true)),
            ColumnSchema("page", ColumnType(.string)), ColumnSchema("mail", ColumnType(.string, optional: true)),
        ])

    private func row(_ i: Int) -> [Value] {
        let x = (UInt64(i) &+ 1) &* 0x9E37_79B9_7F4A_7C15, name = String(x >> 36, radix: 36) + " Name"
        return [
            .int(Int64(x >> 35)), i % 11 == 0 ? .null : .string(name),
            .string(i % 50 == 3 ? "none" : "https://example.org/\(x >> 35)/\(i % 3)"),
            i % 7 == 0 || i % 11 == 0 ? .null : .string("\(name)@example.org"),
        ]
    }

    private func run(_ request: QueryRequest, _ table: any Table) throws -> [[Value]] {
        var rows: [[Value]] = []
        try QueryRun(request, table: table, threads: 2).forEachBatch { batch in
            for row in 0..<batch.count { rows.append(batch.columns.map { $0.value(at: row) }) }
            return true
        }
        return rows
    }

    @Test func `conditions, orders, groups and distinct values of text with pieces are those of the values`() throws {
        let rows = (0..<6000).map(row), schema = Schema([type])
        let batch = try RandomTables.batch(rows, of: type, in: schema), model = MemoryTable(type, schema: schema, batches: [batch])
        let folder = TemporaryFolder(), database = try Database.create(path: folder.file("a.firn")), transaction = try database.begin()
        try transaction.extendSchema([type])
        try transaction.bulkWriter("T").append(batch)
        try transaction.commit()
        let snapshot = try database.snapshot(), encodings = try snapshot.statistics()[0].columns.flatMap { $0.encodings.map(\.name) }
        #expect(encodings.count { $0.hasPrefix("pieces(id)") || $0.hasPrefix("pieces(name)") || $0.hasPrefix("pieces(mail)") } == 2)
        let table = try #require(snapshot.table(named: "T"))
        let page = rows[100][2], mail = rows[101][3]
        for (filter, arguments) in [
            ("page == $0", [page]), ("page != $0", [page]), ("mail == $0", [mail]), ("page BEGINSWITH 'https://example.org/1'", []),
            ("page CONTAINS '77'", []), ("mail ENDSWITH '9 Name@example.org'", []), ("mail BEGINSWITH 'a1'", []), ("mail == nil", []),
            ("page == 'none'", []), ("page LIKE '*/1?2*/0'", []), ("mail CONTAINS[c] 'A1'", []), ("page > 'https://example.org/5'", []),
            ("mail IN {$0, 'x'}", [mail]), ("page CONTAINS name OR mail CONTAINS name", []), ("page == '\u{7F}'", []),
        ] as [(String, [Value])] {
            let request = QueryRequest(filter: filter, arguments: arguments)
            #expect(try run(request, table) == run(request, model), "\(filter)")
            let sorted = QueryRequest(
                filter: filter, arguments: arguments, sort: [.init("page"), .init("mail", ascending: false)], limit: 9)
            #expect(try run(sorted, table) == run(sorted, model), "\(filter)")
            let groups = QueryRequest(
                filter: filter, arguments: arguments, sort: [.init("mail")], groupBy: ["mail"],
                aggregates: try Aggregate.list("count, min(page)"))
            #expect(try run(groups, table) == run(groups, model), "\(filter)")
            let distinct = QueryRequest(filter: filter, arguments: arguments, sort: [.init("page")], distinct: ["page"])
            #expect(try run(distinct, table).map { $0[2] } == run(distinct, model).map { $0[2] }, "\(filter)")
        }
    }
}
