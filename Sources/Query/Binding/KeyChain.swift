/// Numbers pairs of (number of the previous keys, number of the next key) in the order of their first appearance. The numbers of the last
/// key are the groups.
struct KeyChain {
    /// The assigned numbers by number of the first key; these are dense. `.max` means not assigned.
    private var positions: [UInt32] = []
    private var firsts: [Int64] = []
    private var pairs = IntegerTable()
    private let isFirst: Bool

    init(isFirst: Bool) { self.isFirst = isFirst }

    /// The pairs numbered 0, 1 …
    var keys: [Int64] { isFirst ? firsts : pairs.keys }
    /// The memory in use in bytes.
    var bytes: Int { positions.count &* 4 &+ firsts.count &* 8 &+ pairs.bytes }
    var count: Int { isFirst ? firsts.count : pairs.keys.count }

    /// Returns the number of a pair. `before` is the number of the previous keys, 0 for the first key.
    @inline(__always)
    mutating func number(_ key: UInt32, after before: UInt32) -> UInt32 {
        isFirst ? first(key) : pairs.number(Int64(before) << 32 | Int64(key))
    }

    /// Replaces `out[i]` with the number of `keys[i]` after `out[i]`, for many pairs at a time.
    mutating func numbers(_ keys: UnsafeBufferPointer<UInt32>, _ out: UnsafeMutablePointer<UInt32>) {
        guard !isFirst else {
            for j in keys.indices { out[j] = first(keys[j]) }
            return
        }
        withUnsafeTemporaryAllocation(of: Int64.self, capacity: keys.count) { room in
            for j in keys.indices { room[j] = Int64(out[j]) << 32 | Int64(keys[j]) }
            pairs.numbers(UnsafeBufferPointer(room), into: out)
        }
    }

    @inline(__always)
    private mutating func first(_ key: UInt32) -> UInt32 {
        if Int(key) < positions.count, positions[Int(key)] != .max { return positions[Int(key)] }
        return meet(key)
    }

    private mutating func meet(_ key: UInt32) -> UInt32 {
        if Int(key) >= positions.count {
            positions.append(contentsOf: repeatElement(.max, count: max(Int(key) + 1, positions.count * 2) - positions.count))
        }
        positions[Int(key)] = UInt32(truncatingIfNeeded: firsts.count)
        firsts.append(Int64(key))
        return positions[Int(key)]
    }
}
