import FirnBytes
import FirnTable

/// Divides two tables whose keys ascend alike into windows: segments of the new table, with the rows of the old one that can have the same
/// keys. Windows are compared one after the other, so that memory does not depend on the number of rows.
struct KeyWindows {
    struct Window {
        var new: Range<Int>
        var old: Range<Int>
        /// The bounds of the keys; nil stands for none.
        var low: Column?
        var high: Column?
    }

    let windows: [Window]
    let ranges: KeyRanges

    /// Returns nil if the tables cannot be divided.
    init?(_ old: any Table, _ new: any Table, _ key: [ColumnPairing], _ options: DifferenceOptions) throws(FirnError) {
        guard let (before, after) = try KeyRanges.both(old: old, new: new, key, options) else { return nil }
        var windows: [Window] = [], start = 0, low: Column?
        let perWindow = max(1, options.execution.windowRows / segmentSize)
        func close(_ end: Int, _ high: Column?) {
            windows.append(Window(new: start..<end, old: before.segments(from: low, to: high), low: low, high: high))
        }
        for cut in after.cuts() where cut.segment - start >= perWindow {
            close(cut.segment, cut.least)
            (start, low) = (cut.segment, cut.least)
        }
        close(new.segmentCount, nil)
        // If old segments belong to many windows, the old table has another order.
        guard windows.count > 1, windows.reduce(0, { $0 + $1.old.count }) <= old.segmentCount + 4 * windows.count else { return nil }
        self.windows = windows
        ranges = before
    }
}

extension TableDifference {
    /// Whether the keys of both tables ascend from segment to segment, by their first column, as far as that column can be compared. Then the
    /// partners of a segment's rows are in a few segments of the other table. The answer relies on zones, which can be wrong in files of
    /// others: use it to choose how rows are read, not for results.
    package static func keysAscend(old: any Table, new: any Table, options: DifferenceOptions) throws(FirnError) -> Bool {
        let old = VisibleTable.of(old), new = VisibleTable.of(new)
        func own(_ table: any Table) -> [String] { table.type.key.map { table.type.columns[$0].name } }
        let names = !options.key.isEmpty ? options.key : own(new).isEmpty ? own(old) : own(new)
        guard let first = names.first, old.type.index(of: first) != nil, new.type.index(of: first) != nil else { return false }
        let key = [ColumnPairing(first, old: old, new: new)]
        guard let (before, after) = try KeyRanges.both(old: old, new: new, key, options, believesZones: true) else { return false }
        return before.ascend && after.ascend
    }
}

/// Some consecutive segments of a table.
final class SegmentRange: WrappedTable {
    let base: any Table
    private let range: Range<Int>
    let rowCount: Int

    init(_ base: any Table, _ range: Range<Int>) throws(Damage) {
        self.base = base
        self.range = range
        var count = 0
        for i in range { count += try base.segment(i).liveCount }
        rowCount = count
    }

    var type: TypeSchema { base.type }
    var schema: Schema { base.schema }
    var segmentCount: Int { range.count }
    func segment(_ index: Int) throws(Damage) -> any Segment { try base.segment(range.lowerBound + index) }
    func segmentIndex(of rowID: Int64) throws(Damage) -> Int? {
        guard let index = try base.segmentIndex(of: rowID), range.contains(index) else { return nil }
        return index - range.lowerBound
    }
}
