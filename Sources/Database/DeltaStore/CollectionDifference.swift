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
        for (mine, theirs) in zip(base.children, new.children) where count > 0 {
            count = mine.commonPrefix(from: baseStart + i, with: theirs, from: newStart + j, limit: count)
        }
        return count
    }

    /// `i` and `j` are the ends of what is compared.
    private func commonSuffix(_ i: Int, _ j: Int, _ limit: Int) -> Int {
        var count = max(limit, 0)
        for (mine, theirs) in zip(base.children, new.children) where count > 0 {
            count = mine.commonSuffix(before: baseStart + i, with: theirs, before: newStart + j, limit: count)
        }
        return count
    }
}

/// Comparing elements as they are stored. Columns that differ only in the entries of absent values are different here.
extension Column {
    fileprivate func commonPrefix(from i: Int, with other: Column, from j: Int, limit: Int) -> Int {
        var count = limit
        func narrow<T: Equatable>(_ mine: [T], _ theirs: [T]) {
            guard !mine.isEmpty || !theirs.isEmpty else { return }
            count = mine.withUnsafeBufferPointer { mine in
                theirs.withUnsafeBufferPointer { theirs in
                    var n = 0
                    while n < count, mine[i &+ n] == theirs[j &+ n] { n &+= 1 }
                    return n
                }
            }
        }
        narrow(words, other.words)
        narrow(extra, other.extra)
        narrow(tags, other.tags)
        count = (0..<count).prefix { hasSameRest(i &+ $0, other, j &+ $0) }.count
        return count
    }

    fileprivate func commonSuffix(before i: Int, with other: Column, before j: Int, limit: Int) -> Int {
        var count = limit
        func narrow<T: Equatable>(_ mine: [T], _ theirs: [T]) {
            guard !mine.isEmpty || !theirs.isEmpty else { return }
            count = mine.withUnsafeBufferPointer { mine in
                theirs.withUnsafeBufferPointer { theirs in
                    var n = 0
                    while n < count, mine[i &- n &- 1] == theirs[j &- n &- 1] { n &+= 1 }
                    return n
                }
            }
        }
        narrow(words, other.words)
        narrow(extra, other.extra)
        narrow(tags, other.tags)
        var n = 0
        while n < count, hasSameRest(i &- n &- 1, other, j &- n &- 1) { n &+= 1 }
        return n
    }

    /// Whether two elements have the same presence, real number and text.
    @inline(__always)
    private func hasSameRest(_ i: Int, _ other: Column, _ j: Int) -> Bool {
        if present != nil || other.present != nil, isPresent(i) != other.isPresent(j) { return false }
        if !reals.isEmpty, reals[i].bitPattern != other.reals[j].bitPattern { return false }
        if text.count == 0 { return true }
        let mine = text.range(i), theirs = other.text.range(j)
        guard mine.count == theirs.count else { return false }
        return text.bytes.withUnsafeBytes { a in
            other.text.bytes.withUnsafeBytes { b in a[mine].elementsEqual(b[theirs]) }
        }
    }
}
