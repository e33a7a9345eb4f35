import FirnBytes
import FirnDatabase
import FirnQuery
import FirnTable

/// The rows of a whole table that a query selects, by segment. Segments that have not changed since the last evaluation are not read again.
struct SegmentMatches {
    private struct Kept {
        var segment: any Segment
        /// The selected rows, one bit each, and their number.
        var matches: Bits
        var count: Int
    }
    private var kept: [Int64: Kept] = [:]
    private var current: [Kept] = []
    private(set) var evaluatedCount = 0
    /// The number of rows that the last evaluation selected.
    private(set) var count = 0

    mutating func evaluate(_ run: QueryRun, _ table: any Table) throws {
        var found: [Kept?] = [], keys: [Int64] = [], asked: [Int] = []
        // The segments of a working table change in place, so their matches are not kept.
        let isSettled = !(table is WorkingTable)
        for index in 0..<table.segmentCount {
            let segment = try table.segment(index)
            guard segment.rowCount > 0 else { continue }
            let first = try segment.rowID(at: 0)
            keys.append(first)
            // Kept segments never belong to a transaction, so the same segment instance is unchanged.
            if let known = kept[first], try known.segment === segment || isUnchanged(segment, from: known.segment) {
                found.append(Kept(segment: segment, matches: known.matches, count: known.count))
            } else {
                found.append(nil)
                asked.append(index)
            }
        }
        var answers = try run.matches(ofSegments: asked)[...]
        evaluatedCount += asked.count
        var segments = asked[...]
        for i in found.indices where found[i] == nil {
            let matches = answers.removeFirst()
            found[i] = Kept(segment: try table.segment(segments.removeFirst()), matches: matches, count: matches.ones)
        }
        current = found.compactMap { $0 }
        count = current.reduce(0) { $0 + $1.count }
        // The matches from before a transaction remain valid for the versions after it.
        if isSettled { kept = Dictionary(zip(keys, current)) { $1 } }
    }

    /// Returns the ids of the rows that the last evaluation selected, in ascending order.
    func rowIDs() throws -> [Int64] {
        var out: [Int64] = []
        out.reserveCapacity(count)
        for part in current where part.count > 0 {
            try part.matches.forEachSet { (row) throws(Damage) in out.append(try part.segment.rowID(at: row)) }
        }
        return out
    }

    private func isUnchanged(_ segment: any Segment, from known: any Segment) throws -> Bool {
        guard segment.rowCount == known.rowCount, let changed = try segment.storedRowsThatMayDiffer(from: known) else { return false }
        return changed.ones == 0
    }
}
