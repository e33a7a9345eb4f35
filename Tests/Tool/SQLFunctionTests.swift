import FirnKit
import Foundation
import Testing

/// Functions of `firn sql` that SQLite lacks, and advice for statements in the dialects of other databases.
@Suite struct SQLFunctionTests {
    private func sample() throws -> Scratch {
        let scratch = try Scratch()
        try scratch.write(
            "p.csv",
            "id,name,city,born,at\n1,Ada,London,2015-12-10,2024-03-31 10:30:00\n2,Grace,,2006-12-09,2024-03-31 11:00:00\n3,Alan,London,2012-06-23,\n"
        )
        return scratch
    }

    @Test func `aggregates, functions of dates and of texts work on columns of files`() throws {
        let scratch = try sample()
        for (sql, rows) in [
            (
                "SELECT city, median(id) AS m, string_agg(name, '+') AS s FROM p GROUP BY city ORDER BY city",
                "city,m,s\n,2,Grace\nLondon,2,Ada+Alan\n"
            ),
            ("SELECT date_trunc('year', born) AS y, date_diff('day', born, at) AS n FROM p WHERE id = 2", "y,n\n2006-01-01,6322\n"),
            ("SELECT name FROM p WHERE name REGEXP '^A.*n$'", "name\nAlan\n"),
            ("SELECT arg_max(name, born) AS newest, quantile_disc(born, 0.5) AS middle FROM p", "newest,middle\nAda,2012-06-23\n"),
            ("SELECT round(stddev(id), 3) AS s, count_if(city IS NULL) AS n FROM p", "s,n\n1,1\n"),
        ] {
            let run = try scratch.firn("sql", "p.csv", sql, "--format", "csv")
            #expect(run.code == 0 && run.out == rows, "\(sql): \(run.out)\(run.errors)")
        }
        let plan = try scratch.firn("sql", "p.csv", "SELECT city, median(id), quantile(id, 0.9) FROM p GROUP BY city", "--explain")
        #expect(plan.out.contains("group by city: median(id), quantile(id, 0.9)"), "\(plan.out)")
    }

    @Test func `an unknown function and the syntax of other databases are reported with advice`() throws {
        let scratch = try sample()
        for (sql, part) in [
            ("SELECT medan(id) FROM p", "did you mean median?"), ("SELECT date_trun('year', born) FROM p", "did you mean date_trunc?"),
            ("SELECT array_agg(id) FROM p", "json_group_array"), ("SELECT now()", "datetime('now')"),
            ("SELECT len(name) FROM p", "length(s)"),
            ("SELECT median(id, 2) FROM p", "write median(x)"), ("SELECT date_trunc(born) FROM p", "write date_trunc('month', d)"),
            ("SELECT * FROM p WHERE name ILIKE 'a%'", "LIKE ignores the case"), ("SELECT id::text FROM p", "write CAST(id AS TEXT)"),
            ("SELECT id::int FROM p", "write CAST(id AS INTEGER)"), ("SELECT born::date FROM p", "dates are texts"),
            ("SELECT born + INTERVAL '1 day' FROM p", "date_add('day', 1, d)"),
            ("SELECT * FROM p WHERE born > DATE '2010-01-01'", "write '2010-01-01'"),
            ("SELECT extract(year FROM born) FROM p", "date_part('year', d)"), ("SELECT name FROM p WHERE name ~ 'a'", "REGEXP"),
            ("SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY id) FROM p", "quantile_cont(x, 0.5)"),
            ("SELECT TOP 5 id FROM p", "LIMIT 5"),
            ("SELECT city, count(*) FROM p GROUP BY ALL", "name the columns"), ("SELECT try_cast(id AS INT) FROM p", "CAST(x AS REAL)"),
            ("SELECT id FROM p QUALIFY row_number() OVER () = 1", "subquery"),
        ] {
            let run = try scratch.firn("sql", "p.csv", sql)
            #expect(run.code == 2 && run.errors.contains(part), "\(sql): \(run.code) \(run.errors)")
        }
        // Later versions of SQLite accept these two.
        for (sql, part) in [
            ("SELECT left(name, 1) FROM p", "\"left\"(s, 3)"), ("SELECT string_agg(name, ',' ORDER BY id) FROM p", "in a subquery"),
        ] {
            let run = try scratch.firn("sql", "p.csv", sql)
            #expect(run.code == 0 || run.code == 2 && run.errors.contains(part), "\(sql): \(run.code) \(run.errors)")
        }
    }

    @Test func `aggregates that hold values stay within the memory limit`() throws {
        let scratch = try sample()
        let rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT"
        for sql in [
            "\(rows) 3000000) SELECT median(i) FROM n", "\(rows) 60) SELECT length(string_agg(repeat('x', 1000000))) FROM n",
            "\(rows) 60) SELECT length(mode(repeat('x', 1000000 + i))) FROM n",
            "\(rows) 60) SELECT length(quantile_disc(repeat('x', 1000000 + i), 0.5)) FROM n",
        ] {
            let run = try scratch.firn("sql", "p.csv", sql, "--memory", "32MB")
            #expect(run.code == 5 && run.errors.contains("of memory"), "\(sql): \(run.code) \(run.out)\(run.errors)")
            let more = try scratch.firn("sql", "p.csv", sql, "--memory", "1GB")
            #expect(more.code == 0, "\(sql): \(more.code) \(more.errors)")
        }
    }

    @Test func `a regular expression ends at the time limit`() throws {
        let scratch = try sample(), start = ContinuousClock.now
        let run = try scratch.firn(
            "sql", "p.csv", "SELECT regexp_extract(repeat('a', 50000000), '(a?){500}a{500}b')", "--timeout", "2")
        #expect(run.code == 130 || run.errors.contains("exceeded the limit of 2 s"), "\(run.code) \(run.errors)")
        #expect(ContinuousClock.now - start < .seconds(60))
    }
}
