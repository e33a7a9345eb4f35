import FirnBytes
import FirnDatabase
import FirnKit
import FirnTable
import Testing

@Suite struct CompactionTests {
    private func table(_ path: String) throws -> Database {
        let database = try Database.create(path: path)
        let transaction = try database.begin()
        try transaction.extendSchema([TypeSchema("T", columns: [ColumnSchema("n", ColumnType(.int))])])
        for n in 0..<100 { try transaction.insert("T", [.int(Int64(n))]) }
        try transaction.commit()
        return database
    }

    @Test func `a writer whose file was replaced by compaction gets an error, and the new file has all rows`() throws {
        let folder = TemporaryFolder()
        let database = try table(folder.file("a.firn"))
        try database.snapshot().compact(to: folder.file("a.firn"), overwrite: true)
        #expect(throws: FirnError.self) { try database.begin() }
        let again = try Database.open(path: folder.file("a.firn"), writable: true)
        #expect(try again.snapshot().table(named: "T")?.rowCount == 100)
        let transaction = try again.begin()
        let id = try transaction.insert("T", [.int(7)])
        try transaction.commit()
        #expect(id == 100)
    }

    @Test func `compaction removes deleted rows and the delta, and keeps row ids`() throws {
        let folder = TemporaryFolder()
        let database = try table(folder.file("a.firn"))
        let transaction = try database.begin()
        for id in stride(from: 0, to: 100, by: 2) { try transaction.delete("T", rowID: Int64(id)) }
        try transaction.commit()
        try database.snapshot().compact(to: folder.file("b.firn"))
        let snapshot = try Database.open(path: folder.file("b.firn")).snapshot()
        let rows = try allRows(snapshot.table(named: "T")!)
        #expect(rows.map(\.id) == Array(stride(from: 1, to: 100, by: 2)))
        #expect(rows.map(\.values) == stride(from: 1, to: 100, by: 2).map { [.int($0)] })
        let statistics = try snapshot.statistics()[0]
        #expect(statistics.deltaRows == 0 && statistics.deletedRows == 0 && statistics.segments == 1)
    }
}
