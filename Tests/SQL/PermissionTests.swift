import CSQLiteLibrary
import FirnBytes
import FirnKit
import FirnSQL
import FirnTable
import Foundation
import Testing

/// Statements of `firn sql` may read, compute, and write temporary tables, and nothing else.
@Suite struct PermissionTests {
    private func connection() throws -> SQLConnection {
        var random = RandomTables(seed: 5)
        return try Zoo.connection(Zoo.rows(3, &random))
    }

    private static let numbers = ["0", "1", "-1", "9223372036854775807", "-9223372036854775808", "1e308", "-0.5"]
    private static let texts = [
        "''", "'simple'", "'porter'", "'$.a[0]'", "'%s%n%p%1000000d%99999s'", "'now'", "'[1,{\"a\":2}]'", "'t'", "hex(zeroblob(3000))",
        "'AAAAAAAA'",
    ]
    private static let blobs = ["x'4141414141414141'", "x''", "zeroblob(5000)", "NULL"]
    private static let values: [Value] = [
        .data([0x41, 0x41, 0x41, 0x41, 0x41, 0x41, 0x41, 0x41]), .string("simple"), .string("AAAAAAAA"), .int(.max), .double(-1e300),
    ]

    /// Runs a statement to its end. Returns nil if it was refused or failed.
    private func rows(_ connection: SQLConnection, _ sql: String, _ values: [Value] = []) -> [[Value]]? { try? connection.all(sql, values) }

    @Test func `no function of SQLite prints an address or crashes, for any arguments`() throws {
        let connection = try connection(), memory = MappedMemory()
        let functions = try connection.all("SELECT DISTINCT name, narg FROM pragma_function_list").compactMap {
            row -> (name: String, count: Int)? in
            guard case .string(let name) = row[0], case .int(let count) = row[1] else { return nil }
            return (name, Int(count))
        }
        #expect(functions.count > 100 && functions.contains { $0.name == "fts3_tokenizer" })
        let kinds = Self.numbers + Self.texts + Self.blobs
        var random = RandomTables(seed: 9), answers = 0
        for function in functions {
            let name = SQLSpelling.name(function.name)
            for count in function.count >= 0 ? [function.count] : [0, 1, 2, 3] {
                var calls = count == 0 ? [[String]()] : kinds.map { Array(repeating: $0, count: count) }
                if count > 1 { for _ in 0..<60 { calls.append((0..<count).map { _ in kinds[random.number(0...kinds.count - 1)] }) } }
                for arguments in calls {
                    let call = "\(name)(\(arguments.joined(separator: ", ")))"
                    for sql in ["SELECT \(call)", "SELECT \(call) OVER (ORDER BY n) FROM t"] {
                        guard let rows = rows(connection, sql) else { continue }
                        answers += 1
                        for value in rows.joined() { #expect(!memory.holdsAddress(value), "\(sql): \(value)") }
                    }
                }
                // SQLite trusts bound values more than values in the text of a statement.
                for value in Self.values where count > 0 {
                    let sql = "SELECT \(name)(\((1...count).map { "?\($0)" }.joined(separator: ", ")))"
                    for first in [value, .string("simple")] {
                        for value in (rows(connection, sql, [first] + Array(repeating: value, count: count - 1)) ?? []).joined() {
                            #expect(!memory.holdsAddress(value), "\(sql): \(value)")
                        }
                    }
                }
            }
        }
        #expect(answers > 1000)
        #expect(try connection.all("SELECT count(*) FROM t") == [[.int(3)]])
    }

    @Test func `EXPLAIN prints no address`() throws {
        let connection = try connection()
        for sql in ["EXPLAIN SELECT * FROM t WHERE n = 3", "/* listing */ explain SELECT count(*) FROM t a JOIN t b ON a.n = b.n"] {
            let rows = try connection.all(sql)
            #expect(rows.contains { $0.contains(.string("vtab")) }, "\(rows)")
            #expect(!rows.joined().contains { if case .string(let text) = $0 { text.hasPrefix("vtab:") } else { false } }, "\(rows)")
        }
    }

    @Test func `only pragmas that list something are available, for any arguments`() throws {
        let connection = try connection(), memory = MappedMemory(), folder = TemporaryFolder()
        var names = try connection.column("SELECT name FROM pragma_pragma_list").map { String($0.dropFirst("string(\"".count).dropLast(2)) }
        names += [
            "key", "rekey", "hexkey", "activate_extensions", "vdbe_debug", "parser_trace", "lock_proxy_file", "data_store_directory",
            "nothing",
        ]
        #expect(names.count > 50)
        let available: Set = [
            "case_sensitive_like", "collation_list", "compile_options", "database_list", "foreign_key_list", "function_list", "index_info",
            "index_list", "index_xinfo", "module_list",
            "pragma_list", "table_info", "table_list", "table_xinfo",
        ]
        let arguments =
            Self.numbers + [
                "'t'", "t", "'simple'", "x'4141414141414141'", "NULL", "'\(folder.file("x"))'", "ON", "WAL",
                "'\(String(repeating: "a", count: 9000))'",
            ]
        for name in names {
            var isAnswered = false
            for sql in ["PRAGMA \(name)", "SELECT * FROM pragma_\(name)", "PRAGMA temp.\(name)"]
                + arguments.flatMap({ ["PRAGMA \(name) = \($0)", "PRAGMA \(name)(\($0))", "SELECT * FROM pragma_\(name)(\($0))"] })
            {
                guard let rows = rows(connection, sql) else { continue }
                isAnswered = true
                for value in rows.joined() { #expect(!memory.holdsAddress(value), "\(sql): \(value)") }
            }
            #expect(isAnswered == available.contains(name), "\(name)")
        }
        #expect(try folder.names == [])
        #expect(throws: FirnError.self) { try connection.all("PRAGMA writable_schema = 1") }
        do { _ = try connection.all("PRAGMA journal_mode") } catch let error as FirnError {
            #expect(error.message == "PRAGMA journal_mode is not available" && error.advice?.contains("table_info") == true)
        }
    }

    @Test func `no module of SQLite can be used as a table, except those for JSON`() throws {
        let connection = try connection()
        let names = try connection.column("SELECT name FROM pragma_module_list").map { String($0.dropFirst("string(\"".count).dropLast(2)) }
        #expect(names.contains("fts3") && names.contains("dbstat"))
        for name in names + ["sqlite_dbpage", "bytecode", "tables_used", "csv", "fsdir", "zipfile", "generate_series"]
        where !name.hasPrefix("pragma_") {
            for arguments in ["", "(a)", "(a, tokenize=simple)", "('main')", "(0)", "(main, t)"] {
                #expect(throws: FirnError.self, "\(name)\(arguments)") {
                    try connection.all("CREATE VIRTUAL TABLE temp.v USING \"\(name)\"\(arguments)")
                }
            }
            for sql in [
                "SELECT * FROM \"\(name)\"", "SELECT count(*) FROM \"\(name)\"", "SELECT 1 FROM t, \"\(name)\"('main')",
                "SELECT * FROM \"\(name)\"('[1]', 2)",
            ] {
                let isAnswered = rows(connection, sql) != nil
                #expect(!isAnswered || name.hasPrefix("json_"), "\(sql)")
            }
        }
        #expect(try connection.all("SELECT count(*) FROM json_each('[1,2]'), json_tree('{\"a\":1}')") == [[.int(4)]])
    }

    @Test func `a refused function is refused in every clause of a statement`() throws {
        let connection = try connection(), folder = TemporaryFolder()
        let calls = [
            "fts3_tokenizer('simple')", "FTS3_Tokenizer('simple', x'4141414141414141')", "\"fts3_tokenizer\"('simple')",
            "load_extension('\(folder.file("x"))')", "sqlite_log(1, 'x')",
        ]
        for call in calls {
            for sql in [
                "SELECT \(call)", "SELECT 1 WHERE \(call) IS NULL", "EXPLAIN SELECT \(call)",
                "WITH c AS (SELECT \(call) AS x) SELECT x FROM c", "SELECT (SELECT \(call) FROM t LIMIT 1)",
                "SELECT count(*) FROM t ORDER BY \(call)",
                "SELECT value FROM json_each(json_array(\(call)))", "CREATE TEMP TABLE z AS SELECT \(call) AS x", "VALUES (\(call))",
                "SELECT 1 LIMIT \(call)",
            ] {
                #expect(throws: FirnError.self, "\(sql)") { try connection.all(sql) }
            }
            for (make, use) in [
                ("CREATE TEMP TABLE y(a, b DEFAULT (\(call)))", "INSERT INTO y(a) VALUES (1)"),
                ("CREATE TEMP TABLE y(a, b AS (\(call)))", "SELECT b FROM y"),
                ("CREATE TEMP TABLE y(a CHECK (\(call) = 1))", "INSERT INTO y VALUES (1)"),
                ("CREATE TEMP VIEW y AS SELECT \(call) AS x", "SELECT x FROM y"),
            ] {
                _ = rows(connection, make)
                #expect(throws: FirnError.self, "\(make); \(use)") { try connection.all(use) }
                _ = rows(connection, "DROP TABLE y")
                _ = rows(connection, "DROP VIEW y")
            }
        }
        let others = [
            "ATTACH '\(folder.file("a.db"))' AS a", "VACUUM INTO '\(folder.file("b.db"))'", "DETACH main", "CREATE TABLE u(a)",
            "CREATE TABLE x(a)", "CREATE INDEX main.j ON t(n)", "DROP TABLE t", "ALTER TABLE t RENAME TO q",
            "UPDATE sqlite_master SET sql = ''", "DELETE FROM sqlite_temp_master",
            "CREATE TRIGGER main.g AFTER INSERT ON t BEGIN SELECT 1; END", "ANALYZE main", "REINDEX", "BEGIN", "COMMIT", "SAVEPOINT s",
            "RELEASE s", "ROLLBACK", "SELECT firn_open('\(folder.file("a.firn"))')",
        ]
        for sql in others { #expect(throws: FirnError.self, "\(sql)") { try connection.all(sql) } }
        #expect(try folder.names == [])
    }

    @Test func `temporary tables, views, triggers and indexes can be made and changed`() throws {
        let connection = try connection()
        for sql in [
            "CREATE TEMP TABLE a(x INTEGER PRIMARY KEY, y DEFAULT (upper('b')))", "INSERT INTO a(x) VALUES (1), (2)",
            "CREATE TEMP TABLE log(x)", "CREATE TEMP TRIGGER g AFTER UPDATE ON a BEGIN INSERT INTO log VALUES (new.x); END",
            "UPDATE a SET y = 'c' WHERE x = 2", "DELETE FROM a WHERE x = 1", "CREATE INDEX temp.i ON a(y)", "ALTER TABLE a RENAME TO c",
            "ALTER TABLE c ADD COLUMN z", "ALTER TABLE c RENAME COLUMN z TO w", "ALTER TABLE c DROP COLUMN w",
            "CREATE TEMP VIEW v AS SELECT c.x, c.y, count(t.n) AS n FROM c, t GROUP BY 1", "ANALYZE temp", "DROP INDEX i", "DROP TRIGGER g",
        ] { #expect(throws: Never.self, "\(sql)") { try connection.all(sql) } }
        #expect(try connection.all("SELECT v.x, v.y, v.n, log.x FROM v, log") == [[.int(2), .string("c"), .int(3), .int(2)]])
        for sql in ["DROP VIEW v", "DROP TABLE c", "DROP TABLE log"] { #expect(throws: Never.self, "\(sql)") { try connection.all(sql) } }
    }

    @Test func `a table of a file may have the name of a module`() throws {
        let connection = try connection()
        let table = MemoryTable(
            TypeSchema("dbstat", columns: [ColumnSchema("n", ColumnType(.int))]),
            schema: Schema([TypeSchema("dbstat", columns: [ColumnSchema("n", ColumnType(.int))])]), batches: [])
        try connection.add(SQLFile(name: "memory", tables: [table]), type: "dbstat", as: "DBStat")
        #expect(try connection.all("SELECT count(n) FROM dbstat") == [[.int(0)]])
    }

    @Test func `values and statements of too many bytes are errors`() throws {
        let connection = try connection()
        #expect(throws: Never.self) { try connection.all("SELECT length(printf('%2147483647d', 1))") }
        for sql in [
            "SELECT zeroblob(9223372036854775807)", "SELECT hex(zeroblob(900000000))",
            "SELECT replace(hex(zeroblob(20000)), '0', hex(zeroblob(20000)))", "SELECT randomblob(2000000000)",
            "SELECT 1 -- \(String(repeating: "x", count: 65 << 20))",
        ] {
            #expect(throws: FirnError.self, "\(sql.prefix(80))") { try connection.all(sql) }
        }
    }
}

extension TemporaryFolder {
    fileprivate var names: [String] { get throws { try FileManager.default.contentsOfDirectory(atPath: path).sorted() } }
}

/// The mapped addresses of this process, to find them in results.
private struct MappedMemory {
    private var ranges: [Range<UInt64>] = []

    /// Empty on systems without a list of them (macOS).
    init() {
        guard let list = try? String(contentsOfFile: "/proc/self/maps", encoding: .utf8) else { return }
        for line in list.split(separator: "\n") {
            let bounds = line.prefix { $0 != " " }.split(separator: "-").compactMap { UInt64($0, radix: 16) }
            // The kernel's page for system calls has the same address in every process.
            if bounds.count == 2, bounds[0] < bounds[1], bounds[0] > 1 << 32, !line.contains("vsyscall") {
                ranges.append(bounds[0]..<bounds[1])
            }
        }
    }

    private func holds(_ number: UInt64?) -> Bool { number.map { number in ranges.contains { $0.contains(number) } } ?? false }

    /// Whether a value is an address: as an integer, as bytes, or as digits in a text.
    func holdsAddress(_ value: Value) -> Bool {
        switch value {
        case .int(let x): return holds(UInt64(bitPattern: x))
        case .double(let x): return holds(UInt64(exactly: x)) || holds(x.bitPattern)
        case .data(let bytes):
            guard bytes.count >= 8 else { return false }
            return (0...min(bytes.count, 4096) - 8).contains { at in holds(bytes[at..<at + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) })
            }
        case .string(let text):
            let runs = text.prefix(20_000).split { !$0.isHexDigit && $0 != "x" }
            return runs.contains { run in
                let digits = run.hasPrefix("0x") ? run.dropFirst(2) : run
                guard (9...20).contains(digits.utf8.count) else { return false }
                let hex = UInt64(digits, radix: 16)
                return holds(hex) || holds(hex?.byteSwapped) || holds(UInt64(digits))
            }
        default: return false
        }
    }
}

@Suite struct MappedMemoryTests {
    @Test func `the search for addresses finds addresses of this process and no other numbers`() throws {
        let memory = MappedMemory()
        let place = UnsafeMutablePointer<Int>.allocate(capacity: 1 << 20)
        defer { place.deallocate() }
        guard FileManager.default.fileExists(atPath: "/proc/self/maps") else { return }
        let code = UInt64(UInt(bitPattern: unsafeBitCast(firn_sqlite_functions(), to: UnsafeRawPointer.self)))
        #expect(
            memory.holdsAddress(.int(Int64(code))) && memory.holdsAddress(.data([0] + withUnsafeBytes(of: code) { Array($0) }))
                && memory.holdsAddress(.string("at 0x\(String(code, radix: 16))")))
        #expect(memory.holdsAddress(.string("\(code)")) && memory.holdsAddress(.double(Double(code))))
        #expect(
            !memory.holdsAddress(.int(.max)) && !memory.holdsAddress(.int(1 << 20)) && !memory.holdsAddress(.string("4141414141414141"))
                && !memory.holdsAddress(.data([1, 2, 3])))
    }
}
