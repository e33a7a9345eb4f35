import FirnKit
import Foundation
import Testing

@Suite struct SQLTests {
    private func sample() throws -> Scratch {
        let scratch = try Scratch()
        try scratch.write(
            "people.csv", "id,name,age,city\n1,Ada,36,London\n2,Grace,85,New York\n3,Edsger,72,Austin\n4,Alan,41,London\n5,日本,,\n")
        try scratch.write(
            "dogs.ndjson",
            "{\"name\":\"Rex\",\"owner\":1,\"tags\":[\"old\",\"brown\"]}\n{\"name\":\"Fido\",\"owner\":4,\"tags\":[]}\n{\"name\":\"Bo\",\"owner\":null,\"tags\":[\"old\"]}\n"
        )
        #expect(try scratch.firn("convert", "people.csv", "people.firn", "--key", "id").code == 0)
        return scratch
    }

    @Test func `a join of a firn file and NDJSON is printed as a table`() throws {
        let scratch = try sample()
        let run = try scratch.firn(
            "sql", "people.firn", "dogs.ndjson",
            "SELECT d.name AS dog, p.name, p.age FROM dogs d LEFT JOIN people p ON d.owner = p.id ORDER BY d.name")
        #expect(run.code == 0 && run.errors.isEmpty, "\(run.errors)")
        #expect(
            run.out == """
                dog   name  age
                ────  ────  ───
                Bo
                Fido  Alan   41
                Rex   Ada    36

                """, "\(run.out)")
    }

    @Test func `a result row beyond the memory limit is an error`() throws {
        let scratch = try sample()
        for format in ["table", "csv", "ndjson"] {
            let run = try scratch.firn("sql", "people.firn", "SELECT zeroblob(30000000) AS x", "--format", format, "--memory", "100MB")
            #expect(run.code == 5 && run.errors.contains("a row of the result needs 180 MB"), "\(format): \(run.code) \(run.errors)")
        }
        let run = try scratch.firn(
            "sql", "people.firn", "SELECT length(printf('%.*c', 1000000, 'x')) AS n FROM people", "--format", "csv", "--memory", "100MB")
        #expect(run.out == "n\n1000000\n1000000\n1000000\n1000000\n1000000\n", "\(run.errors)")
    }

    @Test func `result rows are printed in every format`() throws {
        let scratch = try sample()
        let sql = "SELECT id, name, age / 2.0 AS half FROM people WHERE id IN (1, 5) ORDER BY id"
        #expect(try scratch.firn("sql", "people.firn", sql, "--format", "csv").out == "id,name,half\n1,Ada,18\n5,日本,\n")
        #expect(try scratch.firn("sql", "people.firn", sql, "--format", "tsv").out == "id\tname\thalf\n1\tAda\t18\n5\t日本\t\n")
        #expect(
            try scratch.firn("sql", "people.firn", sql, "--format", "ndjson").out
                == "{\"id\":1,\"name\":\"Ada\",\"half\":18}\n{\"id\":5,\"name\":\"日本\",\"half\":null}\n")
        #expect(
            try scratch.firn("sql", "people.firn", sql, "--json").out == scratch.firn("sql", "people.csv", sql, "--format", "ndjson").out)
        let json = try scratch.firn("sql", "people.firn", sql, "--format", "json").out
        #expect(
            try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [NSDictionary] == [
                ["id": 1, "name": "Ada", "half": 18], ["id": 5, "name": "日本", "half": NSNull()],
            ])
    }

    @Test func `window functions, common table expressions and JSON functions are available`() throws {
        let scratch = try sample()
        let window =
            "SELECT name, rank() OVER (PARTITION BY city ORDER BY age DESC) AS place FROM people WHERE age IS NOT NULL ORDER BY place, name"
        #expect(try scratch.firn("sql", "people.csv", window, "--format", "csv").out == "name,place\nAlan,1\nEdsger,1\nGrace,1\nAda,2\n")
        let recursive =
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4) SELECT n.i, p.name FROM n JOIN people p ON p.id = n.i WHERE p.age > 40"
        #expect(try scratch.firn("sql", "people.firn", recursive, "--format", "csv").out == "i,name\n2,Grace\n3,Edsger\n4,Alan\n")
        let tags = "SELECT t.value, count(*) FROM dogs, json_each(dogs.tags) t GROUP BY 1 ORDER BY 2 DESC"
        #expect(try scratch.firn("sql", "dogs.ndjson", tags, "--format", "csv").out == "value,count(*)\nold,2\nbrown,1\n")
    }

    @Test func `several statements are read from standard input and share temporary tables`() throws {
        let scratch = try sample()
        let script =
            "-- the old\nCREATE TEMP TABLE old AS SELECT * FROM people WHERE age > 40;\nUPDATE old SET age = age + 1 WHERE name = 'Alan';\nSELECT name, age FROM old ORDER BY age LIMIT 1;\nSELECT count(*) AS n FROM old;\n"
        let run = try scratch.firn("sql", "people.firn", "-", input: script)
        #expect(run.code == 0 && run.out == "name  age\n────  ───\nAlan   42\n\nn\n─\n3\n", "\(run.out) \(run.errors)")
    }

    @Test func `parameters get the values of --param, and a parameter without a value is an error`() throws {
        let scratch = try sample()
        let sql = "SELECT name FROM people WHERE age > :age AND city = $city AND id <> ?3"
        let run = try scratch.firn("sql", "people.firn", sql, "--param", "age=40", "-p", "city=London", "-p", "3=9", "--format", "csv")
        #expect(run.code == 0 && run.out == "name\nAlan\n", "\(run.errors)")
        let missing = try scratch.firn("sql", "people.firn", sql, "--param", "agee=40")
        #expect(
            missing.code == 2 && missing.errors.contains(":age has no value") && missing.errors.contains("did you mean :agee?"),
            "\(missing.errors)")
        #expect(try scratch.firn("sql", "people.firn", "SELECT 1", "--param", "x=1").code == 2)
        #expect(try scratch.firn("sql", "people.firn", "SELECT 1", "--param", "x").code == 2)
        #expect(
            try scratch.firn(
                "sql", "people.firn", "SELECT typeof(:a) || typeof(:b) || typeof(:c)", "-p", "a=007", "-p", "b=-1.5e3", "-p", "c=12",
                "--format", "csv"
            ).out.hasSuffix("textrealinteger\n"))
    }

    @Test func `types of one name in several files are distinguished by the file`() throws {
        let scratch = try sample()
        try scratch.write("more.csv", "id,name\n1,Eve\n")
        #expect(try scratch.firn("convert", "more.csv", "more.firn", "--type", "people").code == 0)
        let run = try scratch.firn(
            "sql", "people.firn", "more.firn", "SELECT a.name, b.name AS other FROM people_people a JOIN more_people b USING (id)",
            "--format", "csv")
        #expect(run.code == 0 && run.out == "name,other\nAda,Eve\n", "\(run.errors)")
        let wrong = try scratch.firn("sql", "people.firn", "more.firn", "SELECT * FROM people")
        #expect(
            wrong.code == 2 && wrong.errors.contains("no such table: people") && wrong.errors.contains("more_people"), "\(wrong.errors)")
        let versions = try scratch.firn(
            "sql", "more.firn@1", "more.firn", "SELECT count(*) FROM \"more@1_people\" NATURAL JOIN more_people", "--format", "csv")
        #expect(versions.code == 0 && versions.out.hasSuffix("\n1\n"), "\(versions.errors)")
    }

    @Test func `types without columns and names with U+0000 do not prevent other statements`() throws {
        let scratch = try Scratch()
        try scratch.write("e.ndjson", "{}\n{}\n")
        try scratch.write("z.ndjson", #"{"a\u0000b":1,"\u0000":2,"A\u0000B":3}"# + "\n")
        for (statement, expected) in [
            ("SELECT 1 AS x", "x\n1\n"), ("SELECT count(*) AS n FROM e", "n\n2\n"), ("SELECT ab, _, AB_2 FROM z", "ab,_,AB_2\n1,2,3\n"),
            ("SELECT count(*) AS n FROM e WHERE rowid >= 1", "n\n1\n"), ("SELECT rowid AS r FROM e ORDER BY rowid DESC", "r\n1\n0\n"),
            ("SELECT z.ab FROM e JOIN z ON firn_row = ab ORDER BY firn_row", "ab\n1\n"),
        ] {
            let run = try scratch.firn("sql", "e.ndjson", "z.ndjson", statement, "--format", "csv")
            #expect(run.code == 0 && run.out == expected, "\(statement): \(run.out) \(run.errors)")
        }
        let all = try scratch.firn("sql", "e.ndjson", "SELECT * FROM e")
        #expect(all.code == 2 && !all.isCrash, "\(all.errors)")
    }

    @Test func `an error in a statement is reported with its position`() throws {
        let scratch = try sample()
        let column = try scratch.firn("sql", "people.firn", "SELECT 1;\nSELECT nam FROM people", "--format", "csv")
        #expect(
            column.code == 2 && column.out == "1\n1\n" && column.errors.contains("SQL:2:8: no such column: nam")
                && column.errors.contains("did you mean name?"), "\(column.out)\(column.errors)")
        let quotes = try scratch.firn("sql", "people.firn", "SELECT id FROM people WHERE name = \"Xerxes\"")
        #expect(
            quotes.code == 2 && quotes.errors.contains("no such column: Xerxes") && quotes.errors.contains("single"), "\(quotes.errors)")
        for sql in [
            "SELEC", "SELECT * FROM", "SELECT '", "", "  -- nothing", "SELECT \u{0}", "SELECT * FROM peple",
            String(repeating: "(", count: 5000), "SELECT x'6", ";;",
        ] {
            let run = try scratch.firn("sql", "people.firn", sql)
            #expect(run.code == 2 && run.out.isEmpty && !run.isCrash && run.errors.hasPrefix("firn: "), "\(sql): \(run.code) \(run.errors)")
        }
        #expect(try scratch.firn("sql", "people.firn", "dogs.ndjson").errors.contains("no statement"))
        #expect(try scratch.firn("sql", "people.firn").code == 2)
        #expect(try scratch.firn("sql", "nothing.firn", "SELECT 1").code == 5)
        #expect(try scratch.firn("sql", "people.firn", "SELECT * FROM people WHERE id > 9").code == 1)
    }

    @Test func `temporary tables are limited to four times the memory limit`() throws {
        let scratch = try sample()
        func make(_ rows: Int) throws -> FirnRun {
            let sql =
                "CREATE TEMP TABLE t AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT \(rows)) SELECT printf('%01000d', x) AS text FROM c; SELECT count(*) AS n FROM t"
            return try scratch.firn("sql", "people.firn", sql, "--memory", "8MB", "--format", "csv")
        }
        #expect(try make(20_000).out == "n\n20000\n")
        let run = try make(50_000)
        #expect(
            run.code == 5 && run.out.isEmpty && run.errors.contains("temporary tables need more than 32 MB")
                && run.errors.contains("--memory"), "\(run.code) \(run.errors)")
    }

    @Test func `statements cannot write to files`() throws {
        let scratch = try sample()
        let before = try Data(contentsOf: scratch.file("people.firn"))
        let statements = [
            "DELETE FROM people", "UPDATE people SET age = 1", "INSERT INTO people(id) VALUES (9)", "CREATE TABLE x(a)",
            "DROP TABLE people", "ATTACH 'x.db' AS x", "VACUUM INTO 'x.db'",
            "ALTER TABLE people RENAME TO q", "PRAGMA journal_mode = WAL", "CREATE VIEW v AS SELECT 1", "SELECT load_extension('x')",
            "SELECT writefile('x', 'y')",
        ]
        for sql in statements {
            let run = try scratch.firn("sql", "people.firn", sql)
            #expect(run.code == 2 && !run.isCrash, "\(sql): \(run.code) \(run.errors)")
        }
        #expect(
            try Data(contentsOf: scratch.file("people.firn")) == before && scratch.names == ["dogs.ndjson", "people.csv", "people.firn"])
        #expect(try scratch.firn("sql", "people.firn", "DELETE FROM people").errors.contains("firn sql cannot change files"))
    }

    @Test func `the plan lists the conditions that the engine evaluates and the segments that it skips`() throws {
        let scratch = try Scratch()
        try scratch.write("n.csv", "n,w\n" + (0..<70_000).map { "\($0),w\($0 % 7)\n" }.joined())
        #expect(try scratch.firn("convert", "n.csv", "n.firn", "-q").code == 0)
        let run = try scratch.firn(
            "sql", "n.firn", "SELECT n FROM n WHERE n >= 69990 AND w LIKE 'w1%' ORDER BY n DESC LIMIT 2", "--explain")
        #expect(run.code == 0 && run.out.contains("VIRTUAL TABLE INDEX") && run.out.contains("n >= ?, w like ?"), "\(run.out)")
        #expect(run.out.contains("2 segments searched, 1 of them"), "\(run.out)")
    }

    @Test func `a damaged file ends with exit code 4`() throws {
        let scratch = try Scratch()
        // Numbers that do not repeat in any way, so that the file is large enough for damage in all its parts.
        var random = Random(seed: 4)
        try scratch.write("n.csv", "n,w\n" + (0..<30_000).map { _ in "\(random.below(30_011)),word \(random.below(997))\n" }.joined())
        #expect(try scratch.firn("convert", "n.csv", "n.firn", "-q").code == 0)
        var bytes = try Data(contentsOf: scratch.file("n.firn"))
        for i in stride(from: 4096, to: bytes.count - 2048, by: 97) { bytes[i] ^= 0x5A }
        try bytes.write(to: scratch.file("n.firn"))
        let run = try scratch.firn("sql", "n.firn", "SELECT sum(n), max(w) FROM n")
        #expect(run.code == 4 && !run.isCrash && run.errors.contains("n.firn"), "\(run.code) \(run.errors)")
    }

    @Test func `statements cannot reach memory, libraries or other files`() throws {
        let scratch = try sample()
        for (sql, reason) in [
            (
                "SELECT fts3_tokenizer('simple', x'4141414141414141'); CREATE VIRTUAL TABLE temp.f USING fts3(a, tokenize=simple)",
                "the function fts3_tokenizer is not available"
            ),
            ("SELECT fts3_tokenizer('simple')", "the function fts3_tokenizer is not available"),
            ("SELECT fts3_tokenizer(:name)", "the function fts3_tokenizer is not available"),
            ("CREATE VIRTUAL TABLE temp.f USING fts3(a, tokenize=simple)", "CREATE VIRTUAL TABLE is not available"),
            ("CREATE VIRTUAL TABLE temp.f USING firn('people.firn')", "CREATE VIRTUAL TABLE is not available"),
            ("SELECT * FROM dbstat", "the table dbstat of SQLite is not available"),
            ("SELECT load_extension('x')", "load_extension is not available"), ("ATTACH 'x.db' AS x", "ATTACH is not available"),
            ("PRAGMA temp_store_directory = '/'", "PRAGMA temp_store_directory is not available"),
            ("SELECT firn_open('people.firn')", "no such function"),
        ] {
            let run =
                try sql.contains(":name")
                ? scratch.firn("sql", "people.firn", sql, "-p", "name=simple") : scratch.firn("sql", "people.firn", sql)
            #expect(run.code == 2 && run.out.isEmpty && !run.isCrash && run.errors.contains(reason), "\(sql): \(run.code) \(run.errors)")
        }
        #expect(scratch.names == ["dogs.ndjson", "people.csv", "people.firn"])
    }

    @Test func `a statement that runs too long ends by --timeout or a signal with exit code 130, and files are unchanged`() throws {
        let scratch = try Scratch()
        try scratch.write("t.csv", "id\n" + (0..<20_000).map { "\($0)\n" }.joined())
        #expect(try scratch.firn("convert", "t.csv", "t.firn", "-q").code == 0)
        let names = scratch.names, bytes = try Data(contentsOf: scratch.file("t.firn"))
        for statement in [
            "SELECT count(*) FROM t a, t b, t c", "SELECT sum(a.id * b.id) FROM t a, t b, t c WHERE a.id + b.id > c.id",
            "CREATE TEMP TABLE x AS SELECT count(*) FROM t a, t b, t c",
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n",
        ] {
            let run = try scratch.firn("sql", "t.firn", statement, "--timeout", "1")
            #expect(
                run.code == 130 && run.errors.contains("exceeded the limit of 1 s (--timeout)") && run.out.isEmpty,
                "\(statement): \(run.code) \(run.errors)")
        }
        let usage = try scratch.firn("sql", "t.firn", "SELECT 1", "--timeout", "soon")
        #expect(usage.code == 2 && usage.errors.contains("--timeout takes a time"))
        #expect(try scratch.firn("sql", "t.firn", "SELECT count(*) AS n FROM t", "--timeout", "1h", "--format", "csv").out == "n\n20000\n")
        // The command inherits a mask that blocks the signal, as from threads of the test runner, and ends all the same.
        var signals = sigset_t(), before = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGTERM)
        pthread_sigmask(SIG_BLOCK, &signals, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        // Not SIGINT, which takes the same path: it is ignored in programs that a script runs in the background.
        for quiet in [false, true] {
            let process = Process(), errors = Pipe()
            process.executableURL = FirnRun.binary
            process.arguments = ["sql", "t.firn", "SELECT count(*) FROM t a, t b, t c", "--progress"] + (quiet ? ["-q"] : [])
            process.currentDirectoryURL = scratch.folder
            (process.standardOutput, process.standardError) = (FileHandle.nullDevice, errors)
            try process.run()
            // The first line of progress shows that the statement runs.
            if quiet {
                usleep(500_000)
            } else {
                #expect(String(decoding: errors.fileHandleForReading.availableData, as: UTF8.self).contains("row"))
            }
            kill(process.processIdentifier, SIGTERM)
            process.wait(seconds: 60)
            #expect(process.terminationReason == .exit && process.terminationStatus == 130)
        }
        #expect(try scratch.names == names && Data(contentsOf: scratch.file("t.firn")) == bytes)
    }

    @Test func `a statement that needs too much memory is an error`() throws {
        let scratch = try sample()
        let sql =
            "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT 300) SELECT length(group_concat(hex(zeroblob(1500000)))) FROM c"
        let process = Process(), errors = scratch.file("errors.txt")
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", "ulimit -v 1500000; exec \"$0\" sql people.firn \"$1\" 2> errors.txt", FirnRun.binary.path, sql]
        process.currentDirectoryURL = scratch.folder
        process.environment = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
        try process.run()
        process.wait()
        let message = try String(contentsOf: errors, encoding: .utf8)
        #expect(
            process.terminationReason == .exit && process.terminationStatus == 5
                && message.contains("of memory, which is the limit of SQLite"), "\(process.terminationStatus) \(message)")
    }
}
