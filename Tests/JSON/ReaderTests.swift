import FirnBytes
import FirnExchange
import FirnTable
import Foundation
import Testing

@testable import FirnJSON

@Suite struct ReaderTests {
    @Test func `the columns of an array of objects have types that fit all of its objects`() throws {
        let table = try Table(#"[{"a":1,"b":"x","c":true,"d":1.5,"e":[1,2],"f":{"g":null}},{"a":2,"c":false,"d":2,"e":[],"f":{"g":3}}]"#)
        #expect(table.typeName("a") == "int")
        #expect(table.typeName("b") == "string?")
        #expect(table.typeName("c") == "bool")
        #expect(table.typeName("d") == "double")
        #expect(table.typeName("e") == "list<int>")
        #expect(table.typeName("f") == "Row_f")
        #expect(table.schema["Row_f"]?.columns.map(\.type.name) == ["int?"])
        #expect(table.schema["Row_f"]?.isEmbedded == true)
        #expect(table.batches[0].columns[4].value(at: 0) == .list([.int(1), .int(2)]))
    }

    @Test func `every form of document survives a round trip`() throws {
        for document in [
            #"[]"#, #"{}"#, #"[{}]"#, #"[{},{"a":1}]"#, #"[1,2,3]"#, #"[1,"a",null,[2],{"b":[]}]"#, #"null"#, #"5"#, #""text""#, #"[null]"#,
            #"[[1],[2,3],[]]"#,
            #"{"name":"x","rows":[{"a":1},{"a":2}],"more":{"z":[1,{"q":null}]}}"#, #"{"rows":[{"a":1}]}"#,
            #"{"a":{"x":1},"b":{"x":2,"y":[{}]}}"#,
            #"{"a":{"key":1},"b":{"key":2}}"#, #"{"one":1,"two":[1,2],"three":{"four":null}}"#, #"{"a":[{"x":1}],"b":[{"x":2}]}"#,
            #"[{"a":{"b":{"c":{"d":{"e":{"f":{"g":{"h":{"i":{"j":1}}}}}}}}}}]"#, #"[{"a":{}},{"a":null}]"#,
            #"[{"a":[{}]},{"a":[null]},{"a":[]}]"#,
            #"[{"a":null},{"a":null}]"#, #"[{"a":[[1],["x"]]}]"#, #"[{"a":"x"},{"a":["x"]},{"a":{"b":"x"}},{"a":1e300},{"a":false}]"#,
            #"[{"":1}]"#,
            "[{\"a\":\"q\\\"\\\\\\u0001\\n\\u00e9\\ud83d\\ude00/\"}]", "\u{FEFF}[{\"a\":1}]", " \n[ ]\n ",
        ] {
            try expectSameDocument(Array(document.utf8).starts(with: [0xEF]) ? Array(document.utf8.dropFirst(3)) : Array(document.utf8))
        }
    }

    @Test func `a byte order mark is ignored`() throws {
        let table = try Table("\u{FEFF}[{\"a\":1}]")
        #expect(table.type.columns.map(\.name) == ["a"])
        #expect(try Table("\u{FEFF}{\"a\":1}\n{\"a\":2}\n", .lines).batches[0].count == 2)
    }

    @Test func `numbers keep their values, or are refused with the position`() throws {
        func column(_ numbers: String) throws -> (String?, String) {
            let table = try Table("{\"x\":" + numbers.split(separator: " ").joined(separator: "}\n{\"x\":") + "}\n", .lines)
            return (table.typeName("x"), text(try table.written(.lines)).replacing("{\"x\":", with: "").replacing("}\n", with: " "))
        }
        #expect(try column("1 2 -3 9223372036854775807") == ("int", "1 2 -3 9223372036854775807 "))
        #expect(try column("1.0 2.0 2.5") == ("double", "1.0 2.0 2.5 "))
        #expect(try column("1 2.5") == ("double", "1 2.5 "))
        #expect(try column("1.50 2.25") == ("double", "1.50 2.25 "))
        #expect(try column("-0 1") == ("int", "-0 1 "))
        #expect(try column("9223372036854775808 1") == ("decimal128", "9223372036854775808 1 "))
        #expect(try column("9007199254740993 0.5") == ("decimal128", "9007199254740993 0.5 "))
        #expect(try column("0.12345678901234567890 1.5") == ("decimal128", "0.12345678901234567890 1.5 "))
        #expect(try column("0.1 0.30000000000000004 123456.7890123") == ("double", "0.1 0.30000000000000004 123456.7890123 "))
        #expect(try column("1e400") == ("decimal128", "1e400 "))
        let error = #expect(throws: FirnError.self) { try Table("{\"x\":1}\n\n{\"x\": 1.2345678901234567890123456789012345}\n", .lines) }
        #expect(error?.location == .init(file: "test.json", line: 3, column: 7))
        #expect(throws: FirnError.self) { try Table("[1e99999]") }
    }

    @Test func `dates and UUIDs are recognised only if all texts round trip`() throws {
        let table = try Table(
            #"[{"a":"2020-02-29","b":"2020-02-30","c":"2021-01-01T10:00:00Z","d":"6ba7b810-9dad-11d1-80b4-00c04fd430c8","e":"6BA7B810-9DAD-11D1-80B4-00C04FD430C8"}]"#
        )
        #expect(table.type.columns.map(\.type.name) == ["date", "string", "date", "uuid", "uuid"])
        try expectSameDocument(try table.written())
        let mixed = try Table(#"[{"a":"2020-02-29"},{"a":"2020-02-29T00:00:00Z"},{"a":null}]"#)
        #expect(mixed.typeName("a") == "string?")
        let off = try Table(#"[{"a":"2020-02-29"}]"#) { $0.recognisesText = false }
        #expect(off.typeName("a") == "string")
    }

    @Test func `null and missing members are distinguished by column`() throws {
        try expectSameLines(Array("{\"a\":1,\"b\":1}\n{\"a\":null}\n".utf8))
        let mixed = try Table("{\"a\":null}\n{}\n{\"a\":2}\n", .lines)
        #expect(mixed.remarks.count == 1)
        #expect(mixed.remarks[0].contains("--lossless"))
        try expectSameLines(Array("{\"a\":null}\n{}\n".utf8))
        try expectSameLines(Array("{\"o\":{\"a\":1}}\n{\"o\":{\"a\":null}}\n{\"o\":{}}\n{\"o\":{\"a\":[true]}}\n".utf8))
        let text = "{\"a\":null,\"o\":{\"x\":null}}\n{\"o\":{\"x\":1}}\n{\"a\":{\"b\":[null,{}]},\"o\":{}}\n"
        let both = try Table(text, .lines) { $0.isLossless = true }
        #expect(FirnJSONTests.text(try both.written(.lines)) == text && both.typeName("a") == "any?", "\(both.remarks)")
    }

    @Test func `the last of several equal keys is used, and a remark reports this`() throws {
        let table = try Table(#"[{"a":1,"b":{"a":2},"a":3}]"#)
        #expect(table.batches[0].columns[0].value(at: 0) == .int(3))
        #expect(table.remarks.count == 1)
    }

    @Test func `a key that occurs twice is reported with its name and its first line`() throws {
        let plain = (0..<500).map { "{\"id\":\($0),\"in\":{\"x\":1}}\n" }.joined()
        let lines = plain + "\n{\"id\":1,\"in\":{\"x\":1,\"y\":2,\"x\":3}}\n{\"id\":1,\"id\":2}\n{\"id\":1,\"id\":2}\n"
        for (threads, block) in [(1, 1 << 20), (3, 600)] {
            let table = try Table(lines, .lines) {
                ($0.threads, $0.blockSize) = (threads, block)
            }
            #expect(
                table.remarks.contains("the key \"id\" occurs twice in one row (line 503); its last value was used")
                    && table.remarks.contains("column \"in\": the key \"x\" occurs twice in one object (line 502); its last value was used"),
                "\(table.remarks)")
        }
        let document = "[\n {\"id\":1},\n {\"id\":1,\n  \"in\":{\"x\":1,\n \"x\":3}}\n]"
        let remarks = try Table(document).remarks
        #expect(
            remarks.contains("column \"in\": the key \"x\" occurs twice in one object (line 5); its last value was used"), "\(remarks)")
        let error = #expect(throws: FirnError.self) { try Table(document) { $0.isLossless = true } }
        #expect(error?.message == "an object of \"in\" has the key \"x\" twice (line 5)", "\(error?.message ?? "")")
    }

    @Test(arguments: [
        (#"[{"v":{"x":1,"x":2}},{"v":5}]"#, "v"), (#"[{"a":{"x":1,"x":2}},5]"#, "a"), (#"{"a":1,"b":[5,{"x":1,"x":2}]}"#, "b.*"),
        ("{\"x\":1,\"x\":2}\n5\n", ""), (#"[{"v":[{"y":[[{"x":1,"x":2}]]},true]},{"v":null}]"#, "v.*.y.*.*"),
        (#"[{"v":{"x":1,"x":2}},{"v":null},{}]"#, "v"),
        (#"[{"1":{"2":{"3":{"4":{"5":{"6":{"7":{"8":{"9":{"x":1,"x":2}}}}}}}}}}]"#, "1.2.3.4.5.6.7.8.9"),
    ])
    func `a key that occurs twice in a value of type any is reported, and is a loss`(text: String, path: String) throws {
        let layout: JSONOptions.Layout = text.hasSuffix("\n") ? .lines : .document
        let expected =
            path.isEmpty ? "the key \"x\" occurs twice in one row" : "column \"\(path)\": the key \"x\" occurs twice in one object"
        let remarks = try Table(text, layout).remarks
        #expect(remarks.contains { $0.hasPrefix(expected) && $0.hasSuffix("its last value was used") }, "\(remarks)")
        let error = #expect(throws: FirnError.self) { try Table(text, layout) { $0.isLossless = true } }
        #expect(error?.code == .rejected && error?.message.contains("the key \"x\" twice") == true, "\(error?.message ?? "")")
    }

    @Test func `a key that occurs twice within a given type is reported`() throws {
        let inner = TypeSchema("In", columns: [ColumnSchema("x", ColumnType(.int))], isEmbedded: true)
        let rows = TypeSchema(
            "T", columns: [ColumnSchema("o", ColumnType(.embedded, target: "In")), ColumnSchema("v", ColumnType(.any))])
        let remarks = try Table(#"{"o":{"x":1,"x":2},"v":[{"y":1,"y":2}]}"# + "\n", .lines) {
            $0.given = GivenSchema(Schema([rows, inner]), rows: "T")
        }.remarks
        for (column, key) in [("o", "x"), ("v.*", "y")] {
            #expect(remarks.contains { $0.hasPrefix("column \"\(column)\": the key \"\(key)\" occurs twice in one object") }, "\(remarks)")
        }
    }

    @Test func `a remark reports objects that become a map because they have many keys, with the way to keep columns`() throws {
        let many = (0..<1200).map { "{\"id\":\($0),\"in\":{\"k\($0)\":1}}\n" }.joined()
        let table = try Table(many, .lines)
        #expect(table.typeName("in") == "map<string, int>")
        #expect(
            table.remarks == ["objects whose keys are data became maps: \"in\"; --object PATH keeps them as objects"], "\(table.remarks)")
        let few = try Table((0..<100).map { "{\"in\":{\"k\($0)\":1}}\n" }.joined(), .lines)
        #expect(few.remarks.count == 1 && few.typeName("in") == "map<string, int>", "\(few.remarks)")
        // An empty object is a map without keys: nothing to report.
        #expect(try Table("{\"in\":{}}\n", .lines).remarks.isEmpty)
        let wide = try Table((0..<21_000).map { "{\"k\($0)\":1}\n" }.joined(), .lines)
        #expect(wide.remarks.contains { $0.contains("each row is a map in the column \"value\"") }, "\(wide.remarks)")
    }

    @Test(arguments: [
        (#"{"a":1 "b":2}"#, 8, #"expected "," or "}", found a string"#), (#"{"a" 1}"#, 6, #"expected ":" after the key, found "1""#),
        (#"{"a":1,}"#, 8, #"expected a key, found "}""#), (#"{a:1}"#, 2, #"expected a key or "}", found "a""#),
        (#"{"a":[1 2]}"#, 9, #"expected "," or "]", found "2""#), (#"{"a":[1,]}"#, 9, #"expected a value, found "]""#),
        (#"{"a":tru}"#, 6, #"expected a value, found "tru""#), (#"{"a":[1,2}"#, 10, #"expected "," or "]", found "}""#),
        (#"{"a":}"#, 6, #"expected a value, found "}""#), (#"{"a":[1,2]"#, 11, #"expected "," or "}", found the end"#),
        (#"{"a":undefinedundefinedundefined}"#, 6, #"found "undefinedundefinedundefi…""#), (#"{"a":é}"#, 6, #"found "é""#),
    ])
    func `an error in the syntax says what was expected and found, with line and column`(text: String, column: Int, words: String) throws {
        for (layout, input) in [(JSONOptions.Layout.document, "\n" + text), (.lines, "{}\n" + text + "\n{}\n")] {
            let error = #expect(throws: FirnError.self) { try Table(input, layout) }
            #expect(error?.place == .init(file: "test.json", line: 2, column: column), "\(text): \(error.map { "\($0)" } ?? "")")
            #expect(error?.message.contains(words) == true, "\(text): \(error?.message ?? "")")
        }
    }

    @Test func `objects with many different keys become a map`() throws {
        var lines = ""
        for i in 0..<100 { lines += "{\"m\":{\"k\(i)\":\(i),\"j\(i)\":null}}\n" }
        let table = try Table(lines, .lines)
        #expect(table.typeName("m") == "map<string, int?>")
        try expectSameLines(Array(lines.utf8))
        var wide = "{\"m\":{"
        for i in 0..<1200 { wide += "\"k\(i)\":{\"x\":\(i)}," }
        wide += "\"last\":{\"x\":0}}}\n"
        #expect(try Table(wide, .lines).typeName("m") == "map<string, Row_m>")
        try expectSameLines(Array(wide.utf8))
    }

    @Test func `syntax errors are refused with line and column`() throws {
        func place(_ text: String, _ layout: JSONOptions.Layout) -> String {
            do {
                _ = try Table(text, layout)
                return "accepted"
            } catch let error as FirnError { return error.location?.description ?? "no location" } catch { return "\(error)" }
        }
        #expect(place("{\"a\":1}\n{\"a\":x}\n", .lines) == "test.json:2:6")
        #expect(place("{\"a\":1}\n\n{\"a\":1} 5\n", .lines) == "test.json:3:9")
        #expect(place("{\"a\":1\n,\"b\":2}\n", .lines).hasPrefix("test.json:1:"))
        #expect(place("1,2\n3\n", .lines).hasPrefix("test.json:1:"))
        #expect(place("[1\n2]\n", .lines).hasPrefix("test.json:1:"))
        #expect(place("[\n  1,\n  nul\n]", .document) == "test.json:3:3")
        #expect(place("[1] [2]", .document).hasPrefix("test.json:1:5"))
        #expect(place("", .document) == "test.json:1:1")
        #expect(place("\"a\u{01}\"", .document).hasPrefix("test.json:1:"))
        let invalid = #expect(throws: FirnError.self) {
            try Table(Array("{\"a\":\"ok\"}\n{\"a\":\"".utf8) + [0xFF] + Array("\"}\n".utf8), .lines)
        }
        #expect(invalid?.location == .init(file: "test.json", line: 2, column: 7))
        let deep = String(repeating: "[", count: 100_000)
        #expect(throws: FirnError.self) { try Table(deep, .document) }
        #expect(throws: FirnError.self) { try Table(String(repeating: "[", count: 300) + String(repeating: "]", count: 300), .document) }
    }

    @Test func `equal keys with different code points are two columns`() throws {
        let table = try Table("[{\"\u{E9}\":1,\"e\u{301}\":2}]")
        #expect(table.batches[0].columns.map { $0.value(at: 0) } == [.int(1), .int(2)])
        #expect(Set(table.type.columns.map(\.name)).count == 2)
        #expect(table.remarks.count == 1)
    }

    @Test func `long keys in lines with errors are compared within their line`() throws {
        let key = String(repeating: "k", count: 5000)
        let error = #expect(throws: FirnError.self) {
            try Table("{\"\(key)\":1,\"\(key)\":2}\n{\"\(key)\":1}\n{\"k\":1,\"k\" 2}\n", .lines)
        }
        #expect(error?.location?.line == 3)
    }

    @Test func `batches have 65,536 rows wherever blocks end`() throws {
        var lines: [UInt8] = []
        for i in 0..<150_000 { lines += Array("{\"i\":\(i),\"s\":\"t\(i % 7)\"}\n".utf8) }
        let table = try Table(lines, .lines) { $0.blockSize = 100_000 }
        #expect(table.batches.map(\.count) == [65_536, 65_536, 18_928])
        #expect(table.batches[1].columns[0].value(at: 10) == .int(65_546))
        #expect(try table.written(.lines) == lines)
    }

    @Test func `the ends of blocks do not change the result`() throws {
        let text =
            "{\"a\":1,\"b\":[1,2],\"c\":{\"d\":\"x\\n\"}}\n\n{\"a\":2.5,\"b\":[],\"e\":null}\r\n  \n{\"c\":{\"f\":[{\"g\":1}]},\"a\":3}"
        let whole = try Table(text, .lines)
        for size in 1...(text.utf8.count + 1) {
            let table = try Table(text, .lines) { $0.blockSize = size }
            #expect(table.schema == whole.schema)
            #expect(try table.written(.lines) == whole.written(.lines), "block size \(size)")
        }
    }
}
