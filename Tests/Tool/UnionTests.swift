import FirnKit
import Foundation
import Testing

/// Several inputs that are united by the names of their columns.
@Suite struct UnionTests {
    /// Runs the command, which must succeed, and returns its messages.
    @discardableResult
    private func run(_ scratch: Scratch, _ words: String..., code: Int32 = 0) throws -> FirnRun {
        let run = try FirnRun(words, in: scratch.folder)
        #expect(run.code == code && !run.isCrash, "\(words): \(run.code) \(run.errors)")
        return run
    }

    private func folder(_ scratch: Scratch, _ name: String) throws {
        try FileManager.default.createDirectory(at: scratch.file(name), withIntermediateDirectories: true)
    }

    @Test func `patterns with many stars and texts with many braces take time by their length`() throws {
        let scratch = try Scratch()
        let deep = (0..<20).map { _ in "a" }.joined(separator: "/")
        try FileManager.default.createDirectory(at: scratch.file(deep), withIntermediateDirectories: true)
        try scratch.write(deep + "/x.csv", "id\n1\n")
        for pattern in [String(repeating: "**/", count: 2000) + "x.csv", String(repeating: "**/a/", count: 10) + "**/x.csv"] {
            let run = try scratch.firn("query", pattern, "--agg", "count")
            #expect(run.code == 0 && run.out.contains("1"), "\(run.errors.prefix(300))")
        }
        #expect(try scratch.firn("schema", String(repeating: "**/a/", count: 12) + "y.csv").code != 0)
        for text in [String(repeating: "{", count: 100_000), "id IN " + String(repeating: "{1,", count: 40_000)] {
            #expect(try scratch.firn("query", deep + "/x.csv", text).code == 2)
        }
        // Braces within braces, and some that are not closed, mean what they did.
        for name in ["p1", "p2", "q"] { try scratch.write("\(name).csv", "id\n1\n") }
        for (pattern, count) in [("{p{1,2},q}.csv", 3), ("{p1,q}.csv", 2), ("p{1,2}.csv", 2), ("{{p,q}*.csv", 0)] {
            let run = try scratch.firn("query", pattern, "--agg", "count", "--format", "csv")
            #expect(count == 0 ? run.code != 0 : run.out == "count\n\(count)\n", "\(pattern): \(run.out) \(run.errors)")
        }
    }

    @Test func `columns that an input lacks are null in its rows, and each is reported in one line`() throws {
        let scratch = try Scratch()
        try scratch.write("a.csv", "id,name\n1,x\n2,y\n")
        try scratch.write("b.csv", "extra,id\nq,3\n")
        try scratch.write("c.csv", "extra,id\nr,4\n")
        let union = try run(scratch, "convert", "a.csv", "b.csv", "c.csv", "out.csv")
        #expect(try scratch.read("out.csv") == "id,name,extra\n1,x,\n2,y,\n3,,q\n4,,r\n")
        #expect(union.errors.contains("column \"name\": in 1 of 3 inputs; null in the others"), "\(union.errors)")
        #expect(union.errors.contains("column \"extra\": in 2 of 3 inputs, first b.csv; null in the others"), "\(union.errors)")
        let strict = try run(scratch, "convert", "a.csv", "b.csv", "x.csv", "--union", "strict", code: 3)
        #expect(strict.errors.contains("b.csv: the file has no column \"name\", which a.csv has"), "\(strict.errors)")
        #expect(!scratch.has("x.csv"))
        let chosen = try run(scratch, "convert", "a.csv", "b.csv", "-", "--to", "csv", "-c", "extra,id", "-q")
        #expect(chosen.out == "extra,id\n,1\n,2\nq,3\n")
        let none = try run(scratch, "convert", "a.csv", "b.csv", "x.csv", "-c", "id,nmae", code: 2)
        #expect(none.errors.contains("did you mean \"name\"?"), "\(none.errors)")
    }

    @Test func `errors in a query or condition on several inputs name the inputs`() throws {
        let scratch = try Scratch()
        try scratch.write("a.csv", "id,name\n1,x\n")
        try scratch.write("b.csv", "id,title\n1,x\n")
        try folder(scratch, "d")
        try scratch.write("d/a.csv", "id,name\n1,x\n")
        try scratch.write("d/b.csv", "id,name\n2,y\n")
        for (words, name) in [
            (["query", "a.csv", "b.csv", "nix == 1"], "a.csv, b.csv"), (["query", "d", "nix == 1"], "d"),
            (["query", "a.csv", "b.csv", "--select", "nix"], "a.csv, b.csv"),
            (["convert", "a.csv", "b.csv", "out.csv", "--where", "nix == 1"], "a.csv, b.csv"),
            (["diff", "a.csv", "b.csv", "--key", "id", "--where", "name == 'x'"], "b.csv"),
        ] {
            let run = try FirnRun(words, in: scratch.folder)
            #expect(run.code == 2 && run.errors.contains("firn: \(name): no column \""), "\(words): \(run.errors)")
        }
        #expect(try run(scratch, "query", "a.csv", "nix == 1", code: 2).errors.hasPrefix("firn: no column \"nix\""))
    }

    @Test func `types widen until every value keeps its text`() throws {
        let scratch = try Scratch()
        // By column: int and double, int beyond 2^53 and double, int and two digits, two dates, bool and int, nothing and int, both empty.
        try scratch.write("a.csv", "a,b,c,d,e,f,g\n1,9007199254740993,5,2020-01-02,true,,\n")
        try scratch.write("b.csv", "a,b,c,d,e,f,g\n1.5,0.5,2.50,2020-01-02 10:00:00,7,3,\n")
        let union = try run(scratch, "convert", "a.csv", "b.csv", "out.firn")
        let schema = try run(scratch, "schema", "out.firn").out
        for line in [
            "a       double", "b       decimal128", "c       decimal128", "d       string", "e       string", "f       int?",
            "g       string?",
        ] {
            #expect(schema.contains(line), "\(line): \(schema)")
        }
        #expect(union.errors.contains("column \"a\": int in 1 (first a.csv), double in 1 (first b.csv); read as double"), "\(union.errors)")
        try run(scratch, "convert", "out.firn", "back.csv")
        #expect(
            try scratch.read("back.csv")
                == "a,b,c,d,e,f,g\n1,9007199254740993,5,2020-01-02,true,,\n1.5,0.5,2.50,2020-01-02 10:00:00,7,3,\n")
    }

    @Test func `inputs whose columns differ only in their notation are counted together`() throws {
        let scratch = try Scratch()
        try scratch.write("a.csv", "a;n\n1.5;1\n2.5;2\n")
        try scratch.write("b.csv", "a;n\n1,5;1\n2,5;2\n")
        try scratch.write("c.csv", "a;n\nx;1\ny;2\n")
        let union = try run(scratch, "convert", "a.csv", "b.csv", "c.csv", "out.firn")
        #expect(
            union.errors.contains("column \"a\": double in 2 (first a.csv), string in 1 (first c.csv); read as string"), "\(union.errors)")
    }

    @Test func `the rows of random files are united without a change of text`() throws {
        let cells: [(inout Random) -> String] = [
            { "\($0.number(-50...50))" }, { "\($0.number(0...99)).\($0.number(1...9))" }, { "\($0.number(0...9)).\($0.number(10...99))" },
            { ["true", "false"][$0.below(2)] }, { "2024-01-\($0.number(10...28))" }, { "w\($0.below(100))" }, { _ in "" },
            { "0\($0.below(9))" }, { "\($0.next())" }, { "9007199254740\($0.number(100...999))" },
        ]
        for seed in 1...12 as ClosedRange<UInt64> {
            var random = Random(seed: seed)
            let scratch = try Scratch(), names = ["p", "q", "r", "s", "t"]
            var expected: [[String: String]] = [], order: [String] = [], words: [String] = ["convert"]
            for file in 0..<random.number(2...20) {
                let header = names.shuffled(using: &random).prefix(random.number(1...5)),
                    kinds = header.map { _ in random.below(cells.count) }
                order += header.filter { !order.contains($0) }
                var text = (["n"] + header).joined(separator: ",") + "\n"
                for row in 0..<random.number(1...6) {
                    let values = kinds.map { cells[random.chance(90) ? $0 : 6](&random) }
                    expected.append(Dictionary(uniqueKeysWithValues: zip(["n"] + header, ["\(file * 100 + row)"] + values)))
                    text += (["\(file * 100 + row)"] + values).joined(separator: ",") + "\n"
                }
                words.append(try scratch.write("f\(file).csv", text))
            }
            // The type is found from all files, for stored rows and for rows that are passed on.
            for target in ["out.firn", "out.csv"] {
                #expect(try FirnRun(words + [target, "-q"], in: scratch.folder).code == 0, "seed \(seed)")
            }
            #expect(try FirnRun(["convert", "out.firn", "back.csv", "-q"], in: scratch.folder).code == 0)
            let columns = ["n"] + order
            let wanted = ([columns] + expected.map { row in columns.map { row[$0] ?? "" } }).map { $0.joined(separator: ",") + "\n" }
                .joined()
            #expect(try scratch.read("out.csv") == wanted, "seed \(seed)")
            #expect(try scratch.read("back.csv") == wanted, "seed \(seed)")
        }
    }

    @Test func `188 daily files with 11 headers become one table`() throws {
        let scratch = try Scratch()
        try folder(scratch, "daily")
        let old = "Province/State,Country/Region,Last Update,Confirmed,Deaths,Recovered"
        let new = "FIPS,Admin2,Province_State,Country_Region,Last_Update,Lat,Long_,Confirmed,Deaths,Recovered,Active,Combined_Key"
        let headers = [
            old, old + ",Latitude,Longitude", "Country/Region,Province/State,Last Update,Confirmed,Deaths,Recovered", old + ",Notes",
            new, new + ",Incidence_Rate", new + ",Incidence_Rate,Case-Fatality_Ratio", new + ",Incident_Rate",
            new + ",Incident_Rate,Case_Fatality_Ratio", "Last Update," + new, "Province_State,Confirmed",
        ]
        var confirmed = 0
        for day in 0..<188 {
            let header = headers[day * headers.count / 188].components(separatedBy: ",")
            var text = header.joined(separator: ",") + "\n"
            for row in 0..<5 {
                let cells = header.map { name in
                    if name == "Confirmed" {
                        confirmed += day + row
                        return "\(day + row)"
                    }
                    return name.hasPrefix("L") && !name.hasPrefix("Last") ? "\(day).\(row + 1)" : row == 2 ? "" : "\(name.prefix(2))\(row)"
                }
                text += cells.joined(separator: ",") + "\n"
            }
            try scratch.write(String(format: "daily/%02d-%02d-2020.csv", day / 31 + 1, day % 31 + 1), text)
        }
        let union = try run(scratch, "convert", "--filename", "source", "daily/*.csv", "all.firn", "--json")
        #expect(union.out.contains("\"rows\":940") && union.out.contains("{\"file\":\"daily/07-02-2020.csv\",\"rows\":5}"), "\(union.out)")
        #expect(union.errors.components(separatedBy: "\n").count < 40, "\(union.errors)")
        let sum = try run(scratch, "query", "all.firn", "-a", "sum(Confirmed) as c, count(distinct source) as d", "--format", "csv")
        #expect(sum.out == "c,d\n\(confirmed),188\n")
        // The same without a file of its own, by folder and by pattern.
        for words in [["query", "daily"], ["query", "daily/**/*.csv"]] {
            let same = try FirnRun(words + ["-a", "sum(Confirmed) as c", "--format", "csv", "-q"], in: scratch.folder)
            #expect(same.out == "c\n\(confirmed)\n", "\(same.errors)")
        }
        let sql = try run(scratch, "sql", "daily/*.csv", "SELECT count(*) AS n FROM daily", "--format", "csv", "-q")
        #expect(sql.out == "n\n940\n")
        let hash = try run(scratch, "hash", "daily", "-q").out
        try run(scratch, "convert", "daily", "plain.firn", "-q")
        #expect(try run(scratch, "hash", "plain.firn").out.prefix(32) == hash.prefix(32))
        #expect(try run(scratch, "schema", "daily", "--json", "-q").out.contains("Case_Fatality_Ratio"))
        #expect(try run(scratch, "diff", "daily", "plain.firn", "-q", "--key", "Confirmed", code: 3).errors.contains("key"))
    }

    @Test func `headers that differ in order are reported, and names that differ only in case stay separate`() throws {
        let scratch = try Scratch()
        try scratch.write("a.csv", "id,Name\n1,x\n")
        try scratch.write("b.csv", "Name,id\ny,2\n")
        try scratch.write("c.csv", "id,name \n3,z\n")
        let union = try run(scratch, "convert", "a.csv", "b.csv", "c.csv", "out.csv")
        #expect(union.errors.contains("columns are in another order in 1 input (first: b.csv)"), "\(union.errors)")
        #expect(
            union.errors.contains("columns \"Name\" (first a.csv) and \"name \" (first c.csv) differ only in case or white space"),
            "\(union.errors)")
        #expect(try scratch.read("out.csv").hasPrefix("id,Name,name \n"))
    }

    @Test func `inputs of several formats are united`() throws {
        let scratch = try Scratch()
        try scratch.write("a.csv", "id,x,t\n1,0.50,007\n")
        try scratch.write("b.ndjson", "{\"id\":2,\"x\":3,\"t\":5,\"o\":{\"p\":1,\"q\":[1,2]}}\n{\"id\":3,\"o\":{\"p\":2}}\n")
        try scratch.write("c.json", "[{\"id\":4,\"o\":{\"r\":true,\"q\":[0.5]},\"m\":1},{\"id\":5,\"m\":2}]")
        try scratch.write("d.ndjson", "{\"id\":6,\"m\":\"text\"}\n")
        try run(scratch, "convert", "d.ndjson", "e.firn", "-q")
        let union = try run(scratch, "convert", "a.csv", "b.ndjson", "c.json", "d.ndjson", "e.firn", "out.ndjson")
        #expect(
            union.errors.contains("column \"m\": int in 1 (first c.json), string in 2 (first d.ndjson); read as any")
                || union.errors.contains("read as any"), "\(union.errors)")
        let lines = try scratch.read("out.ndjson").split(separator: "\n")
        #expect(lines.count == 7)
        #expect(lines[0] == "{\"id\":1,\"x\":0.50,\"t\":\"007\"}", "\(lines[0])")
        #expect(lines[1].contains("\"t\":\"5\"") && lines[1].contains("\"o\":{\"p\":1,\"q\":[1,2]}"), "\(lines[1])")
        #expect(lines[3].contains("\"q\":[0.5]") && lines[3].contains("\"r\":true") && lines[3].contains("\"m\":1"), "\(lines[3])")
        #expect(lines[5].contains("\"m\":\"text\"") && lines[6].contains("\"m\":\"text\""))
    }

    @Test func `standard input is one of several inputs, also if its types must widen`() throws {
        let scratch = try Scratch()
        try scratch.write("a.csv", "id,x\n1,1.5\n")
        let union = try scratch.firn("convert", "a.csv", "-", "out.csv", "--filename", "from", input: "id,x,y\n2,2,z\n")
        #expect(union.code == 0, "\(union.errors)")
        #expect(try scratch.read("out.csv") == "id,x,y,from\n1,1.5,,a.csv\n2,2,z,-\n")
    }

    @Test func `folders and patterns leave out hidden files, other formats and the target`() throws {
        let scratch = try Scratch()
        for name in ["d/e", "d/.h", "[x]"] { try folder(scratch, name) }
        for (name, id) in [("d/b.csv", 2), ("d/a.csv", 1), ("d/e/c.csv", 3), ("d/.z.csv", 8), ("d/.h/y.csv", 9), ("[x]/k.csv", 4)] {
            try scratch.write(name, "id\n\(id)\n")
        }
        try scratch.write("d/README.md", "x")
        try scratch.write("d/e/n.ndjson", "{\"id\":5}\n")
        func ids(_ words: String...) throws -> String {
            try FirnRun(["query"] + words + ["--format", "csv", "-q"], in: scratch.folder).out.split(separator: "\n").dropFirst().joined(
                separator: " ")
        }
        #expect(try ids("d") == "1 2 3 5")
        #expect(try ids("d/*.csv") == "1 2")
        #expect(try ids("d/**/*.csv") == "1 2 3")
        #expect(try ids("d/[!a].csv") == "2" && ids("d/?.csv", "id > 1") == "2" && ids("{d/e,d}/{a,c}.csv") == "1 3")
        #expect(try ids("[x]/k.csv") == "4")
        #expect(try ids("d/.h/") == "9")
        let other = try run(scratch, "convert", "d", "d/out.firn")
        #expect(other.errors.contains("d: 1 file of other formats skipped (first: d/README.md)"), "\(other.errors)")
        let again = try run(scratch, "convert", "-f", "d", "d/out.firn")
        #expect(again.errors.contains("\"d/out.firn\" is OUT and is not read"), "\(again.errors)")
        #expect(try run(scratch, "convert", "no*.csv", "x.firn", code: 5).errors.contains("no file matches"))
        #expect(try run(scratch, "convert", "[x]", "d/*.xls", "x.firn", code: 5).errors.contains("no file matches"))
    }

    @Test func `an input that cannot be read or united is named, and the target is unchanged`() throws {
        let scratch = try Scratch()
        try scratch.write("a.csv", "id\n1\n")
        try scratch.write("b.csv", "id,x\n1\n")
        try scratch.write("out.csv", "old")
        let bad = try run(scratch, "convert", "-f", "--ragged", "error", "a.csv", "b.csv", "out.csv", code: 3)
        #expect(bad.errors.contains("b.csv:2"), "\(bad.errors)")
        #expect(try scratch.read("out.csv") == "old" && scratch.names.count == 3)
        let collected = try run(scratch, "convert", "a.csv", "b.csv", "c.csv", "--rejects", "r.csv", code: 3)
        #expect(try scratch.read("r.csv") == "1\n" && collected.errors.contains("1 rejected row"), "\(collected.errors)")
        #expect(try run(scratch, "convert", "a.csv", "a.csv", "x.csv", "--filename", "id", code: 2).errors.contains("--filename"))
        #expect(try run(scratch, "convert", "a.csv", "a.csv", "y.csv").errors.contains("\"a.csv\" is named twice"))
    }

    @Test func `more inputs than a process may open are read one after the other`() throws {
        let scratch = try Scratch()
        try folder(scratch, "many")
        for i in 0..<300 { try scratch.write("many/\(1000 + i).csv", i % 2 == 0 ? "id\n\(i)\n" : "id,x\n\(i),\(i).5\n") }
        let process = try Process.run(
            URL(filePath: "/bin/sh"),
            arguments: [
                "-c",
                "ulimit -n 40; cd '\(scratch.folder.path)' && '\(FirnRun.binary.path)' convert -q many out.csv && '\(FirnRun.binary.path)' hash -q many/*",
            ])
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(try scratch.read("out.csv").split(separator: "\n").count == 301)
    }

    @Test func `inputs that are one JSON object or value each become an array`() throws {
        let scratch = try Scratch()
        try scratch.write("o1.json", "{\"a\":1}\n")
        try scratch.write("o2.json", "{\"b\":2}\n")
        try scratch.write("v1.json", "1\n")
        try scratch.write("v2.json", "2\n")
        try scratch.write("r.json", "[{\"a\":3}]\n")
        for (inputs, expected) in [
            (["o1.json", "o2.json"], "[{\"a\":1},{\"b\":2}]"), (["v1.json", "v2.json"], "[1,2]"),
            (["o1.json", "r.json"], "[{\"a\":1},{\"a\":3}]"), (["o1.json"], "{\"a\":1}"),
        ] {
            let words = ["convert", "-f"] + inputs
            for target in ["o.json", "o.firn"] {
                let made = try FirnRun(words + [target], in: scratch.folder)
                #expect(made.code == 0, "\(inputs): \(made.errors)")
            }
            try run(scratch, "convert", "-f", "o.firn", "p.json")
            for name in ["o.json", "p.json"] {
                #expect(try scratch.read(name).replacing("\n", with: "") == expected, "\(inputs) \(name)")
            }
            let kept = inputs.map { $0.replacing(".json", with: ".firn") }
            for name in inputs { try run(scratch, "convert", "-f", name, name.replacing(".json", with: ".firn")) }
            let united = try FirnRun(["convert", "-f"] + kept + ["q.json"], in: scratch.folder)
            #expect(united.code == 0, "\(kept): \(united.errors)")
            #expect(try scratch.read("q.json").replacing("\n", with: "") == expected, "\(kept)")
        }
    }
}
