import CSQLiteLibrary
import FirnKit
import FirnSQL
import FirnTable
import Testing

/// Joins on several conditions return the same rows as SQLite's own tables, and read no more rows than needed.
@Suite struct JoinTests {
    /// Random joins of a table with itself.
    private struct Joins {
        var random: RandomTables

        mutating func pick<T>(_ values: [T]) -> T { values[random.number(0...values.count - 1)] }

        private mutating func column() -> String { pick(Zoo.columns).name }

        /// A condition between `p` and the other table.
        private mutating func condition(_ q: String) -> String {
            let a = column(), b = random.chance(65) ? a : column()
            switch random.number(0...17) {
            case 0...8: return "p.\(a) = \(q).\(b)"
            case 9: return "\(q).\(b) IS p.\(a)"
            case 10: return "\(q).\(b) = \(pick(["5", "'a'", "'5'", "NULL", "5.0", "'2013-11-05'", "x'61'"]))"
            case 11: return "\(q).\(b) \(pick(["<", ">=", "<>", ">", "<="])) p.\(a)"
            case 12: return "\(q).\(b) IN (p.\(a), p.\(column()), 5)"
            case 13: return "(\(q).\(b) = p.\(a) OR \(q).\(column()) = p.\(column()))"
            case 14:
                return
                    "\(q).\(b) = \(pick(["p.n + 0.0", "CAST(p.n AS TEXT)", "p.n || ''", "p.s || ''", "+p.\(a)", "p.d * 2", "CAST(p.w AS NUMERIC)", "abs(p.n % 5)", "upper(p.w)", "9e999", "CAST(p.w AS BLOB)"]))"
            case 15: return "\(q).\(pick(["s", "w"])) = p.\(pick(["s", "w", "a"])) COLLATE \(pick(["NOCASE", "RTRIM", "BINARY"]))"
            case 16: return "\(q).n BETWEEN p.n - 1 AND p.n + 2"
            default:
                return
                    "\(q).\(pick(["s", "w", "o", "u", "t", "day", "x", "m", "a"])) = p.\(pick(["n", "i", "d", "e", "f", "b", "m", "a", "s", "w"]))"
            }
        }

        private mutating func conditions(_ q: String) -> String {
            (0...random.number(0...3)).map { _ in condition(q) }.joined(separator: " AND ")
        }

        mutating func two(_ table: String) -> String {
            let kind = pick(["JOIN", "LEFT JOIN", "LEFT JOIN", "CROSS JOIN"])
            return
                "SELECT p.rowid, q.rowid FROM \(table) p \(kind) \(table) q ON \(conditions("q"))\(pick(["", "", " WHERE p.n > 3", " WHERE q.i IS NULL", " WHERE q.w > 'a' OR p.b"]))"
        }

        mutating func three(_ table: String) -> String {
            let kinds = [pick(["JOIN", "LEFT JOIN"]), pick(["JOIN", "LEFT JOIN"])]
            return
                "SELECT p.rowid, q.rowid, z.rowid FROM \(table) p \(kinds[0]) \(table) q ON \(conditions("q")) AND q.n = p.n \(kinds[1]) \(table) z ON z.i = q.i AND \(conditions("z")) WHERE p.n % 4 = 0"
        }
    }

    @Test(arguments: Seed.some(41, 42, 43, 44, 45, 46)) func `joins on several conditions agree with SQLite's own tables`(seed: Seed)
        throws
    {
        let folder = TemporaryFolder()
        var random = RandomTables(seed)
        let rows = Zoo.rows(150, &random)
        let connection =
            seed.number % 2 == 0
            ? try Zoo.connection(rows) : try Zoo.stored(rows, folder.file("zoo.firn"), &random, indexed: seed.number % 3 == 0)
        try Zoo.copy(connection)
        var answered = 0
        for round in 0..<120 {
            var joins = Joins(random: RandomTables(seed: seed.number * 1000 + UInt64(round))), again = joins
            let isThree = round % 4 == 3
            let sql = (isThree ? joins.three("t") : joins.two("t"), isThree ? again.three("r") : again.two("r"))
            func rows(_ sql: String) throws -> [String] {
                try connection.all("SELECT * FROM (\(sql)) LIMIT 60000").map(rowText).sorted()
            }
            let virtual = try rows(sql.0), real = try rows(sql.1)
            guard real.count < 60000 else { continue }
            #expect(virtual == real, "seed \(seed), round \(round): \(sql.0): \(virtual.count) rows, not \(real.count)")
            if !real.isEmpty { answered += 1 }
        }
        #expect(answered > 30)
    }

    /// A table `t` with `rows` rows: `id` is the row number, `a` has `few` different values, `b` has all values for each value of `a`,
    /// `word` is a long text that begins with digits, and `code` is plain digits.
    private func table(_ rows: Int, few: Int) throws -> SQLConnection {
        let type = TypeSchema(
            "t",
            columns: [
                ColumnSchema("id", ColumnType(.int)), ColumnSchema("a", ColumnType(.int)),
                ColumnSchema("b", ColumnType(.int, optional: true)), ColumnSchema("word", ColumnType(.string)),
                ColumnSchema("code", ColumnType(.string)),
            ], key: [0])
        var batches: [Batch] = []
        for start in stride(from: 0, to: rows, by: 4096) {
            var batch = Batch(type, in: Schema([type]))
            for i in start..<min(rows, start + 4096) {
                batch.columns[0].append(.int(Int64(i)))
                batch.columns[1].append(.int(Int64(i % few)))
                batch.columns[2].append(i % 11 == 5 ? .null : .int(Int64(i / few)))
                batch.columns[3].append(.string("2020-03-01T00:00:00/\(i)"))
                batch.columns[4].append(.string("\(1_000_000_000_000_000 + i)"))
                batch.count += 1
            }
            batches.append(batch)
        }
        let connection = try SQLConnection(functions: firn_sqlite_functions())
        try connection.add(
            SQLFile(name: "memory", tables: [MemoryTable(type, schema: Schema([type]), batches: batches)]), type: "t", as: "t")
        return connection
    }

    /// Returns the first value of the first row, and the number of rows that were passed to SQLite. As a subquery the statement runs as it
    /// is written, and its groups are not those of a join in the engine.
    private func cost(_ connection: SQLConnection, _ sql: String) throws -> (answer: Value, rows: Int) {
        let before = connection.tables.reduce(0) { $0 + $1.work.rowsGiven }, answer = try connection.all("SELECT * FROM (\(sql))")[0][0]
        return (answer, connection.tables.reduce(0) { $0 + $1.work.rowsGiven } - before)
    }

    @Test func `a join on two equalities looks up rows by both, in any order of the conditions`() throws {
        let connection = try table(20_000, few: 10)
        let nulls = (0..<20_000).filter { $0 % 11 == 5 }.count
        for condition in ["a.a = b.a AND a.b = b.b", "a.b = b.b AND a.a = b.a", "b.b = a.b AND b.id >= 0 AND b.a = a.a"] {
            let (answer, rows) = try cost(connection, "SELECT count(*) FROM t a JOIN t b ON \(condition)")
            #expect(answer == .int(Int64(20_000 - nulls)))
            // All rows of one side, one matching row of the other for each, and the rows that are scanned before the index exists.
            #expect(rows < 45_000, "\(condition): \(rows)")
        }
        let (left, leftRows) = try cost(connection, "SELECT count(*) + count(b.id) FROM t a LEFT JOIN t b ON b.a = a.a AND b.b = a.b + 1")
        let partners = (0..<19_990).count(where: { (i: Int) -> Bool in i % 11 != 5 && (i + 10) % 11 != 5 })
        #expect(left == .int(Int64(20_000 + partners)) && leftRows < 45_000, "\(left) \(leftRows)")
        let three = try cost(connection, "SELECT count(*) FROM t a JOIN t b ON a.a = b.a AND a.b = b.b AND a.word = b.word")
        #expect(three.answer == .int(Int64(20_000 - nulls)) && three.rows < 45_000, "\(three)")
        let plan = try connection.all("EXPLAIN QUERY PLAN SELECT a.id FROM t a JOIN t b ON a.a = b.a AND a.b = b.b AND b.id > a.id").map {
            "\($0[3])"
        }.joined()
        #expect(plan.contains("look up a = ? and b = ?, id > ?") || plan.contains("look up b = ? and a = ?, id > ?"), "\(plan)")
    }

    @Test func `texts that begin with digits are looked up, as numbers if the other side is a number`() throws {
        let connection = try table(5000, few: 10)
        for (condition, count) in [("a.word = b.word", 5000), ("a.code = b.code", 5000), ("b.code = a.id + 1000000000000000", 5000)] {
            let (answer, rows) = try cost(connection, "SELECT count(*) FROM t a JOIN t b ON \(condition)")
            #expect(answer == .int(Int64(count)) && rows < 40_000, "\(condition): \(answer) \(rows)")
        }
    }

    @Test func `the join order with the fewest rows is used`() throws {
        let connection = try table(20_000, few: 10)
        // By `a` each row has 2,000 partners, by `word` only one.
        let (answer, rows) = try cost(
            connection, "SELECT count(*) FROM t x, t y, t z WHERE x.id < 40 AND y.a = x.a AND z.word = x.word AND y.word = z.word")
        #expect(answer == .int(40) && rows < 25_000, "\(rows)")
        // A value of half of all rows is known not to be selective.
        let skewed = try cost(
            connection, "SELECT count(*) FROM t x JOIN t y ON y.b = x.b AND y.a = 3 WHERE x.id BETWEEN 100 AND 200 AND x.a = 3")
        let selected = (100...200).count(where: { (i: Int) -> Bool in i % 10 == 3 && i % 11 != 5 })
        #expect(skewed.answer == Value.int(Int64(selected)), "\(skewed)")
    }

    @Test func `a look-up returns rows in the order of the table, and ORDER BY and LIMIT apply to joins`() throws {
        let connection = try table(3000, few: 10)
        let ordered = try connection.all(
            "SELECT a.id, b.id FROM t a JOIN t b ON b.a = a.a AND b.word <> a.word WHERE a.id < 50 ORDER BY a.rowid, b.rowid LIMIT 700")
        var expected: [[Value]] = []
        for i in 0..<50 { for j in 0..<3000 where j % 10 == i % 10 && j != i { expected.append([.int(Int64(i)), .int(Int64(j))]) } }
        #expect(ordered == Array(expected.prefix(700)))
        let top = try connection.all("SELECT a.id, b.id FROM t a JOIN t b ON b.a = a.a AND b.b = a.b ORDER BY b.id DESC LIMIT 2 OFFSET 1")
        let ids: [Int] = (0..<3000).reversed().filter { (i: Int) -> Bool in i % 11 != 5 }
        #expect(top == ids[1...2].map { (i: Int) -> [Value] in [.int(Int64(i)), .int(Int64(i))] })
    }
}
