import FirnBytes
import FirnKit
import Foundation
import Testing

@testable import FirnDatabase
@testable import FirnStore
@testable import FirnTable

@Suite struct SharedPresenceTests {
    /// Columns with related validity, and one without.
    private let type = TypeSchema(
        "T",
        columns: [
            ColumnSchema("id", ColumnType(.int)), ColumnSchema("a", ColumnType(.double, optional: true)),
            ColumnSchema("b", ColumnType(.string, optional: true)),
            ColumnSchema("within", ColumnType(.int, optional: true)), ColumnSchema("other", ColumnType(.int, optional: true)),
            ColumnSchema("same", ColumnType(.int, optional: true)),
            ColumnSchema("list", ColumnType(.int, optional: true, collection: .list)),
            ColumnSchema("all", ColumnType(.int, optional: true)), ColumnSchema("none", ColumnType(.int, optional: true)),
        ])

    private func row(_ i: Int, _ random: inout RandomTables) -> [Value] {
        let isThere = random.chance(50), isWithin = isThere && random.chance(40)
        // Few distinct values where all columns are present, many elsewhere: no column is a function of another one, their validity alone is
        // related.
        func number() -> Value { .int(Int64(random.number(0...1 << 60))) }
        return [
            .int(Int64(i)), isThere ? .double(Double(random.number(0...9)) / 64) : .null,
            isThere ? .string("word \(random.number(0...99))") : .null,
            isWithin ? number() : .null, random.chance(50) ? number() : .null, isThere ? .int(Int64(random.number(0...9))) : .null,
            isThere ? .list((0..<random.number(0...3)).map { _ in number() }) : .null, number(), .null,
        ]
    }

    private func encodings(_ database: Database) throws -> [String: String] {
        let columns = try database.snapshot().statistics()[0].columns
        return Dictionary(uniqueKeysWithValues: columns.map { ($0.name, $0.encodings.map(\.name).joined(separator: ", ")) })
    }

    private func expect(_ database: Database, holds model: [Int64: [Value]], _ note: String) throws {
        let snapshot = try Database.open(path: database.path).snapshot(), table = snapshot.table(named: "T")!
        let back = try allRows(table), expected = model.sorted { $0.key < $1.key }
        #expect(back.map(\.id) == expected.map(\.key), "\(note)")
        for (row, wanted) in zip(back, expected) where row.values != wanted.value {
            Issue.record("\(note), row \(row.id): \(row.values) for \(wanted.value)")
            break
        }
        for (id, values) in expected.prefix(40) {
            let one = try table.row(id)
            #expect(one == values, "\(note), row \(id)")
        }
        for index in 0..<table.segmentCount {
            let segment = try table.segment(index)
            for column in type.columns.indices {
                let reader = try segment.column(column)
                var read = Column(type.columns[column].type)
                for vector in 0..<segment.vectorCount {
                    guard let zone = reader.zone(ofVector: vector) else { continue }
                    try reader.read(vector: vector, into: &read)
                    #expect(zone.mayHaveNulls || read.nullCount == 0, "\(note)")
                    #expect(!zone.allNull || read.nullCount == read.count, "\(note)")
                }
            }
        }
        let defects = snapshot.verify(full: true)
        #expect(defects.isEmpty, "\(note): \(defects)")
    }

    /// Writes a file of `count` rows, and returns it with the rows.
    private func make(_ count: Int, in folder: TemporaryFolder, _ random: inout RandomTables, atFirstCommit: Bool = false) throws -> (
        Database, [Int64: [Value]]
    ) {
        let database = try Database.create(path: folder.file("a.firn"), atFirstCommit: atFirstCommit)
        let transaction = try database.begin()
        try transaction.extendSchema([type])
        let rows = (0..<count).map { row($0, &random) }
        try transaction.bulkWriter("T").append(RandomTables.batch(rows, of: type, in: Schema([type])))
        try transaction.commit()
        return (database, Dictionary(uniqueKeysWithValues: rows.enumerated().map { (Int64($0.offset), $0.element) }))
    }

    @Test func `equal validity is stored once, and validity within another one relative to it`() throws {
        for (count, atFirstCommit) in [(2000, true), (2000, false), (20_000, false)] {
            var random = RandomTables(seed: UInt64(count)), folder = TemporaryFolder()
            let (database, model) = try make(count, in: folder, &random, atFirstCommit: atFirstCommit)
            let names = try encodings(database)
            #expect(
                names["b"]!.hasSuffix(" validity-of(a)") && names["same"]!.hasSuffix(" validity-of(a)")
                    && names["list"]!.hasSuffix(" validity-of(a)"), "\(names)")
            #expect(names["within"]!.hasSuffix(" validity-within(a)"), "\(names)")
            for column in ["id", "a", "other", "all", "none"] { #expect(!names[column]!.contains("validity-"), "\(names)") }
            try expect(database, holds: model, "\(count) rows")
            #expect(try database.store.newestRoot().readerFeatures == ReaderFeature.sharedPresence.bit)
            folder = TemporaryFolder()
            try database.snapshot().compact(to: folder.file("a.firn"))
            let compacted = try Database.open(path: folder.file("a.firn"))
            #expect(try encodings(compacted) == names)
            try expect(compacted, holds: model, "\(count) rows, compacted")
        }
    }

    @Test func `unrelated validity is stored without references, and the file gets no feature`() throws {
        let type = TypeSchema(
            "T",
            columns: [
                ColumnSchema("a", ColumnType(.int, optional: true)), ColumnSchema("b", ColumnType(.int, optional: true)),
                ColumnSchema("c", ColumnType(.int, optional: true)), ColumnSchema("d", ColumnType(.int, optional: true)),
            ])
        var random = RandomTables(seed: 3)
        let folder = TemporaryFolder()
        let database = try Database.create(path: folder.file("a.firn"))
        let transaction = try database.begin()
        try transaction.extendSchema([type])
        let rows: [[Value]] = (0..<5000).map { i in
            [random.chance(50) ? .int(1) : .null, random.chance(50) ? .int(2) : .null, .null, .int(4)]
        }
        try transaction.bulkWriter("T").append(RandomTables.batch(rows, of: type, in: Schema([type])))
        try transaction.commit()
        #expect(try allRows(database.snapshot().table(named: "T")!).map(\.values) == rows)
        #expect(try encodings(database).values.allSatisfy { !$0.contains("validity-") })
        #expect(try database.store.newestRoot().readerFeatures == 0)
    }

    @Test func `a column that others refer to can be encoded again, and they keep their validity`() throws {
        // In a later transaction, and in the transaction that wrote the segment.
        for within in [false, true] {
            for changed in [["a"], ["a", "b"], ["b"], ["within", "a", "same"]] {
                var random = RandomTables(seed: UInt64(changed.count)), model: [Int64: [Value]] = [:]
                let folder = TemporaryFolder()
                let database: Database, transaction: DatabaseTransaction
                if within {
                    database = try Database.create(path: folder.file("a.firn"))
                    transaction = try database.begin()
                    try transaction.extendSchema([type])
                    for i in 0..<12_000 { model[Int64(i)] = row(i, &random) }
                    let writer = try transaction.bulkWriter("T")
                    try writer.append(RandomTables.batch(model.sorted { $0.key < $1.key }.map(\.value), of: type, in: Schema([type])))
                    try writer.finish()
                } else {
                    (database, model) = try make(12_000, in: folder, &random)
                    transaction = try database.begin()
                }
                for id in stride(from: Int64(0), to: 12_000, by: 11) {
                    let new = row(Int(id), &random)
                    for name in changed {
                        let column = type.columns.firstIndex { $0.name == name }!
                        try transaction.update("T", rowID: id, column: name, new[column])
                        model[id]![column] = new[column]
                    }
                }
                try transaction.delete("T", rowID: 5)
                model[5] = nil
                try transaction.flushAll()
                try transaction.commit()
                try expect(database, holds: model, "\(changed), in one transaction: \(within)")
                let names = try encodings(database)
                for name in ["b", "within", "same", "list"] {
                    #expect(
                        names[name]!.contains("validity-") == !(changed.contains("a") || changed.contains(name)), "\(changed): \(names)")
                }
                #expect(try database.verifyStructure().isEmpty)
                let later = TemporaryFolder()
                try database.snapshot().compact(to: later.file("a.firn"))
                try expect(try Database.open(path: later.file("a.firn")), holds: model, "\(changed), compacted")
            }
        }
    }

    @Test(arguments: Seed.first(Tier.cases(4, of: 8)))
    func `tables with shared validity survive changes, flushes and compaction`(seed: Seed) throws {
        var random = RandomTables(seed, salt: 104_729)
        let folder = TemporaryFolder()
        var (database, model) = try make(
            [300, 1500, 9000, 70_000][Int(seed.number % 4)], in: folder, &random, atFirstCommit: seed.number % 2 == 0)
        for round in 0..<5 {
            let transaction = try database.begin()
            for _ in 0..<random.number(1...(random.chance(30) ? 1500 : 60)) {
                let id = Int64(random.number(0...model.count))
                switch random.number(0...9) {
                case 0:
                    guard model[id] != nil else { continue }
                    try transaction.delete("T", rowID: id)
                    model[id] = nil
                case 1, 2:
                    let new = row(0, &random)
                    model[try transaction.insert("T", new)] = new
                default:
                    guard model[id] != nil else { continue }
                    let column = random.number(1...7), new = row(0, &random)[column]
                    try transaction.update("T", rowID: id, column: type.columns[column].name, new)
                    model[id]![column] = new
                }
            }
            if random.chance(60) { try transaction.flushAll() }
            try transaction.commit()
            if random.chance(30) { database = try Database.open(path: database.path, writable: true) }
            if round % 2 == 0 { try expect(database, holds: model, "seed \(seed), round \(round)") }
        }
        #expect(try database.verifyStructure().isEmpty)
        let later = TemporaryFolder()
        try database.snapshot().compact(to: later.file("a.firn"))
        try expect(try Database.open(path: later.file("a.firn")), holds: model, "seed \(seed), compacted")
    }

    @Test func `embedded objects that are present together share their validity`() throws {
        let part = TypeSchema(
            "Part", columns: [ColumnSchema("x", ColumnType(.int, optional: true)), ColumnSchema("y", ColumnType(.int, optional: true))],
            isEmbedded: true)
        let type = TypeSchema(
            "T",
            columns: [
                ColumnSchema("p", ColumnType(.embedded, optional: true, target: "Part")),
                ColumnSchema("q", ColumnType(.embedded, optional: true, target: "Part")),
            ])
        var random = RandomTables(seed: 11)
        let schema = Schema([part, type]), folder = TemporaryFolder()
        let rows: [[Value]] = (0..<6000).map { i in
            func object(_ seed: Int) -> Value {
                let isThere = (i * 31 + seed) % 3 > 0
                return .object([.init("x", isThere ? .int(Int64(i)) : .null), .init("y", isThere ? .int(Int64(seed)) : .null)])
            }
            return random.chance(50) ? [object(1), object(2)] : [.null, .null]
        }
        let database = try Database.create(path: folder.file("a.firn"))
        let transaction = try database.begin()
        try transaction.extendSchema(schema.types)
        try transaction.bulkWriter("T").append(RandomTables.batch(rows, of: type, in: schema))
        try transaction.commit()
        let snapshot = try Database.open(path: folder.file("a.firn")).snapshot()
        let statistics = try snapshot.statistics()
        #expect(statistics[0].columns[1].encodings[0].name.hasSuffix("validity-of(x)"))
        #expect(statistics[1].columns[1].encodings[0].name.hasSuffix("validity-of(p)"))
        #expect(try allRows(snapshot.table(named: "T")!).map(\.values) == rows.map { $0.map(stripped) })
        #expect(snapshot.verify(full: true).isEmpty)
    }
}

/// Files that were written once; their content never changes.
@Suite struct GoldenPresenceTests {
    private let type = TypeSchema(
        "T",
        columns: [
            ColumnSchema("id", ColumnType(.int)), ColumnSchema("a", ColumnType(.int, optional: true)),
            ColumnSchema("b", ColumnType(.int, optional: true)), ColumnSchema("c", ColumnType(.int, optional: true)),
        ])

    private var rows: [[Value]] {
        (0..<2000).map { i in
            var x = UInt64(i + 1) &* 0x9E37_79B9_7F4A_7C15
            x ^= x >> 31
            x = x &* 0xBF58_476D_1CE4_E5B9
            x ^= x >> 29
            let isThere = x & 3 != 0 && x & 4 != 0
            return [
                .int(Int64(i)), isThere ? .int(Int64(x % 17)) : .null, isThere ? .int(Int64(x % 100)) : .null,
                isThere && x & 8 != 0 ? .int(Int64(x % 5)) : .null,
            ]
        }
    }

    private func file(_ name: String) -> String {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().path + "/Fixtures/firn/" + name
    }

    @Test func `files with separate and with shared validity have the same rows`() throws {
        for name in ["presence-own.firn", "presence-shared.firn"] {
            let database = try Database.open(path: file(name)), snapshot = try database.snapshot()
            #expect(try allRows(snapshot.table(named: "T")!).map(\.values) == rows, "\(name)")
            #expect(snapshot.verify(full: true).isEmpty, "\(name)")
            #expect(try database.verifyStructure().isEmpty, "\(name)")
            let names = try snapshot.statistics()[0].columns.map { $0.encodings[0].name }
            #expect(names.contains { $0.contains("validity-") } == (name == "presence-shared.firn"), "\(names)")
        }
    }

    @Test func `the same rows still give the same validity`() throws {
        let folder = TemporaryFolder()
        let database = try Database.create(path: folder.file("a.firn"), atFirstCommit: true)
        let transaction = try database.begin()
        try transaction.extendSchema([type])
        try transaction.bulkWriter("T").append(RandomTables.batch(rows, of: type, in: Schema([type])))
        try transaction.commit()
        let segments = try [folder.file("a.firn"), file("presence-shared.firn")].map { path in
            let snapshot = try Database.open(path: path).snapshot()
            return (snapshot, try snapshot.core.segment(type: 0, index: 0))
        }
        for column in type.columns.indices {
            // How values are encoded may change: later encoders find that "c" follows from "b".
            let streams = try segments.map { segment in
                try Chunk.split(try segment.1.chunkBytes(column)).filter { $0.kind == .present || $0.kind == .presentLike }
                    .map { [$0.kind.rawValue] + Array($0.bytes) }
            }
            #expect(streams[0] == streams[1], "column \(column)")
            #expect(streams[0].isEmpty == (column == 0), "column \(column)")
        }
        // Column 2 is present where column 1 is: kind 10, one byte, the position.
        let chunk = Array(try segments[1].1.chunkBytes(2)),
            header = try chunk.withUnsafeBytes { try Chunk.split($0).map { ($0.kind, Array($0.bytes)) } }
        #expect(header.map(\.0) == [.words, .presentLike] && header[1].1 == [1])
    }
}
