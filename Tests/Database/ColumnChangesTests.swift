import FirnBytes
import FirnKit
import Testing

@testable import FirnDatabase
@testable import FirnTable

/// Look-ups in indexes read only the changed values of the column from the delta store.
@Suite struct ColumnChangesTests {
    private let type = TypeSchema(
        "T", columns: [ColumnSchema("key", ColumnType(.string)), ColumnSchema("n", ColumnType(.int))], key: [0])

    private func key(_ number: Int) -> Value { .string("key \(number &* 7919 % 10_007)") }

    /// 20 segments of 100 rows; the keys do not ascend, so they have an index.
    private func database(_ path: String) throws -> Database {
        let database = try Database.create(path: path)
        for part in 0..<20 {
            let transaction = try database.begin()
            if part == 0 { try transaction.extendSchema([type]) }
            let rows = (part * 100..<(part + 1) * 100).map { [key($0), .int(0)] }
            try transaction.bulkWriter("T").append(RandomTables.batch(rows, of: type, in: Schema([type])))
            try transaction.commit()
        }
        return database
    }

    @Test func `a commit looks keys up without opening segments whose other columns have changed`() throws {
        let folder = TemporaryFolder(), path = folder.file("a.firn"), writer = try database(path)
        #expect(try writer.snapshot().table(named: "T")!.segmentCount == 20)
        var transaction = try writer.begin()
        for part in 0..<20 { try transaction.update("T", rowID: Int64(part * 100 + 7), column: "n", .int(1)) }
        try transaction.update("T", rowID: 555, column: "key", .string("moved"))
        try transaction.commit()
        let other = try Database.open(path: path, writable: true), before = other.counts.openedSegments
        for number in 0..<5 {
            transaction = try other.begin()
            try transaction.insert("T", [.string("new \(number)"), .int(0)])
            #expect(#expect(throws: FirnError.self) { try transaction.insert("T", [.string("moved"), .int(0)]) }?.code == .duplicateKey)
            #expect(#expect(throws: FirnError.self) { try transaction.insert("T", [key(1234), .int(0)]) }?.code == .duplicateKey)
            #expect(try transaction.find("T", key: [key(555)]) == nil)
            try transaction.commit()
        }
        // The segments with the rows 555 and 1234.
        #expect(other.counts.openedSegments - before <= 2 * 5, "\(other.counts.openedSegments - before)")
        #expect(try other.snapshot().verify(full: true).isEmpty)
    }

    @Test(arguments: Seed.first(6)) func `keys that random commits of two handles change are found in each version`(seed: Seed) throws {
        var random = Random(seed)
        let folder = TemporaryFolder(), path = folder.file("a.firn")
        let handles = [try database(path), try Database.open(path: path, writable: true)]
        var keys = Dictionary(uniqueKeysWithValues: (0..<2000).map { (Int64($0), key($0)) }), next = 2000
        for step in 0..<40 {
            let transaction = try handles[random.below(2)].begin()
            for _ in 0..<random.below(12) {
                let id = keys.keys.randomElement(using: &random)!
                switch random.below(4) {
                case 0:
                    try transaction.update("T", rowID: id, column: "key", key(next))
                    keys[id] = key(next)
                    next += 1
                case 1:
                    try transaction.delete("T", rowID: id)
                    keys[id] = nil
                case 2:
                    keys[try transaction.insert("T", [key(next), .int(0)])] = key(next)
                    next += 1
                default: try transaction.update("T", rowID: id, column: "n", .int(Int64(step)))
                }
            }
            if random.below(10) == 0 { try transaction.flushAll() }
            try transaction.commit()
            let snapshot = try handles[random.below(2)].snapshot(), table = snapshot.table(named: "T")!
            let index = try #require(table.columnIndex(0, .values))
            for _ in 0..<6 {
                let (id, value) = keys.randomElement(using: &random)!
                let found = try index.candidates(IndexProbe(equal: value, .string))
                let location = try #require(try table.location(of: id))
                #expect(found.segments.contains(location.segment), "\(step)")
                #expect(found.rows(location.segment)?[location.position] ?? true, "\(step)")
            }
        }
    }
}
