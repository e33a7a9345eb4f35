import Foundation
import Testing

/// Several inputs that are united, some of which have cells that export would write differently.
@Suite struct UnionOriginalTests {
    /// Unites texts in several orders. Checks that CSV output has the rows with the same text, and returns the type of column x.
    private func unite(
        _ texts: [String], flags: [String] = [], sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> (type: String, errors: String) {
        let scratch = try Scratch()
        for (i, text) in texts.enumerated() { try scratch.write("\(i).csv", text) }
        var types: Set<String> = [], errors = ""
        for order in [Array(texts.indices), texts.indices.reversed()] {
            let run = try FirnRun(["convert"] + flags + order.map { "\($0).csv" } + ["o.firn", "--force"], in: scratch.folder)
            #expect(run.code == 0, "\(order): \(run.errors)", sourceLocation: sourceLocation)
            errors += run.errors
            let rows = order.flatMap { texts[$0].split(separator: "\n").dropFirst() }.map { $0 + "\n" }.joined()
            let out = try scratch.firn("convert", "o.firn", "-", "--to", "csv").out
            #expect(out.split(separator: "\n", maxSplits: 1).last.map(String.init) == rows, sourceLocation: sourceLocation)
            #expect(try scratch.firn("verify", "--full", "o.firn").code == 0, sourceLocation: sourceLocation)
            let schema = try scratch.firn("schema", "o.firn").out
            types.insert(schema.split(separator: "\n").first { $0.hasPrefix("x ") }?.split(separator: " ")[1].description ?? "")
        }
        #expect(types.count == 1, "\(types)", sourceLocation: sourceLocation)
        return (types.first ?? "", errors)
    }

    private func rows(_ first: Int, _ cells: [String]) -> String {
        "x;n\n" + cells.enumerated().map { "\($0.element);\(first + $0.offset)\n" }.joined()
    }

    @Test func `inputs with and without exponents of two digits keep all texts`() throws {
        let scratch = try Scratch()
        let cells = [
            ["1e-05", "0.5", "6.02e+23"], ["0.5", "3.25"], ["1.0", "2.0", "1e-05"], ["1e5", "1E-05", "2.5"], ["0.00002", "20000.5"],
        ]
        for (i, list) in cells.enumerated() {
            try scratch.write("\(i).csv", "a,n\n" + list.map { "\($0),1\n" }.joined())
            try scratch.write("\(i).ndjson", list.map { "{\"a\":\($0)}\n" }.joined())
            #expect(try scratch.firn("convert", "\(i).csv", "c\(i).firn").code == 0)
        }
        for (a, b) in [(0, 1), (1, 0), (0, 2), (2, 0), (0, 3), (3, 0), (0, 4), (4, 0), (2, 4)] {
            let text = "a,n\n" + (cells[a] + cells[b]).map { "\($0),1\n" }.joined()
            for name in ["", "c"] {
                let kind = name.isEmpty ? "csv" : "firn", inputs = ["\(name)\(a).\(kind)", "\(name)\(b).\(kind)"]
                #expect(try FirnRun(["convert"] + inputs + ["u.firn", "--force"], in: scratch.folder).code == 0)
                #expect(try scratch.firn("convert", "u.firn", "-", "--to", "csv").out == text, "\(inputs)")
                #expect(try scratch.firn("verify", "--full", "u.firn").code == 0, "\(inputs)")
            }
            let lines = (cells[a] + cells[b]).map { "{\"a\":\($0)}\n" }.joined()
            #expect(try scratch.firn("convert", "\(a).ndjson", "\(b).ndjson", "u.firn", "--force").code == 0)
            #expect(try scratch.firn("convert", "u.firn", "-", "--to", "ndjson").out == lines, "\(a) and \(b)")
        }
    }

    @Test func `columns of numbers and dates with exceptions stay numbers and dates, and keep the texts`() throws {
        let long = (0..<2000).map { "\($0).25" }
        #expect(try unite([rows(0, ["1", "NA"]), rows(9, ["2", "1e3"])]).type == "int?")
        #expect(try unite([rows(0, ["1", "NA"]), rows(9, [".5", "1.5"])]).type == "double?")
        #expect(try unite([rows(0, long + ["see note"]), rows(9000, ["1", "2"]), rows(9010, ["n/a", "5"])]).type == "double?")
        #expect(try unite([rows(0, ["9/29/2016", "n/a"]), rows(9, ["1/31/2017"])]).type == "date?")
        #expect(try unite([rows(0, ["1.0", "8.3e-05"]), rows(9, ["2.0", "3.5"])]).type == "double")
        #expect(try unite([rows(0, ["true", "NA"]), rows(9, ["false"])]).type == "bool?")
        // One input is text: all cells are.
        #expect(try unite([rows(0, ["1", "NA", ".5"]), rows(9, ["see", "1e3"])]).type == "string?")
        #expect(try unite([rows(0, ["NA", "NA"]), rows(9, ["1", "2"])]).type == "string")
        #expect(try unite([rows(0, ["9/29/2016", "n/a"]), rows(9, ["2017-01-31"])]).type == "string?")
        // Digits that a double has lost are not in the decimals of another input.
        let digits = (0..<300).map { "\($0).5" } + [".12345678901234567890"]
        #expect(try unite([rows(0, digits), rows(900, (0..<9).map { "0.1000000000000000\($0 + 1)" })]).type.hasPrefix("string"))
    }

    @Test func `dates with zones and fractions of any rule keep all texts`() throws {
        func days(_ times: [String]) -> [String] { times.enumerated().map { "2024-03-\(10 + $0.offset % 20)T10:00:\($0.element)" } }
        let winter = ["00+01:00", "01+01:00", "02+02:00"], summer = ["00+02:00", "01+02:00", "02.000+02:00"]
        #expect(try unite([rows(0, days(winter)), rows(9, days(Array(summer[..<2])))]).type == "date")
        // The zones of one input, with the digits of another.
        let python = ["00.120000+02:00", "01+02:00", "02+01:00"], trimmed = ["00.12+02:00", "01+02:00", "02+01:00"]
        #expect(try unite([rows(0, days(python)), rows(9, days(trimmed))]).type == "string")
        #expect(try unite([rows(0, days(python)), rows(9, days(winter))]).type == "date")
        #expect(try unite([rows(0, days(winter)), rows(9, days(["00", "01"]))]).type == "string")
        #expect(try unite([rows(0, days(winter)), rows(9, ["see", "2"])]).type == "string")
        #expect(
            try unite([rows(0, days(winter)), rows(9, days(["00Z", "01Z"])), rows(20, days(["00-0800", "01+05:30"]))]).type == "date")
    }

    @Test func `numbers with decimal commas are united if they differ only in their groups and digits`() throws {
        #expect(try unite([rows(0, ["1,5", "2,25"]), rows(9, ["3,50", "4,00"])]).type == "decimal128")
        #expect(try unite([rows(0, ["1,5", "2,0"]), rows(9, ["1.003,75"])]).type == "double")
        #expect(try unite([rows(0, ["1.234,5", "2,25"]), rows(9, ["1234,75", "7,5"]), rows(20, ["1234", "12"])]).type == "double")
        #expect(try unite([rows(0, ["1.234.567", "12"]), rows(9, ["12345", "12"])]).type == "int")
        #expect(try unite([rows(0, ["1,5", "NA"]), rows(9, ["1.234,5", "+1,5"])]).type == "double?")
        #expect(try unite([rows(0, ["1,234.5", "2.25"]), rows(9, ["1234.75", "7.50"])]).type == "double")
        // Texts that are other numbers with a decimal comma, and texts that are none.
        #expect(try unite([rows(0, ["1", "5."]), rows(9, ["1,5", "2,25"])]).type == "string")
        #expect(try unite([rows(0, ["1", "NA"]), rows(9, ["1,5", "2,25"])]).type == "double?")
        let ints = (0..<9).map { "\(1000 + $0)" } + ["1.234", "-"]
        #expect(try unite([rows(0, ints), rows(50, ["1,5", "2,25"])], flags: ["--decimal", ","]).type == "double?")
        // Other marks.
        #expect(try unite([rows(0, ["1,5", "2,25"]), rows(9, ["3.5", "4.25"])]).type == "string")
        let report = try unite([rows(0, ["1.234,5", "2,25"]), rows(9, ["1234,75", "7,5"])]).errors
        #expect(report.contains("column \"x\": written in several notations; read as double"), "\(report)")
    }

    @Test func `random cells of several inputs keep their texts`() throws {
        for seed in 0..<12 {
            var random = SeededNumbers(seed: UInt64(seed) + 1)
            func cell(_ kind: Int) -> String {
                switch random.next(6) {
                case 0: return ["NA", ".5", "1e3", "+5", "", "n/a", "5."][random.next(7)]
                default: break
                }
                switch kind {
                case 0: return "\(random.next(3000))"
                case 1: return "\(random.next(3000)).\(random.next(100))"
                case 2: return "\(random.next(3000)),\(random.next(100))"
                case 3: return "\(1 + random.next(9)).\(100 + random.next(900)),\(random.next(10))"
                default: return "\(random.next(30)).50"
                }
            }
            let texts = (0..<3).map { i in
                let kind = random.next(5)
                return rows(i * 100, (0..<(1 + random.next(30))).map { _ in cell(kind) })
            }
            _ = try unite(texts)
        }
    }

    @Test func `the column for the names of inputs and chosen columns are united with original texts`() throws {
        let scratch = try Scratch()
        try scratch.write("a.csv", "x,y\n1,.5\nNA,1.5\n")
        try scratch.write("b.csv", "x,y\n2,2.5\n")
        #expect(try scratch.firn("convert", "--filename", "file", "a.csv", "b.csv", "o.firn").code == 0)
        #expect(try scratch.firn("convert", "o.firn", "-", "--to", "csv").out == "x,y,file\n1,.5,a.csv\nNA,1.5,a.csv\n2,2.5,b.csv\n")
        #expect(try scratch.firn("convert", "-c", "y,x", "a.csv", "b.csv", "p.firn").code == 0)
        #expect(try scratch.firn("convert", "p.firn", "-", "--to", "csv").out == "y,x\n.5,1\n1.5,NA\n2.5,2\n")
        // Files that have companions are inputs too.
        #expect(try scratch.firn("convert", "p.firn", "a.csv", "q.firn").code == 0)
        #expect(try scratch.firn("convert", "q.firn", "-", "--to", "csv").out == "y,x\n.5,1\n1.5,NA\n2.5,2\n.5,1\n1.5,NA\n")
        #expect(try scratch.firn("query", "a.csv", "b.csv", "--agg", "sum(x),sum(y)", "--format", "csv").out == "sum(x),sum(y)\n3,4.5\n")
    }
}

/// Numbers from a seed.
private struct SeededNumbers {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 }

    mutating func next(_ bound: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(state >> 33) % bound
    }
}
