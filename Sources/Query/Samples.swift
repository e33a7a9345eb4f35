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
        chosen.forEach { group, row in
            let real = values[row]
            if real.isNaN { return }
            groups.append(UInt32(truncatingIfNeeded: group))
            reals.append(real)
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
        var sorted = [Double](repeating: 0, count: reals.count)
        for (i, group) in groups.enumerated() {
            sorted[ends[Int(group)]] = reals[i]
            ends[Int(group)] += 1
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
    private static func select(_ values: UnsafeMutableBufferPointer<Double>, _ index: Int) -> Double {
        var low = 0, high = values.count - 1, rounds = 0
        while low < high {
            // Numbers laid out to split badly each time are sorted in the end.
            rounds += 1
            if rounds > 100 {
                var rest = UnsafeMutableBufferPointer(rebasing: values[low...high])
                rest.sort()
                break
            }
            // The middle of three, so that numbers in order already take no longer.
            let a = values[low], b = values[(low + high) / 2], c = values[high]
            let pivot = max(min(a, b), min(max(a, b), c))
            var i = low, j = high
            while i <= j {
                while values[i] < pivot { i += 1 }
                while values[j] > pivot { j -= 1 }
                if i <= j {
                    values.swapAt(i, j)
                    i += 1
                    j -= 1
                }
            }
            if index <= j { high = j } else if index >= i { low = i } else { break }
        }
        return values[index]
    }
}
