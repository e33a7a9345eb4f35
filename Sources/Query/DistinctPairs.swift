/// Which values were met in which groups.
struct DistinctPairs {
    /// Of each value, a bit for each of the first 64 groups.
    private var masks: [UInt64] = []
    /// Of other groups, (group, value).
    private var pairs = WordTable()

    /// Whether the pair is new.
    @inline(__always)
    mutating func meet(_ group: Int, _ value: UInt32) -> Bool {
        if group < 64 {
            let place = Int(value), bit: UInt64 = 1 &<< UInt64(truncatingIfNeeded: group)
            if place >= masks.count { masks.append(contentsOf: repeatElement(0, count: place + 1 - masks.count)) }
            let mask = masks[place]
            if mask & bit != 0 { return false }
            masks[place] = mask | bit
            return true
        }
        let known = pairs.keys.count
        return Int(pairs.number(Int64(group) << 32 | Int64(value))) == known
    }

    func forEach(_ body: (Int, UInt32) -> Void) {
        for (value, mask) in masks.enumerated() {
            var rest = mask
            while rest != 0 {
                body(rest.trailingZeroBitCount, UInt32(value))
                rest &= rest &- 1
            }
        }
        for pair in pairs.keys { body(Int(pair >> 32), UInt32(truncatingIfNeeded: pair)) }
    }
}
