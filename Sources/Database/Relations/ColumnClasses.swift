import FirnBytes
import FirnCodecs
import FirnTable

/// The rows of a column as numbers of its distinct values, in the order of their appearance. Rows with the same number have the same bits.
struct ColumnClasses {
    /// One number for each row; -1 if the row has no value. Empty after `forgetRows()`.
    private(set) var ids: [Int32] = []
    /// The number of distinct values.
    private(set) var count = 0
    private(set) var hasNulls = false

    /// Fails if there are more than `limit` distinct values, or for columns that no relation is made of.
    init?(_ column: Column, limit: Int) {
        guard ColumnClasses.accepts(column.type) else { return nil }
        let present = column.present.flatMap { $0.allSet ? nil : $0 }
        hasNulls = present != nil
        if column.type.payload == [.text] {
            guard number(column.text, present, limit) else { return nil }
        } else if column.type.payload == [.reals] {
            guard number(column.count, present, limit, { Int64(bitPattern: column.reals[$0].bitPattern) }) else { return nil }
        } else {
            guard number(column.count, present, limit, { column.words[$0] }) else { return nil }
            if column.type.payload.contains(.extra), column.extra.contains(where: { $0 != column.extra[0] }) {
                // Pairs of numbers, numbered again.
                let first = ids
                guard number(column.count, present, limit, { column.extra[$0] }) else { return nil }
                let second = ids
                guard number(column.count, present, limit, { Int64(first[$0]) << 32 | Int64(second[$0]) }) else { return nil }
            }
        }
    }

    /// Forgets the number of each row; what is known of the column as a whole stays.
    mutating func forgetRows() { ids = [] }

    /// Whether a column may take part in a relation: single values that are not composed of several kinds.
    static func accepts(_ type: ColumnType) -> Bool { !type.isCollection && type.kind != .any && type.kind != .embedded }

    private mutating func number(_ text: Text, _ present: Bits?, _ limit: Int) -> Bool {
        let table = ValueTable()
        let codes = [UInt32](unsafeUninitializedCapacity: text.count) { buffer, filled in
            if text.count > 0 { table.insert(text, present: present, codes: buffer.baseAddress!) }
            filled = text.count
        }
        guard table.count <= limit else { return false }
        ids = codes.map { Int32(truncatingIfNeeded: $0) }
        if let present { for i in ids.indices where !present[i] { ids[i] = -1 } }
        count = table.count
        return true
    }

    /// Returns false if there are more than `limit` distinct values.
    @inline(__always)
    private mutating func number(_ rows: Int, _ present: Bits?, _ limit: Int, _ value: (Int) -> Int64) -> Bool {
        var table = NumberTable(), out = [Int32](repeating: -1, count: rows)
        for row in 0..<rows where present?[row] ?? true {
            out[row] = table.insert(value(row))
            if table.count > limit { return false }
        }
        ids = out
        count = table.count
        return true
    }
}

/// An open-addressing table that numbers integers in the order of their appearance.
struct NumberTable {
    private var slots: [Int32] = Array(repeating: -1, count: 256)
    private var keys: [Int64] = []
    private var shift: UInt64 = 56

    var count: Int { keys.count }

    /// Returns the number of a key, and gives it one if it has none.
    @inline(__always)
    mutating func insert(_ key: Int64) -> Int32 {
        if keys.count &* 2 > slots.count { grow() }
        var at = Int(truncatingIfNeeded: (UInt64(bitPattern: key) &* 0x9E37_79B9_7F4A_7C15) &>> shift)
        while slots[at] >= 0 {
            if keys[Int(slots[at])] == key { return slots[at] }
            at = (at &+ 1) & (slots.count &- 1)
        }
        slots[at] = Int32(truncatingIfNeeded: keys.count)
        keys.append(key)
        return slots[at]
    }

    private mutating func grow() {
        shift &-= 2
        slots = Array(repeating: -1, count: slots.count &* 4)
        for (number, key) in keys.enumerated() {
            var at = Int(truncatingIfNeeded: (UInt64(bitPattern: key) &* 0x9E37_79B9_7F4A_7C15) &>> shift)
            while slots[at] >= 0 { at = (at &+ 1) & (slots.count &- 1) }
            slots[at] = Int32(truncatingIfNeeded: number)
        }
    }
}
