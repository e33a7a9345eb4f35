import FirnBytes
import FirnStore
import FirnTable

/// The row ids of a type whose rows may differ between two versions, derived from the extents that the versions share. Ranges ascend and
/// do not overlap.
struct ChangedRows {
    private(set) var ranges: [ClosedRange<Int64>] = []

    static let all = ChangedRows([0...Int64.max])

    init(_ ranges: [ClosedRange<Int64>]) {
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = self.ranges.last, range.lowerBound <= last.upperBound {
                self.ranges[self.ranges.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
            } else {
                self.ranges.append(range)
            }
        }
    }

    /// Compares a type that has the same index in both versions. Segments with the same header and without delta records in either version
    /// contain the same rows.
    init(between one: SnapshotCore, _ other: SnapshotCore, type: Int) throws(Damage) {
        let mine = try ChangedRows.untouched(one, type), theirs = try ChangedRows.untouched(other, type)
        var ranges: [ClosedRange<Int64>] = []
        for (core, own, foreign) in [(one, mine, theirs), (other, theirs, mine)] {
            let state = core.catalogue.types[type]
            var end: Int64 = -1
            for index in 0..<state.segmentCount {
                let entry = try core.directoryEntry(type: type, index: index)
                guard entry.firstRowID > end else { throw Damage("row ids do not ascend from the segment before") }
                end = entry.lastRowID
                if !own.contains(entry.header) || !foreign.contains(entry.header) { ranges.append(entry.firstRowID...entry.lastRowID) }
            }
            if state.deltaRows > 0 { ranges.append(end + 1...Int64.max) }
        }
        self.init(ranges)
    }

    private static func untouched(_ core: SnapshotCore, _ type: Int) throws(Damage) -> Set<ExtentRef> {
        let state = core.catalogue.types[type]
        var refs: Set<ExtentRef> = []
        for index in 0..<state.segmentCount where !state.touches(index) {
            let header = try core.directoryEntry(type: type, index: index).header
            if !header.isNone { refs.insert(header) }
        }
        return refs
    }

    func overlaps(_ range: ClosedRange<Int64>) -> Bool {
        // The first range that does not end before `range`.
        var low = 0, high = ranges.count
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound < range.lowerBound { low = middle + 1 } else { high = middle }
        }
        return low < ranges.count && ranges[low].lowerBound <= range.upperBound
    }
}
