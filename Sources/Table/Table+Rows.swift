import FirnBytes

/// Access to rows by their row ids, and by their rank among the live rows.
extension Table {
    /// Returns one value by row id, and decodes only that value. Returns null if the row does not exist.
    package func value(rowID: Int64, column: Int) throws(Damage) -> Value {
        guard let position = try segmentIndex(of: rowID) else { return .null }
        let segment = try segment(position)
        guard let row = try segment.position(of: rowID), segment.live?[row] ?? true else { return .null }
        return try segment.column(column).value(at: row)
    }

    /// Returns one whole row by row id, or nil if it does not exist.
    package func row(_ rowID: Int64) throws(Damage) -> [Value]? {
        guard let position = try segmentIndex(of: rowID) else { return nil }
        let segment = try segment(position)
        guard let row = try segment.position(of: rowID), segment.live?[row] ?? true else { return nil }
        var values: [Value] = []
        for column in type.columns.indices { values.append(try segment.column(column).value(at: row)) }
        return values
    }

    /// Returns the row id of the live row with `rank` live rows before it, or nil after the last row.
    /// - Complexity: O(segments).
    package func rowID(atRank rank: Int) throws(Damage) -> Int64? {
        guard rank >= 0 else { return nil }
        var left = rank
        for index in 0..<segmentCount {
            let segment = try segment(index)
            let count = segment.liveCount
            if left >= count {
                left -= count
                continue
            }
            guard let live = segment.live else { return try segment.rowID(at: left) }
            return try segment.rowID(at: live.position(ofOne: left))
        }
        return nil
    }

    /// Returns the row ids of all live rows, in table order.
    package func liveRowIDs() throws(Damage) -> [Int64] {
        var found: [Int64] = []
        found.reserveCapacity(rowCount)
        for index in 0..<segmentCount {
            let segment = try segment(index)
            for position in 0..<segment.rowCount where segment.live?[position] ?? true { found.append(try segment.rowID(at: position)) }
        }
        return found
    }
}

extension Bits {
    /// Returns the position of the set bit that has `rank` set bits before it. It must exist.
    func position(ofOne rank: Int) -> Int {
        var left = rank
        for (w, word) in words.enumerated() {
            let ones = word.nonzeroBitCount
            if left >= ones {
                left -= ones
                continue
            }
            var rest = word
            for _ in 0..<left { rest &= rest &- 1 }
            return w * 64 + rest.trailingZeroBitCount
        }
        trap("there are \(ones) set bits, not \(rank + 1)")
    }
}
