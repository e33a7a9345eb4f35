import FirnBytes
import FirnTable

/// The changes of the rows of one type between two versions of a file; notifications are made from them.
///
/// Rows are identified by row id, so a row that only moved (from the delta store into a segment, or between segments) has not changed.
/// Embedded objects count by their row in their own type: a new object changes its owner, a changed field changes the object's own type.
package struct TableChanges: Sendable {
    /// Row ids, ascending.
    package internal(set) var inserted: [Int64] = []
    package internal(set) var deleted: [Int64] = []
    package internal(set) var modified: ModifiedRows
    /// The number of vectors and values that were read.
    package internal(set) var decoded = Decoded()

    /// Counts what was read, for tests which verify that the cost of finding a change is proportional to the change.
    package struct Decoded: Sendable, Equatable {
        /// The number of decoded vectors of up to 1,024 values.
        package var vectors = 0
        /// The number of single values.
        package var values = 0

        package init() {}
    }

    package var isEmpty: Bool { inserted.isEmpty && deleted.isEmpty && modified.isEmpty }

    /// Returns the changes between two versions of one table; nil means that the type does not exist in that version.
    /// - Complexity: Visits each segment, and decodes values if segments cannot prove that they are equal.
    package static func between(_ old: (any Table)?, _ new: (any Table)?) throws(Damage) -> TableChanges {
        var changes = TableChanges(modified: ModifiedRows(columnCount: new?.type.columns.count ?? 0))
        if let old, let new {
            if old === new { return changes }
            var comparison = VersionComparison(old, new)
            try comparison.run(&changes)
        } else {
            if let old { for i in 0..<old.segmentCount { try appendLiveRows(of: try old.segment(i), from: 0, to: &changes.deleted) } }
            if let new { for i in 0..<new.segmentCount { try appendLiveRows(of: try new.segment(i), from: 0, to: &changes.inserted) } }
        }
        return changes
    }

    static func appendLiveRows(of segment: any Segment, from start: Int, to ids: inout [Int64]) throws(Damage) {
        let live = segment.live
        for row in start..<max(start, segment.rowCount) where live?[row] ?? true { ids.append(try segment.rowID(at: row)) }
    }
}
