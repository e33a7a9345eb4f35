import FirnKit
import Foundation
import Testing

/// A format that the command writes and reads.
struct OutsideFormat: CustomTestStringConvertible, Sendable {
    /// The extension of its files.
    var name: String
    /// Whether it holds lists and objects as what they are or as JSON that `firn hash` reads as such.
    var isNested = true
    /// The number of columns that a table can have, if it is limited.
    var maximumColumns: Int?

    var testDescription: String { name }

    static let all = [
        OutsideFormat(name: "parquet"), OutsideFormat(name: "arrow"), OutsideFormat(name: "arrows"),
        OutsideFormat(name: "db", isNested: false, maximumColumns: 2000), OutsideFormat(name: "json"), OutsideFormat(name: "ndjson"),
        OutsideFormat(name: "csv", isNested: false),
    ]
    /// Those whose files hold the type of every column.
    static let typed = all.filter { !["json", "ndjson", "csv"].contains($0.name) }
}

/// What holds for all formats.
@Suite struct ConformanceTests {
    /// Converts `source` to each format, and compares its hash there, and in a `.firn` file made of it, with the hash of `source`.
    private func compare(_ source: String, in scratch: Scratch, formats: [OutsideFormat]) throws {
        func hash(_ file: String) throws -> String {
            let run = try scratch.firn("hash", file)
            #expect(run.code == 0, "hash \(file): \(run.errors)")
            return String(run.out.prefix(32))
        }
        let expected = try hash(source)
        #expect(expected.count == 32)
        for format in formats {
            let target = "t.\(format.name)", run = try scratch.firn("convert", source, target, "-f")
            #expect(run.code == 0 && scratch.has(target), "\(target): \(run.errors)")
            #expect(try hash(target) == expected, "\(target)")
            let back = try scratch.firn("convert", target, "back.firn", "-f")
            #expect(back.code == 0, "\(target): \(back.errors)")
            #expect(try hash("back.firn") == expected, "back from \(target)")
        }
    }

    @Test func `a table of scalars has one hash in every format`() throws {
        let scratch = try Scratch()
        var random = Random(seed: 7)
        let rows = (0..<2000).map { row in
            let amount = Double(random.below(1_000_000)) / 64
            return "{\"id\":\(row),\"name\":\"n\(random.below(50))\",\"amount\":\(amount)"
                + ",\"isOpen\":\(row % 3 == 0),\"note\":\(row % 5 == 0 ? "null" : "\"é🌍 \(row)\"")}\n"
        }
        try scratch.write("t.ndjson", rows.joined())
        #expect(try scratch.firn("convert", "t.ndjson", "t.firn", "--key", "id").code == 0)
        try compare("t.firn", in: scratch, formats: OutsideFormat.typed)
    }

    @Test func `extreme values have one hash in every format with types`() throws {
        let scratch = try Scratch()
        let numbers = ["-9223372036854775808", "9223372036854775807", "0", "-1"]
        let doubles = ["1.7976931348623157e308", "-5e-324", "-0.0", "0.1"], texts = ["", "\\u0000", "\\n\\t\\\"", "\u{10FFFD}"]
        let rows = (0..<4).map { "{\"a\":\(numbers[$0]),\"b\":\(doubles[$0]),\"c\":\"\(texts[$0])\"}\n" }
        try scratch.write("t.ndjson", rows.joined())
        #expect(try scratch.firn("convert", "t.ndjson", "t.firn").code == 0)
        try compare("t.firn", in: scratch, formats: OutsideFormat.typed)
    }

    @Test func `lists, maps and objects have one hash in every format that holds them`() throws {
        let scratch = try Scratch()
        let rows = (0..<300).map { row in
            "{\"id\":\(row),\"tags\":[\((0..<(row % 4)).map { "\"t\($0)\"" }.joined(separator: ","))]"
                + ",\"place\":\(row % 7 == 0 ? "null" : "{\"x\":\(row),\"y\":{\"z\":\"\(row)\"}}")}\n"
        }
        try scratch.write("t.ndjson", rows.joined())
        #expect(try scratch.firn("convert", "t.ndjson", "t.firn").code == 0)
        try compare("t.firn", in: scratch, formats: OutsideFormat.typed.filter(\.isNested))
    }

    @Test(arguments: OutsideFormat.typed) func `tables without rows or without values keep their columns`(format: OutsideFormat) throws {
        let scratch = try Scratch()
        try scratch.write("t.ndjson", "{\"a\":1,\"b\":\"x\",\"c\":null}\n{\"a\":null,\"b\":null,\"c\":null}\n")
        #expect(try scratch.firn("convert", "t.ndjson", "t.firn").code == 0)
        #expect(try scratch.firn("convert", "t.firn", "none.\(format.name)", "--where", "a == 5").code == 0)
        #expect(try scratch.firn("convert", "t.firn", "null.\(format.name)", "--where", "a == nil").code == 0)
        for (file, count) in [("none", "0"), ("null", "1")] {
            let run = try scratch.firn("query", "\(file).\(format.name)", "-a", "count", "--format", "csv")
            #expect(run.code == 0 && run.out.hasSuffix("\n\(count)\n"), "\(file).\(format.name): \(run.out)\(run.errors)")
            let schema = try scratch.firn("schema", "\(file).\(format.name)", "--json")
            for name in ["a", "b", "c"] { #expect(schema.out.contains("\"\(name)\""), "\(file).\(format.name): \(schema.out)") }
        }
    }

    @Test(arguments: OutsideFormat.all) func `ten thousand columns come back, or are refused with the limit`(format: OutsideFormat) throws {
        let scratch = try Scratch(), count = 10_000
        let header = (0..<count).map { "c\($0)" }.joined(separator: ","), row = (0..<count).map(String.init).joined(separator: ",")
        try scratch.write("in.csv", "\(header)\n\(row)\n")
        #expect(try scratch.firn("convert", "in.csv", "t.firn").code == 0)
        let run = try scratch.firn("convert", "t.firn", "t.\(format.name)")
        if let limit = format.maximumColumns {
            #expect(run.code == 3 && run.errors.contains("\(limit)") && !scratch.has("t.\(format.name)"), "\(run.code) \(run.errors)")
        } else {
            #expect(run.code == 0, "\(run.errors)")
            let query = try scratch.firn("query", "t.\(format.name)", "-s", "c9999", "--format", "csv")
            #expect(query.out == "c9999\n9999\n", "\(query.out.prefix(200))\(query.errors)")
        }
    }

    @Test(arguments: OutsideFormat.typed) func `files that are not of the format of their extension are errors`(format: OutsideFormat)
        throws
    {
        let scratch = try Scratch()
        for (number, bytes) in [[UInt8](repeating: 0, count: 4096), Array("PK\u{3}\u{4} something else".utf8), [0xFF, 0xFE, 0, 1]]
            .enumerated()
        {
            let name = "f\(number).\(format.name)"
            try Data(bytes).write(to: scratch.file(name))
            let run = try scratch.firn("convert", name, "out.firn")
            #expect([3, 4].contains(run.code) && run.errors.contains(name) && !run.isCrash, "\(run.code) \(run.errors)")
            #expect(!scratch.has("out.firn"))
        }
    }

    @Test(
        .enabled(if: !Pair.all.isEmpty, "the test data is not next to the package"),
        arguments: Pair.all.filter { !["babynames", "country-codes", "ragged-fixed-sp500"].contains($0) })
    func `the difference of two real versions is the same between any two formats`(name: String) throws {
        let pair = try #require(Pair(SharedData.folder!.appending(path: "pairs/\(name)")))
        let scratch = try Scratch()
        let hasNesting = pair.file("old").hasSuffix(".json")
        let formats = OutsideFormat.typed.filter { $0.isNested || !hasNesting }
        for format in formats {
            for side in ["old", "new"] {
                let run = try scratch.firn("convert", pair.file(side), "\(side).\(format.name)", "--type", "rows", "-q")
                #expect(run.code == 0, "\(side).\(format.name): \(run.errors)")
            }
        }
        for (number, format) in formats.enumerated() {
            let other = formats[(number + 1) % formats.count]
            let run = try scratch.firn("diff", "old.\(format.name)", "new.\(other.name)", "--key", pair.key, "--format", "ndjson")
            let last = try #require(run.out.split(separator: "\n").last, "\(run.errors)")
            let summary = try #require(try JSONSerialization.jsonObject(with: Data(last.utf8)) as? [String: Any])
            let found = ["added", "removed", "changed", "unchanged", "cells"].map { summary[$0] as? Int }
            let rows = ["added", "removed", "changed_rows", "unchanged_rows"].map { pair.count($0) }
            let expected = rows + [pair.changedCellsOfCommonColumns]
            #expect(found == expected, "\(format.name) and \(other.name): \(run.errors)")
        }
    }
}
