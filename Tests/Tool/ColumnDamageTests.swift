import FirnKit
import Foundation
import Testing

/// Damage in one column: it does not concern the others, and messages name type, column and rows.
@Suite struct ColumnDamageTests {
    /// Returns a file with two segments, and damages the rows of its second segment in the column `b`.
    private func sample() throws -> Scratch {
        let scratch = try Scratch()
        var random = Random(Seed.one(11)), text = "a,b,c\n"
        for i in 0..<70_000 { text += "\(i),x\(random.below(1 << 30)),\(random.below(1 << 40))\n" }
        try scratch.write("in.csv", text)
        #expect(try scratch.firn("convert", "in.csv", "t.firn", "--type", "t", "-q").code == 0)
        let whole = try Data(contentsOf: scratch.file("t.firn"))
        for place in stride(from: 5000, to: whole.count, by: 2000).reversed() {
            var bytes = whole
            bytes[place] ^= 32
            try bytes.write(to: scratch.file("bad.firn"))
            if try scratch.firn("verify", "bad.firn").out.contains("t.b, segment 1") { break }
        }
        return scratch
    }

    @Test func `columns that are not selected are not read`() throws {
        let scratch = try sample()
        for columns in ["a", "c", "c,a"] {
            let good = try scratch.firn("convert", "--columns", columns, "t.firn", "-", "--to", "csv", "-q")
            let bad = try scratch.firn("convert", "--columns", columns, "bad.firn", "-", "--to", "csv", "-q")
            #expect(bad.code == 0 && bad.out == good.out, "\(columns): \(bad.errors)")
            let filtered = try scratch.firn(
                "convert", "--columns", columns, "-w", "c > 1000 AND a < 69000", "bad.firn", "-", "--to", "csv", "-q")
            let expected = try scratch.firn("query", "t.firn", "-s", columns, "c > 1000 AND a < 69000", "--format", "csv", "-q")
            #expect(filtered.code == 0 && filtered.out == expected.out, "\(columns): \(filtered.errors)")
        }
        #expect(try scratch.firn("convert", "--columns", "a", "--key", "a", "--limit", "7", "bad.firn", "out.firn", "-q").code == 0)
        #expect(try scratch.firn("query", "bad.firn", "-a", "sum(a), max(c)").code == 0)
        #expect(try scratch.firn("diff", "bad.firn", "t.firn", "--key", "a", "--columns", "c").code == 0)
    }

    @Test func `messages about damage name type, column and rows in every command`() throws {
        let scratch = try sample(), name = "t.b, rows 65536 to 69999: "
        for words in [
            ["convert", "bad.firn", "-", "--to", "csv"], ["convert", "bad.firn", "out.firn", "--columns", "a,b"],
            ["query", "bad.firn", "b ENDSWITH '7'"], ["query", "bad.firn", "-a", "max(b)"], ["sql", "bad.firn", "SELECT max(b) FROM t"],
            ["hash", "bad.firn"], ["diff", "bad.firn", "t.firn", "--key", "a"],
            ["convert", "bad.firn", "out.firn", "--columns", "a", "-w", "b CONTAINS '77'"],
        ] {
            let run = try FirnRun(words, in: scratch.folder)
            #expect(
                run.code == 4 && run.errors.contains(name) && run.errors.contains("bad.firn at byte "),
                "\(words): \(run.code) \(run.errors)")
            // Once, and not for each layer that passes the error on.
            #expect(run.errors.components(separatedBy: "rows 65536").count == 2, "\(words): \(run.errors)")
        }
    }

    @Test func `info prints everything that is intact, and then the damage`() throws {
        let scratch = try sample()
        let run = try scratch.firn("info", "bad.firn"), whole = try scratch.firn("info", "t.firn")
        #expect(run.code == 4 && run.errors.contains("t.b, segment 1, rows 65536 to 69999: "), "\(run.code) \(run.errors)")
        #expect(
            run.out.contains("damaged ×1") && run.out.split(separator: "\n").count == whole.out.split(separator: "\n").count, "\(run.out)")
        let json = try scratch.firn("info", "--json", "bad.firn")
        #expect(json.code == 4 && json.out.hasPrefix("{") && json.out.contains("\"damaged\""), "\(json.out)")
    }

    @Test func `verify ends with exit code 1 for any damage`() throws {
        let scratch = try sample()
        let whole = try Data(contentsOf: scratch.file("t.firn"))
        try whole.prefix(whole.count / 2).write(to: scratch.file("cut.firn"))
        for file in ["bad.firn", "cut.firn"] {
            let run = try scratch.firn("verify", file)
            #expect(run.code == 1, "\(file): \(run.code) \(run.out)\(run.errors)")
            #expect(try scratch.firn("verify", "--json", file, "t.firn").code == 1)
        }
        try scratch.write("text.firn", "no file of Firn\n")
        #expect(try scratch.firn("verify", "text.firn").code == 4)
        #expect(try scratch.firn("verify", "cut.firn", "text.firn").code == 4)
    }
}
