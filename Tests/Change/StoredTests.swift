import FirnBytes
import FirnChange
import FirnDatabase
import FirnKit
import FirnTable
import Testing

@Suite struct StoredTests {
    static let type = TypeSchema(
        "Row",
        columns: [
            ColumnSchema("id", ColumnType(.int), id: 0), ColumnSchema("name", ColumnType(.string, optional: true), id: 1),
            ColumnSchema("score", ColumnType(.double, optional: true), id: 2),
        ], key: [0])

    func write(_ rows: [[Value]], _ path: String) throws -> Database {
        let database = try Database.create(path: path)
        let transaction = try database.begin()
        try transaction.extendSchema([Self.type])
        let writer = try transaction.bulkWriter("Row")
        var batch = Batch(Self.type, in: Schema([Self.type]))
        for row in rows {
            for (i, value) in row.enumerated() { batch.columns[i].append(value) }
            batch.count += 1
        }
        try writer.append(batch)
        try transaction.commit()
        return database
    }

    @Test func `two versions of a file differ by the commits between them`() throws {
        let folder = TemporaryFolder()
        let rows: [[Value]] = (0..<70_000).map { [.int($0), .string("name \($0 % 100)"), .double(Double($0) / 4)] }
        let database = try write(rows, folder.file("a.firn"))
        let before = try database.snapshot()
        let transaction = try database.begin()
        try transaction.update("Row", rowID: 5, column: "name", .string("other"))
        try transaction.update("Row", rowID: 69_999, column: "score", .null)
        try transaction.update("Row", rowID: 7, column: "score", .double(1.75))
        try transaction.delete("Row", rowID: 1000)
        _ = try transaction.insert("Row", [.int(80_000), .null, .null])
        try transaction.commit()
        let after = try database.snapshot()
        let old = try #require(before.table(named: "Row")), new = try #require(after.table(named: "Row"))
        let result = try difference(old, new)
        #expect(try lines(result) == ["-1000", "~5 name", "~69999 score", "+80000"])
        #expect(result.unchanged == 69_997)
        let bits = try #require(try new.segment(0).rowsThatMayDiffer(from: old.segment(0)))
        #expect((0..<bits.count).filter { bits[$0] } == [5, 7, 1000])
        // The same with another key, for which every row is hashed and compared.
        let slow = try difference(old, new) { $0.key = ["id", "name"] }
        #expect((slow.added, slow.removed, slow.changed) == (2, 2, 1))
    }

    @Test func `two files are compared by value, with and without dictionaries`() throws {
        let folder = TemporaryFolder()
        var rows: [[Value]] = (0..<5000).map { [.int($0), $0 % 50 == 0 ? .null : .string("name \($0 % 100)"), .double(Double($0) / 4)] }
        let old = try write(rows, folder.file("a.firn")).snapshot()
        rows[4000][1] = .string("name 1")
        rows.remove(at: 3)
        rows.append([.int(9000), .string("new"), .null])
        let new = try write(rows, folder.file("b.firn")).snapshot()
        for key in [["id"], ["name", "id"]] {
            let result = try difference(try #require(old.table(named: "Row")), try #require(new.table(named: "Row"))) { $0.key = key }
            #expect((result.added, result.removed, result.changed) == (key.count == 1 ? (1, 1, 1) : (2, 2, 0)))
        }
    }
}
