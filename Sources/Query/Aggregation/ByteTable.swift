import FirnBytes

/// An open-addressing table from byte strings to numbers, counted from 0.
struct ByteTable: Sendable {
    /// Each slot holds the upper half of a hash and a number; all ones mean free. The upper bits of the hash select the slot.
    private var slots: [UInt64] = Array(repeating: .max, count: 16)
    private var shift: UInt64 = 60
    private(set) var keys = Text()
    /// See `IntegerTable.isKeyed`.
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

    /// Returns up to seven bytes as one number, unique among strings of the same length.
    @inline(__always)
    private static func short(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        let count = bytes.count
        if count >= 4 {
            return UInt64(bytes.loadUnaligned(fromByteOffset: 0, as: UInt32.self)) << 32
                | UInt64(bytes.loadUnaligned(fromByteOffset: count &- 4, as: UInt32.self))
        }
        return count == 0 ? 0 : UInt64(bytes[0]) << 16 | UInt64(bytes[count >> 1]) << 8 | UInt64(bytes[count &- 1])
    }

    @inline(__always)
    private func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 { isKeyed ? ByteTable.keyed(bytes) : ByteTable.mixed(bytes) }

    private static func keyed(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(bytes: bytes)
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }

    private static func mixed(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
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
        if (at &- first) & mask > IntegerTable.reach, !isKeyed { rekey() }
        if let growth = IntegerTable.growth(keys.count, slots.count) {
            shift -= UInt64(growth)
            fillSlots(slots, among: slots.count << growth)
        }
        return id
    }

    /// Writes the numbers of some rows of a column, as if `number` were called for one after another. The look-ups are independent of each
    /// other, so the processor overlaps their memory accesses.
    mutating func numbers(_ text: Text, _ rows: UnsafeBufferPointer<Int32>, into out: UnsafeMutablePointer<UInt32>) {
        withUnsafeTemporaryAllocation(of: UInt64.self, capacity: rows.count) { hashes in
            text.bytes.withUnsafeBytes { bytes in
                text.offsets.withUnsafeBufferPointer { offsets in
                    @inline(__always)
                    func value(_ j: Int) -> UnsafeRawBufferPointer {
                        let row = Int(rows[j])
                        return UnsafeRawBufferPointer(rebasing: bytes[offsets[row]..<offsets[row &+ 1]])
                    }
                    for j in rows.indices { hashes[j] = hash(value(j)) }
                    find(UnsafeBufferPointer(hashes), into: out)
                    keys.bytes.withUnsafeBytes { known in
                        keys.offsets.withUnsafeBufferPointer { offsets in
                            for j in rows.indices where out[j] != .max {
                                let id = Int(out[j])
                                if !ByteTable.isSame(UnsafeRawBufferPointer(rebasing: known[offsets[id]..<offsets[id &+ 1]]), value(j)) {
                                    out[j] = .max
                                }
                            }
                        }
                    }
                    let wasKeyed = isKeyed
                    for j in rows.indices where out[j] == .max {
                        out[j] = isKeyed == wasKeyed ? number(value(j), hashes[j]) : number(value(j))
                    }
                }
            }
        }
    }

    /// Writes, for each hash, the number in its first slot if the hash halves match; otherwise `.max`.
    private func find(_ hashes: UnsafeBufferPointer<UInt64>, into out: UnsafeMutablePointer<UInt32>) {
        slots.withUnsafeBufferPointer { slots in
            for j in hashes.indices {
                let found = slots[Int(truncatingIfNeeded: hashes[j] >> shift)]
                // The number in a free slot is `.max` as well.
                out[j] = (found ^ hashes[j]) >> 32 == 0 ? UInt32(truncatingIfNeeded: found) : .max
            }
        }
    }

    private mutating func rekey() {
        isKeyed = true
        let entries = (0..<keys.count).map { id in keys.withBytes(id) { hash($0) } & ~0xFFFF_FFFF | UInt64(id) }
        fillSlots(entries, among: slots.count)
    }

    private mutating func fillSlots(_ entries: [UInt64], among count: Int) {
        slots = Array(repeating: .max, count: count)
        let mask = count - 1
        for entry in entries where entry != .max {
            var at = Int(truncatingIfNeeded: entry >> shift)
            while slots[at] != .max { at = (at + 1) & mask }
            slots[at] = entry
        }
    }
}
