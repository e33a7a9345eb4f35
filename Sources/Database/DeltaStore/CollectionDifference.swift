import FirnBytes
import FirnTable

/// Finds what the value of a list, set or map keeps of an earlier one.
///
/// Equal elements are compared as they are stored, so a search costs as much as reading both collections, plus a bounded amount for each
/// difference. A result that keeps less than possible is correct, too: what is not kept is inserted.
struct CollectionDifference {
    /// Elements of the base that the new value has, too. Runs ascend in both.
    private struct Run {
        var base: Int
        var new: Int
        var count: Int
    }

    private let base: Column
    private let new: Column
    private let baseStart: Int
    private let newStart: Int
    private let baseCount: Int
    private let newCount: Int
    private var runs: [Run] = []

    /// Shorter runs are not kept: a cut costs as much as some elements.
    private static let minimumRun = 4
    /// How many elements after a difference must agree for the search to continue there, and how far it looks for them.
    private static let agreement = 16
    private static let reach = 48
    /// The maximum number of differences that one search passes.
    private static let maximumDifferences = 256

    /// `base` and `new` are columns of one row that have the same type. `known` are splices that led from the base to the value before the
    /// new one.
    init(from base: Column, to new: Column, after known: CollectionSplices? = nil) {
        self.base = base
        self.new = new
        (baseStart, newStart) = (base.offsets[0], new.offsets[0])
        (baseCount, newCount) = (base.offsets[1] - base.offsets[0], new.offsets[1] - new.offsets[0])
        align(with: known)
        fillGaps()
    }

    /// Compares each piece of the base that the value before has with the new value: forward up to the first difference, and after it
    /// backward from the end.
    private mutating func align(with known: CollectionSplices?) {
        var pieces: [(base: Range<Int>, at: Int)] = [], from = 0, at = 0
        for cut in known?.cuts ?? [] {
            pieces.append((from..<from + cut.kept, at))
            from += cut.kept + cut.removed
            at += cut.kept + cut.inserted
        }
        pieces.append((from..<baseCount, at))
        let shift = newCount - (at + baseCount - from)
        var isShifted = false, end = 0
        for piece in pieces {
            var low = piece.base.lowerBound
            if !isShifted {
                let count = commonPrefix(low, piece.at, min(piece.base.count, newCount - piece.at))
                add(Run(base: low, new: piece.at, count: count))
                end = piece.at + count
                low += count
                if low == piece.base.upperBound { continue }
                isShifted = true
            }
            let high = piece.base.upperBound, newHigh = piece.at + piece.base.count + shift
            guard newHigh > end, newHigh <= newCount else { continue }
            let count = commonSuffix(high, newHigh, min(high - low, newHigh - end))
            add(Run(base: high - count, new: newHigh - count, count: count))
            end = max(end, newHigh)
        }
    }

    private mutating func add(_ run: Run) { if run.count >= CollectionDifference.minimumRun { runs.append(run) } }

    /// Looks for runs between those that were found.
    private mutating func fillGaps() {
        let found = runs + [Run(base: baseCount, new: newCount, count: 0)]
        runs = []
        var low = Run(base: 0, new: 0, count: 0)
        for run in found {
            fill(low.base..<run.base, low.new..<run.new)
            runs.append(run)
            low = Run(base: run.base + run.count, new: run.new + run.count, count: 0)
        }
    }

    private mutating func fill(_ base: Range<Int>, _ new: Range<Int>) {
        var i = base.lowerBound, j = new.lowerBound, differences = 0
        while i < base.upperBound, j < new.upperBound {
            let count = commonPrefix(i, j, min(base.upperBound - i, new.upperBound - j))
            add(Run(base: i, new: j, count: count))
            i += count
            j += count
            differences += 1
            guard differences <= CollectionDifference.maximumDifferences, i < base.upperBound, j < new.upperBound,
                let next = agreement(i..<base.upperBound, j..<new.upperBound)
            else { return }
            (i, j) = next
        }
    }

    /// Returns the nearest positions after a difference from which elements agree.
    private func agreement(_ base: Range<Int>, _ new: Range<Int>) -> (Int, Int)? {
        for distance in 1...CollectionDifference.reach {
            for skipped in 0...distance {
                let i = base.lowerBound + skipped, j = new.lowerBound + distance - skipped
                let need = min(CollectionDifference.agreement, base.upperBound - i, new.upperBound - j)
                if need >= CollectionDifference.minimumRun, commonPrefix(i, j, need) == need { return (i, j) }
            }
        }
        return nil
    }

    // MARK: Result

    /// Returns the difference as splices if their elements take at most so many bytes when encoded.
    func splices(limit: Int) -> CollectionSplices? {
        var cuts: [CollectionSplices.Cut] = [], inserted: [Range<Int>] = [], kept = 0, total = 0
        var b = 0, n = 0
        for run in runs {
            if run.base > b || run.new > n {
                cuts.append(.init(kept: kept, removed: run.base - b, inserted: run.new - n))
                inserted.append(n..<run.new)
                total += run.new - n
                kept = 0
            }
            kept += run.count
            b = run.base + run.count
            n = run.new + run.count
        }
        guard baseCount > 0, total * 2 + cuts.count * 4 <= limit else { return nil }
        if cuts.isEmpty {
            // There is no empty form: the first element is replaced by itself.
            guard newCount > 0 else { return nil }
            cuts = [.init(kept: 0, removed: 1, inserted: 1)]
            inserted = [0..<1]
        }
        let splices = CollectionSplices(baseCount: baseCount, cuts: cuts, inserted: value(of: inserted))
        var out = ByteWriter()
        splices.encode(into: &out)
        return out.count <= limit ? splices : nil
    }

    private func value(of ranges: [Range<Int>]) -> Value {
        let positions = ranges.joined().map { newStart + $0 }
        switch new.type.collection {
        case .map:
            return .map(
                positions.map { position in
                    guard case .string(let key) = new.children[0].value(at: position) else { trap("keys of maps are strings") }
                    return Value.Entry(key, new.children[1].value(at: position))
                })
        case .set: return .set(positions.map(new.children[0].value(at:)))
        default: return .list(positions.map(new.children[0].value(at:)))
        }
    }

    // MARK: Comparing

    private func commonPrefix(_ i: Int, _ j: Int, _ limit: Int) -> Int {
        var count = max(limit, 0)
        for child in base.children.indices where count > 0 {
            count = base.children[child].commonPrefix(from: baseStart + i, with: new.children[child], from: newStart + j, limit: count)
        }
        return count
    }

    /// `i` and `j` are the ends of what is compared.
    private func commonSuffix(_ i: Int, _ j: Int, _ limit: Int) -> Int {
        var count = max(limit, 0)
        for child in base.children.indices where count > 0 {
            count = base.children[child].commonSuffix(before: baseStart + i, with: new.children[child], before: newStart + j, limit: count)
        }
        return count
    }
}

/// Comparing elements as they are stored. Columns that differ only in the entries of absent values are different here.
extension Column {
    fileprivate func commonPrefix(from i: Int, with other: Column, from j: Int, limit: Int) -> Int {
        common(i, other, j, limit: limit, isBackward: false)
    }

    /// `i` and `j` are the ends of what is compared.
    fileprivate func commonSuffix(before i: Int, with other: Column, before j: Int, limit: Int) -> Int {
        common(i, other, j, limit: limit, isBackward: true)
    }

    private func common(_ i: Int, _ other: Column, _ j: Int, limit: Int, isBackward: Bool) -> Int {
        var count = limit
        if present != nil || other.present != nil {
            count = same(i, j, limit: count, isBackward: isBackward) { isPresent($0) == other.isPresent($1) }
        }
        if !words.isEmpty { count = words.common(i, other.words, j, limit: count, isBackward: isBackward) }
        if !extra.isEmpty { count = extra.common(i, other.extra, j, limit: count, isBackward: isBackward) }
        if !tags.isEmpty { count = tags.common(i, other.tags, j, limit: count, isBackward: isBackward) }
        if !reals.isEmpty {
            count = same(i, j, limit: count, isBackward: isBackward) { reals[$0].bitPattern == other.reals[$1].bitPattern }
        }
        return text.count == 0 ? count : text.common(i, other.text, j, limit: count, isBackward: isBackward)
    }

    /// Returns for how many pairs of positions, from `i` and `j` on or before them, `areEqual` is true.
    @inline(__always)
    private func same(_ i: Int, _ j: Int, limit: Int, isBackward: Bool, _ areEqual: (Int, Int) -> Bool) -> Int {
        var n = 0
        while n < limit, isBackward ? areEqual(i &- n &- 1, j &- n &- 1) : areEqual(i &+ n, j &+ n) { n &+= 1 }
        return n
    }
}

extension Text {
    /// First the lengths are compared, and then the bytes of all texts with equal lengths together.
    fileprivate func common(_ i: Int, _ other: Text, _ j: Int, limit: Int, isBackward: Bool) -> Int {
        guard limit > 0 else { return 0 }
        let start = offsets[i], otherStart = other.offsets[j], first = isBackward ? 0 : 1
        let sameLength = offsets.common(
            i + first, other.offsets, j + first, limit: limit, shift: start &- otherStart, isBackward: isBackward)
        let length = abs(offsets[isBackward ? i - sameLength : i + sameLength] - start)
        let same = bytes.common(start, other.bytes, otherStart, limit: length, isBackward: isBackward)
        if same == length { return sameLength }
        // The last text that begins within the equal bytes has the difference.
        var low = 0, high = sameLength
        while low + 1 < high {
            let middle = (low + high) / 2
            if abs(offsets[isBackward ? i - middle : i + middle] - start) <= same { low = middle } else { high = middle }
        }
        return low
    }
}

extension Array where Element: FixedWidthInteger {
    /// Returns how many elements from two positions on, or before them, are equal once `shift` is added to those of `other`.
    fileprivate func common(_ i: Int, _ other: [Element], _ j: Int, limit: Int, shift: Element = 0, isBackward: Bool) -> Int {
        guard limit > 0 else { return 0 }
        trap(
            unless: isBackward
                ? limit <= i && limit <= j && i <= count && j <= other.count
                : i >= 0 && j >= 0 && limit <= count - i && limit <= other.count - j, "elements outside the arrays")
        return withUnsafeBufferPointer { mine in
            other.withUnsafeBufferPointer { theirs in
                var n = 0
                // Many at a time, without a branch for each.
                let block = 32
                while n &+ block <= limit {
                    let from = isBackward ? i &- n &- block : i &+ n, otherFrom = isBackward ? j &- n &- block : j &+ n
                    var difference: Element = 0
                    for k in 0..<block { difference |= mine[from &+ k] ^ (theirs[otherFrom &+ k] &+ shift) }
                    if difference != 0 { break }
                    n &+= block
                }
                while n < limit,
                    isBackward
                        ? mine[i &- n &- 1] == theirs[j &- n &- 1] &+ shift : mine[i &+ n] == theirs[j &+ n] &+ shift
                { n &+= 1 }
                return n
            }
        }
    }
}
