import FirnKit
import FirnTable
import Foundation
import Testing

@testable import FirnQuery

/// Random invalid queries: each is an error with a position, or has an answer. `FIRN_FUZZ=1000000 swift test --filter FuzzTests` runs a
/// million.
@Suite struct FuzzTests {
    private static let rounds = ProcessInfo.processInfo.environment["FIRN_FUZZ"].flatMap { Int($0) } ?? Tier.cases(30_000, of: 100_000)

    private static let seeds: [String] =
        Zoo.expectations.map(\.query) + [
            "SUBQUERY(toys, $x, $x.price > 3 AND ANY $x.tags == 'red').@count > 0", "about TEXT 'ice -snow b*'",
            "place GEOWITHIN geoBox([5, 40], [15, 50])",
            "place GEOWITHIN geoPolygon({[0, 30], [30, 30], [30, 60], [0, 60]}, {[5, 45], [10, 45], [10, 48]})",
            "place GEOWITHIN geoCircle([10, 45], 0.1)", "best IN {obj('Toy', 'ball'), O1, L1:2, nil}",
            "SUBQUERY(toys, $x, SUBQUERY($x.sellers, $y, $y.id > 3).@count > 0).@count == 1 SORT(toys.@count ASC) LIMIT(3)",
            "@links.Shop.other.@count > 0 OR toys.@sum.price > 3",
        ]
    private static let pieces = [
        "(", ")", "{", "}", "[", "]", ",", ".", "'", "\"", "`", "\\", "$", "$0", "$x", "@", "@count", "@links", "%", "%@", "%K", "-", "+",
        "*", "/", "!", "NOT ", " AND ", " OR ", "ANY ", "ALL ", "NONE ",
        " IN ", " BETWEEN ", " TEXT ", " GEOWITHIN ", "SUBQUERY(", "obj(", "geoBox(", "geoPolygon({", "bin(", "uuid(", "oid(", "decimal(",
        "B64\"", "T1:", "2021-01-01@", "0x", "1e999", "inf", "nan", "nil",
        "9223372036854775808", "[c]", "[cd]", "[FIRST]", "[*]", "SORT(", "DISTINCT(", "LIMIT(", " ASC", "\u{0}", "é", "\u{1F600}",
        "\u{301}", "O9", "L0:", "==", "!=", "<", "age", "toys", "any", "ints", "mixed", "self",
    ]

    private static func mutated(_ random: inout Random) -> String {
        var bytes = Array(seeds[random.below(seeds.count)].utf8)
        for _ in 0..<random.below(4) {
            let at = random.below(bytes.count + 1)
            switch random.below(7) {
            case 0 where at < bytes.count: bytes.remove(at: at)
            case 1 where at < bytes.count: bytes[at] = UInt8(random.below(256))
            case 2: bytes.insert(UInt8(random.below(128)), at: at)
            case 3:
                let other = Array(seeds[random.below(seeds.count)].utf8)
                bytes = Array(bytes[..<at]) + other[random.below(other.count)...]
            case 4: bytes = Array(bytes[..<at])
            default: bytes.insert(contentsOf: Array(pieces[random.below(pieces.count)].utf8), at: at)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test(arguments: 0..<2) func `a mutated query is answered or refused with a position`(part: Int) {
        var random = Random(seed: 2_026 + UInt64(part))
        var answered = 0, refused = 0
        let arguments: [Value] = [.int(5), .string("age"), .list([.int(1), .null]), .link(1)]
        for round in 0..<(FuzzTests.rounds / 2) {
            let text = FuzzTests.mutated(&random)
            do {
                let tree = try Parser.query(text)
                let again = try Parser.query(tree.description)
                if again != tree { Issue.record("\(text) printed as \(tree), read back as \(again)") }
                let run = try QueryRun(QueryRequest(filter: text, arguments: arguments), table: round % 5 == 0 ? Globe.table : Zoo.table)
                answered += 1
                do { _ = try run.count() } catch { if !error.message.contains("do") { Issue.record("\(text): \(error)") } }
            } catch {
                refused += 1
                let hasPosition =
                    error.position >= 0 && error.position <= error.text.utf8.count && !error.message.isEmpty && !error.description.isEmpty
                if !hasPosition { Issue.record("\(text): \(error) at \(error.position)") }
            }
        }
        #expect(answered > FuzzTests.rounds / 50 && refused > FuzzTests.rounds / 50, "\(answered) answered, \(refused) refused")
    }

    @Test func `parsing long and deeply nested queries takes a number of steps proportional to their length`() throws {
        // Each kind of nesting, up to the permitted depth and far beyond it.
        let shapes: [(String, String, String)] = [
            ("(", "age == 1", ")"), ("!", "age == 1", ""), ("NOT ", "age == 1", ""), ("(age == 1 OR ", "age == 1", ")"),
            ("(1 + ", "age", ") == 1"), ("SUBQUERY(toys, $x, ", "price > 1", ").@count > 0"),
        ]
        for (open, middle, close) in shapes {
            for depth in [1, 20, 200, 100_000] {
                let closing =
                    close.hasPrefix(") ==") ? String(repeating: ")", count: depth) + " == 1" : String(repeating: close, count: depth)
                let text = String(repeating: open, count: depth) + middle + closing
                let tree = try? Parser.query(text)
                if depth < 2, tree == nil { Issue.record("\(text) was refused") }
                if depth > 1000, tree != nil { Issue.record("\(open) \(depth) times was accepted") }
            }
        }
        // Long queries without nesting are read to their end, with at most one step for each token.
        let long = [
            "age == 1" + String(repeating: " OR age == 1", count: 20_000), "age IN {" + String(repeating: "1, ", count: 50_000) + "2}",
            "name == '" + String(repeating: "x", count: 1 << 20) + "'",
            "`" + String(repeating: "x", count: 1 << 20) + "` == 1", String(repeating: " ", count: 1 << 20) + "age == 1",
            "age == 1" + String(repeating: " SORT(age ASC)", count: 5_000),
            "place GEOWITHIN geoPolygon({" + String(repeating: "[1, 2], ", count: 20_000) + "[3, 4]})",
        ]
        for text in long {
            let steps = try Parser.steps(of: text)
            #expect(steps.advances <= steps.tokens && steps.tokens <= text.utf8.count + 1, "\(text.prefix(40))")
        }
        #expect(throws: QueryError.self) { try Parser.query(String(repeating: "T1", count: 100_000)) }
        #expect(throws: QueryError.self) { try Parser.query(String(repeating: "uuid ", count: 100_000)) }
        #expect(throws: QueryError.self) {
            try QueryRun(QueryRequest(filter: String(repeating: "a.", count: 100_000) + "a == 1"), table: Zoo.table)
        }
        #expect(throws: QueryError.self) {
            try QueryRun(QueryRequest(filter: "mixed" + String(repeating: "[0]", count: 100_000) + " == 1"), table: Zoo.table)
        }
        // The depth of trees that programs build is limited as well.
        var tree = try Parser.query("age == 1").predicate
        for _ in 0..<5_000 { tree = .not(tree) }
        #expect(throws: QueryError.self) { try QueryRun(QueryRequest(parsed: QuerySyntax(tree)), table: Zoo.table) }
    }

    /// A manual measurement: FIRN_PARSE=100000 perf stat -e instructions:u … --filter 'parsed and bound', minus the same with 1.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["FIRN_PARSE"] != nil)) func `typical queries are parsed and bound`() throws {
        let rounds = ProcessInfo.processInfo.environment["FIRN_PARSE"].flatMap { Int($0) } ?? 1
        let queries = [
            "age > 3 AND name BEGINSWITH[c] 'R' OR best.price <= 2.5 SORT(name ASC) LIMIT(10)", "name == 'Rex'", "age > 3 AND good == true",
        ]
        let chosen = queries[ProcessInfo.processInfo.environment["FIRN_PARSE_QUERY"].flatMap { Int($0) } ?? 0]
        var count = 0
        for _ in 0..<rounds {
            let request = QueryRequest(filter: chosen)
            count += try QueryPlan(request, Zoo.table).descriptors.count
        }
        #expect(count >= 0)
    }
}
