import FirnBytes
import FirnTable

/// Four partial sums for each of a few groups, because an addition to the same sum as in the previous row waits for that addition.
enum Lanes {
    static func pay(_ groups: Int, _ chosen: RowChoice) -> Bool { groups <= 64 && chosen.hits >= groups &* 8 }

    @inline(__always)
    static func with<T: BitwiseCopyable>(
        _ sums: UnsafeMutableBufferPointer<T>, _ zero: T, _ add: (T, T) -> T, _ body: (UnsafeMutablePointer<T>) -> Void
    ) {
        withUnsafeTemporaryAllocation(of: T.self, capacity: sums.count &* 4) { room in
            let lanes = room.baseAddress!
            lanes.initialize(repeating: zero, count: sums.count &* 4)
            body(lanes)
            for group in sums.indices {
                sums[group] = add(
                    sums[group], add(add(lanes[group &* 4], lanes[group &* 4 &+ 1]), add(lanes[group &* 4 &+ 2], lanes[group &* 4 &+ 3])))
            }
        }
    }
}

/// Exact sums of ints. Numbers of moderate size are added in 64 bits for some vectors, and then carried to 128 bits.
struct WholeSums {
    private var partial: [Int64] = []
    private var totals: [Int128] = []
    /// The number of vectors added to `partial` since the last carry. Each adds less than 2^56.
    private var pending = 0
    /// The memory in use in bytes.
    var bytes: Int { totals.count &* 24 }

    mutating func resize(_ count: Int) {
        guard totals.count < count else { return }
        totals.append(contentsOf: repeatElement(0, count: count - totals.count))
        partial.append(contentsOf: repeatElement(0, count: count - partial.count))
    }

    mutating func add(_ sum: Int128, to group: Int) { totals[group] += sum }

    func total(_ group: Int) -> Int128 { totals[group] + Int128(partial[group]) }

    mutating func add(_ values: UnsafeBufferPointer<Int64>, _ present: Bits?, _ chosen: RowChoice) {
        // The union of the bits of all values shows whether all are within ±2^46.
        var bits: UInt64 = 0
        for value in values { bits |= UInt64(bitPattern: value &+ 1 << 46) }
        guard bits < 1 << 47 else { return addWide(values, present, chosen) }
        if pending == 64 { carry() }
        pending += 1
        if let present {
            partial.withUnsafeMutableBufferPointer { sums in
                present.words.withUnsafeBufferPointer { bits in
                    WholeSums.each(chosen) { group, row in
                        sums[group] &+= bits[row >> 6] &>> UInt64(truncatingIfNeeded: row & 63) & 1 == 1 ? values[row] : 0
                    }
                }
            }
        } else if chosen.groups == nil {
            var sum: Int64 = 0
            chosen.forEachRun { first, length in for row in first..<(first &+ length) { sum &+= values[row] } }
            partial[0] &+= sum
        } else {
            partial.withUnsafeMutableBufferPointer { sums in
                if let parts = chosen.parts {
                    parts.add(values.baseAddress!, to: sums.baseAddress!)
                } else if Lanes.pay(sums.count, chosen) {
                    Lanes.with(sums, 0, &+) { lanes in chosen.forEach { group, row in lanes[group &* 4 &+ row & 3] &+= values[row] } }
                } else {
                    chosen.forEach { group, row in sums[group] &+= values[row] }
                }
            }
        }
    }

    /// Calls `body` with the group and the row of every chosen row, also if `chosen.rows` is not filled.
    @inline(__always)
    private static func each(_ chosen: RowChoice, _ body: (Int, Int) -> Void) {
        if chosen.groups == nil {
            chosen.forEachRun { first, length in for row in first..<(first &+ length) { body(0, row) } }
        } else {
            chosen.forEach(body)
        }
    }

    private mutating func addWide(_ values: UnsafeBufferPointer<Int64>, _ present: Bits?, _ chosen: RowChoice) {
        totals.withUnsafeMutableBufferPointer { totals in
            WholeSums.each(chosen) { group, row in if present?[row] ?? true { totals[group] &+= Int128(values[row]) } }
        }
    }

    private mutating func carry() {
        for group in partial.indices {
            totals[group] += Int128(partial[group])
            partial[group] = 0
        }
        pending = 0
    }
}
