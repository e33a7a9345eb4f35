import FirnModel

/// The numbers of every group, for what no sum tells: medians and other quantiles.
struct Samples {
    private var groups: [UInt32] = []
    private var reals: [Double] = []
    /// After `sort`: where each group's numbers begin; then the end.
    private var starts: [Int] = []

    /// Whatever the column's kind, as the nearest double; what is no number is left out.
    @inline(__always)
    mutating func add(_ column: Column, _ row: Int, to group: Int) {
        let real: Double? = switch column.type.kind {
        case .int: Double(column.words[row])
        case .float, .double: column.reals[row]
        default: column.value(at: row).number
        }
        guard let real, !real.isNaN else { return }
        groups.append(UInt32(truncatingIfNeeded: group))
        reals.append(real)
    }

    /// Of the chosen rows of doubles that are all there.
    mutating func add(_ values: UnsafePointer<Double>, _ chosen: RowChoice) {
        withUnsafeTemporaryAllocation(of: Double.self, capacity: chosen.hits) { numbers in
            withUnsafeTemporaryAllocation(of: UInt32.self, capacity: chosen.hits) { places in
                var n = 0
                chosen.forEach { group, row in
                    let real = values[row]
                    numbers[n] = real
                    places[n] = UInt32(truncatingIfNeeded: group)
                    n &+= real == real ? 1 : 0
                }
                groups.append(contentsOf: UnsafeBufferPointer(rebasing: places[..<n]))
                reals.append(contentsOf: UnsafeBufferPointer(rebasing: numbers[..<n]))
            }
        }
    }

    mutating func append(_ other: Samples, _ groupOf: [Int]) {
        for group in other.groups { groups.append(UInt32(truncatingIfNeeded: groupOf[Int(group)])) }
        reals.append(contentsOf: other.reals)
    }

    /// Puts the numbers of each group together.
    mutating func sort(_ count: Int) {
        var ends = [Int](repeating: 0, count: count + 1)
        for group in groups { ends[Int(group) + 1] += 1 }
        for group in 0..<count { ends[group + 1] += ends[group] }
        starts = ends
        let sorted = [Double](unsafeUninitializedCapacity: reals.count) { sorted, filled in
            ends.withUnsafeMutableBufferPointer { ends in
                groups.withUnsafeBufferPointer { groups in
                    reals.withUnsafeBufferPointer { reals in
                        for i in 0..<reals.count {
                            let at = ends[Int(groups[i])]
                            sorted[at] = reals[i]
                            ends[Int(groups[i])] = at + 1
                        }
                    }
                }
            }
            filled = reals.count
        }
        reals = sorted
        groups = []
    }

    /// The number below which the share `q` of a group's lies, between two neighbours in proportion; nil of none. After `sort`.
    mutating func quantile(_ q: Double, of group: Int) -> Double? {
        let range = starts[group]..<starts[group + 1]
        guard !range.isEmpty else { return nil }
        let place = q * Double(range.count - 1), index = min(Int(place), range.count - 1), share = place - Double(index)
        return reals.withUnsafeMutableBufferPointer { all in
            let part = UnsafeMutableBufferPointer(rebasing: all[range])
            let low = Samples.select(part, index)
            guard share > 0, index + 1 < part.count else { return low }
            // Behind the place of the one found lie those that are not less.
            var next = part[index + 1]
            for i in (index + 1)..<part.count { next = min(next, part[i]) }
            return low + (next - low) * share
        }
    }

    /// The number that stands at `index` in ascending order; those before it are not greater then, those behind it not less.
    private static func select(_ all: UnsafeMutableBufferPointer<Double>, _ index: Int) -> Double {
        let values = all.baseAddress!
        var low = 0, high = all.count, rounds = 0
        // Numbers laid out to split badly each time are sorted in the end.
        while high - low > 32, rounds < 100 {
            rounds += 1
            // The middle of three, so that numbers in order already take no longer.
            let a = values[low], b = values[(low + high) / 2], c = values[high - 1]
            let pivot = max(min(a, b), min(max(a, b), c)), from = low
            let middle = gather(values, low, high) { $0 < pivot }
            if index < middle {
                high = middle
                continue
            }
            low = middle
            // Where hardly any are less, many may be equal.
            if (middle - from) * 8 < high - from {
                low = gather(values, middle, high) { $0 == pivot }
                if index < low { return pivot }
            }
        }
        var rest = UnsafeMutableBufferPointer(rebasing: all[low..<high])
        rest.sort()
        return values[index]
    }

    /// Brings the numbers that `isFirst` holds for to the front, without a branch; gives where the others begin.
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
