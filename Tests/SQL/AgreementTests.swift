import CSQLiteLibrary
import FirnDatabase
import FirnKit
import FirnSQL
import FirnTable
import Testing

/// Queries that the engine evaluates return the same rows as SQLite's own tables with the same data.
@Suite struct AgreementTests {
    /// Random conditions on the columns of `Zoo`, for either table.
    fileprivate struct Conditions {
        var random: RandomTables

        mutating func pick<T>(_ values: [T]) -> T { values[random.number(0...values.count - 1)] }

        mutating func constant() -> String {
            switch random.number(0...11) {
            case 0...2: return "\(random.number(-9...20))"
            case 3: return pick(["0.5", "5.0", "-0.0", "0.1", "1.5", "-1.5", "4.999999999999999999", "9e999", "-9e999"])
            case 4:
                return pick([
                    "9223372036854775807", "-9223372036854775808", "9007199254740993", "9007199254740992", "9223372036854775808.0",
                    "16777217", "9.3e18",
                ])
            case 5, 6: return "'\(pick(Zoo.words.filter { !$0.contains("\u{0}") }))'"
            case 7:
                return pick(["NULL", "x'61'", "x'00'", "x''", "x'6162'", "CAST('!x' AS BLOB)", "CAST(5 AS TEXT)", "CAST('5' AS INTEGER)"])
            case 8:
                return pick([
                    "'2013'", "'2013-11'", "'2013-11-05'", "'2013-11-05 01:00:00'", "'2013-11-05 01:00:00.5'", "'2013-11-05 02:00:00.12'",
                    "'2013-11-05T01:00:00Z'", "'9'", "'!'",
                ])
            case 9:
                return pick([
                    "'30000000-0000-0000-0000-000000000007'", "'30000000-0000-0000-0000-00000000000F'", "'300000000000123400000007'",
                ])
            case 10: return "(SELECT \(pick(["i", "d", "s", "t", "n", "u", "w", "x"])) FROM r WHERE rowid = \(random.number(0...900)))"
            default: return pick(["(2 + 3)", "abs(-5)", "+n", "+s", "(SELECT 5)", "upper('ab')"])
            }
        }

        mutating func term(_ depth: Int = 0) -> String {
            if depth < 2, random.chance(20) { return "(\(term(depth + 1)) \(pick(["OR", "AND"])) \(term(depth + 1)))" }
            if depth < 2, random.chance(8) { return "NOT (\(term(depth + 1)))" }
            let column = pick(Zoo.columns).name
            switch random.number(0...13) {
            case 0...6: return "\(column) \(pick(["=", "<", "<=", ">", ">=", "<>", "IS", "IS NOT", "=="])) \(constant())"
            case 7: return "\(column) IN (\((0...random.number(0...4)).map { _ in constant() }.joined(separator: ", ")))"
            case 8: return "\(column) BETWEEN \(constant()) AND \(constant())"
            case 9: return "\(column) IS \(pick(["", "NOT "]))NULL"
            case 10:
                return
                    "\(pick(["s", "w", column])) LIKE \(pick(["'a%'", "'%b'", "'%B%'", "'A_'", "'zür%'", "'%ÜR%'", "'5%'", "'%'", "''", "'a'", "NULL", "5", "'ä'", "'100%'", "'%\u{65E5}%'"]))"
            case 11:
                return "\(pick(["s", "w", column])) GLOB \(pick(["'a*'", "'*b'", "'A?'", "'[aA]b*'", "'Z*h'", "'*'", "'ab[!d]'", "'5'"]))"
            case 12: return "\(pick(["rowid", "rowid", column])) \(pick(["=", "IN"])) (\(random.number(0...1000)))"
            default: return "\(pick(["s", "w"])) \(pick(["=", "<", ">"])) \(constant()) COLLATE \(pick(["NOCASE", "BINARY", "RTRIM"]))"
            }
        }

        mutating func condition() -> String { (0...random.number(0...2)).map { _ in term() }.joined(separator: " AND ") }

        mutating func order() -> String {
            let columns = Zoo.columns.map(\.name)
            let names = (0..<random.number(0...2)).map { _ in
                "\(pick(columns)) \(pick(["", "DESC", "ASC", "COLLATE NOCASE", "NULLS LAST"]))"
            }
            return (names + ["rowid"]).joined(separator: ", ")
        }

        mutating func limit() -> String {
            switch random.number(0...3) {
            case 0: return " LIMIT \(random.number(-1...20))"
            case 1: return " LIMIT \(random.number(0...20)) OFFSET \(random.number(-1...30))"
            default: return ""
            }
        }
    }

    private func agree(_ connection: SQLConnection, _ sql: (String) -> String, sorted: Bool = false, _ seed: UInt64) throws {
        func rows(_ table: String) throws -> [String] {
            let rows = try connection.all(sql(table)).map(rowText)
            return sorted ? rows.sorted() : rows
        }
        let virtual = try rows("t"), real = try rows("r")
        #expect(virtual == real, "seed \(seed): \(sql("t"))")
    }

    private func check(_ connection: SQLConnection, _ seed: UInt64, rounds: Int) throws {
        try Zoo.copy(connection)
        var conditions = Conditions(random: RandomTables(seed: seed))
        for _ in 0..<rounds {
            let condition = conditions.condition(), order = conditions.order(), limit = conditions.limit()
            try agree(connection, { "SELECT rowid FROM \($0) WHERE \(condition) ORDER BY \(order)\(limit)" }, seed)
            if conditions.random.chance(30) {
                try agree(connection, { "SELECT count(*), count(i), min(n), max(w) FROM \($0) WHERE \(condition)" }, seed)
            }
            if conditions.random.chance(30) {
                let key = conditions.pick(["i", "b", "s", "w", "t", "day", "u", "d", "e", "f", "x", "i, w", "b, i DESC"])
                let plain = key.replacing(" DESC", with: "")
                try agree(connection, { "SELECT \(plain), count(*) FROM \($0) WHERE \(condition) GROUP BY \(plain)" }, sorted: true, seed)
                try agree(connection, { "SELECT DISTINCT \(plain) FROM \($0) WHERE \(condition) ORDER BY \(key)" }, seed)
            }
        }
    }

    @Test(arguments: Seed.some(1, 2, 3, 4)) func `random statements on rows in memory agree with SQLite's own tables`(seed: Seed)
        throws
    {
        var random = RandomTables(seed)
        try check(try Zoo.connection(Zoo.rows(2000, &random), threads: seed.number % 2 == 0 ? 2 : 1), seed.number, rounds: 130)
    }

    @Test(arguments: Seed.some(11, 12, 13, 14)) func `random statements on rows of a file agree with SQLite's own tables`(seed: Seed)
        throws
    {
        let folder = TemporaryFolder()
        var random = RandomTables(seed)
        try check(try Zoo.stored(Zoo.rows(2000, &random), folder.file("zoo.firn"), &random), seed.number, rounds: 130)
    }

    @Test(arguments: Seed.some(31, 32, 33)) func `random statements on an indexed file agree with SQLite's own tables`(
        seed: Seed
    ) throws {
        let folder = TemporaryFolder()
        var random = RandomTables(seed)
        let connection = try Zoo.stored(Zoo.rows(2000, &random), folder.file("zoo.firn"), &random, indexed: true)
        try check(connection, seed.number, rounds: 100)
        var words = Zoo.words
        for round in 0..<40 {
            let word = words.remove(at: random.number(0...words.count - 1)).replacing("'", with: "''").prefix { $0 != "\0" }
            try agree(connection, { "SELECT rowid, w FROM \($0) WHERE w = '\(word)' AND n > \(round % 4)" }, seed.number)
            try agree(connection, { "SELECT rowid, n FROM \($0) WHERE i = \(round) OR i = \(round * 7)" }, sorted: true, seed.number)
            try agree(connection, { "SELECT count(*) FROM \($0) WHERE i IN (\(round), 3, 5) AND w <> 'a'" }, seed.number)
            if words.isEmpty { words = Zoo.words }
        }
    }

    @Test func `an equality on an indexed column uses the index of the file`() throws {
        let folder = TemporaryFolder(),
            type = TypeSchema("T", columns: [ColumnSchema("n", ColumnType(.int), indexes: .values), ColumnSchema("m", ColumnType(.int))])
        let database = try Database.create(path: folder.file("a.firn"))
        let transaction = try database.begin()
        try transaction.extendSchema([type])
        var batch = Batch(type, in: Schema([type]))
        for i in 0..<80_000 { for column in 0..<2 { batch.columns[column].append(.int(Int64(i * 7919 % 80_000))) } }
        batch.count = 80_000
        try transaction.bulkWriter("T").append(batch)
        try transaction.commit()
        let connection = try SQLConnection(functions: firn_sqlite_functions()), file = try SQLFile(path: folder.file("a.firn"))
        try connection.add(file, type: "T", as: "t")
        func cost(_ sql: String) throws -> (rows: Int, segments: Int, lookups: Int) {
            let before = connection.tables[0].work, rows = try connection.all(sql).count, after = connection.tables[0].work
            return (rows, after.segments - before.segments, after.lookups - before.lookups)
        }
        #expect(try cost("SELECT m FROM t WHERE n = 77777") == (1, 1, 1))
        #expect(try cost("SELECT m FROM t WHERE n = -5").rows == 0)
        let plain = try cost("SELECT n FROM t WHERE m = 77777")
        #expect(plain.rows == 1 && plain.lookups == 0)
    }

    @Test(arguments: Seed.some(21, 22, 23)) func `joins agree with SQLite's own tables`(seed: Seed) throws {
        let folder = TemporaryFolder()
        var random = RandomTables(seed)
        let connection = try Zoo.stored(Zoo.rows(160, &random), folder.file("zoo.firn"), &random)
        try Zoo.copy(connection)
        var conditions = Conditions(random: RandomTables(seed: seed.number + 100))
        for _ in 0..<25 {
            let a = conditions.pick(Zoo.columns).name, b = conditions.chanceOf(60) ? a : conditions.pick(Zoo.columns).name
            let operation = conditions.pick(["=", "=", "=", "IS", "<", ">="]), kind = conditions.pick(["JOIN", "LEFT JOIN"])
            let more = conditions.pick(["", " AND p.n > q.n", " AND p.i = q.i", " AND q.b IS NOT NULL", " AND q.s IS NULL"])
            let tail = conditions.pick(["", " WHERE q.i IS NULL", " WHERE p.n > 3 AND q.n < 9"])
            try agree(
                connection, { "SELECT p.rowid, q.rowid FROM \($0) p \(kind) \($0) q ON p.\(a) \(operation) q.\(b)\(more)\(tail)" },
                sorted: true, seed.number)
            try agree(
                connection, { "SELECT p.rowid, (SELECT count(*) FROM \($0) q WHERE q.\(a) = p.\(b)) FROM \($0) p" }, sorted: true,
                seed.number)
            try agree(
                connection, { "SELECT p.rowid FROM \($0) p WHERE p.\(a) IN (SELECT q.\(b) FROM \($0) q WHERE q.n > 2) ORDER BY p.rowid" },
                seed.number)
            try agree(connection, { "SELECT p.rowid, q.rowid FROM \($0) p JOIN \($0) q ON q.rowid = p.k ORDER BY 1, 2" }, seed.number)
        }
    }
}

extension AgreementTests.Conditions {
    fileprivate mutating func chanceOf(_ percent: Int) -> Bool { random.chance(percent) }
}
