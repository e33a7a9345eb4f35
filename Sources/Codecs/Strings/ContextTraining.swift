import FirnBytes

/// Learns symbols and contexts from three quarters of a sample and measures them on the other quarter.
struct ContextTrial {
    let encoder: ContextEncoder
    /// Symbols and contexts as they are stored.
    let trained: [UInt8]
    /// The size in bytes that the sample is expected to take.
    let bytes: Double

    /// The number of bytes whose symbols are counted, and of those that are encoded to measure.
    private static let countedBytes = 2 << 20, measuredBytes = 256 << 10
    /// The numbers of contexts that are tried.
    private static let sizes = [4, 16, 64]

    /// Returns nil if the sample is too small, or if a few contexts show that it will not be smaller than `limit`.
    init?(_ sample: Text, segments: Int, limit: Double) {
        let raw = sample.bytes.count
        guard raw * segments > 256 << 10, sample.count > 1024 else { return nil }
        let blocks = stride(from: 0, to: sample.count, by: 256).map { $0..<min(sample.count, $0 + 256) }
        let learning = blocks.indices.filter { $0 % 4 != 3 }.map { blocks[$0] },
            others = blocks.indices.filter { $0 % 4 == 3 }.map { blocks[$0] }
        guard !others.isEmpty else { return nil }
        func spread(_ blocks: [Range<Int>], bytes: Int) -> [Range<Int>] {
            let total = blocks.reduce(1) { $0 + sample.offsets[$1.upperBound] - sample.offsets[$1.lowerBound] }
            let wanted = max(1, min(blocks.count, Int(Double(blocks.count) * Double(bytes) / Double(total))))
            return (0..<wanted).map { blocks[$0 * blocks.count / wanted] }
        }
        let training = ContextTraining(
            sample, symbolRows: spread(learning, bytes: SymbolTraining.sampleBytes), rows: spread(learning, bytes: Self.countedBytes))
        let trial = spread(others, bytes: Self.measuredBytes), rows = trial.reduce(0) { $0 + $1.count }
        let padded = sample.bytes + [UInt8](repeating: 0, count: 16)
        // Pages of 256 strings have more heads than those of the encoder.
        let pages = (sample.count >> ContextEncoder.pageLog2(sample)) + 1
        var best: (encoder: ContextEncoder, trained: [UInt8], bytes: Double)?
        for size in Self.sizes {
            let plan = training.plan(contexts: size), trained = TrainedText.encode(contexts: plan, level: 19)
            let encoder = ContextEncoder(plan, parser: training.parser)
            let measured = encoder.size(sample, padded, rows: trial) - trial.count * 2
            let strings = Double(measured) * Double(sample.count) / Double(max(rows, 1))
            let bytes = strings + Double(pages * 4) + Double(trained.count) / Double(segments)
            if bytes < best?.bytes ?? .infinity { best = (encoder, trained, bytes) } else { break }
            // More contexts seldom save a sixth.
            if bytes > limit * 1.2 { break }
        }
        guard let best else { return nil }
        (encoder, trained, bytes) = best
    }
}

/// Counts which symbols follow each other, and finds contexts: groups of symbols that are followed by the same ones about as often.
struct ContextTraining {
    let parser: ContextParser
    private let symbols: SymbolTable
    /// How often each number occurs.
    private var counts: [Int]
    /// The pairs of neighbours: `pairs[rows[a] ..< rows[a + 1]]` are the numbers that follow `a`, with their counts.
    private var pairs: [(number: Int, count: Int)] = []
    private var rows: [Int] = []

    /// `symbolRows` are the strings to learn symbols from, `rows` those whose symbols are counted.
    init(_ sample: Text, symbolRows: [Range<Int>], rows: [Range<Int>]) {
        let learned = SymbolTraining(sample, rows: symbolRows, most: ContextModel.maximumSymbols, isAligned: true).learn(limit: .infinity)
        let table = learned ?? SymbolTable((0...255).map { [UInt8($0)] }), padded = sample.bytes + [UInt8](repeating: 0, count: 16)
        // Rare symbols cost more than they save, and those that are left may then be more frequent.
        var occurrences = Self.occurrences(sample, padded, rows, of: table)
        let kept = (256..<max(256, table.count)).filter { occurrences[$0] > 2 }
        let used = SymbolTable((0..<256).map { [UInt8($0)] } + kept.map { table.bytes($0) })
        occurrences = Self.occurrences(sample, padded, rows, of: used)
        // The parser must know only symbols that are stored, and single bytes.
        let order = occurrences.indices.filter { $0 >= 256 || occurrences[$0] > 1 }.sorted {
            (occurrences[$1], $0) < (occurrences[$0], $1)
        }
        symbols = SymbolTable(order.map { used.bytes($0) })
        var numbers = [UInt16](repeating: 0, count: used.count)
        for (i, code) in order.enumerated() { numbers[code] = UInt16(i + 2) }
        parser = ContextParser(used, numbers: numbers)
        counts = [Int](repeating: 0, count: order.count + 2)
        countPairs(sample, padded, rows)
    }

    private static func occurrences(_ sample: Text, _ padded: [UInt8], _ rows: [Range<Int>], of table: SymbolTable) -> [Int] {
        let matcher = SymbolMatcher(table)
        var counts = [Int](repeating: 0, count: table.count)
        padded.withUnsafeBytes { bytes in
            for range in rows {
                for row in range {
                    matcher.parse(bytes.baseAddress!, sample.offsets[row], sample.offsets[row &+ 1]) { counts[$0] &+= 1 }
                }
            }
        }
        return counts
    }

    private mutating func countPairs(_ sample: Text, _ padded: [UInt8], _ ranges: [Range<Int>]) {
        var found: [UInt32] = [], numbers: [UInt16] = []
        for range in ranges {
            numbers.removeAll(keepingCapacity: true)
            parser.append(sample, padded, rows: range, to: &numbers)
            var before: UInt32 = 1
            for number in numbers {
                let next = number >= ContextParser.literal ? 0 : UInt32(number)
                found.append(before << 16 | next)
                counts[Int(next)] += 1
                before = next
            }
        }
        found.sort()
        var i = 0
        for number in counts.indices {
            rows.append(pairs.count)
            while i < found.count, found[i] >> 16 == number {
                let pair = found[i], start = i
                while i < found.count, found[i] == pair { i += 1 }
                pairs.append((Int(pair & 0xFFFF), i - start))
            }
        }
        rows.append(pairs.count)
    }

    /// Returns the plan with at most `limit` contexts.
    func plan(contexts limit: Int) -> ContextPlan {
        let groups = cluster(limit)
        // Only those that are used.
        var numbers: [Int: Int] = [:]
        for group in groups where numbers[group] == nil { numbers[group] = numbers.count }
        let contexts = groups.map { UInt8(numbers[$0] ?? 0) }
        var following = [[Int]](repeating: [Int](repeating: 0, count: counts.count), count: numbers.count)
        for number in counts.indices {
            for pair in pairs[rows[number]..<rows[number + 1]] { following[Int(contexts[number])][pair.number] += pair.count }
        }
        var tables = following.map { Self.table($0) }
        tables.append(Self.bins(counts.map { max($0, 1) }))
        return ContextPlan(symbols: symbols, contexts: contexts, tables: tables)
    }

    /// Returns the table of a context. What follows once only is escaped where there is more than that to tell what is frequent.
    private static func table(_ following: [Int]) -> [EntropyBin] {
        let total = following.reduce(0, +), once = following.reduce(0) { $0 + ($1 == 1 ? 1 : 0) }
        var kept = following, escaped = following[0] + (once + 1) / 2
        if total >= 1 << ContextPlan.tableLog {
            escaped += once
            for number in kept.indices where kept[number] == 1 { kept[number] = 0 }
        }
        kept[0] = max(escaped, 1)
        return bins(kept)
    }

    /// Returns the symbols of tANS for the numbers whose count is not 0.
    private static func bins(_ counts: [Int]) -> [EntropyBin] {
        let present = counts.indices.filter { counts[$0] > 0 }, list = present.map { counts[$0] }
        let frequencies = EntropyModel.frequencies(list, total: list.reduce(0, +), slots: 1 << ContextPlan.tableLog)
        return zip(present, frequencies).map { EntropyBin(lower: UInt64($0), extra: 0, frequency: $1) }
    }

    private static let rounds = 6
    /// The frequencies of all numbers count as this many occurrences in each context, so that nothing is impossible.
    private static let prior = 8
    private static let scale = 4096

    /// Returns the group of each number, below `limit`: k-means, with the bits that the numbers after it take as the distance. Uses integers
    /// only, so that every machine finds the same groups.
    private func cluster(_ limit: Int) -> [Int] {
        let n = counts.count, total = max(1, counts.reduce(0, +))
        let order = counts.indices.sorted { (counts[$1], $0) < (counts[$0], $1) }
        let size = min(limit, n)
        var groups = [Int](repeating: -1, count: n), costs = [Int32](repeating: 0, count: n)
        for (k, number) in order.prefix(size).enumerated() { groups[number] = k }
        for _ in 0..<Self.rounds {
            var sums = [[Int]](repeating: [Int](repeating: 0, count: n), count: size)
            for number in 0..<n where groups[number] >= 0 {
                for pair in pairs[rows[number]..<rows[number + 1]] { sums[groups[number]][pair.number] += pair.count }
            }
            var best = [Int](repeating: .max, count: n), next = [Int](repeating: 0, count: n)
            for k in 0..<size {
                let whole = sums[k].reduce(Self.prior, +) * Self.scale
                Logarithm.withTable { logs in
                    for number in 0..<n {
                        let weight = sums[k][number] * Self.scale + Self.prior * Self.scale * counts[number] / total + 1
                        costs[number] = Int32(truncatingIfNeeded: (Logarithm.of(whole, logs) - Logarithm.of(weight, logs)) >> 4)
                    }
                }
                for number in 0..<n {
                    var cost = 0
                    for i in rows[number]..<rows[number + 1] { cost &+= pairs[i].count &* Int(costs[pairs[i].number]) }
                    if cost < best[number] { (best[number], next[number]) = (cost, k) }
                }
            }
            groups = next
        }
        return groups
    }
}
