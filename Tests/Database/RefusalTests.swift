import FirnBytes
import FirnDatabase
import FirnKit
import FirnTable
import Testing

@Suite struct RefusalTests {
    @Test func `a refused value writes nothing, and its row does not change`() throws {
        let part = TypeSchema("Part", columns: [ColumnSchema("n", ColumnType(.int))], isEmbedded: true)
        let type = TypeSchema(
            "T",
            columns: [ColumnSchema("parts", ColumnType(.embedded, collection: .list, target: "Part")), ColumnSchema("n", ColumnType(.int))])
        let folder = TemporaryFolder()
        let database = try Database.create(path: folder.file("a.firn"))
        let transaction = try database.begin()
        try transaction.extendSchema([part, type])
        let good = Value.object([.init("n", .int(1))]), bad = Value.object([.init("n", .string("one"))]),
            unknown = Value.object([.init("m", .int(1))])
        let id = try transaction.insert("T", [.list([good]), .int(5)])
        #expect(throws: FirnError.self) { try transaction.insert("T", [.list([good, bad]), .int(5)]) }
        #expect(throws: FirnError.self) { try transaction.insert("T", [.list([good]), .string("five")]) }
        #expect(throws: FirnError.self) { try transaction.insert("T", [.list([good, .null]), .int(5)]) }
        #expect(throws: FirnError.self) { try transaction.update("T", rowID: id, column: "parts", .list([good, unknown])) }
        #expect(throws: FirnError.self) { try transaction.update("T", rowID: id + 1, column: "n", .int(1)) }
        try transaction.commit()
        let snapshot = try database.snapshot()
        #expect(snapshot.table(named: "T")?.rowCount == 1 && snapshot.table(named: "Part")?.rowCount == 1)
        #expect(try snapshot.table(named: "T")!.row(id)!.map(stripped) == [.list([.object([.init("", .int(1))])]), .int(5)])
        #expect(snapshot.verify(full: true).isEmpty)
    }
}
