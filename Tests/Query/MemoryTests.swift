import FirnBytes
import FirnDatabase
import FirnKit
import FirnQuery
import FirnTable
import Testing

/// Results, groups and sorted rows in memory are counted against the memory budget of the table.
@Suite struct MemoryTests {
    private static let rows = 300_000

    /// A file of ascending numbers, which takes a few bytes for each vector.
    private func table(_ folder: TemporaryFolder, _ budget: MemoryBudget) throws -> StoredTable {
        let type = TypeSchema("T", columns: [ColumnSchema("n", ColumnType(.int))]), path = folder.file("a.firn")
        let database = try Database.create(path: path)
        let transaction = try database.begin()
        try transaction.extendSchema([type])
        let writer = try transaction.bulkWriter("T")
        for start in stride(from: 0, to: MemoryTests.rows, by: segmentSize) {
            try writer.append(
                RandomTables.batch(
                    (start..<min(start + segmentSize, MemoryTests.rows)).map { [.int(Int64($0))] }, of: type, in: Schema([type])))
        }
        try transaction.commit()
        return try Database.open(path: path, memory: budget).snapshot().table(named: "T")!
    }

    private func run(_ request: QueryRequest, _ table: StoredTable, threads: Int) throws -> Int {
        var count = 0
        try QueryRun(request, table: table, threads: threads).forEachBatch { batch in
            count += batch.count
            return true
        }
        return count
    }

    @Test(arguments: [1, 3])
    func `groups beyond the memory limit are refused with an error that names the key`(threads: Int) throws {
        let folder = TemporaryFolder(), budget = MemoryBudget(limit: 2_000_000)
        let table = try table(folder, budget)
        let request = QueryRequest(groupBy: ["n"], aggregates: [Aggregate(.count)])
        let error = #expect(throws: FirnError.self) { _ = try run(request, table, threads: threads) }
        #expect(error?.code == .outOfMemory)
        #expect(error?.message.hasPrefix("column \"T.n\" needs") == true, "\(error?.message ?? "")")
        #expect(budget.peak <= 2_000_000)
        budget.limit = .max
        #expect(try run(request, table, threads: threads) == MemoryTests.rows)
    }

    @Test(arguments: [1, 3])
    func `sorting all rows beyond the memory limit is refused, but sorting with a limit is not`(threads: Int) throws {
        let folder = TemporaryFolder(), budget = MemoryBudget(limit: 6_000_000)
        let table = try table(folder, budget)
        let error = #expect(throws: FirnError.self) {
            _ = try run(QueryRequest(filter: "TRUEPREDICATE SORT(n DESC)"), table, threads: threads)
        }
        #expect(error?.code == .outOfMemory)
        #expect(error?.message.hasPrefix("column \"T.n\" needs") == true, "\(error?.message ?? "")")
        #expect(error?.advice?.contains("--memory") == true)
        #expect(budget.peak <= 6_000_000)
        #expect(try run(QueryRequest(filter: "TRUEPREDICATE SORT(n DESC) LIMIT(5)"), table, threads: threads) == 5)
        #expect(try run(QueryRequest(filter: "n >= 0 LIMIT(5)"), table, threads: threads) == 5)
    }

    @Test func `a query releases its memory at its end`() throws {
        let folder = TemporaryFolder(), budget = MemoryBudget(limit: .max)
        do {
            let table = try table(folder, budget)
            #expect(try run(QueryRequest(filter: "TRUEPREDICATE SORT(n DESC)"), table, threads: 1) == MemoryTests.rows)
            #expect(try run(QueryRequest(groupBy: ["n"], aggregates: [Aggregate(.count)]), table, threads: 1) == MemoryTests.rows)
            #expect(budget.peak > 6_000_000)
            // Readers of open segments are kept.
            #expect(budget.used < 1_000_000)
        }
        #expect(budget.used == 0)
    }

    @Test func `a memory limit that is enough to sort with one thread is enough for several`() throws {
        let type = TypeSchema("T", columns: [ColumnSchema("n", ColumnType(.int)), ColumnSchema("t", ColumnType(.string))])
        let folder = TemporaryFolder(), path = folder.file("a.firn"), budget = MemoryBudget(limit: .max)
        let database = try Database.create(path: path), transaction = try database.begin()
        try transaction.extendSchema([type])
        let writer = try transaction.bulkWriter("T")
        // The rows of the first batch are small, and those of the others large.
        let long = String(repeating: "a", count: 200)
        for part in 0..<5 {
            let rows = (0..<segmentSize).map { row in
                let n = (row * 5 + part) % (segmentSize * 5)
                return [Value.int(Int64(n)), .string(n < segmentSize ? "x" : long + "\(n)")]
            }
            try writer.append(RandomTables.batch(rows, of: type, in: Schema([type])))
        }
        try transaction.commit()
        let table = try #require(try Database.open(path: path, memory: budget).snapshot().table(named: "T"))
        let request = QueryRequest(filter: "TRUEPREDICATE SORT(n ASC)")
        func isEnough(_ limit: Int, threads: Int) -> Bool {
            budget.limit = limit
            return (try? run(request, table, threads: threads)) == segmentSize * 5
        }
        let least = try #require(stride(from: 4 << 20, to: 200 << 20, by: 2 << 20).first { isEnough($0, threads: 1) })
        for limit in [least, least + (4 << 20), least * 5 / 4, least * 3 / 2, least * 2] {
            for threads in [2, 4] { #expect(isEnough(limit, threads: threads), "\(least) \(limit), \(threads) threads") }
        }
    }
}
