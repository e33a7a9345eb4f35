import FirnBytes
import FirnKit
import FirnTable
import Testing

@testable import FirnQuery

/// Sums of doubles in the order of the rows are those of a loop, bit by bit.
@Suite struct OrderedSumTests {
    private static let type = TypeSchema(
        "R",
        columns: [
            ColumnSchema("g", ColumnType(.int, optional: true)), ColumnSchema("d", ColumnType(.double, optional: true)),
            ColumnSchema("e", ColumnType(.double)), ColumnSchema("f", ColumnType(.float)),
        ])

    /// A sum as SQLite computes it, without and with compensation.
    private struct Loop {
        var sum = 0.0, plain = 0.0, error = 0.0, count = 0

        mutating func add(_ x: Double) {
            plain += x
            let next = sum + x
            error += abs(sum) > abs(x) ? (sum - next) + x : (x - next) + sum
            sum = next
            count += 1
        }

        func total(_ summation: Aggregate.Summation) -> Double {
            guard summation == .compensated else { return plain }
            return error.isFinite ? sum + error : sum
        }
    }

    @Test(arguments: Seed.some(1, 2, 3, 4, 5, 6)) func `sums in the order of the rows equal those of a loop, with and without compensation`(
        seed: Seed
    ) throws {
        var random = Random(seed), rows: [[Value]] = [], batches: [Batch] = []
        let hasInfinity = seed.number % 3 == 0, groups = [1, 5, 300][Int(seed.number) % 3]
        func number() -> Double {
            if hasInfinity, random.below(3000) == 0 { return random.bool() ? .infinity : -.infinity }
            return Double(Int(random.below(2_000_001)) - 1_000_000) / 100 * [1, 1, 1e-8, 1e12][random.below(4)]
        }
        for _ in 0..<3 {
            var batch = Batch(Self.type, in: Schema([Self.type]))
            for _ in 0..<(1 + random.below(4000)) {
                let row: [Value] = [
                    random.below(9) == 0 ? .null : .int(Int64(random.below(groups))), random.below(5) == 0 ? .null : .double(number()),
                    .double(number()), .float(Float(random.below(100)) / 10),
                ]
                for (i, value) in row.enumerated() { batch.columns[i].append(value) }
                batch.count += 1
                rows.append(row)
            }
            batches.append(batch)
        }
        let table = MemoryTable(Self.type, schema: Schema([Self.type]), batches: batches)
        for (filter, holds) in [
            ("TRUEPREDICATE", { _ in true }), ("f > 3", { row in row[3].number ?? 0 > 3 }),
            ("f > 9.5", { row in row[3].number ?? 0 > 9.5 }),
        ] as [(String, ([Value]) -> Bool)] {
            for summation in [Aggregate.Summation.inOrder, .compensated] {
                for keys in [[], ["g"]] {
                    var aggregates: [Aggregate] = []
                    for name in ["d", "e", "f"] {
                        aggregates += [Aggregate(.sum, name, summation: summation), Aggregate(.avg, name, summation: summation)]
                    }
                    let request = QueryRequest(filter: filter, groupBy: keys, aggregates: aggregates)
                    let run = try QueryRun(request, table: table, threads: 3)
                    var expected: [Value: [Loop]] = keys.isEmpty ? [.null: [Loop(), Loop(), Loop()]] : [:]
                    for row in rows where holds(row) {
                        let key = keys.isEmpty ? Value.null : row[0]
                        for i in 0..<3 { if let x = row[i + 1].number { expected[key, default: [Loop(), Loop(), Loop()]][i].add(x) } }
                    }
                    var found = 0
                    try run.forEachBatch { batch in
                        for group in 0..<batch.count {
                            let key = keys.isEmpty ? Value.null : batch.columns[0].value(at: group), loops = expected[key]!
                            for i in 0..<3 {
                                let sum = batch.columns[keys.count + 2 * i].value(at: group), total = loops[i].total(summation)
                                #expect(
                                    sum.number?.bitPattern == total.bitPattern || total.isNaN, "\(filter) \(summation) \(keys) \(key) \(i)")
                                let mean = batch.columns[keys.count + 2 * i + 1].value(at: group).number ?? 0
                                let wanted = loops[i].count == 0 ? 0 : total / Double(loops[i].count)
                                #expect(mean == wanted || wanted.isNaN, "\(filter) \(summation) \(keys) \(key) \(i)")
                            }
                        }
                        found += batch.count
                        return true
                    }
                    #expect(found == expected.count)
                }
            }
        }
    }
}
