import FirnBytes
import FirnKit
import Testing

@testable import FirnDatabase
@testable import FirnTable

/// Readers in another handle than the writer's take over decoded rows of the delta store from the version that they read before.
@Suite struct DeltaReuseTests {
    private let type = TypeSchema(
        "T",
        columns: [
            ColumnSchema("a", ColumnType(.int)), ColumnSchema("b", ColumnType(.double, optional: true)),
            ColumnSchema("c", ColumnType(.string)), ColumnSchema("d", ColumnType(.string, collection: .list)),
        ])

    private func row(_ i: Int) -> [Value] {
        let list = (0..<(i % 3)).map { Value.string("element \(i) \($0)") }
        return [.int(Int64(i)), i % 7 == 0 ? .null : .double(Double(i) / 2), .string("text \(i % 100)"), .list(list)]
    }

    private func insert(_ range: Range<Int>, _ database: Database) throws {
        let transaction = try database.begin()
        for i in range { try transaction.insert("T", row(i)) }
        try transaction.commit()
    }

    /// Writes a segment.
    private func load(_ range: Range<Int>, _ database: Database) throws {
        let transaction = try database.begin()
        try transaction.bulkWriter("T").append(RandomTables.batch(range.map(row), of: type, in: Schema([type])))
        try transaction.commit()
    }

    /// The rows as a handle without any version in memory reads them.
    private func fresh(_ path: String, version: UInt64? = nil) throws -> [Int64: [Value]] {
        try storedRows(try Database.open(path: path).snapshot(version: version).table(named: "T")!)
    }

    @Test func `a reader of the newest version decodes only the leaves of the delta store that changed`() throws {
        let folder = TemporaryFolder(), path = folder.file("a.firn")
        let writer = try Database.create(path: path)
        let transaction = try writer.begin()
        try transaction.extendSchema([type])
        try transaction.commit()
        for i in 0..<4 { try insert(i * 1000..<(i + 1) * 1000, writer) }
        let reader = try Database.open(path: path)
        var snapshot = try reader.snapshot()
        #expect(try storedRows(snapshot.table(named: "T")!).count == 4000)
        #expect(reader.counts.deltaRecords == 4000)
        for i in 4000..<4050 {
            try insert(i..<(i + 1), writer)
            snapshot = try reader.snapshot()
            #expect(try snapshot.table(named: "T")!.storedValue(Int64(i), 0) == .int(Int64(i)))
        }
        // A leaf has at most 4,096 bytes, and a record here at least 16.
        #expect(reader.counts.deltaRecords < 4000 + 50 * 256, "\(reader.counts.deltaRecords)")
        #expect(try storedRows(snapshot.table(named: "T")!) == fresh(path))
    }

    @Test func `versions that are not read between two others do not prevent reuse`() throws {
        let folder = TemporaryFolder(), path = folder.file("a.firn")
        let writer = try Database.create(path: path)
        let transaction = try writer.begin()
        try transaction.extendSchema([type])
        try transaction.commit()
        for i in 0..<2 { try insert(i * 1000..<(i + 1) * 1000, writer) }
        let reader = try Database.open(path: path)
        var snapshot = try reader.snapshot()
        _ = try storedRows(snapshot.table(named: "T")!)
        for i in 2000..<2010 {
            try insert(i..<(i + 1), writer)
            snapshot = try reader.snapshot()
        }
        #expect(try storedRows(snapshot.table(named: "T")!) == fresh(path))
        #expect(reader.counts.deltaRecords < 2000 + 256)
    }

    @Test func `segments stay open while only delta records about other segments change`() throws {
        let folder = TemporaryFolder(), path = folder.file("a.firn")
        let writer = try Database.create(path: path)
        var transaction = try writer.begin()
        try transaction.extendSchema([type])
        try transaction.commit()
        for part in 0..<6 { try load(part * 1000..<(part + 1) * 1000, writer) }
        transaction = try writer.begin()
        for id in 0..<6000 where id % 20 == 0 { try transaction.update("T", rowID: Int64(id), column: "c", .string("a longer text \(id)")) }
        try transaction.commit()
        let reader = try Database.open(path: path)
        var snapshot = try reader.snapshot()
        #expect(try storedRows(snapshot.table(named: "T")!) == fresh(path))
        let before = (segments: reader.counts.openedSegments, records: reader.counts.deltaRecords)
        for step in 0..<10 {
            try insert(9000 + step..<9001 + step, writer)
            transaction = try writer.begin()
            try transaction.update("T", rowID: 20, column: "c", .string("step \(step)"))
            try transaction.commit()
            snapshot = try reader.snapshot()
            #expect(try storedRows(snapshot.table(named: "T")!) == fresh(path))
        }
        // Each time, the first segment and perhaps the next one, whose records can be in the same leaf.
        #expect(reader.counts.openedSegments - before.segments <= 20, "\(reader.counts.openedSegments - before.segments)")
        #expect(reader.counts.deltaRecords - before.records < 10 * 160, "\(reader.counts.deltaRecords - before.records)")
    }

    @Test(arguments: 0..<Tier.cases(4, of: 12)) func `a reader that follows random commits, or reads older versions, has the rows of each`(
        seed: Int
    ) throws {
        var random = Random(seed: UInt64(seed) &+ 77)
        let folder = TemporaryFolder(), path = folder.file("a.firn")
        let writer = try Database.create(path: path, keep: 6)
        var transaction = try writer.begin()
        try transaction.extendSchema([type])
        try transaction.commit()
        if seed % 2 == 0 { for part in 0..<4 { try load(part * 800..<(part + 1) * 800, writer) } }
        let reader = try Database.open(path: path)
        var expected = try fresh(path), versions: [(UInt64, [Int64: [Value]])] = [], held: [DatabaseSnapshot] = []
        for step in 0..<60 {
            transaction = try writer.begin()
            for _ in 0..<random.below(step % 10 == 0 ? 900 : 6) {
                let id = expected.keys.min().map { $0 + Int64(random.below(Int(expected.keys.max()! - $0) + 1)) } ?? 0
                switch random.below(8) {
                case 0 where expected[id] != nil:
                    try transaction.delete("T", rowID: id)
                    expected[id] = nil
                case 1 where expected[id] != nil:
                    try transaction.update("T", rowID: id, column: "c", .string("changed \(step)"))
                    expected[id]![2] = .string("changed \(step)")
                default:
                    let values = row(random.below(10_000))
                    expected[try transaction.insert("T", values)] = values
                }
            }
            if random.below(12) == 0 { try transaction.flushAll() }
            try transaction.commit()
            if random.below(25) == 0 { _ = try Database.shrink(path: path) }
            if random.below(3) > 0 {
                let snapshot = try reader.snapshot()
                #expect(try storedRows(snapshot.table(named: "T")!) == expected, "seed \(seed), step \(step)")
                versions.append((snapshot.version, expected))
                held.append(snapshot)
                if random.below(2) == 0 { held.removeFirst() }
            }
            if let (version, rows) = versions.suffix(5).randomElement(using: &random),
                let snapshot = try? reader.snapshot(version: version)
            {
                #expect(try storedRows(snapshot.table(named: "T")!) == rows, "seed \(seed), version \(version)")
            }
        }
        #expect(try fresh(path) == expected)
    }
}
