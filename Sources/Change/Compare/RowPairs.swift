import FirnTable

/// Rows of one segment with their partners in another table, in an order in which the rows of each of the partners' vectors are
/// consecutive. A partner is segment << 16 | row.
struct RowPairs {
    private(set) var rows: [UInt32] = []
    private(set) var partners: [UInt32] = []

    /// Whether the rows ascend: each vector of both tables is needed once, one after the other.
    private(set) var isInOrder = true

    /// The segment of all partners if each has the same position in its segment as its row; else nil.
    private(set) var twin: Int?

    var count: Int { rows.count }

    mutating func append(row: Int, partner: UInt32) {
        rows.append(UInt32(truncatingIfNeeded: row))
        partners.append(partner)
    }

    mutating func reserve(_ count: Int) {
        rows.reserveCapacity(count)
        partners.reserveCapacity(count)
    }

    /// Sorts the pairs by the vectors of their partners, and keeps the order of rows within a vector. Then each vector is decoded once,
    /// however the two tables are ordered.
    mutating func arrange() {
        var low = UInt32.max, high: UInt32 = 0, isAscending = true, misplaced: UInt32 = 0
        let distance = (partners.first ?? 0) &- (rows.first ?? 0)
        for (row, partner) in zip(rows, partners) {
            let vector = partner >> 10
            if vector < high { isAscending = false }
            low = min(low, vector)
            high = max(high, vector)
            misplaced |= partner &- row ^ distance
        }
        if count > 0, misplaced == 0, distance & 0xFFFF == 0 { twin = Int(distance >> 16) }
        guard !isAscending else { return }
        isInOrder = false
        let span = Int(high - low) + 1
        guard span <= 1 << 20 else { return arrangeBySorting() }
        var next = [Int](repeating: 0, count: span + 1)
        for partner in partners { next[Int(partner >> 10 - low) + 1] += 1 }
        for i in 1...span { next[i] += next[i - 1] }
        var sortedRows = [UInt32](repeating: 0, count: count), sortedPartners = sortedRows
        for i in 0..<count {
            let bucket = Int(partners[i] >> 10 - low)
            sortedRows[next[bucket]] = rows[i]
            sortedPartners[next[bucket]] = partners[i]
            next[bucket] += 1
        }
        rows = sortedRows
        partners = sortedPartners
    }

    private mutating func arrangeBySorting() {
        let order = (0..<count).sorted { (partners[$0] >> 10, $0) < (partners[$1] >> 10, $1) }
        rows = order.map { rows[$0] }
        partners = order.map { partners[$0] }
    }
}
