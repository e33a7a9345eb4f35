import FirnBytes
import FirnCodecs
import FirnKit
import FirnStore
import Foundation
import Testing

@testable import FirnDatabase
@testable import FirnTable

/// A source without extents.
private final class Nowhere: ExtentSource, Sendable {
    func read(_ ref: ExtentRef) throws(Damage) -> UnsafeRawBufferPointer { throw Damage("nothing is there") }
}

@Suite struct SmallFileTests {
    private let type = TypeSchema(
        "T",
        columns: [
            ColumnSchema("id", ColumnType(.int)), ColumnSchema("name", ColumnType(.string, optional: true)),
            ColumnSchema("size", ColumnType(.double)),
        ], key: [0])

    private func row(_ i: Int) -> [Value] {
        [.int(Int64(i)), i % 3 == 1 ? .null : .string("name \(i * 7919 % 50)"), .double(Double(i) / 4)]
    }

    private func make(_ count: Int, at path: String) throws -> Database {
        let database = try Database.create(path: path, atFirstCommit: true)
        let transaction = try database.begin()
        try transaction.extendSchema([type])
        try transaction.bulkWriter("T").append(RandomTables.batch((0..<count).map(row), of: type, in: Schema([type])))
        try transaction.commit()
        return database
    }

    /// Returns the catalogue without its zstd frame.
    private func plain(_ catalogue: [UInt8]) throws -> [UInt8] {
        if catalogue[0] == 2 { return catalogue }
        return try [2]
            + catalogue.withUnsafeBytes { raw in
                var reader = ByteReader(raw, at: 1)
                let size = try reader.readCount()
                return try Frame.expand(try reader.read(count: reader.remaining), size: size)
            }
    }

    @Test func `a file of few rows has few bytes`() throws {
        let folder = TemporaryFolder()
        for (count, most) in [(0, 250), (2, 320), (100, 1200), (2000, 4000)] {
            _ = try make(count, at: folder.file("\(count).firn"))
            let size = try Data(contentsOf: URL(fileURLWithPath: folder.file("\(count).firn"))).count
            #expect(size <= most, "\(count) rows")
            let snapshot = try Database.open(path: folder.file("\(count).firn")).snapshot()
            #expect(try allRows(snapshot.table(named: "T")!).map(\.values) == (0..<count).map(row))
            #expect(snapshot.verify(full: true).isEmpty)
            #expect(try snapshot.statistics()[0].rows == count)
        }
    }

    @Test func `the catalogue has the bytes of the format`() throws {
        let folder = TemporaryFolder()
        let types = [
            TypeSchema("T", columns: [ColumnSchema("n", ColumnType(.int)), ColumnSchema("s", ColumnType(.string, optional: true))]),
            TypeSchema("U", columns: [ColumnSchema("x", ColumnType(.double))]),
        ]
        let database = try Database.create(path: folder.file("a.firn"), atFirstCommit: true)
        let transaction = try database.begin()
        try transaction.extendSchema(types)
        let writer = try transaction.bulkWriter("T")
        try writer.append(RandomTables.batch([[.int(5), .string("ä")], [.int(9), .null]], of: types[0], in: Schema(types)))
        try transaction.commit()
        let schema = try database.snapshot().schema.encoded
        let words = [Int64(5), 9].withUnsafeBufferPointer { IntegersEncoder.encode($0, present: nil, profile: .standard) }
        let present = BooleansEncoder.encode(Bits(words: [1], count: 2), profile: .standard)
        let group = TextGroupEncoder(profile: .standard)
        var text = Text()
        text.append(Array("ä".utf8))
        text.append([])
        group.add(text, present: Bits(words: [1], count: 2))
        let strings = group.takeReady().map(\.1) + group.finish().rest.map(\.1)
        let chunk = [2, 1, UInt8(present.count), 8, UInt8(strings[0].count)] + present + strings[0]
        var expected: [UInt8] = [2, UInt8(schema.count)] + schema
        // Next row id, two rows in sequence, the first is 0; a stream without a chunk, no nulls.
        expected += [2, 2 << 1, 0, UInt8(words.count) << 3 | 4]
        var last = ByteWriter()
        last.appendVarint(chunk.count << 3 | 1)  // a chunk of two streams, which may have nulls
        expected += last.bytes + words + chunk
        expected += [0, 0]  // U: no rows, and no row id was ever given
        let file = [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder.file("a.firn"))))
        #expect(try plain(Array(file[192...])) == expected)
    }

    @Test func `an inline file can be changed, and its first version stays readable`() throws {
        let folder = TemporaryFolder(), path = folder.file("a.firn")
        _ = try make(300, at: path)
        for step in 1...4 {
            let database = try Database.open(path: path, writable: true)
            let transaction = try database.begin()
            try transaction.update("T", rowID: 7, column: "name", .string("step \(step)"))
            _ = try transaction.insert("T", row(1000 + step))
            if step == 2 { try transaction.delete("T", rowID: 9) }
            if step == 3 { try transaction.flushAll() }
            #expect(try transaction.commit() == UInt64(step + 1))
            #expect(try database.verifyStructure().isEmpty)
            let snapshot = try database.snapshot(), table = snapshot.table(named: "T")!
            #expect(snapshot.verify(full: true).isEmpty)
            #expect(try table.row(7)![1] == .string("step \(step)"))
            #expect(table.rowCount == 300 + step - (step >= 2 ? 1 : 0))
            let first = try database.snapshot(version: 1), old = first.table(named: "T")!
            #expect(try allRows(old).map(\.values) == (0..<300).map(row))
            // The segment is unchanged, so only the changed rows may differ.
            if step < 3 {
                let differing = try table.segment(0).rowsThatMayDiffer(from: old.segment(0))
                #expect(differing?.ones == step)
            }
        }
    }

    @Test func `a cancelled change leaves an inline file unchanged to the byte`() throws {
        let folder = TemporaryFolder(), url = URL(fileURLWithPath: folder.file("a.firn"))
        let database = try make(50, at: folder.file("a.firn"))
        let before = try Data(contentsOf: url)
        let transaction = try database.begin()
        _ = try transaction.insert("T", row(60))
        transaction.cancel()
        #expect(try Data(contentsOf: url) == before)
    }

    @Test func `compaction makes a changed file small again, and keeps row ids`() throws {
        let folder = TemporaryFolder()
        let database = try make(100, at: folder.file("a.firn"))
        let transaction = try database.begin()
        for id in stride(from: Int64(0), to: 100, by: 3) { try transaction.delete("T", rowID: id) }
        try transaction.commit()
        try database.snapshot().compact(to: folder.file("b.firn"))
        let small = try Database.open(path: folder.file("b.firn")).snapshot()
        let back = try allRows(small.table(named: "T")!)
        #expect(back.map(\.id) == (0..<100).filter { $0 % 3 != 0 }.map(Int64.init))
        #expect(back.map(\.values) == (0..<100).filter { $0 % 3 != 0 }.map(row))
        #expect(small.verify(full: true).isEmpty)
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder.file("b.firn"))).count < 1500)
    }

    @Test func `a modified small catalogue is damage or a catalogue, and never traps`() throws {
        let folder = TemporaryFolder()
        for count in [0, 3, 700] {
            _ = try make(count, at: folder.file("\(count).firn"))
            let catalogue = [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder.file("\(count).firn"))).dropFirst(192))
            let again = try catalogue.withUnsafeBytes { raw -> [UInt8] in
                let (decoded, schema) = try Catalogue.decodeInline(raw)
                let types = try decoded.types.map { state in
                    (state.nextRowID, try state.inner.map { (try SegmentHeader($0.header.bytes), $0.header.bytes) })
                }
                return try #require(Catalogue.encodedInline(schema, types, profile: .standard))
            }
            #expect(again == catalogue, "the same rows gave other bytes")
            let plain = try plain(catalogue)
            #expect(try plain.withUnsafeBytes { raw in try Catalogue.decodeInline(raw).1 }.types.count == 1)
            var random = RandomTables(seed: UInt64(count) + 5)
            for cut in plain.indices {
                plain[..<cut].withUnsafeBytes { raw in _ = try? Catalogue.decodeInline(raw) }
            }
            for _ in 0..<4000 {
                var bytes = plain
                for _ in 0...random.number(0...3) {
                    bytes[random.number(0...bytes.count - 1)] = [0, 0xFF, 0x80, UInt8(random.number(0...255))][random.number(0...3)]
                }
                bytes.withUnsafeBytes { raw in
                    guard let (decoded, schema) = try? Catalogue.decodeInline(raw) else { return }
                    let core = SnapshotCore(Nowhere(), catalogue: decoded, schema: schema)
                    for type in schema.types.indices where decoded.types[type].segmentCount > 0 {
                        guard let segment = try? core.segment(type: type, index: 0) else { continue }
                        for column in schema.types[type].columns.indices { _ = try? segment.allRows(column) }
                    }
                    core.close()
                }
            }
        }
    }
}
