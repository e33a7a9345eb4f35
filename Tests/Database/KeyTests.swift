import FirnBytes
import FirnDatabase
import FirnDisk
import FirnKit
import FirnTable
import Foundation
import FirnThreads
import Testing

@Suite struct KeyTests {
    private let dog = TypeSchema(
        "Dog",
        columns: [
            ColumnSchema("n", ColumnType(.int)), ColumnSchema("s", ColumnType(.string, optional: true)),
            ColumnSchema("age", ColumnType(.int)),
        ],
        key: [0, 1])
    private let folder = TemporaryFolder()

    private func database(_ types: [TypeSchema], rows: [[Value]] = []) throws -> Database {
        let database = try Database.create(path: folder.file("\(types[0].columns.count)-\(rows.count)-\(UUID().uuidString).firn"))
        let transaction = try database.begin()
        try transaction.extendSchema(types)
        for row in rows { try transaction.insert(types[0].name, row) }
        try transaction.commit()
        return database
    }

    private func refusal(_ body: () throws -> Void) -> FirnError? { #expect(throws: FirnError.self, performing: body) }

    @Test func `a second row with a key is refused with type, key and row id, and nothing of it is written`() throws {
        let part = TypeSchema("Part", columns: [ColumnSchema("n", ColumnType(.int))], isEmbedded: true)
        var owner = dog
        owner.columns.append(ColumnSchema("part", ColumnType(.embedded, optional: true, target: "Part")))
        let database = try database([part, owner])
        let object = Value.object([.init("n", .int(1))])
        for _ in 0..<2 {  // at first the row belongs to the transaction, then to the base version
            let transaction = try database.begin()
            if try transaction.find("Dog", key: [.int(7), .string("x")]) == nil {
                try transaction.insert("Dog", [.int(7), .string("x"), .int(3), object])
            }
            let error = refusal { try transaction.insert("Dog", [.int(7), .string("x"), .int(4), object]) }
            #expect(error?.code == .duplicateKey)
            #expect(error?.message == "type \"Dog\" already has a row with the key (7, \"x\"): row id 0")
            try transaction.commit()
            let snapshot = try database.snapshot()
            #expect(snapshot.table(named: "Dog")?.rowCount == 1 && snapshot.table(named: "Part")?.rowCount == 1)
            #expect(try snapshot.table(named: "Dog")!.value(rowID: 0, column: 2) == .int(3))
        }
    }

    @Test func `a key can be used again after its row is deleted or has another key`() throws {
        let database = try database([dog], rows: [[.int(1), .null, .int(1)], [.int(2), .null, .int(1)]])
        let transaction = try database.begin()
        #expect(refusal { try transaction.insert("Dog", [.int(1), .null, .int(2)]) }?.code == .duplicateKey)
        try transaction.delete("Dog", rowID: 0)
        let again = try transaction.insert("Dog", [.int(1), .null, .int(2)])
        #expect(try transaction.find("Dog", key: [.int(1), .null]) == again)
        #expect(refusal { try transaction.insert("Dog", [.int(1), .null, .int(2)]) }?.code == .duplicateKey)
        try transaction.update("Dog", rowID: 1, column: "n", .int(3))
        try transaction.insert("Dog", [.int(2), .null, .int(2)])
        try transaction.delete("Dog", rowID: again)
        #expect(try transaction.find("Dog", key: [.int(1), .null]) == nil)
        #expect(try transaction.find("Dog", key: [.int(3), .null]) == 1)
        try transaction.commit()
        let table = try database.snapshot().table(named: "Dog")!
        #expect(
            try table.find(key: [.int(1), .null]) == nil && table.find(key: [.int(2), .null]) == 3
                && table.find(key: [.int(3), .null]) == 1)
    }

    @Test func `changing a key to that of another row is refused, and the row does not change`() throws {
        let database = try database([dog], rows: [[.int(1), .string("a"), .int(1)], [.int(1), .string("b"), .int(1)]])
        let transaction = try database.begin()
        #expect(refusal { try transaction.update("Dog", rowID: 1, column: "s", .string("a")) }?.code == .duplicateKey)
        try transaction.update("Dog", rowID: 1, column: "s", .string("b"))
        try transaction.update("Dog", rowID: 1, column: "age", .int(9))
        #expect(refusal { try transaction.update("Dog", rowID: 9, column: "s", .string("a")) }?.code == .notFound)
        try transaction.commit()
        #expect(try database.snapshot().table(named: "Dog")!.row(1) == [.int(1), .string("b"), .int(9)])
    }

    @Test func `inserts find the keys of rows that were written in bulk before them in the transaction`() throws {
        let database = try database([dog])
        let transaction = try database.begin()
        var next: Int64 = 0
        for _ in 0..<3 {
            let rows = (0..<3000).map { [Value.int(next + $0), .null, .int(0)] }
            try transaction.bulkWriter("Dog").append(RandomTables.batch(rows, of: dog, in: Schema([dog])))
            for n in stride(from: 0, to: next + 3000, by: 997) {
                #expect(refusal { try transaction.insert("Dog", [.int(n), .null, .int(0)]) }?.code == .duplicateKey, "\(n)")
            }
            try transaction.delete("Dog", rowID: next)
            #expect(try transaction.find("Dog", key: [.int(next), .null]) == nil)
            let id = try transaction.insert("Dog", [.int(next), .null, .int(1)])
            #expect(try transaction.find("Dog", key: [.int(next), .null]) == id)
            next = id + 1
        }
        try transaction.commit()
        let again = try database.begin()
        #expect(refusal { try again.insert("Dog", [.int(2999), .null, .int(0)]) }?.code == .duplicateKey)
    }

    @Test func `values are equal in keys if they are equal in comparisons of files`() throws {
        func refuses(_ kind: ScalarKind, _ a: Value, _ b: Value) throws -> Bool {
            let type = TypeSchema("T", columns: [ColumnSchema("k", ColumnType(kind, optional: true))], key: [0])
            let database = try database([type], rows: [[a]])
            do { try database.begin().insert("T", [b]) } catch { return true }
            #expect(try database.snapshot().table(named: "T")!.find(key: [b]) == nil)
            return false
        }
        #expect(try refuses(.decimal, .decimal(Decimal("1.0")!), .decimal(Decimal("1.00")!)))
        #expect(try refuses(.decimal, .int(1), .decimal(Decimal("1")!)))
        #expect(try refuses(.double, .double(0), .double(-0.0)))
        #expect(try refuses(.double, .double(.nan), .double(-.nan)))
        #expect(try refuses(.double, .int(3), .double(3)))
        #expect(try refuses(.any, .int(3), .double(3)))
        #expect(try refuses(.string, .null, .null))
        #expect(try !refuses(.string, .null, .string("")))
        #expect(try !refuses(.string, .string("é"), .string("e\u{301}")))
        #expect(try !refuses(.int, .int(1 << 60), .int(1 << 60 + 1)))
        #expect(try !refuses(.any, .string("3"), .int(3)))
        #expect(try !refuses(.double, .float(0.1), .double(0.1)))
    }

    @Test func `keys of a cancelled transaction are not found and can be used`() throws {
        let database = try database([dog], rows: (0..<100).map { [.int($0), .null, .int(0)] })
        for n in 0..<50 as Range<Int64> {
            let transaction = try database.begin()
            try transaction.insert("Dog", [.int(1000), .null, .int(n)])
            try transaction.update("Dog", rowID: 5, column: "n", .int(2000 + n))
            transaction.cancel()
            let table = try database.snapshot().table(named: "Dog")!
            #expect(try table.find(key: [.int(1000), .null]) == nil && table.find(key: [.int(5), .null]) == 5)
        }
    }

    @Test func `threads find rows by key in their own versions during commits`() throws {
        let database = try database([dog], rows: (0..<2000).map { [.int($0), .null, .int(0)] })
        try parallel(count: 5, threads: 5) { thread in
            for round in 0..<100 as Range<Int64> {
                if thread == 0 {
                    let transaction = try database.begin()
                    try transaction.update("Dog", rowID: round, column: "n", .int(10_000 + round))
                    try transaction.insert("Dog", [.int(20_000 + round), .null, .int(0)])
                    try transaction.commit()
                } else {
                    let snapshot = try database.snapshot(), table = snapshot.table(named: "Dog")!
                    let done = Int64(table.rowCount - 2000), some = (round * 37 + Int64(thread)) % 2000
                    #expect(try table.find(key: [.int(10_000 + some), .null]) == (some < done ? some : nil))
                    #expect(try table.find(key: [.int(some), .null]) == (some < done ? nil : some))
                    #expect(try table.find(key: [.int(20_000 + some), .null]) == (some < done ? 2000 + some : nil))
                }
            }
        }
    }

    @Test func `a row that is written in bulk with a row id that was rolled back keeps its key`() throws {
        let database = try database([dog], rows: [[.int(1), .null, .int(1)]])
        let transaction = try database.begin()
        try transaction.insert("Dog", [.int(2), .null, .int(1)])
        try transaction.keepPart()
        for n in 3..<6 { try transaction.insert("Dog", [.int(Int64(n)), .null, .int(1)]) }
        transaction.rollBack()
        try transaction.bulkWriter("Dog").append(
            RandomTables.batch([[.int(7), .null, .int(1)], [.int(8), .null, .int(1)]], of: dog, in: Schema([dog])))
        #expect(try transaction.find("Dog", key: [.int(7), .null]) == 2)
        #expect(refusal { try transaction.insert("Dog", [.int(8), .null, .int(2)]) }?.code == .duplicateKey)
        #expect(refusal { try transaction.insert("Dog", [.int(2), .null, .int(2)]) }?.code == .duplicateKey)
        try transaction.insert("Dog", [.int(4), .null, .int(2)])
        try transaction.commit()
        let next = try database.begin()
        for n in [1, 2, 4, 7, 8] { #expect(refusal { try next.insert("Dog", [.int(Int64(n)), .null, .int(2)]) }?.code == .duplicateKey) }
        next.cancel()
    }

    @Test func `keys of a type that was rolled back do not affect the type that replaces it`() throws {
        let database = try database([dog], rows: [[.int(1), .null, .int(1)]])
        let transaction = try database.begin()
        try transaction.keepPart()
        try transaction.extendSchema([
            TypeSchema("Cat", columns: [ColumnSchema("n", ColumnType(.int)), ColumnSchema("name", ColumnType(.string))], key: [1])
        ])
        try transaction.insert("Cat", [.int(1), .string("a")])
        transaction.rollBack()
        try transaction.extendSchema([TypeSchema("Bird", columns: [ColumnSchema("n", ColumnType(.int))], key: [0])])
        try transaction.insert("Bird", [.int(1)])
        #expect(refusal { try transaction.insert("Bird", [.int(1)]) }?.code == .duplicateKey)
        try transaction.insert("Bird", [.int(2)])
        try transaction.commit()
        #expect(try database.snapshot().verify(full: true).isEmpty)
    }
}
