import FirnBytes

/// A set of row ids for frequent look-ups: a bitmap if the ids are dense, otherwise a binary search.
package struct RowIDSet: Sendable, Equatable {
    /// Ascending and distinct.
    package let rowIDs: [Int64]
    private let bits: Bits?

    /// The ids must be ascending and distinct.
    init(ascending rowIDs: [Int64]) {
        self.rowIDs = rowIDs
        guard let first = rowIDs.first, let last = rowIDs.last else {
            bits = nil
            return
        }
        let (span, overflow) = last.subtractingReportingOverflow(first)
        guard !overflow, span < Int64(rowIDs.count) * 256 + 65_536 else {
            bits = nil
            return
        }
        var bits = Bits(count: Int(span) + 1)
        for id in rowIDs { bits[Int(id - first)] = true }
        self.bits = bits
    }

    /// The ids can be in any order, repeated or not.
    package init(_ rowIDs: [Int64]) {
        var distinct: [Int64] = []
        for id in rowIDs.sorted() where distinct.last != id { distinct.append(id) }
        self.init(ascending: distinct)
    }

    package var isEmpty: Bool { rowIDs.isEmpty }
    package var count: Int { rowIDs.count }

    package func contains(_ rowID: Int64) -> Bool {
        if let bits {
            let (offset, overflow) = rowID.subtractingReportingOverflow(rowIDs[0])
            return !overflow && offset >= 0 && offset < Int64(bits.count) && bits[Int(offset)]
        }
        var low = 0, high = rowIDs.count
        while low < high {
            let middle = (low + high) / 2
            if rowIDs[middle] < rowID { low = middle + 1 } else { high = middle }
        }
        return low < rowIDs.count && rowIDs[low] == rowID
    }

    /// Returns false only if no number of the range is in the set.
    func mayMeet(_ low: Int64, _ high: Int64) -> Bool {
        guard let first = rowIDs.first, let last = rowIDs.last else { return false }
        return low <= last && high >= first
    }
}
