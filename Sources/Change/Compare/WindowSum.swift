import FirnBytes
import FirnTable

/// The sum of the differences of windows.
struct WindowSum {
    private(set) var segments: [SegmentDifference] = []
    /// By segment of the old table.
    private(set) var removedRows: [Bits]
    /// The number of the first row of each old segment, and the number of all rows.
    let starts: [Int]
    /// The changed cells of each compared column.
    private(set) var cells: [Int]
    private(set) var added = 0, changed = 0, unchanged = 0, leftOutOld = 0, leftOutNew = 0

    init(_ rowCounts: [Int], columns: Int) {
        removedRows = rowCounts.map { Bits(count: $0) }
        starts = rowCounts.reduce(into: [0]) { $0.append($0[$0.count - 1] + $1) }
        cells = Array(repeating: 0, count: columns)
    }

    /// Adds the difference of the next window, whose old segments begin at `first`.
    mutating func add(_ part: TableDifference, at first: Int, _ options: DifferenceOptions) {
        for (i, column) in part.columns.enumerated() { cells[i] += column.changed }
        added += part.added
        changed += part.changed
        unchanged += part.unchanged
        leftOutOld += part.leftOutOld
        leftOutNew += part.leftOutNew
        for (i, rows) in part.removedRows.enumerated() { removedRows[first + i].formUnion(rows) }
        for segment in part.segments {
            segments.append(segment)
            segments[segments.count - 1].shiftPartners(by: starts[first])
        }
    }
}

extension Table {
    /// Returns the numbers of rows of the segments.
    func rowCounts(_ name: String) throws(FirnError) -> [Int] {
        do throws(Damage) {
            var counts: [Int] = []
            for i in 0..<segmentCount {
                counts.append(try segment(i).rowCount)
                guard counts[i] <= segmentSize else { throw Damage("a segment of \(counts[i]) rows") }
            }
            return counts
        } catch { throw FirnError(error, in: name) }
    }
}
