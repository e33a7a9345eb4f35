import FirnBytes
import FirnModel

/// Numbers the distinct values of a column from 1 in the order they come; 0 is null. Doubles: -0 is 0, all NaN are one.
struct KeyTable: Sendable {
    let type: ColumnType
    /// Row i is the value numbered i; row 0 a filler. Without presence bits, which appending row by row would copy each time.
    private var store: Column
    private var words = WordTable()
    private var extras = WordTable()
    private var pairs = WordTable()
    private var texts = ByteTable()
    /// For values of any kind and decimals, equal by meaning: those with the same nearest double or the same bytes.
    private var buckets: [Value: [UInt32]] = [:]

    init(_ type: ColumnType) {
        var type = type
        type.isOptional = true
        self.type = type
        store = Column(type)
        store.append(.null)
        store.present = nil
    }

    var count: Int { store.count }

    /// Row i is the value numbered i. Made anew at each call.
    var values: Column {
        var out = store
        var bits = Bits(repeating: true, count: store.count)
        bits[0] = false
        out.present = bits
        if type.kind == .string || type.kind == .data {
            out.text.removeAll()
            out.text.appendEmpty()
            out.text.append(contentsOf: texts.keys)
        }
        return out
    }

    private mutating func keep(_ column: Column, _ row: Int) {
        store.count += 1
        if !column.words.isEmpty { store.words.append(column.words[row]) }
        if !column.extra.isEmpty { store.extra.append(column.extra[row]) }
        if !column.reals.isEmpty { store.reals.append(column.reals[row]) }
    }

    /// The numbers of the given rows.
    mutating func numbers(_ column: Column, _ rows: UnsafeBufferPointer<Int32>, into out: UnsafeMutablePointer<UInt32>) {
        for (j, row) in rows.enumerated() { out[j] = number(column, Int(row)) }
    }

    /// Of a bool, int or link.
    mutating func number(word: Int64) -> UInt32 {
        let known = store.count
        let id = words.number(word) + 1
        if Int(id) == known {
            store.count += 1
            store.words.append(word)
        }
        return id
    }

    mutating func number(_ column: Column, _ row: Int) -> UInt32 {
        if let present = column.present, !present[row] { return 0 }
        let known = store.count
        let id: UInt32
        switch type.kind {
        case .bool, .int, .link: id = words.number(column.words[row]) + 1
        case .float, .double:
            let real = column.reals[row]
            id = words.number(Int64(bitPattern: real == 0 ? 0 : real.isNaN ? Double.nan.bitPattern : real.bitPattern)) + 1
        case .date, .uuid, .objectID:
            let first = words.number(column.words[row]), second = extras.number(column.extra[row])
            id = pairs.number(Int64(first) << 32 | Int64(second)) + 1
        case .string, .data: id = column.text.withBytes(row) { texts.number($0) } + 1
        case .any, .decimal, .embedded: return slow(column.value(at: row))
        }
        if Int(id) == known { keep(column, row) }
        return id
    }

    mutating func number(text: UnsafeRawBufferPointer) -> UInt32 {
        let known = store.count
        let id = texts.number(text) + 1
        if Int(id) == known { store.count += 1 }
        return id
    }

    private mutating func slow(_ value: Value) -> UInt32 {
        if value.isNull { return 0 }
        var bucket = value
        if let number = value.number { bucket = .double(number == 0 ? 0 : number.isNaN ? .nan : number) }
        if let known = buckets[bucket]?.first(where: { Value.order(store.value(at: Int($0)), value) == 0 }) { return known }
        let id = UInt32(store.count)
        store.append(value)
        buckets[bucket, default: []].append(id)
        return id
    }
}

/// Open addressing from words to numbers counted from 0.
struct WordTable: Sendable {
    private var slots: [UInt32] = Array(repeating: .max, count: 16)
    private(set) var keys: [Int64] = []
    private var shift: UInt64 = 60

    @inline(__always)
    private static func hash(_ key: Int64) -> UInt64 {
        var x = UInt64(bitPattern: key)
        x ^= x >> 32
        x = x &* 0x9E37_79B9_7F4A_7C15
        x ^= x >> 29
        return x &* 0xBF58_476D_1CE4_E5B9
    }

    @inline(__always)
    mutating func number(_ key: Int64) -> UInt32 {
        let mask = slots.count &- 1
        var at = Int(truncatingIfNeeded: WordTable.hash(key) >> shift)
        while true {
            let found = slots[at]
            if found == .max { return insert(key, at) }
            if keys[Int(found)] == key { return found }
            at = (at &+ 1) & mask
        }
    }

    private mutating func insert(_ key: Int64, _ at: Int) -> UInt32 {
        precondition(keys.count < Int(UInt32.max) - 1, "more than four thousand million distinct values")
        let id = UInt32(keys.count)
        slots[at] = id
        keys.append(key)
        if keys.count * 2 > slots.count { grow() }
        return id
    }

    private mutating func grow() {
        slots = Array(repeating: .max, count: slots.count * 2)
        shift -= 1
        let mask = slots.count - 1
        for (id, key) in keys.enumerated() {
            var at = Int(truncatingIfNeeded: WordTable.hash(key) >> shift)
            while slots[at] != .max { at = (at + 1) & mask }
            slots[at] = UInt32(id)
        }
    }
}

/// Open addressing from byte strings to numbers counted from 0.
struct ByteTable: Sendable {
    /// The upper half of a hash and the number; all ones: free. The slot is found by the upper bits.
    private var slots: [UInt64] = Array(repeating: .max, count: 16)
    private var shift: UInt64 = 60
    private(set) var keys = Text()

    /// Eight bytes at a time.
    @inline(__always)
    private static func isSame(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
        guard a.count == b.count else { return false }
        var at = 0
        while at &+ 8 <= a.count {
            if a.loadUnaligned(fromByteOffset: at, as: UInt64.self) != b.loadUnaligned(fromByteOffset: at, as: UInt64.self) { return false }
            at &+= 8
        }
        while at < a.count {
            if a[at] != b[at] { return false }
            at &+= 1
        }
        return true
    }

    private static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var x = UInt64(truncatingIfNeeded: bytes.count) &* 0x9E37_79B9_7F4A_7C15
        var at = 0
        while at &+ 8 <= bytes.count {
            x = (x ^ bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self)) &* 0xBF58_476D_1CE4_E5B9
            x ^= x >> 32
            at &+= 8
        }
        var rest: UInt64 = 0
        while at < bytes.count {
            rest = rest << 8 | UInt64(bytes[at])
            at &+= 1
        }
        x = (x ^ rest) &* 0x94D0_49BB_1331_11EB
        x ^= x >> 31
        x = x &* 0x9E37_79B9_7F4A_7C15
        return x ^ x >> 32
    }

    mutating func number(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        let hash = ByteTable.hash(bytes), mask = slots.count &- 1
        var at = Int(truncatingIfNeeded: hash >> shift)
        while true {
            let found = slots[at]
            if found == .max { break }
            if (found ^ hash) >> 32 == 0 {
                let id = UInt32(truncatingIfNeeded: found)
                if keys.withBytes(Int(id), { ByteTable.isSame($0, bytes) }) { return id }
            }
            at = (at &+ 1) & mask
        }
        precondition(keys.count < 1 << 31, "more than two thousand million distinct values")
        let id = UInt32(keys.count)
        slots[at] = hash & ~0xFFFF_FFFF | UInt64(id)
        keys.append(bytes)
        if keys.count * 2 > slots.count { grow() }
        return id
    }

    private mutating func grow() {
        let old = slots
        slots = Array(repeating: .max, count: old.count * 2)
        shift -= 1
        let mask = slots.count - 1
        for entry in old where entry != .max {
            var at = Int(truncatingIfNeeded: entry >> shift)
            while slots[at] != .max { at = (at + 1) & mask }
            slots[at] = entry
        }
    }
}
