import FirnBytes
import FirnCodecs
import FirnKit
import Testing

@testable import FirnDatabase
@testable import FirnStore
@testable import FirnTable

/// Columns whose values follow from another column: random tables with planted relations, written, changed, compacted and read.
@Suite struct RelationTests {
    /// Columns that follow from "key" or "name", with exceptions and nulls, and columns that do not.
    private let type = TypeSchema(
        "T",
        columns: [
            ColumnSchema("id", ColumnType(.int)), ColumnSchema("key", ColumnType(.int, optional: true)),
            ColumnSchema("name", ColumnType(.string, optional: true)), ColumnSchema("born", ColumnType(.date, optional: true)),
            ColumnSchema("height", ColumnType(.double, optional: true)), ColumnSchema("flag", ColumnType(.bool)),
            ColumnSchema("mixed", ColumnType(.string, optional: true)), ColumnSchema("uuid", ColumnType(.uuid)),
            ColumnSchema("noise", ColumnType(.int)), ColumnSchema("data", ColumnType(.data, optional: true)),
            ColumnSchema("amount", ColumnType(.decimal)),
        ])

    private func row(_ i: Int, keys: Int, exceptions: Int, _ random: inout Random) -> [Value] {
        let key = random.below(keys), isException = random.chance(exceptions)
        let from = isException ? random.below(keys * 2) : key
        func hash(_ salt: UInt64) -> UInt64 { UInt64(from) &* 0x9E37_79B9_7F4A_7C15 &+ salt &* 0xD134_2543_DE82_EF95 }
        return [
            .int(Int64(i)), key % 17 == 3 ? .null : .int(Int64(key) * 7919 + 1_000_000),
            from % 29 == 5 ? .null : .string("a person with the name \(hash(1) >> 40)"),
            from % 11 == 0 ? .null : .date(Timestamp(seconds: Int64(hash(2) >> 34), nanoseconds: from % 3 == 0 ? 5 : 0)),
            random.chance(20) ? .null : .double(Double(hash(3) >> 50) / 8), .bool(hash(4) >> 63 == 1),
            random.chance(50) ? .null : .string("value \(hash(5) >> 44)"), .uuid(Identifier(high: hash(6), low: hash(7))),
            .int(Int64.random(in: 0...(.max), using: &random)), from % 5 == 0 ? .null : .data(Array("\(hash(8))".utf8)),
            .decimal(Decimal("\(hash(9) >> 44)")!),
        ]
    }

    private func encodings(_ database: Database) throws -> [String: String] {
        let columns = try database.snapshot().statistics()[0].columns
        return Dictionary(uniqueKeysWithValues: columns.map { ($0.name, $0.encodings.map(\.name).joined(separator: ", ")) })
    }

    private func make(_ rows: [[Value]], _ path: String, profile: Profile = .standard) throws -> Database {
        let database = try Database.create(path: path)
        let transaction = try database.begin()
        transaction.profile = profile
        try transaction.extendSchema([type])
        try transaction.bulkWriter("T").append(RandomTables.batch(rows, of: type, in: Schema([type])))
        try transaction.commit()
        return database
    }

    private func expect(_ database: Database, holds model: [Int64: [Value]], _ note: String) throws {
        let snapshot = try Database.open(path: database.path).snapshot(), table = snapshot.table(named: "T")!
        let back = try allRows(table), expected = model.sorted { $0.key < $1.key }
        #expect(back.map(\.id) == expected.map(\.key), "\(note)")
        for (row, wanted) in zip(back, expected) where row.values != wanted.value {
            Issue.record("\(note), row \(row.id): \(row.values) for \(wanted.value)")
            break
        }
        for (id, values) in expected.prefix(60) { #expect(try table.row(id) == values, "\(note), row \(id)") }
        for index in 0..<table.segmentCount {
            let segment = try table.segment(index)
            for column in type.columns.indices { try expectSame(try segment.column(column), segment.vectorCount, "\(note), \(column)") }
        }
        let defects = snapshot.verify(full: true)
        #expect(defects.isEmpty, "\(note): \(defects)")
    }

    /// Zones, dictionary codes and single values agree with decoded vectors.
    private func expectSame(_ reader: any ColumnReader, _ vectors: Int, _ note: String) throws {
        var read = Column(reader.type), coded = Column(ColumnType(.int))
        let dictionary = try reader.dictionary()
        for vector in 0..<vectors {
            try reader.read(vector: vector, into: &read)
            if let zone = reader.zone(ofVector: vector) {
                #expect(zone.mayHaveNulls || read.nullCount == 0, "\(note)")
                #expect(!zone.allNull || read.nullCount == read.count, "\(note)")
                if case .words(let low, let high) = zone.bounds {
                    for i in 0..<read.count where read.isPresent(i) { #expect(read.words[i] >= low && read.words[i] <= high, "\(note)") }
                }
            }
            guard let dictionary else { continue }
            try reader.readCodes(vector: vector, into: &coded)
            for i in 0..<read.count {
                #expect(coded.isPresent(i) == read.isPresent(i), "\(note)")
                guard read.isPresent(i) else { continue }
                let same = dictionary.withBytes(Int(coded.words[i])) { a in read.text.withBytes(i) { a.elementsEqual($0) } }
                #expect(same, "\(note)")
            }
        }
    }

    @Test(arguments: Tier.isLong ? [1, 2, 3, 4] : [1, 2, 4])
    func `columns follow from a key with exceptions and nulls, and stay the same through changes and compaction`(_ seed: UInt64) throws {
        var random = Random(seed: seed)
        let count = [900, 5000, 20_000, 70_000][Int(seed - 1)], exceptions = [0, 3, 1, 2][Int(seed - 1)]
        let rows = (0..<count).map { row($0, keys: count / 30, exceptions: exceptions, &random) }
        let folder = TemporaryFolder(), database = try make(rows, folder.file("a.firn"), profile: seed == 2 ? .small : .standard)
        var model = Dictionary(uniqueKeysWithValues: rows.enumerated().map { (Int64($0.offset), $0.element) })
        let names = try encodings(database)
        for column in ["born", "height", "uuid"] { #expect(names[column]!.hasPrefix("map("), "\(names)") }
        for column in ["id", "noise"] { #expect(!names[column]!.contains("map("), "\(names)") }
        try expect(database, holds: model, "written")
        #expect(try database.store.newestRoot().readerFeatures & ReaderFeature.relations.bit != 0)

        // A few changes become chunk overlays, many of them new chunks: of columns that follow, and of those that others follow from.
        for (column, share) in [(3, 100), (1, 100), (4, 2), (1, 2), (2, 2)] {
            let transaction = try database.begin()
            for i in stride(from: 0, to: count, by: share) {
                let id = Int64(i)
                guard var values = model[id] else { continue }
                values[column] = rows[(i + 1) % count][column]
                try transaction.update("T", rowID: id, column: type.columns[column].name, values[column])
                model[id] = values
            }
            for _ in 0..<5 {
                let id = Int64(random.below(count))
                if model.removeValue(forKey: id) != nil { try transaction.delete("T", rowID: id) }
            }
            try transaction.commit()
            // All rows of all columns are read: of large tables only for the first and the last change, unless there is time.
            let isRead = count < 10_000 || Tier.isLong || column == 2
            if isRead || share == 100 && column == 3 { try expect(database, holds: model, "changed \(column) in one of \(share)") }
            let flush = try database.begin()
            try flush.flushAll()
            try flush.commit()
            if isRead { try expect(database, holds: model, "flushed \(column) in one of \(share)") }
        }
        try database.snapshot().compact(to: folder.file("b.firn"))
        let compacted = try Database.open(path: folder.file("b.firn"))
        try expect(compacted, holds: model, "compacted")
    }

    @Test func `the same rows give the same bytes, and no relation is made without one`() throws {
        var random = Random(seed: 9)
        let rows = (0..<3000).map { row($0, keys: 100, exceptions: 2, &random) }
        let folder = TemporaryFolder()
        let a = try encodings(make(rows, folder.file("a.firn"))), b = try encodings(make(rows, folder.file("b.firn")))
        #expect(a == b)
        #expect(try !encodings(make(rows, folder.file("c.firn"), profile: .fast)).values.contains { $0.contains("map(") })
    }

    @Test func `versions and files are compared by value where a relation leads to another chunk`() throws {
        var random = Random(seed: 5)
        let rows = (0..<20_000).map { row($0, keys: 500, exceptions: 1, &random) }
        let folder = TemporaryFolder(), database = try make(rows, folder.file("a.firn"))
        let before = try database.snapshot()
        let transaction = try database.begin()
        // Most keys change: the chunk of "key" is encoded again, and what followed from it must not change.
        for i in 0..<20_000 where i % 3 != 0 { try transaction.update("T", rowID: Int64(i), column: "key", .int(Int64(i % 40))) }
        try transaction.flushAll()
        try transaction.commit()
        let after = try database.snapshot()
        let old = try before.core.segment(type: 0, index: 0), new = try after.core.segment(type: 0, index: 0)
        for column in type.columns.indices where column != 1 {
            #expect(try old.allRows(column).isStoredAs(try new.allRows(column)), "\(type.columns[column].name)")
        }
        if let differing = try new.rowsThatMayDiffer(from: old) {
            for i in 0..<20_000 where i % 3 != 0 { #expect(differing[i] || rows[i][1] == .int(Int64(i % 40))) }
        }
        #expect(after.verify(full: true).isEmpty)
    }
}
