import FirnBytes
import FirnDisk
import FirnKit
import FirnStore
import Testing

@testable import FirnDatabase
@testable import FirnTable

/// The logical hash of a column (docs/format/model.md, "Logical hash"), compared with values that another program computed from the text.
@Suite struct LogicalHashTests {
    private func column(_ type: ColumnType, _ values: [Value]) -> Column {
        var column = Column(type)
        for value in values where !column.append(value) { Issue.record("\(value) does not fit") }
        column.normalise()
        return column
    }

    @Test func `columns have the hashes of the specification`() {
        #expect("\(column(ColumnType(.int, optional: true), [.int(7), .null, .int(-1)]).logicalHash)" == "5312e80894843fd5aee3089bb33bea61")
        #expect(
            "\(column(ColumnType(.string, collection: .list), [.list([.string("a"), .string("bc")]), .list([]), .list([.string("é")])]).logicalHash)"
                == "4c60a870782826150a374be6ca7ea3d6")
    }

    @Test func `children without elements contribute only their count`() {
        #expect(
            "\(column(ColumnType(.string, collection: .list), [.list([]), .list([]), .list([])]).logicalHash)"
                == "cbada5cbbacd0aa0cb7254c466d5330d")
    }

    @Test func `arrays that the tag of an any value does not use count as zero`() {
        var any = column(ColumnType(.any, optional: true), [.int(5), .string("x"), .null, .double(1.5), .list([.int(1)])])
        #expect("\(any.logicalHash)" == "20e30be4e3408ff7b0c30a6afe15776c")
        any.words[3] = 77
        any.extra[0] = 5
        any.reals[4] = 2
        any.normalise()
        #expect("\(any.logicalHash)" == "20e30be4e3408ff7b0c30a6afe15776c")
    }

    private static let type = TypeSchema(
        "Row",
        columns: [
            ColumnSchema("id", ColumnType(.int)), ColumnSchema("x", ColumnType(.int)),
            ColumnSchema("name", ColumnType(.string, optional: true)),
        ], key: [0])

    /// Rows whose chunks are too large to be packed.
    private func file(_ path: String) throws -> Database {
        let database = try Database.create(path: path), transaction = try database.begin()
        try transaction.extendSchema([Self.type])
        let rows = (0..<20_000).map { i -> [Value] in
            let hash = UInt64(i) &* 0x9E37_79B9_7F4A_7C15
            return [.int(Int64(i)), .int(Int64(bitPattern: hash)), i % 9 == 0 ? .null : .string("name \(hash)")]
        }
        try transaction.bulkWriter("Row").append(RandomTables.batch(rows, of: Self.type, in: Schema([Self.type])))
        try transaction.commit()
        return database
    }

    @Test func `the hash of a column includes its chunk overlay`() throws {
        let folder = TemporaryFolder(), path = folder.file("a.firn")
        let database = try file(path), transaction = try database.begin()
        for id in stride(from: Int64(0), to: 300, by: 3) { try transaction.update("Row", rowID: id, column: "x", .int(id)) }
        try transaction.flushAll()
        try transaction.commit()
        let segment = try database.snapshot().core.segment(type: 0, index: 0)
        let entry = segment.layout.entries[1]
        let values = try segment.allRows(1)
        #expect(entry.overlay != nil && entry.logicalHash == values.logicalHash)
        #expect(try database.snapshot().verify(full: true).isEmpty)
        // Verification compares it, overlays included.
        try ForeignHashes.write([UInt8](repeating: 7, count: 16), in: path)
        #expect(try Database.open(path: path).snapshot().verify(full: true).count == 3)
    }

    @Test func `a hash of zero means unknown: the file is intact, readable and writable`() throws {
        let folder = TemporaryFolder(), path = folder.file("a.firn")
        _ = try file(path)
        #expect(try ForeignHashes.write([UInt8](repeating: 0, count: 16), in: path) == 3)
        let database = try Database.open(path: path, writable: true)
        #expect(database.fallback == nil)
        #expect(try database.snapshot().verify(full: true).isEmpty)
        let transaction = try database.begin()
        for id in 0..<40 as Range<Int64> { try transaction.update("Row", rowID: id, column: "x", .int(id)) }
        try transaction.flushAll()
        try transaction.commit()
        let entries = try database.snapshot().core.segment(type: 0, index: 0).layout.entries
        #expect(entries[0].logicalHash == nil && entries[1].logicalHash != nil && entries[2].logicalHash == nil)
        #expect(try database.snapshot().verify(full: true).isEmpty)
    }

    @Test(arguments: [0, 7] as [UInt8])
    func `rows that may differ are found independent of the hashes that a file claims`(byte: UInt8) throws {
        let folder = TemporaryFolder(), path = folder.file("a.firn")
        do {
            let database = try file(path), transaction = try database.begin()
            // More changes than an overlay may have, so the chunk is replaced.
            for id in 0..<2000 as Range<Int64> { try transaction.update("Row", rowID: id * 3, column: "x", .int(-id - 1)) }
            try transaction.flushAll()
            try transaction.commit()
        }
        try ForeignHashes.write([UInt8](repeating: byte, count: 16), in: path)
        let database = try Database.open(path: path)
        let old = try database.snapshot(version: 1).table(named: "Row")!, new = try database.snapshot().table(named: "Row")!
        let bits = try new.segment(0).rowsThatMayDiffer(from: old.segment(0))
        if byte == 0 {
            // Nothing proves the column equal, and its hash is unknown. Reading one column of three is too expensive.
            #expect(bits == nil)
        } else {
            #expect(bits?.ones == 2000)
        }
    }

    @Test func `in encrypted files only the same reference of the same file proves equal values`() throws {
        let folder = TemporaryFolder()
        func core(_ key: EncryptionKey?, _ name: String) throws -> StoredSegment {
            let database = try Database.create(path: folder.file(name), key: key), transaction = try database.begin()
            try transaction.extendSchema([Self.type])
            for i in 0..<10 { _ = try transaction.insert("Row", [.int(Int64(i)), .int(1), .null]) }
            try transaction.flushAll()
            try transaction.commit()
            return try database.snapshot().core.segment(type: 0, index: 0)
        }
        let key = EncryptionKey([UInt8](repeating: 3, count: 64))!
        let plain = try [core(nil, "a.firn"), core(nil, "b.firn")], sealed = try [core(key, "c.firn"), core(key, "d.firn")]
        let ref = ExtentRef(offset: 8192, length: 100, birth: 1, hash: Hash128(low: 5, high: 6)),
            moved = ExtentRef(offset: 16384, length: 100, birth: 2, hash: Hash128(low: 5, high: 6))
        // Equal hashes are only a hint for extents of two files, so they are read. These extents do not exist.
        #expect(throws: Damage.self) { try plain[0].source.holdsSame(ref, as: moved, of: plain[1].source) }
        #expect(try plain[0].source.holdsSame(ref, as: ref, of: plain[0].source))
        #expect(try !sealed[0].source.holdsSame(ref, as: ref, of: sealed[1].source))
        #expect(try !sealed[0].source.holdsSame(ref, as: moved, of: sealed[0].source))
        #expect(try sealed[0].source.holdsSame(ref, as: ref, of: sealed[0].source))
        #expect(try !sealed[0].source.holdsSame(ref, as: ref, of: plain[0].source))
    }
}
