import Foundation
import Testing

/// Numbers with a decimal comma or with groups of digits, from CSV through files and back.
@Suite struct NumberMarkTests {
    private let text = """
        price;share;count;code
        1.234,50;12,5;1.234.567;1,234
        -7,00;0,25;12;5,678
        12.000,25;80,125;950;9,012

        """

    @Test func `numbers with decimal commas are numbers in queries, plain in JSON, and the same text in CSV`() throws {
        let scratch = try Scratch()
        try scratch.write("s.csv", text)
        let run = try scratch.firn("convert", "--lossless", "s.csv", "s.firn")
        #expect(run.code == 0, "\(run.errors)")
        for line in [
            "column \"price\": numbers have a decimal comma and \".\" between groups of digits (first: row 1 \"1.234,50\")",
            "columns \"share\", \"code\": numbers have a decimal comma (first: row 1 \"12,5\")",
            "column \"count\": numbers have \".\" between groups of digits (first: row 1 \"1.234.567\")",
        ] {
            #expect(run.errors.contains("firn: \(line)"), "\(line)\n\(run.errors)")
        }
        for file in ["s.csv", "s.firn"] {
            let sums = "sum(price),max(share),sum(count)\n13227.75,80.125,1235529\n"
            #expect(try scratch.firn("query", file, "--agg", "sum(price),max(share),sum(count)", "--format", "csv").out == sums)
            let rows = try scratch.firn("query", file, "price < 0", "--format", "ndjson")
            #expect(rows.out == "{\"price\":-7.00,\"share\":0.25,\"count\":12,\"code\":5.678}\n")
            #expect(try scratch.firn("sql", file, "SELECT sum(price) FROM s", "--format", "csv").out == "sum(price)\n13227.75\n")
            #expect(try scratch.firn("schema", file).out.contains("1.234,00"))
        }
        #expect(try scratch.firn("diff", "s.csv", "s.firn", "--key", "code").code == 0)
        #expect(try scratch.firn("verify", "--full", "s.firn").code == 0)
        for words in [
            ["convert", "s.firn", "b.csv"], ["compact", "s.firn", "c.firn"], ["convert", "s.firn", "w.firn", "--where", "count > 0"],
        ] {
            let run = try FirnRun(words, in: scratch.folder)
            #expect(run.code == 0, "\(words): \(run.errors)")
            #expect(try scratch.firn("convert", words[2], "-", "--to", "csv").out == text, "\(words)")
        }
        // The schema names the layout, with which the text is read again.
        try scratch.write("s.json", try scratch.firn("schema", "--json", "s.firn").out)
        #expect(try scratch.firn("convert", "--schema", "s.json", "s.csv", "t.firn").code == 0)
        #expect(try scratch.firn("hash", "t.firn").out.prefix(32) == scratch.firn("hash", "s.firn").out.prefix(32))
    }

    @Test func `the flag for the decimal mark works in every command that reads CSV`() throws {
        let scratch = try Scratch()
        try scratch.write("a.csv", "id;x\n1;1,234\n2;5,678\n")
        try scratch.write("b.csv", "id,x\n1,1.234\n2,5.678\n")
        try scratch.write("c.csv", "id,x\n1,1234\n2,5678\n")
        for (mark, other) in [(",", "b.csv"), (".", "c.csv"), ("x=,", "b.csv"), ("x=.", "c.csv")] {
            let expected = try scratch.firn("query", other, "--agg", "sum(x)", "--format", "csv").out
            #expect(try scratch.firn("query", "--decimal", mark, "a.csv", "--agg", "sum(x)", "--format", "csv").out == expected)
            #expect(try scratch.firn("sql", "--decimal", mark, "a.csv", "SELECT sum(x) FROM a", "--format", "csv").out == expected)
            #expect(try scratch.firn("hash", "--decimal", mark, "a.csv").out.prefix(32) == scratch.firn("hash", other).out.prefix(32))
            #expect(try scratch.firn("schema", "--decimal", mark, "a.csv").out.contains(mark.hasSuffix(",") ? "double" : "int"))
            #expect(try scratch.firn("convert", "--decimal", mark, "--force", "--lossless", "a.csv", "a.firn").code == 0)
            #expect(try scratch.firn("diff", "a.firn", other, "--key", "id").code == 0)
        }
        #expect(try scratch.firn("diff", "--decimal", ",", "a.csv", "a.csv", "--key", "id").code == 0)
        let wrong = try scratch.firn("query", "--decimal", ";", "a.csv")
        #expect(wrong.code == 2 && wrong.errors.contains("--decimal takes a comma or a point, not \";\""))
        #expect(try scratch.firn("query", "--decimal", "y=,", "a.csv").errors.contains("--decimal names a column \"y\""))
        try scratch.write("a.json", "[{\"x\":1}]")
        #expect(try scratch.firn("convert", "--decimal", ",", "a.json", "j.firn").errors.contains("--decimal applies to CSV only"))
    }
}
