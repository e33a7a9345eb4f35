import FirnKit
import Foundation
import Testing

/// `firn diff --format csv|markdown|html|json` and `--output`.
@Suite struct DiffFormatTests {
    private func sample() throws -> Scratch {
        let scratch = try Scratch()
        try scratch.write("old.csv", "id,city,price,gone\n1,Bern,10,a\n2,Chur,20,b\n3,Sion,30,c\n")
        try scratch.write("new.csv", "id,city,price,unit\n1,Bern,12,kg\n3,Sion,30,kg\n4,Genf,40,\n")
        return scratch
    }

    @Test func `csv has a record for each row that differs, in the tabular diff format`() throws {
        let run = try sample().firn("diff", "old.csv", "new.csv", "--key", "id", "--format", "csv")
        #expect(
            (run.code, run.out) == (
                1,
                """
                !,,,,---,+++
                @@,id,city,price,gone,unit
                ---,2,Chur,20,b,
                ->,1,Bern,10->12,a,kg
                +++,4,Genf,40,,

                """
            ), "\(run.errors)")
    }

    @Test func `markdown and html begin with the counts and the differences of the columns`() throws {
        let scratch = try sample()
        let markdown = try scratch.firn("diff", "old.csv", "new.csv", "--key", "id", "--format", "markdown")
        #expect(
            (markdown.code, markdown.out) == (
                1,
                """
                ### old.csv → new.csv

                1 added, 1 removed, 1 changed, 1 unchanged

                * - column gone: string
                * + column unit: string?

                |  | id | city | price | gone | unit |
                | --- | ---: | --- | ---: | --- | --- |
                | - | 2 | Chur | 20 | b |  |
                | \\~ | 1 | Bern | 10 → 12 | a | kg |
                | + | 4 | Genf | 40 |  |  |

                """
            ), "\(markdown.out)")
        let html = try scratch.firn("diff", "old.csv", "new.csv", "--key", "id", "--format", "html").out
        #expect(html.hasPrefix("<!DOCTYPE html>") && html.hasSuffix("</html>\n"))
        #expect(html.contains("<p>1 added, 1 removed, 1 changed, 1 unchanged</p>"))
        #expect(html.contains("<li>- column gone: string</li>") && html.contains("<del>10</del> → <ins>12</ins>"))
        #expect(html.contains("prefers-color-scheme: dark") && !html.contains("<script") && !html.contains("http"))
        // If no whole row is shown, neither are columns without a difference.
        let changed = try scratch.firn("diff", "old.csv", "new.csv", "--key", "id", "--format", "markdown", "--only", "changed")
        #expect(changed.out.hasSuffix("|  | id | price |\n| --- | ---: | ---: |\n| \\~ | 1 | 10 → 12 |\n"), "\(changed.out)")
    }

    @Test(arguments: ["table", "summary", "ndjson", "json", "csv", "markdown", "html"])
    func `every format is written to a file as to standard output, without colours, and with the same exit code`(format: String) throws {
        let scratch = try sample()
        for (new, code) in [("new.csv", 1), ("old.csv", 0)] as [(String, Int32)] {
            let words = ["diff", "old.csv", new, "--key", "id", "--format", format]
            let printed = try scratch.firn(words)
            let written = try scratch.firn(words + ["-o", "out", "--force", "--color=always"])
            #expect((printed.code, written.code, written.out) == (code, code, ""), "\(printed.errors)\(written.errors)")
            #expect(try scratch.read("out") == printed.out)
            #expect(!printed.out.contains("\u{1B}"))
        }
        let refused = try scratch.firn("diff", "old.csv", "new.csv", "--key", "id", "--format", format, "-o", "out")
        #expect(refused.code == 5 && refused.errors.contains("--force"), "\(refused.errors)")
    }

    @Test func `the extension of the file decides the format`() throws {
        let scratch = try sample()
        for (name, format) in [
            ("d.csv", "csv"), ("d.md", "markdown"), ("d.markdown", "markdown"), ("d.html", "html"), ("d.HTM", "html"),
            ("d.ndjson", "ndjson"),
            ("d.jsonl", "ndjson"), ("d.json", "json"),
        ] {
            #expect(try scratch.firn("diff", "old.csv", "new.csv", "-k", "id", "-o", name).code == 1)
            let printed = try scratch.firn("diff", "old.csv", "new.csv", "-k", "id", "--format", format)
            #expect(try scratch.read(name) == printed.out, "\(name)")
        }
        #expect(try scratch.firn("diff", "old.csv", "new.csv", "-k", "id", "-o", "d.md.gz").code == 1)
        #expect(try Data(contentsOf: scratch.file("d.md.gz")).starts(with: [0x1F, 0x8B]))
        let list = try JSONSerialization.jsonObject(with: Data(contentsOf: scratch.file("d.json"))) as? [[String: Any]]
        #expect(list?.map { $0["kind"] as? String } == ["schema", "removed", "changed", "added", "summary"])
        #expect(try scratch.firn("diff", "old.csv", "old.csv", "--format", "json").out.hasPrefix("[\n{\"kind\":\"summary\""))
    }

    @Test func `an output that would replace an input, or has no format, is an error`() throws {
        let scratch = try sample()
        for (words, part) in [
            (["-o", "new.csv", "--force"], "--output names \"new.csv\", which is an input"),
            (["-o", "d.xyz"], "cannot be inferred from the name \"d.xyz\""),
            (["-o", "c.firn", "--changes", "c.firn", "--format", "csv"], "--changes and --output name the same file"),
            (["--json", "--format", "csv"], "--json and --format csv request different formats"),
            (["--force"], "--force applies to --changes and --output only"),
        ] {
            let run = try scratch.firn(["diff", "old.csv", "new.csv", "-k", "id"] + words)
            #expect(run.code == 2 && run.errors.contains(part), "\(words) \(run.errors)")
        }
        // A failed comparison leaves the file unchanged.
        try scratch.write("d.html", "before")
        try scratch.write("twice.csv", "id,city\n1,a\n1,b\n")
        #expect(try scratch.firn("diff", "old.csv", "twice.csv", "-k", "id", "-o", "d.html", "--force").code == 3)
        #expect(try scratch.read("d.html") == "before" && scratch.names == ["d.html", "new.csv", "old.csv", "twice.csv"])
    }

    @Test func `a limit leaves rows out, and how many is reported`() throws {
        let scratch = try Scratch()
        try scratch.write("a.csv", "id,v\n" + (1...9).map { "\($0),x\n" }.joined())
        try scratch.write("b.csv", "id,v\n" + (1...9).map { "\($0),\($0 < 8 ? "y" : "x")\n" }.joined())
        let csv = try scratch.firn("diff", "a.csv", "b.csv", "-k", "id", "--format", "csv", "-n", "2")
        #expect(csv.out == "@@,id,v\n->,1,x->y\n->,2,x->y\n" && csv.errors.contains("5 more rows not written"), "\(csv.out)\(csv.errors)")
        for format in ["markdown", "html"] {
            let run = try scratch.firn("diff", "a.csv", "b.csv", "-k", "id", "--format", format, "-n", "6")
            #expect(run.out.contains("1 more row not shown") && run.out.contains("7 changed"), "\(run.out)")
        }
    }

    @Test func `several types are sections of a document, and none of a CSV`() throws {
        let scratch = try Scratch()
        for side in ["a", "b"] { try LinkedFile.write(scratch.file("\(side).firn").path, isNew: side == "b") }
        for (format, heading) in [("html", "<h2>a.firn:Person → b.firn:Person</h2>"), ("markdown", "### a.firn:Person → b.firn:Person\n")] {
            let run = try scratch.firn("diff", "a.firn", "b.firn", "--format", format)
            #expect(run.code == 1 && run.out.contains(heading), "\(run.out)\(run.errors)")
        }
        let csv = try scratch.firn("diff", "a.firn", "b.firn", "--format", "csv")
        #expect(csv.code == 2 && csv.errors.contains("CSV has one table, and there are several types"), "\(csv.errors)")
        #expect(try scratch.firn("diff", "a.firn", "b.firn", "--format", "csv", "--type", "Person").out.hasPrefix("@@,id,"))
    }
}
