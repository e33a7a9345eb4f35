import FirnBytes
import FirnExchange
import FirnKit
import FirnTable
import Foundation
import Testing

@testable import FirnJSON

/// The content of an input decides how it is read, and the rows are found in it.
@Suite struct LayoutTests {
    private func read(_ bytes: [UInt8], named layout: JSONOptions.Layout = .document, change: (inout JSONOptions) -> Void = { _ in }) throws
        -> Table
    {
        try Table(bytes, layout) { options in
            options.findsLayout = true
            change(&options)
        }
    }

    /// Parses the values of a text, one after the other.
    private func values(_ bytes: [UInt8]) throws -> [NSObject] {
        var cutter = ValueCutter(), lines: [UInt8] = []
        for byte in bytes { cutter.add(byte, to: &lines) }
        cutter.end(&lines)
        return try lines.split(separator: 10).map { try foundation(Array($0)) }
    }

    @Test(arguments: [
        ("{\"a\":1}\n{\"a\":2}\n", 2), ("{\"a\":1}\n\n{\"a\":2}", 2), ("{\n  \"a\": 1\n}\n{\n  \"a\": 2\n}\n", 2),
        ("{\"a\":1}{\"a\":2} {\"a\":3}", 3),
        ("\u{1E}{\"a\":1}\n\u{1E}{\"a\":2}\n", 2), ("[\n  {\"a\": 1},\n  {\"a\": 2}\n]\n", 2), ("{\"a\":1}", 1), ("1\n2\n3", 3),
        ("\"a\" \"b\"", 2),
        ("[1,2]\n[3]\n", 2), ("\u{FEFF}{\"a\":1}\n{\"a\":2}", 2), ("{\"x\":{\"y\":[{\"a\":1},{\"a\":2}]}}", 2),
        ("{\"rows\":[{\"a\":1}],\"n\":\"{}\\\"{\"}", 1),
    ])
    func `every layout is read whatever the name, and is written back as it was`(text: String, rows: Int) throws {
        for layout in [JSONOptions.Layout.document, .lines] {
            let table = try read(Array(text.utf8), named: layout)
            if layout == .document { #expect(table.batches.reduce(0) { $0 + $1.count } == rows, "\(text)") }
            if layout == .document {
                #expect(try values(table.written()) == values(Array(text.utf8)), "\(text)")
            }
        }
    }

    @Test func `a first value of any length can be followed by others`() throws {
        let long = "{\"a\":[" + Array(repeating: "\"0123456789\"", count: 20_000).joined(separator: ",") + "]}"
        for separator in ["\n", " ", "\n\n"] {
            #expect(try read(Array((long + separator + "{\"a\":[]}").utf8)).batches[0].count == 2)
        }
        #expect(try read(Array((long + "\n{\"a\":[]}\n").utf8), named: .lines).batches[0].count == 2)
        #expect(try read(Array(long.replacing(",", with: ",\n").utf8), named: .lines).batches[0].count == 1)
    }

    @Test func `text in UTF-16 is read, with and without a byte order mark`() throws {
        let text = "[{\"a\":\"é😀\"},{\"a\":\"x\"}]",
            long = "[" + Array(repeating: "{\"a\":\"é😀\"}", count: 9000).joined(separator: ",") + "]"
        for (encoding, mark) in [(String.Encoding.utf16LittleEndian, [0xFF, 0xFE] as [UInt8]), (.utf16BigEndian, [0xFE, 0xFF])] {
            for prefix in [mark, []] {
                for text in [text, long] {
                    let bytes = prefix + Array(text.data(using: encoding)!)
                    #expect(try foundation(try read(bytes).written()).isEqual(foundation(Array(text.utf8))))
                    #expect(try Table(bytes, .document).batches[0].columns[0].value(at: 0) == .string("é😀"))
                }
            }
            // Half a surrogate pair, or half a code unit, is refused with its line.
            let broken = mark + Array("[\n\"".data(using: encoding)!) + (encoding == .utf16BigEndian ? [0xD8, 0] : [0, 0xD8])
            let error = #expect(throws: FirnError.self) { try read(broken + Array("\"]".data(using: encoding)!)) }
            #expect(error?.location?.line == 2, "\(error.map { "\($0)" } ?? "")")
            #expect(error?.message == "not valid UTF-16")
            for layout in [JSONOptions.Layout.document, .lines] {
                let half = #expect(throws: FirnError.self) { try Table(mark + Array("[1]\n".data(using: encoding)!) + [0], layout) }
                #expect(half?.message == "not valid UTF-16", "\(half?.message ?? "")")
            }
        }
        let wide = #expect(throws: FirnError.self) { try read([0xFF, 0xFE, 0, 0, 0x5B, 0, 0, 0]) }
        #expect(wide?.advice != nil)
    }

    @Test func `errors in a sequence of values have the line and the column of the input`() throws {
        func place(_ text: String) -> String {
            do {
                _ = try read(Array(text.utf8))
                return "accepted"
            } catch let error as FirnError { return error.location?.description ?? "no location" } catch { return "\(error)" }
        }
        #expect(place("{\n\"a\":1}\n{\n \"a\":x}\n") == "test.json:4:6")
        #expect(place("{\"a\":1}{\"a\":y}") == "test.json:1:13")
        #expect(place("\u{FEFF}{\"a\":1}{\"a\":y}") == "test.json:1:13")
        #expect(place("{\"a\":1}\n{\"a\":\n") == "test.json:2:6")
        #expect(place("{\"a\":1} x") == "test.json:1:9")
        #expect(place("{\n}\n" + String(repeating: "[", count: 600)) == "test.json:3:513")
    }

    @Test func `truncated values of a sequence with record separators are rejected, and the others are read`() throws {
        nonisolated(unsafe) var rejected: [String] = []
        let table = try read(Array("\u{1E}{\"a\":1}\n\u{1E}{\"a\":\n\u{1E}{\"a\":3}\n".utf8)) { options in
            options.rejects = Rejects { (row, _) throws(FirnError) in rejected.append(String(decoding: row, as: UTF8.self)) }
        }
        #expect(table.batches[0].count == 2)
        #expect(rejected == ["{\"a\": \n"], "\(rejected)")
    }

    @Test func `the rows are the array of objects that prevails in the document`() throws {
        let cases: [(String, String, Int)] = [
            (#"{"meta":{"n":1},"data":{"items":[{"id":1},{"id":2}]}}"#, "/data/items", 2), (#"{"rows":[{"a":1}],"x":5}"#, "/rows", 1),
            (#"{"a":[{"x":1}],"b":[{"x":2}]}"#, "", 1), (#"{"a":{"x":[{"p":1}]},"b":{"x":[{"p":2}]}}"#, "", 2),
            (#"{"a~/b":{"":[{"id":1},{"id":2},{"id":3}]}}"#, "/a~0~1b/", 3),
        ]
        for (document, pointer, rows) in cases {
            let table = try read(Array(document.utf8))
            #expect(table.batches[0].count == rows, "\(document)")
            try expectSameDocument(Array(document.utf8))
            let named = try read(Array(document.utf8)) { $0.rows = pointer }
            #expect(try foundation(named.written()).isEqual(foundation(Array(document.utf8))), "\(document)")
            if !pointer.isEmpty { #expect(named.batches[0].count == rows) }
        }
        // A small array at the edge of a large document is not the document.
        let large = "{\"tags\":[{\"t\":1}],\"all\":{" + (0..<300).map { "\"k\($0)\":{\"v\":[1,2]}" }.joined(separator: ",") + "}}"
        let table = try read(Array(large.utf8))
        #expect(table.batches[0].count == 1 && table.remarks.contains { $0.contains("--rows /tags") }, "\(table.remarks)")
        try expectSameDocument(Array(large.utf8))
    }

    @Test func `a pointer selects rows of any kind, and a wrong one is refused with the names that exist`() throws {
        let document = Array(#"{"m":{"a":{"x":1},"b":{"x":2}},"n":[1,2,3],"s":"text","o":{"p":1,"q":null},"e":[]}"#.utf8)
        for (pointer, rows, first) in [
            ("/m", 2, "key"), ("/n", 3, "value"), ("/s", 1, "value"), ("/o", 1, "p"), ("/e", 0, "value"), ("", 1, "m"),
        ] {
            let table = try read(document) { $0.rows = pointer }
            #expect(table.batches.reduce(0) { $0 + $1.count } == rows && (table.type.columns.first?.name ?? "") == first, "\(pointer)")
            #expect(try foundation(table.written()).isEqual(foundation(document)), "\(pointer)")
        }
        #expect(try read(document) { $0.rows = "/m" }.type.key == [0])
        let missing = #expect(throws: FirnError.self) { try read(document) { $0.rows = "/x" } }
        #expect(missing?.code == .usage && missing?.advice?.contains("\"m\", \"n\"") == true)
        for pointer in ["m", "/n/0", "/s/x"] { #expect(throws: FirnError.self, "\(pointer)") { try read(document) { $0.rows = pointer } } }
        #expect(throws: FirnError.self) { try read(Array("{}\n{}\n".utf8)) { $0.rows = "/m" } }
    }

    @Test func `the document around the rows is stored compressed and can be read`() throws {
        let rest = (0..<500).map { "\"k\($0)\":\"some text that repeats\"" }.joined(separator: ",")
        let table = try read(Array("{\(rest),\"rows\":[\((0..<999).map { "{\"a\":\($0)}" }.joined(separator: ","))]}".utf8))
        let envelope = try #require(table.type.envelope)
        #expect(envelope.utf8.count * 4 < rest.utf8.count && table.batches[0].count == 999, "\(envelope.utf8.count) bytes")
        let document = try #require(JSONSurroundings.document(of: table.type, .unlimited))
        #expect(text(document) == "{\(rest),\"rows\":null}")
        #expect(JSONSurroundings.document(of: table.type, MemoryBudget(limit: 100)) == nil)
    }

    @Test func `envelopes of older files are read, and damaged ones are ignored`() throws {
        let type = TypeSchema(
            "T", columns: [ColumnSchema("a", ColumnType(.int))],
            envelope: #"{"json":"member","pretty":false,"member":"rows","document":{"x":1,"rows":null,"y":[2]}}"#)
        func written(_ type: TypeSchema) throws -> String {
            var batch = Batch(type, in: Schema([type]))
            batch.columns[0].append(.int(7))
            batch.count = 1
            let output = Output(memory: "out"), writer = JSONWriter(output)
            try writer.begin(Schema([type]))
            try writer.write(batch, type: "T")
            try writer.finish()
            return text(output.bytes).replacing("\n", with: "")
        }
        #expect(try written(type) == #"{"x":1,"rows":[{"a":7}],"y":[2]}"#)
        for envelope in [
            #"{"json":"rows","path":["a"],"at":5,"text":"{\"a\":1}"}"#, #"{"json":"rows","path":["a"],"at":-1,"text":"null"}"#,
            #"{"json":"rows","path":["a"],"at":0,"packed":"AAAA"}"#, #"{"json":"rows","path":["a"],"at":99999999999999,"text":"null"}"#,
            #"{"json":"member"}"#, "x", #"{"json":"rows","path":["a"]}"#,
        ] {
            var damaged = type
            damaged.envelope = envelope
            #expect(try written(damaged) == #"[{"a":7}]"#, "\(envelope)")
        }
    }

    @Test func `random bytes are read the same way in any layout, or are an error`() throws {
        let seed = Seed.one(21)
        var dice = Random(seed), read = 0
        let base = Array("{\"a\":[1,{\"b\":\"x\\\"y\"}]}\n{\"a\":[]}\u{1E}{\"a\":[2]}[]".utf8)
        for _ in 0..<2000 {
            var bytes = base
            for _ in 0...dice.below(3) {
                bytes[dice.below(bytes.count)] =
                    dice.below(3) == 0 ? UInt8(dice.below(256)) : Array("{}[],:\"\\ \n\u{1E}".utf8)[dice.below(11)]
            }
            for layout in [JSONOptions.Layout.document, .lines, .values] {
                guard let table = try? Table(bytes, layout, change: { $0.findsLayout = layout != .values }) else { continue }
                _ = try table.written()
                read += 1
            }
        }
        #expect(read > 100, "seed \(seed)")
    }
}
