import FirnBytes
import FirnKit
import FirnTable
import Testing

@testable import FirnQuery

/// The forms in which `IntegerNumbering` holds its words.
struct IntegerNumberingTests {
    /// How the words of a batch are drawn.
    private enum Kind: CaseIterable { case ascending, runs, small, moving, wide, extreme, repeated }

    private static func words(_ kind: Kind, _ count: Int, _ last: inout Int64, _ random: inout Random) -> [Int64] {
        (0..<count).map { _ in
            switch kind {
            case .ascending: last &+= Int64(random.below(40_000)) + 1
            case .runs: if random.below(4) == 0 { last &+= Int64(random.below(3)) }
            case .small: return Int64(random.below(9_000)) - 4_000
            case .moving:
                last &+= 1
                return last &- Int64(random.below(300))
            case .wide: return Int64(bitPattern: random.next())
            case .extreme: return [.min, .max, 0, -1, .min + 1, .max - 1][random.below(6)]
            case .repeated: return last
            }
            return last
        }
    }

    private static func numbers(_ words: [Int64], _ numbering: inout IntegerNumbering, _ threads: Int = 1) -> [UInt32] {
        [UInt32](unsafeUninitializedCapacity: words.count) { out, filled in
            words.withUnsafeBufferPointer { if let start = out.baseAddress { numbering.numbers($0, into: start, threads: threads) } }
            filled = words.count
        }
    }

    /// The plain method: a dictionary.
    private struct Model {
        var numbers: [Int64: UInt32] = [:]
        var keys: [Int64] = []

        mutating func number(_ word: Int64) -> UInt32 {
            if let number = numbers[word] { return number }
            let number = UInt32(keys.count)
            numbers[word] = number
            keys.append(word)
            return number
        }
    }

    @Test(arguments: Seed.first(40)) func `words get the same numbers in every form, and when the form changes`(seed: Seed) {
        var random = Random(seed), last = Int64(random.below(1_000_000)) - 500_000
        var numbering = IntegerNumbering(), model = Model(), pool: [Kind] = Kind.allCases.shuffled(using: &random)
        pool = Array(pool.prefix(1 + random.below(3)))
        for _ in 0..<8 {
            let kind = pool.randomElement(using: &random)!, count = [0, 1, 7, 1024, 9_000, 20_000][random.below(6)]
            let words = Self.words(kind, count, &last, &random), expected = words.map { model.number($0) }
            if random.below(4) == 0 {
                #expect(words.map { numbering.number($0) } == expected, "seed \(seed), \(kind)")
            } else {
                #expect(Self.numbers(words, &numbering, 2) == expected, "seed \(seed), \(kind)")
            }
            #expect(numbering.count == model.keys.count, "seed \(seed), \(kind)")
        }
        #expect(numbering.keys == model.keys, "seed \(seed)")
    }

    @Test(arguments: Seed.first(30)) func `the words of one numbering get their numbers in another, whatever the forms of both`(seed: Seed)
    {
        var random = Random(seed), last: Int64 = 0, parts: [IntegerNumbering] = []
        var model = Model()
        for _ in 0..<3 {
            var numbering = IntegerNumbering()
            let kind = Kind.allCases.randomElement(using: &random)!
            for _ in 0..<3 {
                _ = Self.numbers(Self.words(kind, [100, 9_000, 20_000][random.below(3)], &last, &random), &numbering)
            }
            parts.append(numbering)
        }
        var whole = IntegerNumbering()
        for part in parts {
            let found = [UInt32](unsafeUninitializedCapacity: part.count) { out, filled in
                whole.numbers(of: part, into: out.baseAddress!, threads: 2)
                filled = part.count
            }
            #expect(found == part.keys.map { model.number($0) }, "seed \(seed)")
        }
        #expect(whole.keys == model.keys, "seed \(seed)")
    }

    @Test func `words that ascend, or are in a small range, need no hash table`() {
        var ascending = IntegerNumbering(), small = IntegerNumbering(), wide = IntegerNumbering(), random = Random(seed: 3)
        for batch in 0..<8 {
            _ = Self.numbers((0..<10_000).map { Int64(batch * 10_000 + $0) &* 1_000_003 }, &ascending)
            _ = Self.numbers((0..<10_000).map { _ in Int64(random.below(100_000)) }, &small)
            _ = Self.numbers((0..<10_000).map { _ in Int64(bitPattern: random.next()) }, &wide)
        }
        #expect(ascending.isPlain && small.isPlain && !wide.isPlain)
        // One word that does not fit the form changes it, and keeps the numbers.
        #expect(Self.numbers([0, -1, 1_000_003], &ascending) == [0, 80_000, 1] && !ascending.isPlain)
        var other = small
        #expect([.max, .min, -7, .max].map { other.number($0) } == (0..<3).map { UInt32(small.count + $0) } + [UInt32(small.count)])
        let known = small.count, first = small.keys[0]
        #expect(Self.numbers([.max, first], &small) == [UInt32(known), 0] && !small.isPlain)
    }

    @Test(arguments: [1, 2, 3]) func `rows are grouped by a key that ascends, with and without an exception, on any number of threads`(
        threads: Int
    )
        throws
    {
        let type = TypeSchema("R", columns: [ColumnSchema("key", ColumnType(.int, optional: true)), ColumnSchema("n", ColumnType(.int))])
        for (exceptions, nulls) in [(0, 0), (3, 0), (0, 5), (200, 50)] {
            var random = Random(seed: UInt64(exceptions)), batches: [Batch] = [], key: Int64 = 0
            var counts: [Int64: (count: Int64, sum: Int64)] = [:], order: [Int64] = []
            for _ in 0..<6 {
                var batch = Batch(type, in: Schema([type]))
                for _ in 0..<20_000 {
                    if random.below(3) == 0 { key += Int64(random.below(50)) + 1 }
                    let isException = random.below(120_000) < exceptions, isNull = random.below(120_000) < nulls
                    let own = isNull ? Int64.min : isException ? Int64(random.below(1_000)) : key, n = Int64(random.below(100))
                    batch.columns[0].append(isNull ? .null : .int(own))
                    batch.columns[1].append(.int(n))
                    batch.count += 1
                    if counts[own] == nil { order.append(own) }
                    counts[own, default: (0, 0)].count += 1
                    counts[own]!.sum += n
                }
                batches.append(batch)
            }
            let table = MemoryTable(type, schema: Schema([type]), batches: batches)
            let request = QueryRequest(groupBy: ["key"], aggregates: try Aggregate.list("count, sum(n)"))
            var met: [Int64] = []
            try QueryRun(request, table: table, threads: threads).forEachBatch { batch in
                for r in 0..<batch.count {
                    let row = batch.columns.map { $0.value(at: r) }
                    var key = Int64.min
                    if case .int(let value) = row[0] { key = value }
                    met.append(key)
                    let expected = counts[key, default: (0, 0)]
                    guard row[1] == .int(expected.count), row[2] == .int(expected.sum) else {
                        Issue.record("key \(key): \(row)")
                        return false
                    }
                }
                return true
            }
            #expect(met == order, "\(exceptions) exceptions, \(nulls) nulls")
            var distinct = 0
            try QueryRun(QueryRequest(aggregates: try Aggregate.list("count(distinct key)")), table: table, threads: threads).forEachBatch {
                if case .int(let count) = $0.columns[0].value(at: 0) { distinct = Int(count) }
                return true
            }
            #expect(distinct == counts.keys.count { $0 != .min })
        }
    }
}
