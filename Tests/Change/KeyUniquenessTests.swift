import FirnBytes
import FirnChange
import FirnKit
import FirnTable
import Testing

/// Keys of a whole load are checked in bounded memory.
@Suite struct KeyUniquenessTests {
    /// Returns the message of the error, or an empty text.
    private func message(_ table: any Table, passBytes: Int, mask: UInt64 = .max) throws -> String {
        var options = DifferenceOptions()
        options.newName = "a.csv"
        options.execution.threads = 2
        options.execution.hashMask = mask
        do {
            try KeyUniqueness.check(table, options: options, passBytes: passBytes)
            return ""
        } catch let error as FirnError { return "\(error)" }
    }

    /// The check by a comparison with an empty table.
    private func reference(_ table: any Table) throws -> String {
        var options = DifferenceOptions()
        options.newName = "a.csv"
        do {
            _ = try TableDifference.compute(old: MemoryTable(table.type, schema: table.schema, batches: []), new: table, options: options)
            return ""
        } catch let error as FirnError { return "\(error)" }
    }

    @Test(arguments: Seed.first(40)) func `repeated keys are found with any memory, and the error is the same`(seed: Seed) throws {
        var dice = Random(seed)
        let count = dice.number(0...400), range = dice.number(1...4) == 1 ? count + 1 : 1_000_000, isSorted = dice.number(0...1) == 0
        let columns = [column("id", .int), column("name", .string), column("score", .double), column("other", .int)]
        var rows = (0..<count).map { _ -> [Value] in
            [
                .int(Int64(dice.number(0...range))), dice.number(0...20) == 0 ? .null : .string("n\(dice.number(0...9))"),
                .double(Double(dice.number(-2...2))), .int(0),
            ]
        }
        if isSorted {
            rows.sort {
                nestedText($0[0]).count == nestedText($1[0]).count
                    ? nestedText($0[0]) < nestedText($1[0]) : nestedText($0[0]).count < nestedText($1[0]).count
            }
        }
        for key in [["id"], ["id", "name"], ["score", "id"], ["name"]] {
            let table = table(columns, rows, key: key, batch: [1, 7, 100, 1500][dice.number(0...3)]), expected = try reference(table)
            for (bytes, mask) in [(1 << 20, UInt64.max), (600, .max), (600, 0xF0F0_000F)] {
                #expect(try message(table, passBytes: bytes, mask: mask) == expected, "\(key) \(bytes)")
            }
        }
    }

    @Test func `keys of every kind ascend or are compared by hash`() throws {
        let id = { (n: Int) in Identifier(high: UInt64(n / 3), low: UInt64(n % 3)) }
        let values: [(ScalarKind, (Int) -> Value)] = [
            (.int, { .int(Int64($0)) }), (.string, { .string("k\($0 + 1000)") }), (.double, { .double(Double($0) / 2) }),
            (.date, { .date(Timestamp(seconds: Int64($0 / 2), nanoseconds: Int32($0 % 2))) }), (.uuid, { .uuid(id($0)) }),
            (.data, { .data([UInt8($0 / 256), UInt8($0 % 256)]) }), (.decimal, { .decimal(Decimal("\($0)")!) }),
        ]
        for (kind, value) in values {
            let columns = [column("k", kind, optional: false)], order = Array(0..<500)
            for numbers in [order, order.reversed(), order + [499], [0, 0]] {
                let table = table(columns, numbers.map { [value($0)] }, key: ["k"], batch: 64), expected = try reference(table)
                #expect(try message(table, passBytes: 2000) == expected, "\(kind)")
                #expect(expected.isEmpty == (Set(numbers).count == numbers.count))
            }
        }
    }
}
