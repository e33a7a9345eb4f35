/// Numbers pairs of (number of the previous keys, number of the next key) in the order of their first appearance. The numbers of the last
/// key are the groups.
struct KeyChain {
    /// For the first key, whose values are numbered from 1 in the same order: how many numbers are assigned, and that of null, if it was
    /// met. The values after it have their own number, those before it the number below.
    private var firsts = 0
    private var null: UInt32?
    private var pairs = IntegerNumbering()
    private let isFirst: Bool

    init(isFirst: Bool) { self.isFirst = isFirst }

    /// Returns the pairs with the given numbers.
    /// - Complexity: O(n + count) for each call.
    func keys(_ numbers: [Int]) -> [Int64] {
        guard isFirst else {
            let keys = pairs.keys
            return numbers.map { keys[$0] }
        }
        guard let null = null.map({ Int($0) }) else { return numbers.map { Int64($0 + 1) } }
        return numbers.map { $0 < null ? Int64($0 + 1) : $0 == null ? 0 : Int64($0) }
    }
    /// The memory in use in bytes.
    var bytes: Int { pairs.bytes }
    var count: Int { isFirst ? firsts : pairs.count }

    /// Returns the number of a pair. `before` is the number of the previous keys, 0 for the first key.
    @inline(__always)
    mutating func number(_ key: UInt32, after before: UInt32) -> UInt32 {
        isFirst ? first(key) : pairs.number(Int64(before) << 32 | Int64(key))
    }

    /// Replaces `out[i]` with the number of `keys[i]` after `out[i]`, for many pairs at a time.
    mutating func numbers(_ keys: UnsafeBufferPointer<UInt32>, _ out: UnsafeMutablePointer<UInt32>, threads: Int = 1) {
        guard !isFirst else {
            if null == nil, numberFirst(keys, out) { return }
            for j in keys.indices { out[j] = first(keys[j]) }
            return
        }
        withUnsafeTemporaryAllocation(of: Int64.self, capacity: keys.count) { room in
            for j in keys.indices { room[j] = Int64(out[j]) << 32 | Int64(keys[j]) }
            pairs.numbers(UnsafeBufferPointer(room), into: out, threads: threads)
        }
    }

    /// Numbers keys before null is met. Returns false, and changes nothing, if it is among them.
    private mutating func numberFirst(_ keys: UnsafeBufferPointer<UInt32>, _ out: UnsafeMutablePointer<UInt32>) -> Bool {
        var highest: UInt32 = 0, least = UInt32.max
        for key in keys {
            highest = max(highest, key)
            least = min(least, key)
        }
        guard least > 0 else { return false }
        for j in keys.indices { out[j] = keys[j] &- 1 }
        firsts = max(firsts, Int(highest))
        return true
    }

    @inline(__always)
    private mutating func first(_ key: UInt32) -> UInt32 {
        if key == 0 { return firstNull() }
        let number = null.map { key > $0 ? key : key &- 1 } ?? key &- 1
        firsts = max(firsts, Int(number) &+ 1)
        return number
    }

    private mutating func firstNull() -> UInt32 {
        if null == nil {
            null = UInt32(truncatingIfNeeded: firsts)
            firsts += 1
        }
        return null!
    }
}
