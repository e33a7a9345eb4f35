import FirnBytes
import FirnDatabase
import FirnKit
import FirnTable
import Testing

@testable import FirnQuery

/// Text that is stored as symbols is searched without decoding it. (A column with an index, so that its symbols are not coded in contexts,
/// which must be decoded.) The same rows in memory give the expected results.
@Suite struct TokenTextTests {
    private static let type = TypeSchema(
        "T",
        columns: [
            ColumnSchema("text", ColumnType(.string, optional: true), indexes: .values), ColumnSchema("bytes", ColumnType(.data)),
            ColumnSchema("n", ColumnType(.int)),
        ])
    private static let words = [
        "special", "requests", "packages", "sleep", "spec", "ial", "carefully", "furiously", "deposits", "the", "Special", "REQUESTS",
    ]

    private static func text(_ random: inout RandomTables, _ row: Int) -> String {
        var words = (0..<random.number(0...9)).map { _ in
            random.chance(12) ? "\(random.number(0...99999))" : Self.words[random.number(0...Self.words.count - 1)]
        }
        // Some vectors contain non-ASCII text.
        if row / 1024 % 3 == 1, random.chance(5) { words.append(["é", "über", "\u{212A}", "e\u{301}"][random.number(0...3)]) }
        return words.joined(separator: random.chance(5) ? "" : " ")
    }

    private static func predicate(_ random: inout RandomTables) -> (text: String, arguments: [Value]) {
        func pick(_ all: [String]) -> String { all[random.number(0...all.count - 1)] }
        if random.chance(10) {
            return (
                pick([
                    "n < 500 AND text CONTAINS 'spec'", "text == NULL", "text != 'special'", "NOT text LIKE '*s*'",
                    "text CONTAINS 'the' OR text LIKE '*9'",
                ]), []
            )
        }
        func piece() -> String {
            pick([
                "special", "spec", "s", "al req", "ü", "é", "ials", "x", "REQ", "the ", "11", "specialspecial", "ecialspec", "k", " ",
                "special requests", "the", "",
            ])
        }
        let comparator = pick(["LIKE", "LIKE", "CONTAINS", "BEGINSWITH", "ENDSWITH", "==", "!="])
        // One or two rows of a vector.
        if random.chance(15) {
            let first = random.number(0...10_990)
            return (
                "n BETWEEN {\(first), \(first + random.number(0...1))} AND \(pick(["", "NOT "]))text \(comparator)\(pick(["", "[c]"])) '\(piece())'",
                []
            )
        }
        if comparator != "LIKE", random.chance(30) { return ("bytes \(comparator) $0", [.data(Array(piece().utf8))]) }
        let folding = pick(["", "", "", "[c]", "[d]", "[cd]"])
        guard comparator == "LIKE" else { return ("text \(comparator)\(folding) '\(piece())'", []) }
        let pieces = (0..<random.number(1...3)).map { _ in piece() }.joined(separator: pick(["*", "*", "?", "**"]))
        return ("text LIKE\(folding) '\(pick(["*", "*", ""]))\(pieces)\(pick(["*", "*", ""]))'", [])
    }

    @Test(arguments: [(1, 0), (2, 20), (3, 0)] as [(UInt64, Int)])
    func `searching text that is stored as symbols finds the same rows as searching decoded text`(seed: UInt64, edits: Int) throws {
        var random = RandomTables(seed: seed)
        let folder = TemporaryFolder(), schema = Schema([Self.type]), database = try Database.create(path: folder.file("t.firn"))
        let rows: [[Value]] = (0..<11_000).map { row in
            let text = Self.text(&random, row)
            return [random.chance(4) ? .null : .string(text), .data(Array(text.utf8)), .int(Int64(row))]
        }
        var transaction = try database.begin()
        try transaction.extendSchema(schema.types)
        try transaction.bulkWriter("T").append(RandomTables.batch(rows, of: Self.type, in: schema))
        try transaction.commit()
        transaction = try database.begin()
        for _ in 0..<edits {
            try transaction.update("T", rowID: Int64(random.number(0...rows.count - 1)), column: "text", .string("special edit"))
        }
        try transaction.commit()
        let stored = try #require(try database.snapshot().table(named: "T"))
        var batch = Batch(Self.type, in: schema)
        for row in 0..<rows.count {
            for i in batch.columns.indices { batch.columns[i].append(try stored.segment(0).column(i).value(at: row)) }
            batch.count += 1
        }
        let memory = MemoryTable(Self.type, schema: schema, batches: [batch])
        var searched = 0, single = 0
        for _ in 0..<80 {
            let (text, arguments) = Self.predicate(&random), request = QueryRequest(filter: text, arguments: arguments),
                run = try QueryRun(request, table: stored)
            let found = try run.rowLocations().map(\.position), wanted = try QueryRun(request, table: memory).rowLocations().map(\.position)
            #expect(found == wanted, "seed \(seed): \(text) \(arguments): \(found.count), not \(wanted.count)")
            searched += run.statistics.vectorsSearched
            single += run.statistics.valuesGathered
        }
        // Each query has eleven vectors. Non-ASCII vectors are decoded if case or diacritics are ignored, and changed vectors always.
        #expect(searched > 100, "seed \(seed): \(searched)")
        // If an index or another condition left few rows, these are read, and no pattern is compiled for the symbol table.
        #expect(single > 0 || edits > 0, "seed \(seed): \(single)")
    }
}
