import FirnBytes
import FirnTable

/// Numbers for distinct words, from 0 in the order in which the words were added.
struct JoinNumbers {
    /// The number of a null, and of a value that has none.
    static let none = UInt32.max

    private(set) var keys: [Int64] = []
    private var slots: [UInt32]
    private var shift: UInt64
    /// Hashes depend on it, so that values cannot be chosen to collide.
    private static let secret = UInt64.random(in: .min ... .max)
    /// The numbers of all words from `base` on, if the words are close to each other.
    private var direct: [UInt32] = []
    private var base: Int64 = 0
    /// If it is not 0, the words are numbered by their distance from `base`, and have not been added one by one. Distances below it have a
    /// number, also those of words that do not occur.
    private var span = 0

    init() {
        slots = [UInt32](repeating: JoinNumbers.none, count: 64)
        shift = 58
    }

    var count: Int { max(span, keys.count) }
    /// The memory in use in bytes.
    var bytes: Int { keys.capacity * 8 + (slots.count + direct.count) * 4 }

    @inline(__always)
    static func hash(_ key: UInt64) -> UInt64 {
        let product = (key ^ secret).multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
        let mixed = (product.high ^ product.low) &* 0xD6E8_FEB8_6659_FD93
        return mixed ^ mixed >> 32 &* 0x9E37_79B9_7F4A_7C15
    }

    @inline(__always)
    func find(_ key: Int64) -> UInt32 {
        if span > 0 {
            let (distance, overflow) = key.subtractingReportingOverflow(base)
            return overflow || distance < 0 || distance >= Int64(span) ? JoinNumbers.none : UInt32(truncatingIfNeeded: distance)
        }
        if !direct.isEmpty {
            let (distance, overflow) = key.subtractingReportingOverflow(base)
            return overflow || distance < 0 || distance >= Int64(direct.count) ? JoinNumbers.none : direct[Int(distance)]
        }
        let mask = slots.count &- 1
        var at = Int(truncatingIfNeeded: JoinNumbers.hash(UInt64(bitPattern: key)) >> shift)
        while true {
            let found = slots[at]
            if found == JoinNumbers.none || keys[Int(found)] == key { return found }
            at = (at &+ 1) & mask
        }
    }

    @inline(__always)
    mutating func add(_ key: Int64) -> UInt32 {
        let mask = slots.count &- 1
        var at = Int(truncatingIfNeeded: JoinNumbers.hash(UInt64(bitPattern: key)) >> shift)
        while true {
            let found = slots[at]
            if found == JoinNumbers.none { break }
            if keys[Int(found)] == key { return found }
            at = (at &+ 1) & mask
        }
        return insert(key, at)
    }

    private mutating func insert(_ key: Int64, _ at: Int) -> UInt32 {
        trap(unless: keys.count < 1 << 31, "more than 2^31 distinct values")
        let number = UInt32(keys.count)
        slots[at] = number
        keys.append(key)
        direct = []
        if keys.count * 2 > slots.count {
            let growth: UInt64 = slots.count < 1 << 16 ? 3 : 1
            shift -= growth
            slots = [UInt32](repeating: JoinNumbers.none, count: slots.count << Int(growth))
            let mask = slots.count - 1
            for (number, key) in keys.enumerated() {
                var at = Int(truncatingIfNeeded: JoinNumbers.hash(UInt64(bitPattern: key)) >> shift)
                while slots[at] != JoinNumbers.none { at = (at + 1) & mask }
                slots[at] = UInt32(number)
            }
        }
        return number
    }

    /// Numbers many words by their distance from the smallest one, if they are close to each other and none has been added.
    mutating func span(_ words: [Int64], _ present: Bits?) -> Bool {
        guard keys.isEmpty, span == 0, words.count > 256 else { return false }
        var low = Int64.max, high = Int64.min
        for i in words.indices where present?[i] ?? true {
            low = min(low, words[i])
            high = max(high, words[i])
        }
        guard low <= high, case let (distance, overflow) = high.subtractingReportingOverflow(low), !overflow, distance < words.count * 4
        else {
            return false
        }
        base = low
        span = Int(distance) + 1
        return true
    }

    /// Prepares for many look-ups.
    mutating func freeze() {
        guard span == 0, let low = keys.min(), let high = keys.max(), case let (span, overflow) = high.subtractingReportingOverflow(low),
            !overflow,
            span < max(1 << 16, keys.count * 8)
        else { return }
        base = low
        direct = [UInt32](repeating: JoinNumbers.none, count: Int(span) + 1)
        for (number, key) in keys.enumerated() { direct[Int(key - low)] = UInt32(number) }
    }

    /// Returns the numbers of pairs of numbers. A pair with `none` has none.
    mutating func pairs(_ a: [UInt32], _ b: [UInt32], adds: Bool) -> [UInt32] {
        var out = [UInt32](repeating: JoinNumbers.none, count: a.count)
        for i in a.indices where a[i] != JoinNumbers.none && b[i] != JoinNumbers.none {
            let key = Int64(a[i]) << 32 | Int64(b[i])
            out[i] = adds ? add(key) : find(key)
        }
        return out
    }
}

/// Numbers for pairs of numbers, of two columns of the same rows.
struct JoinPairs {
    private var table = JoinNumbers()
    /// The number of second numbers, if each possible pair has a number. Then few of them do not occur.
    private var width: Int?
    private(set) var count = 0

    /// The memory in use in bytes.
    var bytes: Int { table.bytes }

    /// Returns the numbers of pairs. `counts` are the number of first and of second numbers.
    mutating func add(_ a: [UInt32], _ b: [UInt32], counts: (Int, Int)) -> [UInt32] {
        let (product, overflow) = counts.0.multipliedReportingOverflow(by: counts.1)
        if !overflow, product <= max(1 << 16, a.count * 4), product < Int(UInt32.max) {
            width = counts.1
            count = product
            return find(a, b)
        }
        let out = table.pairs(a, b, adds: true)
        count = table.count
        return out
    }

    /// Returns the numbers of pairs; `none` if they were not added.
    mutating func find(_ a: [UInt32], _ b: [UInt32]) -> [UInt32] {
        guard let width else { return table.pairs(a, b, adds: false) }
        let factor = UInt32(truncatingIfNeeded: width)
        var out = [UInt32](repeating: JoinNumbers.none, count: a.count)
        for i in a.indices where a[i] != JoinNumbers.none && b[i] != JoinNumbers.none { out[i] = a[i] &* factor &+ b[i] }
        return out
    }
}

/// Numbers for distinct byte strings, likewise.
struct JoinTexts {
    private(set) var keys = Text()
    /// The upper half of a hash, and a number; all ones mean free.
    private var slots = [UInt64](repeating: .max, count: 64)
    private var shift: UInt64 = 58

    var count: Int { keys.count }
    /// The memory in use in bytes.
    var bytes: Int { keys.bytes.capacity + (keys.offsets.capacity + slots.count) * 8 }

    @inline(__always)
    private static func word(_ bytes: UnsafeRawBufferPointer, _ at: Int) -> UInt64 {
        bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self)
    }

    @inline(__always)
    private static func tail(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        if bytes.count >= 8 { return word(bytes, bytes.count &- 8) }
        var out: UInt64 = 0
        for byte in bytes { out = out << 8 | UInt64(byte) }
        return out
    }

    @inline(__always)
    private static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var x = UInt64(truncatingIfNeeded: bytes.count), at = 0
        while at &+ 8 < bytes.count {
            x = JoinNumbers.hash(x ^ word(bytes, at))
            at &+= 8
        }
        return JoinNumbers.hash(x ^ tail(bytes))
    }

    @inline(__always)
    private static func isSame(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
        guard a.count == b.count else { return false }
        var at = 0
        while at &+ 8 < a.count {
            if word(a, at) != word(b, at) { return false }
            at &+= 8
        }
        return tail(a) == tail(b)
    }

    /// Returns the numbers of the texts of a column; those of nulls, and of unknown texts unless they are added, are `none`.
    mutating func numbers(_ text: Text, _ present: Bits?, adds: Bool) -> [UInt32] {
        var out = [UInt32](repeating: JoinNumbers.none, count: text.count)
        text.bytes.withUnsafeBytes { bytes in
            text.offsets.withUnsafeBufferPointer { offsets in
                var last = 0..<0, lastNumber = JoinNumbers.none, hasLast = false
                for row in 0..<text.count where present?[row] ?? true {
                    let range = offsets[row]..<offsets[row &+ 1], value = UnsafeRawBufferPointer(rebasing: bytes[range])
                    // Neighbours are often the same.
                    if !hasLast || !JoinTexts.isSame(UnsafeRawBufferPointer(rebasing: bytes[last]), value) {
                        lastNumber = number(value, adds: adds)
                    }
                    (last, hasLast) = (range, true)
                    out[row] = lastNumber
                }
            }
        }
        return out
    }

    @inline(__always)
    private mutating func number(_ bytes: UnsafeRawBufferPointer, adds: Bool) -> UInt32 {
        let hash = JoinTexts.hash(bytes), mask = slots.count &- 1
        var at = Int(truncatingIfNeeded: hash >> shift)
        while true {
            let found = slots[at]
            if found == .max { return adds ? insert(bytes, hash, at) : JoinNumbers.none }
            let number = UInt32(truncatingIfNeeded: found)
            if (found ^ hash) >> 32 == 0, keys.withBytes(Int(number), { JoinTexts.isSame($0, bytes) }) { return number }
            at = (at &+ 1) & mask
        }
    }

    private mutating func insert(_ bytes: UnsafeRawBufferPointer, _ hash: UInt64, _ at: Int) -> UInt32 {
        trap(unless: keys.count < 1 << 31, "more than 2^31 distinct values")
        let number = UInt32(keys.count)
        slots[at] = hash & ~0xFFFF_FFFF | UInt64(number)
        keys.append(bytes)
        if keys.count * 2 > slots.count {
            let growth: UInt64 = slots.count < 1 << 16 ? 3 : 1
            shift -= growth
            let old = slots
            slots = [UInt64](repeating: .max, count: old.count << Int(growth))
            let mask = slots.count - 1
            for entry in old where entry != .max {
                // The upper half of the hash selects the slot, because there are fewer than 2^32 slots.
                var at = Int(truncatingIfNeeded: (entry & ~0xFFFF_FFFF) >> shift)
                while slots[at] != .max { at = (at + 1) & mask }
                slots[at] = entry
            }
        }
        return number
    }

    /// Returns whether one text is less than another, by their bytes.
    func isLess(_ a: UInt32, _ b: UInt32) -> Bool {
        keys.withBytes(Int(a)) { a in keys.withBytes(Int(b)) { b in a.lexicographicallyPrecedes(b) } }
    }
}
