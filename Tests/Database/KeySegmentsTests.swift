import FirnBytes
import FirnDatabase
import FirnKit
import FirnTable
import Testing

/// P7: rows are found by keys of every type through the index in memory, also changed and deleted rows.
@Suite struct KeySegmentsTests {
    private static let rows = 70_000

    private static func key(_ n: Int, _ kind: ScalarKind) -> Value {
        let mixed = UInt64(n) &* 0x9E37_79B9_7F4A_7C15
        switch kind {
        case .string: return .string("user-" + String(mixed, radix: 36))
        case .uuid: return .uuid(Identifier(high: mixed, low: mixed ^ mixed >> 32))
        case .objectID: return .objectID(Identifier(high: mixed, low: UInt64(n) & 0xFFFF_FFFF))
        case .date: return .date(Timestamp(seconds: Int64(mixed >> 30), nanoseconds: Int32(n % 1000)))
        case .data: return .data(Array("user-\(mixed)".utf8))
        default: return .int(Int64(bitPattern: mixed))
        }
    }

    @Test(arguments: [ScalarKind.int, .string, .uuid, .objectID, .date, .data])
    func `keys of every type find their rows in each version`(kind: ScalarKind) throws {
        let type = TypeSchema("T", columns: [ColumnSchema("k", ColumnType(kind)), ColumnSchema("v", ColumnType(.int))], key: [0])
        let folder = TemporaryFolder(), database = try Database.create(path: folder.file("t.firn"))
        var transaction = try database.begin()
        try transaction.extendSchema([type])
        let rows = (0..<Self.rows).map { [Self.key($0, kind), .int(Int64($0))] }
        for start in stride(from: 0, to: Self.rows, by: 10_000) {
            try transaction.bulkWriter("T").append(RandomTables.batch(Array(rows[start..<start + 10_000]), of: type, in: Schema([type])))
        }
        try transaction.commit()
        let before = try database.snapshot()
        transaction = try database.begin()
        try transaction.delete("T", rowID: 5)
        try transaction.delete("T", rowID: 69_999)
        try transaction.update("T", rowID: 77, column: "k", Self.key(100_077, kind))
        try transaction.insert("T", [Self.key(200_000, kind), .int(0)])
        try transaction.commit()
        let after = try database.snapshot(), old = try #require(before.table(named: "T")), new = try #require(after.table(named: "T"))
        // More look-ups than are needed until the index in memory is built.
        for i in 0..<20_000 {
            let n = i &* 7919 % Self.rows, row = try new.find(key: [Self.key(n, kind)])
            #expect(row == (n == 5 || n == 69_999 || n == 77 ? nil : Int64(n)), "\(kind) \(n)")
            if i % 4 == 0 { #expect(try old.find(key: [Self.key(n, kind)]) == Int64(n), "\(kind) \(n)") }
        }
        #expect(database.keys.work.builds == 1)
        for (n, row) in [(5, nil), (77, nil), (100_077, 77), (200_000, 70_000), (300_000, nil)] as [(Int, Int64?)] {
            #expect(try new.find(key: [Self.key(n, kind)]) == row, "\(kind) \(n)")
        }
        for n in [100_077, 200_000] { #expect(try old.find(key: [Self.key(n, kind)]) == nil, "\(kind) \(n)") }
        #expect(try old.find(key: [Self.key(5, kind)]) == 5)
    }

    @Test func `text of a key is not stored in pages, which are unpacked to read one value, but other text is`() throws {
        let columns = [ColumnSchema("k", ColumnType(.string)), ColumnSchema("other", ColumnType(.string))]
        let type = TypeSchema("T", columns: columns, key: [0]), folder = TemporaryFolder(),
            database = try Database.create(path: folder.file("t.firn"))
        let transaction = try database.begin()
        try transaction.extendSchema([type])
        let rows = (0..<40_000).map { [Self.key($0, .string), Self.key($0, .string)] }
        try transaction.bulkWriter("T").append(RandomTables.batch(rows, of: type, in: Schema([type])))
        try transaction.commit()
        let stored = try database.snapshot().statistics()[0].columns.map { $0.encodings.map(\.name).joined() }
        #expect(!stored[0].contains("pages") && stored[1].contains("pages"), "\(stored)")
    }
}
