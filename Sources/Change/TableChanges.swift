import FirnBytes
import FirnModel

/// What became of the rows of one type between two versions of a file: what a notification is made of.
///
/// Rows are told apart by row id, so a row that only moved (from the delta into a segment, from one segment into another) has not changed.
/// Embedded objects count by the row they have in their own type: a new object is a change of its owner, a changed field one of its own type.
package struct TableChanges: Sendable {
    /// Row ids, ascending.
    package internal(set) var inserted: [Int64] = []
    package internal(set) var deleted: [Int64] = []
    package internal(set) var modified: ModifiedRows
    /// What was read to find this out.
    package internal(set) var decoded = Decoded()

    /// For tests of the promise that finding a change costs by the change.
    package struct Decoded: Sendable, Equatable {
        /// Vectors of up to 1,024 values.
        package var vectors = 0
        /// Values by themselves.
        package var values = 0

        package init() {}
    }

    package var isEmpty: Bool { inserted.isEmpty && deleted.isEmpty && modified.isEmpty }

    /// Both must be versions of one table; nil: the type does not exist in that version.
    /// - Complexity: a look at each segment, and decoding where segments cannot tell by themselves that their values are the same.
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
