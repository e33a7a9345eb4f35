import FirnBytes
import FirnExchange
import FirnKit
import FirnTable
import Foundation
import Testing

@testable import FirnSQLite

/// Rows that are read from the pages of a file, compared with those that SQLite delivers.
@Suite struct SQLiteTreeTests {
    private let databases = Databases()

    /// The rows of a table: read from the pages, and delivered by SQLite.
    private func readings(_ path: String) throws -> (readsPages: Bool, columns: [[[Value]]]) {
        let options = SQLiteOptions()
        let connection = try SQLiteConnection(reading: Input(path: path), options.budget)
        let tables = try SQLiteTables(connection, options, SQLiteRecords())
        let chosen = try #require(tables.tables.first { $0.name == "t" })
        var source = try SQLiteSource(chosen, SQLiteSurvey(connection, threads: 1))
        let readsPages = source.readsPages
        var results: [[[Value]]] = []
        for way in [readsPages, false] {
            source.readsPages = way
            let scan = try SQLiteScan(source, connection, budget: options.budget)
            var columns = [[Value]](repeating: [], count: source.plans.count)
            while let batch = try scan.next() {
                for (i, column) in batch.columns.enumerated() { for row in 0..<batch.count { columns[i].append(column.value(at: row)) } }
            }
            results.append(columns)
        }
        return (readsPages, results)
    }

    private static func literal(_ random: inout Random) -> String {
        switch random.below(12) {
        case 0: return "NULL"
        case 1: return "\(Int64(bitPattern: random.next()) >> Int64(random.below(64)))"
        case 2: return "\(random.below(3))"
        case 3: return "\(Double(random.number(-1_000_000...1_000_000)) / 128)"
        case 4: return "9e999"
        case 5: return "x'\(random.bytes(random.below(40)).map { String(format: "%02x", $0) }.joined())'"
        case 6: return "'\(String(repeating: "long ", count: random.below(3000)))'"
        case 7: return "CAST(x'ff\(String(format: "%02x", random.below(256)))' AS TEXT)"
        case 8: return "'20\(random.number(10...24))-0\(random.number(1...9))-1\(random.below(10))'"
        case 9: return "''"
        default: return "'Zoë \(random.below(500))'"
        }
    }

    @Test(arguments: Seed.first(24))
    func `pages give the same rows as SQLite, for all types, page sizes and long values`(_ seed: Seed) throws {
        var random = Random(seed)
        let types = ["INT", "TEXT", "REAL", "NUMERIC", "BLOB", "", "DATE", "DOUBLE", "BOOLEAN", "DECIMAL(9,2)"]
        let count = random.number(1...9), hasKey = random.bool(), keyed = random.below(count)
        let names = (0..<count).map { i in "c\(i) " + (hasKey && i == keyed ? "INTEGER PRIMARY KEY" : types[random.below(types.count)]) }
        var sql = "PRAGMA page_size = \(512 << random.below(8)); CREATE TABLE t (\(names.joined(separator: ", "))); BEGIN;"
        for row in 0..<random.number(0...400) {
            let values = (0..<count).map { hasKey && $0 == keyed ? "\(row * 7 - 900)" : Self.literal(&random) }
            sql += "INSERT INTO t VALUES (\(values.joined(separator: ", ")));"
        }
        sql += "COMMIT; DELETE FROM t WHERE abs(rowid) % 5 = 3;"
        // Rows before a new column are shorter.
        if random.bool() { sql += "ALTER TABLE t ADD COLUMN z TEXT;" }
        let (readsPages, columns) = try readings(databases.make(sql))
        #expect(readsPages, "\(seed)")
        #expect(columns[0] == columns[1], "\(seed)")
    }

    @Test(arguments: [
        "CREATE TABLE t (a INT, b INT DEFAULT 5); INSERT INTO t VALUES (1, 2)",
        "CREATE TABLE t (a INT); INSERT INTO t VALUES (1); ALTER TABLE t ADD COLUMN b INT DEFAULT 7",
        "CREATE TABLE t (a INT, b INT AS (a + 1)); INSERT INTO t VALUES (1)",
        "CREATE TABLE t (a TEXT PRIMARY KEY, b INT) WITHOUT ROWID; INSERT INTO t VALUES ('x', 1)",
        "PRAGMA encoding = 'UTF-16le'; CREATE TABLE t (a TEXT); INSERT INTO t VALUES ('Zoë')",
        "CREATE TABLE t (a INTEGER PRIMARY KEY DESC, b INT); INSERT INTO t VALUES (5, 1), (2, 3), (NULL, 4)",
    ])
    func `tables that are stored in other ways have the same rows`(_ sql: String) throws {
        let (_, columns) = try readings(databases.make(sql))
        #expect(columns[0] == columns[1] && columns[0].first?.isEmpty == false)
    }

    @Test func `the values of columns that were added with a default are read by SQLite`() throws {
        let sql = "CREATE TABLE t (a INT); INSERT INTO t VALUES (1); ALTER TABLE t ADD COLUMN b INT DEFAULT 7"
        let (readsPages, columns) = try readings(databases.make(sql))
        #expect(!readsPages && columns[1] == [[.int(1)], [.int(7)]])
    }

    @Test(arguments: Seed.first(60))
    func `pages with flipped bits are an error, or give the rows that SQLite delivers`(_ seed: Seed) throws {
        var random = Random(seed)
        let path = try databases.make(
            """
            PRAGMA page_size = 512; CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT, c REAL);
            WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n LIMIT 300)
            INSERT INTO t SELECT i, CASE WHEN i % 50 = 0 THEN zeroblob(2000) || i ELSE 'name ' || i END, i / 4.0 FROM n;
            """)
        var bytes = try databases.bytes()
        for _ in 0..<random.number(1...4) { bytes[random.number(512...bytes.count - 1)] ^= 1 << UInt8(random.below(8)) }
        try Data(bytes).write(to: URL(filePath: path))
        do {
            let (readsPages, columns) = try readings(path)
            #expect(!readsPages || columns[0] == columns[1], "\(seed)")
        } catch let error as FirnError { #expect(error.code == .damaged, "\(seed) \(error)") }
    }
}
