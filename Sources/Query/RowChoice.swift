/// The rows of one vector that a filter left, as loops over them want them. The memory belongs to whoever made it, and lasts for one call.
struct RowChoice {
    /// A bit a row of the vector: 16 words.
    let mask: UnsafePointer<UInt64>
    /// How many rows the vector has, and how many of them are chosen.
    let count: Int, hits: Int
    /// The chosen rows, ascending. Filled only for those who said that they need them.
    let rows: UnsafePointer<Int32>
    /// The group of each chosen row; nil: there is one group.
    let groups: UnsafePointer<UInt32>?
    /// The chosen rows by groups, where there are few of those.
    var parts: GroupParts?

    var isWhole: Bool { hits == count }

    /// Calls `body` with every chosen row of an ungrouped vector in runs: first row and length. The runs of a word are found bit by bit.
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
            if isWhole { for row in 0..<count { body(Int(groups[row]), row) } } else { for j in 0..<hits { body(Int(groups[j]), Int(rows[j])) } }
        } else {
            for j in 0..<hits { body(0, Int(rows[j])) }
        }
    }
}
