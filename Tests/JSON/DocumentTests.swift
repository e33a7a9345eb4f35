import FirnBytes
import FirnKit
import Foundation
import Testing
@testable import FirnJSON

@Suite struct DocumentTests {
    @Test func `documents keep the order of members and the digits of numbers`() throws {
        let text =
            #"{"b":[1,2.50,{"c":null}],"a":"x\u0000y\/","big":123456789012345678901234567890,"e":{},"f":[],"z":-0,"n":[-9223372036854775809,1E400]}"#
        let document = try JSONDocument(text)
        #expect(document.compact == text.replacingOccurrences(of: "\\/", with: "/"))
        #expect(document["b"]?.elements?[0].int == 1)
        #expect(document.pretty.hasPrefix("{\n  \"b\": [\n    1,\n    2.50,\n    {\n      \"c\": null\n    }\n  ],\n  \"a\""))
        #expect(try JSONDocument(document.pretty) == document)
        #expect(try JSONDocument("null").compact == "null")
        #expect(try JSONDocument("\"\"").pretty == "\"\"")
    }

    @Test func `every document is printed, also one that cannot be read again`() {
        let document = JSONDocument.object([
            ("a\0b", .array([.null, .bool(true), .object([])])), ("a\0b", .string("\u{8}\u{1F}/\u{7F}\\")),
        ])
        #expect(document.compact == #"{"a\u0000b":[null,true,{}],"a\u0000b":"\b\u001f/\#u{7F}\\"}"#)
        #expect(
            document.pretty
                == #"{\#n  "a\u0000b": [\#n    null,\#n    true,\#n    {}\#n  ],\#n  "a\u0000b": "\b\u001f/\#u{7F}\\"\#n}"#)
        #expect(JSONDocument.array([]).pretty == "[]" && JSONDocument.object([]).compact == "{}")
    }

    @Test func `syntax errors have a line and a column`() throws {
        let cases: [(String, Int, Int, String)] = [
            ("{\n  \"a\": tru\n}", 2, 8, "expected a value"), ("[1,\n2", 2, 2, "ends too early"), ("[1] x", 1, 5, "expected a value"),
            ("[1] 2", 1, 5, "unexpected"),
            ("[\n-0, 123456789012345678901,\n 3 4]", 3, 4, "expected"), ("[01]", 1, 2, "not a JSON number"),
            ("{\"a\\u0000b\": 1}", 1, 2, "U+0000"), ("[\"\\ud800\"]", 1, 3, "surrogate"),
            ("\u{FEFF}{}", 1, 1, "byte order mark"), ("[\"a\tb\"]", 1, 4, "control"), ("", 1, 1, "too early"),
            ("[NaN]", 1, 2, "expected a value"), ("'a'", 1, 1, "expected a value"),
            (String(repeating: "[", count: 600), 1, 513, "512"),
        ]
        for (text, line, column, message) in cases {
            let error = #expect(throws: FirnError.self, "\(text)") { try JSONDocument(text, file: "s.json") }
            #expect(
                error?.location == .init(file: "s.json", line: line, column: column),
                "\(text.prefix(40)): \(error.map(String.init(describing:)) ?? "")")
            #expect(error?.message.contains(message) == true, "\(text.prefix(40)): \(error?.message ?? "")")
        }
        #expect(throws: FirnError.self) { try JSONDocument(#"{"a":{"b":1,"b":2}}"#) }
    }

    @Test func `the JSON test suite is accepted and refused as required`() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "../Fixtures/json/suite")
        let files = try [folder, SharedData.file("bad/JSONTestSuite/test_parsing")].compactMap({ $0 }).flatMap {
            (try? FileManager.default.contentsOfDirectory(at: $0, includingPropertiesForKeys: nil)) ?? []
        }
        #expect(!files.isEmpty)
        for file in files {
            let bytes = [UInt8](try Data(contentsOf: file)), name = file.lastPathComponent, document = try? JSONDocument(bytes: bytes)
            if name.hasPrefix("n_") { #expect(document == nil, "\(name)") }
            // Valid JSON that json-c would change is refused.
            if name.hasPrefix("y_") {
                #expect((document != nil) != (name.contains("null_in_key") || name.contains("duplicated_key")), "\(name)")
            }
            if let document { #expect(try JSONDocument(document.pretty) == document, "\(name)") }
        }
    }

    @Test func `random documents survive a round trip`() throws {
        let seed = Seed.one(6)
        var dice = Random(seed)
        for _ in 0..<500 {
            let document = PropertyTests.document(&dice, depth: 0)
            #expect(try JSONDocument(document.compact) == document, "seed \(seed)")
            var bytes = Array(document.pretty.utf8)
            #expect(try JSONDocument(bytes: bytes) == document, "seed \(seed)")
            for _ in 0..<4 where !bytes.isEmpty {
                bytes[dice.below(bytes.count)] = UInt8(dice.below(256))
                _ = try? JSONDocument(bytes: bytes)
                _ = try? JSONDocument(bytes: Array(bytes.prefix(dice.below(bytes.count))))
            }
        }
    }

    @Test func `parts around the rows that json-c cannot read are stored in the rows`() throws {
        for text in [#"{"a":{"x\u0000":1},"rows":[{"b":1}]}"#, #"{"n":123456789012345678901234567890,"rows":[{"b":1}]}"#] {
            try expectSameDocument(Array(text.utf8))
        }
    }

    @Test func `escaped pairs of surrogates are one character`() throws {
        for (text, character) in [
            ("\\ud837\\ude00", "\u{1DE00}"), ("\\ud83d\\ude00", "\u{1F600}"), ("\\udbff\\udfff", "\u{10FFFF}"),
            ("\\ud800\\udc00", "\u{10000}"),
        ] {
            #expect(try JSONDocument("[\"\(text)\"]") == .array([.string(character)]), "\(text)")
        }
    }
}
