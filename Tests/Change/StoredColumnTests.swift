import FirnBytes
import FirnChange
import FirnDatabase
import FirnKit
import FirnTable
import Synchronization
import Testing

/// Columns of two files whose stored bytes are the same, and keys that ascend.
@Suite struct StoredColumnTests {
    /// A table that records which columns are opened.
    private final class Watched: Table {
        let base: any Table
        let opened = Mutex<Set<String>>([])
        init(_ base: any Table) { self.base = base }
        var type: TypeSchema { base.type }
        var schema: Schema { base.schema }
        var rowCount: Int { base.rowCount }
        var segmentCount: Int { base.segmentCount }
        func segment(_ index: Int) throws(Damage) -> any Segment { WatchedSegment(try base.segment(index), self) }
        func segmentIndex(of rowID: Int64) throws(Damage) -> Int? { try base.segmentIndex(of: rowID) }
    }

    private final class WatchedSegment: Segment {
        let base: any Segment
        let table: Watched
        init(_ base: any Segment, _ table: Watched) { (self.base, self.table) = (base, table) }
        var rowCount: Int { base.rowCount }
        var live: Bits? { base.live }
        func rowID(at position: Int) throws(Damage) -> Int64 { try base.rowID(at: position) }
        func position(of rowID: Int64) throws(Damage) -> Int? { try base.position(of: rowID) }
        func column(_ index: Int) throws(Damage) -> any ColumnReader {
            table.opened.withLock { _ = $0.insert(table.type.columns[index].name) }
            return try base.column(index)
        }
        func column(path: [Int]) throws(Damage) -> any ColumnReader { try base.column(path: path) }
        func storesSame(_ column: Int, as other: any Segment, _ otherColumn: Int) throws(Damage) -> Bool {
            try base.storesSame(column, as: (other as? WatchedSegment)?.base ?? other, otherColumn)
        }
    }

    private static let type = TypeSchema(
        "Row",
        columns: [
            column("id", .int, optional: false), column("code", .string, optional: false), column("part", .int, optional: false),
            column("city", .string), column("country", .string), column("price", .double), column("total", .double),
            column("day", .date), ColumnSchema("tags", ColumnType(.string, optional: true, collection: .list)),
        ])

    /// Rows in which countries follow from cities, and totals from prices.
    private func row(_ i: Int, _ dice: inout Random) -> [Value] {
        let city = dice.number(0...40), price = Double(dice.number(100...9999)) / 100
        return [
            .int(Int64(i)), .string("K\(1_000_000 + i)"), .int(Int64(i / 3)), city == 0 ? .null : .string("city \(city)"),
            .string("country \(city / 5)"), .double(price), .double((price * 200).rounded() / 100),
            .date(Timestamp(seconds: Int64(i / 50) * 86_400, nanoseconds: 0)),
            dice.number(0...9) == 0 ? .null : .list((0..<dice.number(0...2)).map { .string("t\($0)") }),
        ]
    }

    private func stored(_ rows: [[Value]], _ path: String) throws -> any Table {
        let database = try Database.create(path: path)
        let transaction = try database.begin()
        try transaction.extendSchema([Self.type])
        try transaction.bulkWriter("Row").append(RandomTables.batch(rows, of: Self.type, in: Schema([Self.type])))
        try transaction.commit()
        return try #require(try database.snapshot().table(named: "Row"))
    }

    @Test func `a change of one column of another file opens no other column than that and the key`() throws {
        let folder = TemporaryFolder()
        var dice = Random(Seed(1))
        let rows = (0..<70_000).map { row($0, &dice) }
        var changed = rows
        for i in [0, 5000, 69_999] { changed[i][5] = .double(0.5) }
        let old = Watched(try stored(rows, folder.file("a.firn"))), new = Watched(try stored(changed, folder.file("b.firn")))
        let result = try difference(old, new) { $0.key = ["id"] }
        #expect(try lines(result) == ["~0 price", "~5000 price", "~69999 price"])
        // Totals can be stored as what they differ by from prices.
        #expect(new.opened.withLock { $0 }.subtracting(["id", "price", "total"]).isEmpty)
        #expect(new.opened.withLock { $0.contains("price") })
    }

    @Test(arguments: Seed.first(24)) func `files are compared as tables in memory are`(seed: Seed) throws {
        let folder = TemporaryFolder()
        var dice = Random(seed)
        let number = Int(seed.number), count = number % 8 == 0 ? 66_500 : dice.number(1...5000)
        let rows = (0..<count).map { row($0 * 2, &dice) }
        var changed = rows
        for _ in 0..<dice.number(0...6) {
            let i = dice.number(0...count - 1), source = row(dice.number(0...count), &dice)
            let column = dice.number(3...8)
            changed[i][column] = source[column]
        }
        switch number % 4 {
        case 0: break
        case 1:
            let start = dice.number(0...count - 1)
            changed.removeSubrange(start..<min(count, start + dice.number(1...600)))
        case 2: for _ in 0..<dice.number(1...400) { changed.insert(row(2 * dice.number(0...count) + 1, &dice), at: dice.number(0...count)) }
        default: changed.shuffle(using: &dice)
        }
        let old = try stored(rows, folder.file("a.firn")), new = try stored(changed, folder.file("b.firn"))
        let key = [["id"], ["code"], ["part", "id"], ["day", "code"]][number / 4 % 4]
        func compare(_ old: any Table, _ new: any Table) throws -> [String] {
            let result = try difference(old, new) {
                $0.key = key
                $0.duplicates = .takeFirst
                $0.execution.threads = 1 + number % 2
                $0.execution.hashMask = [UInt64.max, 0xFF00_0000_0000_0003, UInt64.max][number % 3]
            }
            return try lines(result) + ["\(result.added) \(result.removed) \(result.unchanged) \(result.leftOutOld) \(result.leftOutNew)"]
        }
        let expected = try compare(table(Self.type.columns, rows, batch: 777), table(Self.type.columns, changed, batch: 1000))
        #expect(try compare(old, new) == expected, "seed \(seed)")
    }
}
