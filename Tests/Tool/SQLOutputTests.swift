import FirnKit
import Foundation
import Testing

/// The formats and files that `firn sql` writes, and what `firn info` prints of all formats.
@Suite struct SQLOutputTests {
    private func sample() throws -> Scratch {
        let scratch = try Scratch()
        try scratch.write("p.csv", "id,name\n1,x\n2,y\n")
        return scratch
    }

    @Test(arguments: ["csv", "tsv", "json", "ndjson", "parquet", "arrow", "db", "firn"])
    func `the rows of a statement are written in every format`(format: String) throws {
        let scratch = try sample(), target = "out.\(format)"
        let run = try scratch.firn("sql", "p.csv", "SELECT id, name, id * 1.5 AS x, NULL AS n FROM p ORDER BY id DESC", "-o", target)
        #expect(run.code == 0 && run.out.isEmpty && scratch.has(target), "\(run.code) \(run.out)\(run.errors)")
        let rows = try scratch.firn("query", target, "x > 1", "--select", "id,name,x", "--format", "csv")
        #expect(rows.out.replacing("3.0", with: "3") == "id,name,x\n2,y,3\n1,x,1.5\n", "\(rows.out)\(rows.errors)")
        let again = try scratch.firn("sql", "p.csv", "SELECT 1 AS a", "-o", target)
        #expect(again.code == 5 && again.errors.contains("--force"), "\(again.code) \(again.errors)")
        #expect(try scratch.firn("sql", "p.csv", "SELECT 1 AS a", "-o", target, "--force").code == 0)
    }

    @Test func `columns of formats with types have the type of all values`() throws {
        let scratch = try sample()
        let sql =
            "SELECT id, id * 1.0 AS r, CASE id WHEN 1 THEN id ELSE name END AS m, x'00FF' AS b, id, 9007199254740993 + id * 0 AS w FROM p"
        #expect(try scratch.firn("sql", "p.csv", sql, "-o", "out.parquet").code == 0)
        let schema = try scratch.firn("schema", "out.parquet", "--json").out
        for (name, type) in [("id", "int?"), ("r", "double?"), ("m", "any"), ("b", "data?"), ("id_2", "int?"), ("w", "int?")] {
            #expect(schema.contains("{\"name\":\"\(name)\",\"type\":\"\(type)"), "\(name): \(schema)")
        }
    }

    @Test(arguments: [
        (["SELECT 1", "--format", "sqlite"], "--output"), (["SELECT 1", "--format", "firn"], "--output"),
        (["SELECT 1", "-o", "out"], "--format"), (["SELECT 1", "-o", "out.csv", "--format", "table"], "for people"),
        (["SELECT 1", "-o", "out.csv", "--row-group", "5"], "Parquet only"),
        (["SELECT 1; SELECT 2", "-o", "out.json"], "several statements"),
        (["CREATE TEMP TABLE t(a); INSERT INTO t VALUES (1) RETURNING a", "-o", "out.parquet"], "RETURNING"),
        (["SELECT 1", "--json", "--format", "arrow"], "different formats"),
    ])
    func `outputs that are not possible are usage errors`(words: [String], part: String) throws {
        let scratch = try sample(), run = try FirnRun(["sql", "p.csv"] + words, in: scratch.folder)
        #expect(run.code == 2 && run.errors.contains(part), "\(run.code) \(run.errors)")
    }

    @Test(arguments: OutsideFormat.all) func `info prints the format, types and columns of a file`(format: OutsideFormat) throws {
        let scratch = try sample(), target = "t.\(format.name)"
        #expect(try scratch.firn("convert", "p.csv", target, "-q").code == 0)
        let run = try scratch.firn("info", target)
        #expect(run.code == 0 && run.out.hasPrefix("\(target): ") && run.out.contains("2 columns"), "\(run.out)\(run.errors)")
        #expect(run.out.contains("2 rows") == ["parquet", "arrow", "arrows"].contains(format.name), "\(run.out)")
        let json = try scratch.firn("info", target, "--json").out
        #expect(json.contains("\"columns\":[{\"name\":\"id\",\"type\":\"int"), "\(json)")
    }

    @Test func `info prints the types of a folder`() throws {
        let scratch = try sample()
        #expect(try scratch.firn("convert", "p.csv", "out/", "--to", "parquet", "-q").code == 0)
        let run = try scratch.firn("info", "out")
        #expect(run.code == 0 && run.out.contains("p: 2 rows, 2 columns"), "\(run.out)\(run.errors)")
    }
}
