import FirnBytes
import FirnChange
import FirnModel
import Testing

@Suite struct DifferenceTests {
    let columns = [column("id", .int), column("name", .string), column("score", .double)]

    @Test func `rows are told apart by key whatever their order`() throws {
        let old = table(columns, [[.int(1), .string("a"), .double(1)], [.int(2), .string("b"), .double(2)], [.int(3), .string("c"), .double(3)],
                                  [.int(4), .string("d"), .double(4)]])
        let new = table(columns, [[.int(5), .string("e"), .double(5)], [.int(4), .string("d"), .double(4)], [.int(3), .string("C"), .double(9)],
                                  [.int(1), .string("a"), .null]])
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
        #expect(try lines(difference(old, new) { $0.key = ["id"]; $0.kinds = [.added] }) == ["+3"])
        #expect(try lines(difference(old, new) { $0.key = ["id"]; $0.kinds = [.removed] }) == ["-2"])
        #expect(try lines(difference(old, new) { $0.key = ["id"]; $0.kinds = [.changed]; $0.columns = ["score"] }) == ["~1 score"])
        #expect(try lines(difference(old, new) { $0.key = ["id"]; $0.ignore = ["score"] }) == ["-2", "~1 name", "+3"])
        #expect(try lines(difference(old, new) { $0.key = ["id"]; $0.tolerance = 0.1 }) == ["-2", "~1 name", "+3"])
        #expect(try lines(difference(old, new) { $0.key = ["id"]; $0.tolerance = 0.01 }) == ["-2", "~1 name score", "+3"])
    }

    @Test func `rows outside the chosen ones are not there`() throws {
        let rows: [[Value]] = (0..<10).map { [.int($0), .string("x"), .double(0)] }
        let old = table(columns, rows), new = table(columns, rows.reversed())
        let result = try difference(old, new) {
            $0.key = ["id"]
            $0.rows = { side, table, index throws(FirnError) in
                do throws(Damage) {
                    let segment = try table.segment(index), reader = try segment.column(0)
                    var bits = Bits(count: segment.rowCount)
                    for row in 0..<segment.rowCount { if case .int(let x) = try reader.value(at: row) { bits[row] = x < 5 || (side == .new && x == 9) } }
                    return bits
                } catch { throw FirnError(.damaged, error.what) }
            }
        }
        #expect(try lines(result) == ["+9"])
        #expect(result.unchanged == 5)
    }

    @Test func `the key of the type is used, and without one the error proposes one`() throws {
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
        let twice = unique + [[.int(3), .string("again"), .double(0)], [.null, .string("none"), .null], [.null, .string("none"), .null], [.int(3), .null, .null]]
        for (old, new, name) in [(twice, unique, "a.csv"), (unique, twice, "b.csv")] {
            let error = #expect(throws: FirnError.self) {
                try difference(table(columns, old), table(columns, new)) { $0.key = ["id"]; $0.oldName = "a.csv"; $0.newName = "b.csv"; $0.hashMask = mask }
            }
            #expect(error?.code == .duplicateKey)
            #expect(error?.place?.file == name)
            #expect(error?.message == "the key id is not unique: 2 keys stand in more than one row: id = 3 in rows 4, 8, 11; id = null in rows 9, 10")
        }
        let first = try difference(table(columns, twice), table(columns, unique)) { $0.key = ["id"]; $0.duplicates = .takeFirst; $0.hashMask = mask }
        #expect(try lines(first) == ["-null"])
        #expect((first.leftOutOld, first.leftOutNew, first.unchanged) == (3, 0, 7))
        let last = try difference(table(columns, unique), table(columns, twice)) { $0.key = ["id"]; $0.duplicates = .takeFirst; $0.hashMask = mask }
        #expect(try lines(last) == ["+null"])
        #expect((last.leftOutOld, last.leftOutNew, last.unchanged) == (0, 3, 7))
    }

    @Test func `differences of the columns stand apart`() throws {
        let old = table([column("id", .int), column("a", .int), column("b", .string), column("c", .bool)], [[.int(1), .int(2), .string("x"), .bool(true)]])
        let new = table([column("id", .int), column("b", .string), column("a", .double), column("d", .bool)], [[.int(1), .string("x"), .double(2), .bool(true)]])
        let result = try difference(old, new) { $0.key = ["id"] }
        #expect(result.schema.added.map(\.name) == ["d"])
        #expect(result.schema.removed.map(\.name) == ["c"])
        #expect(result.schema.reordered)
        #expect(result.schema.retyped.map(\.name) == ["a"])
        #expect(result.changed == 0)
        #expect(!result.isEmpty)
    }

    @Test func `tables without rows compare`() throws {
        let none = table(columns, []), one = table(columns, [[.int(1), .null, .null]])
        #expect(try difference(none, none) { $0.key = ["id"] }.isEmpty)
        #expect(try lines(difference(none, one) { $0.key = ["id"] }) == ["+1"])
        #expect(try lines(difference(one, none) { $0.key = ["id"] }) == ["-1"])
    }
}
