import FirnBytes
import FirnExchange
import FirnKit
import FirnTable
import Foundation
import Testing

@testable import FirnJSON

/// Objects whose keys are data become maps, at any depth, and collections within collections have types.
@Suite struct MapTests {
    private static func lock(_ count: Int) -> String {
        let packages = (0..<count).map { i in
            "\"node_modules/p\(i)\":{\"version\":\"\(i).0.\(i % 7)\",\"resolved\":\"https://r/\(i)\"\(i % 3 == 0 ? ",\"dev\":true" : "")"
                + ",\"dependencies\":{\"p\((i * 7) % count)\":\"^1.0\",\"q\((i * 11) % count)\":\"^2\"}}"
        }
        return "{\"name\":\"x\",\"lockfileVersion\":3,\"packages\":{\"\":{\"version\":\"1.0.0\"},\(packages.joined(separator: ","))}}"
    }

    @Test func `maps are recognised at every depth`() throws {
        let table = try Table(MapTests.lock(40))
        #expect(table.typeName("packages") == "map<string, Row_packages>")
        let inner = try #require(table.schema["Row_packages"])
        #expect(
            inner.columns.map(\.type.name) == ["string", "string?", "bool?", "map<string, string>?"], "\(inner.columns.map(\.type.name))")
        #expect(
            table.remarks.contains { $0.contains("\"packages\", \"packages.*.dependencies\"") && $0.contains("--object") },
            "\(table.remarks)")
        try expectSameDocument(Array(MapTests.lock(40).utf8))
        try expectSameDocument(Array(MapTests.lock(3000).utf8))
    }

    @Test func `maps of maps have a type, also those of versions that all objects share`() throws {
        func feature(_ i: Int) -> String {
            let stats = ["ie", "edge", "safari"].map { browser in
                "\"\(browser)\":{"
                    + (5..<12).map { "\"\($0)\($0 % 2 == 0 ? ".1-\($0).4" : "")\":\"\("yna".dropFirst(($0 + i) % 3).prefix(1))\"" }
                    .joined(separator: ",") + "}"
            }
            return "\"feature-\(i)\":{\"title\":\"t\(i)\",\"stats\":{\(stats.joined(separator: ","))},\"shown\":true}"
        }
        let text = "{\"updated\":1,\"data\":{\((0..<40).map(feature).joined(separator: ","))}}"
        let table = try Table(text)
        #expect(table.typeName("data") == "map<string, Row_data>")
        #expect(table.schema["Row_data"]?.columns[1].type.name == "map<string, Row_data_stats_value>")
        #expect(table.schema["Row_data_stats_value"]?.columns.map(\.type.name) == ["map<string, string>"])
        #expect(table.schema["Row_data_stats_value"]?.isBare == true)
        try expectSameDocument(Array(text.utf8))
    }

    @Test func `records stay objects`() throws {
        for text in [
            #"[{"p":{"x":1,"y":2,"z":3}},{"p":{"x":1,"y":2,"z":3}},{"p":{"x":1,"y":2,"z":3}}]"#,
            #"{"config":{"port":1,"host":"a","tls":{"on":true},"log":{"level":"x"}},"n":1}"#,
            #"{"scripts":{"build":"a","test":"b","lint":"c"},"n":1}"#,
            "["
                + (0..<20).map { _ in
                    "{\"year\":{"
                        + ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug"].map { "\"\($0)\":{\"min\":1,\"max\":2}" }
                        .joined(separator: ",") + "}}"
                }.joined(separator: ",") + "]",
            "[" + (0..<20).map { "{\"o\":{\"a\($0 % 5)\":1,\"id\":2,\"name\":\"x\"}}" }.joined(separator: ",") + "]",
        ] {
            let table = try Table(text)
            #expect(!table.schema.types.flatMap(\.columns).contains { $0.type.collection == .map }, "\(text): \(table.remarks)")
            try expectSameDocument(Array(text.utf8))
        }
    }

    @Test func `a path makes a map or keeps an object, whatever the keys`() throws {
        let text = #"{"a":{"b":{"x":1,"y":2},"c":{"x":3}},"p":{"1.0":{"v":1},"2.0":{"v":2},"3.0":{"v":3}},"d.e":{"k":1},"n":1}"#
        let plain = try Table(text)
        #expect(plain.typeName("a") == "Row_a" && plain.typeName("p") == "map<string, Row_p>")
        let maps = try Table(text) {
            $0.maps = ["a", "a.*", "d\\.e"]
            $0.objects = ["p"]
        }
        #expect(
            maps.typeName("a") == "map<string, Row_a_value>" && maps.typeName("p") == "Row_p" && maps.typeName("d.e") == "map<string, int>")
        #expect(maps.schema["Row_a_value"]?.columns[0].type.name == "map<string, int>")
        #expect(try foundation(maps.written()).isEqual(foundation(Array(text.utf8))))
        let many = "{\"m\":{" + (0..<1500).map { "\"k\($0)\":\($0)" }.joined(separator: ",") + "},\"n\":1}"
        #expect(try Table(many) { $0.objects = ["m"] }.schema["Row_m"]?.columns.count == 1500)
        let lines = (0..<50).map { "{\"l\":[{\"k\($0)\":1}]}\n" }.joined()
        #expect(try Table(lines, .lines) { $0.maps = ["l.*"] }.schema["Row_l_item"]?.columns[0].type.name == "map<string, int>")
    }

    @Test func `lists of lists of numbers have a type, and values of several kinds are of type any`() throws {
        let text =
            #"[{"c":[[[1.5,2],[3,4]],[]],"m":[[1,"a"],[2]],"o":[[{"x":1}],[]],"n":[[1],null,[]],"e":[[],[]]},{"c":[],"m":[],"o":[],"n":[],"e":[]}]"#
        let table = try Table(text)
        #expect(table.typeName("c") == "list<Row_c_item>" && table.schema["Row_c_item"]?.columns[0].type.name == "list<Row_c_item_item>")
        #expect(table.schema["Row_c_item_item"]?.columns[0].type.name == "list<double>")
        #expect(table.typeName("m") == "list<any>" && table.typeName("n") == "list<Row_n_item?>" && table.schema["Row_m_item"] == nil)
        #expect(
            table.schema["Row_o_item"]?.columns[0].type.name == "list<Row_o_item_2>"
                || table.schema["Row_o_item"]?.columns[0].type.collection == .list)
        try expectSameDocument(Array(text.utf8))
        var deep = "1"
        for _ in 0..<30 { deep = "[\(deep)]" }
        try expectSameDocument(Array("[{\"d\":\(deep)},{\"d\":[[]]}]".utf8))
    }

    @Test func `a key that occurs twice in a map is reported with its line`() throws {
        let text = "{\"n\":1,\"m\":{" + (0..<2000).map { "\"v\($0).0\":\($0)" }.joined(separator: ",") + ",\n\"v7.0\":-1}}"
        let table = try Table(text)
        #expect(table.typeName("m") == "map<string, int>")
        #expect(
            table.remarks.contains("column \"m\": the key \"v7.0\" occurs twice in one object (line 2); its last value was used"),
            "\(table.remarks)")
        #expect(throws: FirnError.self) { try Table(text) { $0.isLossless = true } }
        let lines = (0..<300).map { "{\"m\":{\"a/\($0)\":1,\"b/\($0)\":2}}\n" }.joined() + "{\"m\":{\"x/y\":1,\"x/y\":2}}\n"
        #expect(try Table(lines, .lines).remarks.contains { $0.contains("\"x/y\" occurs twice in one object (line 301)") })
    }

    @Test func `the memory for a document with many paths is proportional to its size`() throws {
        let versions = (0..<150).map { "\"\($0).0\":\"y\"" }.joined(separator: ",")
        let text =
            "{\"v\":1,\"data\":{"
            + (0..<300).map { f in
                "\"f\(f)\":{\"t\":\"x\",\"s\":{" + (0..<8).map { "\"b\($0)\":{\(versions)}" }.joined(separator: ",") + "}}"
            }.joined(separator: ",") + "}}"
        let input = Input(bytes: Array(text.utf8), name: "test.json")
        input.budget = MemoryBudget(limit: 20 * text.utf8.count)
        let reader = try JSONReader(input, options: JSONOptions())
        #expect(try reader.next()?.batch.count == 1)
        #expect(reader.schema.types.count == 3, "\(reader.schema.types.map(\.name))")
    }

    /// Returns a random document of the kinds that have maps.
    private static func document(_ dice: inout Random, _ depth: Int = 0) -> JSONDocument {
        func key(_ dice: inout Random) -> String {
            ["v\(dice.below(40)).\(dice.below(9))", "path/\(dice.below(60))", "\(2000 + dice.below(30))", "k\(dice.below(5))", "name"][
                dice.below(5)]
        }
        switch depth == 0 ? 7 : dice.below(depth > 4 ? 3 : 8) {
        case 0: return .number("\(dice.below(50))")
        case 1: return .string("s\(dice.below(9))")
        case 2: return [JSONDocument.bool(true), .number("1.5"), .array([])][dice.below(3)]
        case 3, 4:
            let one = document(&dice, depth + 2)
            return .array((0..<dice.below(4)).map { _ in dice.below(4) == 0 ? document(&dice, depth + 1) : one })
        default:
            var members: [(String, JSONDocument)] = [], seen: Set<String> = []
            let one = document(&dice, depth + 1), isUniform = dice.below(2) == 0
            for _ in 0..<(isUniform ? 12 : 4) {
                let name = key(&dice)
                if seen.insert(name).inserted { members.append((name, isUniform ? one : document(&dice, depth + 1))) }
            }
            return .object(members)
        }
    }

    @Test func `random documents with maps survive a round trip, as documents and as lines`() throws {
        let seed = Seed.one(22)
        var dice = Random(seed), maps = 0, bare = 0
        for _ in 0..<Tier.cases(18, of: 100) {
            let rows = (0..<(1 + dice.below(4))).map { _ in MapTests.document(&dice) }
            try expectSameDocument(Array(JSONDocument.array(rows).compact.utf8))
            try expectSameDocument(Array(rows[0].pretty.utf8))
            try expectSameLines(Array(rows.map { $0.compact + "\n" }.joined().utf8))
            let table = try Table(JSONDocument.array(rows).compact)
            if table.schema.types.contains(where: { $0.columns.contains { $0.type.collection == .map } }) { maps += 1 }
            if table.schema.types.contains(where: \.isBare) { bare += 1 }
        }
        #expect(maps > 4 && bare > 0, "seed \(seed): \(maps) with maps, \(bare) with collections within collections")
    }

    @Test func `the number of threads does not change which objects are maps`() throws {
        let lines = (0..<900).map { i in
            "{\"d\":{\"p\(i % 50)\":\"1\",\"p\((i * 7) % 50)x\":\"2\"},\"s\":{\"\(i % 9).0\":{\"a\":[[\(i)]]}},\"r\":{\"x\":1,\"y\":\(i)}}\n"
        }.joined()
        let one = try Table(lines, .lines) { $0.threads = 1 }
        for block in [500, 3000, 1 << 20] {
            let table = try Table(lines, .lines) { ($0.threads, $0.blockSize) = (3, block) }
            #expect(table.schema == one.schema)
        }
        #expect(one.typeName("d") == "map<string, string>" && one.typeName("s")?.hasPrefix("map") == true && one.typeName("r") == "Row_r")
    }

    @Test func `rows that each have an object under a key of their own are maps, and are written back equal`() throws {
        let text = (0..<3000).map { "{\"k\($0)\":{\"a\":\($0),\"b\":\"x\"}}\n" }.joined()
        let table = try Table(Array(text.utf8), .lines)
        #expect(table.typeName("value")?.hasPrefix("map<string") ?? false)
        #expect(String(decoding: try table.written(.lines), as: UTF8.self) == text)
    }
}
