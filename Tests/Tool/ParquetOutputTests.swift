import FirnKit
import Foundation
import Testing

/// Parquet files as outputs of the command.
@Suite struct ParquetOutputTests {
    private func csv() throws -> Scratch {
        let scratch = try Scratch()
        try Data("id,name,price,born,n\n1,Ann,1.50,2001-02-03,007\n2,Ben,,2001-02-04,NA\n3,\"C,y\",3.25,,12\n".utf8)
            .write(to: scratch.file("a.csv"))
        return scratch
    }

    @Test func `a table that goes to Parquet and back has the same hash, schema and text`() throws {
        let scratch = try csv()
        #expect(try scratch.firn("convert", "--key", "id", "a.csv", "a.firn", "-q").code == 0)
        #expect(try scratch.firn("convert", "a.firn", "a.parquet", "-q").code == 0)
        #expect(try scratch.firn("convert", "a.parquet", "b.firn", "-q").code == 0)
        #expect(try scratch.firn("convert", "b.firn", "b.csv", "-q").code == 0)
        #expect(try Data(contentsOf: scratch.file("a.csv")) == Data(contentsOf: scratch.file("b.csv")))
        let hashes = try ["a.firn", "a.parquet", "b.firn"].map { try scratch.firn("hash", $0).out.prefix(32) }
        #expect(Set(hashes).count == 1 && hashes[0].count == 32)
        let schemas = try ["a.firn", "b.firn"].map { try scratch.firn("schema", "--json", $0).out }
        #expect(schemas[0] == schemas[1] && schemas[0].contains(#""key":["id"]"#))
        #expect(try scratch.firn("diff", "a.csv", "a.parquet", "--key", "id").code == 0)
    }

    @Test func `every input becomes Parquet, with the columns and rows that are selected`() throws {
        let scratch = try csv()
        #expect(try scratch.firn("convert", "a.csv", "a.parquet", "--columns", "name,id", "--where", "id > 1", "-q").code == 0)
        #expect(try scratch.firn("query", "a.parquet", "--format", "csv").out == "name,id\nBen,2\n\"C,y\",3\n")
        #expect(try scratch.firn("convert", "a.parquet", "b.parquet", "--compression", "snappy", "--row-group", "1", "-q").code == 0)
        #expect(try scratch.firn("query", "b.parquet", "id == 3", "--explain").out.contains("1 of 2 row groups read"))
        try Data(#"[{"a":[[1],[]],"m":{"x":1}},{"a":null,"m":{"x":2}}]"#.utf8).write(to: scratch.file("n.json"))
        #expect(try scratch.firn("convert", "n.json", "n.parquet", "-q").code == 0)
        let hashes = try ["n.json", "n.parquet"].map { try scratch.firn("hash", $0).out.prefix(32) }
        #expect(hashes[0] == hashes[1] && hashes[0].count == 32)
        let pipe = try scratch.firn("convert", "n.parquet", "-", "--to", "parquet", "-q")
        #expect(pipe.code == 0 && pipe.out.hasPrefix("PAR1"))
    }

    @Test func `rows of a query are written to a file of any format`() throws {
        let scratch = try csv()
        #expect(try scratch.firn("query", "a.csv", "id < 3", "-s", "id,name", "-o", "q.parquet").out.isEmpty)
        #expect(try scratch.firn("query", "a.csv", "-g", "name", "-a", "count, sum(price) as total", "-o", "g.parquet").code == 0)
        #expect(try scratch.firn("query", "g.parquet", "name == 'Ben'", "--format", "csv").out.hasPrefix("name,count,total\nBen,1,"))
        #expect(try scratch.firn("query", "q.parquet", "-o", "q.firn").code == 0)
        #expect(try scratch.firn("query", "q.firn", "-o", "q.csv").code == 0)
        #expect(try String(contentsOf: scratch.file("q.csv"), encoding: .utf8) == "id,name\n1,Ann\n2,Ben\n")
        #expect(try scratch.firn("query", "a.csv", "--format", "parquet").out.hasPrefix("PAR1"))
        let exists = try scratch.firn("query", "a.csv", "-o", "q.csv")
        #expect(exists.code == 5 && exists.errors.contains("--force"))
        #expect(try scratch.firn("query", "a.csv", "-o", "q.csv", "--force").code == 0)
    }

    @Test(arguments: [
        (["query", "a.csv", "--format", "firn"], "--output"), (["query", "a.csv", "-o", "x.unknown"], "--format"),
        (["query", "a.csv", "-o", "x.parquet.gz"], "compressed"), (["query", "a.csv", "--json", "--format", "parquet"], "omit one"),
        (["query", "a.csv", "--compression", "zstd"], "Parquet and Arrow only"),
        (["convert", "a.csv", "x.csv", "--row-group", "5"], "Parquet only"),
        (["convert", "a.csv", "x.parquet", "--compression", "zip"], "not known"),
        (["convert", "a.csv", "x.parquet", "--compression", "zstd:99"], "from 1 to 22"),
        (["convert", "a.csv", "x.parquet", "--compression", "snappy:1"], "no levels"),
        (["convert", "a.csv", "x.parquet", "--row-group", "0"], "above 0"),
        (["convert", "a.csv", "x.parquet", "--compress", "gz"], "--compression"),
    ])
    func `flags that do not fit are usage errors`(words: [String], part: String) throws {
        let scratch = try csv(), run = try FirnRun(words, in: scratch.folder)
        #expect(run.code == 2 && run.errors.contains(part), "\(run.code) \(run.errors)")
        #expect(!scratch.has("x.parquet") && !scratch.has("x.csv"))
    }

    @Test func `several types become a folder, with a file for each`() throws {
        let scratch = try Scratch()
        try Data("id\n1\n2\n".utf8).write(to: scratch.file("A.csv"))
        #expect(try scratch.firn("convert", "A.csv", "A.firn", "-q").code == 0)
        #expect(try scratch.firn("convert", "A.firn", "one/", "--to", "parquet", "-q").code == 0)
        #expect(try scratch.firn("query", "one/A.parquet", "-a", "count", "--format", "csv").out == "count\n2\n")
        let again = try scratch.firn("convert", "A.firn", "one", "--to", "parquet", "-q")
        #expect(again.code == 5 && again.errors.contains("--force"))
    }

    @Test func `a failed conversion leaves the target unchanged`() throws {
        let scratch = try csv()
        try Data("kept".utf8).write(to: scratch.file("x.parquet"))
        try Data(#"{"v":1,"type":"a","key":[],"columns":[{"name":"id","type":"int","logical":"int8"}]}"#.utf8).write(
            to: scratch.file("s.json"))
        try Data("id\n5\n300\n".utf8).write(to: scratch.file("b.csv"))
        let run = try scratch.firn("convert", "b.csv", "x.parquet", "--force", "--schema", "s.json")
        #expect(run.code == 3 && run.errors.contains("column \"id\": 300 is outside of the range of int8"), "\(run.code) \(run.errors)")
        #expect(try String(contentsOf: scratch.file("x.parquet"), encoding: .utf8) == "kept")
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.folder.path).count == 4)
    }

    @Test func `original texts are used only in a file that Firn wrote, because other programs move rows and keep the metadata`() throws {
        let scratch = try Scratch(), text = "id,x\n1,5.5\n2,NA\n3,2.5\n"
        try scratch.write("t.csv", text)
        #expect(try scratch.firn("convert", "t.csv", "t.parquet").code == 0)
        #expect(try scratch.firn("convert", "t.parquet", "-", "--to", "csv").out == text)
        var bytes = try Data(contentsOf: scratch.file("t.parquet"))
        let at = try #require(bytes.indices.last { bytes[$0...].starts(with: "firn version".utf8) })
        bytes[at] = UInt8(ascii: "w")
        try bytes.write(to: scratch.file("other.parquet"))
        #expect(try scratch.firn("convert", "other.parquet", "-", "--to", "csv").out == text.replacing("NA", with: ""))
    }
}
