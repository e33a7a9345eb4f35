import FirnKit
import Foundation
import Testing

/// Messages of `firn sql`: what was refused, and where.
@Suite struct SQLMessageTests {
    private func sample() throws -> Scratch {
        let scratch = try Scratch()
        try scratch.write("p.csv", "id,name\n1,x\n2,y\n")
        return scratch
    }

    @Test func `a refused statement is named as it was given`() throws {
        let scratch = try sample()
        for (sql, part) in [
            ("VACUUM", "VACUUM is not available"), ("vacuum INTO 'x.db'", "VACUUM is not available"),
            ("EXPLAIN QUERY PLAN ATTACH 'x' AS x", "ATTACH is not available"),
            ("/* a comment */\nATTACH 'x.db' AS x", "ATTACH is not available"), ("DETACH x", "DETACH is not available"),
            ("ANALYZE", "ANALYZE is not permitted"), ("DELETE FROM p", "DELETE FROM p is not permitted"),
            ("INSERT INTO p VALUES (1, 2)", "INSERT INTO p is not permitted"),
            ("REPLACE INTO p VALUES (1, 2)", "REPLACE INTO p is not permitted"),
            ("UPDATE p SET id = 1", "UPDATE p is not permitted"), ("ALTER TABLE p ADD COLUMN x", "ALTER TABLE is not permitted"),
            ("WITH q AS (SELECT 1) DELETE FROM p", "a change of table p is not permitted"),
            ("REINDEX", "REINDEX is not available"), ("REINDEX p", "REINDEX is not available"), ("BEGIN", "BEGIN is not available"),
            ("begin immediate; SELECT 1", "BEGIN is not available"), ("COMMIT", "COMMIT is not available"),
            ("END TRANSACTION", "END is not available"), ("ROLLBACK", "ROLLBACK is not available"),
            ("/* a comment */ SAVEPOINT a", "SAVEPOINT is not available"), ("RELEASE a", "RELEASE is not available"),
            ("EXPLAIN COMMIT", "COMMIT is not available"), ("CREATE INDEX i ON p(id)", "CREATE INDEX is not permitted"),
            ("DROP TABLE p", "DROP TABLE p is not permitted"),
        ] {
            let run = try scratch.firn("sql", "p.csv", sql)
            #expect(run.code == 2 && run.out.isEmpty && run.errors.contains(part), "\(sql): \(run.code) \(run.errors)")
            if !sql.uppercased().contains("ATTACH") { #expect(!run.errors.contains("ATTACH"), "\(sql): \(run.errors)") }
        }
        #expect(scratch.names == ["p.csv"])
    }

    @Test func `errors of statements have a position`() throws {
        let scratch = try sample()
        for (sql, part) in [
            ("SELECT", "SQL:1:7: incomplete input"), ("SELECT *\nFROM  \n", "SQL:2:5: incomplete input"),
            ("SELECT 1;\nSELECT * FROM nope", "SQL:2:15: no such table: nope"), ("SELECT nope FROM p", "SQL:1:8: no such column"),
            ("SELECT 1; SELEC 2", "SQL:1:11: near \"SELEC\""), ("SELECT 1 WHERE :x", "SQL:1:16: the parameter :x has no value"),
        ] {
            let run = try scratch.firn("sql", "p.csv", sql)
            #expect(run.code == 2 && run.errors.contains(part), "\(sql): \(run.errors)")
        }
    }

    @Test func `parameters are checked before the first statement runs`() throws {
        let scratch = try sample()
        for (words, part) in [
            (["SELECT * FROM p", "-p", "x=1"], "no statement has a parameter :x"),
            (["SELECT * FROM p; SELECT ':x'", "-p", "x=1"], "no statement has a parameter :x"),
            (["SELECT * FROM p; SELECT :xyz", "-p", "xyy=1"], "the parameter :xyz has no value"),
            (["SELECT * FROM p; SELECT ?2", "-p", "1=1"], "the parameter ?2 has no value"),
        ] {
            let run = try FirnRun(["sql", "p.csv"] + words, in: scratch.folder)
            #expect(run.code == 2 && run.out.isEmpty && run.errors.contains(part), "\(words): \(run.code) \(run.out)\(run.errors)")
        }
        let both = try scratch.firn(
            "sql", "p.csv", "CREATE TEMP TABLE t AS SELECT ? AS x; SELECT x, :y AS y, ? AS z FROM t", "-p", "1=5", "-p", "y=a", "-p", "2=b",
            "--format", "csv")
        #expect(both.code == 0 && both.out == "x,y,z\n5,a,b\n", "\(both.out)\(both.errors)")
    }

    @Test func `errors about names and types in predicates have a position`() throws {
        let scratch = try sample()
        for (words, part) in [
            (["query", "p.csv", "name == 3"], "at character 6 of \"name == 3\""),
            (["query", "p.csv", "id > 0", "-w", "nope == 3"], "at character 12 of \"id > 0 AND nope == 3\""),
            (["query", "p.csv", "id > 0", "-w", "id >"], "of \"id > 0 AND id >\""),
            (["convert", "p.csv", "x.firn", "-w", "id > 0 AND name == 3"], "at character 17 of"),
            (["diff", "p.csv", "p.csv", "--key", "id", "-w", "name == 3"], "at character 6 of"),
        ] {
            let run = try FirnRun(words, in: scratch.folder)
            #expect(run.code == 2 && run.errors.contains(part), "\(words): \(run.code) \(run.errors)")
        }
        // The text of the condition is not that of other paths.
        let select = try scratch.firn("query", "p.csv", "id > 0", "-s", "nope")
        #expect(select.code == 2 && !select.errors.contains("id > 0"), "\(select.errors)")
    }

    @Test func `a statement may begin with a comment`() throws {
        let scratch = try sample()
        for sql in ["-- the rows\nSELECT count(*) AS n FROM p", "--\nSELECT count(*) AS n FROM p"] {
            let run = try scratch.firn("sql", "p.csv", sql, "--format", "csv")
            #expect(run.out == "n\n2\n", "\(run.errors)")
        }
        #expect(try scratch.firn("query", "p.csv", "id > 1;", "--format", "csv").out == "id,name\n2,y\n")
    }

    @Test func `a date that does not compare with the dates of a file is reported`() throws {
        let scratch = try sample()
        try scratch.write("d.csv", "id,at\n1,2024-03-31 10:00:00\n2,2024-03-31T12:00:00\n".replacing("T", with: " "))
        for (condition, date) in [
            ("at >= '2024-03-31T11:00:00Z'", "'2024-03-31T11:00:00Z'"), ("'2024-03-31 11:00:00+02:00' < at", "'2024-03-31 11:00:00+02:00'"),
            ("at BETWEEN '2024-03-31' AND '2024-03-31T11:00:00'", "'2024-03-31T11:00:00'"),
            ("at IN (1, '2024-03-31T11:00:00Z')", "'2024-03-31T11:00:00Z'"),
        ] {
            let run = try scratch.firn("sql", "d.csv", "SELECT * FROM d WHERE \(condition)")
            #expect(run.errors.contains("datetime(\(date)) makes one of \(date)"), "\(condition): \(run.errors)")
            // Without dates in the file, there is nothing to report.
            let other = try scratch.firn("sql", "p.csv", "SELECT * FROM p WHERE \(condition.replacing("at", with: "name"))")
            #expect(!other.errors.contains("datetime("))
        }
        for condition in [
            "at >= datetime('2024-03-31T13:00:00+02:00')", "at >= '2024-03-31 11:00:00'", "at > '2024-03-31'", "at || 'T' != 'T'",
            "length('2024-03-31T11:00:00Z') > 3 AND id = 2", "at > 'T2024-03-31T11:00:00Z' OR id = 2",
        ] {
            let run = try scratch.firn("sql", "d.csv", "SELECT count(*) AS n FROM d WHERE \(condition)", "--format", "csv")
            #expect(!run.errors.contains("datetime(") && run.code == 0, "\(condition): \(run.errors)")
        }
        #expect(
            try scratch.firn("sql", "d.csv", "SELECT id FROM d WHERE at >= datetime('2024-03-31T13:00:00+02:00')", "--format", "csv").out
                == "id\n2\n")
    }
}
