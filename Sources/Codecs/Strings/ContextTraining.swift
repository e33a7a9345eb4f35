import FirnBytes

/// Learns symbols and contexts from three quarters of a sample and measures them on the other quarter.
struct ContextTrial {
    let encoder: ContextEncoder
    /// Symbols and contexts as they are stored.
    let trained: [UInt8]
    /// The size in bytes that the sample is expected to take.
    let bytes: Double

    /// How much work a trial does.
    private struct Effort {
        /// The number of bytes that symbols are learned from, of those whose symbols are counted, and of those that are encoded to measure.
        let learned: Int, counted: Int, measured: Int
        /// The numbers of contexts that are tried, with how much larger than the limit the strings may be for the next one to be tried. From 4
        /// to 16 contexts save up to a half, more contexts a tenth; but then the tables do not fit into the cache of a processor.
        let sizes: [(contexts: Int, allowance: Double)]

        /// Rules out most of the texts for which contexts do not pay, with a quarter of the work.
        static let quick = Effort(learned: 96 << 10, counted: 256 << 10, measured: 64 << 10, sizes: [(16, 0)])
        static let standard = Effort(learned: 256 << 10, counted: 1 << 20, measured: 256 << 10, sizes: [(16, 0)])
        static let small = Effort(
            learned: SymbolTraining.sampleBytes, counted: 2 << 20, measured: 256 << 10, sizes: [(4, 2), (16, 1.2), (64, 0)])
    }

    /// Returns nil if the sample is too small, or if a few contexts show that it will not be smaller than `limit`.
    init?(_ sample: Text, segments: Int, profile: Profile, limit: Double) {
        guard sample.bytes.count * segments > 256 << 10, sample.count > 1024 else { return nil }
        let quick = Self(sample, segments: segments, profile: profile, limit: limit, .quick)
        // More work saves up to 10 %, more contexts 5 % more.
        guard let quick, quick.bytes < limit * (profile.isSmall ? 1.15 : 1.08) else { return nil }
        let full = Self(sample, segments: segments, profile: profile, limit: limit, profile.isSmall ? .small : .standard)
        self = full.map { $0.bytes < quick.bytes ? $0 : quick } ?? quick
    }

    private init?(_ sample: Text, segments: Int, profile: Profile, limit: Double, _ effort: Effort) {
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
            sample, symbolRows: spread(learning, bytes: effort.learned), rows: spread(learning, bytes: effort.counted))
        let trial = spread(others, bytes: effort.measured), rows = trial.reduce(0) { $0 + $1.count }
        let padded = sample.bytes + [UInt8](repeating: 0, count: 16)
        // Pages of 256 strings have more heads than those of the encoder.
        let log2 = ContextEncoder.pageLog2(sample, pageBytes: ContextEncoder.pageBytes(profile)), pages = sample.count >> log2 + 1
        var best: (encoder: ContextEncoder, trained: [UInt8], bytes: Double)?
        for (size, allowance) in effort.sizes {
            let plan = training.plan(contexts: size), trained = TrainedText.encode(contexts: plan, level: 19)
            let encoder = ContextEncoder(plan, parser: training.parser, profile: profile)
            let measured = encoder.size(sample, padded, rows: trial) - trial.count * 2
            let strings = Double(measured) * Double(sample.count) / Double(max(rows, 1))
            let bytes = strings + Double(pages * 4) + Double(trained.count) / Double(segments)
            guard bytes < best?.bytes ?? .infinity else { break }
            best = (encoder, trained, bytes)
            if bytes > limit * allowance { break }
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
        for range in rows { matcher.parse(sample, padded, rows: range) { counts[$0] &+= 1 } }
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
        Self.sort(&found)
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

    /// Sorts pairs of two numbers below 2,048, each of 16 bits: first by the second number, then by the first one.
    private static func sort(_ pairs: inout [UInt32]) {
        for shift: UInt32 in [0, 16] {
            var starts = [Int](repeating: 0, count: ContextModel.maximumSymbols + 3)
            for pair in pairs { starts[Int(pair >> shift & 0xFFFF) + 1] += 1 }
            for i in 1..<starts.count { starts[i] += starts[i - 1] }
            var sorted = [UInt32](repeating: 0, count: pairs.count)
            for pair in pairs {
                let number = Int(pair >> shift & 0xFFFF)
                sorted[starts[number]] = pair
                starts[number] &+= 1
            }
            pairs = sorted
        }
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
