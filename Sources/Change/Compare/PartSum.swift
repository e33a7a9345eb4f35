import FirnBytes
import FirnTable

/// The sum of the differences of parts of two tables.
struct PartSum {
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
        addCounts(of: part)
        for (i, rows) in part.removedRows.enumerated() { removedRows[first + i].formUnion(rows) }
        for segment in part.segments {
            segments.append(segment)
            segments[segments.count - 1].renumberPartners { $0 + UInt32(starts[first]) }
        }
    }

    /// Adds the difference of the segments at the given positions, of tables whose other rows, `same` live ones, are the same.
    mutating func add(_ part: TableDifference, old: [Int], new: [Int], of newCount: Int, same: Int) {
        addCounts(of: part)
        unchanged += same
        for (i, rows) in part.removedRows.enumerated() { removedRows[old[i]].formUnion(rows) }
        segments = Array(repeating: SegmentDifference(partners: [], changed: Bits(count: 0), changedCells: []), count: newCount)
        for (i, segment) in part.segments.enumerated() {
            segments[new[i]] = segment
            segments[new[i]].renumberPartners { flat in
                let of = part.oldStarts.segment(ofRow: Int(flat))
                return UInt32(starts[old[of]] + Int(flat) - part.oldStarts[of])
            }
        }
    }

    private mutating func addCounts(of part: TableDifference) {
        for (i, column) in part.columns.enumerated() { cells[i] += column.changed }
        added += part.added
        changed += part.changed
        unchanged += part.unchanged
        leftOutOld += part.leftOutOld
        leftOutNew += part.leftOutNew
    }
}

extension [Int] {
    /// For the numbers of the first rows of segments, and of all rows: returns the segment that contains a row.
    func segment(ofRow flat: Int) -> Int {
        var low = 0, high = count - 1
        while high - low > 1 {
            let middle = (low + high) / 2
            if self[middle] <= flat { low = middle } else { high = middle }
        }
        return low
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
