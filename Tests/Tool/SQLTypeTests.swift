import FirnKit
import Testing

/// The types of the columns of results.
@Suite struct SQLTypeTests {
    private static let rows = """
        id,day,local,utc,ok,price,code
        1,2024-01-05,2024-01-05T10:00:00,2024-01-05T10:00:00Z,true,12.50,6ba7b810-9dad-11d1-80b4-00c04fd430c8
        2,2024-02-06,2024-02-06T11:30:00.5,1969-12-31T23:59:59.123456789Z,false,3.25,6ba7b811-9dad-11d1-80b4-00c04fd430c8
        3,,,,,,

        """

    private func sample() throws -> Scratch {
        let scratch = try Scratch()
        try scratch.write("t.csv", SQLTypeTests.rows)
        #expect(try scratch.firn("convert", "t.csv", "t.firn").code == 0)
        try scratch.write("long.csv", "d\n1234567890123456789.25\n0.1\n")
        return scratch
    }

    @Test(arguments: ["firn", "parquet", "arrow"])
    func `columns of a table keep their types in formats with types`(format: String) throws {
        let scratch = try sample()
        let sql = "WITH x AS (SELECT * FROM t) SELECT x.* FROM x LEFT JOIN t AS other ON other.id = 9 ORDER BY x.id"
        let run = try scratch.firn("sql", "t.firn", sql, "-o", "out.\(format)")
        #expect(run.code == 0 && run.errors.isEmpty, "\(run.errors)")
        #expect(try scratch.firn("convert", "out.\(format)", "-", "--to", "csv").out == SQLTypeTests.rows)
        let types = try scratch.firn("query", "out.\(format)", "ok == true AND day == 2024-01-05@00:00:00", "-s", "id", "--format", "csv")
        #expect(types.out == "id\n1\n", "\(types.errors)")
    }

    @Test func `expressions have the type of their values, and names do not matter`() throws {
        let scratch = try sample()
        let sql = "SELECT ok AS fine, NOT ok AS ok, day AS price, max(utc) AS utc FROM t GROUP BY id ORDER BY id"
        #expect(try scratch.firn("sql", "t.firn", sql, "-o", "out.firn").code == 0)
        let schema = try scratch.firn("schema", "out.firn").out.split(separator: "\n").dropFirst(3)
            .map { $0.split(separator: " ").prefix(2).joined(separator: " ") }
        #expect(schema == ["fine bool?", "ok int?", "price date?", "utc string?"])
    }

    @Test func `decimals of any number of digits are decimals again`() throws {
        let scratch = try sample()
        #expect(try scratch.firn("convert", "long.csv", "long.firn").code == 0)
        let before = try scratch.firn("schema", "long.firn").out
        #expect(before.contains("decimal"), "\(before)")
        #expect(try scratch.firn("sql", "long.firn", "SELECT d FROM long", "-o", "out.firn").code == 0)
        #expect(
            try scratch.firn("query", "out.firn", "--format", "csv").out == scratch.firn("query", "long.firn", "--format", "csv").out)
        #expect(try scratch.firn("schema", "out.firn").out.contains("decimal"))
    }

    @Test func `bools are true and false in text formats`() throws {
        let scratch = try sample()
        let sql = "SELECT ok, ok + 0 AS n FROM t ORDER BY id"
        #expect(try scratch.firn("sql", "t.firn", sql, "--format", "csv").out == "ok,n\ntrue,1\nfalse,0\n,\n")
        #expect(
            try scratch.firn("sql", "t.firn", sql, "--format", "ndjson").out
                == "{\"ok\":true,\"n\":1}\n{\"ok\":false,\"n\":0}\n{\"ok\":null,\"n\":null}\n")
    }

    @Test(arguments: [
        "SELECT ok FROM t UNION ALL SELECT id FROM t",
        "SELECT column1 AS ok FROM (VALUES (1), (0), (NULL), (1), (2), (3))",
        "SELECT ok FROM (SELECT ok FROM t UNION ALL SELECT id FROM t)",
        "CREATE TEMP VIEW v AS SELECT ok FROM t UNION ALL SELECT id FROM t; SELECT ok FROM v",
        "CREATE TEMP TABLE t AS SELECT 1 AS ok UNION ALL SELECT 0 UNION ALL SELECT NULL UNION ALL SELECT id FROM main.t; SELECT ok FROM t",
    ])
    func `rows of several SELECTs, and temporary tables, keep the values of SQL`(sql: String) throws {
        let scratch = try sample()
        #expect(try scratch.firn("sql", "t.firn", sql, "--format", "csv").out == "ok\n1\n0\n\n1\n2\n3\n")
    }

    @Test func `lists and objects are JSON in JSON, and text in other formats`() throws {
        let scratch = try Scratch()
        let row = "{\"id\":1,\"tags\":[\"a\",\"\\\"b\\\"\"],\"o\":{\"x\":1.5,\"y\":[{\"z\":null}]}}\n"
        try scratch.write("n.ndjson", row + "{\"id\":2,\"tags\":[],\"o\":null}\n")
        let sql = "SELECT * FROM n WHERE id < 3"
        #expect(
            try scratch.firn("sql", "n.ndjson", sql, "--format", "ndjson").out == row + "{\"id\":2,\"tags\":[],\"o\":null}\n")
        let text = try scratch.firn("sql", "n.ndjson", sql, "--format", "csv").out
        #expect(text.hasPrefix("id,tags,o\n1,\"[\"\"a\"\",\"\"\\\"\"b\\\"\"\"\"]\",\"{\"\"x\"\":1.5"), "\(text)")
        let made = try scratch.firn(
            "sql", "n.ndjson", "SELECT json_array(id) AS list, tags || '' AS t FROM n LIMIT 1", "--format", "ndjson"
        ).out
        #expect(made == "{\"list\":\"[1]\",\"t\":\"[\\\"a\\\",\\\"\\\\\\\"b\\\\\\\"\\\"]\"}\n", "\(made)")
    }

    @Test func `columns of one name have different names in JSON, and names that SQL changes are reported`() throws {
        let scratch = try Scratch()
        try scratch.write("l.csv", "id,v\n1,x\n")
        try scratch.write("r.csv", "id,v\n9,z\n")
        try scratch.write("cs.csv", "Name,name\nBoss,clerk\n")
        let run = try scratch.firn("sql", "l.csv", "r.csv", "SELECT * FROM l, r", "--format", "ndjson")
        #expect(run.out == "{\"id\":1,\"v\":\"x\",\"id_2\":9,\"v_2\":\"z\"}\n")
        let other = try scratch.firn("sql", "cs.csv", "SELECT name, name_2 FROM cs", "--format", "csv")
        #expect(other.out == "name,name_2\nBoss,clerk\n" || other.out == "Name,name_2\nBoss,clerk\n")
        #expect(other.errors.contains("the column \"name\" is called \"name_2\""), "\(other.errors)")
    }

    @Test func `rows of VALUES and row ids have no type of a column`() throws {
        let scratch = try sample()
        let values = "VALUES ((SELECT ok FROM t WHERE id = 1)), (1), (0)"
        #expect(
            try scratch.firn("sql", "t.firn", values, "--format", "ndjson").out.split(separator: "\n").map(String.init).map { $0.suffix(2) }
                == ["1}", "1}", "0}"])
        try scratch.write("r.csv", "rowid,v\ntrue,1\nfalse,2\n")
        let ids = try scratch.firn("sql", "r.csv", "SELECT oid AS n FROM r", "--format", "csv").out
        #expect(ids == "n\n0\n1\n" || ids == "n\n1\n2\n", "\(ids)")
    }
}
