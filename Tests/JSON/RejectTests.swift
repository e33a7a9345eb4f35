import FirnBytes
import FirnExchange
import FirnKit
import FirnTable
import Testing

@testable import FirnJSON

@Suite struct RejectTests {
    /// Collects the rows that were set aside, and the reasons.
    private final class Aside: @unchecked Sendable {
        var text = ""
        var reasons: [String] = []
        var rejects: Rejects {
            Rejects { row, reason in
                self.text += String(decoding: row, as: UTF8.self)
                self.reasons.append(reason.map { "\($0)" } ?? "no reason")
            }
        }
    }

    private func read(_ text: String, _ layout: JSONOptions.Layout = .lines, change: (inout JSONOptions) -> Void = { _ in }) throws -> (
        Table, Aside
    ) {
        let aside = Aside()
        let table = try Table(text, layout) {
            $0.rejects = aside.rejects
            change(&$0)
        }
        return (table, aside)
    }

    @Test func `lines that are not JSON or not objects are set aside unchanged`() throws {
        let text = "{\"a\":1}\r\n{\"a\":\n\n  nonsense \n[1]\n{\"a\":2} {\"a\":3}\nnull\n{\"b\":\"x\\n\"}\n{\"a\":01}\n{\"a\":\"\u{1}\"}"
        let (table, aside) = try read(text)
        #expect(FirnJSONTests.text(try table.written(.lines)) == "{\"a\":1}\n{\"b\":\"x\\n\"}\n")
        #expect(aside.text == "{\"a\":\n  nonsense \n[1]\n{\"a\":2} {\"a\":3}\nnull\n{\"a\":01}\n{\"a\":\"\u{1}\"}\n")
        #expect(
            aside.reasons.map { $0.prefix { $0 != " " } } == [
                "test.json:2:6:", "test.json:4:3:", "test.json:5:1:", "test.json:6:9:", "test.json:7:1:", "test.json:9:6:",
                "test.json:10:7:",
            ],
            "\(aside.reasons)")
        #expect(aside.reasons[2].hasSuffix("expected an object, found an array"))
    }

    @Test func `lines that are set aside do not affect the inferred types`() throws {
        let huge = "{\"z\":1.2345678901234567890123456789012345}",
            deep = "{\"y\":" + String(repeating: "[", count: 200) + String(repeating: "]", count: 200) + "}"
        let (table, aside) = try read("{\"a\":1}\n\(huge)\n{\"a\":2\n\(deep)\n{\"a\":2}\n{\"a\":\"x\", \"q\": 1}\n") {
            $0.given = GivenSchema(Schema([TypeSchema("T", columns: [ColumnSchema("a", ColumnType(.int, optional: true))])]), rows: "T")
        }
        #expect(table.type.columns.map(\.name) == ["a"])
        #expect(aside.text.split(separator: "\n").map(String.init) == [huge, "{\"a\":2", deep, "{\"a\":\"x\", \"q\": 1}"])
        #expect(aside.reasons.last == "test.json:6:6: expected a whole number, found \"x\" (column \"a\")")
    }

    @Test func `the ends of blocks do not change what is set aside`() throws {
        let text = "{\"a\":1}\n{\"a\":\n\n[2]\n{\"a\":2.5}\r\nx\n  {\"b\":1}\nx\n"
        let (whole, expected) = try read(text)
        for size in 1...(text.utf8.count + 1) {
            let (table, aside) = try read(text) {
                $0.blockSize = size
                $0.threads = 1 + size % 3
            }
            #expect(
                table.schema == whole.schema && aside.text == expected.text && aside.reasons == expected.reasons,
                "block size \(size): \(aside.reasons)")
            #expect(try table.written(.lines) == whole.written(.lines))
        }
    }

    @Test func `plain values are rows if no line is an object`() throws {
        let (table, aside) = try read("1\nx\n\"a\"\n")
        #expect(table.typeName("value") == "any" && aside.text == "x\n")
        let (array, other) = try read("[1,2]", .document)
        #expect(array.typeName("value") == "int" && other.text.isEmpty)
        #expect(try read("x\ny\n").1.text == "x\ny\n")
    }

    @Test func `elements of an array are set aside unchanged, and the document is written without them`() throws {
        let text = "{\"name\": \"n\", \"rows\": [\n  {\"a\": 1},\n  {\"a\": \"\\\"]\",\n   \"b\": [{}]},\n  {\"a\": 3}\n]}"
        let given = GivenSchema(Schema([TypeSchema("T", columns: [ColumnSchema("a", ColumnType(.int))])]), rows: "T")
        let (table, aside) = try read(text, .document) { $0.given = given }
        #expect(aside.text == "{\"a\": \"\\\"]\",\n   \"b\": [{}]}\n")
        #expect(aside.reasons == ["test.json:3:9: expected a whole number, found \"\"]\" (column \"a\")"])
        #expect(FirnJSONTests.text(try table.written()) == "{\"name\":\"n\",\"rows\":[\n{\"a\":1},\n{\"a\":3}\n]}\n")
        let (_, mixed) = try read("[5, {\"a\":1}, \"x\" , [ 1,{\"a\":2}], null]", .document)
        #expect(mixed.text == "5\n\"x\"\n[ 1,{\"a\":2}]\nnull\n")
        let (_, keyed) = try read("{\"p\" : {\"a\":1}, \"q\" :  {\"a\":true}, \"r\":{}}", .document) { $0.given = given }
        #expect(keyed.text == "{\"q\" :  {\"a\":true}}\n{\"r\":{}}\n")
        #expect(throws: FirnError.self) { try read("[{\"a\":1}, {\"a\":}]", .document) }
    }

    @Test func `rows that link to each other by row number cannot be set aside`() {
        let given = GivenSchema(
            Schema([TypeSchema("T", columns: [ColumnSchema("a", ColumnType(.link, optional: true, target: "T"))])]), rows: "T")
        let error = #expect(throws: FirnError.self) { try read("{}\n") { $0.given = given } }
        #expect(error?.code == .usage)
    }

    @Test func `half of sixty thousand lines can be set aside`() throws {
        var text = "", bad = 0
        for i in 0..<60_000 {
            if i % 2 == 0 {
                text += "{\"i\":\(i)\n"
                bad += 1
            } else {
                text += "{\"i\":\(i)}\n"
            }
        }
        let (table, aside) = try read(text)
        #expect(table.batches.reduce(0) { $0 + $1.count } == 60_000 - bad && aside.reasons.count == bad)
        #expect(aside.reasons[1].hasPrefix("test.json:3:"))
    }

    @Test func `lines that are not UTF-8 are set aside byte for byte`() throws {
        let bad = Array("{\"a\":\"".utf8) + [0xFF, 0xC3] + Array("\"}\n".utf8), good = Array("{\"a\":\"\u{E9}\"}\n".utf8)
        nonisolated(unsafe) var aside: [UInt8] = [], places: [Int?] = []
        let table = try Table(good + bad + good + [0, 10], .lines) {
            $0.rejects = Rejects { row, reason in
                aside += Array(row)
                places += [reason?.location?.line, reason?.location?.column]
            }
        }
        #expect(try table.written(.lines) == good + good)
        #expect(aside == bad + [0, 10] && places.prefix(3) == [2, 7, 4], "\(aside) \(places)")
    }

    @Test func `damaged lines never crash, and the intact lines are kept`() throws {
        var random = Random(seed: 7)
        for round in 0..<400 {
            var lines = (0..<20).map { "{\"a\":\($0),\"b\":[\"x\\u00e9\",{\"c\":null}],\"d\":{\"e\":-1.5e3}}" }
            var touched: Set<Int> = []
            for _ in 0..<Int.random(in: 0...5, using: &random) {
                let line = Int.random(in: 0..<20, using: &random)
                var bytes = Array(lines[line].utf8)
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = "{}[]\",:x0 ".utf8.randomElement(using: &random)!
                lines[line] = String(decoding: bytes, as: UTF8.self)
                touched.insert(line)
            }
            let (table, aside) = try read(lines.joined(separator: "\n")) { $0.blockSize = Int.random(in: 1...900, using: &random) }
            let kept = table.batches.reduce(0) { $0 + $1.count }
            #expect(kept + aside.reasons.count == lines.count { $0.contains { $0 != " " } }, "round \(round)")
            #expect(kept >= 20 - touched.count, "round \(round)")
            for line in aside.text.split(separator: "\n") { #expect(lines.contains(String(line)), "round \(round): \(line)") }
        }
    }
}
