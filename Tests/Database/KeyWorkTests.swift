import FirnBytes
import FirnDatabase
import FirnDisk
import FirnKit
import FirnTable
import Foundation
import Testing

/// The processor time of this thread only: other tests and builds do not count.
private func processorSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
}

/// The exact cost of look-ups in counted work, which does not depend on the machine.
@Suite struct KeyWorkTests {
    private let type = TypeSchema("T", columns: [ColumnSchema("k", ColumnType(.int)), ColumnSchema("v", ColumnType(.int))], key: [0])
    private static let rows = 100_000, vectors = 98

    /// Keys in random order, so that zones exclude nothing.
    private func key(_ n: Int) -> Value { .int(Int64(bitPattern: UInt64(bitPattern: Int64(n)) &* 0x9E37_79B9_7F4A_7C15)) }

    private func database(_ path: String, key: (Int) -> Value) throws -> Database {
        let database = try Database.create(path: path)
        let transaction = try database.begin()
        try transaction.extendSchema([type])
        let rows = (0..<Self.rows).map { [key($0), .int(0)] }
        for start in stride(from: 0, to: Self.rows, by: 20_000) {
            try transaction.bulkWriter("T").append(RandomTables.batch(Array(rows[start..<start + 20_000]), of: type, in: Schema([type])))
        }
        try transaction.commit()
        return database
    }

    private func entries(_ database: Database) throws -> Int {
        try #require(database.keys.entryCount(database.snapshot().table(named: "T")!.type))
    }

    @Test func `a thousand inserts in one transaction decode the keys at most four times`() throws {
        let folder = TemporaryFolder(), database = try database(folder.file("a.firn"), key: key)
        let first = try database.begin()
        try first.dropIndex("T", "k", .values)
        try first.commit()
        let transaction = try database.begin()
        for n in 0..<1000 { try transaction.insert("T", [key(Self.rows + n), .int(1)]) }
        try transaction.commit()
        #expect(database.keys.work.builds == 1)
        // Scans cost at most twice as much as building the index, and then the index is built.
        #expect(database.keys.work.vectors <= 4 * Self.vectors + 8)
        #expect(try entries(database) == Self.rows + 1000)
    }

    @Test func `with an index in the file the same inserts decode no keys`() throws {
        let folder = TemporaryFolder(), database = try database(folder.file("a.firn"), key: key)
        let transaction = try database.begin()
        for n in 0..<1000 { try transaction.insert("T", [key(Self.rows + n), .int(1)]) }
        #expect(throws: FirnError.self) { try transaction.insert("T", [key(77), .int(1)]) }
        try transaction.commit()
        #expect(database.keys.work.builds == 0 && database.keys.work.vectors == 0)
    }

    @Test func `a thousand transactions of one insert decode as little, and read hardly any delta records`() throws {
        let folder = TemporaryFolder(), database = try database(folder.file("a.firn"), key: key)
        for n in 0..<1000 {
            let transaction = try database.begin()
            try transaction.insert("T", [key(Self.rows + n), .int(1)])
            #expect(throws: FirnError.self) { try transaction.insert("T", [key(Self.rows + n / 2), .int(1)]) }
            try transaction.commit()
        }
        #expect(database.keys.work.builds == 1)
        #expect(database.keys.work.vectors <= 4 * Self.vectors + 8)
        #expect(database.keys.work.records <= 100)
    }

    @Test func `inserts with ascending keys decode no keys`() throws {
        let folder = TemporaryFolder(), database = try database(folder.file("a.firn"), key: { .int(Int64($0)) })
        let transaction = try database.begin()
        for n in 0..<1000 { try transaction.insert("T", [.int(Int64(Self.rows + n)), .int(1)]) }
        try transaction.commit()
        #expect(database.keys.work.vectors == 0 && database.keys.work.builds == 0)
    }

    @Test func `commits of another handle cost in proportion to their changes`() throws {
        let folder = TemporaryFolder(), path = folder.file("a.firn")
        let database = try database(path, key: key), other = try Database.open(path: path, writable: true)
        while database.keys.work.builds == 0 { #expect(try database.snapshot().table(named: "T")!.find(key: [key(17)]) == 17) }
        let fill = try other.begin()
        for n in 0..<5000 { try fill.insert("T", [key(Self.rows + n), .int(1)]) }
        try fill.commit()
        #expect(try database.snapshot().table(named: "T")!.find(key: [key(Self.rows + 4999)]) == Int64(Self.rows + 4999))
        let (vectors, records) = (database.keys.work.vectors, database.keys.work.records)
        for n in 0..<200 {
            let change = try other.begin()
            try change.insert("T", [key(-1 - n), .int(1)])
            try change.update("T", rowID: Int64(n * 400), column: "k", key(-1000 - n))
            try change.commit()
            let table = try database.snapshot().table(named: "T")!
            #expect(try table.find(key: [key(-1 - n)]) == Int64(Self.rows + 5000 + n))
            #expect(try table.find(key: [key(-1000 - n)]) == Int64(n * 400))
            #expect(try table.find(key: [key(n * 400)]) == nil)
            // This handle knows its own commits in between without reading.
            let own = try database.begin()
            try own.update("T", rowID: Int64(n * 400 + 1), column: "k", key(-5000 - n))
            try own.commit()
        }
        #expect(database.keys.work.builds == 1 && database.keys.work.vectors == vectors)
        // Two leaves per commit, with some hundred records each.
        #expect(database.keys.work.records - records < 200 * 2 * 200)
    }

    @Test func `an index with many stale entries is built again`() throws {
        let folder = TemporaryFolder(), database = try Database.create(path: folder.file("a.firn"))
        let first = try database.begin()
        try first.extendSchema([type])
        for n in 0..<10 { try first.insert("T", [key(n), .int(0)]) }
        try first.commit()
        for round in 0..<12 {
            let transaction = try database.begin()
            for n in 0..<1000 { try transaction.update("T", rowID: Int64(n % 10), column: "k", key(10 + round * 1000 + n)) }
            try transaction.commit()
            #expect(try database.snapshot().table(named: "T")!.find(key: [key(10 + round * 1000 + 995)]) == 5)
            #expect(try database.snapshot().table(named: "T")!.find(key: [key(10 + round * 1000 + 5)]) == nil)
            #expect(try entries(database) <= 2 * 10 + 4096 + 1010)
        }
        #expect(database.keys.work.builds >= 2 && database.keys.work.builds <= 4)
    }

    /// Prints the time of a look-up, without any requirement.
    @Test func `the time of look-ups by key is printed, and they find exactly the stored keys`() throws {
        let rows = 1_000_000, folder = TemporaryFolder()
        for kind in [ScalarKind.int, .string] {
            let type = TypeSchema("T", columns: [ColumnSchema("k", ColumnType(kind))], key: [0])
            let database = try Database.create(path: folder.file("\(kind).firn"))
            let transaction = try database.begin()
            try transaction.extendSchema([type])
            func key(_ n: Int) -> Value {
                let number = (UInt64(bitPattern: Int64(n)) &* 0x9E37_79B9_7F4A_7C15) >> 2
                return kind == .int ? .int(Int64(number)) : .string("key-" + String(number, radix: 36))
            }
            for start in stride(from: 0, to: rows, by: 50_000) {
                try transaction.bulkWriter("T").append(
                    RandomTables.batch((start..<start + 50_000).map { [key($0)] }, of: type, in: Schema([type])))
            }
            try transaction.commit()
            let snapshot = try database.snapshot(), table = snapshot.table(named: "T")!
            var built = 0.0
            while database.keys.work.builds == 0 {
                let start = Machine.seconds
                _ = try table.find(key: [key(-1)])
                built = Machine.seconds - start
            }
            var random = Random(seed: 1)
            let wanted = (0..<100_000).map { _ in Int.random(in: 0..<rows, using: &random) }.map { (row: Int64($0), key: [key($0)]) }
            var start = processorSeconds()
            for (row, key) in wanted where try table.find(key: key) != row { Issue.record("row \(row) was not found") }
            let found = processorSeconds() - start
            let strangers = (0..<100_000).map { [key(rows + $0)] }
            start = processorSeconds()
            for key in strangers where try table.find(key: key) != nil { Issue.record("\(key) was found") }
            let missed = processorSeconds() - start
            print(
                "keys: 1 M \(kind): built in \(Int(built * 1e3)) ms, \(Int(found * 1e4)) ns of processor a look-up, \(Int(missed * 1e4)) ns where there is none"
            )
        }
    }
}
