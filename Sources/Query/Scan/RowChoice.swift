/// The rows of one vector that match a filter, in the forms that loops need. The memory belongs to the creator and is valid for one call.
struct RowChoice {
    /// One bit for each row of the vector: 16 words.
    let mask: UnsafePointer<UInt64>
    /// The number of rows of the vector, and the number of chosen rows.
    let count: Int, hits: Int
    /// The chosen rows, ascending. Filled only if a consumer needs them.
    let rows: UnsafePointer<Int32>
    /// The group of each chosen row; nil if there is one group.
    let groups: UnsafePointer<UInt32>?
    /// The chosen rows sorted by group, if there are few groups.
    var parts: GroupParts?

    var isWhole: Bool { hits == count }

    /// Calls `body` with runs of chosen rows of an ungrouped vector: first row and length. Words that are not full produce runs of one row.
    @inline(__always)
    func forEachRun(_ body: (Int, Int) -> Void) {
        if isWhole { return body(0, count) }
        for w in 0..<((count &+ 63) >> 6) {
            var rest = mask[w]
            if rest == .max {
                body(w &* 64, 64)
                continue
            }
            while rest != 0 {
                body(w &* 64 &+ rest.trailingZeroBitCount, 1)
                rest &= rest &- 1
            }
        }
    }

    /// Calls `body` with the group and the row of every chosen row.
    @inline(__always)
    func forEach(_ body: (Int, Int) -> Void) {
        if let groups {
            if isWhole {
                for row in 0..<count { body(Int(groups[row]), row) }
            } else {
                for j in 0..<hits { body(Int(groups[j]), Int(rows[j])) }
            }
        } else {
            for j in 0..<hits { body(0, Int(rows[j])) }
        }
    }
}
