import FirnTable

/// The numbers of every group, for medians and other quantiles, which cannot be computed from sums. Each group has a chain of blocks;
/// numbers are not moved or copied until a quantile is computed. Adding is not thread-safe; after `close`, any thread can read.
final class Samples: @unchecked Sendable {
    private struct Block {
        let start: UnsafeMutablePointer<Double>
        var count: Int
        var next = -1
    }
    /// The chain of one group: where the next number is written, and where its last block ends.
    private struct Chain {
        var at: UnsafeMutablePointer<Double>?, end: UnsafeMutablePointer<Double>?
        var first = -1, last = -1
    }
    private var blocks: [Block] = []
    private var chains: [Chain] = []
    // The memory that blocks are allocated from.
    private var slabs: [UnsafeMutablePointer<Double>] = []
    private var free: UnsafeMutablePointer<Double>?, left = 0

    private static let slab = 1 << 16, leastBlock = 8, greatestBlock = 512

    /// The memory in use in bytes.
    var bytes: Int {
        slabs.count &* Samples.slab &* 8 &+ chains.count &* MemoryLayout<Chain>.stride &+ blocks.count &* MemoryLayout<Block>.stride
    }

    deinit { for slab in slabs { slab.deallocate() } }

    func resize(_ count: Int) {
        if chains.count < count { chains.append(contentsOf: repeatElement(Chain(), count: count - chains.count)) }
    }

    // MARK: Adding

    /// Adds a value as the nearest double; values that are not numbers, and NaN, are ignored.
    @inline(__always)
    func add(_ column: Column, _ row: Int, to group: Int) {
        let real: Double? =
            switch column.type.kind {
            case .int: Double(column.words[row])
            case .float, .double: column.reals[row]
            default: column.value(at: row).number
            }
        guard let real, !real.isNaN else { return }
        if chains[group].at == chains[group].end { open(group) }
        chains[group].at!.pointee = real
        chains[group].at! += 1
    }

    /// Adds the chosen rows of doubles; every row has a value.
    func add(_ values: UnsafePointer<Double>, _ chosen: RowChoice) {
        var done = 0
        while done < chosen.hits {
            var full = -1
            chains.withUnsafeMutableBufferPointer { chains in
                while done < chosen.hits {
                    let group = chosen.groups.map { Int($0[done]) } ?? 0, at = chains[group].at
                    guard at != chains[group].end, let at else {
                        full = group
                        return
                    }
                    let real = values[Int(chosen.rows[done])]
                    at.pointee = real
                    chains[group].at = at + (real == real ? 1 : 0)
                    done &+= 1
                }
            }
            if full >= 0 { open(full) }
        }
    }

    /// Begins the next block of a group whose last block is full or that has none.
    private func open(_ group: Int) {
        let last = chains[group].last,
            size = last < 0 ? Samples.leastBlock : min(max(blocks[last].count * 2, Samples.leastBlock), Samples.greatestBlock)
        if left < size {
            slabs.append(.allocate(capacity: Samples.slab))
            free = slabs[slabs.count - 1]
            left = Samples.slab
        }
        let start = free!
        free = start + size
        left -= size
        link(blocks.count, to: group)
        blocks.append(Block(start: start, count: size))
        chains[group].at = start
        chains[group].end = start + size
    }

    private func link(_ block: Int, to group: Int) {
        if chains[group].last < 0 { chains[group].first = block } else { blocks[chains[group].last].next = block }
        chains[group].last = block
    }

    /// Moves the numbers of another run here, leaving it empty; its group g is this one's `groupOf[g]`.
    func take(_ other: Samples, _ groupOf: [Int]) {
        close()
        other.close()
        let base = blocks.count
        blocks.append(contentsOf: other.blocks.map { Block(start: $0.start, count: $0.count, next: $0.next < 0 ? -1 : $0.next + base) })
        for (theirs, chain) in other.chains.enumerated() where chain.first >= 0 {
            link(base + chain.first, to: groupOf[theirs])
            chains[groupOf[theirs]].last = base + chain.last
        }
        slabs += other.slabs
        other.slabs = []
        other.free = nil
        other.left = 0
        other.blocks = []
        other.chains = []
    }

    /// Ends each group's last block after its last number. Must be called before `quantile`.
    func close() {
        for group in chains.indices {
            guard let at = chains[group].at else { continue }
            let last = chains[group].last
            blocks[last].count = at - blocks[last].start
            chains[group].at = nil
            chains[group].end = nil
        }
    }

    // MARK: Quantiles

    /// Returns the number below which the share `q` of a group's numbers is, interpolated linearly; nil if the group is empty. Requires
    /// `close`.
    func quantile(_ q: Double, of group: Int) -> Double? {
        var count = 0
        forEachBlock(of: group) { count += $0.count }
        guard count > 0 else { return nil }
        let rank = q * Double(count - 1), index = min(Int(rank), count - 1), share = rank - Double(index),
            isBetween = share > 0 && index + 1 < count
        return withUnsafeTemporaryAllocation(of: Double.self, capacity: count) { room in
            var below = 0, kept = 0
            if count >= 16 * Samples.sampled { (below, kept) = gather(around: q, count, of: group, into: room) }
            if index < below || index + (isBetween ? 1 : 0) >= below + kept {
                (below, kept) = gather(from: -.infinity, to: .infinity, of: group, into: room)
            }
            let part = UnsafeMutableBufferPointer(rebasing: room[..<kept]), low = Samples.select(part, index - below)
            guard isBetween else { return low }
            // After `select`, the elements after the one found are not less than it.
            var next = part[index - below + 1]
            for i in (index - below + 1)..<kept { next = min(next, part[i]) }
            let span = next - low
            // The difference is infinite between infinities or numbers that are too far apart.
            return span.isFinite ? low + span * share : low * (1 - share) + next * share
        }
    }

    @inline(__always)
    private func forEachBlock(of group: Int, _ body: (UnsafeBufferPointer<Double>) -> Void) {
        var at = chains[group].first
        while at >= 0 {
            body(UnsafeBufferPointer(start: blocks[at].start, count: blocks[at].count))
            at = blocks[at].next
        }
    }

    private static let sampled = 128

    /// Gathers the numbers between two bounds that probably enclose the one sought: numbers of a sample some ranks before and after it.
    private func gather(around q: Double, _ count: Int, of group: Int, into room: UnsafeMutableBufferPointer<Double>) -> (
        below: Int, kept: Int
    ) {
        var sample: [Double] = [], passed = 0
        sample.reserveCapacity(Samples.sampled)
        forEachBlock(of: group) { block in
            while sample.count < Samples.sampled {
                let index = sample.count * count / Samples.sampled - passed
                guard index < block.count else { break }
                sample.append(block[index])
            }
            passed += block.count
        }
        sample.sort()
        let rank = Int(q * Double(Samples.sampled - 1)), margin = 12
        return gather(
            from: rank < margin ? -.infinity : sample[rank - margin],
            to: rank + margin + 1 >= Samples.sampled ? .infinity : sample[rank + margin + 1], of: group, into: room)
    }

    /// Counts the numbers below `low`, and gathers those in `low ... high` into `room`.
    private func gather(from low: Double, to high: Double, of group: Int, into room: UnsafeMutableBufferPointer<Double>) -> (
        below: Int, kept: Int
    ) {
        let room = room.baseAddress!
        var below = 0, kept = 0
        forEachBlock(of: group) { block in
            for real in block {
                room[kept] = real
                kept &+= real >= low && real <= high ? 1 : 0
                below &+= real < low ? 1 : 0
            }
        }
        return (below, kept)
    }

    /// Returns the number at `index` in ascending order. Afterwards, no number before it is greater, and none after it is less.
    private static func select(_ all: UnsafeMutableBufferPointer<Double>, _ index: Int) -> Double {
        let values = all.baseAddress!
        var low = 0, high = all.count, rounds = 0
        // Input that was constructed to split badly in each round is sorted in the end.
        while high - low > 32, rounds < 100 {
            rounds += 1
            // The median of three, so that sorted input is not slower.
            let a = values[low], b = values[(low + high) / 2], c = values[high - 1]
            let pivot = max(min(a, b), min(max(a, b), c)), from = low
            let middle = gather(values, low, high) { $0 < pivot }
            if index < middle {
                high = middle
                continue
            }
            low = middle
            // If hardly any numbers are less than the pivot, many may be equal to it.
            if (middle - from) * 8 < high - from {
                low = gather(values, middle, high) { $0 == pivot }
                if index < low { return pivot }
            }
        }
        var rest = UnsafeMutableBufferPointer(rebasing: all[low..<high])
        rest.sort()
        return values[index]
    }

    /// Moves the numbers that satisfy `isFirst` to the front, without branches; returns where the others begin.
    @inline(__always)
    private static func gather(_ values: UnsafeMutablePointer<Double>, _ low: Int, _ high: Int, _ isFirst: (Double) -> Bool) -> Int {
        var at = low
        for i in low..<high {
            let value = values[i]
            values[i] = values[at]
            values[at] = value
            at &+= isFirst(value) ? 1 : 0
        }
        return at
    }
}
