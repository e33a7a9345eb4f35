import FirnBytes
import FirnTable

@testable import FirnQuery

/// Shops with locations, texts, and toys by key, for the functions of the language. Each shop has a letter of `abcdef`.
enum Globe {
    static let point = TypeSchema(
        "Point", columns: [ColumnSchema("type", ColumnType(.string)), ColumnSchema("coordinates", ColumnType(.double, collection: .list))],
        isEmbedded: true)
    static let toy = TypeSchema(
        "Toy",
        columns: [
            ColumnSchema("name", ColumnType(.string)), ColumnSchema("price", ColumnType(.double, optional: true)),
            ColumnSchema("tags", ColumnType(.string, collection: .list)),
            ColumnSchema("twin", ColumnType(.link, optional: true, target: "Toy")),
        ], key: [0])
    static let part = TypeSchema(
        "Part",
        columns: [
            ColumnSchema("size", ColumnType(.int, optional: true)), ColumnSchema("of", ColumnType(.link, optional: true, target: "Toy")),
            ColumnSchema("marks", ColumnType(.int, collection: .list)),
        ], isEmbedded: true)
    static let shop = TypeSchema(
        "Shop",
        columns: [
            ColumnSchema("id", ColumnType(.int)), ColumnSchema("about", ColumnType(.string, optional: true)),
            ColumnSchema("place", ColumnType(.embedded, optional: true, target: "Point")),
            ColumnSchema("branches", ColumnType(.embedded, collection: .list, target: "Point")),
            ColumnSchema("best", ColumnType(.link, optional: true, target: "Toy")),
            ColumnSchema("toys", ColumnType(.link, collection: .list, target: "Toy")),
            ColumnSchema("parts", ColumnType(.embedded, collection: .list, target: "Part")),
            ColumnSchema("notes", ColumnType(.string, collection: .list)),
            ColumnSchema("other", ColumnType(.link, optional: true, target: "Shop")),
            ColumnSchema("O7", ColumnType(.int)), ColumnSchema("dec", ColumnType(.decimal, optional: true)),
        ], key: [0])
    static let schema = Schema([point, toy, part, shop])

    static func place(_ longitude: Double, _ latitude: Double, type: String = "Point", _ more: Double...) -> Value {
        .object([.init("type", .string(type)), .init("coordinates", .list(([longitude, latitude] + more).map { .double($0) }))])
    }
    static func part(_ size: Value, _ toy: Value, _ marks: [Int64] = []) -> Value {
        .object([.init("size", size), .init("of", toy), .init("marks", .list(marks.map { .int($0) }))])
    }
    private static func links(_ ids: Int64...) -> Value { .list(ids.map { .link($0) }) }
    private static func texts(_ texts: String...) -> Value { .list(texts.map { .string($0) }) }

    static let toys: [[Value]] = [
        [.string("ball"), .double(2), .list([.string("red")]), .link(1)],
        [.string("bone"), .double(4), .list([.string("blue"), .string("old")]), .link(0)],
        [.string("kite"), .null, .list([]), .null], [.string("rope"), .double(9), .list([.string("red")]), .link(99)],
    ]
    /// a: Bern, b: Rome, c: Suva (beyond 180°), d: no location, e: the north pole, f: a value that is not a point.
    static let shops: [[Value]] = [
        [
            .int(1), .string("Bälle, Knochen & mehr in Bern"), place(7.45, 46.95), .list([place(2.35, 48.86), place(7.59, 47.56)]),
            .link(0), links(0, 1, 0), .list([part(.int(3), .link(1), [1, 2]), part(.int(5), .null)]), texts("old town", "river"), .link(1),
            .int(1), .decimal(Decimal("1.50")!),
        ],
        [
            .int(2), .string("Palle e ossi: a Roma dal 1950"), place(12.5, 41.9, 21), .list([]), .link(1), links(), .list([]), texts(),
            .null, .int(2), .decimal(Decimal("1.5")!),
        ],
        [
            .int(3), .string("Toys, toys, TOYS. Old-fashioned"), place(178.44, -18.14), .list([place(-170, -14)]), .null, links(2, 98),
            .list([part(.null, .link(3))]), texts("Fiji island"), .link(0), .int(7), .null,
        ],
        [
            .int(4), .null, .null, .list([]), .link(97), links(3), .list([part(.int(1), .link(0), [7])]), texts("river bank"), .link(3),
            .int(0), .decimal(Decimal("2")!),
        ],
        [
            .int(5), .string(""), place(0, 90), .list([place(0, 0)]), .link(3), links(1, 3), .list([]), texts("ice", "snow"), .link(2),
            .int(7), .decimal(Decimal("nan")!),
        ],
        [
            .int(6), .string("snow-boards; ice cream; 雪 Снег"), place(7.45, 46.95, type: "Town"),
            .list([.object([.init("type", .string("Point")), .init("coordinates", .list([.double(7)]))])]), .link(2), links(0),
            .list([part(.int(3), .link(96), [])]), texts("ice"), .null, .int(3), .decimal(Decimal("-1")!),
        ],
    ]

    private static func table(_ type: TypeSchema, _ rows: [[Value]], cut: Int) -> MemoryTable {
        var batches: [Batch] = []
        for part in [rows[..<cut], rows[cut...]] {
            var batch = Batch(type, in: schema)
            for row in part {
                for (i, value) in row.enumerated() {
                    precondition(batch.columns[i].append(value), "\(type.columns[i].name) does not accept \(value)")
                }
                batch.count += 1
            }
            batches.append(batch)
        }
        return MemoryTable(type, schema: schema, batches: batches) { tables[$0] }
    }
    static let tables: [String: any Table] = ["Toy": table(toy, toys, cut: 2), "Shop": table(shop, shops, cut: 4)]
    static let table = tables["Shop"]!
    static let names = PropertyNames(inverses: [QueryRequest.Inverse("sellers", type: "Shop", column: "toys")])

    static func find(_ query: String, _ arguments: [Value] = [], threads: Int = 1) throws -> String {
        let run = try QueryRun(QueryRequest(filter: query, arguments: arguments, names: names), table: table, threads: threads)
        let letters = Array("abcdef")
        return String(try run.rowLocations().map { letters[$0.segment * 4 + $0.position] })
    }

    /// Returns the text of the error.
    static func complaint(_ query: String, _ arguments: [Value] = []) -> String {
        do {
            let found = try find(query, arguments)
            return "found \(found)"
        } catch { return "\(error)" }
    }
}
