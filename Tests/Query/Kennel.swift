import FirnBytes
import FirnTable
import Testing

@testable import FirnQuery

/// A small kennel whose rows link to each other, for paths through links. Row ids count from 0; rows with ids from 90 do not exist.
enum Kennel {
    static let address = TypeSchema("Address", columns: [ColumnSchema("city", ColumnType(.string, optional: true))], isEmbedded: true)
    static let person = TypeSchema(
        "Person",
        columns: [
            ColumnSchema("name", ColumnType(.string)), ColumnSchema("age", ColumnType(.int, optional: true)),
            ColumnSchema("address", ColumnType(.embedded, optional: true, target: "Address")),
            ColumnSchema("best", ColumnType(.link, optional: true, target: "Person")),
            ColumnSchema("homes", ColumnType(.embedded, collection: .list, target: "Address")),
        ])
    static let toy = TypeSchema(
        "Toy",
        columns: [
            ColumnSchema("name", ColumnType(.string, optional: true)), ColumnSchema("price", ColumnType(.double, optional: true)),
            ColumnSchema("tags", ColumnType(.string, collection: .list)),
            ColumnSchema("maker", ColumnType(.link, optional: true, target: "Person")),
        ])
    static let dog = TypeSchema(
        "Dog",
        columns: [
            ColumnSchema("name", ColumnType(.string)), ColumnSchema("owner", ColumnType(.link, optional: true, target: "Person")),
            ColumnSchema("toys", ColumnType(.link, collection: .list, target: "Toy")),
            ColumnSchema("dict", ColumnType(.link, collection: .map, elementOptional: true, target: "Toy")),
            ColumnSchema("set", ColumnType(.link, collection: .set, target: "Toy")),
            ColumnSchema("lost", ColumnType(.link, optional: true, target: "Island")),
        ])
    static let island = TypeSchema("Island", columns: [ColumnSchema("name", ColumnType(.string))])
    static let schema = Schema([person, address, toy, dog, island])

    private static func city(_ name: Value) -> Value { .object([.init("city", name)]) }
    private static func links(_ ids: Int64...) -> Value { .list(ids.map { .link($0) }) }

    static let people: [[Value]] = [
        [.string("Ada"), .int(36), city(.string("London")), .link(1), .list([city(.string("Rome"))])],
        [.string("Bob"), .null, .null, .link(0), .list([])],
        [.string("Cy"), .int(20), city(.string("Paris")), .null, .list([city(.string("Oslo")), city(.null)])],
        [.string("Dee"), .int(50), city(.null), .link(3), .list([])],
    ]
    static let toys: [[Value]] = [
        [.string("ball"), .double(2), .list([.string("red")]), .link(0)],
        [.string("bone"), .double(4), .list([.string("blue"), .string("old")]), .null],
        [.null, .null, .list([]), .link(1)], [.string("rope"), .double(-1), .list([]), .link(2)],
    ]
    static let dogs: [[Value]] = [
        [.string("a"), .link(0), links(0, 1, 0), .map([.init("k", .link(0)), .init("z", .link(1))]), .set([.link(1), .link(3)]), .null],
        [.string("b"), .link(1), links(), .map([]), .set([]), .null],
        [.string("c"), .null, links(2), .map([.init("k", .null)]), .set([.link(2)]), .null],
        [.string("d"), .link(99), links(1, 98), .map([.init("k", .link(1))]), .set([.link(0)]), .null],
        [.string("e"), .link(2), links(3), .map([.init("z", .link(3))]), .set([.link(3)]), .null],
    ]

    static func table(_ type: TypeSchema, _ rows: [[Value]], cut: Int) -> MemoryTable {
        var batches: [Batch] = []
        for part in [rows[..<cut], rows[cut...]] {
            var batch = Batch(type, in: schema)
            for row in part {
                for (i, value) in row.enumerated() {
                    precondition(batch.columns[i].append(value), "\(type.columns[i].name) takes \(value)")
                }
                batch.count += 1
            }
            batches.append(batch)
        }
        return MemoryTable(type, schema: schema, batches: batches) { tables[$0] }
    }

    static let tables: [String: any Table] = [
        "Person": table(person, people, cut: 1), "Toy": table(toy, toys, cut: 2), "Dog": table(dog, dogs, cut: 3),
    ]

    static let names = PropertyNames(inverses: [
        QueryRequest.Inverse("dogs", type: "Dog", column: "owner"), QueryRequest.Inverse("players", type: "Dog", column: "toys"),
        QueryRequest.Inverse("made", type: "Toy", column: "maker"),
    ])

    /// Returns the found rows of a type in order, as letters: `abc…` for dogs, `ABC…` for people, `wxyz` for toys.
    static func find(_ typeName: String, _ query: String, _ arguments: [Value] = arguments, threads: Int = 1) throws -> String {
        let table = tables[typeName]!
        let run = try QueryRun(QueryRequest(filter: query, arguments: arguments, names: names), table: table, threads: threads)
        return try letters(run, table, typeName)
    }

    static func letters(_ run: QueryRun, _ table: any Table, _ typeName: String) throws -> String {
        let letters = Array(typeName == "Dog" ? "abcde" : typeName == "Toy" ? "wxyz" : "ABCD")
        return String(try run.rowLocations().map { letters[Int(try table.segment($0.segment).rowID(at: $0.position))] })
    }

    static let arguments: [Value] = [.link(0), .link(99), .list([.link(0), .link(2)]), .link(1), .link(2)]

    /// Parses rules, one per line, as for the zoo.
    static func expectations(_ rules: String) -> [(query: String, rows: String)] {
        rules.split(separator: "\n").filter { !$0.hasPrefix("//") }.map { line in
            let bar = line.firstIndex(of: "|")!
            return (String(line[line.index(bar, offsetBy: 2)...]), line[..<bar].filter { $0 != " " })
        }
    }
}
