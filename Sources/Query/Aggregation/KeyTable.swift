import FirnBytes
import FirnTable

/// A key of a `KeyTable`.
protocol TableKey: Equatable, BitwiseCopyable, Sendable {
    static var zero: Self { get }
    /// A fast hash, whose upper bits select a slot.
    var mixed: UInt64 { get }
    /// Adds the bytes that a hash with a secret key is computed from.
    func add(to hasher: inout Hasher)
}

/// An open-addressing table from words to numbers.
typealias IntegerTable = KeyTable<Int64>

/// What all open-addressing tables have in common.
enum TableSlots {
    /// The maximum distance of a key from its first slot that is plausible for keys that were not chosen to collide.
    static let reach = 1024

    /// Returns by how many powers of two to enlarge the slots, or nil. Slots are at most two thirds full; small tables grow by a factor of
    /// four, so that a growing table is not rebuilt soon.
    @inline(__always)
    static func growth(_ keys: Int, _ slots: Int) -> Int? { keys &* 3 <= slots &* 2 ? nil : slots < 1 << 16 ? 2 : 1 }
}

/// An open-addressing table from keys of a fixed size to numbers, counted from 0.
struct KeyTable<Key: TableKey>: Sendable {
    private var slots: [UInt32] = Array(repeating: .max, count: 16)
    private(set) var keys: [Key] = []
    private var shift: UInt64 = 60
    /// Whether the hash is keyed with a secret of the process. Switched on when keys collide as if they were chosen to.
    private(set) var isKeyed = false

    /// The memory in use in bytes.
    var bytes: Int { slots.count &* 4 &+ keys.count &* MemoryLayout<Key>.stride }

    @inline(__always)
    private static func hash(_ key: Key, _ isKeyed: Bool) -> UInt64 { isKeyed ? keyed(key) : key.mixed }

    private static func keyed(_ key: Key) -> UInt64 {
        var hasher = Hasher()
        key.add(to: &hasher)
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }

    @inline(__always)
    mutating func number(_ key: Key) -> UInt32 {
        let mask = slots.count &- 1, first = Int(truncatingIfNeeded: KeyTable.hash(key, isKeyed) >> shift)
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
    mutating func numbers(_ sought: UnsafeBufferPointer<Key>, into out: UnsafeMutablePointer<UInt32>) {
        var first = 0
        while first < sought.count {
            let end = min(first + vectorSize, sought.count)
            vector(UnsafeBufferPointer(rebasing: sought[first..<end]), out + first)
            first = end
        }
    }

    private mutating func vector(_ sought: UnsafeBufferPointer<Key>, _ out: UnsafeMutablePointer<UInt32>) {
        withUnsafeTemporaryAllocation(of: Int32.self, capacity: sought.count) { missed in
            var count = 0
            slots.withUnsafeBufferPointer { slots in
                for j in sought.indices { out[j] = slots[Int(truncatingIfNeeded: KeyTable.hash(sought[j], isKeyed) >> shift)] }
            }
            keys.withUnsafeBufferPointer { keys in
                guard let last = UInt32(exactly: keys.count - 1) else {
                    for j in sought.indices { missed[j] = Int32(truncatingIfNeeded: j) }
                    return count = sought.count
                }
                // Without branches on what is found, which the processor cannot predict. The value of a free slot is above the last number.
                for j in sought.indices {
                    missed[count] = Int32(truncatingIfNeeded: j)
                    count &+= keys[Int(min(out[j], last))] != sought[j] || out[j] > last ? 1 : 0
                }
            }
            if count > 0 { add(UnsafeBufferPointer(rebasing: missed[..<count]), of: sought, out) }
        }
    }

    /// Looks up the keys that are not in their first slot, and appends those that are new.
    private mutating func add(
        _ missed: UnsafeBufferPointer<Int32>, of sought: UnsafeBufferPointer<Key>, _ out: UnsafeMutablePointer<UInt32>
    ) {
        let known = keys.count
        trap(unless: known + missed.count < Int(UInt32.max) - 1, "more than 2^32 distinct values")
        grow(for: missed.count)
        keys.append(contentsOf: repeatElement(.zero, count: missed.count))
        let mask = slots.count &- 1, isKeyed = isKeyed, shift = shift
        var count = known, farthest = 0
        slots.withUnsafeMutableBufferPointer { slots in
            keys.withUnsafeMutableBufferPointer { keys in
                for m in missed {
                    let j = Int(m), key = sought[j], first = Int(truncatingIfNeeded: KeyTable.hash(key, isKeyed) >> shift)
                    var at = first
                    while slots[at] != .max, keys[Int(slots[at])] != key { at = (at &+ 1) & mask }
                    if slots[at] == .max {
                        slots[at] = UInt32(truncatingIfNeeded: count)
                        keys[count] = key
                        count &+= 1
                        farthest = max(farthest, (at &- first) & mask)
                    }
                    out[j] = slots[at]
                }
            }
        }
        keys.removeLast(known + missed.count - count)
        if farthest > TableSlots.reach, !isKeyed {
            self.isKeyed = true
            fillSlots(among: slots.count)
        }
    }

    /// Makes room for `more` keys.
    private mutating func grow(for more: Int) {
        var count = slots.count
        while let growth = TableSlots.growth(keys.count + more, count) {
            shift -= UInt64(growth)
            count <<= growth
        }
        if count > slots.count { fillSlots(among: count) }
    }

    private mutating func insert(_ key: Key, _ at: Int, _ distance: Int) -> UInt32 {
        trap(unless: keys.count < Int(UInt32.max) - 1, "more than 2^32 distinct values")
        let id = UInt32(keys.count)
        slots[at] = id
        keys.append(key)
        if distance > TableSlots.reach, !isKeyed {
            isKeyed = true
            fillSlots(among: slots.count)
        }
        grow(for: 0)
        return id
    }

    private mutating func fillSlots(among count: Int) {
        slots = Array(repeating: .max, count: count)
        let mask = count &- 1, isKeyed = isKeyed, shift = shift
        slots.withUnsafeMutableBufferPointer { slots in
            for (id, key) in keys.enumerated() {
                var at = Int(truncatingIfNeeded: KeyTable.hash(key, isKeyed) >> shift)
                while slots[at] != .max { at = (at &+ 1) & mask }
                slots[at] = UInt32(truncatingIfNeeded: id)
            }
        }
    }
}

extension Int64: TableKey {
    @inline(__always)
    var mixed: UInt64 {
        var x = UInt64(bitPattern: self)
        x ^= x >> 32
        x = x &* 0x9E37_79B9_7F4A_7C15
        x ^= x >> 29
        return x &* 0xBF58_476D_1CE4_E5B9
    }

    func add(to hasher: inout Hasher) { hasher.combine(self) }
}
