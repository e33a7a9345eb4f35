import CSQLiteLibrary
import FirnBytes
import FirnDatabase
import FirnKit
import FirnSQL
import FirnTable
import Testing

/// Groups and aggregates of joins that the engine computes are those of SQLite, from the same tables and from its own tables.
@Suite struct JoinGroupingTests {
    private static let columns: [(name: String, type: ColumnType, notation: Notation)] = [
        ("id", ColumnType(.int), .plain), ("i", ColumnType(.int, optional: true), .plain), ("n", ColumnType(.int), .plain),
        ("b", ColumnType(.bool, optional: true), .plain), ("d", ColumnType(.double, optional: true), .plain),
        ("e", ColumnType(.double), .plain), ("f", ColumnType(.float, optional: true), .plain),
        ("s", ColumnType(.string, optional: true), .plain), ("w", ColumnType(.string), .plain),
        ("x", ColumnType(.data, optional: true), .plain), ("t", ColumnType(.date, optional: true), .plain),
        ("day", ColumnType(.date), .dateOnly), ("u", ColumnType(.uuid, optional: true), .plain), ("o", ColumnType(.objectID), .plain),
        ("m", ColumnType(.decimal, optional: true), .plain), ("a", ColumnType(.any, optional: true), .plain),
    ]
    private static let type = TypeSchema(
        "Row", columns: columns.enumerated().map { ColumnSchema($1.name, $1.type, id: UInt32($0), notation: $1.notation) })
    private static let schema = Schema([type])

    private static func value(_ column: (name: String, type: ColumnType, notation: Notation), _ row: Int, _ random: inout RandomTables)
        -> Value
    {
        if column.type.isOptional, random.chance(15) { return .null }
        switch (column.name, column.type.kind) {
        case ("id", _): return .int(Int64(row))
        case ("n", _): return .int(Int64(random.number(-20...40)))
        case (_, .int): return .int(random.chance(95) ? Int64(random.number(-9...20)) : Int64(random.number(-1_000_000...1_000_000)))
        case (_, .double): return .double([0, -0.0, 0.1, 5, -1, 7, 1.5, 1.0 / 3, -1e-9, 12][random.number(0...9)])
        case (_, .float): return .float([0, -0.0, 0.1, 0.5, 5, -1, 1.5, 3.3][random.number(0...7)])
        default: return Zoo.value(column.type, row: row, of: 100, &random)
        }
    }

    /// A connection with the tables `t0`, `t1` and `t2`, and SQLite's own tables `r0`, `r1` and `r2` of the same rows.
    private static func connection(_ counts: [Int], _ random: inout RandomTables, threads: Int) throws -> SQLConnection {
        let connection = try SQLConnection(functions: firn_sqlite_functions(), threads: threads)
        for (number, count) in counts.enumerated() {
            let rows = (0..<count).map { row in columns.map { value($0, row, &random) } }
            let batches = stride(from: 0, to: rows.count, by: 150).map {
                RandomTables.batch(Array(rows[$0..<min($0 + 150, rows.count)]), of: type, in: schema)
            }
            try connection.add(
                SQLFile(name: "memory\(number)", tables: [MemoryTable(type, schema: schema, batches: batches)]), type: "Row",
                as: "t\(number)")
            let types: [ScalarKind: String] = [
                .int: "INTEGER", .bool: "BOOLEAN", .double: "DOUBLE", .float: "FLOAT", .string: "TEXT", .data: "BLOB", .date: "DATE TEXT",
                .uuid: "TEXT", .objectID: "TEXT", .decimal: "DECIMAL", .any: "",
            ]
            let declared = columns.map { "\($0.name) \(types[$0.type.kind]!)" }.joined(separator: ", ")
            try connection.execute("CREATE TEMP TABLE r\(number)(\(declared)); INSERT INTO r\(number) SELECT * FROM t\(number)")
        }
        return connection
    }

    /// Random statements with groups of joins. `@` stands for the first letter of the tables' names.
    private struct Statements {
        var random: RandomTables
        var aliases: [String] = []

        mutating func pick<T>(_ values: [T]) -> T { values[random.number(0...values.count - 1)] }

        private mutating func column(_ names: [String]) -> String { "\(pick(aliases)).\(pick(names))" }
        private mutating func key() -> String { column(["i", "n", "b", "s", "w", "s", "w", "t", "day", "u", "o", "x"]) }

        private mutating func equality(_ alias: String, _ other: String) -> String {
            let exact = ["i", "n", "s", "w", "w", "id", "b", "t", "day", "u", "o", "x", "d", "e", "f"]
            switch random.number(0...9) {
            case 0...5:
                let name = pick(exact)
                return "\(alias).\(name) = \(other).\(name)"
            case 6: return "\(alias).\(pick(["i", "n", "id"])) = \(other).\(pick(["i", "n", "id"]))"
            case 7:
                return
                    "\(other).\(pick(["i", "n", "id"]))\(pick([" + 1", " - 3", ""])) = \(alias).\(pick(["n", "id"]))\(pick([" + 2", ""]))"
            case 8: return "\(other).\(pick(["n", "i", "b", "d", "f"])) == \(alias).\(pick(["d", "e", "n", "b"]))"
            default: return "\(other).\(pick(["s", "m", "a", "t", "n", "u"])) = \(alias).\(pick(["w", "a", "n", "day", "o"]))"
            }
        }

        /// A comparison that is no equality.
        private mutating func relation(_ alias: String, _ other: String) -> String {
            switch random.number(0...4) {
            case 0: return "\(alias).n BETWEEN \(other).n AND \(other).n + \(random.number(0...9))"
            case 1: return "\(other).\(pick(["d", "e", "f"])) \(pick(["<", ">=", "<>"])) \(alias).\(pick(["d", "e", "f"]))"
            case 2: return "NOT \(other).i \(pick(["<", "=", "<>"])) \(alias).n"
            default:
                return
                    "\(other).\(pick(["i", "n", "id", "b"])) \(pick(["<", "<=", ">", ">=", "<>", "!="])) \(alias).\(pick(["n", "id"]))\(pick([" + 2", " - 1", ""]))"
            }
        }

        private mutating func term(_ alias: String) -> String {
            switch random.number(0...4) {
            case 0: return "\(alias).n \(pick(["<", ">=", "<>", "="])) \(random.number(-20...40))"
            case 1: return "\(alias).i IS \(pick(["", "NOT "]))NULL"
            case 2: return "\(alias).w \(pick(["IN", "NOT IN"])) ('a', 'ab', '5', '')"
            case 3: return "\(alias).d > \(pick(["0", "0.1", "-3"]))"
            default: return "(\(alias).b OR \(alias).n BETWEEN 0 AND 20)"
            }
        }

        /// An aggregate, some with FILTER.
        private mutating func aggregate() -> String {
            guard random.chance(15) else { return plainAggregate() }
            let terms = (0...random.number(0...1)).map { _ in term(pick(aliases)) }
            return "\(plainAggregate()) FILTER (WHERE \(terms.joined(separator: " AND ")))"
        }

        private mutating func plainAggregate() -> String {
            switch random.number(0...11) {
            case 0, 1: return "count(*)"
            case 2: return "count(\(column(JoinGroupingTests.columns.map(\.name))))"
            case 3: return "count(DISTINCT \(column(["i", "n", "w", "s", "d", "t", "u"])))"
            case 4, 5: return "sum(\(column(["i", "n", "d", "e", "f", "id"])))"
            case 6: return "avg(\(column(["i", "n", "d", "e", "f"])))"
            case 7: return "total(\(column(["i", "n", "d", "e"])))"
            case 8:
                return
                    "\(pick(["sum", "min", "avg"]))(\(column(["i", "n", "d", "e"])) \(pick(["+", "-", "*"])) \(pick([column(["n", "e", "d"]), "2", "(1 - 0.5)"])))"
            default:
                return "\(pick(["min", "max"]))(\(column(["i", "n", "b", "d", "e", "f", "s", "w", "x", "t", "day", "u", "o"])))"
            }
        }

        /// A table, or a subquery of its columns.
        private mutating func source() -> String {
            let table = "@\(random.number(0...2))"
            guard random.chance(20) else { return table }
            let items = pick(["*", "id, n AS i, i AS n, b, d, d * 2 AS e, f, w AS s, s AS w, x, t, day, u, o, m, a", "z.*"])
            return "(SELECT \(items) FROM \(table) z\(random.chance(60) ? " WHERE \(term("z"))" : ""))"
        }

        mutating func statement() -> String {
            let count = random.chance(65) ? 2 : 3
            aliases = Array(["p", "q", "z"][..<count])
            var tables = "\(source()) p", conditions: [String] = []
            for at in 1..<count {
                let other = aliases[random.number(0...at - 1)], alias = aliases[at]
                var on = [equality(alias, other)]
                if random.chance(30) { on.append(equality(alias, pick(Array(aliases[..<at])))) }
                if random.chance(20) { on.append(term(alias)) }
                if random.chance(25) { on.append(relation(alias, other)) }
                switch random.number(0...5) {
                case 0:
                    tables += ", \(source()) AS \(alias)"
                    conditions += on
                case 1, 2: tables += " LEFT JOIN \(source()) \(alias) ON \(on.joined(separator: " AND "))"
                case 3 where at == 1:
                    tables += " \(pick(["JOIN", "LEFT JOIN"])) \(source()) \(alias) USING (\(pick(["n", "w", "id"])))"
                default:
                    tables +=
                        " \(pick(["JOIN", "INNER JOIN", "CROSS JOIN"])) \(source()) \(alias) ON \(on.joined(separator: " AND "))"
                }
            }
            if random.chance(50) { conditions.append(term(pick(aliases))) }
            let keys = (0..<random.number(0...3)).map { _ in key() }
            var items = keys.filter { _ in random.chance(80) }
            if items.isEmpty || random.chance(85) { items += (0...random.number(0...3)).map { _ in aggregate() } }
            var sql = "SELECT \(random.chance(15) ? "DISTINCT " : "")\(items.joined(separator: ", ")) FROM \(tables)"
            if !conditions.isEmpty { sql += " WHERE \(conditions.joined(separator: " AND "))" }
            if !keys.isEmpty, random.chance(90) || items.count > keys.count {
                sql += " GROUP BY \(keys.joined(separator: ", "))"
                if random.chance(20) { sql += " HAVING \(aggregate()) \(pick(["> 2", "IS NOT NULL", "<> 1"]))" }
                if random.chance(40) { sql += " ORDER BY \(pick([aggregate(), keys[0]]))\(pick(["", " DESC"]))" }
                if random.chance(25) { sql += " LIMIT \(random.number(1...9))" }
            }
            return sql
        }
    }

    /// Returns the rows of a statement, or its error, and whether the engine computed its groups.
    private func outcome(_ connection: SQLConnection, _ sql: String) -> (rows: [String], isTaken: Bool) {
        do {
            var start = 0, rows: [String] = []
            guard let statement = try connection.statement(Array(sql.utf8CString.dropLast()), from: &start) else { return ([], false) }
            while try statement.step() { rows.append(rowText(statement.columns.indices.map(statement.value))) }
            // SQLite's own tables do not store the sign of zero.
            return (rows.map { $0.replacing("-0.0", with: "0.0") }, statement.runsInEngine)
        } catch { return (["\(error)"], false) }
    }

    @Test(arguments: Seed.some(71, 72, 73, 74, 75, 76, 77, 78)) func `random statements with groups of joins agree with SQLite`(seed: Seed)
        throws
    {
        var random = RandomTables(seed)
        let counts = [[400, 60, 150], [0, 300, 40], [250, 250, 1]][Int(seed.number % 3)]
        let connection = try JoinGroupingTests.connection(counts, &random, threads: seed.number % 2 == 0 ? 2 : 1)
        var statements = Statements(random: RandomTables(seed: seed.number)), taken = 0, answered = 0
        let rounds = Tier.cases(120, of: 600)
        for round in 0..<rounds {
            let sql = statements.statement()
            let engine = outcome(connection, sql.replacing("@", with: "t"))
            guard engine.isTaken else { continue }
            taken += 1
            if engine.rows.count > 1 { answered += 1 }
            // With WITH in a subquery the statement runs as it is written.
            let written = outcome(connection, "SELECT * FROM (WITH none AS (SELECT 1) \(sql.replacing("@", with: "t")))")
            #expect(!written.isTaken)
            #expect(engine.rows == written.rows, "seed \(seed), round \(round): \(sql)")
            // The order of joins, on which sums of doubles depend, is another one there.
            guard !["sum(", "avg(", "total(", "LIMIT"].contains(where: sql.contains) else { continue }
            let own = outcome(connection, sql.replacing("@", with: "r"))
            #expect(engine.rows.sorted() == own.rows.sorted(), "seed \(seed), round \(round): \(sql)")
        }
        #expect(taken > rounds / 4 && answered > rounds / 12, "only \(taken) statements ran in the engine, \(answered) with several rows")
    }

    private func small() throws -> SQLConnection {
        var random = RandomTables(seed: 7)
        return try JoinGroupingTests.connection([300, 40, 0], &random, threads: 1)
    }

    @Test func `groups of joins pass one row for each group to SQLite`() throws {
        let connection = try small()
        for (sql, rows) in [
            ("SELECT count(*) FROM t0 a JOIN t0 b ON a.id = b.id", 1), ("SELECT count(*) FROM t0 JOIN t1 USING (id)", 1),
            ("SELECT a.b, count(*), max(b.w) FROM t0 a, t1 b WHERE a.id = b.id AND a.b IS NOT NULL GROUP BY a.b", 2),
            ("SELECT b.b, sum(a.n + b.n) FROM t0 a JOIN t1 b ON b.id = a.id - 1 WHERE b.b IS NOT NULL GROUP BY 1 ORDER BY 2", 2),
            ("SELECT count(*), count(b.id), sum(b.n), min(b.w) FROM t0 a LEFT JOIN t2 b ON a.id = b.id", 1),
            ("SELECT count(*), sum(b.n), max(b.w) FROM main.t0 AS a JOIN t2 AS b ON a.id = b.id", 1),
            ("SELECT a.b FROM t0 a JOIN t2 b USING (id) GROUP BY a.b", 0),
            ("SELECT sum(a.d * b.e) FROM t0 a LEFT OUTER JOIN t1 b ON b.id = a.id AND b.n > 5 WHERE a.id < 20", 1),
            ("SELECT count(*), sum(a.n) FROM t0 a JOIN t1 b ON a.b = b.b AND a.n BETWEEN b.n - 2 AND b.n + 2 AND a.d <> b.d", 1),
            ("SELECT count(*) FROM t0 a JOIN t1 b ON a.id = b.id JOIN t0 c ON c.id = b.id + 1 AND c.id = a.id + 1", 1),
            ("SELECT max(c.n), count(*) FROM t0 a JOIN t1 b ON b.id = a.id AND length(b.w) > 1 JOIN t0 c ON c.id = b.id", 1),
            ("SELECT count(*) FROM t0 a JOIN t1 b ON a.id = b.id WHERE b.w LIKE 'a%' GROUP BY length(a.w) > 100", 1),
        ] {
            func given() -> Int { connection.tables.reduce(0) { $0 + $1.work.rowsGiven } }
            let before = given(), (text, isTaken) = outcome(connection, sql), passed = given() - before
            #expect(isTaken && passed == rows, "\(sql): \(passed)")
            let own = sql.replacing("main.t0", with: "r0").replacing(" t", with: " r")
            #expect(text == outcome(connection, own).rows, "\(sql)")
        }
    }

    @Test func `groups of joins that the engine cannot compute exactly are left to SQLite`() throws {
        let connection = try small()
        for sql in [
            "SELECT count(*) FROM t0, t1", "SELECT count(*) FROM t0 a JOIN t1 b ON a.n < b.n",
            "SELECT count(*) FROM t0 a JOIN r1 b USING (id)",
            "SELECT count(*) FROM t0 a JOIN t1 b ON a.id = b.id OR a.n = b.n", "SELECT count(*) FROM t0 a JOIN t1 b ON NOT a.id = b.id",
            "SELECT count(*) FROM t0 a LEFT JOIN t1 b ON a.id = b.id WHERE b.n > 3",
            "SELECT count(*) FROM t0 a LEFT JOIN t1 b ON a.id = b.id AND a.n > 3",
            "SELECT count(*) FROM t0 a LEFT JOIN t1 b ON a.id = b.id AND a.n > b.n",
            "SELECT count(*) FROM t0 a JOIN t1 b ON a.id = b.id AND a.w < b.w",
            "SELECT count(*) FROM t0 a JOIN t1 b ON a.id = b.id AND a.n < b.d",
            "SELECT count(*) FROM t0 a JOIN t1 b ON a.id = b.id AND (a.n < b.n OR b.i > 3)",
            "SELECT count(*) FROM t0 a LEFT JOIN t1 b ON a.id = b.id JOIN t1 c ON c.id = b.id",
            "SELECT count(*) FROM t0 a JOIN t1 b ON a.w = b.n", "SELECT count(*) FROM t0 a JOIN t1 b ON a.m = b.m",
            "SELECT count(*) FROM t0 a JOIN t1 b ON a.a = b.a", "SELECT count(*) FROM t0 a JOIN t1 b ON a.t = b.day",
            "SELECT count(*) FROM t0 a JOIN t1 b ON a.w = b.w COLLATE NOCASE", "SELECT count(*) FROM t0 a JOIN t1 b ON a.d + 1 = b.n",
            "SELECT count(*) FROM t0 a JOIN t1 b ON a.id = b.id * 1", "SELECT sum(a.m) FROM t0 a JOIN t1 b ON a.id = b.id",
            "SELECT a.d FROM t0 a JOIN t1 b ON a.id = b.id GROUP BY a.d",
            "SELECT c.d FROM t0 a JOIN t1 b ON b.id = a.id AND length(b.w) > 1 JOIN t0 c ON c.id = b.id GROUP BY c.d",
            "SELECT a.w, count(*) FROM t0 a JOIN t1 b ON a.id = b.id GROUP BY a.n",
            "SELECT count(*) FROM t0 a NATURAL JOIN t1 b", "SELECT count(*) FROM t0 a JOIN t1 b ON a.id = b.id AND a.n = a.i",
            "SELECT count(*) FROM t0 a JOIN t1 b ON a.id = b.id AND a.w LIKE b.w", "SELECT a.id FROM t0 a JOIN t1 b ON a.id = b.id",
        ] {
            let (text, isTaken) = outcome(connection, sql)
            #expect(!isTaken, "\(sql)")
            let own = sql.replacing(" t0", with: " r0").replacing(" t1", with: " r1")
            #expect(text == outcome(connection, own).rows, "\(sql)")
        }
    }

    @Test func `a join whose tables exceed the memory limit is left to SQLite`() throws {
        let folder = TemporaryFolder(), path = folder.file("a.firn"), database = try Database.create(path: path)
        let type = TypeSchema("T", columns: [ColumnSchema("k", ColumnType(.int)), ColumnSchema("n", ColumnType(.int))])
        let transaction = try database.begin()
        try transaction.extendSchema([type])
        for row in 0..<20_000 { _ = try transaction.insert("T", [.int(Int64(row * 7919 % 20_000)), .int(Int64(row % 10))]) }
        try transaction.flushAll()
        try transaction.commit()
        for (limit, isTaken) in [(64 << 20, true), (1 << 20, false)] {
            let budget = MemoryBudget(limit: limit), snapshot = try Database.open(path: path, memory: budget).snapshot()
            let connection = try SQLConnection(functions: firn_sqlite_functions())
            try connection.add(SQLFile(name: path, tables: [try #require(snapshot.table(named: "T"))]), type: "T", as: "t")
            let found = outcome(connection, "SELECT b.n, count(*), sum(a.n) FROM t a JOIN t b ON a.k = b.k GROUP BY b.n ORDER BY b.n")
            #expect(found.isTaken == isTaken, "limit \(limit): \(found.rows)")
            #expect(found.rows == (0..<10).map { "\($0), 2000, \($0 * 2000), " }, "limit \(limit)")
        }
    }

    @Test func `sums of joins that can exceed 64 bits, and columns with NaN, are left to SQLite`() throws {
        let connection = try SQLConnection(functions: firn_sqlite_functions())
        let type = TypeSchema(
            "T",
            columns: [ColumnSchema("k", ColumnType(.int)), ColumnSchema("n", ColumnType(.int)), ColumnSchema("d", ColumnType(.double))])
        var batch = Batch(type, in: Schema([type]))
        for (n, d) in [(Int64(1) << 61, 1.5), (5, Double.nan), (-7, 2)] {
            batch.columns[0].append(.int(1))
            batch.columns[1].append(.int(n))
            batch.columns[2].append(.double(d))
            batch.count += 1
        }
        try connection.add(
            SQLFile(name: "memory", tables: [MemoryTable(type, schema: Schema([type]), batches: [batch])]), type: "T", as: "t")
        let sum = outcome(connection, "SELECT sum(a.n) FROM t a JOIN t b ON a.k = b.k JOIN t c ON c.k = a.k")
        #expect(sum.rows.first?.contains("integer overflow") ?? false && !sum.isTaken)
        for sql in ["SELECT avg(a.n)", "SELECT sum(a.d)", "SELECT min(b.d)", "SELECT sum(a.n * b.n)"] {
            #expect(!outcome(connection, sql + " FROM t a JOIN t b ON a.k = b.k").isTaken, "\(sql)")
        }
        // NaN is null, which equals nothing.
        let equal = outcome(connection, "SELECT count(*), max(a.n) FROM t a JOIN t b ON a.d = b.d")
        #expect(equal.isTaken && equal.rows.count == 1 && equal.rows[0].hasPrefix("2, "))
    }

    @Test func `the plan shows the join`() throws {
        let connection = try small()
        let plan = try connection.all(
            "EXPLAIN QUERY PLAN SELECT a.w, count(*), sum(b.n) FROM t0 a JOIN t1 b ON a.id = b.id LEFT JOIN t2 c ON c.n = b.n + 1 WHERE b.n > 5 GROUP BY a.w"
        )
        #expect(
            plan.map { "\($0[3])" } == [
                "string(\"SCAN a VIRTUAL TABLE INDEX 1:a join b on a.id = b.id (n > ?) left join c on b.n = c.n, group by w: count(*), sum(n)\")"
            ])
    }

    @Test func `a join with many rows ends at the time limit`() throws {
        var random = RandomTables(seed: 9)
        let connection = try JoinGroupingTests.connection([3000, 3000, 3000], &random, threads: 2)
        connection.setTimeout(seconds: 1)
        let many = outcome(connection, "SELECT count(*), max(c.n) FROM t0 a JOIN t1 b ON a.b = b.b JOIN t2 c ON c.b = b.b")
        #expect(many.rows.count == 1 && many.rows[0].contains("exceeded the limit of 1 s"))
    }
}
