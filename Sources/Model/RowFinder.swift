import FirnBytes

/// Finds the rows of a table by their ids, one after the other, and remembers the segments it met. For one thread.
struct RowFinder {
    let table: any Table

    /// A segment that a row was looked for in.
    struct Known {
        let segment: any Segment
        let first: Int64, last: Int64
        /// Every id from the first to the last has its row.
        let isDense: Bool
        let live: Bits?
    }

    /// In the order they were met: what a place counts by.
    private(set) var known: [Known] = []
    /// Numbers of `known`, ascending by first row id.
    private var order: [Int] = []
    private var latest = 0

    init(_ table: any Table) { self.table = table }

    /// Where a live row stands: the number of its segment in `known` and its position there, as `RowFinder.place` packs them. Nil if there
    /// is no such row.
    mutating func place(of rowID: Int64) throws(Damage) -> Int? {
        if latest < known.count, known[latest].first <= rowID, rowID <= known[latest].last { return try place(of: rowID, in: latest) }
        var low = 0, high = order.count
        while low < high {
            let middle = (low + high) / 2
            if known[order[middle]].first <= rowID { low = middle + 1 } else { high = middle }
        }
        if low > 0, rowID <= known[order[low - 1]].last {
            latest = order[low - 1]
            return try place(of: rowID, in: latest)
        }
        guard let index = try table.segmentIndex(of: rowID) else { return nil }
        let segment = try table.segment(index), count = segment.rowCount
        guard count > 0 else { return nil }
        let first = try segment.rowID(at: 0), last = try segment.rowID(at: count - 1)
        // An id between two segments leads to one that is known already.
        guard first <= rowID, rowID <= last, low == 0 || known[order[low - 1]].first != first else { return nil }
        order.insert(known.count, at: low)
        latest = known.count
        known.append(Known(segment: segment, first: first, last: last, isDense: last - first == Int64(count - 1), live: segment.live))
        return try place(of: rowID, in: latest)
    }

    private func place(of rowID: Int64, in number: Int) throws(Damage) -> Int? {
        var position = Int(rowID - known[number].first)
        if !known[number].isDense {
            guard let found = try known[number].segment.position(of: rowID) else { return nil }
            position = found
        }
        if let live = known[number].live, !live[position] { return nil }
        return RowFinder.place(number, position)
    }

    @inline(__always)
    static func place(_ number: Int, _ position: Int) -> Int { number << 16 | position }
}
