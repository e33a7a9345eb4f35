import Foundation
import Testing

/// Numbers and dates whose text export would not write, from CSV through files and back.
@Suite struct OriginalTextTests {
    /// 2,000 rows, of which some scores and days have an unusual text.
    private func table(_ odd: [Int: String]) -> String {
        "id,score,day\n" + (0..<2000).map { "\($0),\(odd[$0] ?? "\(Double($0) / 8)"),9/\($0 % 28 + 1)/2020\n" }.joined()
    }

    private let odd = [3: "8.3E-05", 7: "NA", 12: ".5", 20: "see note", 200: "1e3"]

    @Test func `odd spellings among numbers are numbers in queries and the same text in CSV`() throws {
        let scratch = try Scratch(), text = table(odd)
        try scratch.write("s.csv", text)
        let run = try scratch.firn("convert", "--key", "id", "s.csv", "s.firn", "--lossless")
        #expect(run.code == 0, "\(run.errors)")
        #expect(
            run.errors.contains(
                "column \"score\": 2 of 2,000 cells are not doubles: stored as null, together with their text (first: row 8 \"NA\")")
                && run.errors.contains("column \"score\": 3 numbers are spelled unusually (first: row 4 \"8.3E-05\")"), "\(run.errors)")
        for file in ["s.csv", "s.firn"] {
            let answer = try scratch.firn("query", file, "--agg", "max(score),count(score),min(score)", "--format", "csv")
            #expect(answer.out == "max(score),count(score),min(score)\n1000.0,1998,0.0\n", "\(file): \(answer.out) \(answer.errors)")
            // Texts are not columns unless they are named.
            #expect(try scratch.firn("query", file, "id = 7", "--format", "csv").out == "id,score,day\n7,,2020-09-08\n")
            #expect(
                try scratch.firn("query", file, "id = 7", "--select", "score (original text)", "--format", "csv").out
                    == "score (original text)\nNA\n")
            #expect(try scratch.firn("sql", file, "SELECT * FROM s WHERE id = 7", "--format", "csv").out == "id,score,day\n7,,2020-09-08\n")
            #expect(
                try scratch.firn("sql", file, "SELECT \"score (original text)\" t FROM s WHERE id = 20", "--format", "csv").out
                    == "t\nsee note\n")
        }
        let schema = try scratch.firn("schema", "s.firn")
        #expect(!schema.out.contains("original") && schema.errors.contains("column \"score\" keeps 5 original texts"), "\(schema.errors)")
        #expect(try scratch.firn("info", "s.firn").out.contains("original texts"))
        #expect(try scratch.firn("schema", "s.firn", "--json").out.contains("original") == false)
        #expect(try scratch.firn("diff", "s.csv", "s.firn", "--key", "id").code == 0)
        #expect(try scratch.firn("verify", "--full", "s.firn").code == 0)
        // The hash is that of the values.
        try scratch.write("plain.csv", table([3: "0.000083", 7: "", 12: "0.5", 20: "", 200: "1000"]))
        #expect(
            try scratch.firn("hash", "s.firn", "--key", "id").out.prefix(32)
                == scratch.firn("hash", "plain.csv", "--key", "id").out.prefix(32))
        // Every way to another file keeps the texts.
        let ways = [
            ["convert", "s.firn", "b.csv"], ["compact", "s.firn", "c.firn"], ["recover", "s.firn", "r.firn"],
            ["convert", "s.firn", "w.firn", "--where", "id >= 0"], ["convert", "s.firn", "o.firn", "-c", "id,score,day"],
        ]
        for words in ways {
            let run = try FirnRun(words, in: scratch.folder)
            #expect(run.code == 0, "\(words): \(run.errors)")
            #expect(try scratch.firn("convert", words[2], "-", "--to", "csv").out == text, "\(words)")
        }
        #expect(
            try scratch.firn("convert", "s.firn", "-", "--to", "csv", "-c", "id,score", "--where", "id = 12").out == "id,score\n12,.5\n")
        let json = try scratch.firn("convert", "s.firn", "s.ndjson")
        #expect(
            json.errors.contains("2 original texts that are not numbers were written as strings")
                && json.errors.contains("1 number has an original text that is not a number in JSON; its value was written"),
            "\(json.errors)")
        let lines = try scratch.read("s.ndjson").split(separator: "\n")
        for (row, start) in [
            (3, #"{"id":3,"score":8.3E-05,"#), (7, #"{"id":7,"score":"NA","#), (12, #"{"id":12,"score":0.5,"#),
            (20, #"{"id":20,"score":"see note","#), (200, #"{"id":200,"score":1e3,"#),
        ] { #expect(lines[row].hasPrefix(start), "\(lines[row])") }
    }

    @Test func `odd values among the numbers of JSON are numbers in queries and the same tokens in JSON`() throws {
        let scratch = try Scratch()
        let odd = [
            3: "8.3E-05", 7: "\"NA\"", 12: "1.50", 20: "\"see \\\"note\\\"\"", 200: "1e3", 300: "-0", 400: "\"12\"",
            500: "0.12345678901234567890",
        ]
        let text = (0..<2000).map { "{\"id\":\($0),\"score\":\(odd[$0] ?? "\(Double($0) / 8)")}\n" }.joined()
        try scratch.write("s.ndjson", text)
        try scratch.write("s.json", "[" + text.split(separator: "\n").joined(separator: ",") + "]")
        for file in ["s.ndjson", "s.json"] {
            let run = try scratch.firn("convert", "--key", "id", file, "s.firn", "--force")
            #expect(
                run.errors.contains("column \"score\": 2 of 2000 values are kept as text next to null (first: \"NA\")")
                    && run.errors.contains("column \"score\": 1 string is read as a number (first: \"12\")")
                    && run.errors.contains("column \"score\": 1 number has more digits than a double (first: 0.12345678901234567890)")
                    && run.errors.contains("column \"score\": 4 numbers are spelled unusually (first: 8.3E-05)"), "\(run.errors)")
            for input in [file, "s.firn"] {
                let answer = try scratch.firn("query", input, "--agg", "max(score),count(score)", "--format", "csv")
                #expect(answer.out == "max(score),count(score)\n1000.0,1998\n", "\(input): \(answer.out) \(answer.errors)")
            }
            #expect(try scratch.firn("convert", "s.firn", "-", "--to", "ndjson").out == text)
            #expect(try scratch.firn("convert", "s.firn", "-", "--to", "ndjson", "-c", "id,score", "--where", "id > -1").out == text)
            let csv = try scratch.firn("convert", "s.firn", "-", "--to", "csv").out.split(separator: "\n")
            for (row, cell) in [(3, "8.3E-05"), (7, "NA"), (12, "1.50"), (20, "\"see \"\"note\"\"\""), (400, "12"), (300, "-0")] {
                #expect(csv[row + 1] == "\(row),\(cell)", "\(csv[row + 1])")
            }
            // Values that other programs change are written instead of their texts.
            #expect(try scratch.firn("diff", "s.firn", file, "--key", "id").code == 0)
            #expect(try scratch.firn("verify", "--full", "s.firn").code == 0)
        }
        #expect(
            try scratch.firn("hash", "s.json", "--key", "id").out.prefix(32) == scratch.firn("hash", "s.firn", "--key", "id").out.prefix(32)
        )
        // Several inputs are united by the types of all of them.
        try scratch.write("t.ndjson", "{\"id\":-1,\"score\":\"NA\"}\n")
        #expect(try scratch.firn("convert", "s.ndjson", "t.ndjson", "u.firn").code == 0)
        let united = try scratch.firn("convert", "u.firn", "-", "--to", "ndjson").out
        #expect(united.hasSuffix("{\"id\":-1,\"score\":\"NA\"}\n") && united.contains("\"see \\\"note"), "\(united.suffix(100))")
    }

    @Test func `JSON columns that stay of type any say why`() throws {
        let scratch = try Scratch()
        for (values, reason) in [
            (
                (0..<1200).map { $0 % 100 == 7 ? "\"x\($0)\"" : "\($0)" },
                "column \"v\" is of type any: 12 of 1200 values are not numbers (first: \"x7\")"
            ),
            (["1", "2", "\"007\""], "column \"v\" is of type any: it contains strings of digits that a number would not keep"),
            (["1", "2", "3", "[4]"], "column \"v\" is of type any: 1 of 4 values is not a number"),
        ] {
            let text = values.map { "{\"v\":\($0)}\n" }.joined()
            try scratch.write("v.ndjson", text)
            #expect(try scratch.firn("schema", "v.ndjson").errors.contains(reason), "\(reason)")
            let run = try scratch.firn("convert", "v.ndjson", "v.firn", "--force")
            #expect(run.errors.contains(reason), "\(run.errors)")
            #expect(try scratch.firn("convert", "v.firn", "-", "--to", "ndjson").out == text)
        }
    }

    @Test func `texts of many columns do not count among the columns that SQL permits`() throws {
        let scratch = try Scratch(), width = 1500
        let rows = [0, 1].map { row in (0..<width).map { ($0 + row) % 2 == 0 ? "NA" : "\($0)" }.joined(separator: ",") }
        try scratch.write("w.csv", ([(0..<width).map { "c\($0)" }.joined(separator: ",")] + rows).joined(separator: "\n") + "\n")
        #expect(try scratch.firn("convert", "w.csv", "w.firn").code == 0)
        for file in ["w.csv", "w.firn"] {
            let run = try scratch.firn("sql", file, "SELECT c1499, count(c1498) FROM w WHERE c1499 > 5", "--format", "csv")
            #expect(run.out.hasSuffix("\n1499,0\n"), "\(file): \(run.out) \(run.errors)")
        }
        #expect(try scratch.firn("convert", "w.firn", "-", "--to", "csv").out == scratch.read("w.csv"))
    }

    @Test func `patches change values, and texts that do not fit any more are not written`() throws {
        let scratch = try Scratch()
        try scratch.write("a.csv", table(odd))
        try scratch.write("b.csv", table([3: "8.3E-05", 7: "4", 12: "0.75", 20: "", 200: "1e3", 250: "-.5"]))
        for name in ["a", "b"] { #expect(try scratch.firn("convert", "--key", "id", "\(name).csv", "\(name).firn").code == 0) }
        #expect(try scratch.firn("diff", "a.firn", "b.firn", "--changes", "c.firn").code == 1)
        let run = try scratch.firn("patch", "a.firn", "c.firn")
        #expect(run.code == 0, "\(run.errors)")
        #expect(try scratch.firn("diff", "a.firn", "b.firn").code == 0)
        #expect(try scratch.firn("hash", "a.firn").out.prefix(32) == scratch.firn("hash", "b.firn").out.prefix(32))
        let back = try scratch.firn("convert", "a.firn", "-", "--to", "csv").out.split(separator: "\n").map(String.init)
        // The text of null stays; those of changed numbers do not.
        #expect(back[4].hasPrefix("3,8.3E-05,") && back[8].hasPrefix("7,4.0,") && back[13].hasPrefix("12,0.75,"))
        #expect(back[251].hasPrefix("250,-0.5,") && back[201].hasPrefix("200,1e3,"), "\(back[251])")
        #expect(try scratch.firn("patch", "a.firn", "c.firn", "--reverse").code == 0)
        #expect(try scratch.firn("diff", "a.firn", "a.csv").code == 0)
        #expect(try scratch.firn("revert", "a.firn", "1").code == 0)
        #expect(try scratch.firn("convert", "a.firn", "-", "--to", "csv").out == table(odd))
    }

    @Test func `--dates and --null COLUMN=WORD apply wherever CSV is read`() throws {
        let scratch = try Scratch()
        try scratch.write("d.csv", "id,age,born\n1,-1,01/02/2020\n2,30,03/04/2021\n")
        #expect(try scratch.firn("schema", "d.csv").errors.contains("--dates dd/MM/yyyy or --dates MM/dd/yyyy chooses one"))
        let flags = ["--dates", "born=dd/MM/yyyy", "--null", "age=-1"]
        let query = try FirnRun(["query", "d.csv", "born > 2020-12-31"] + flags + ["--format", "csv"], in: scratch.folder)
        #expect(query.out == "id,age,born\n2,30,2021-04-03\n", "\(query.out) \(query.errors)")
        let sql = try FirnRun(
            ["sql", "d.csv", "SELECT count(age) n, min(born) b FROM d"] + flags + ["--format", "csv"], in: scratch.folder)
        #expect(sql.out == "n,b\n1,2020-02-01\n", "\(sql.out) \(sql.errors)")
        #expect(try FirnRun(["convert", "d.csv", "d.firn"] + flags, in: scratch.folder).code == 0)
        #expect(try scratch.firn("convert", "d.firn", "-", "--to", "csv").out == "id,age,born\n1,-1,01/02/2020\n2,30,03/04/2021\n")
        #expect(try FirnRun(["diff", "d.csv", "d.firn", "--key", "id"] + flags, in: scratch.folder).code == 0)
        // The schema that is printed reads the file again.
        try scratch.write("s.json", scratch.firn("schema", "d.firn", "--json").out)
        #expect(
            try scratch.firn("query", "d.csv", "--schema", "s.json", "--null", "age=-1", "--agg", "min(born)", "--format", "csv").out
                == "min(born)\n2020-02-01\n")
        for (words, message) in [
            (["--dates", "dd/mm/yyyy"], "--dates does not know the pattern \"dd/mm/yyyy\""),
            (["--dates", "x=dd/MM/yyyy"], "--dates names a column \"x\" that the input does not have"),
            (["--null", "x=1"], "--null names a column \"x\" that the input does not have"),
        ] {
            let run = try FirnRun(["schema", "d.csv"] + words, in: scratch.folder)
            #expect(run.code == 2 && run.errors.contains(message), "\(run.errors)")
        }
    }

    @Test func `several inputs keep their texts if some of them have odd spellings`() throws {
        let scratch = try Scratch()
        let texts = ["id,x\n1,0.5\n2,1.5\n", "id,x\n3,NA\n4,.5\n5,2.5\n", "id,x\n6,7\n7,n/a\n"]
        for (i, text) in texts.enumerated() { try scratch.write("\(i).csv", text) }
        for order in [["0.csv", "1.csv", "2.csv"], ["2.csv", "1.csv", "0.csv"], ["1.csv", "0.csv"]] {
            let run = try FirnRun(["convert"] + order + ["o.firn", "--force"], in: scratch.folder)
            #expect(run.code == 0, "\(order): \(run.errors)")
            #expect(try scratch.firn("query", "o.firn", "--agg", "sum(x),count(x)", "--format", "csv").code == 0, "\(order)")
            #expect(try scratch.firn("schema", "o.firn").out.contains(/x +double\?/), "\(order)")
            let rows = order.flatMap { texts[Int($0.prefix(1))!].split(separator: "\n").dropFirst() }
            #expect(try scratch.firn("convert", "o.firn", "-", "--to", "csv").out == "id,x\n" + rows.map { $0 + "\n" }.joined(), "\(order)")
        }
    }
}
