/// Free ranges, found by size in constant time: bins of sizes a quarter of a power of two apart (Masmano et al., "TLSF", ECRTS 2004), each
/// with a stack of range starts. A stack may have starts of ranges that have changed since; they are dropped when they are found.
struct FreeSpace: Sendable {
    private(set) var map = RangeMap()
    private var bins = [[UInt64]](repeating: [], count: FreeSpace.binCount)
    private var occupied: [UInt64] = [0, 0, 0, 0]
    private var binned = 0
    private static let binCount = 256

    var count: Int { map.count }
    var units: UInt64 { map.total }
    var ranges: [UnitRange] { map.ranges }

    /// Returns the bin for ranges of `size` units. Sizes in a bin differ by less than a quarter.
    private static func bin(_ size: UInt64) -> Int {
        if size < 8 { return Int(size) }
        let log = 63 - size.leadingZeroBitCount
        return log * 4 + Int(size >> UInt64(log - 2) & 3) - 4
    }

    private mutating func note(_ range: UnitRange) {
        let bin = FreeSpace.bin(range.count)
        bins[bin].append(range.start)
        occupied[bin >> 6] |= 1 << UInt64(bin & 63)
        binned += 1
        if binned > 2 * map.count + 4096 { rebuildBins() }
    }

    private mutating func rebuildBins() {
        for bin in 0..<FreeSpace.binCount { bins[bin].removeAll(keepingCapacity: true) }
        occupied = [0, 0, 0, 0]
        binned = 0
        for range in map.ranges.reversed() {
            let bin = FreeSpace.bin(range.count)
            bins[bin].append(range.start)
            occupied[bin >> 6] |= 1 << UInt64(bin & 63)
            binned += 1
        }
    }

    /// Adds units. Returns false if some of them are already free.
    mutating func insert(_ range: UnitRange) -> Bool {
        guard let merged = map.insert(range) else { return false }
        note(merged)
        return true
    }

    /// Removes units. Returns false if some of them are not free.
    mutating func remove(_ range: UnitRange) -> Bool {
        guard let (before, after) = map.remove(range) else { return false }
        if let before { note(before) }
        if let after { note(after) }
        return true
    }

    /// Removes the last free range if it reaches `end`. Returns the new end.
    mutating func trim(end: UInt64) -> UInt64 {
        guard let last = map.last, last.end == end else { return end }
        map.remove(last)
        return last.start
    }

    /// Takes `size` units from the start of one of the lowest ranges that are large enough, otherwise of a range of nearly the smallest
    /// sufficient size. Returns nil if no range is large enough. Low positions are preferred, so that live data moves down over time and
    /// the end of the file becomes free.
    /// `within` requires a range of at least that many units, because more extents are to follow.
    mutating func take(_ size: UInt64, within whole: UInt64? = nil) -> UnitRange? {
        let whole = max(size, whole ?? size)
        if let range = map.lowest(fitting: whole, among: 64) {
            let taken = UnitRange(start: range.start, end: range.start + size)
            _ = remove(taken)
            return taken
        }
        var bin = FreeSpace.bin(whole)
        // Ranges in the bin of `whole` itself may be slightly too small, so a few are tried.
        if let found = takeFromBin(bin, size, whole, tries: 8) { return found }
        bin += 1
        while bin < FreeSpace.binCount {
            let word = occupied[bin >> 6] >> UInt64(bin & 63)
            if word == 0 {
                bin = ((bin >> 6) + 1) << 6
                continue
            }
            bin += word.trailingZeroBitCount
            if let found = takeFromBin(bin, size, whole, tries: .max) { return found }
            bin += 1
        }
        return nil
    }

    /// Takes `size` units at `start`. Returns nil if no free range of at least that size begins there.
    mutating func take(_ size: UInt64, at start: UInt64) -> UnitRange? {
        guard let range = map.range(holding: start), range.start == start, range.count >= size else { return nil }
        let taken = UnitRange(start: start, end: start + size)
        _ = remove(taken)
        return taken
    }

    private mutating func takeFromBin(_ bin: Int, _ size: UInt64, _ whole: UInt64, tries: Int) -> UnitRange? {
        var index = bins[bin].count - 1, left = tries
        while index >= 0 && left > 0 {
            let start = bins[bin][index]
            guard let range = map.range(holding: start), range.start == start, FreeSpace.bin(range.count) == bin else {
                bins[bin].swapAt(index, bins[bin].count - 1)
                bins[bin].removeLast()
                binned -= 1
                index -= 1
                continue
            }
            if range.count >= whole {
                bins[bin].swapAt(index, bins[bin].count - 1)
                bins[bin].removeLast()
                binned -= 1
                let taken = UnitRange(start: start, end: start + size)
                _ = remove(taken)
                return taken
            }
            index -= 1
            left -= 1
        }
        if bins[bin].isEmpty { occupied[bin >> 6] &= ~(1 << UInt64(bin & 63)) }
        return nil
    }
}
