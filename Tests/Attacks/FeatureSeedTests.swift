import FirnBytes
import FirnCodecs
import FirnDatabase
import FirnKit
import FirnStore
import FirnTable
import Foundation
import Testing

/// Writes seeds of `Tools/fuzz/corpus/file` and `store` with one feature each: `FIRN_SEEDS=folder swift test --filter FeatureSeedTests`.
/// The seeds are small enough for millions of mutations, and large enough that the encoders choose the same encodings as for larger data.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["FIRN_SEEDS"] != nil)) struct FeatureSeedTests {
    private let folder = ProcessInfo.processInfo.environment["FIRN_SEEDS"] ?? ""
    /// The key that the attacks use.
    private let key = EncryptionKey([UInt8](0..<64))!

    private func save(_ path: String, _ attack: String, _ name: String) throws {
        let place = URL(filePath: folder).appending(path: attack), bytes = try Data(contentsOf: URL(filePath: path))
        #expect(bytes.count <= 20_000, "\(name): \(bytes.count) bytes are too many to mutate")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        try bytes.write(to: place.appending(path: name))
    }

    private func file(
        _ name: String, atFirstCommit: Bool = false, key: EncryptionKey? = nil, _ commits: ((DatabaseTransaction) throws -> Void)...,
        after: (Database) throws -> Void = { _ in }
    ) throws {
        let scratch = TemporaryFolder(), path = scratch.file("a.firn"),
            database = try Database.create(path: path, atFirstCommit: atFirstCommit, key: key)
        for commit in commits {
            let transaction = try database.begin(threads: 1)
            try commit(transaction)
            try transaction.commit()
        }
        try after(database)
        #expect(try database.snapshot().verify(full: true).isEmpty)
        try save(path, "file", name)
    }

    private func mix(_ i: Int) -> Int {
        let x = UInt64(i + 1) &* 0x9E37_79B9_7F4A_7C15
        return Int((x ^ x >> 29) >> 33)
    }

    private func load(_ transaction: DatabaseTransaction, _ type: TypeSchema, _ count: Int, _ row: (Int) -> [Value]) throws {
        if transaction.schema[type.name] == nil { try transaction.extendSchema([type]) }
        let rows = (0..<count).map(row)
        try transaction.bulkWriter(type.name).append(RandomTables.batch(rows, of: transaction.schema[type.name]!, in: transaction.schema))
    }

    private static let numbers = TypeSchema(
        "N",
        columns: [
            ColumnSchema("id", ColumnType(.int)), ColumnSchema("skewed", ColumnType(.int)), ColumnSchema("scaled", ColumnType(.int)),
            ColumnSchema("runs", ColumnType(.int, optional: true)),
            ColumnSchema("price", ColumnType(.double)), ColumnSchema("noise", ColumnType(.double, optional: true)),
            ColumnSchema("single", ColumnType(.float)), ColumnSchema("flag", ColumnType(.bool)),
            ColumnSchema("at", ColumnType(.date)), ColumnSchema("amount", ColumnType(.decimal)), ColumnSchema("uuid", ColumnType(.uuid)),
            ColumnSchema("object", ColumnType(.objectID, optional: true)),
        ], key: [0])

    private func number(_ i: Int) -> [Value] {
        let x = mix(i)
        return [
            .int(Int64(i)), .int(Int64(1) << Int64(x % 7 * (x % 3))), .int(Int64(x % 90) * 1000),
            i / 50 % 3 == 0 ? .null : .int(Int64(i / 40)),
            .double(Double(x % 10_000) / 100), x % 4 == 0 ? .null : .double(Double(bitPattern: UInt64(x) << 31)),
            .float(Float(x % 256) / 4), .bool(x % 9 == 0),
            .date(Timestamp(seconds: Int64(1_700_000_000 + i * 60), nanoseconds: Int32(x % 10) * 100_000_000)),
            .decimal(Decimal("\(x % 1000).\(10 + x % 90)")!),
            .uuid(Identifier(high: UInt64(x), low: 7)),
            i % 3 == 0 ? .null : .objectID(Identifier(high: UInt64(1_700_000_000 + i) << 32, low: UInt64(x % 1000))),
        ]
    }

    @Test func `seeds have numbers of every kind in each profile`() throws {
        for (name, profile) in [("fast", Profile.fast), ("standard", .standard), ("small", .small)] {
            try file("numbers-\(name)") {
                $0.profile = profile
                try load($0, FeatureSeedTests.numbers, name == "fast" ? 40 : 250, number)
            }
        }
    }

    /// Long columns, for which entropy coding saves space.
    @Test func `seeds have entropy-coded columns`() throws {
        try file("entropy") { transaction in
            transaction.profile = .small
            try load(
                transaction,
                TypeSchema("E", columns: [ColumnSchema("skewed", ColumnType(.int)), ColumnSchema("word", ColumnType(.string))]), 9000
            ) { i in
                let x = mix(i), n = (x | 64).trailingZeroBitCount
                return [.int(Int64(n * 3)), .string(["a", "be", "sea", "door", "elfin", "fallen", "gee"][n])]
            }
        }
    }

    @Test func `seeds have value and word indexes`() throws {
        let type = TypeSchema(
            "I",
            columns: [
                ColumnSchema("id", ColumnType(.int)), ColumnSchema("name", ColumnType(.string, optional: true)),
                ColumnSchema("text", ColumnType(.string)),
                ColumnSchema("score", ColumnType(.double)), ColumnSchema("at", ColumnType(.date)), ColumnSchema("uuid", ColumnType(.uuid)),
                ColumnSchema("any", ColumnType(.any, optional: true)),
            ], key: [0])
        func row(_ i: Int) -> [Value] {
            let x = mix(i)
            return [
                .int(Int64(i)), x % 6 == 0 ? .null : .string("word\(x % 25)"),
                .string((0..<(x % 4)).map { "word\((x >> $0) % 19)" }.joined(separator: " ")), .double(Double(x % 40) / 4),
                .date(Timestamp(seconds: Int64(x % 100_000))), .uuid(Identifier(high: UInt64(x % 8), low: UInt64(x))),
                x % 3 == 0 ? .int(5) : .string("any\(x % 3)"),
            ]
        }
        try file(
            "indexes",
            { transaction in
                try transaction.extendSchema([type])
                for column in type.columns where column.type.refusal(of: .values) == nil {
                    try transaction.addIndex("I", column.name, .values)
                }
                try transaction.addIndex("I", "text", .words)
                try load(transaction, type, 120, row)
            },
            { transaction in
                for i in 120..<130 { try transaction.insert("I", row(i)) }
                for i in 0..<9 { try transaction.update("I", rowID: Int64(i * 9), column: "text", .string("word1 other\(i)")) }
                try transaction.flushAll()
            }, { try $0.delete("I", rowID: 3) })
    }

    private static let text = TypeSchema(
        "T",
        columns: [
            ColumnSchema("tokens", ColumnType(.string)), ColumnSchema("few", ColumnType(.string, optional: true)),
            ColumnSchema("raw", ColumnType(.data)),
            ColumnSchema("prose", ColumnType(.string)),
        ])

    private func sentence(_ i: Int) -> [Value] {
        let x = mix(i), words = ["the", "special", "packages", "sleep", "furiously", "among", "deposits", "final"]
        return [
            .string("https://example.org/item/\(x % 1000)/\(words[x % 8])"), x % 5 == 0 ? .null : .string(words[x / 8 % 8]),
            .data((0..<x % 9).map { UInt8(truncatingIfNeeded: x >> $0) }),
            .string((0..<(3 + x % 5)).map { words[(x >> (3 * $0)) % 8] }.joined(separator: " ")),
        ]
    }

    @Test func `seeds have text as symbols, dictionaries, pages and bytes`() throws {
        // With the profile `small`, types of one segment are modelled.
        for (name, profile) in [("fast", Profile.fast), ("standard", .standard), ("modelled", .small)] {
            try file("text-\(name)") {
                $0.profile = profile
                try load($0, FeatureSeedTests.text, 500, sentence)
            }
        }
    }

    /// Columns that other columns and earlier rows of a group predict, with exceptions and nulls.
    @Test func `seeds have relations and predicted numbers`() throws {
        let type = TypeSchema(
            "P",
            columns: [
                ColumnSchema("from", ColumnType(.date)), ColumnSchema("days", ColumnType(.int)), ColumnSchema("to", ColumnType(.date)),
                ColumnSchema("net", ColumnType(.double)), ColumnSchema("tax", ColumnType(.double, optional: true)),
                ColumnSchema("house", ColumnType(.int)), ColumnSchema("name", ColumnType(.string)), ColumnSchema("meter", ColumnType(.int)),
            ])
        try file("predictions") { transaction in
            try load(transaction, type, 900) { i in
                let x = mix(i), from = 17_000 + x % 900, days = x / 1000 % 500, cents = x / 7 % 60_000, house = mix(mix(i) % 10_000) % 9
                return [
                    .date(Timestamp(seconds: Int64(from) * 86_400)), .int(Int64(days)),
                    .date(Timestamp(seconds: Int64(from + days) * 86_400 + (i % 90 == 7 ? 60 : 0))), .double(Double(cents) / 100),
                    x % 11 == 0 ? .null : .double(i % 70 == 3 ? 1 / 3 : (Double(cents) * 0.07).rounded() / 100),
                    .int(Int64(house * 13)), .string("house \(mix(house))"),
                    .int(Int64(house * house * 90_001 + mix(mix(i) % 20_000) % 3000)),
                ]
            }
        }
    }

    /// Columns that are products and quotients of others, with exceptions and nulls.
    @Test func `seeds have products and quotients`() throws {
        let type = TypeSchema(
            "R",
            columns: [
                ColumnSchema("people", ColumnType(.int)), ColumnSchema("cases", ColumnType(.int)),
                ColumnSchema("rate", ColumnType(.double, optional: true)), ColumnSchema("wage", ColumnType(.double)),
                ColumnSchema("pay", ColumnType(.double)),
            ])
        try file("products") { transaction in
            try load(transaction, type, 400) { i in
                let x = mix(i), y = mix(i + 100_000), people = 1000 + x % 5_000_000, cases = y % 40_000
                let wage = Double(900 + x / 7 % 9000) / 100
                return [
                    .int(Int64(people)), .int(Int64(cases)),
                    i % 13 == 4 ? .null : .double(i % 70 == 3 ? 1 / 3 : Double(cases) / Double(people) * 1000), .double(wage),
                    .double((wage * Double(cases) * 100).rounded() / 100),
                ]
            }
        }
    }

    /// Doubles and Floats that are results of computations, with exceptions and nulls.
    @Test func `seeds have corrected doubles`() throws {
        let type = TypeSchema(
            "S",
            columns: [
                ColumnSchema("sum", ColumnType(.double, optional: true)), ColumnSchema("mean", ColumnType(.double)),
                ColumnSchema("single", ColumnType(.float)),
            ])
        try file("corrections") { transaction in
            try load(transaction, type, 900) { i in
                let x = mix(i), a = Double(x % 9000) / 100, b = Double(x / 9000 % 900) / 1000, c = Double(x / 70_000 % 700) / 10
                return [
                    i % 13 == 4 ? .null : .double(i % 70 == 3 ? .infinity : a + b + c), .double((a + b + c) / 3),
                    .float(Float(a) + Float(b) + Float(c)),
                ]
            }
        }
    }

    /// Text with pieces of text, integers and UUIDs, in rows with exceptions and nulls.
    @Test func `seeds have text with pieces of other columns`() throws {
        let type = TypeSchema(
            "C",
            columns: [
                ColumnSchema("id", ColumnType(.uuid)), ColumnSchema("number", ColumnType(.int)), ColumnSchema("key", ColumnType(.string)),
                ColumnSchema("name", ColumnType(.string, optional: true)), ColumnSchema("slug", ColumnType(.string, optional: true)),
                ColumnSchema("page", ColumnType(.string)),
            ])
        try file("pieces") { transaction in
            try load(transaction, type, 300) { i in
                func random(_ salt: Int, below limit: Int) -> Int { mix(mix(i * 8 + salt) & 0xFFF_FFFF) % limit }
                let high = random(0, below: 1 << 30) << 30 | random(1, below: 1 << 30), number = random(2, below: 10_000_000)
                let id = Identifier(high: UInt64(high), low: UInt64(random(3, below: 1 << 30)) << 30 | UInt64(random(6, below: 1 << 30)))
                let words = String(random(4, below: 1 << 30), radix: 36) + " of " + String(random(5, below: 60_000), radix: 36)
                let slug = words.split(separator: " ").joined(separator: "-")
                let page = i % 31 == 0 ? "none" : "https://example.org/\(number)/edit"
                return [
                    .uuid(id), .int(Int64(number)), .string(String(id.uuidText.suffix(12))),
                    i % 13 == 4 ? .null : .string(words.uppercased()),
                    i % 17 == 2 ? .null : .string(slug), .string(page),
                ]
            }
        }
    }

    /// Two segments with a shared dictionary in a separate extent, and columns that would otherwise not be stored.
    @Test func `seeds have a dictionary that segments share`() throws {
        try file("shared") { transaction in
            try load(
                transaction,
                TypeSchema(
                    "S",
                    columns: [
                        ColumnSchema("n", ColumnType(.int)), ColumnSchema("wide", ColumnType(.string)),
                        ColumnSchema("flag", ColumnType(.bool, optional: true)),
                    ]), 66_600
            ) { i in
                [.int(Int64(i)), .string(String(mix(i / 7 % 1500), radix: 36)), i / 1000 % 2 == 0 ? .null : .bool(true)]
            }
        }
    }

    /// Two segments of text whose symbols are coded in contexts, which the first segment is just large enough for.
    @Test func `seeds have text as symbols in contexts`() throws {
        let type = TypeSchema("X", columns: [ColumnSchema("text", ColumnType(.string, optional: true))])
        let words = ["regular", "packages", "sleep", "furiously", "among", "deposits", "final", "quickly"]
        try file("contexts") { transaction in
            transaction.profile = .small
            try load(transaction, type, 66_600) { i in
                let x = mix(i)
                guard i % 20 == 0 else { return [.null] }
                let chosen = (0..<(6 + x % 3)).map { (k: Int) -> String in
                    let half = k % 2 * 4
                    return words[half + (x >> (2 * k)) % 4]
                }
                return [.string(chosen.joined(separator: " "))]
            }
        }
    }

    @Test func `seeds have changed, deleted and added rows, in segments and in the delta`() throws {
        try file(
            "changes", { try load($0, FeatureSeedTests.numbers, 100, number) },
            { transaction in
                for i in 0..<30 { try transaction.update("N", rowID: Int64(i * 3), column: "price", .double(Double(i))) }
                for i in stride(from: 1, to: 60, by: 7) { try transaction.delete("N", rowID: Int64(i)) }
                try transaction.flushAll()
            },
            { transaction in
                for i in 100..<112 { try transaction.insert("N", number(i)) }
                for i in 61..<70 { try transaction.update("N", rowID: Int64(i), column: "skewed", .int(-1)) }
                try transaction.delete("N", rowID: 90)
            })
    }

    private static let part = TypeSchema(
        "Part", columns: [ColumnSchema("size", ColumnType(.int)), ColumnSchema("note", ColumnType(.string, optional: true))],
        isEmbedded: true)
    private static let all = [
        part,
        TypeSchema(
            "Thing",
            columns: [
                ColumnSchema("list", ColumnType(.int, collection: .list, elementOptional: true)),
                ColumnSchema("set", ColumnType(.string, collection: .set)), ColumnSchema("map", ColumnType(.double, collection: .map)),
                ColumnSchema("part", ColumnType(.embedded, optional: true, target: "Part")),
                ColumnSchema("parts", ColumnType(.embedded, collection: .list, target: "Part")),
                ColumnSchema("partMap", ColumnType(.embedded, collection: .map, target: "Part")),
                ColumnSchema("any", ColumnType(.any, optional: true)), ColumnSchema("anys", ColumnType(.any, collection: .list)),
            ]),
        TypeSchema(
            "Owner",
            columns: [
                ColumnSchema("name", ColumnType(.string)), ColumnSchema("best", ColumnType(.link, optional: true, target: "Thing")),
                ColumnSchema("things", ColumnType(.link, collection: .list, target: "Thing")),
                ColumnSchema("named", ColumnType(.link, collection: .map, target: "Thing")),
            ], key: [0]),
    ]

    private func collections(_ transaction: DatabaseTransaction) throws {
        try transaction.extendSchema(FeatureSeedTests.all)
        func part(_ x: Int) -> Value {
            .object([.init("size", .int(Int64(x % 100))), .init("note", x % 3 == 0 ? .null : .string("note \(x % 11)"))])
        }
        for i in 0..<40 {
            let x = mix(i)
            try transaction.insert(
                "Thing",
                [
                    .list((0..<x % 4).map { $0 == 2 ? .null : .int(Int64(x % 97 + $0)) }), .set((0..<x % 4).map { .string("s\($0)") }),
                    .map((0..<x % 3).map { .init("k\($0)", .double(Double(x % 31) / 2)) }),
                    x % 5 == 0 ? .null : part(x), .list((0..<x % 3).map { part(x + $0) }),
                    .map((0..<x % 2).map { .init("p\($0)", part(x)) }),
                    [
                        .null, .int(Int64(x % 9)), .string("text \(x % 9)"), .list([.int(1), .string("x"), .map([.init("y", .null)])]),
                        .bool(true), .double(0.5), .date(Timestamp(seconds: 5)),
                    ][x % 7],
                    .list((0..<x % 3).map { [.int(7), .string("any1"), .uuid(Identifier(high: 1, low: 2))][$0] }),
                ])
        }
        for i in 0..<12 {
            let x = mix(i + 1000)
            try transaction.insert(
                "Owner",
                [
                    .string("owner \(i)"), x % 4 == 0 ? .null : .link(Int64(x % 40)),
                    .list((0..<x % 5).map { .link(Int64((x + $0 * 7) % 40)) }),
                    .map((0..<x % 3).map { .init("n\($0)", .link(Int64(x % 40))) }),
                ])
        }
    }

    @Test func `seeds have collections, links and embedded objects`() throws {
        try file("collections") { try collections($0) }
        try file("collections-flushed") {
            try collections($0)
            try $0.flushAll()
        }
        try file("collections-alone", atFirstCommit: true) { try collections($0) }
        try file("collections-encrypted", key: key) { try collections($0) }
        try file("numbers-encrypted", atFirstCommit: true, key: key) { try load($0, FeatureSeedTests.numbers, 30, number) }
    }

    @Test func `seeds have tags and versions`() throws {
        try file(
            "tags", { try load($0, FeatureSeedTests.numbers, 30, number) }, { try $0.delete("N", rowID: 5) },
            { _ = try $0.insert("N", number(30)) },
            after: { database in
                try database.tag("first", database.snapshot(version: 1))
                try database.retain(Retention(versions: 2, seconds: 60))
                for i in 0..<4 {
                    let transaction = try database.begin()
                    try transaction.update("N", rowID: Int64(i), column: "flag", .bool(i % 2 == 0))
                    try transaction.commit()
                }
                try database.tag("last", database.snapshot())
            })
    }

    @Test func `seeds have stores with tags, deep trees and a key`() throws {
        for (name, key) in [("plain", nil), ("encrypted", key)] as [(String, EncryptionKey?)] {
            let scratch = TemporaryFolder(), path = scratch.file("a.firn"), store = try Store.create(path: path, overwrite: false, key: key)
            var root = ExtentRef.none
            for round in 0..<5 {
                let transaction = try store.begin(), tree = TreeWriter(root: root, transaction: transaction)
                for i in 0..<(name == "plain" ? 80 : 40) where round == 0 || i % 9 == round {
                    try tree.put(UInt64(mix(i)), [UInt8](repeating: UInt8(i & 0xFF), count: i % 50 == 7 ? 700 : 20 + round))
                }
                root = try tree.finish()
                if round == 1 { transaction.tagItself("one") }
                if round == 3 { transaction.retain(Retention(versions: 3)) }
                try transaction.commit(catalogue: root, keep: 2)
            }
            try save(path, "store", "history-\(name)")
        }
    }
}
