import FirnBytes

/// An open-addressing table from words to numbers, counted from 0.
struct IntegerTable: Sendable {
    private var slots: [UInt32] = Array(repeating: .max, count: 16)
    private(set) var keys: [Int64] = []
    private var shift: UInt64 = 60
    /// Whether the hash is keyed with a secret of the process. Switched on when keys collide as if they were chosen to.
    private(set) var isKeyed = false

    /// The memory in use in bytes.
    var bytes: Int { slots.count &* 4 &+ keys.count &* 8 }

    /// The maximum distance of a key from its first slot that is plausible for keys that were not chosen to collide.
    static let reach = 1024

    /// Returns by how many powers of two to enlarge the slots, or nil. Slots are at most two thirds full; small tables grow by a factor of
    /// four, so that a growing table is not rebuilt soon.
    @inline(__always)
    static func growth(_ keys: Int, _ slots: Int) -> Int? { keys &* 3 <= slots &* 2 ? nil : slots < 1 << 16 ? 2 : 1 }

    @inline(__always)
    private func hash(_ key: Int64) -> UInt64 { isKeyed ? IntegerTable.keyed(key) : IntegerTable.mixed(key) }

    private static func keyed(_ key: Int64) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(key)
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }

    @inline(__always)
    private static func mixed(_ key: Int64) -> UInt64 {
        var x = UInt64(bitPattern: key)
        x ^= x >> 32
        x = x &* 0x9E37_79B9_7F4A_7C15
        x ^= x >> 29
        return x &* 0xBF58_476D_1CE4_E5B9
    }

    @inline(__always)
    mutating func number(_ key: Int64) -> UInt32 {
        let mask = slots.count &- 1, first = Int(truncatingIfNeeded: hash(key) >> shift)
        var at = first
        while true {
            let found = slots[at]
            if found == .max { return insert(key, at, (at &- first) & mask) }
            if keys[Int(found)] == key { return found }
            at = (at &+ 1) & mask
        }
    }

    /// Writes the numbers of many keys, as if `number` were called for one after another. The look-ups are independent of each other, so
    /// the processor overlaps their memory accesses.
    mutating func numbers(_ sought: UnsafeBufferPointer<Int64>, into out: UnsafeMutablePointer<UInt32>) {
        slots.withUnsafeBufferPointer { slots in
            for j in sought.indices { out[j] = slots[Int(truncatingIfNeeded: hash(sought[j]) >> shift)] }
        }
        keys.withUnsafeBufferPointer { keys in
            for j in sought.indices {
                // The value of a free slot is not less than the number of keys.
                let found = Int(out[j])
                if found >= keys.count || keys[found] != sought[j] { out[j] = .max }
            }
        }
        for j in sought.indices where out[j] == .max { out[j] = number(sought[j]) }
    }

    private mutating func insert(_ key: Int64, _ at: Int, _ distance: Int) -> UInt32 {
        trap(unless: keys.count < Int(UInt32.max) - 1, "more than 2^32 distinct values")
        let id = UInt32(keys.count)
        slots[at] = id
        keys.append(key)
        if distance > IntegerTable.reach, !isKeyed {
            isKeyed = true
            fillSlots(among: slots.count)
        }
        if let growth = IntegerTable.growth(keys.count, slots.count) {
            shift -= UInt64(growth)
            fillSlots(among: slots.count << growth)
        }
        return id
    }

    private mutating func fillSlots(among count: Int) {
        slots = Array(repeating: .max, count: count)
        let mask = count - 1
        for (id, key) in keys.enumerated() {
            var at = Int(truncatingIfNeeded: hash(key) >> shift)
            while slots[at] != .max { at = (at + 1) & mask }
            slots[at] = UInt32(id)
        }
    }
}
