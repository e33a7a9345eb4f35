import FirnKit
import Foundation
import Testing

/// Parquet files as inputs of the command.
@Suite struct ParquetTests {
    private func scratch(_ names: String...) throws -> Scratch {
        let scratch = try Scratch()
        for name in names {
            try FileManager.default.copyItem(
                at: Folders.fixtures.appending(path: "parquet/\(name).parquet"), to: scratch.file("\(name).parquet"))
        }
        return scratch
    }

    @Test func `the examples of the page on Parquet print what it shows`() throws {
        let scratch = try scratch("orders"), steps = try Transcript(page: "parquet.md").steps
        #expect(steps.count >= 5)
        for step in steps { #expect(try Transcript.run(step.command, in: scratch) == step.output, "\(step.command)") }
    }

    @Test func `a converted file has the rows of its source, in all formats`() throws {
        let scratch = try scratch("types-v1", "nested")
        for name in ["types-v1", "nested"] {
            #expect(try scratch.firn("convert", "\(name).parquet", "\(name).firn", "-q").code == 0)
            let rows = try scratch.firn("convert", "\(name).parquet", "-", "--to", "ndjson", "-q")
            let stored = try scratch.firn("convert", "\(name).firn", "-", "--to", "ndjson", "-q")
            #expect(rows.code == 0 && rows.out == stored.out)
            let hashes = try ["parquet", "firn"].map { try scratch.firn("hash", "\(name).\($0)").out.prefix(32) }
            #expect(hashes[0] == hashes[1] && hashes[0].count == 32)
        }
        let difference = try scratch.firn("diff", "nested.parquet", "nested.firn", "--key", "id")
        #expect(difference.code == 0, "\(difference.out) \(difference.errors)")
    }

    @Test func `a query skips row groups and columns that it does not need`() throws {
        let scratch = try scratch("orders")
        let plan = try scratch.firn("query", "orders.parquet", "id > 2", "--select", "id,tags", "--explain")
        #expect(plan.out.contains("1 of 2 visited, 1 skipped by zones"), "\(plan.out)")
        #expect(plan.out.contains("parquet: 1 of 2 row groups read"), "\(plan.out)")
        // The sizes of the chunks of both columns in the second row group: 96 and 88 bytes.
        #expect(plan.out.contains("pages: 2 read (184 bytes), 0 passed over"), "\(plan.out)")
        let sql = try scratch.firn("sql", "orders.parquet", "select sum(price) from orders")
        #expect(sql.code == 0 && sql.out.contains("144.95"), "\(sql.out) \(sql.errors)")
        let chosen = try scratch.firn("convert", "orders.parquet", "-", "--to", "csv", "-c", "price,customer.city", "-q")
        #expect(chosen.out == "price,customer.city\n19.90,Oslo\n5.00,\n,\n120.05,Bonn\n", "\(chosen.out) \(chosen.errors)")
        let wrong = try scratch.firn("convert", "orders.parquet", "x.csv", "-c", "prize")
        #expect(wrong.code == 2 && wrong.errors.contains("did you mean \"price\"?"), "\(wrong.errors)")
    }

    @Test func `a file of many columns and few rows needs little memory`() throws {
        let scratch = try Scratch(), columns = 0..<600
        let rows = (0..<3).map { row in columns.map { $0 % 2 == 0 ? "text \(row)" : "\($0 * row)" }.joined(separator: ",") }
        try scratch.write("w.csv", ([columns.map { "c\($0)" }.joined(separator: ",")] + rows).joined(separator: "\n") + "\n")
        #expect(try scratch.firn("convert", "w.csv", "w.parquet", "-q").code == 0)
        let run = try scratch.firn("convert", "w.parquet", "w.firn", "--memory", "64MB", "-q")
        #expect(run.code == 0, "\(run.errors)")
        #expect(try scratch.firn("diff", "w.csv", "w.firn", "--key", "c1").code == 0)
    }

    @Test func `damage and unknown features are errors with the column and the offset`() throws {
        let scratch = try scratch("types-v1")
        var bytes = try Array(Data(contentsOf: scratch.file("types-v1.parquet")))
        bytes[60] ^= 0x55
        try Data(bytes).write(to: scratch.file("flipped.parquet"))
        for words in [["convert", "flipped.parquet", "out.firn"], ["query", "flipped.parquet"]] {
            let run = try FirnRun(words, in: scratch.folder)
            #expect(run.code == 4 && run.errors.contains("column \"") && run.errors.contains("row group 0"), "\(run.code) \(run.errors)")
            #expect(run.errors.contains("flipped.parquet at byte "), "\(run.errors)")
            #expect(!run.errors.contains("firn verify"), "\(run.errors)")
        }
        #expect(!scratch.has("out.firn"))
        try Data(bytes.dropLast(9)).write(to: scratch.file("cut.parquet"))
        let cut = try scratch.firn("schema", "cut.parquet")
        #expect(cut.code == 4 && cut.errors.contains("does not end with \"PAR1\""), "\(cut.errors)")
        try scratch.write("text.parquet", "a,b\n1,2\n")
        let text = try scratch.firn("schema", "text.parquet")
        #expect(text.code == 4 && text.errors.contains("Parquet"), "\(text.errors)")
        let rejects = try scratch.firn("convert", "types-v1.parquet", "x.firn", "--rejects", "r")
        #expect(rejects.code == 2 && rejects.errors.contains("--rejects applies to CSV and JSON only"), "\(rejects.errors)")
    }

    @Test func `names of folders are columns, and a column of the files has precedence`() throws {
        let scratch = try scratch("orders")
        for (folder, name) in [("s/d=2024-01-02/k=a%20b/id=7", "x"), ("s/d=2024-01-03/k=__HIVE_DEFAULT_PARTITION__/id=8", "y")] {
            try FileManager.default.createDirectory(at: scratch.file(folder), withIntermediateDirectories: true)
            try FileManager.default.copyItem(at: scratch.file("orders.parquet"), to: scratch.file("\(folder)/\(name).parquet"))
        }
        let run = try scratch.firn("query", "s", "id == 1", "--select", "id,d,k", "--format", "csv")
        #expect(run.out == "id,d,k\n1,2024-01-02,a b\n1,2024-01-03,\n", "\(run.out) \(run.errors)")
        #expect(run.errors.contains("columns from the names of folders: \"d\", \"k\""), "\(run.errors)")
    }

    @Test(arguments: ["firn", "arrow"]) func `names of folders are columns for other columnar formats, too`(format: String) throws {
        let scratch = try scratch("orders")
        for year in [2023, 2024] {
            try FileManager.default.createDirectory(at: scratch.file("s/year=\(year)"), withIntermediateDirectories: true)
            #expect(try scratch.firn("convert", "orders.parquet", "s/year=\(year)/a.\(format)").code == 0)
        }
        let run = try scratch.firn("query", "s", "id == 1", "--select", "id,year", "--format", "csv")
        #expect(run.out == "id,year\n1,2023\n1,2024\n", "\(run.out) \(run.errors)")
        #expect(run.errors.contains("columns from the names of folders: \"year\""), "\(run.errors)")
    }
}
