import Foundation
import Testing

/// The options of `convert` for how to read input and what to keep, on real tables.
@Suite struct ReadingFlagTests {
    private func fixture(_ name: String, in scratch: Scratch) throws -> String {
        let text = try String(contentsOf: Folders.fixtures.appending(path: "csv/\(name)"), encoding: .utf8)
        try scratch.write(name, text)
        return text
    }

    @Test func `a null text is null in the firn file and the same text again in CSV`() throws {
        let scratch = try Scratch()
        for (name, column) in [("airports.csv", "tzone"), ("planes.csv", "speed")] {
            let text = try fixture(name, in: scratch)
            let run = try scratch.firn("convert", name, "t.firn", "--null", "NA", "--lossless", "--force")
            #expect(run.code == 0, "\(run.errors)")
            #expect(!run.errors.contains("null"), "a single null text needs no remark: \(run.errors)")
            #expect(try scratch.firn("convert", "t.firn", "-", "--to", "csv").out == text)
            let nulls = text.split(separator: "\n").count { $0.hasSuffix(",NA") || $0.contains(",NA,") }
            let found = try scratch.firn("query", "t.firn", "\(column) == NULL", "--agg", "count", "--format", "csv").out
            #expect(found.split(separator: "\n").last == "\(nulls)", "\(found)")
        }
        // Without the option NA is an ordinary text.
        _ = try scratch.firn("convert", "planes.csv", "plain.firn")
        #expect(try scratch.firn("convert", "plain.firn", "-", "--to", "ndjson").out.contains("\"speed\":\"NA\""))
    }

    @Test func `several null texts of a column become one in CSV, and this is reported`() throws {
        let scratch = try Scratch()
        try scratch.write("in.csv", "a,b\n1,NA\n,n/a\n3,\"NA\"\n")
        let run = try scratch.firn("convert", "in.csv", "out.firn", "--null", "NA,n/a")
        #expect(
            run.code == 0 && run.errors.contains("column \"b\": several texts stand for null in 2 cells (\"NA\", \"n/a\")"), "\(run.errors)"
        )
        #expect(!run.errors.contains("column \"a\""), "\(run.errors)")
        #expect(try scratch.firn("convert", "out.firn", "-", "--to", "csv").out == "a,b\n1,\n,\n3,\"NA\"\n")
        #expect(try scratch.firn("convert", "in.csv", "same.firn", "--null", "NA", "--null", "n/a", "--lossless").code == 3)
        #expect(!scratch.has("same.firn"))
        // An empty cell in quotes is not null and must not become null.
        try scratch.write("empty.csv", "a,b\n\"\",NA\nx,y\n")
        #expect(try scratch.firn("convert", "empty.csv", "empty.firn", "--null", "NA").code == 0)
        #expect(try scratch.firn("convert", "empty.firn", "-", "--to", "csv").out == "a,b\n\"\",NA\nx,y\n")
    }

    @Test func `rows with one cell too many are set aside unchanged`() throws {
        let scratch = try Scratch()
        let text = try fixture("constituents-2012.csv", in: scratch)
        let plain = try scratch.firn("convert", "constituents-2012.csv", "out.firn", "--ragged", "error")
        #expect(
            plain.code == 3 && plain.errors.contains("constituents-2012.csv:31:") && plain.errors.contains("expected 3 cells, found 4"),
            "\(plain.errors)")
        #expect(!scratch.has("out.firn"))
        let run = try scratch.firn("convert", "constituents-2012.csv", "out.firn", "--rejects", "bad.csv")
        #expect(run.code == 3 && run.errors.contains("3 rejected rows in bad.csv"), "\(run.errors)")
        let bad = text.split(separator: "\n", omittingEmptySubsequences: false).filter { $0.hasSuffix("Washington D.C") }
        #expect(try scratch.read("bad.csv") == bad.map { $0 + "\n" }.joined())
        let good = text.split(separator: "\n", omittingEmptySubsequences: false).filter { !$0.hasSuffix("Washington D.C") }
        #expect(try scratch.firn("convert", "out.firn", "-", "--to", "csv").out == good.joined(separator: "\n"))
        // Without rejected rows the file is empty, and the exit code is that of success.
        try scratch.write("good.csv", "a\n1\n")
        #expect(try scratch.firn("convert", "good.csv", "good.firn", "--rejects", "none.csv").code == 0)
        #expect(try scratch.read("none.csv").isEmpty)
        // An existing file of rejected rows is not overwritten.
        let again = try scratch.firn("convert", "constituents-2012.csv", "again.firn", "--rejects", "bad.csv")
        #expect(again.code == 5 && again.errors.contains("--force") && !scratch.has("again.firn"), "\(again.code) \(again.errors)")
        #expect(scratch.names == ["bad.csv", "constituents-2012.csv", "good.csv", "good.firn", "none.csv", "out.firn"])
    }

    @Test func `cells that do not fit a schema are an error that names them, or are set aside`() throws {
        let scratch = try Scratch()
        try scratch.write("in.csv", "id,when\n1,2016-09-29\nx,2016-09-30\n3,soon\n4,\n")
        try scratch.write(
            "schema.json",
            "{\n  \"v\": 1,\n  \"type\": \"Event\",\n  \"key\": [\"id\"],\n  \"columns\": [\n    {\"name\": \"id\", \"type\": \"int\"},\n    {\"name\": \"when\", \"type\": \"date?\", \"notation\": \"date\"}\n  ]\n}\n"
        )
        let plain = try scratch.firn("convert", "in.csv", "out.firn", "--schema", "schema.json")
        #expect(
            plain.code == 3 && plain.errors.contains("in.csv:3:1") && plain.errors.contains("\"x\"") && plain.errors.contains("\"id\""),
            "\(plain.errors)")
        let run = try scratch.firn("convert", "in.csv", "out.firn", "--schema", "schema.json", "--rejects", "bad.csv")
        #expect(run.code == 3, "\(run.errors)")
        #expect(try scratch.read("bad.csv") == "x,2016-09-30\n3,soon\n")
        #expect(try scratch.firn("convert", "out.firn", "-", "--to", "csv").out == "id,when\n1,2016-09-29\n4,\n")
        // `convert` accepts what `schema` prints.
        let printed = try scratch.firn("schema", "out.firn", "--json").out
        #expect(printed.contains("\"key\":[\"id\"]") && printed.contains("\"notation\":\"date\""), "\(printed)")
        try scratch.write("printed.json", printed)
        try scratch.write("more.csv", "when,id\n2020-02-29,7\n")
        #expect(try scratch.firn("convert", "more.csv", "more.firn", "--schema", "printed.json").code == 0)
        let types = { (line: String) in
            line.split(separator: "{").map(String.init).filter { $0.hasPrefix("\"name\"") }.map { $0.prefix { $0 != "}" } }.sorted()
        }
        #expect(types(try scratch.firn("schema", "more.firn", "--json").out) == types(printed))
    }

    @Test func `a schema that is not JSON or has an unknown type is refused with the position`() throws {
        let scratch = try Scratch()
        try scratch.write("in.csv", "id\n1\n")
        for (text, words) in [
            ("{\"columns\": [\n  {\"name\" \"id\"}]}", "schema.json:2:"),
            ("{\"columns\": [{\"name\": \"id\", \"type\": \"number\"}]}", "unknown type"),
            ("{\"columns\": [{\"name\": \"id\", \"name\": \"x\", \"type\": \"int\"}]}", "same name"), ("{}", "no array"),
            ("", "schema.json:1:1"),
        ] {
            try scratch.write("schema.json", text)
            let run = try scratch.firn("convert", "in.csv", "out.firn", "--schema", "schema.json")
            #expect(run.code == 3 && run.errors.contains(words) && !scratch.has("out.firn"), "\(text): \(run.code) \(run.errors)")
        }
    }

    @Test func `selected columns keep their dialect, their order and their nulls`() throws {
        let scratch = try Scratch()
        try scratch.write("in.csv", "id;name;note\r\n1;\"x\";NA\r\n2;\"y\";z\r\n")
        #expect(try scratch.firn("convert", "in.csv", "out.firn", "--columns", "note,name", "--null", "NA").code == 0)
        #expect(try scratch.firn("convert", "out.firn", "-", "--to", "csv").out == "note;name\r\nNA;\"x\"\r\nz;\"y\"\r\n")
        #expect(try scratch.firn("convert", "in.csv", "where.firn", "--columns", "name", "--where", "id > 1").code == 0)
        #expect(try scratch.firn("query", "where.firn", "--format", "ndjson").out == "{\"name\":\"y\"}\n")
        let run = try scratch.firn("convert", "in.csv", "no.firn", "--columns", "nme")
        #expect(
            (run.code == 2 || run.code == 3) && run.errors.contains("\"nme\"") && run.errors.contains("name") && !scratch.has("no.firn"),
            "\(run.errors)")
        // Files that differ in other columns make one type of the selected columns.
        try scratch.write("other.csv", "name,id\nz,3\n")
        #expect(try scratch.firn("convert", "in.csv", "other.csv", "both.firn", "--columns", "id,name").code == 0)
        #expect(
            try scratch.firn("query", "both.firn", "--format", "ndjson").out
                == "{\"id\":1,\"name\":\"x\"}\n{\"id\":2,\"name\":\"y\"}\n{\"id\":3,\"name\":\"z\"}\n")
        // Other formats are not read by column, so they are converted to a common schema first.
        try scratch.write("more.ndjson", "{\"name\":\"w\",\"id\":4}\n")
        #expect(try scratch.firn("convert", "other.csv", "more.ndjson", "mixed.firn", "--columns", "id").code == 0)
        #expect(try scratch.firn("query", "mixed.firn", "--format", "ndjson").out == "{\"id\":3}\n{\"id\":4}\n")
    }

    @Test func `every profile stores the same rows`() throws {
        let scratch = try Scratch()
        let text = try fixture("planes.csv", in: scratch)
        for profile in ["fast", "default", "small"] {
            #expect(
                try scratch.firn("convert", "planes.csv", "\(profile).firn", "--profile", profile, "--key", "tailnum", "--type", "Plane")
                    .code == 0)
            #expect(try scratch.firn("convert", "\(profile).firn", "-", "--to", "csv").out == text)
            let schema = try scratch.firn("schema", "\(profile).firn", "--json").out
            #expect(
                schema.hasPrefix(
                    "{\"v\":1,\"type\":\"Plane\",\"key\":[\"tailnum\"],\"columns\":[{\"name\":\"tailnum\",\"type\":\"string\"},"),
                "\(schema)")
        }
        #expect(try scratch.firn("convert", "planes.csv", "x.firn", "--profile", "tiny").code == 2)
    }

    @Test func `a column with duplicates, or an unknown column, is refused as key`() throws {
        let scratch = try Scratch()
        _ = try fixture("planes.csv", in: scratch)
        for (key, code, words) in [("model", 3, "A320-214"), ("tailnumber", 2, "tailnum")] {
            let run = try scratch.firn("convert", "planes.csv", "out.firn", "--key", key)
            #expect(
                (run.code == code || run.code == 3) && run.errors.contains(words) && !scratch.has("out.firn"),
                "\(key): \(run.code) \(run.errors)")
        }
        #expect(try scratch.firn("convert", "planes.csv", "out.firn", "--key", "tailnum,year").code == 0)
        #expect(try scratch.firn("schema", "out.firn", "--json").out.contains("\"key\":[\"tailnum\",\"year\"]"))
    }

    @Test func `options for CSV are refused if no input is CSV`() throws {
        let scratch = try Scratch()
        try scratch.write("in.ndjson", "{\"a\":1}\n")
        for words in [["--null", "NA"], ["--no-header"], ["--delimiter", ";"]] {
            let run = try FirnRun(["convert", "in.ndjson", "out.firn"] + words, in: scratch.folder)
            #expect(run.code == 2 && run.errors.contains(words[0]), "\(words): \(run.code) \(run.errors)")
        }
        #expect(scratch.names == ["in.ndjson"])
    }
}
