import CSQLiteLibrary
import FirnBytes
import FirnKit
import FirnSQL
import FirnTable
import Testing

/// Groups that the engine computes for a subquery or a common table expression are those of SQLite, and so are the rows of the statement.
@Suite struct SubqueryGroupingTests {
    /// Random statements around SELECTs with groups. `@` stands for the table.
    private struct Statements {
        var inner: GroupingTests.Statements

        mutating func pick<T>(_ values: [T]) -> T { inner.pick(values) }

        /// A SELECT with the columns k, a and c.
        mutating func groups() -> String {
            let key = inner.key(), source = inner.random.chance(20) ? inner.subquery() : "@"
            var sql = "SELECT \(key) AS k, \(inner.aggregate()) AS a, \(inner.aggregate()) c FROM \(source)"
            if inner.random.chance(50) { sql += " WHERE \(inner.plainTerm())" }
            sql += " GROUP BY \(key)"
            if inner.random.chance(25) { sql += " HAVING count(*) > 2" }
            if inner.random.chance(20) { sql += " ORDER BY 1 LIMIT 7" }
            return sql
        }

        mutating func aggregateAlone() -> String {
            "SELECT \(inner.aggregate()) FROM @\(inner.random.chance(60) ? " WHERE \(inner.plainTerm())" : "")"
        }

        mutating func statement() -> String {
            switch inner.random.number(0...9) {
            case 0: return "SELECT * FROM (\(groups())) x ORDER BY 1, 2, 3"
            case 1: return "WITH g AS (\(groups())) SELECT c, k, a || '' FROM g WHERE a > \(pick(["2", "'a'", "(SELECT avg(a) FROM g)"]))"
            case 2:
                return
                    "WITH g(p, q, r) AS \(pick(["", "MATERIALIZED "]))(\(groups())) SELECT y.p, z.r FROM g y JOIN g z ON y.p = z.p ORDER BY 1, 2"
            case 3: return "SELECT id, w FROM @ WHERE \(pick(["w", "s", "n"])) IN (SELECT k FROM (\(groups()))) ORDER BY id"
            case 4: return "SELECT (\(aggregateAlone())), 5, (\(aggregateAlone()))"
            case 5:
                return
                    "WITH g AS (\(groups())) SELECT @.\(pick(["w", "n", "flag"])) AS v, count(*), max(a) FROM g JOIN @ ON @.w = g.k OR @.n = g.a GROUP BY v ORDER BY 1, 2"
            case 6: return "SELECT * FROM (\(groups())) UNION ALL SELECT * FROM (\(groups()))"
            case 7 where inner.random.chance(60):
                return
                    "SELECT \(pick(["w", "n"])) AS v, count(*) + (\(aggregateAlone())) FROM @ WHERE \(inner.plainTerm()) GROUP BY 1 HAVING count(*) \(pick([">", "<"])) (SELECT count(*) / 20 FROM @) OR v IN (SELECT k FROM (\(groups()))) ORDER BY (\(aggregateAlone())), 1"
            case 7: return "SELECT typeof(k), k = '5', k < 3, a = '2', total(a), count(*) FROM (\(groups())) GROUP BY 1, 2, 3, 4"
            case 8: return "SELECT id FROM @ WHERE n > (\(aggregateAlone())) AND EXISTS (\(groups())) ORDER BY id LIMIT 20"
            default: return "SELECT k, a, sum(c) OVER (ORDER BY k ROWS 2 PRECEDING) FROM (\(groups())) LIMIT 9"
            }
        }
    }

    private let tests = GroupingTests()

    @Test(arguments: Seed.some(91, 92, 93, 94)) func `random statements around groups agree with SQLite`(seed: Seed) throws {
        var random = RandomTables(seed)
        let connection = try GroupingTests.connection(GroupingTests.rows(700, &random), threads: seed.number % 2 == 0 ? 2 : 1)
        var statements = Statements(inner: .init(random: RandomTables(seed: seed.number))), taken = 0
        let rounds = Tier.cases(60, of: 250)
        for round in 0..<rounds {
            let sql = statements.statement(), read = sql.replacing("@", with: "t")
            let engine = tests.outcome(connection, read)
            guard engine.isTaken else { continue }
            taken += 1
            // With WITH in a subquery the statement runs as it is written.
            let written = tests.outcome(
                connection, read.hasPrefix("WITH") ? "SELECT * FROM (\(read))" : "SELECT * FROM (WITH none AS (SELECT 1) \(read))")
            #expect(!written.isTaken)
            // The first line has the names of the columns.
            func rows(_ text: String) -> [Substring] { text.split(separator: "\n").dropFirst().sorted() }
            // As a subquery, UNION converts all values to the type of the first column.
            if !sql.contains("UNION") { #expect(rows(engine.text) == rows(written.text), "seed \(seed), round \(round): \(sql)") }
            guard !["sum(", "avg(", "total("].contains(where: sql.contains) else { continue }
            let own = tests.outcome(connection, sql.replacing("main.@", with: "r").replacing("@", with: "r"))
            #expect(rows(engine.text) == rows(own.text), "seed \(seed), round \(round): \(sql)")
        }
        #expect(taken > rounds / 3, "only \(taken) of \(rounds) statements used the engine")
    }

    private func small() throws -> SQLConnection {
        var random = RandomTables(seed: 7)
        return try GroupingTests.connection(GroupingTests.rows(300, &random))
    }

    @Test func `the groups of subqueries and common table expressions are computed in the engine`() throws {
        let connection = try small()
        for (sql, values) in [
            ("SELECT * FROM (SELECT flag, count(*) AS n FROM t GROUP BY flag) WHERE n > 3 ORDER BY 1", []),
            ("SELECT \"count(*)\" + 1 AS c FROM (SELECT flag, count(*) FROM t GROUP BY flag) ORDER BY 1", []),
            ("WITH g AS (SELECT w, sum(n) AS n FROM t GROUP BY w) SELECT max(n), min(w) FROM g", []),
            (
                "WITH v AS (SELECT w AS x, n FROM t WHERE n > 0), g(a, b) AS (SELECT x, sum(n) FROM v GROUP BY 1) SELECT b, a FROM g ORDER BY 1, 2",
                []
            ),
            (
                "SELECT q.w, g.c FROM t q JOIN (SELECT n, count(*) AS c FROM t GROUP BY n) AS g ON g.n = q.n WHERE q.id < 9 ORDER BY q.id",
                []
            ),
            ("SELECT w, count(*) AS c FROM t GROUP BY w HAVING c > (SELECT count(*) / 10 FROM t) ORDER BY 2, 1", []),
            (
                "SELECT w, max(n) FROM t GROUP BY w HAVING w IN (SELECT w FROM t WHERE n > ? GROUP BY w) AND count(*) > ? ORDER BY 1",
                [.int(3), .int(2)]
            ),
            ("SELECT id FROM t WHERE n = (SELECT max(n) FROM t) ORDER BY 1", []),
            ("SELECT id FROM t WHERE w IN (SELECT w FROM t GROUP BY w HAVING count(*) > 20) ORDER BY 1 LIMIT 7", []),
            ("SELECT ?, c, :b FROM (SELECT count(*) AS c FROM t WHERE n > ? AND w <> :b) WHERE c > ?1", [.int(2), .string("a"), .int(3)]),
            ("SELECT count(*) AS c FROM (SELECT DISTINCT w, n FROM t)", []),
            ("SELECT * FROM (SELECT lower(w) AS l, count(*) AS c FROM t GROUP BY 1) ORDER BY 1", []),
            (
                "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 4), g AS (SELECT n, count(*) AS k FROM t GROUP BY n) SELECT i, k FROM c LEFT JOIN g ON g.n = c.i ORDER BY i",
                []
            ),
        ] as [(String, [Value])] {
            let (text, isTaken) = tests.outcome(connection, sql, values)
            #expect(isTaken && text == tests.outcome(connection, sql.replacing("FROM t", with: "FROM r"), values).text, "\(sql): \(text)")
        }
    }

    @Test func `subqueries that depend on the statement around them run in SQLite`() throws {
        let connection = try small()
        for sql in [
            "SELECT id, (SELECT count(*) FROM t b WHERE b.n = a.n) AS c FROM t a ORDER BY id LIMIT 5",
            "SELECT id FROM t a WHERE EXISTS (SELECT max(n) FROM t b GROUP BY n HAVING a.n > 3) ORDER BY id",
            "SELECT id, (SELECT a.n + count(*) FROM t b WHERE b.n > 3) AS c FROM t a ORDER BY id LIMIT 5",
            "WITH t AS (SELECT 5 AS n UNION SELECT 6) SELECT * FROM (SELECT n, count(*) AS c FROM t GROUP BY n) ORDER BY 1",
            "WITH x AS (SELECT * FROM r) SELECT * FROM (SELECT n, count(*) AS c FROM x GROUP BY n) ORDER BY 1",
            "SELECT * FROM (WITH t AS (SELECT 5 AS n) SELECT n, count(*) AS c FROM t GROUP BY n)",
            "SELECT * FROM (SELECT lower(w) COLLATE NOCASE AS l, count(*) AS c FROM t GROUP BY 1) ORDER BY 1",
        ] {
            let (text, isTaken) = tests.outcome(connection, sql)
            #expect(!isTaken, "\(sql)")
            if !sql.contains("WITH t") {
                #expect(text == tests.outcome(connection, sql.replacing("FROM t", with: "FROM r")).text, "\(sql)")
            }
        }
    }

    @Test func `groups of subqueries that the engine cannot compute exactly for the values run in SQLite`() throws {
        let connection = try small(), sql = "SELECT c FROM (SELECT count(*) AS c FROM t WHERE n = ?) WHERE c >= 0"
        for (value, expected) in [(Value.int(5), true), (.string("5"), false)] {
            let (text, isTaken) = tests.outcome(connection, sql, [value])
            #expect(isTaken == expected && text == tests.outcome(connection, sql.replacing("FROM t", with: "FROM r"), [value]).text)
        }
    }

    @Test func `an error in the groups of a subquery is that of SQLite, also after the first row`() throws {
        let connection = try SQLConnection(functions: firn_sqlite_functions())
        let type = TypeSchema("T", columns: [ColumnSchema("n", ColumnType(.int)), ColumnSchema("k", ColumnType(.int))])
        var batch = Batch(type, in: Schema([type]))
        for k in 0..<4 {
            batch.columns[0].append(.int(k < 2 ? .max : 1))
            batch.columns[1].append(.int(Int64(k)))
            batch.count += 1
        }
        try connection.add(
            SQLFile(name: "memory", tables: [MemoryTable(type, schema: Schema([type]), batches: [batch])]), type: "T", as: "t")
        let found = tests.outcome(connection, "SELECT 1 AS x UNION ALL SELECT s FROM (SELECT sum(n) AS s FROM t)")
        #expect(!found.isTaken && found.text.contains("integer overflow"))
        let other = tests.outcome(connection, "SELECT k, s FROM (SELECT k, sum(n) AS s FROM t GROUP BY k) ORDER BY k DESC LIMIT 1")
        #expect(other.text.hasSuffix("\n3, 1, "))
    }

    @Test func `the plan shows the groups of a subquery`() throws {
        let connection = try small()
        let plan = try connection.all(
            "EXPLAIN QUERY PLAN WITH g AS (SELECT w, count(*) AS c FROM t WHERE n > 3 GROUP BY w) SELECT * FROM g ORDER BY c")
        #expect(plan.contains { "\($0[3])".contains("n > ?, group by w: count(*)") }, "\(plan)")
    }
}
