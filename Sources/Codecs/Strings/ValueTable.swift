import FirnBytes

/// Assigns the numbers 0, 1, 2, … to distinct byte strings, in the order of their first appearance.
///
/// Uses open addressing over words of (hash tag, index), at most half full; the strings are stored end to end in one arena.
/// Strings are inserted a whole text at a time, so that the loop works on local copies of the pointers.
package final class ValueTable {
    private var slots: UnsafeMutablePointer<UInt64>
    private var mask: Int
    private var arena: UnsafeMutableRawPointer
    private var arenaCapacity: Int
    private var starts: UnsafeMutablePointer<Int>
    private var startsCapacity: Int
    /// The number of distinct strings.
    package private(set) var count = 0

    package init() {
        // Small, because a type may have very many text columns with few values each.
        mask = 63
        slots = .allocate(capacity: mask + 1)
        slots.initialize(repeating: 0, count: mask + 1)
        arenaCapacity = 256
        arena = .allocate(byteCount: arenaCapacity, alignment: 16)
        startsCapacity = 32
        starts = .allocate(capacity: startsCapacity)
        starts[0] = 0
    }

    deinit {
        slots.deallocate()
        arena.deallocate()
        starts.deallocate()
    }

    /// The total size of all distinct strings in bytes.
    package var valueBytes: Int { starts[count] }
    /// The memory in use in bytes.
    package var bufferedBytes: Int { arenaCapacity + startsCapacity * 8 + (mask + 1) * 8 }

    package func value(_ index: Int) -> UnsafeRawBufferPointer {
        trap(unless: index >= 0 && index < count, "a table holds values 0 ..< count")
        return UnsafeRawBufferPointer(start: arena + starts[index], count: starts[index + 1] - starts[index])
    }

    /// Writes the number of every string of `text` to `codes`, which must have space for `text.count`. Slots without a value get the number
    /// of the previous slot, so that they do not interrupt runs.
    package func insert(_ text: Text, present: Bits?, codes: UnsafeMutablePointer<UInt32>) {
        if mask == 0 { restoreSlots() }
        reserveArena(text.bytes.count)
        trap(unless: count &+ text.count < Int(UInt32.max), "a table numbers at most 2^32 - 2 strings")
        text.bytes.withUnsafeBytes { bytes in
            text.offsets.withUnsafeBufferPointer { offsets in
                var previous: UInt32 = 0
                for i in 0..<text.count {
                    if let present, !present[i] {
                        codes[i] = previous
                        continue
                    }
                    let start = offsets[i], end = offsets[i &+ 1]
                    let value = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
                    if end &- start > 16 {
                        previous = insert(value, Self.hash(value)) { Self.equal($0, value) }
                    } else {
                        let head = start &+ 16 <= bytes.count ? Head(bytes.baseAddress! + start, end &- start) : Head(bytes: value)
                        previous = insert(value, head.hash) { Head($0, value.count) == head }
                    }
                    codes[i] = previous
                }
            }
        }
        if count == 0, text.count > 0 {
            _ = insert(.init(start: nil, count: 0), Head(bytes: .init(start: nil, count: 0)).hash) { _ in true }
        }
    }

    /// `isEqual` compares the value with as many bytes of the arena.
    @inline(__always)
    private func insert(_ value: UnsafeRawBufferPointer, _ hash: UInt64, _ isEqual: (UnsafeRawPointer) -> Bool) -> UInt32 {
        let tag = hash & 0xFFFF_FFFF_0000_0000
        let slots = slots, mask = mask
        var at = Int(truncatingIfNeeded: hash) & mask
        while true {
            let slot = slots[at]
            if slot == 0 { break }
            if slot & 0xFFFF_FFFF_0000_0000 == tag {
                let index = Int(truncatingIfNeeded: slot & 0xFFFF_FFFF) &- 1
                let start = starts[index]
                if starts[index &+ 1] &- start == value.count, isEqual(UnsafeRawPointer(arena + start)) {
                    return UInt32(truncatingIfNeeded: index)
                }
            }
            at = (at &+ 1) & mask
        }
        let index = count
        let start = starts[index]
        if value.count > 0 { (arena + start).copyMemory(from: value.baseAddress!, byteCount: value.count) }
        if index &+ 2 > startsCapacity { growStarts() }
        starts[index &+ 1] = start &+ value.count
        count = index &+ 1
        slots[at] = tag | UInt64(truncatingIfNeeded: index &+ 1)
        if (index &+ 1) &* 2 > mask { growSlots() }
        return UInt32(truncatingIfNeeded: index)
    }

    private func reserveArena(_ more: Int) {
        let needed = starts[count] + more + 16
        guard needed > arenaCapacity else { return }
        moveArena(capacity: max(needed, arenaCapacity * 2))
    }

    private func moveArena(capacity: Int) {
        let bigger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
        bigger.copyMemory(from: arena, byteCount: starts[count])
        arena.deallocate()
        arena = bigger
        arenaCapacity = capacity
    }

    private func growStarts() { moveStarts(capacity: startsCapacity * 2) }

    private func moveStarts(capacity: Int) {
        let bigger = UnsafeMutablePointer<Int>.allocate(capacity: capacity)
        bigger.update(from: starts, count: count + 1)
        starts.deallocate()
        starts = bigger
        startsCapacity = capacity
    }

    private func growSlots() { makeSlots((mask + 1) * 4) }

    /// Frees the memory that the next text can create again, and what was reserved for more strings.
    package func trim() {
        guard mask > 0 else { return }
        slots.deallocate()
        slots = .allocate(capacity: 1)
        slots[0] = 0
        mask = 0
        moveArena(capacity: starts[count] + 16)
        moveStarts(capacity: count + 2)
    }

    /// Makes the slots again that `trim` freed.
    private func restoreSlots() {
        var capacity = 64
        while count &* 2 >= capacity { capacity *= 4 }
        makeSlots(capacity)
    }

    private func makeSlots(_ bigger: Int) {
        slots.deallocate()
        slots = .allocate(capacity: bigger)
        slots.initialize(repeating: 0, count: bigger)
        mask = bigger - 1
        for index in 0..<count {
            let hash = Self.hash(value(index))
            var at = Int(truncatingIfNeeded: hash) & mask
            while slots[at] != 0 { at = (at &+ 1) & mask }
            slots[at] = hash & 0xFFFF_FFFF_0000_0000 | UInt64(truncatingIfNeeded: index &+ 1)
        }
    }

    /// A value of at most 16 bytes, as two words with zeros after it. No step depends on the length, which a processor cannot predict.
    private struct Head: Equatable {
        private let low: UInt64, high: UInt64
        private let count: Int

        /// Sixteen bytes must be readable.
        @inline(__always)
        init(_ p: UnsafeRawPointer, _ count: Int) {
            low = word(p) & (count >= 8 ? .max : (1 &<< UInt64(truncatingIfNeeded: count &* 8)) &- 1)
            high = word(p + 8) & (count >= 16 ? .max : count <= 8 ? 0 : (1 &<< UInt64(truncatingIfNeeded: count &* 8 &- 64)) &- 1)
            self.count = count
        }

        init(bytes: UnsafeRawBufferPointer) {
            var words = SIMD2<UInt64>.zero
            for (i, byte) in bytes.enumerated() { words[i >> 3] |= UInt64(byte) << UInt64(i & 7 * 8) }
            (low, high, count) = (UInt64(littleEndian: words[0]), UInt64(littleEndian: words[1]), bytes.count)
        }

        @inline(__always)
        var hash: UInt64 { fold(low ^ 0xA076_1D64_78BD_642F, high ^ 0x2D35_8DCC_AA6C_78A5 ^ UInt64(truncatingIfNeeded: count)) }
    }

    /// A multiply-fold hash over eight bytes at a time. Sixteen bytes must be readable from the start of the value on.
    @inline(__always)
    private static func hash(_ value: UnsafeRawBufferPointer) -> UInt64 {
        let n = value.count
        guard let p = value.baseAddress else { return Head(bytes: value).hash }
        if n <= 16 { return Head(p, n).hash }
        var state = 0x2D35_8DCC_AA6C_78A5 ^ UInt64(truncatingIfNeeded: n), i = 0
        while i &+ 16 < n {
            state = fold(word(p + i) ^ 0x8BB8_4B93_962E_ACC9, word(p + i + 8) ^ state)
            i &+= 16
        }
        return fold(word(p + (n &- 16)) ^ 0xA076_1D64_78BD_642F, word(p + (n &- 8)) ^ state)
    }

    /// Compares more than 16 bytes.
    @inline(__always)
    private static func equal(_ p: UnsafeRawPointer, _ value: UnsafeRawBufferPointer) -> Bool {
        let n = value.count, q = value.baseAddress!
        var i = 0
        while i &+ 8 < n {
            if word(p + i) != word(q + i) { return false }
            i &+= 8
        }
        return word(p + (n &- 8)) == word(q + (n &- 8))
    }

    /// Returns the numbers of all values, in the byte order of the values.
    package func sortedOrder() -> [UInt32] {
        var keyed = [(key: UInt64, index: UInt32)]()
        keyed.reserveCapacity(count)
        for index in 0..<count { keyed.append((Self.leading(value(index)), UInt32(index))) }
        keyed.sort { a, b in
            a.key != b.key ? a.key < b.key : Self.precedes(value(Int(a.index)), value(Int(b.index)))
        }
        return keyed.map(\.index)
    }

    /// Returns the first eight bytes as an integer with the same order; bytes past the end are zeros.
    @inline(__always)
    static func leading(_ value: UnsafeRawBufferPointer) -> UInt64 {
        if value.count >= 8 { return UInt64(bigEndian: word(value.baseAddress!)) }
        var key: UInt64 = 0
        for i in 0..<value.count { key |= UInt64(value[i]) << UInt64(56 &- 8 &* i) }
        return key
    }

    /// Compares bytewise; a proper prefix is less.
    static func precedes(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
        let n = min(a.count, b.count)
        var i = 0
        while i &+ 8 <= n {
            let x = UInt64(bigEndian: word(a.baseAddress! + i)), y = UInt64(bigEndian: word(b.baseAddress! + i))
            if x != y { return x < y }
            i &+= 8
        }
        while i < n {
            if a[i] != b[i] { return a[i] < b[i] }
            i &+= 1
        }
        return a.count < b.count
    }
}

@inline(__always)
private func fold(_ a: UInt64, _ b: UInt64) -> UInt64 {
    let wide = a.multipliedFullWidth(by: b)
    let mixed = wide.high ^ wide.low
    return mixed ^ mixed >> 29
}

@inline(__always)
private func word(_ p: UnsafeRawPointer) -> UInt64 { p.loadUnaligned(as: UInt64.self) }
