import FirnBytes
import FirnTable

/// An open-addressing table from byte strings to numbers, counted from 0.
struct ByteTable: Sendable {
    /// Each slot holds the upper half of a hash and a number; all ones mean free. The upper bits of the hash select the slot.
    private var slots: [UInt64] = Array(repeating: .max, count: 16)
    private var shift: UInt64 = 60
    private(set) var keys = Text()
    /// See `KeyTable.isKeyed`.
    private(set) var isKeyed = false

    /// The memory in use in bytes.
    var bytes: Int { slots.count &* 8 &+ keys.offsets.count &* 8 &+ keys.bytes.count }

    /// Compares eight bytes at a time; the last eight may overlap the previous ones.
    @inline(__always)
    private static func isSame(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
        guard a.count == b.count else { return false }
        guard a.count >= 8 else { return short(a) == short(b) }
        var at = 0
        while at &+ 8 < a.count {
            if word(a, at) != word(b, at) { return false }
            at &+= 8
        }
        return word(a, a.count &- 8) == word(b, a.count &- 8)
    }

    @inline(__always)
    private static func word(_ bytes: UnsafeRawBufferPointer, _ at: Int) -> UInt64 {
        bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self)
    }

    @inline(__always)
    private static func short(_ bytes: UnsafeRawBufferPointer) -> UInt64 { ShortText.word(ofUpToSeven: bytes) }

    @inline(__always)
    private func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 { isKeyed ? ByteTable.keyed(bytes) : ByteTable.mixed(bytes) }

    private static func keyed(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(bytes: bytes)
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }

    /// The upper half is kept in a slot.
    static func mixed(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var x = UInt64(truncatingIfNeeded: bytes.count) &* 0x9E37_79B9_7F4A_7C15
        let rest: UInt64
        if bytes.count >= 8 {
            var at = 0
            while at &+ 8 < bytes.count {
                x = (x ^ word(bytes, at)) &* 0xBF58_476D_1CE4_E5B9
                x ^= x >> 32
                at &+= 8
            }
            rest = word(bytes, bytes.count &- 8)
        } else {
            rest = short(bytes)
        }
        x = (x ^ rest) &* 0x94D0_49BB_1331_11EB
        x ^= x >> 31
        x = x &* 0x9E37_79B9_7F4A_7C15
        return x ^ x >> 32
    }

    mutating func number(_ bytes: UnsafeRawBufferPointer) -> UInt32 { number(bytes, hash(bytes)) }

    private mutating func number(_ bytes: UnsafeRawBufferPointer, _ hash: UInt64) -> UInt32 {
        let mask = slots.count &- 1, first = Int(truncatingIfNeeded: hash >> shift)
        var at = first
        while true {
            let found = slots[at]
            if found == .max { break }
            if (found ^ hash) >> 32 == 0 {
                let id = UInt32(truncatingIfNeeded: found)
                if keys.withBytes(Int(id), { ByteTable.isSame($0, bytes) }) { return id }
            }
            at = (at &+ 1) & mask
        }
        trap(unless: keys.count < 1 << 31, "more than 2^31 distinct values")
        let id = UInt32(keys.count)
        slots[at] = hash & ~0xFFFF_FFFF | UInt64(id)
        keys.append(bytes)
        if (at &- first) & mask > TableSlots.reach, !isKeyed { rekey() }
        grow(for: 0)
        return id
    }

    /// Writes the numbers of many texts, as if `number` were called for one after another. The look-ups are independent of each other, so
    /// the processor overlaps their memory accesses. `hashes` are those of `mixed`, if they are known.
    mutating func numbers(_ texts: TextRows, _ hashes: UnsafePointer<UInt64>?, into out: UnsafeMutablePointer<UInt32>) {
        withUnsafeTemporaryAllocation(of: UInt64.self, capacity: min(vectorSize, texts.count)) { room in
            var first = 0
            while first < texts.count {
                let some = texts.dropping(first, keeping: vectorSize)
                if let hashes, !isKeyed {
                    vector(some, hashes + first, out + first)
                } else {
                    for j in 0..<some.count { room[j] = hash(some[j]) }
                    vector(some, UnsafePointer(room.baseAddress!), out + first)
                }
                first += some.count
            }
        }
    }

    /// Numbers at most 1,024 texts.
    private mutating func vector(_ texts: TextRows, _ hashes: UnsafePointer<UInt64>, _ out: UnsafeMutablePointer<UInt32>) {
        withUnsafeTemporaryAllocation(of: Int32.self, capacity: texts.count) { missed in
            var count = 0, bytes = 0
            slots.withUnsafeBufferPointer { slots in
                for j in 0..<texts.count {
                    let found = slots[Int(truncatingIfNeeded: hashes[j] >> shift)]
                    // The number in a free slot is `.max` as well.
                    out[j] = (found ^ hashes[j]) >> 32 == 0 ? UInt32(truncatingIfNeeded: found) : .max
                }
            }
            keys.withRows { keys in
                // Without branches on what is found, which the processor cannot predict.
                for j in 0..<texts.count {
                    let text = texts[j], isFree = out[j] == .max
                    let key = isFree ? text : keys[Int(out[j])]
                    let isMissed = isFree || !ByteTable.isSame(key, text)
                    missed[count] = Int32(truncatingIfNeeded: j)
                    count &+= isMissed ? 1 : 0
                    bytes &+= isMissed ? text.count : 0
                }
            }
            if count > 0 { add(UnsafeBufferPointer(rebasing: missed[..<count]), bytes: bytes, of: texts, hashes, out) }
        }
    }

    /// Looks up the texts that are not in their first slot, and appends those that are new. Together they have `bytes` bytes.
    private mutating func add(
        _ missed: UnsafeBufferPointer<Int32>, bytes: Int, of texts: TextRows, _ hashes: UnsafePointer<UInt64>,
        _ out: UnsafeMutablePointer<UInt32>
    ) {
        let known = keys.count, mask: Int
        trap(unless: known + missed.count < 1 << 31, "more than 2^31 distinct values")
        grow(for: missed.count)
        mask = slots.count &- 1
        var end = keys.bytes.count, count = known, farthest = 0
        keys.appendRoom(count: missed.count, bytes: bytes)
        slots.withUnsafeMutableBufferPointer { slots in
            keys.withMutableRows { offsets, keys in
                for m in missed {
                    let j = Int(m), text = texts[j], hash = hashes[j], first = Int(truncatingIfNeeded: hash >> shift)
                    var at = first
                    while true {
                        let found = slots[at], id = Int(truncatingIfNeeded: UInt32(truncatingIfNeeded: found))
                        if found == .max {
                            slots[at] = hash & ~0xFFFF_FFFF | UInt64(count)
                            texts.copy(j, to: keys + end)
                            end &+= text.count
                            out[j] = UInt32(truncatingIfNeeded: count)
                            count &+= 1
                            offsets[count] = end
                            farthest = max(farthest, (at &- first) & mask)
                            break
                        }
                        let key = UnsafeRawBufferPointer(start: keys + offsets[id], count: offsets[id &+ 1] &- offsets[id])
                        if (found ^ hash) >> 32 == 0, ByteTable.isSame(key, text) {
                            out[j] = UInt32(truncatingIfNeeded: id)
                            break
                        }
                        at = (at &+ 1) & mask
                    }
                }
            }
        }
        keys.removeLast(known + missed.count - count, leaving: end)
        if farthest > TableSlots.reach, !isKeyed { rekey() }
    }

    /// Makes room for `more` keys.
    private mutating func grow(for more: Int) {
        var count = slots.count
        while let growth = TableSlots.growth(keys.count + more, count) {
            shift -= UInt64(growth)
            count <<= growth
        }
        if count > slots.count { fillSlots(slots, among: count) }
    }

    private mutating func rekey() {
        isKeyed = true
        let entries = (0..<keys.count).map { id in keys.withBytes(id) { hash($0) } & ~0xFFFF_FFFF | UInt64(id) }
        fillSlots(entries, among: slots.count)
    }

    private mutating func fillSlots(_ entries: [UInt64], among count: Int) {
        slots = Array(repeating: .max, count: count)
        let mask = count &- 1, shift = shift
        slots.withUnsafeMutableBufferPointer { slots in
            for entry in entries where entry != .max {
                var at = Int(truncatingIfNeeded: entry >> shift)
                while slots[at] != .max { at = (at &+ 1) & mask }
                slots[at] = entry
            }
        }
    }
}
