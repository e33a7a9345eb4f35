import FirnBytes
import FirnChange
import FirnTable
import Testing

@Suite struct DifferenceTests {
    let columns = [column("id", .int), column("name", .string), column("score", .double)]

    @Test func `tables with more segments than a row number can address are refused on either side`() throws {
        let columns = [column("id", .int)], few = table(columns, [[.int(1)]], key: ["id"]),
            many = table(columns, (0...65_536).map { [.int(Int64($0 % 65_536))] }, key: ["id"], batch: 1)
        for (old, new) in [(few, many), (many, few)] {
            #expect { try difference(old, new) } throws: {
                ($0 as? FirnError)?.code == .unsupported && ($0 as? FirnError)?.advice?.contains("firn compact") ?? false
            }
        }
    }

    @Test func `rows are matched by key in any order`() throws {
        let old = table(
            columns,
            [
                [.int(1), .string("a"), .double(1)], [.int(2), .string("b"), .double(2)], [.int(3), .string("c"), .double(3)],
                [.int(4), .string("d"), .double(4)],
            ])
        let new = table(
            columns,
            [
                [.int(5), .string("e"), .double(5)], [.int(4), .string("d"), .double(4)], [.int(3), .string("C"), .double(9)],
                [.int(1), .string("a"), .null],
            ])
        let result = try difference(old, new) { $0.key = ["id"] }
        #expect(try lines(result) == ["-2", "+5", "~3 name score", "~1 score"])
        #expect((result.added, result.removed, result.changed, result.changedCells, result.unchanged) == (1, 1, 2, 3, 1))
        #expect(result.columns.map(\.changed) == [1, 2])
        #expect(!result.isEmpty)
        #expect(try difference(old, old) { $0.key = ["id"] }.isEmpty)
    }

    @Test func `the options choose kinds, columns and a tolerance`() throws {
        let old = table(columns, [[.int(1), .string("a"), .double(1)], [.int(2), .string("b"), .double(2)]])
        let new = table(columns, [[.int(1), .string("A"), .double(1.05)], [.int(3), .string("b"), .double(2)]])
        #expect(
            try lines(
                difference(old, new) {
                    $0.key = ["id"]; $0.kinds = [.added]
                }) == ["+3"])
        #expect(
            try lines(
                difference(old, new) {
                    $0.key = ["id"]; $0.kinds = [.removed]
                }) == ["-2"])
        #expect(
            try lines(
                difference(old, new) {
                    $0.key = ["id"]; $0.kinds = [.changed]; $0.columns = ["score"]
                }) == ["~1 score"])
        #expect(
            try lines(
                difference(old, new) {
                    $0.key = ["id"]; $0.ignore = ["score"]
                }) == ["-2", "~1 name", "+3"])
        #expect(
            try lines(
                difference(old, new) {
                    $0.key = ["id"]; $0.tolerance = 0.1
                }) == ["-2", "~1 name", "+3"])
        #expect(
            try lines(
                difference(old, new) {
                    $0.key = ["id"]; $0.tolerance = 0.01
                }) == ["-2", "~1 name score", "+3"])
    }

    @Test func `rows outside the selection are ignored`() throws {
        let rows: [[Value]] = (0..<10).map { [.int($0), .string("x"), .double(0)] }
        let old = table(columns, rows), new = table(columns, rows.reversed())
        let result = try difference(old, new) {
            $0.key = ["id"]
            $0.scope.rows = { side, table, index throws(FirnError) in
                do throws(Damage) {
                    let segment = try table.segment(index), reader = try segment.column(0)
                    var bits = Bits(count: segment.rowCount)
                    for row in 0..<segment.rowCount {
                        if case .int(let x) = try reader.value(at: row) { bits[row] = x < 5 || (side == .new && x == 9) }
                    }
                    return bits
                } catch { throw FirnError(.damaged, error.what) }
            }
        }
        #expect(try lines(result) == ["+9"])
        #expect(result.unchanged == 5)
    }

    @Test func `the key of the type is used, and the error for a type without one proposes a key`() throws {
        let rows: [[Value]] = [[.int(1), .string("a"), .null], [.int(1), .string("b"), .null], [.int(2), .string("a"), .null]]
        #expect(try difference(table(columns, rows, key: ["id", "name"]), table(columns, rows)).unchanged == 3)
        let error = #expect(throws: FirnError.self) { try difference(table(columns, rows), table(columns, rows)) }
        #expect(error?.code == .usage)
        #expect(error?.advice?.hasSuffix("--key id,name") == true)
        let unknown = #expect(throws: FirnError.self) { try difference(table(columns, rows), table(columns, rows)) { $0.key = ["nam"] } }
        #expect(unknown?.code == .usage)
    }

    @Test(arguments: [UInt64.max, 3, 0]) func `a repeated key is an error that names the side, the keys and the rows`(mask: UInt64) throws {
        let unique: [[Value]] = (0..<7).map { [.int($0), .string("n\($0)"), .double(0)] }
        let twice =
            unique + [
                [.int(3), .string("again"), .double(0)], [.null, .string("none"), .null], [.null, .string("none"), .null],
                [.int(3), .null, .null],
            ]
        for (old, new, name) in [(twice, unique, "a.csv"), (unique, twice, "b.csv")] {
            let error = #expect(throws: FirnError.self) {
                try difference(table(columns, old), table(columns, new)) {
                    $0.key = ["id"]; $0.oldName = "a.csv"; $0.newName = "b.csv"; $0.execution.hashMask = mask
                }
            }
            #expect(error?.code == .duplicateKey)
            #expect(error?.location?.file == name)
            #expect(
                error?.message
                    == "the key \"id\" is not unique (2 keys occur more than once): id = 3 is in rows 4, 8 and 11; id = null is in rows 9 and 10"
            )
        }
        let many = unique + Array(repeating: [.int(3), .null, .null], count: 5)
        for (rows, list) in [(Array(many.prefix(8)), "4 and 8"), (many, "4, 8, 9, 10, 11 and 1 other")] {
            let error = #expect(throws: FirnError.self) {
                try difference(table(columns, unique), table(columns, rows)) {
                    $0.key = ["id"]; $0.execution.hashMask = mask
                }
            }
            #expect(error?.message == "the key \"id\" is not unique: id = 3 is in rows \(list)")
        }
        let first = try difference(table(columns, twice), table(columns, unique)) {
            $0.key = ["id"]; $0.duplicates = .takeFirst; $0.execution.hashMask = mask
        }
        #expect(try lines(first) == ["-null"])
        #expect((first.leftOutOld, first.leftOutNew, first.unchanged) == (3, 0, 7))
        let last = try difference(table(columns, unique), table(columns, twice)) {
            $0.key = ["id"]; $0.duplicates = .takeFirst; $0.execution.hashMask = mask
        }
        #expect(try lines(last) == ["+null"])
        #expect((last.leftOutOld, last.leftOutNew, last.unchanged) == (0, 3, 7))
    }

    @Test func `differences of the columns are reported separately from those of rows`() throws {
        let old = table(
            [column("id", .int), column("a", .int), column("b", .string), column("c", .bool)],
            [[.int(1), .int(2), .string("x"), .bool(true)]])
        let new = table(
            [column("id", .int), column("b", .string), column("a", .double), column("d", .bool)],
            [[.int(1), .string("x"), .double(2), .bool(true)]])
        let result = try difference(old, new) { $0.key = ["id"] }
        #expect(result.schema.added.map(\.name) == ["d"])
        #expect(result.schema.removed.map(\.name) == ["c"])
        #expect(result.schema.reordered)
        #expect(result.schema.retyped.map(\.name) == ["a"])
        #expect(result.changed == 0)
        #expect(!result.isEmpty)
    }

    @Test func `tables without rows can be compared`() throws {
        let none = table(columns, []), one = table(columns, [[.int(1), .null, .null]])
        #expect(try difference(none, none) { $0.key = ["id"] }.isEmpty)
        #expect(try lines(difference(none, one) { $0.key = ["id"] }) == ["+1"])
        #expect(try lines(difference(one, none) { $0.key = ["id"] }) == ["-1"])
    }

    @Test func `rows that two versions share are not read`() throws {
        let rows: [[Value]] = (0..<3000).map { [.int($0), .string("n\($0)"), .double(Double($0))] }
        var later = rows
        later[5][1] = .string("other")
        later[2000][0] = .int(9000)
        let old = table(columns, rows, key: ["id"], batch: 1500), new = table(columns, later, key: ["id"], batch: 1500)
        let after = Version(new) { segment in
            var bits = Bits(count: 1500)
            bits[segment == 0 ? 5 : 500] = true
            return bits
        }
        let result = try difference(old, after)
        #expect(try lines(result) == ["-2000", "~5 name", "+9000"])
        #expect(result.unchanged == 2998)
        // In vectors without a changed row only the key is read.
        #expect(after.read.filter { $0 == "1 score" || $0 == "1 name" }.isEmpty && after.read.contains("0 name"))
        #expect(try difference(old, old).unchanged == 3000)
        // A changed row with the key of a shared row is a duplicate key.
        later[2000][0] = .int(7)
        let twice = Version(table(columns, later, key: ["id"], batch: 1500), after.differing)
        #expect(#expect(throws: FirnError.self) { try difference(old, twice) }?.code == .duplicateKey)
        // A key other than that of the type may have duplicates, so every row is counted.
        #expect(try difference(old, after) { $0.key = ["name"] }.unchanged == 2998)
    }
}

/// A table whose segments report which rows may differ. Records the vectors that are read.
private final class Version: Table, @unchecked Sendable {
    let base: MemoryTable
    let differing: (Int) -> Bits
    var read: [String] = []

    init(_ base: MemoryTable, _ differing: @escaping (Int) -> Bits) {
        self.base = base
        self.differing = differing
    }

    var type: TypeSchema { base.type }
    var schema: Schema { base.schema }
    var rowCount: Int { base.rowCount }
    var segmentCount: Int { base.segmentCount }
    func segment(_ index: Int) throws(Damage) -> any Segment { Part(try base.segment(index), self, index) }
    func segmentIndex(of rowID: Int64) throws(Damage) -> Int? { try base.segmentIndex(of: rowID) }

    private final class Part: Segment, @unchecked Sendable {
        let base: any Segment, version: Version, index: Int
        init(_ base: any Segment, _ version: Version, _ index: Int) { (self.base, self.version, self.index) = (base, version, index) }
        var rowCount: Int { base.rowCount }
        var live: Bits? { base.live }
        func rowID(at position: Int) throws(Damage) -> Int64 { try base.rowID(at: position) }
        func position(of rowID: Int64) throws(Damage) -> Int? { try base.position(of: rowID) }
        func column(_ index: Int) throws(Damage) -> any ColumnReader {
            Reader(try base.column(index), version, version.type.columns[index].name)
        }
        func column(path: [Int]) throws(Damage) -> any ColumnReader { try base.column(path: path) }
        func rowsThatMayDiffer(from other: any Segment) throws(Damage) -> Bits? { version.differing(index) }
    }

    private final class Reader: ColumnReader, @unchecked Sendable {
        let base: any ColumnReader, version: Version, name: String
        init(_ base: any ColumnReader, _ version: Version, _ name: String) { (self.base, self.version, self.name) = (base, version, name) }
        var type: ColumnType { base.type }
        var rowCount: Int { base.rowCount }
        func zone() -> Zone? { nil }
        func zone(ofVector vector: Int) -> Zone? { nil }
        func read(vector: Int, into column: inout Column) throws(Damage) {
            version.read.append("\(vector) \(name)")
            try base.read(vector: vector, into: &column)
        }
        func value(at row: Int) throws(Damage) -> Value { try base.value(at: row) }
        func dictionary() throws(Damage) -> Text? { nil }
        func readCodes(vector: Int, into column: inout Column) throws(Damage) { preconditionFailure("no dictionary") }
    }
}
