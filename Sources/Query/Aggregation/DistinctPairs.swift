import FirnTable

/// The distinct pairs of group and value.
struct DistinctPairs {
    /// For each value, one bit for each of the first 64 groups.
    private var masks: [UInt64] = []
    /// For other groups, pairs of (group, value).
    private var pairs = IntegerNumbering()
    /// The memory in use in bytes.
    var bytes: Int { masks.count &* 8 &+ pairs.bytes }

    /// Counts the pairs that are new. Values are below `bound`; 0 means no value. If `groups` is nil, all rows belong to group 0.
    mutating func meet(_ values: UnsafeBufferPointer<UInt32>, below bound: Int, _ groups: UnsafePointer<UInt32>?, _ counts: inout [Int]) {
        if masks.count < bound { masks.append(contentsOf: repeatElement(0, count: max(bound, masks.count * 2) - masks.count)) }
        withUnsafeTemporaryAllocation(of: Int64.self, capacity: values.count) { others in
            var n = 0
            masks.withUnsafeMutableBufferPointer { masks in
                counts.withUnsafeMutableBufferPointer { counts in
                    for j in values.indices where values[j] != 0 {
                        let group = groups.map { Int($0[j]) } ?? 0
                        guard group < 64 else {
                            others[n] = Int64(group) << 32 | Int64(values[j])
                            n &+= 1
                            continue
                        }
                        let mask = masks[Int(values[j])], bit: UInt64 = 1 &<< UInt64(truncatingIfNeeded: group)
                        masks[Int(values[j])] = mask | bit
                        counts[group] &+= mask & bit == 0 ? 1 : 0
                    }
                }
            }
            if n > 0 { meet(UnsafeBufferPointer(rebasing: others[..<n]), &counts) }
        }
    }

    private mutating func meet(_ others: UnsafeBufferPointer<Int64>, _ counts: inout [Int]) {
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: others.count) { numbers in
            var known = pairs.count
            pairs.numbers(others, into: numbers.baseAddress!)
            // New pairs get consecutive numbers.
            for j in others.indices where Int(numbers[j]) == known {
                known += 1
                counts[Int(others[j] >> 32)] += 1
            }
        }
    }

    /// Adds the pairs of another run, whose group g is this one's `groupOf[g]` and whose value v is this one's `values[v]`; values are
    /// below `bound`.
    mutating func meet(_ other: DistinctPairs, _ groupOf: [Int], _ values: [UInt32], below bound: Int, _ counts: inout [Int]) {
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 2 * vectorSize) { room in
            let met = UnsafeMutableBufferPointer(rebasing: room[..<vectorSize]),
                groups = UnsafeMutableBufferPointer(rebasing: room[vectorSize...])
            var n = 0
            func flush() {
                meet(UnsafeBufferPointer(rebasing: met[..<n]), below: bound, groups.baseAddress, &counts)
                n = 0
            }
            other.forEach { group, value in
                met[n] = values[Int(value)]
                groups[n] = UInt32(truncatingIfNeeded: groupOf[group])
                n += 1
                if n == vectorSize { flush() }
            }
            flush()
        }
    }

    private func forEach(_ body: (Int, UInt32) -> Void) {
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
