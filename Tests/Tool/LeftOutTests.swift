import FirnKit
import Foundation
import Testing

/// What a command leaves out or cannot do is reported: original texts, columns, keys, names of folders.
@Suite struct LeftOutTests {
    private let scratch: Scratch

    init() throws {
        scratch = try Scratch()
        let rows = (1...2000).map { "\($0),\($0 == 7 ? "1999 (est.)" : String(1900 + $0 % 99))\n" }.joined()
        try scratch.write("a.csv", "id,year\n" + rows)
        try scratch.write("b.csv", "id,year\n" + rows.replacing("1999 (est.)", with: "see ticket 5"))
        try scratch.write("more.csv", "id,year\n" + rows + "2001,1950 (est.)\n")
        // The same rows in another order.
        try scratch.write("turned.csv", "id,year\n" + rows.split(separator: "\n").reversed().map { "\($0)\n" }.joined())
    }

    @Test(arguments: [false, true]) func `diff reports texts of null cells that differ`(stored: Bool) throws {
        var names = ["a.csv", "b.csv"]
        if stored {
            for name in names { #expect(try scratch.firn("convert", "--key", "id", name, name + ".firn").code == 0) }
            names = names.map { $0 + ".firn" }
        }
        let run = try scratch.firn("diff", names[0], names[1], "--key", "id")
        #expect(run.code == 0 && run.out.isEmpty)
        #expect(
            run.errors.contains(
                "column \"year\": original texts that are not values differ (1 in \(names[0]), 1 in \(names[1])); values are compared, not texts"
            ))
    }

    @Test func `diff reports nothing if the same keys have the same texts`() throws {
        for other in ["a.csv", "turned.csv"] {
            let run = try scratch.firn("diff", "a.csv", other, "--key", "id")
            #expect(run.code == 0 && !run.errors.contains("original texts"), "\(run.errors)")
        }
        // A row without a key does not change how the texts of other rows are compared.
        let some = "id,v\n" + (1...40).map { "\($0),\($0 % 4 == 0 ? "NA" : "7")\n" }.joined()
        try scratch.write("s.csv", some)
        try scratch.write("t.csv", some + ",5\n")
        let grown = try scratch.firn("diff", "s.csv", "t.csv", "--key", "id")
        #expect(grown.code == 1 && grown.out.contains("1 added") && !grown.errors.contains("original texts"), "\(grown.errors)")
        let ignored = try scratch.firn("diff", "a.csv", "b.csv", "--key", "id", "--ignore", "year")
        #expect(!ignored.errors.contains("original texts"))
    }

    @Test func `diff of two versions reports original texts that a patch has lost`() throws {
        #expect(try scratch.firn("convert", "--key", "id", "a.csv", "v.firn").code == 0)
        try scratch.write("next.csv", try scratch.read("a.csv") + "3000,1999\n")
        #expect(try scratch.firn("diff", "a.csv", "next.csv", "--key", "id", "--changes", "c.firn").code == 1)
        #expect(try scratch.firn("patch", "v.firn", "c.firn").code == 0)
        let grown = try scratch.firn("diff", "v.firn@1", "v.firn@2")
        #expect(grown.code == 1 && !grown.errors.contains("original texts"), "\(grown.errors)")
        // A patch has no original texts: the text of row 7 is lost when the row is replaced.
        try scratch.write("without.csv", try scratch.read("next.csv").replacing("7,1999 (est.)\n", with: ""))
        #expect(try scratch.firn("diff", "next.csv", "without.csv", "--key", "id", "--changes", "d.firn").code == 1)
        #expect(try scratch.firn("patch", "v.firn", "d.firn").code == 0)
        #expect(try scratch.firn("patch", "--reverse", "v.firn", "d.firn").code == 0)
        let replaced = try scratch.firn("diff", "v.firn@2", "v.firn@4")
        #expect(replaced.code == 0 && replaced.errors.contains("(1 in v.firn@2, 0 in v.firn@4)"), "\(replaced.out)\(replaced.errors)")
    }

    @Test func `diff reports that changes contain no original texts`() throws {
        let run = try scratch.firn("diff", "a.csv", "more.csv", "--key", "id", "--changes", "c.firn")
        #expect(run.code == 1)
        #expect(run.errors.contains("(1 in a.csv, 2 in more.csv); values are compared, and the changes contain no original texts"))
    }

    @Test func `strings among the numbers of NDJSON are reported if they differ`() throws {
        let rows = (2...9).map { "{\"id\":\($0),\"v\":\($0 * 3)}\n" }.joined()
        try scratch.write("a.ndjson", "{\"id\":1,\"v\":\"12\"}\n" + rows)
        try scratch.write("b.ndjson", "{\"id\":1,\"v\":12}\n" + rows)
        let run = try scratch.firn("diff", "a.ndjson", "b.ndjson", "--key", "id")
        #expect(
            run.code == 0 && run.errors.contains("column \"v\": original texts that are not values differ (1 in a.ndjson, 0 in b.ndjson)"))
    }

    @Test func `rows of a query in a file report the original texts that they do not have`() throws {
        let printed = try scratch.firn("query", "a.csv", "id == 7", "--format", "csv")
        #expect(printed.out == "id,year\n7,\n")
        #expect(printed.errors.contains("column \"year\": values are written, not original texts; 'firn convert --where' keeps them"))
        #expect(try scratch.firn("convert", "--where", "id == 7", "a.csv", "-", "--to", "csv").out == "id,year\n7,1999 (est.)\n")
        for words in [["--format", "csv", "-s", "id"], []] {
            #expect(!(try FirnRun(["query", "a.csv", "id == 7"] + words, in: scratch.folder).errors.contains("original texts")))
        }
    }

    @Test func `files without a key are not called encrypted if there are several`() throws {
        let run = try scratch.firn("info", "*.csv")
        #expect(run.code == 0 && run.out.hasPrefix("*.csv: 4 files, csv, ") && !run.out.contains("encrypted"))
        #expect(try scratch.firn("info", "--json", "*.csv").out.contains("\"encrypted\":false"))
    }

    @Test func `info describes a pattern of firn files`() throws {
        for name in ["a", "b"] { #expect(try scratch.firn("convert", "\(name).csv", "\(name).firn").code == 0) }
        let run = try scratch.firn("info", "*.firn")
        #expect(run.code == 0 && run.out.hasPrefix("*.firn: 2 files, firn, "), "\(run.out)\(run.errors)")
    }

    @Test func `a file without types is refused with this reason`() throws {
        guard let empty = SharedData.file("realm/empty_committed.realm") else { return }
        for (name, format) in [("e.parquet", "a Parquet file"), ("e.arrow", "an Arrow file"), ("e.csv", "CSV")] {
            let run = try scratch.firn("convert", empty.path, name)
            #expect(
                run.code == 2 && run.errors.contains("\(format) contains the rows of a type, and the input has no types"), "\(run.errors)")
            #expect(!scratch.has(name))
        }
    }

    @Test func `rows of an encrypted file are written to an encrypted file`() throws {
        try Data((0..<64).map { UInt8($0) }).write(to: scratch.file("key"))
        #expect(try scratch.firn("convert", "--key", "id", "--new-key-file", "key", "a.csv", "e.firn").code == 0)
        #expect(try scratch.firn("query", "--key-file", "key", "e.firn", "id < 9", "-o", "q.firn").code == 0)
        #expect(try scratch.firn("sql", "--key-file", "key", "e.firn", "SELECT * FROM a WHERE id < 9", "-o", "s.firn").code == 0)
        for name in ["q.firn", "s.firn"] {
            #expect(try scratch.firn("query", name).code == 4)
            #expect(try scratch.firn("query", "--key-file", "key", name, "-a", "count").code == 0)
        }
    }

    @Test func `a name that implies another compression than a flag is refused`() throws {
        let run = try scratch.firn("convert", "a.csv", "a2.csv.gz", "--compress", "zst")
        #expect(run.code == 2 && run.errors.contains("the name \"a2.csv.gz\" and --compress ask for different compressions"))
        #expect(!scratch.has("a2.csv.gz"))
        #expect(try scratch.firn("convert", "a.csv", "a2.csv.gz", "--compress", "gz").code == 0)
    }

    @Test func `JSON reports columns that are null in every row`() throws {
        try scratch.write("e.csv", "a,b,c\n1,,x\n2,,y\n")
        for name in ["e.json", "e.ndjson"] {
            let run = try scratch.firn("convert", "e.csv", name)
            #expect(run.code == 0 && run.errors.contains("column \"b\" is null in every row, and is not in the output"), "\(run.errors)")
        }
        let full = try scratch.firn("convert", "--columns", "a,c", "e.csv", "f.json")
        #expect(full.code == 0 && !full.errors.contains("null in every row"))
        let query = try scratch.firn("query", "e.csv", "--format", "ndjson")
        #expect(query.out.hasPrefix("{\"a\":1,\"b\":null") && !query.errors.contains("null in every row"))
    }

    @Test func `rows without columns are not written to Arrow, which could not be read`() throws {
        try scratch.write("e.ndjson", "{}\n{}\n")
        let run = try scratch.firn("convert", "e.ndjson", "e.arrow")
        #expect(run.code == 3 && run.errors.contains("Arrow needs a column, and the rows of \"e\" have none"), "\(run.errors)")
        #expect(!scratch.has("e.arrow"))
    }

    @Test func `names of folders of CSV files that look like columns are reported`() throws {
        for day in ["1", "2"] {
            try FileManager.default.createDirectory(at: scratch.file("h/d=\(day)"), withIntermediateDirectories: true)
            try scratch.write("h/d=\(day)/x.csv", "a\n1\n")
        }
        let run = try scratch.firn("query", "h", "-a", "count", "--format", "csv")
        #expect(run.out == "count\n2\n" && run.errors.contains("names of folders such as \"d=…\" are columns of Parquet"), "\(run.errors)")
    }

    @Test func `a predicate before the file gets advice`() throws {
        let run = try scratch.firn("query", "id > 0", "a.csv")
        #expect(run.code != 0 && run.errors.contains("files come first, then one predicate: firn query FILE QUERY"))
    }

    @Test func `diff matches original texts by equal numbers of different types`() throws {
        let rows = (1...20).map { "\($0),\($0 == 7 ? "NA" : String($0 % 3))\n" }.joined()
        try scratch.write("int.csv", "id,v\n" + rows)
        try scratch.write("point.csv", "id,v\n" + rows.replacing(",", with: ".0,"))
        let run = try scratch.firn("diff", "int.csv", "point.csv", "--key", "id")
        #expect(run.code == 0 && !run.errors.contains("original texts"), "\(run.out)\(run.errors)")
    }

    @Test func `query and sql report why a column that they use is text`() throws {
        try scratch.write("late.csv", "id,v,w\n" + (1...3000).map { "\($0),\($0),x\n" }.joined() + "3001,007,y\n")
        for words in [
            ["query", "late.csv", "-a", "max(v)"], ["query", "late.csv", "v > \"5\""], ["query", "late.csv", "-S", "v", "-n", "1"],
        ] {
            #expect(try scratch.firn(words).errors.contains("column \"v\" is text: 1 of 3,001 cells"), "\(words)")
        }
        #expect(try scratch.firn("sql", "late.csv", "select max(V) from late").errors.contains("column \"v\" is text"))
        // The reason stands beside the error that it explains.
        let wrong = try scratch.firn("query", "late.csv", "v > 5")
        #expect(wrong.code == 2 && wrong.errors.contains("column \"v\" is text") && wrong.errors.contains("cannot compare"))
        for words in [["query", "late.csv", "id > 5", "-n", "1"], ["query", "late.csv", "-s", "v", "-n", "1"]] {
            #expect(try !scratch.firn(words).errors.contains("is text"), "\(words)")
        }
        #expect(try !scratch.firn("sql", "late.csv", "select max(id) as vv from late").errors.contains("is text"))
    }

    @Test func `all commands report a key that occurs twice in a JSON object`() throws {
        try scratch.write("d.ndjson", "{\"id\":1,\"a\":1,\"a\":2}\n{\"id\":2,\"a\":3}\n")
        try scratch.write("d.json", "[{\"id\":1,\"a\":1,\"a\":2},{\"id\":2,\"a\":3}]")
        for name in ["d.ndjson", "d.json"] {
            let runs = [
                ["query", name], ["sql", name, "select * from d"], ["convert", name, "-", "--to", "csv"],
                ["diff", name, name, "--key", "id"],
            ]
            for words in runs {
                let errors = try scratch.firn(words).errors
                #expect(errors.contains("the key \"a\" occurs twice in one row (line 1); its last value was used"), "\(words)")
            }
            let converted = try scratch.firn("convert", name, "-", "--to", "csv").errors
            #expect(converted.components(separatedBy: "occurs twice").count == 2)
        }
    }
}
