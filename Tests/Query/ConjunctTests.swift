import FirnBytes
import FirnKit
import FirnTable
import Testing

@testable import FirnQuery

/// The conditions of an AND are evaluated in the order of the rows they exclude for their cost.
@Suite struct ConjunctTests {
    private static let count = 64 * vectorSize
    private static let type = TypeSchema(
        "T",
        columns: [
            ColumnSchema("a", ColumnType(.int)), ColumnSchema("b", ColumnType(.int)),
            ColumnSchema("c", ColumnType(.double, optional: true)), ColumnSchema("s", ColumnType(.string)),
        ])

    private static func table(_ seed: UInt64) -> any Table {
        var random = Random(seed: seed), batch = Batch(type, in: Schema([type]))
        for row in 0..<count {
            batch.columns[0].append(.int(Int64(random.below(1000))))
            // The second half differs: the condition that excluded most rows excludes few there.
            batch.columns[1].append(.int(Int64(random.below(row < count / 2 ? 1000 : 3))))
            batch.columns[2].append(random.below(5) == 0 ? .null : .double(Double(random.below(100)) / 4))
            batch.columns[3].append(.string("word \(random.below(300))"))
        }
        batch.count = count
        return MemoryTable(type, schema: Schema([type]), batches: [batch])
    }

    @Test func `the condition that excludes more rows is evaluated first once this is known`() throws {
        let run = try QueryRun(QueryRequest(filter: "a < 990 AND b == 5"), table: ConjunctTests.table(1))
        let found = try run.rowLocations()
        let tally = try #require(run.statistics.conjuncts[0])
        #expect(tally.seen[0] < 20 * vectorSize && tally.seen[1] > 60 * vectorSize, "\(tally)")
        #expect(tally.passed[0] >= found.count && tally.passed[0] + tally.passed[1] > found.count)
        let explained = run.explain()
        #expect(explained.contains("  b == 5  (zones, cost 1): \(tally.passed[1]) of \(tally.seen[1]) rows passed\n"), "\(explained)")
        #expect(try QueryRun(QueryRequest(filter: "b == 5 AND a < 990"), table: ConjunctTests.table(1)).count() == found.count)
    }

    @Test(arguments: Seed.some(2, 3, 4)) func `the order of conditions does not change the result`(seed: Seed) throws {
        var random = Random(seed, salt: 31)
        let table = ConjunctTests.table(seed.number)
        let parts = [
            "a < 900", "a != 5", "b == 1", "b > 0", "c > 3.5", "c == NULL OR b < 2", "NOT c < 20", "s CONTAINS '7'",
            "s ENDSWITH '1' OR a > 500", "s LIKE '* 1?'", "a + b > 400",
        ]
        var single: [String: Set<Int>] = [:]
        for part in parts { single[part] = Set(try QueryRun(QueryRequest(filter: part), table: table).rowLocations().map(\.position)) }
        for _ in 0..<12 {
            let chosen = (0..<(2 + random.below(4))).map { _ in parts[random.below(parts.count)] }
            let expected = chosen.dropFirst().reduce(single[chosen[0]]!) { $0.intersection(single[$1]!) }.sorted()
            let text = chosen.map { "(\($0))" }.joined(separator: " AND ")
            #expect(
                try QueryRun(QueryRequest(filter: text), table: table).rowLocations().map(\.position) == expected, "seed \(seed): \(text)")
            #expect(
                try QueryRun(QueryRequest(filter: "NOT (\(text))"), table: table, threads: 2).count() == ConjunctTests.count
                    - expected.count, "seed \(seed): \(text)")
        }
    }
}
