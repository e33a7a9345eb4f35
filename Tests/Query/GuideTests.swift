import FirnKit
import FirnTable
import Foundation
import Testing

@testable import FirnQuery

/// The examples of docs/guide/query.md, run on the dogs that the page shows.
@Suite struct GuideTests {
    private static let point = TypeSchema(
        "Point", columns: [ColumnSchema("type", ColumnType(.string)), ColumnSchema("coordinates", ColumnType(.double, collection: .list))],
        isEmbedded: true)
    private static let owner = TypeSchema(
        "Owner", columns: [ColumnSchema("name", ColumnType(.string)), ColumnSchema("age", ColumnType(.int, optional: true))])
    private static let toy = TypeSchema(
        "Toy",
        columns: [
            ColumnSchema("name", ColumnType(.string)), ColumnSchema("price", ColumnType(.double, optional: true)),
            ColumnSchema("maker", ColumnType(.link, optional: true, target: "Owner")),
        ], key: [0])
    private static let dog = TypeSchema(
        "Dog",
        columns: [
            ColumnSchema("name", ColumnType(.string)), ColumnSchema("age", ColumnType(.int, optional: true)),
            ColumnSchema("weight", ColumnType(.double)), ColumnSchema("born", ColumnType(.date, optional: true)),
            ColumnSchema("tags", ColumnType(.string, collection: .list)), ColumnSchema("scores", ColumnType(.int, collection: .map)),
            ColumnSchema("owner", ColumnType(.link, optional: true, target: "Owner")),
            ColumnSchema("toys", ColumnType(.link, collection: .list, target: "Toy")),
            ColumnSchema("home", ColumnType(.embedded, optional: true, target: "Point")),
            ColumnSchema("about", ColumnType(.string, optional: true)), ColumnSchema("mixed", ColumnType(.any, optional: true)),
        ])
    private static let schema = Schema([point, owner, toy, dog])
    private static let names = ["Rex", "Bo", "Åsa", "fido"]

    private static func home(_ longitude: Double, _ latitude: Double) -> Value {
        .object([.init("type", .string("Point")), .init("coordinates", .list([.double(longitude), .double(latitude)]))])
    }
    private static func date(_ text: String) -> Value {
        guard case .comparison(let comparison) = try? Parser.query("x == \(text)").predicate,
            case .constant(let constant) = comparison.right
        else { return .null }
        return constant.value
    }
    private static func texts(_ texts: String...) -> Value { .list(texts.map { .string($0) }) }
    private static func links(_ ids: Int64...) -> Value { .list(ids.map { .link($0) }) }

    private static let dogs: [[Value]] = [
        [
            .string("Rex"), .int(5), .double(12.5), date("2020-03-01"), texts("old", "brown"),
            .map([.init("sit", .int(3)), .init("stay", .int(1))]), .link(0), links(0, 1), home(7.45, 46.95),
            .string("Likes rivers and snow"), .int(5),
        ],
        [.string("Bo"), .null, .double(7), date("2023-07-14@12:00:00"), texts(), .map([]), .link(1), links(), .null, .null, .string("5")],
        [
            .string("Åsa"), .int(9), .double(20), date("2015-11-30"), texts("old"), .map([.init("sit", .int(5))]), .null, links(0, 2),
            home(12.5, 41.9), .string("Snow-white; a house in Rome"), .null,
        ],
        [
            .string("fido"), .int(2), .double(3.5), .null, texts("new", "brown"), .map([.init("stay", .int(2))]), .link(0), links(2), .null,
            .string("ice, snow!"), .list([.int(1), .map([.init("k", .int(2))])]),
        ],
    ]
    private static let tables: [String: any Table] = [
        "Dog": MemoryTable(dog, schema: schema, batches: [RandomTables.batch(dogs, of: dog, in: schema)]) { tables[$0] },
        "Toy": MemoryTable(
            toy, schema: schema,
            batches: [
                RandomTables.batch(
                    [[.string("ball"), .double(2), .link(1)], [.string("bone"), .double(4), .null], [.string("kite"), .null, .link(0)]],
                    of: toy, in: schema)
            ]
        ) { tables[$0] },
        "Owner": MemoryTable(
            owner, schema: schema,
            batches: [RandomTables.batch([[.string("Ada"), .int(36)], [.string("Bob"), .null]], of: owner, in: schema)]
        ) { tables[$0] },
    ]

    /// The lines `query → names` of the blocks marked as queries.
    private static func examples() throws -> [(query: String, names: String)] {
        let guide = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../docs/guide/query.md")
        var out: [(String, String)] = [], isQuery = false
        for line in try String(contentsOf: guide, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("```") {
                isQuery = line == "```query"
            } else if isQuery, let arrow = line.range(of: "→") {
                out.append(
                    (
                        line[..<arrow.lowerBound].trimmingCharacters(in: .whitespaces),
                        line[arrow.upperBound...].trimmingCharacters(in: .whitespaces)
                    ))
            } else if isQuery {
                Issue.record("no answer follows after \(line)")
            }
        }
        return out
    }

    @Test func `the examples of the guide find the rows that it lists`() throws {
        let examples = try GuideTests.examples()
        #expect(examples.count > 50)
        for (query, expected) in examples {
            do {
                let found = try QueryRun(QueryRequest(filter: query), table: GuideTests.tables["Dog"]!).rowLocations().map {
                    GuideTests.names[$0.position]
                }
                #expect(found.joined(separator: ", ") == expected, "\(query)")
            } catch { Issue.record(error, "\(query)") }
        }
    }
}
