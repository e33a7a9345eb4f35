import FirnBytes
import FirnKit
import FirnTable
import FirnThreads
import Testing

@testable import FirnQuery

/// Tens of thousands of groups and of distinct values, which are looked up in batches that are sorted by table.
struct ManyGroupsTests {
    /// Numbers, texts with nulls, and doubles; `clustered` puts equal numbers in consecutive rows.
    private static func batches(_ type: TypeSchema, segments: Int, rows: Int, clustered: Bool, seed: UInt64) -> [Batch] {
        var random = Random(seed: seed), n = 0
        return (0..<segments).map { segment in
            var batch = Batch(type, in: Schema([type]))
            var present = Bits(repeating: true, count: rows)
            for row in 0..<rows {
                n = clustered ? n + (random.below(3) == 0 ? 1 : 0) : random.below(60_000)
                batch.columns[0].words.append(Int64(n) * 1_000)
                batch.columns[1].text.append("text \(random.below(40_000))")
                if random.below(50) == 0 { present[row] = false }
                batch.columns[2].reals.append(Double(random.below(1_000)))
            }
            for i in 0..<3 { batch.columns[i].count = rows }
            batch.columns[1].present = present
            batch.count = rows
            return batch
        }
    }

    private static let type = TypeSchema(
        "R",
        columns: [
            ColumnSchema("n", ColumnType(.int)), ColumnSchema("t", ColumnType(.string, optional: true)),
            ColumnSchema("x", ColumnType(.double)),
        ])

    private struct Figures {
        var count = 0, sum = 0.0, least = Double.infinity, texts: Set<Value> = []
    }

    @Test(arguments: [(["t"], false), (["n"], false), (["n"], true), (["n", "t"], true), (["t", "n"], false)])
    func `many groups have the figures and the order of their first rows`(of given: (keys: [String], clustered: Bool)) throws {
        let columns = given.keys.map { $0 == "n" ? 0 : 1 }
        let batches = Self.batches(Self.type, segments: 15, rows: 20_000, clustered: given.clustered, seed: 5)
        var expected: [[Value]: Figures] = [:], order: [[Value]] = []
        for batch in batches {
            for row in 0..<batch.count where batch.columns[2].reals[row] < 900 {
                let key = columns.map { batch.columns[$0].value(at: row) }
                if expected[key] == nil { order.append(key) }
                let x = batch.columns[2].reals[row], text = batch.columns[1].value(at: row)
                expected[key, default: Figures()].count += 1
                expected[key]!.sum += x
                expected[key]!.least = min(expected[key]!.least, x)
                if !text.isNull { expected[key]!.texts.insert(text) }
            }
        }
        let table = MemoryTable(Self.type, schema: Schema([Self.type]), batches: batches)
        var request = QueryRequest(
            filter: "x < 900", groupBy: given.keys,
            aggregates: try Aggregate.list("count, sum(x) as s, min(x) as m, count(distinct t) as d"))
        func rows(threads: Int) throws -> [[Value]] {
            var rows: [[Value]] = []
            try QueryRun(request, table: table, threads: threads).forEachBatch { batch in
                for row in 0..<batch.count { rows.append(batch.columns.map { $0.value(at: row) }) }
                return true
            }
            return rows
        }
        let all = order.map { key in
            let figures = expected[key]!
            return key + [.int(Int64(figures.count)), .double(figures.sum), .double(figures.least), .int(Int64(figures.texts.count))]
        }
        for threads in [1, 3] { #expect(try rows(threads: threads) == all, "\(threads) threads") }
        // The keys of only a few groups are read.
        request.sort = [.init("count", ascending: false), .init("s")]
        (request.limit, request.offset) = (20, 7)
        let sum = columns.count + 1,
            sorted = all.enumerated().sorted { a, b in
                let (c, d) = (a.element[columns.count], b.element[columns.count])
                if c != d { return Value.order(c, d) > 0 }
                let sums = Value.order(a.element[sum], b.element[sum])
                return sums == 0 ? a.offset < b.offset : sums < 0
            }
        for threads in [1, 3] { #expect(try rows(threads: threads) == sorted[7..<27].map(\.element), "\(threads) threads") }
    }

    @Test(arguments: [ScalarKind.int, .double, .string, .date], [1.0, 0.95])
    func `many values have the same numbers in batches of any size, and after merging, as one by one`(kind: ScalarKind, share: Double) {
        for seed in Seed.first(Tier.cases(1, of: 6)) {
            var random = Random(seed)
            let type = ColumnType(kind, optional: share < 1)
            var one = ValueNumbering(type), many = ValueNumbering(type), other = ValueNumbering(type), expected: [UInt32] = []
            for _ in 0..<6 {
                var values: [Value] = []
                for _ in 0..<[300, 9_000, 25_000][random.below(3)] {
                    let isRepeated = random.below(3) == 0 && !values.isEmpty
                    let isPresent = Double(random.below(100)) < share * 100
                    values.append(
                        isRepeated ? values[values.count - 1] : isPresent ? NumberingTests.value(kind, &random, among: 60_000) : .null)
                }
                let column = NumberingTests.column(type, values), rows = (0..<Int32(values.count)).map { $0 }
                expected = rows.map { one.number(column, Int($0)) }
                for threads in [1, 2] {
                    var numbers = [UInt32](repeating: 0, count: rows.count)
                    rows.withUnsafeBufferPointer { rows in
                        numbers.withUnsafeMutableBufferPointer { many.numbers(column, rows, into: $0.baseAddress!, threads: threads) }
                    }
                    #expect(numbers == expected, "seed \(seed)")
                }
                if random.below(2) == 0 {
                    rows.withUnsafeBufferPointer { rows in
                        var numbers = [UInt32](repeating: 0, count: rows.count)
                        numbers.withUnsafeMutableBufferPointer { other.numbers(column, rows, into: $0.baseAddress!) }
                    }
                }
            }
            let a = one.values, b = many.values
            #expect(a.count == b.count)
            #expect((0..<a.count).allSatisfy { Value.order(a.value(at: $0), b.value(at: $0)) == 0 }, "seed \(seed)")
            let known = other.values, mapped = other.numbers(of: many, threads: 2), merged = other.values
            #expect((0..<known.count).allSatisfy { Value.order(known.value(at: $0), merged.value(at: $0)) == 0 }, "seed \(seed)")
            #expect(mapped.indices.allSatisfy { Value.order(merged.value(at: Int(mapped[$0])), b.value(at: $0)) == 0 }, "seed \(seed)")
        }
    }

    @Test func `a batch of a scratch memory has arrays that do not overlap, and a larger batch gets more memory`() {
        let scratch = Scratch()
        for size in [10, 100_000, 1_000, 3_000_000] {
            scratch.begin(arrays: 3, bytes: size * 13)
            let words = scratch.array(size, of: Int64.self), flags = scratch.array(size, of: UInt8.self)
            let numbers = scratch.array(size, of: UInt32.self)
            for i in 0..<size { (words[i], flags[i], numbers[i]) = (Int64(i), UInt8(i & 255), UInt32(i)) }
            #expect((0..<size).allSatisfy { words[$0] == $0 && flags[$0] == UInt8($0 & 255) && numbers[$0] == $0 })
            #expect(Int(bitPattern: words) % 64 == 0 && Int(bitPattern: flags) % 64 == 0 && scratch.count >= size * 13)
        }
    }
}
