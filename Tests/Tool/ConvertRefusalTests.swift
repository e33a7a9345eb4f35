import Foundation
import Testing

/// Input that `convert` refuses or reports instead of misreading it.
@Suite struct ConvertRefusalTests {
    @Test func `binary files are not read as Latin-1, and text that is read as Latin-1 is reported`() throws {
        let scratch = try Scratch()
        let picture: [UInt8] =
            [0x89, 0x50, 0x4E, 0x47, 13, 10, 26, 10, 0, 0, 0, 13] + Array("IHDR".utf8) + Array(repeating: 0xC3, count: 60)
        let files: [(String, [UInt8], String)] = [
            ("a.png", picture, "a binary file"), ("a.csv", picture, "a binary file"),
            ("a.arrow", Array(repeating: 0xFF, count: 4) + [0x10, 1, 0, 0] + Array(repeating: 0, count: 90), "a binary file"),
            ("b.csv", Array("a,b\n1,2\n".utf8) + [0xFF, 0, 0xFE], "a binary file"),
            ("b.arrow", Array("ARROW1\0\0".utf8) + Array(repeating: 0xFF, count: 40), "Arrow file"),
            ("b.parquet", Array("PAR1".utf8) + [0x15, 4, 0xFF, 0xFF], "a Parquet file"),
            ("b.db", Array("SQLite format 3\0".utf8) + [0x10, 0, 0xFF, 0xFF], "SQLite database"),
        ]
        for (name, bytes, kind) in files {
            try Data(bytes).write(to: scratch.file(name))
            // The content is also checked if the format is given explicitly.
            for flags in [[], ["--from", "csv"]] {
                let run = try FirnRun(["convert", name, "out.firn"] + flags, in: scratch.folder)
                // These bytes could begin a stream of Arrow, which ends too early.
                let part = name == "a.arrow" && flags.isEmpty ? "a.arrow at byte 8: a message is outside the file" : kind
                #expect(
                    [3, 4].contains(run.code) && run.errors.contains(part) && !run.errors.contains("latin-1") && !scratch.has("out.firn"),
                    "\(name) \(flags): \(run.code) \(run.errors)")
            }
        }
        try Data(Array("a,b\n1,caf".utf8) + [0xE9, 10]).write(to: scratch.file("l.csv"))
        let strict = try scratch.firn("convert", "l.csv", "out.firn", "--encoding", "utf-8")
        #expect(
            strict.code == 3 && strict.errors.contains("l.csv:2:6: text is not UTF-8") && strict.errors.contains("--encoding"),
            "\(strict.errors)")
        let latin = try scratch.firn("convert", "l.csv", "out.firn")
        #expect(latin.code == 0 && latin.errors.contains("text is not UTF-8 and was read as latin-1"), "\(latin.errors)")
        // A zero byte in a text is an ordinary character.
        try Data("a,b\n1,x\0y\n".utf8).write(to: scratch.file("z.csv"))
        #expect(try scratch.firn("convert", "z.csv", "out.csv", "-q").code == 0 && scratch.read("out.csv") == scratch.read("z.csv"))
    }

    @Test func `a .firn target is not compressed as a whole`() throws {
        let scratch = try Scratch()
        try scratch.write("in.csv", "a\n1\n")
        for words in [["x.firn.gz"], ["x.firn", "--compress", "xz"], ["x", "--to", "firn.zst"]] {
            let run = try FirnRun(["convert", "in.csv"] + words, in: scratch.folder)
            #expect(run.code == 2 && run.errors.contains("a .firn file cannot be compressed as a whole"), "\(run.code) \(run.errors)")
        }
        let twice = try scratch.firn("convert", "in.csv", "x", "--to", "csv.gz", "--compress", "xz")
        #expect(twice.code == 2 && twice.errors.contains("different compressions"), "\(twice.errors)")
        #expect(scratch.names == ["in.csv"])
    }

    @Test func `cells whose text changes under a schema are counted, and numbers whose value changes are refused`() throws {
        let scratch = try Scratch()
        try scratch.write("in.csv", "id,x\n7,1.5\n007,1.50\n\"08\",\n")
        try scratch.write("int.json", #"{"columns": [{"name": "id", "type": "int"}, {"name": "x", "type": "double?"}]}"#)
        let run = try scratch.firn("convert", "in.csv", "out.firn", "--schema", "int.json")
        #expect(run.code == 0, "\(run.errors)")
        #expect(
            run.errors.contains("column \"id\" (int): 2 cells are written back differently: the first \"007\" as \"7\" in line 3"),
            "\(run.errors)")
        #expect(
            run.errors.contains("column \"x\" (double?): 1 cell is written back differently: \"1.50\" as \"1.5\" in line 3"),
            "\(run.errors)")
        #expect(try scratch.firn("convert", "out.firn", "-", "--to", "csv").out == "id,x\n7,1.5\n7,1.5\n8,\n")
        try scratch.write("big.csv", "id\n9007199254740993\n1\n")
        try scratch.write("double.json", #"{"columns": [{"name": "id", "type": "double"}]}"#)
        let changed = try scratch.firn("convert", "big.csv", "big.firn", "--schema", "double.json")
        #expect(
            changed.code == 3 && changed.errors.contains("big.csv:2:1") && changed.errors.contains("9007199254740993"),
            "\(changed.code) \(changed.errors)")
        #expect(!scratch.has("big.firn"))
        #expect(try scratch.firn("convert", "big.csv", "big.firn", "--schema", "double.json", "--rejects", "bad.csv").code == 3)
        #expect(try scratch.read("bad.csv") == "9007199254740993\n")
    }

    @Test func `a column of the schema that the input lacks is refused, and the error suggests the most similar name`() throws {
        let scratch = try Scratch()
        try scratch.write("in.csv", "name,age\na,1\n")
        try scratch.write("s.json", #"{"columns": [{"name": "nmae", "type": "string"}]}"#)
        let run = try scratch.firn("convert", "in.csv", "out.firn", "--schema", "s.json")
        #expect(
            run.code == 2 && run.errors.contains("\"nmae\"") && run.errors.contains("did you mean \"name\"?") && !scratch.has("out.firn"),
            "\(run.code) \(run.errors)")
    }

    @Test func `each column is written with the null text that it was read with`() throws {
        let scratch = try Scratch()
        let text = "a,b,c\n1,NA,\n-,2,x\n3,NA,\n"
        try scratch.write("in.csv", text)
        let run = try scratch.firn("convert", "in.csv", "out.firn", "--null", "NA,-", "--lossless")
        #expect(run.code == 0 && !run.errors.contains("null"), "\(run.code) \(run.errors)")
        #expect(try scratch.firn("convert", "out.firn", "-", "--to", "csv").out == text)
        #expect(try scratch.firn("query", "out.firn", "b == NULL", "--agg", "count", "--format", "csv").out.hasSuffix("2\n"))
    }

    @Test func `a symbolic link as target is followed, not replaced`() throws {
        let scratch = try Scratch()
        try scratch.write("in.csv", "a\n1\n")
        try FileManager.default.createDirectory(at: scratch.file("data"), withIntermediateDirectories: true)
        for (link, end) in [("l.csv", "data/t.csv"), ("l.firn", "data/t.firn"), ("new.csv", "data/new.csv")] {
            if !link.hasPrefix("new") { try scratch.write(end, "old") }
            try FileManager.default.createSymbolicLink(atPath: scratch.file(link).path, withDestinationPath: end)
            let run = try scratch.firn("convert", "in.csv", link, "--force")
            #expect(run.code == 0, "\(run.errors)")
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: scratch.file(link).path) == end)
            #expect(try scratch.firn("convert", end, "-", "--to", "csv").out == "a\n1\n")
        }
        #expect(try scratch.firn("compact", "l.firn").code == 0)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: scratch.file("l.firn").path) == "data/t.firn")
    }

    @Test func `the error for duplicate keys names the file and does not propose --duplicates, which convert lacks`() throws {
        let scratch = try Scratch()
        try scratch.write("people.csv", "id,sex\n1,m\n2,m\n")
        let run = try scratch.firn("convert", "people.csv", "out.firn", "--key", "sex")
        #expect(run.code == 3 && run.errors.contains("people.csv") && !run.errors.contains("--duplicates"), "\(run.code) \(run.errors)")
    }

    @Test func `rejected rows of CSV and of JSON go to one file, in the order of the inputs`() throws {
        let scratch = try Scratch()
        try scratch.write("a.csv", "a\n1\n2,3\n")
        try scratch.write("b.ndjson", "{\"a\":1}\n{\"a\":\n")
        let run = try scratch.firn("convert", "a.csv", "b.ndjson", "out.firn", "--rejects", "r")
        #expect(run.code == 3 && run.errors.contains("2 rejected rows in r"), "\(run.code) \(run.errors)")
        #expect(try scratch.read("r") == "2,3\n{\"a\":\n")
        #expect(try scratch.firn("query", "out.firn", "--format", "csv").out == "a\n1\n1\n")
    }

    @Test func `files of other formats are reported by the name of their format`() throws {
        let scratch = try Scratch()
        for (magic, name) in [
            ("PAR1\u{15}\u{4}", "Parquet"), ("SQLite format 3\0", "SQLite"), ("PK\u{3}\u{4}", "ZIP"), ("ARROW1\0\0", "Arrow"),
            (String(repeating: "\0", count: 16) + "T-DB\u{9}\u{9}\0\0", ".realm"),
        ] {
            try scratch.write("data.csv", magic + "\0\0\0")
            let run = try scratch.firn("convert", "data.csv", "out.firn")
            #expect(run.code == 4 && run.errors.contains(name) && !run.errors.contains("latin-1"), "\(name): \(run.code) \(run.errors)")
        }
        try scratch.write("data.csv", "PAR1,x\n1,2\n")
        #expect(try scratch.firn("convert", "data.csv", "out.firn").code == 0)
    }
}
