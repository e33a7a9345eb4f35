import Foundation
import Testing

/// Numbers in unusual spellings, and strings among numbers, in objects, lists and maps: through files, to CSV and back, in unions.
@Suite struct OriginalPartTests {
    private let odd = [
        #"{"id":0,"at":{"lat":1e3,"lon":2.5,"deep":{"q":"NA"}},"list":[1,"n/a",3e0],"sizes":{"2020-01-01":4,"2020-01-02":"NA","2020-01-03":6}}"#,
        #"{"id":1,"at":{"lat":"NA","lon":7.0,"deep":{"q":5}},"list":[]}"#, #"{"id":2,"at":{"deep":{"q":"12"}},"list":[4]}"#,
    ]
    private var text: String {
        odd.joined(separator: "\n") + "\n"
            + (3..<500).map {
                "{\"id\":\($0),\"at\":{\"lat\":\($0),\"lon\":\(Double($0) / 4),\"deep\":{\"q\":\($0 * 2)}},\"list\":[\($0)]}\n"
            }
            .joined()
    }

    private func flat(_ text: String) -> String { text.replacing("\n", with: "") }

    @Test func `odd spellings within objects, lists and maps are numbers in queries and the same tokens in JSON`() throws {
        let scratch = try Scratch()
        try scratch.write("s.ndjson", text)
        let run = try scratch.firn("convert", "--key", "id", "s.ndjson", "s.firn", "--lossless")
        #expect(run.code == 0 && run.errors.contains("column \"at.lat\": 1 number is spelled unusually (first: 1e3)"), "\(run.errors)")
        #expect(run.errors.contains("column \"at.deep.q\": 1 of 500 values is kept as text next to null (first: \"NA\")"), "\(run.errors)")
        for file in ["s.ndjson", "s.firn"] {
            let answer = try scratch.firn("query", file, "--agg", "max(at.lat),count(at.lat),sum(at.deep.q)", "--format", "csv")
            #expect(answer.out.split(separator: "\n").last == "1000,498,249511", "\(file): \(answer.out) \(answer.errors)")
            #expect(try scratch.firn("query", file, "id = 1", "--format", "csv").out.contains("original") == false)
        }
        let schema = try scratch.firn("schema", "s.firn")
        #expect(!schema.out.contains("original") && schema.errors.contains("column \"at\" keeps 3 original texts"), "\(schema.errors)")
        #expect(try scratch.firn("verify", "--full", "s.firn").code == 0)
        #expect(try scratch.firn("diff", "s.ndjson", "s.firn", "--key", "id").code == 0)
        for words in [
            ["compact", "s.firn", "c.firn"], ["recover", "s.firn", "r.firn"], ["convert", "s.firn", "w.firn", "--where", "id >= 0"],
            ["convert", "s.firn", "p.parquet"], ["convert", "s.firn", "o.firn", "-c", "id,at,list,sizes"],
        ] {
            let run = try FirnRun(words, in: scratch.folder)
            #expect(run.code == 0, "\(words): \(run.errors)")
            #expect(try scratch.firn("convert", words[2], "-", "--to", "ndjson").out == text, "\(words)")
        }
        // JSON in cells has the tokens too.
        let csv = try scratch.firn("convert", "s.firn", "-", "--to", "csv").out
        #expect(csv.contains(#""{""lat"":1e3,""lon"":2.5,""deep"":{""q"":""NA""}}","[1,""n/a"",3e0]""#), "\(csv.prefix(300))")
    }

    @Test func `fields that become columns, and columns that become fields, keep the texts`() throws {
        let scratch = try Scratch()
        try scratch.write("s.ndjson", text)
        #expect(try scratch.firn("convert", "--flatten", "s.ndjson", "flat.csv").code == 0)
        let lines = try scratch.read("flat.csv").split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines[0] == "id,at.lat,at.lon,at.deep.q,list,sizes")
        #expect(
            lines[1].hasPrefix("0,1e3,2.5,NA,") && lines[2].hasPrefix("1,NA,7.0,5,[]") && lines[3].hasPrefix("2,,,12,"), "\(lines[1...3])")
        #expect(
            try scratch.firn("convert", "s.ndjson", "-", "--to", "csv", "-c", "id,at.lat", "--where", "id < 3").out
                == "id,at.lat\n0,1e3\n1,NA\n2,\n")
        for (words, wanted) in [
            (["--flatten", "s.ndjson"], text), (["flat.csv"], text.replacing("\"12\"", with: "12")),
        ] {
            let nested = words[0] == "flat.csv" ? ["convert", "--nest", "flat.csv"] : ["convert"] + words
            #expect(try FirnRun(nested + ["x.firn", "--force"], in: scratch.folder).code == 0)
            let back = words[0] == "flat.csv" ? ["convert", "x.firn"] : ["convert", "--nest", "x.firn"]
            let run = try FirnRun(back + ["-", "--to", "ndjson"], in: scratch.folder)
            #expect(
                run.out.split(separator: "\n").prefix(3).map { line in line.split(separator: ",\"list\"")[0] }
                    == wanted.split(separator: "\n").prefix(3).map { line in line.split(separator: ",\"list\"")[0] }, "\(run.errors)")
        }
        // Texts that are no numbers in JSON.
        try scratch.write("c.csv", "id,a.x,a.y\n1,.5,NA\n2,1.5,4\n3,,2\n")
        let run = try scratch.firn("convert", "--nest", "c.csv", "-", "--to", "ndjson")
        #expect(run.out == "{\"id\":1,\"a\":{\"x\":0.5,\"y\":\"NA\"}}\n{\"id\":2,\"a\":{\"x\":1.5,\"y\":4}}\n{\"id\":3,\"a\":{\"y\":2}}\n")
        #expect(run.errors.contains("1 original text of fields is left out: JSON has no such numbers"), "\(run.errors)")
    }

    @Test func `numbers with groups or a decimal comma are never written as other numbers`() throws {
        let scratch = try Scratch()
        let rows = (0..<2000).map { "\($0 + 1000),5;\($0)\n" }.joined()
        try scratch.write("c.csv", "a.x;b\n" + rows + "1.234;7\n12e3;8\n")
        for flags in [[], ["--nest"]] {
            let run = try FirnRun(["convert"] + flags + ["c.csv", "-", "--to", "ndjson"], in: scratch.folder)
            let values = run.out.split(separator: "\n").suffix(2).map { $0.filter { "0123456789.e".contains($0) } }
            #expect(values.count == 2 && !run.out.contains("1.234,") && !run.out.contains("1.234}"), "\(run.out.suffix(60)) \(run.errors)")
        }
    }

    @Test func `inputs that are united keep the texts of parts`() throws {
        let scratch = try Scratch(), lines = text.split(separator: "\n").map { $0 + "\n" }
        try scratch.write("a.ndjson", lines[..<2].joined())
        try scratch.write("b.ndjson", lines[2...].joined())
        for files in [["a.ndjson", "b.ndjson"], ["b.ndjson", "a.ndjson"]] {
            let run = try FirnRun(["convert"] + files + ["u.firn", "--force"], in: scratch.folder)
            #expect(run.code == 0, "\(run.errors)")
            let back = try scratch.firn("convert", "u.firn", "-", "--to", "ndjson").out
            // Members are in the order of the first input.
            let same = { (text: String) in text.split(separator: "\n").map { String($0.sorted()) }.sorted() }
            #expect(same(back) == same(text), "\(run.errors)")
        }
    }
}
