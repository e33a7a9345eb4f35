/// Chooses the elements that two sequences keep: pairs of positions with the same number, ascending in both sequences.
///
/// It is a longest common subsequence, except if numbers are repeated so often that finding it would cost more than about n log n.
struct Alignment {
    /// The number of equal elements at the beginning and at the end.
    private let prefix: Int
    private let suffix: Int
    private let oldCount: Int
    private let newCount: Int
    /// Pairs between the two ends, by distance from the prefix.
    private var keptOld: [Int32] = []
    private var keptNew: [Int32] = []

    init(_ old: [Int64], _ new: [Int64]) {
        oldCount = old.count
        newCount = new.count
        // Positions have 32 bits: in longer sequences all elements count as replaced.
        let least = max(old.count, new.count) < Int(Int32.max) ? min(old.count, new.count) : 0
        var prefix = 0
        while prefix < least, old[prefix] == new[prefix] { prefix += 1 }
        var suffix = 0
        while suffix < least - prefix, old[old.count - 1 - suffix] == new[new.count - 1 - suffix] { suffix += 1 }
        self.prefix = prefix
        self.suffix = suffix
        let left = old[prefix..<(old.count - suffix)], right = new[prefix..<(new.count - suffix)]
        guard least > 0, !left.isEmpty, !right.isEmpty else { return }
        if left.ascends, right.ascends {
            merge(left, right)
        } else {
            match(Array(left), Array(right))
        }
    }

    /// Calls the body with each pair of positions, in ascending order.
    func forEachKept(_ body: (_ old: Int, _ new: Int) -> Void) {
        for i in 0..<prefix { body(i, i) }
        for k in keptOld.indices { body(prefix + Int(keptOld[k]), prefix + Int(keptNew[k])) }
        for k in 0..<suffix { body(oldCount - suffix + k, newCount - suffix + k) }
    }

    private mutating func merge(_ old: ArraySlice<Int64>, _ new: ArraySlice<Int64>) {
        var i = old.startIndex, j = new.startIndex
        while i < old.endIndex, j < new.endIndex {
            let a = old[i], b = new[j]
            if a == b { keep(i - old.startIndex, j - new.startIndex) }
            if a <= b { i += 1 }
            if b <= a { j += 1 }
        }
    }

    private mutating func keep(_ i: Int, _ j: Int) {
        keptOld.append(Int32(i))
        keptNew.append(Int32(j))
    }

    /// Uses a shortest edit script if it is short (Myers). Otherwise uses the longest ascending run through all pairs of equal elements, if
    /// there are few pairs for each element (Hunt and Szymanski), or else through the pairs of the k-th occurrences of each number.
    private mutating func match(_ old: [Int64], _ new: [Int64]) {
        if let script = EditScript(old, new, budget: 4 * (old.count + new.count) + 65_536) {
            for (i, j) in script.kept { keep(i, j) }
            return
        }
        let index = OccurrenceIndex(new)
        keepLongest(Candidates(all: old, index, most: 4 * (old.count + new.count) + 64) ?? Candidates(paired: old, index))
    }

    /// Keeps the longest run of candidates that ascends in both sequences.
    private mutating func keepLongest(_ candidates: Candidates) {
        // ends[l]: the candidate with the smallest new position at which a run of l + 1 ends.
        var ends: [Int32] = []
        var before = [Int32](repeating: -1, count: candidates.new.count)
        for (k, position) in candidates.new.enumerated() {
            var low = ends.count
            if let last = ends.last, candidates.new[Int(last)] >= position {
                low = 0
                var high = ends.count
                while low < high {
                    let middle = (low + high) / 2
                    if candidates.new[Int(ends[middle])] < position { low = middle + 1 } else { high = middle }
                }
            }
            before[k] = low == 0 ? -1 : ends[low - 1]
            if low == ends.count { ends.append(Int32(k)) } else { ends[low] = Int32(k) }
        }
        var k = ends.last ?? -1
        while k >= 0 {
            keptOld.append(candidates.old[Int(k)])
            keptNew.append(candidates.new[Int(k)])
            k = before[Int(k)]
        }
        keptOld.reverse()
        keptNew.reverse()
    }

    /// Pairs of positions with the same number, in ascending order of old positions, and for equal old positions in descending order of new
    /// ones, so that a strictly ascending run uses each old position once.
    private struct Candidates {
        var old: [Int32] = []
        var new: [Int32] = []

        /// Returns nil if there are more than `most`.
        init?(all elements: [Int64], _ index: OccurrenceIndex, most: Int) {
            for (i, element) in elements.enumerated() {
                let start = new.count
                var position = index.first(element)
                while position >= 0 {
                    guard new.count < most else { return nil }
                    old.append(Int32(i))
                    new.append(position)
                    position = index.next[Int(position)]
                }
                new[start...].reverse()
            }
        }

        init(paired elements: [Int64], _ index: OccurrenceIndex) {
            var cursor = OccurrenceIndex.Cursor(index)
            for (i, element) in elements.enumerated() {
                guard let position = cursor.takeFirst(element) else { continue }
                old.append(Int32(i))
                new.append(Int32(position))
            }
        }
    }
}

extension ArraySlice<Int64> {
    fileprivate var ascends: Bool {
        var previous: Int64?
        for number in self {
            if let previous, number <= previous { return false }
            previous = number
        }
        return true
    }
}
