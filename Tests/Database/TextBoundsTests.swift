import FirnBytes
import FirnKit
import Testing

@testable import FirnDatabase
@testable import FirnStore
@testable import FirnTable

/// Text bounds in segment headers: keys without an index, and hostile bounds.
@Suite struct TextBoundsTests {
    private let folder = TemporaryFolder()
    private static let type = TypeSchema(
        "T", columns: [ColumnSchema("k", ColumnType(.string)), ColumnSchema("v", ColumnType(.int))], key: [0])

    private func database(_ name: String, rows: Int = 100_000, key: (Int) -> String) throws -> Database {
        let database = try Database.create(path: folder.file(name))
        let transaction = try database.begin()
        try transaction.extendSchema([TextBoundsTests.type])
        for start in stride(from: 0, to: rows, by: 20_000) {
            let part = (start..<start + 20_000).map { [Value.string(key($0)), .int(Int64($0))] }
            try transaction.bulkWriter("T").append(RandomTables.batch(part, of: TextBoundsTests.type, in: Schema([TextBoundsTests.type])))
        }
        try transaction.commit()
        return database
    }

    /// Ascending text with a random end, which codecs hardly compress better than text that can be read value by value.
    private static func padded(_ i: Int) -> String {
        "a common beginning that is long: " + String(repeating: "0", count: 8 - "\(i)".count) + "\(i)-"
            + String(GoldenRows.mix(i) & 0xFF_FFFF_FFFF, radix: 16)
    }

    @Test func `a sorted text key gets no index, and an unsorted one does`() throws {
        let sorted = try database("sorted.firn") { TextBoundsTests.padded($0) }
        #expect(try sorted.snapshot().core.catalogue.types[0].indexes.isEmpty)
        let mixed = try database("mixed.firn") { TextBoundsTests.padded($0 * 7919 % 100_000) }
        #expect(try mixed.snapshot().core.catalogue.types[0].indexes.count == 1)
        // Values that are prefixes of others, at the boundary of two segments.
        let names = (0..<100_000).map { "n" + String($0 / 10, radix: 36) + String(repeating: "x", count: $0 % 10) }.sorted {
            $0.utf8.lexicographicallyPrecedes($1.utf8)
        }
        let nested = try database("nested.firn") { names[$0] }
        #expect(try nested.snapshot().core.catalogue.types[0].indexes.isEmpty)
    }

    @Test func `a look-up of sorted text reads one vector, and inserting new keys in order reads none`() throws {
        let database = try database("a.firn") { TextBoundsTests.padded($0) }
        let transaction = try database.begin()
        for n in 0..<50 { try transaction.insert("T", [.string(TextBoundsTests.padded(100_000 + n)), .int(1)]) }
        #expect(database.keys.work.vectors == 0 && database.keys.work.builds == 0)
        #expect(throws: FirnError.self) { try transaction.insert("T", [.string(TextBoundsTests.padded(77_777)), .int(1)]) }
        #expect(database.keys.work.vectors == 1 && database.keys.work.builds == 0, "\(database.keys.work.vectors)")
        transaction.cancel()
    }

    @Test func `values of a chunk overlay widen the bounds, and verification passes`() throws {
        let database = try database("a.firn") { TextBoundsTests.padded($0) }
        let transaction = try database.begin()
        try transaction.update("T", rowID: 70_000, column: "k", .string("zzz"))
        try transaction.update("T", rowID: 5, column: "k", .string(""))
        try transaction.flushAll()
        try transaction.commit()
        let snapshot = try database.snapshot(), table = snapshot.table(named: "T")!
        #expect(snapshot.verify(full: true).isEmpty)
        for index in 0..<2 {
            let zone = try #require(try table.segment(index).column(0).zone())
            guard case .text(let bounds) = zone.bounds else { Issue.record("\(zone)"); return }
            #expect(!bounds.ascends && bounds.mayHold(Array("zzz".utf8)) == (index == 1) && bounds.mayHold([]) == (index == 0))
            #expect(try table.segment(index).column(0).zone(ofVector: 3)?.bounds == Zone.Bounds.none)
        }
        #expect(try table.value(rowID: 70_000, column: 0) == .string("zzz"))
    }

    @Test func `a full verification checks the zones of columns with a chunk overlay or with changes in the delta store`() throws {
        for isSealed in [true, false] {
            let database = try database("a\(isSealed).firn", rows: 100_000) { TextBoundsTests.padded($0) }
            var transaction = try database.begin()
            try transaction.update("T", rowID: 5, column: "v", .int(-7))
            if isSealed { try transaction.flushAll() }
            try transaction.commit()
            #expect(try database.snapshot().verify(full: true).isEmpty)
            #expect(try database.snapshot().core.catalogue.types[0].touches(0) == !isSealed)
            transaction = try database.begin()
            try transaction.directoryChange(0) { (entries) throws(FirnError) in
                var header = try transaction.reading { () throws(Damage) in try SegmentHeader(try transaction.store.read(entries[0].header))
                }
                #expect((header.entries[1].overlay != nil) == isSealed)
                header.entries[1].zone.bounds = .words(0, 1000)
                transaction.store.free(entries[0].header)
                entries[0].header = try transaction.write(header.encoded)
            }
            try transaction.commit()
            let defects = try database.snapshot().verify(full: true)
            #expect(
                defects.contains { $0.column == "v" && $0.damage.what.contains("outside their zone") }, "\(isSealed): \(defects)")
        }
    }

    @Test func `a full verification finds values outside their bounds, and contradictory bounds are damage`() throws {
        for (low, high, ascends) in [("b", "c", false), ("", "a common", false), ("", "z", true)] {
            let database = try database("a\(low)\(high).firn") { TextBoundsTests.padded(ascends && $0 == 9 ? 3_000_000 : $0) }
            let transaction = try database.begin()
            try transaction.directoryChange(0) { (entries) throws(FirnError) in
                var header = try transaction.reading { () throws(Damage) in try SegmentHeader(try transaction.store.read(entries[0].header))
                }
                header.entries[0].zone.bounds = .text(TextBounds(low: Array(low.utf8), high: Array(high.utf8), ascends: ascends))
                transaction.store.free(entries[0].header)
                entries[0].header = try transaction.write(header.encoded)
            }
            try transaction.commit()
            let defects = try database.snapshot().verify(full: true)
            #expect(defects.contains { $0.damage.what.contains("outside their zone") }, "\(low) \(high) \(defects)")
        }
        let header = SegmentHeader(
            rowCount: 1, firstRowID: 0,
            entries: [.init(columnID: 1, zone: Zone(mayHaveNulls: false, allNull: false, bounds: .text(TextBounds(low: [98], high: [97]))))]
        )
        var packed = header
        packed.packedChunks = [[0]]
        let bytes = packed.encoded
        #expect(throws: Damage.self) { try bytes.withBytes { (bytes) throws(Damage) in try SegmentHeader(bytes) } }
        // Parts with unknown tags are skipped, and lengths beyond the extent are damage.
        packed.entries[0].zone.bounds = .none
        let unknown = packed.encoded + Array("xxxx".utf8) + [3, 0, 0, 0, 1, 2, 3]
        #expect(try unknown.withBytes { (bytes) throws(Damage) in try SegmentHeader(bytes) }.entries.count == 1)
        let long = packed.encoded + Array("xxxx".utf8) + [200, 0, 0, 0, 1, 2, 3]
        #expect(throws: Damage.self) { try long.withBytes { (bytes) throws(Damage) in try SegmentHeader(bytes) } }
    }
}
