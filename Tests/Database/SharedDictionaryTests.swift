import FirnBytes
import FirnDatabase
import FirnKit
import FirnTable
import Testing

@Suite struct SharedDictionaryTests {
    @Test func `a dictionary stays while any segment refers to it, after changes of the segments in between`() throws {
        let type = TypeSchema("T", columns: [ColumnSchema("name", ColumnType(.string))])
        let folder = TemporaryFolder()
        let database = try Database.create(path: folder.file("a.firn"), keep: 2)
        func change(_ body: (DatabaseTransaction) throws -> Void) throws {
            let transaction = try database.begin()
            try body(transaction)
            try transaction.flushAll()
            try transaction.commit()
        }
        func name(_ row: Int) -> Value { .string("name \(row * 7919 % 5000)") }
        let rows = segmentSize * 3
        try change { transaction in
            try transaction.extendSchema([type])
            let writer = try transaction.bulkWriter("T")
            for start in stride(from: 0, to: rows, by: segmentSize) {
                try writer.append(RandomTables.batch((start..<start + segmentSize).map { [name($0)] }, of: type, in: Schema([type])))
            }
        }
        // The middle segment gets a separate chunk, then the rows of the first one are deleted, and its space is reused.
        let changed = segmentSize..<segmentSize + 4000
        try change { for row in changed { try $0.update("T", rowID: Int64(row), column: "name", .string("other \(row)")) } }
        try change { for row in 0..<segmentSize { try $0.delete("T", rowID: Int64(row)) } }
        for i in 0..<6 { try change { try $0.insert("T", [.string(String(repeating: "filler \(i) ", count: 4000))]) } }
        let snapshot = try Database.open(path: folder.file("a.firn")).snapshot()
        #expect(snapshot.verify(full: true).isEmpty)
        let back = try allRows(snapshot.table(named: "T")!)
        #expect(back.count == rows - segmentSize + 6)
        for (id, values) in back.prefix(rows - segmentSize)
        where values != [changed.contains(Int(id)) ? .string("other \(id)") : name(Int(id))] {
            Issue.record("row \(id): \(values)")
            break
        }
    }
}
