import FirnBytes
import FirnDisk
import FirnKit
import Foundation

@testable import FirnDatabase
@testable import FirnStore
@testable import FirnTable

/// The computed rows of the golden files.
enum GoldenRows {
    static func mix(_ i: Int) -> UInt64 {
        var x = UInt64(i + 1) &* 0x9E37_79B9_7F4A_7C15
        x ^= x >> 31
        x = x &* 0xBF58_476D_1CE4_E5B9
        return x ^ x >> 29
    }

    static let row = TypeSchema(
        "Row",
        columns: [
            ColumnSchema("id", ColumnType(.int)), ColumnSchema("name", ColumnType(.string, optional: true)),
            ColumnSchema("score", ColumnType(.double)),
            ColumnSchema("flag", ColumnType(.bool)), ColumnSchema("at", ColumnType(.date)), ColumnSchema("uuid", ColumnType(.uuid)),
            ColumnSchema("data", ColumnType(.data)),
            ColumnSchema("object", ColumnType(.objectID)), ColumnSchema("amount", ColumnType(.decimal)),
            ColumnSchema("ratio", ColumnType(.float)),
        ], key: [0])

    static func plain(_ i: Int) -> [Value] {
        let x = mix(i)
        return [
            .int(Int64(i)), i % 7 == 0 ? .null : .string("name \(x % 50) of many"), .double(Double(x % 1000) / 8), .bool(x & 1 == 1),
            .date(Timestamp(seconds: Int64(x % 4_000_000_000), nanoseconds: Int32(x % 10) * 100_000_000)),
            .uuid(Identifier(high: x, low: x &* 3)),
            .data((0..<Int(x % 5)).map { UInt8(truncatingIfNeeded: x >> UInt64($0 * 8)) }),
            .objectID(Identifier(high: x, low: x & 0xFFFF_FFFF)),
            .decimal(Decimal("\(x % 100_000).\(10 + x % 90)")!), .float(Float(x % 256) / 4),
        ]
    }

    static func many(_ count: Int) -> [[Value]] { (0..<count).map { plain($0) } }

    static var plainAfter: [[Value]] {
        (0..<2540).filter { $0 % 250 != 3 }.map { i in
            var row = plain(i)
            if i % 100 == 5 { row[1] = .string("changed \(i)") }
            return row
        }
    }

    static var secondTagged: [[Value]] { (0..<100).filter { $0 % 10 != 0 }.map { plain($0) } }

    static func writePlain(_ path: String) throws {
        let database = try Database.create(path: path)
        let first = try database.begin()
        try first.extendSchema([row])
        try first.bulkWriter("Row").append(RandomBatches.batch(many(2500), of: row))
        try first.commit()
        let second = try database.begin()
        for i in 2500..<2540 { try second.insert("Row", plain(i)) }
        for i in 0..<2540 where i % 100 == 5 { try second.update("Row", rowID: Int64(i), column: "name", .string("changed \(i)")) }
        for i in 0..<2540 where i % 250 == 3 { try second.delete("Row", rowID: Int64(i)) }
        try second.commit()
    }

    static func writeAlone(_ path: String) throws {
        let transaction = try Database.create(path: path, atFirstCommit: true).begin()
        try transaction.extendSchema([row])
        try transaction.bulkWriter("Row").append(RandomBatches.batch(many(20), of: row))
        try transaction.commit()
    }

    static func writeIndexes(_ path: String) throws {
        let transaction = try Database.create(path: path).begin()
        try transaction.extendSchema([row])
        try transaction.bulkWriter("Row").append(RandomBatches.batch(many(3000), of: row))
        try transaction.addIndex("Row", "score", .values)
        try transaction.addIndex("Row", "name", .words)
        try transaction.commit()
    }

    static func writeTags(_ path: String) throws {
        let database = try Database.create(path: path)
        func commit(_ body: (DatabaseTransaction) throws -> Void) throws {
            let transaction = try database.begin()
            try body(transaction)
            try transaction.commit()
        }
        try commit {
            try $0.extendSchema([row])
            try $0.bulkWriter("Row").append(RandomBatches.batch(many(100), of: row))
        }
        try database.tag("first", database.snapshot())
        try commit { transaction in for i in stride(from: 0, to: 100, by: 10) { try transaction.delete("Row", rowID: Int64(i)) } }
        try database.tag("second", database.snapshot())
        try commit { transaction in
            for i in 1..<100 where i % 10 != 0 { try transaction.delete("Row", rowID: Int64(i)) }
            try transaction.bulkWriter("Row").append(RandomBatches.batch(many(150), of: row))
        }
        try database.retain(Retention(versions: 2, seconds: 60))
        for i in 0..<12 { try commit { try $0.update("Row", rowID: 100 + Int64(i), column: "flag", plain(i)[3]) } }
    }

    static let name = TypeSchema(
        "Name", columns: [ColumnSchema("name", ColumnType(.string)), ColumnSchema("code", ColumnType(.string))], key: [0])
    static var names: [[Value]] {
        (0..<2500).map {
            [.string("a shared beginning \(10_000 + $0)"), .string(String(mix($0), radix: 36) + String(mix($0 + 9999), radix: 36))]
        }
    }

    /// The first commit of a file: packed and wide headers with proofs, text bounds, and an index that stores short text.
    static func writeProofs(_ path: String) throws {
        let transaction = try Database.create(path: path, atFirstCommit: true).begin()
        try transaction.extendSchema([row, name])
        try transaction.bulkWriter("Row").append(RandomBatches.batch(many(60), of: row))
        try transaction.bulkWriter("Name").append(RandomBatches.batch(names, of: name))
        try transaction.addIndex("Row", "name", .values)
        try transaction.commit()
    }

    /// A column with original texts, and one with an attribute that no program knows.
    static let score: TypeSchema = {
        var type = TypeSchema(
            "Score",
            columns: [ColumnSchema("score", ColumnType(.double, optional: true)), ColumnSchema("note", ColumnType(.string))])
        type.columns.append(type.makeCompanion(of: type.columns[0]))
        type.columns[1].otherAttributes = [SchemaAttribute("colour", [1, 2, 3])]
        return type
    }()
    static var scores: [[Value]] {
        (0..<1500).map { i in
            [
                i % 100 == 7 ? .null : .double(Double(mix(i) % 1000) / 8), .string("note \(i % 3)"),
                i % 100 == 7 ? .string("n/a") : i % 100 == 9 ? .string("\(Double(mix(i) % 1000) / 8)e0") : .null,
            ]
        }
    }

    /// Original texts within lists.
    static let visit: TypeSchema = {
        var type = TypeSchema(
            "Visit", columns: [ColumnSchema("counts", ColumnType(.int, collection: .list, elementOptional: true))])
        type.columns.append(type.makeCompanion(of: type.columns[0]))
        return type
    }()
    static var visits: [[Value]] {
        (0..<1500).map { i in
            let isOdd = i % 100 == 7
            return [
                .list([.int(Int64(mix(i) % 50)), isOdd ? .null : .int(Int64(i))]), isOdd ? .string(#"{"1":"n/a"}"#) : .null,
            ]
        }
    }

    static func writeParts(_ path: String) throws {
        let transaction = try Database.create(path: path).begin()
        try transaction.extendSchema([visit])
        try transaction.bulkWriter("Visit").append(RandomBatches.batch(visits, of: visit))
        try transaction.commit()
    }

    static func writeOriginals(_ path: String) throws {
        let transaction = try Database.create(path: path).begin()
        try transaction.extendSchema([score])
        try transaction.bulkWriter("Score").append(RandomBatches.batch(scores, of: score))
        try transaction.commit()
    }

    /// Logical types, and metadata of the file, of a type and of a column.
    static let order: TypeSchema = {
        var type = TypeSchema(
            "Order",
            columns: [
                ColumnSchema("id", ColumnType(.decimal)), ColumnSchema("price", ColumnType(.double)),
                ColumnSchema("at", ColumnType(.string)),
                ColumnSchema("made", ColumnType(.date)), ColumnSchema("state", ColumnType(.string)),
                ColumnSchema("vector", ColumnType(.double, collection: .list)),
            ], key: [0])
        let logical: [LogicalType] = [
            .integer(bits: 64, isSigned: false), .decimal(precision: 15, scale: 2), .time(.second), .timestamp(.microsecond, zone: nil),
            .enumeration(["new", "paid"]), .fixedList(3),
        ]
        for (i, logical) in logical.enumerated() { type.columns[i].logical = logical }
        type.setMetadata("origin", Array("a test".utf8))
        type.columns[1].setMetadata("unit", Array("EUR".utf8))
        type.columns[1].setMetadata("", [0, 255])
        return type
    }()
    static var orders: [[Value]] {
        (0..<300).map { i in
            let x = mix(i)
            return [
                .decimal(Decimal("\(UInt64.max - UInt64(i))")!), .double(Double(x % 100_000) / 100),
                .string("\(10 + x % 10):\(10 + x % 50):\(10 + x % 50)"), .date(Timestamp(seconds: Int64(x % 2_000_000_000))),
                .string(x & 1 == 0 ? "new" : "paid"), .list((0..<3).map { .double(Double(x % 7) + Double($0) / 4) }),
            ]
        }
    }

    static func writeAttributes(_ path: String) throws {
        let transaction = try Database.create(path: path).begin()
        var schema = Schema([order])
        schema.setMetadata("application", Array("golden".utf8))
        schema.otherAttributes.append(SchemaAttribute("later", [7]))
        try transaction.extendSchema(schema.types)
        try transaction.setAttributes(like: schema)
        try transaction.bulkWriter("Order").append(RandomBatches.batch(orders, of: order))
        try transaction.commit()
    }

    static let owner = TypeSchema(
        "Owner",
        columns: [
            ColumnSchema("name", ColumnType(.string)), ColumnSchema("things", ColumnType(.link, collection: .list, target: "Thing")),
            ColumnSchema("best", ColumnType(.link, optional: true, target: "Thing")),
        ], key: [0])
    static let part = TypeSchema(
        "Part", columns: [ColumnSchema("size", ColumnType(.int)), ColumnSchema("note", ColumnType(.string, optional: true))],
        isEmbedded: true)
    static let thing = TypeSchema(
        "Thing",
        columns: [
            ColumnSchema("list", ColumnType(.int, collection: .list, elementOptional: true)),
            ColumnSchema("set", ColumnType(.string, collection: .set)),
            ColumnSchema("map", ColumnType(.double, collection: .map)),
            ColumnSchema("part", ColumnType(.embedded, optional: true, target: "Part")),
            ColumnSchema("parts", ColumnType(.embedded, collection: .list, target: "Part")),
            ColumnSchema("any", ColumnType(.any, optional: true)),
        ])

    private static func partOf(_ x: UInt64) -> Value {
        .object([.init("size", .int(Int64(x % 100))), .init("note", x % 3 == 0 ? .null : .string("note \(x % 11)"))])
    }

    static var things: [[Value]] {
        (0..<200).map { i in
            let x = mix(i)
            return [
                .list((0..<Int(x % 4)).map { $0 == 2 ? .null : .int(Int64(x % 97) + Int64($0)) }),
                .set(
                    (0..<Int(x >> 8 % 4)).map { $0 % 5 }.reduce(into: [Int]()) { if !$0.contains($1) { $0.append($1) } }.sorted().map {
                        .string("s\($0)")
                    }),
                .map((0..<Int(x >> 16 % 3)).prefix(3).map { .init("k\($0)", .double(Double(x % 31) / 2)) }),
                x % 5 == 0 ? .null : partOf(x), .list((0..<Int(x % 3)).map { partOf(x &+ UInt64($0)) }),
                [.null, .int(Int64(x % 9)), .string("text \(x % 9)"), .list([.int(1), .string("x")]), .bool(true), .double(0.5)][
                    Int(x % 6)],
            ]
        }
    }

    static var owners: [[Value]] {
        (0..<30).map { i in
            let x = mix(i + 1000)
            return [
                .string("owner \(i)"), .list((0..<Int(x % 5)).map { .link(Int64((x &+ UInt64($0) &* 7) % 200)) }),
                x % 4 == 0 ? .null : .link(Int64(x % 200)),
            ]
        }
    }

    static func writeCollections(_ path: String) throws {
        let transaction = try Database.create(path: path).begin()
        try transaction.extendSchema([part, thing, owner])
        for row in things { try transaction.insert("Thing", row) }
        for row in owners { try transaction.insert("Owner", row) }
        try transaction.flushAll()
        try transaction.commit()
    }

    static let player = TypeSchema(
        "Player",
        columns: [
            ColumnSchema("id", ColumnType(.int)), ColumnSchema("key", ColumnType(.int)), ColumnSchema("name", ColumnType(.string)),
            ColumnSchema("born", ColumnType(.date, optional: true)), ColumnSchema("height", ColumnType(.double)),
        ])

    /// Rows whose name, date and height follow from the key, with exceptions.
    static var players: [[Value]] {
        (0..<3000).map { i in
            let key = Int(mix(i) % 90), from = i % 101 == 7 ? key + 1 : key
            return [
                .int(Int64(mix(i + 5000) >> 1)), .int(Int64(key) * 1009 + 77), .string("player \(mix(from + 10_000) >> 34)"),
                from % 13 == 4 ? .null : .date(Timestamp(seconds: Int64(mix(from + 20_000) >> 35), nanoseconds: 0)),
                .double(Double(mix(from + 30_000) >> 50) / 4),
            ]
        }
    }

    static func writeRelations(_ path: String) throws {
        let database = try Database.create(path: path), transaction = try database.begin()
        try transaction.extendSchema([player])
        try transaction.bulkWriter("Player").append(RandomBatches.batch(players, of: player))
        try transaction.commit()
        let second = try database.begin()
        // A value like before: a change in the delta store, over a map.
        try second.update("Player", rowID: 20, column: "name", players[20][2])
        try second.commit()
    }
}

/// Columns in encodings that need a feature bit: zstd pages of integers (with a prefix, in planes, as codes) and mixed floats.
extension GoldenRows {
    private static let place = TypeSchema(
        "Place",
        columns: [
            ColumnSchema("code", ColumnType(.int)), ColumnSchema("name", ColumnType(.string)), ColumnSchema("total", ColumnType(.int)),
            ColumnSchema("latitude", ColumnType(.double, optional: true)), ColumnSchema("years", ColumnType(.double)),
        ])

    static var places: [[Value]] {
        (0..<9000).map { i in
            let x = mix(i % 700), degrees = Double(Int(x % 180_000_000) - 90_000_000)
            return [
                .int(Int64(x % 1_000_003)), .string("place \(x % 60_000)"), .int(Int64(x % 70_000_000) + Int64(i / 700 * (i % 700) / 9)),
                i % 11 == 4
                    ? .null
                    : .double(
                        mix(i) % 3 == 0
                            ? Double(Float((degrees / 1e2).rounded() / 1e4))
                            : (degrees + Double(mix(i) % 1000)) / (mix(i) % 3 == 1 ? 1e6 : 1e8)),
                .double(Double(mix(i) % 30_000) / 365.25),
            ]
        }
    }

    static func writeEncodings(_ path: String) throws {
        let transaction = try Database.create(path: path).begin()
        try transaction.extendSchema([place])
        try transaction.bulkWriter("Place").append(RandomBatches.batch(places, of: place))
        try transaction.commit()
    }
}

/// Doubles that are codes into their distinct values, and Floats that were printed with 15 digits.
enum DoubleRows {
    static let type = TypeSchema(
        "Wage",
        columns: [
            ColumnSchema("id", ColumnType(.int)), ColumnSchema("hourly", ColumnType(.double, optional: true)),
            ColumnSchema("yearly", ColumnType(.double)),
        ])

    static var rows: [[Value]] {
        (0..<2500).map { i in
            let x = GoldenRows.mix(i), cents = Double(Float(Double(x >> 8 % 90_000) / 100))
            return [
                .int(Int64(i)), i % 13 == 3 ? .null : .double(Double(String(format: "%.15g", cents))!),
                .double((Double(x % 600) + 1 / 3.0).squareRoot()),
            ]
        }
    }

    static func write(_ path: String) throws {
        let transaction = try Database.create(path: path).begin()
        try transaction.extendSchema([type])
        try transaction.bulkWriter("Wage").append(RandomBatches.batch(rows, of: type))
        try transaction.commit()
    }
}

/// Doubles and Floats that are sums of decimals, and means of three.
enum SumRows {
    static let type = TypeSchema(
        "Sum",
        columns: [
            ColumnSchema("id", ColumnType(.int)), ColumnSchema("total", ColumnType(.double, optional: true)),
            ColumnSchema("mean", ColumnType(.double)), ColumnSchema("ratio", ColumnType(.float)),
        ])

    static var rows: [[Value]] {
        (0..<2500).map { i in
            let x = GoldenRows.mix(i), a = Double(x >> 8 % 90_000) / 100, b = Double(x >> 30 % 7000) / 1000, c = Double(x >> 45 % 800) / 10
            let total: Value = i % 13 == 3 ? .null : .double(i % 500 == 7 ? [.nan, .infinity, 1 / 7.0, -0.0, 1e200][i / 500] : a + b)
            return [.int(Int64(i)), total, .double((a + b + c) / 3), .float(Float(a) + Float(b))]
        }
    }

    static func write(_ path: String) throws {
        let transaction = try Database.create(path: path).begin()
        try transaction.extendSchema([type])
        try transaction.bulkWriter("Sum").append(RandomBatches.batch(rows, of: type))
        try transaction.commit()
    }
}

enum RandomBatches {
    static func batch(_ rows: [[Value]], of type: TypeSchema) -> Batch {
        var batch = Batch(type, in: Schema([type]))
        for row in rows {
            for (i, value) in row.enumerated() { precondition(batch.columns[i].append(value), "\(value) does not fit") }
            batch.count += 1
        }
        return batch
    }
}

/// Large collections in a segment. The second version changes some of their elements.
enum SplicedRows {
    static let type = TypeSchema(
        "Series",
        columns: [
            ColumnSchema("id", ColumnType(.int)), ColumnSchema("list", ColumnType(.int, collection: .list)),
            ColumnSchema("set", ColumnType(.int, collection: .set)),
            ColumnSchema("map", ColumnType(.int, optional: true, collection: .map)),
        ])

    private static func number(_ i: Int) -> Value { .int(Int64(GoldenRows.mix(i) >> 30)) }

    static var before: [[Value]] {
        (0..<3).map { row in
            [
                .int(Int64(row)), .list((0..<2000).map { number($0 + row * 5000) }),
                .set(Value.distinctSorted((0..<2000).map { number($0 + 20_000) })),
                .map((0..<1500).map { Value.Entry("key \(1000 + $0)", number($0 + 40_000)) }),
            ]
        }
    }

    static var after: [[Value]] {
        var rows = before
        guard case .list(var list) = rows[1][1], case .set(let set) = rows[1][2], case .map(var map) = rows[1][3] else { return [] }
        list.removeFirst()
        list[1000] = .int(-1)
        list.append(contentsOf: [.int(-2), .int(-3)])
        map[7].value = .int(-4)
        map.insert(Value.Entry("key 1500 b", .int(-5)), at: 501)
        rows[1] = [.int(10), .list(list), .set(Value.distinctSorted(set + [.int(-6), .int(1 << 33)])), .map(map)]
        return rows
    }

    static func write(_ path: String) throws {
        let database = try Database.create(path: path), transaction = try database.begin()
        try transaction.extendSchema([type])
        for row in before { _ = try transaction.insert("Series", row) }
        try transaction.flushAll()
        try transaction.commit()
        let second = try database.begin()
        for column in 0..<4 { try second.table("Series").set(1, column, after[1][column]) }
        try second.commit()
    }
}
