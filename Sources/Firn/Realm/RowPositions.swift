import FirnBytes
import FirnTable

/// Finds the positions of rows that are read in sequence: the segment of the last one is used for the next one if its row ids are
/// consecutive.
struct RowPositions {
    private let access: TypeAccess
    private var generation: UInt32
    private var segment = 0
    /// The row ids of the segment; empty if none is known.
    private var rows: Range<Int64> = 0..<0
    private var live: Bits?

    init(_ access: TypeAccess) {
        self.access = access
        generation = access.state.pointee.generation
    }

    /// Returns the segment and the position of a row, or nil if it does not exist.
    mutating func position(of rowID: Int64) -> (segment: Int, position: Int)? {
        guard rows.contains(rowID), generation == access.state.pointee.generation else { return find(rowID) }
        let position = Int(rowID &- rows.lowerBound)
        if live != nil, !live![position] { return nil }
        return (segment, position)
    }

    private mutating func find(_ rowID: Int64) -> (segment: Int, position: Int)? {
        rows = 0..<0
        generation = access.state.pointee.generation
        guard let row = access.position(of: rowID) else { return nil }
        // In a transaction the caller may delete rows, and the last segment grows, so each row is looked up.
        guard !access.isWritten else { return row }
        access.core.reading(()) { () throws(Damage) in
            let found = try access.table.segment(row.segment), count = found.rowCount
            let first = try found.rowID(at: 0)
            guard try found.rowID(at: count - 1) - first == Int64(count - 1) else { return }
            rows = first..<first + Int64(count)
            live = found.live
            segment = row.segment
        }
        return row
    }
}
