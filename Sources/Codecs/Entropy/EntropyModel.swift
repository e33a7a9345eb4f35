import FirnBytes

/// A symbol: the numbers from `lower` to `lower` + 2^`extra` − 1.
struct EntropyBin: Equatable {
    var lower: UInt64, extra: Int
    /// The number of the table's 2^log slots that the symbol occupies.
    var frequency: Int
}

/// log2 in units of 2^-16, with an error below 2^-14. Uses integers only, so that every machine makes the same choice.
enum Logarithm {
    /// log2(1 + i/256) · 65,536
    private static let table: [Int] = (0...256).map { i in
        var x: UInt64 = (1 << 31) + UInt64(i) << 23, result = 0
        if i == 256 { return 65_536 }
        for _ in 0..<16 {
            x = UInt64((UInt128(x) * UInt128(x)) >> 31)
            result <<= 1
            if x >= 1 << 32 { result |= 1; x >>= 1 }
        }
        return result
    }

    /// Calls `body` with the table that `of` needs. `of` requires n ≥ 1.
    static func withTable<R>(_ body: (UnsafePointer<Int>) -> R) -> R { table.withUnsafeBufferPointer { body($0.baseAddress!) } }

    @inline(__always)
    static func of(_ n: Int, _ table: UnsafePointer<Int>) -> Int {
        let whole = 63 &- n.leadingZeroBitCount
        let fraction = whole >= 16 ? (n &>> (whole &- 16)) & 0xFFFF : (n &<< (16 &- whole)) & 0xFFFF
        let i = fraction >> 8, rest = fraction & 0xFF
        return whole &<< 16 &+ table[i] &+ ((table[i &+ 1] &- table[i]) &* rest) >> 8
    }
}

/// Counts of numbers by leaf: one leaf for each number below 2^direct, and 128 leaves for every power of two above.
struct EntropyHistogram {
    let direct: Int
    var counts: [UInt32]
    let total: Int

    @inline(__always)
    static func leaf(_ u: UInt64, direct: Int) -> Int {
        if u >> UInt64(direct) == 0 { return Int(truncatingIfNeeded: u) }
        let exponent = 63 &- u.leadingZeroBitCount
        // Below 2^7 · 2^direct the leaves are finer than one number only if direct < 7, which is never used.
        return 1 &<< direct &+ (exponent &- direct) &<< 7 &+ Int(truncatingIfNeeded: (u &>> UInt64(exponent &- 7)) & 127)
    }

    /// `largest`: the maximum of the transformed values.
    init(_ values: UnsafeBufferPointer<Int64>, transform: EntropyTransform, largest: UInt64) {
        let bits = bitWidth(largest), room = max(8, bitWidth(UInt64(values.count)) &+ 1)
        direct = bits <= min(16, room) ? max(7, bits) : min(12, room)
        let leaves = 1 << direct &+ (bits > direct ? (bits &- direct) << 7 : 0)
        total = values.count
        var counts = [UInt32](repeating: 0, count: leaves)
        let direct = direct
        counts.withUnsafeMutableBufferPointer { counts in
            if bits <= direct {
                for value in values { counts[Int(truncatingIfNeeded: transform.forward(value))] &+= 1 }
            } else {
                for value in values { counts[Self.leaf(transform.forward(value), direct: direct)] &+= 1 }
            }
        }
        self.counts = counts
    }
}

/// Maps an integer to a number that is small where integers are frequent.
enum EntropyTransform {
    case offset(Int64), zigzag

    @inline(__always)
    func forward(_ value: Int64) -> UInt64 {
        switch self {
        case .offset(let base): UInt64(bitPattern: value &- base)
        case .zigzag: FirnBytes.zigzag(value)
        }
    }
}

/// The cheapest set of symbols, including the cost of their table.
struct EntropyModel {
    var bins: [EntropyBin] = []
    /// The symbol of every leaf that occurs.
    var symbols: [UInt16] = []
    var tableLog = 12
    /// The estimated bits of values and table, without the overhead of pages.
    var bits = 0
    static let maximumBins = 2048

    /// `fewer` limits the table and the symbols to what fits into the L1 cache.
    init(_ histogram: EntropyHistogram, fewer: Bool) {
        symbols = [UInt16](repeating: 0, count: histogram.counts.count)
        var overhead = 11 << 16
        var counts: [Int] = []
        repeat {
            bins.removeAll(keepingCapacity: true)
            counts.removeAll(keepingCapacity: true)
            choose(histogram, overhead: overhead, counts: &counts)
            overhead &*= 2
        } while bins.count > (fewer ? Self.maximumBins / 2 : Self.maximumBins)
        tableLog = min(max(bitWidth(UInt64(histogram.total)), bitWidth(UInt64(bins.count)) &+ 1, 6), !fewer && bins.count > 512 ? 13 : 12)
        normalize(counts, total: histogram.total)
        bits = Logarithm.withTable { table in
            var sum = 0
            for (bin, count) in zip(bins, counts) {
                sum &+= count &* (tableLog << 16 &- Logarithm.of(bin.frequency, table) &+ bin.extra << 16) &+ 11 << 16
            }
            return sum >> 16
        }
    }

    /// Chooses the symbols: in every perfect binary tree of leaves, from the leaves up, a node is split where its halves cost less.
    private mutating func choose(_ histogram: EntropyHistogram, overhead: Int, counts: inout [Int]) {
        let direct = histogram.direct, leaves = histogram.counts.count
        tree(histogram, first: 0, height: direct, level: 0, lower: 0, overhead: overhead, counts: &counts)
        var first = 1 << direct, exponent = direct
        while first < leaves {
            tree(
                histogram, first: first, height: 7, level: exponent &- 7, lower: 1 << UInt64(exponent), overhead: overhead, counts: &counts)
            first &+= 128
            exponent &+= 1
        }
    }

    /// Handles one tree of 2^height leaves with 2^level numbers each; the first leaf begins at `lower`.
    private mutating func tree(
        _ histogram: EntropyHistogram, first: Int, height: Int, level: Int, lower: UInt64, overhead: Int, counts: inout [Int]
    ) {
        let leaves = 1 << height
        withUnsafeTemporaryAllocation(of: Int.self, capacity: leaves &* 2) { cost in
            withUnsafeTemporaryAllocation(of: UInt32.self, capacity: leaves &* 2) { count in
                weigh(
                    histogram, first: first, height: height, level: level, overhead: overhead, cost: cost.baseAddress!,
                    count: count.baseAddress!)
                emit(
                    node: 1, depth: 0, height: height, level: level, lower: lower, first: first,
                    cost: cost.baseAddress!, count: count.baseAddress!, counts: &counts)
            }
        }
    }

    /// Computes costs and counts of all nodes in heap order. The lowest bit of a cost is set if the node is one symbol.
    private func weigh(
        _ histogram: EntropyHistogram, first: Int, height: Int, level: Int, overhead: Int,
        cost: UnsafeMutablePointer<Int>, count: UnsafeMutablePointer<UInt32>
    ) {
        let leaves = 1 << height
        histogram.counts.withUnsafeBufferPointer { leafCounts in
            Logarithm.withTable { logs in
                let whole = Logarithm.of(histogram.total, logs)
                for i in 0..<leaves {
                    let n = Int(leafCounts[first &+ i])
                    count[leaves &+ i] = UInt32(n)
                    cost[leaves &+ i] = n == 0 ? 0 : (n &* (whole &- Logarithm.of(n, logs) &+ level << 16) &+ overhead) | 1
                }
                for up in 1...height {
                    let start = 1 << (height &- up), extra = (level &+ up) << 16
                    for node in start..<(start &* 2) {
                        let left = count[node &* 2], right = count[node &* 2 &+ 1], sum = left &+ right
                        count[node] = sum
                        if sum == 0 { cost[node] = 0; continue }
                        let split = (cost[node &* 2] & ~1) &+ (cost[node &* 2 &+ 1] & ~1)
                        let merged = Int(sum) &* (whole &- Logarithm.of(Int(sum), logs) &+ extra) &+ overhead
                        cost[node] = merged <= split ? merged | 1 : split & ~1
                    }
                }
            }
        }
    }

    private mutating func emit(
        node: Int, depth: Int, height: Int, level: Int, lower: UInt64, first: Int,
        cost: UnsafePointer<Int>, count: UnsafePointer<UInt32>, counts: inout [Int]
    ) {
        if count[node] == 0 { return }
        if cost[node] & 1 == 0 {
            emit(
                node: node &* 2, depth: depth &+ 1, height: height, level: level, lower: lower, first: first, cost: cost, count: count,
                counts: &counts)
            emit(
                node: node &* 2 &+ 1, depth: depth &+ 1, height: height, level: level, lower: lower, first: first, cost: cost, count: count,
                counts: &counts)
            return
        }
        let up = height &- depth, leaf = (node &- 1 << depth) << up
        for i in 0..<(1 << up) { symbols[first &+ leaf &+ i] = UInt16(truncatingIfNeeded: bins.count) }
        bins.append(EntropyBin(lower: lower &+ UInt64(leaf) << UInt64(level), extra: level &+ up, frequency: 0))
        counts.append(Int(count[node]))
    }

    private mutating func normalize(_ counts: [Int], total: Int) {
        for (i, frequency) in Self.frequencies(counts, total: total, slots: 1 << tableLog).enumerated() { bins[i].frequency = frequency }
    }

    /// Distributes the table's slots: at least one for each symbol, the others by count; the most frequent symbols absorb the rounding
    /// error. `total` is the sum of the counts.
    static func frequencies(_ counts: [Int], total: Int, slots: Int) -> [Int] {
        var rare = 0, rareCount = 0, frequencies: [Int] = []
        for count in counts where count &* slots < total { rare &+= 1; rareCount &+= count }
        let share = slots &- rare, common = max(1, total &- rareCount)
        var left = slots
        for count in counts {
            frequencies.append(count &* slots < total ? 1 : max(1, count &* share / common))
            left &-= frequencies[frequencies.count &- 1]
        }
        if left == 0 { return frequencies }
        let order = counts.indices.sorted { (counts[$0], $1) > (counts[$1], $0) }
        var at = 0
        while left != 0 {
            let i = order[at]
            if left > 0 {
                frequencies[i] &+= 1
                left &-= 1
            } else if frequencies[i] > 1 {
                frequencies[i] &-= 1
                left &+= 1
            }
            at = at &+ 1 == order.count ? 0 : at &+ 1
        }
        return frequencies
    }
}
