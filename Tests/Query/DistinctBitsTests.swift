import FirnBytes
import FirnKit
import FirnTable
import Testing

@testable import FirnQuery

/// Distinct values of one group that are counted with one bit each.
struct DistinctBitsTests {
    @Test func `a set of bits has the words that were added, and refuses a range that is too large`() {
        for seed in Seed.first(Tier.cases(60, of: 2_000)) {
            var random = Random(seed), sets = [DistinctBits(), DistinctBits()], models = [Set<Int64>(), Set<Int64>()]
            let centre = [0, Int64.min, Int64.max, -1, 1 << 40, Int64.min + 77, Int64.max - 64][random.below(7)]
            for _ in 0..<20 {
                let at = random.below(2), spread = [1, 63, 65, 5_000, DistinctBits.most - 70, DistinctBits.most, 1 << 40][random.below(7)]
                let words = (0..<random.below(5)).map { _ in
                    let distance = Int64(random.below(spread))
                    let (word, overflow) =
                        random.below(2) == 0
                        ? centre.addingReportingOverflow(distance)
                        : centre.subtractingReportingOverflow(distance)
                    return overflow ? centre : word
                }
                let before = sets[at].words
                if sets[at].insert(words) {
                    models[at].formUnion(words)
                } else {
                    #expect(sets[at].words == before, "\(seed)")
                }
                let all = models[at].union(words)
                if let least = all.min(), let greatest = all.max(), greatest.subtractingReportingOverflow(least).overflow {
                    #expect(all != models[at], "\(seed)")
                }
                #expect(sets[at].words == models[at].sorted() && sets[at].count == models[at].count, "\(seed)")
            }
            if sets[0].formUnion(sets[1]) { models[0].formUnion(models[1]) }
            #expect(sets[0].words == models[0].sorted(), "\(seed)")
        }
    }

    /// Values of which there are too many for one small table: each list is a kind of column, and its parts follow each other.
    static let kinds: [(name: String, type: ColumnType, parts: [@Sendable (inout Random) -> Value])] = [
        ("integers in a range", ColumnType(.int, optional: true), [{ .int(Int64($0.below(1 << 24))) }]),
        (
            "integers that leave the range", ColumnType(.int),
            [{ .int(Int64($0.below(1 << 24))) }, { .int(Int64(bitPattern: UInt64($0.below(1 << 62))) - (1 << 61)) }]
        ),
        ("decimals", ColumnType(.double, optional: true), [{ .double(Double($0.below(9_000_000) - 4_000_000) / 100) }]),
        (
            "decimals of more and more digits", ColumnType(.double),
            [
                { .double(Double($0.below(90_000))) }, { .double(Double($0.below(90_000)) / 10) },
                { .double(Double($0.below(900_000)) / 10_000) },
            ]
        ),
        (
            "many whole numbers, then decimals of few digits and of more", ColumnType(.double, optional: true),
            [
                { .double(Double($0.below(40_000) - 20_000)) }, { .double(Double($0.below(400_000) - 200_000) / 10) },
                { .double(Double($0.below(9_000_000) - 4_500_000) / 1_000) },
            ]
        ),
        (
            "decimals, zeros of both signs and other doubles", ColumnType(.double),
            [
                { .double($0.below(9) == 0 ? -0.0 : Double($0.below(90_000)) / 10) },
                { [.double(.nan), .double(.infinity), .double(1e300), .double(-0.0), .double(Double($0.below(999)) / 7)][$0.below(5)] },
            ]
        ),
        ("texts", ColumnType(.string, optional: true), [{ .string("text \($0.below(1 << 20))") }]),
    ]

    @Test(arguments: kinds.map(\.name), [1, 2, 3])
    func `many distinct values of one group are counted as a set counts them`(kind: String, threads: Int) throws {
        let (_, valueType, parts) = try #require(Self.kinds.first { $0.name == kind })
        let type = TypeSchema("R", columns: [ColumnSchema("v", valueType)])
        var random = Random(seed: 5), batches: [Batch] = [], met: Set<Value> = []
        for b in 0..<12 {
            var batch = Batch(type, in: Schema([type]))
            for _ in 0..<4_000 {
                let value = valueType.isOptional && random.below(50) == 0 ? .null : parts[b * parts.count / 12](&random)
                batch.columns[0].append(value)
                batch.count += 1
                switch value {
                case .null: break
                // NaN is one value, and so is zero.
                case .double(let number): met.insert(number.isNaN ? .string("NaN") : .double(number == 0 ? 0 : number))
                default: met.insert(value)
                }
            }
            batches.append(batch)
        }
        #expect(met.count > PartNumbers.minimumKeys)
        let request = QueryRequest(aggregates: try Aggregate.list("count(distinct v)"))
        var counts: [Value] = []
        try QueryRun(request, table: MemoryTable(type, schema: Schema([type]), batches: batches), threads: threads).forEachBatch { batch in
            for r in 0..<batch.count { counts.append(batch.columns[0].value(at: r)) }
            return true
        }
        #expect(counts == [.int(Int64(met.count))])
    }
}
