import FirnBytes
import FirnDatabase
import FirnKit
import FirnQuery
import FirnTable

/// Random types and rows that link to each other and to rows that do not exist. Values are from small pools, so that many are equal.
package struct RandomWorld {
    package enum Store: CaseIterable { case memory, file, transaction }
    package let schema: Schema
    /// By row id. Nil for deleted rows.
    package private(set) var rows: [String: [[Value]?]] = [:]
    /// The links that are used as arguments.
    package let links: [Value]

    package static let names = [
        "i", "name", "odd name", "any", "sort", "in", "dé", "a-b", "O12", "T5", "tags", "x.y", "`q`", "text", "link", "own", "count", "k",
        "NULL", "first",
    ]
    private static let kinds: [ScalarKind] = [
        .bool, .int, .int, .float, .double, .double, .string, .string, .data, .date, .decimal, .objectID, .uuid, .any,
    ]

    package init(_ random: inout Random) {
        func columns(_ count: Int, _ random: inout Random, extra: [ColumnSchema] = []) -> [ColumnSchema] {
            var names = RandomWorld.names, out: [ColumnSchema] = []
            for _ in 0..<count {
                let kind = RandomWorld.kinds[random.below(RandomWorld.kinds.count)]
                let collection: CollectionKind = random.below(5) < 3 ? .none : [.list, .list, .set, .map][random.below(4)]
                let type = ColumnType(
                    kind, optional: collection == .none && (kind == .any || random.bool()), collection: collection,
                    elementOptional: collection != .none && (kind == .any || random.bool()))
                out.append(ColumnSchema(names.remove(at: random.below(names.count)), type))
            }
            for column in extra { out.append(ColumnSchema(names.remove(at: random.below(names.count)), column.type)) }
            return out
        }
        let part = ColumnType(.embedded, optional: true, target: "Part")
        schema = Schema([
            TypeSchema("Part", columns: columns(3, &random), isEmbedded: true),
            RandomWorld.spot,
            TypeSchema(
                "Leaf",
                columns: [ColumnSchema("key", ColumnType([.int, .string][random.below(2)]))]
                    + columns(3, &random, extra: [ColumnSchema("", ColumnType(.link, optional: true, target: "Node"))]), key: [0]),
            TypeSchema(
                "Node",
                columns: columns(
                    3 + random.below(5), &random,
                    extra: [
                        ColumnSchema("", part),
                        ColumnSchema("", ColumnType(.embedded, collection: [.list, .map][random.below(2)], target: "Part")),
                        ColumnSchema("", ColumnType(.link, optional: true, target: ["Leaf", "Node"][random.below(2)])),
                        ColumnSchema("", ColumnType(.link, collection: [.list, .set, .map][random.below(3)], target: "Leaf")),
                        ColumnSchema(
                            "", ColumnType(.embedded, optional: true, collection: [.none, .list][random.below(2)], target: "Spot")),
                    ])),
        ])
        let counts = ["Leaf": random.below(12), "Node": random.below(5) == 0 ? 40 : 1 + random.below(24)]
        links = (0..<4).map { .link(Int64($0 * 3)) }
        for name in ["Leaf", "Node"] {
            rows[name] = (0..<counts[name]!).map { id in
                schema[name]!.columns.enumerated().map { index, column in
                    guard schema[name]!.key.contains(index) else { return RandomWorld.value(column.type, schema, counts, &random) }
                    return column.type.kind == .int ? .int(Int64(id * 2)) : .string("k\(id * 2)")
                }
            }
        }
    }

    /// A location in the form of GeoJSON.
    package static let spot = TypeSchema(
        "Spot", columns: [ColumnSchema("type", ColumnType(.string)), ColumnSchema("coordinates", ColumnType(.double, collection: .list))],
        isEmbedded: true)

    // MARK: Values

    package static func pool(_ kind: ScalarKind) -> [Value] {
        switch kind {
        case .bool: [.bool(false), .bool(true)]
        case .int: [-2, -1, 0, 1, 2, 3, 5, 7].map { .int($0) } + [.int(.max), .int(.min), .int(1 << 53 + 1)]
        case .float: [-1.5, -0.25, 0, 0.5, 1, 2, 3, 5].map { .float($0) } + [.float(.nan), .float(.infinity)]
        case .double:
            [-1.5, -0.25, 0, 0.5, 1, 2, 3, 5, 0x1p53].map { .double($0) } + [
                .double(.nan), .double(.infinity), .double(-.infinity), .double(1e300),
            ]
        case .string:
            ["", "a", "A", "ab", "Ab", "b", "é", "É", "aé", "5", "1.5", "*", "a?b", "ä", "ice a b", "Snow-ice, É", "ab snow Äb"].map {
                .string($0)
            }
        case .data: [[], [0], [97], [65], [97, 98], [98]].map { .data($0) }
        case .date: [(-1, 0), (0, 0), (0, 1), (0, 999_999_999), (1, 0), (86_400, 5)].map { .date(Timestamp(seconds: $0, nanoseconds: $1)) }
        case .decimal: ["-1.50", "0", "0.25", "1", "1.50", "1.5", "2", "5", "nan"].map { .decimal(Decimal($0)!) }
        case .objectID: (0..<4).map { .objectID(Identifier(high: [0, 1, 1 << 63, .max][$0], low: UInt64($0))) }
        case .uuid: (0..<4).map { .uuid(Identifier(high: [0, 1, 1 << 63, .max][$0], low: UInt64($0) << 62)) }
        case .any: [.null, .list([.int(1), .string("a"), .null]), .list([]), .map([.init("k", .int(2)), .init("z", .list([.int(3)]))])]
        case .link, .embedded: []
        }
    }

    package static func scalar(_ kind: ScalarKind, _ random: inout Random) -> Value {
        if kind == .any, random.below(3) > 0 {
            let other = kinds[random.below(kinds.count)]
            return scalar(other, &random)
        }
        let pool = pool(kind)
        // Values at the end of the pool are chosen less often.
        let index = random.below(pool.count)
        return pool[index > 7 && random.bool() ? random.below(8) : index]
    }

    package static func value(_ type: ColumnType, _ schema: Schema, _ counts: [String: Int], _ random: inout Random) -> Value {
        if type.isOptional, random.below(4) == 0 { return .null }
        switch type.collection {
        case .list: return .list((0..<random.below(4)).map { _ in value(type.element, schema, counts, &random) })
        case .set: return .set(Value.distinctSorted((0..<random.below(4)).map { _ in value(type.element, schema, counts, &random) }))
        case .map:
            return .map(["a b", "k", "z"].filter { _ in random.bool() }.map { .init($0, value(type.element, schema, counts, &random)) })
        case .none: break
        }
        switch type.kind {
        case .embedded where type.target == spot.name:
            var numbers = [Double(random.below(72) * 5 - 180) + 0.25, Double(random.below(35) * 5 - 85) + 0.25]
            if random.below(8) == 0 { numbers = random.bool() ? [7] : numbers + [100] }
            return .object([
                .init("type", .string(random.below(8) == 0 ? "Town" : "Point")), .init("coordinates", .list(numbers.map { .double($0) })),
            ])
        case .embedded: return .object(schema[type.target!]!.columns.map { .init($0.name, value($0.type, schema, counts, &random)) })
        case .link: return .link(Int64(random.below(counts[type.target!]! + 2)))
        default: return scalar(type.kind, &random)
        }
    }

    // MARK: Storing

    /// Returns the tables by type, and the objects that must be kept alive with them.
    package mutating func tables(_ store: Store, _ random: inout Random) throws -> (tables: [String: any Table], keeping: [Any]) {
        switch store {
        case .memory: return memory(&random)
        case .file, .transaction: return try file(store, &random)
        }
    }

    private func memory(_ random: inout Random) -> (tables: [String: any Table], keeping: [Any]) {
        final class Shelf: @unchecked Sendable { var tables: [String: any Table] = [:] }
        let shelf = Shelf()
        for type in schema.roots {
            let rows = rows[type.name]!.map { $0! }
            let cut = random.below(rows.count + 1)
            let batches = [rows[..<cut], rows[cut...]].map { RandomTables.batch(Array($0), of: type, in: schema) }
            shelf.tables[type.name] = MemoryTable(type, schema: schema, batches: batches) { [unowned shelf] in shelf.tables[$0] }
        }
        return (shelf.tables, [shelf])
    }

    /// Stores bulk rows, later rows, changed and deleted rows. Without a commit at the end for `Store.transaction`.
    private mutating func file(_ store: Store, _ random: inout Random) throws -> (tables: [String: any Table], keeping: [Any]) {
        let folder = TemporaryFolder()
        let database = try Database.create(path: folder.file("a.firn"))
        var transaction = try database.begin()
        try transaction.extendSchema(schema.types)
        var cuts: [String: Int] = [:]
        for type in schema.roots {
            let all = rows[type.name]!, cut = random.below(all.count + 1)
            cuts[type.name] = cut
            try transaction.bulkWriter(type.name).append(RandomTables.batch(all[..<cut].map { $0! }, of: type, in: schema))
        }
        try transaction.commit()
        transaction = try database.begin()
        for type in schema.roots { for row in rows[type.name]![cuts[type.name]!...] { _ = try transaction.insert(type.name, row!) } }
        try transaction.commit()
        transaction = try database.begin()
        let counts = rows.mapValues(\.count)
        for type in schema.roots {
            for id in rows[type.name]!.indices {
                if random.below(8) == 0 {
                    let index = random.below(type.columns.count)
                    if type.key.contains(index) { continue }
                    let value = RandomWorld.value(type.columns[index].type, schema, counts, &random)
                    rows[type.name]![id]![index] = value
                    try transaction.update(type.name, rowID: Int64(id), column: type.columns[index].name, value)
                } else if random.below(10) == 0 {
                    rows[type.name]![id] = nil
                    try transaction.delete(type.name, rowID: Int64(id))
                }
            }
        }
        if store == .transaction {
            return (
                Dictionary(uniqueKeysWithValues: schema.roots.map { ($0.name, transaction.table($0.name)) }),
                [folder, database, transaction]
            )
        }
        try transaction.commit()
        let snapshot = try database.snapshot()
        return (
            Dictionary(uniqueKeysWithValues: schema.roots.map { ($0.name, snapshot.table(named: $0.name)!) }), [folder, database, snapshot]
        )
    }
}
