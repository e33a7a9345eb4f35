import FirnBytes
import FirnKit
import Testing

@testable import FirnDatabase
@testable import FirnTable

/// `storesSame`: which columns of two files have the same values, by their stored bytes.
@Suite struct SameColumnTests {
    private let type = TypeSchema(
        "T",
        columns: [
            ColumnSchema("id", ColumnType(.int)), ColumnSchema("city", ColumnType(.string, optional: true)),
            ColumnSchema("country", ColumnType(.string, optional: true)), ColumnSchema("price", ColumnType(.double)),
            ColumnSchema("double", ColumnType(.double)), ColumnSchema("note", ColumnType(.string, optional: true)),
        ])

    private func row(_ i: Int, _ dice: inout Random) -> [Value] {
        let city = dice.number(0...60), price = Double(dice.number(1...9999)) / 4
        return [
            .int(Int64(i)), city == 0 ? .null : .string("city \(city)"), city == 0 ? .null : .string("country \(city / 4)"),
            .double(price), .double(price * 2), dice.number(0...2) == 0 ? .null : .string("n\(dice.number(0...1_000_000))"),
        ]
    }

    /// Returns whether each column is stored as in the other file, and expects equal values where it is.
    private func same(_ a: Database, _ b: Database, _ note: String) throws -> [Bool] {
        let mine = try a.snapshot().core.segment(type: 0, index: 0), theirs = try b.snapshot().core.segment(type: 0, index: 0)
        return try type.columns.indices.map { i in
            let isSame = try mine.storesSame(i, as: theirs, i)
            let hasEqualValues = try mine.allRows(i).isStoredAs(try theirs.allRows(i))
            if isSame { #expect(hasEqualValues, "\(note), \(type.columns[i].name)") }
            return isSame
        }
    }

    @Test(arguments: Seed.first(12)) func `columns that are stored alike have the same values, whatever they follow from`(seed: Seed) throws
    {
        let folder = TemporaryFolder()
        var dice = Random(seed)
        let rows = (0..<dice.number(50...6000)).map { row($0, &dice) }
        let first = try OneTypeFile(type, rows, folder.file("a.firn")).database
        #expect(try same(first, OneTypeFile(type, rows, folder.file("b.firn")).database, "equal") == Array(repeating: true, count: 6))
        for changed in 0..<6 {
            var others = rows
            // All values of a column are others, or only one is.
            for i in dice.number(0...1) == 0 ? Array(others.indices) : [dice.number(0...others.count - 1)] {
                others[i][changed] = changed == 0 ? .int(Int64(i) * 7 + 1) : row(i, &dice)[changed]
            }
            let second = try OneTypeFile(type, others, folder.file("c\(changed).firn")).database
            let found = try same(first, second, "seed \(seed), changed \(changed)")
            if others != rows { #expect(found.contains(true)) }
        }
    }

    @Test func `changed rows, deleted rows and the key of an encrypted file are taken into account`() throws {
        let folder = TemporaryFolder()
        var dice = Random(Seed(3))
        let rows = (0..<3000).map { row($0, &dice) }
        let first = try OneTypeFile(type, rows, folder.file("a.firn")).database
        let second = try OneTypeFile(type, rows, folder.file("b.firn")).database
        func update(_ i: Int, flushing: Bool) throws {
            let transaction = try second.begin()
            try transaction.update("T", rowID: Int64(i), column: "price", .double(-1))
            if flushing { try transaction.flushAll() }
            try transaction.commit()
        }
        try update(7, flushing: false)
        #expect(try same(first, second, "delta store") == [true, true, true, false, true, true])
        try update(8, flushing: true)
        #expect(try !same(first, second, "flushed")[3])
        let transaction = try second.begin()
        try transaction.delete("T", rowID: 9)
        try transaction.commit()
        // A deleted row keeps its values.
        #expect(try same(first, second, "deleted")[0])
        let encrypted = try Database.create(path: folder.file("c.firn"), key: #require(EncryptionKey([UInt8](0..<64))))
        let writing = try encrypted.begin()
        try writing.extendSchema([type])
        try writing.bulkWriter("T").append(RandomTables.batch(rows, of: type, in: Schema([type])))
        try writing.commit()
        // A small segment has its chunks in its header, and their bytes are compared once they are decrypted.
        #expect(try same(first, encrypted, "encrypted").contains(true))
    }
}
