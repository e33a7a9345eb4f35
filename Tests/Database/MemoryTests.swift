import FirnBytes
import FirnDisk
import FirnKit
import FirnStore
import Foundation
import Testing

@testable import FirnDatabase
@testable import FirnTable

/// Small files that expand to much memory: the memory is charged to the budget of the file, and refused beyond it with the name of the
/// column.
@Suite struct MemoryTests {
    /// Writes `columns` columns of text, each with `values` values of `size` equal bytes and a number, and every value twice.
    private func bomb(_ folder: TemporaryFolder, columns: Int, values: Int, size: Int) throws -> String {
        let type = TypeSchema("T", columns: (0..<columns).map { ColumnSchema("c\($0)", ColumnType(.string)) }),
            path = folder.file("bomb.firn")
        let database = try Database.create(path: path)
        let transaction = try database.begin()
        try transaction.extendSchema([type])
        let long = String(repeating: "a", count: size)
        let rows = (0..<values * 2).map { row in (0..<columns).map { _ in Value.string(long + "\(row % values)") } }
        try transaction.bulkWriter("T").append(RandomTables.batch(rows, of: type, in: Schema([type])))
        try transaction.commit()
        return path
    }

    private func readAll(_ database: Database) throws(Damage) -> Int {
        let snapshot: DatabaseSnapshot
        do { snapshot = try database.snapshot() } catch { throw Damage("\(error)") }
        var bytes = 0
        for table in snapshot.tables {
            for index in 0..<table.segmentCount {
                let segment = try table.segment(index)
                var kept: [Column] = []
                for column in table.type.columns.indices {
                    let reader = try segment.column(column)
                    var values = Column(table.type.columns[column], in: table.schema)
                    for vector in 0..<segment.vectorCount { try reader.read(vector: vector, into: &values) }
                    bytes += values.footprint
                    kept.append(values)
                }
            }
        }
        return bytes
    }

    /// Writes 16 segments with two columns of random integers: each takes a megabyte of the file.
    private static func incompressible(_ path: String, key: EncryptionKey? = nil) throws {
        let rows = 16 * segmentSize, type = TypeSchema("T", columns: ["a", "b"].map { ColumnSchema($0, ColumnType(.int)) })
        var random = Random(seed: 1), columns: [Column] = []
        for _ in type.columns {
            var column = Column(ColumnType(.int))
            column.words = (0..<rows).map { _ in Int64(bitPattern: random.next()) }
            column.count = rows
            columns.append(column)
        }
        let transaction = try Database.create(path: path, key: key).begin()
        try transaction.extendSchema([type])
        let writer = try transaction.bulkWriter("T")
        try writer.append(Batch(count: rows, columns: columns))
        try writer.finish()
        try transaction.commit()
    }

    /// Returns the sum of all integers of a table.
    private static func sum(_ table: StoredTable, afterColumn: () -> Void) throws -> Int64 {
        var sum: Int64 = 0
        for index in 0..<table.segmentCount {
            let segment = try table.segment(index)
            for position in table.type.columns.indices {
                let reader = try segment.column(position)
                var values = Column(reader.type)
                for vector in 0..<segment.vectorCount {
                    try reader.read(vector: vector, into: &values)
                    sum = values.words.reduce(sum, &+)
                }
                afterColumn()
            }
        }
        return sum
    }

    @Test(.enabled(if: MappedBytes.areKnown)) func `a limit of mapped memory bounds the resident pages of the files that are scanned`()
        async
    {
        await #expect(processExitsWith: .success) {
            let folder = TemporaryFolder(onDisk: true), limit = 4 << 20
            MappedMemory.limit(to: limit, of: .mappings)
            var sums: Set<Int64> = []
            for (name, key) in [("plain.firn", nil), ("encrypted.firn", EncryptionKey([UInt8](repeating: 7, count: 64)))] {
                let path = folder.file(name)
                try Self.incompressible(path, key: key)
                let database = try Database.open(path: path, key: key)
                var most = 0
                for _ in 0..<3 {
                    sums.insert(try Self.sum(try database.snapshot().tables[0]) { most = max(most, MappedBytes.resident(path)) })
                }
                // The limit, the bytes between two questions, a segment, and twice what the system can map around a byte.
                precondition(most > limit / 2 && most <= limit + 6 << 20, "\(name): \(most) bytes are resident")
            }
            precondition(sums.count == 1, "a scan has read other values")
        }
    }

    @Test func `columns of long text are read up to the memory limit, and the error names the column`() throws {
        let folder = TemporaryFolder()
        let path = try bomb(folder, columns: 8, values: 8, size: 1 << 19)
        #expect((try FileManager.default.attributesOfItem(atPath: path)[.size] as! Int) < 1 << 20)
        let free = MemoryBudget(limit: .max)
        #expect(try readAll(Database.open(path: path, memory: free)) >= 8 * 8 << 20)
        #expect(free.peak >= 8 * 8 << 20)
        #expect(free.used == 0)
        let tight = MemoryBudget(limit: 30 << 20)
        let damage = #expect(throws: Damage.self) { try readAll(Database.open(path: path, memory: tight)) }
        #expect(damage?.isBeyondMemory == true)
        #expect(damage?.what.hasPrefix("column \"T.c") == true, "\(damage?.what ?? "")")
        #expect(tight.peak <= 30 << 20)
        #expect(tight.used == 0)
    }

    @Test func `reading single values of a dictionary beyond the memory limit is refused`() throws {
        let folder = TemporaryFolder()
        let path = try bomb(folder, columns: 1, values: 16, size: 1 << 19)
        let budget = MemoryBudget(limit: 2 << 20)
        let table = try Database.open(path: path, memory: budget).snapshot().table(named: "T")!
        let damage = #expect(throws: Damage.self) { for row in 0..<32 { _ = try table.segment(0).column(0).value(at: row) } }
        #expect(damage?.isBeyondMemory == true || (try? readAll(Database.open(path: path, memory: budget))) == nil)
    }

    @Test func `verification reports a column beyond the memory limit as unread`() throws {
        let folder = TemporaryFolder()
        let path = try bomb(folder, columns: 2, values: 8, size: 1 << 19)
        let defects = try Database.open(path: path, memory: MemoryBudget(limit: 4 << 20)).snapshot().verify(full: true)
        #expect(!defects.isEmpty)
        #expect(defects.allSatisfy { $0.damage.isBeyondMemory && $0.column != nil }, "\(defects)")
    }

    @Test func `elements of a list are charged before they are decoded`() throws {
        let folder = TemporaryFolder(), path = folder.file("lists.firn")
        let type = TypeSchema("T", columns: [ColumnSchema("numbers", ColumnType(.int, collection: .list))])
        let database = try Database.create(path: path)
        let transaction = try database.begin()
        try transaction.extendSchema([type])
        try transaction.bulkWriter("T").append(
            RandomTables.batch((0..<8).map { _ in [.list(Array(repeating: .int(7), count: 100_000))] }, of: type, in: Schema([type])))
        try transaction.commit()
        let budget = MemoryBudget(limit: 4 << 20)
        let damage = #expect(throws: Damage.self) { try readAll(Database.open(path: path, memory: budget)) }
        #expect(damage?.what.hasPrefix("column \"T.numbers\" needs 6.4 MB") == true, "\(damage?.what ?? "")")
        #expect(budget.peak <= 4 << 20)
        #expect(budget.used == 0)
        #expect(try readAll(Database.open(path: path, memory: MemoryBudget(limit: 16 << 20))) >= 6_400_000)
    }

    @Test func `rows of the delta are charged with their decoded size`() throws {
        let folder = TemporaryFolder(), path = folder.file("delta.firn")
        let type = TypeSchema("T", columns: [ColumnSchema("any", ColumnType(.any))])
        let database = try Database.create(path: path)
        let transaction = try database.begin()
        try transaction.extendSchema([type])
        for _ in 0..<10 { _ = try transaction.insert("T", [.list(Array(repeating: .null, count: 20_000))]) }
        try transaction.commit()
        let budget = MemoryBudget(limit: 1 << 20)
        let damage = #expect(throws: Damage.self) { try readAll(Database.open(path: path, memory: budget)) }
        #expect(damage?.isBeyondMemory == true && damage!.what.contains("\"T"), "\(damage?.what ?? "")")
        #expect(budget.peak <= 1 << 20)
        #expect(budget.used == 0)
    }

    /// Writes a row whose list names one object 1,000 times, whose list names another object 1,000 times.
    private func sharedObjects(_ folder: TemporaryFolder) throws -> String {
        let path = folder.file("objects.firn"), database = try Database.create(path: path), transaction = try database.begin()
        let types = [
            TypeSchema("T", columns: [ColumnSchema("a", ColumnType(.embedded, collection: .list, target: "A"))]),
            TypeSchema("A", columns: [ColumnSchema("b", ColumnType(.embedded, collection: .list, target: "B"))], isEmbedded: true),
            TypeSchema("B", columns: [ColumnSchema("n", ColumnType(.int))], isEmbedded: true),
        ]
        try transaction.extendSchema(types)
        for (type, value) in zip(
            types, [Value.list(Array(repeating: .link(0), count: 1000)), .list(Array(repeating: .link(0), count: 1000)), .int(7)])
        {
            var column = Column(type.columns[0].type.stored)
            let fits = column.append(value)
            #expect(fits)
            try transaction.bulkWriter(type.name).append(stored: [column], rowIDs: [0])
        }
        try transaction.commit()
        return path
    }

    @Test func `objects that share rows are charged before they are repeated, by vector and by value`() throws {
        let folder = TemporaryFolder(), path = try sharedObjects(folder), free = MemoryBudget(limit: .max)
        #expect(try readAll(Database.open(path: path, memory: free)) >= 8_000_000)
        #expect(free.used == 0)
        let tight = MemoryBudget(limit: 4 << 20)
        let damage = #expect(throws: Damage.self) { try readAll(Database.open(path: path, memory: tight)) }
        #expect(
            damage?.isBeyondMemory == true && damage!.what.contains("\"A.b\"") || damage?.what.contains("\"B") == true,
            "\(damage?.what ?? "")")
        #expect(tight.peak <= 4 << 20)
        #expect(tight.used == 0)
        do {
            let table = try Database.open(path: path, memory: tight).snapshot().table(named: "T")!
            let damage = #expect(throws: Damage.self) { _ = try table.segment(0).column(0).value(at: 0) }
            #expect(damage?.isBeyondMemory == true, "\(damage?.what ?? "")")
        }
        #expect(tight.used == 0)
    }

    @Test func `nested values are measured before any of them is created`() throws {
        let folder = TemporaryFolder(), path = folder.file("any.firn")
        let type = TypeSchema("T", columns: [ColumnSchema("any", ColumnType(.any))]), database = try Database.create(path: path)
        let transaction = try database.begin()
        try transaction.extendSchema([type])
        try transaction.bulkWriter("T").append(
            RandomTables.batch([[.list(Array(repeating: .null, count: 200_000))]], of: type, in: Schema([type])))
        try transaction.commit()
        let budget = MemoryBudget(limit: 1 << 20), table = try Database.open(path: path, memory: budget).snapshot().table(named: "T")!
        let damage = #expect(throws: Damage.self) { _ = try table.segment(0).column(0).value(at: 0) }
        #expect(damage?.what.hasPrefix("column \"T.any\" needs") == true, "\(damage?.what ?? "")")
    }

    @Test func `the memory of a value is measured without creating it`() throws {
        let value = Value.map([Value.Entry("key", .list([.null, .string("four"), .list([.int(5)])]))]), bytes = value.encoded
        var total = 0
        try bytes.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            try Value.measure(&reader, &total)
            #expect(reader.isAtEnd)
        }
        let stride = MemoryLayout<Value>.stride
        #expect(total == 32 + MemoryLayout<Value.Entry>.stride + (32 + 3) + (32 + 3 * stride) + (32 + 4) + (32 + stride))
    }
}

/// Returns extents of an image without checking their hashes.
private final class ImageSource: ExtentSource, @unchecked Sendable {
    let bytes: UnsafeMutableRawBufferPointer

    init(_ image: Data) {
        bytes = .allocate(byteCount: image.count, alignment: 64)
        bytes.copyBytes(from: image)
    }

    deinit { bytes.deallocate() }

    func read(_ ref: ExtentRef) throws(Damage) -> UnsafeRawBufferPointer {
        guard ref.offset <= UInt64(bytes.count), ref.length <= UInt64(bytes.count) - ref.offset else {
            throw Damage("reference to bytes outside the file")
        }
        return UnsafeRawBufferPointer(rebasing: bytes[Int(ref.offset)..<Int(ref.offset + ref.length)])
    }
}

@Suite struct DirectoryOrderTests {
    @Test func `a directory entry that overlaps or precedes the one before is damage`() throws {
        let folder = TemporaryFolder(), path = folder.file("a.firn")
        let type = TypeSchema("T", columns: [ColumnSchema("n", ColumnType(.int))])
        let database = try Database.create(path: path)
        let transaction = try database.begin()
        try transaction.extendSchema([type])
        try transaction.bulkWriter("T").append(
            RandomTables.batch((0..<segmentSize * 2 + 10).map { [.int(Int64($0))] }, of: type, in: Schema([type])))
        try transaction.commit()
        let source = ImageSource(try Data(contentsOf: URL(filePath: path))), ref = try database.store.snapshot().catalogue
        let core = try SnapshotCore(source, catalogueRef: ref)
        defer { core.close() }
        #expect(core.catalogue.types[0].segmentCount == 3)
        for index in 0..<3 { _ = try core.segment(type: 0, index: index) }
        #expect(core.verify(full: true).isEmpty)

        // The second entry is a copy of the first one: its rows would be returned twice.
        let directory = Int(core.catalogue.types[0].directory.offset), size = DirectoryEntry.size
        let whole = Array(source.bytes[directory..<directory + 3 * size])
        source.bytes[(directory + size)..<(directory + 2 * size)].copyBytes(from: whole[..<size])
        let twice = try SnapshotCore(source, catalogueRef: ref)
        defer { twice.close() }
        _ = try twice.segment(type: 0, index: 0)
        let damage = #expect(throws: Damage.self) { _ = try twice.segment(type: 0, index: 1) }
        #expect(damage?.what == "row ids do not ascend from the segment before")
        _ = try twice.segment(type: 0, index: 2)
        #expect(twice.verify(full: false).contains { $0.damage.what.contains("do not ascend") })

        // The third entry begins within the second.
        source.bytes[directory..<directory + 3 * size].copyBytes(from: whole)
        source.bytes.storeBytes(of: Int64(segmentSize).littleEndian, toByteOffset: directory + 2 * size, as: Int64.self)
        let within = try SnapshotCore(source, catalogueRef: ref)
        defer { within.close() }
        _ = try within.segment(type: 0, index: 1)
        #expect(throws: Damage.self) { _ = try within.segment(type: 0, index: 2) }
    }
}
