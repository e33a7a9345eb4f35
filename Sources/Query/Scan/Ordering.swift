import FirnBytes
import FirnTable

/// Orders rows by key columns: nulls first if ascending and last if descending, text by bytes, mixed values by `Value.order`. Stable.
enum Ordering {
    /// Sorts `rows` (positions in `column`) by the values of the column.
    static func sort(_ rows: inout [Int32], by column: Column, ascending: Bool) {
        switch column.type.kind {
        case .bool, .int, .link: radix(&rows, column.words.map { UInt64(bitPattern: $0) ^ 1 << 63 }, column.present, ascending)
        case .float, .double: radix(&rows, column.reals.map(Ordering.key), column.present, ascending)
        case .date, .uuid, .objectID:
            radix(&rows, column.extra.map { UInt64(bitPattern: $0) ^ 1 << 63 }, column.present, ascending)
            radix(&rows, column.words.map { UInt64(bitPattern: $0) ^ 1 << 63 }, column.present, ascending)
        case .string, .data: texts(&rows, column.text, column.present, ascending)
        default:
            let values = (0..<column.count).map(column.value(at:))
            rows = rows.enumerated().sorted { a, b in
                let order = Value.order(values[Int(a.element)], values[Int(b.element)])
                return order == 0 ? a.offset < b.offset : (order < 0) == ascending
            }.map(\.element)
        }
    }

    /// Returns a word for a double so that words have the order of the doubles; NaN is the least.
    private static func key(_ value: Double) -> UInt64 {
        if value.isNaN { return 0 }
        let bits = (value == 0 ? 0.0 : value).bitPattern
        return bits >> 63 == 1 ? ~bits : bits | 1 << 63
    }

    /// Radix sort, least significant digit first, 11 bits at a time; skips digits that are the same in all rows.
    private static func radix(_ rows: inout [Int32], _ keys: [UInt64], _ present: Bits?, _ ascending: Bool) {
        var nulls: [Int32] = [], from: [Int32] = []
        if let present {
            from.reserveCapacity(rows.count)
            for row in rows { if present[Int(row)] { from.append(row) } else { nulls.append(row) } }
        } else {
            from = rows
        }
        let count = from.count
        let flip: UInt64 = ascending ? 0 : .max
        var pairs = [(key: UInt64, row: Int32)](unsafeUninitializedCapacity: count) { buffer, filled in
            for i in 0..<count { buffer[i] = (keys[Int(from[i])] ^ flip, from[i]) }
            filled = count
        }
        var other = pairs
        var varying: UInt64 = 0
        if let first = pairs.first { for pair in pairs { varying |= pair.key ^ first.key } }
        var counts = [Int](repeating: 0, count: 2048)
        for shift in stride(from: UInt64(0), to: 64, by: 11) where varying >> shift & 2047 != 0 {
            pairs.withUnsafeBufferPointer { source in
                other.withUnsafeMutableBufferPointer { target in
                    counts.withUnsafeMutableBufferPointer { counts in
                        for i in 0..<2048 { counts[i] = 0 }
                        for i in 0..<count { counts[Int(truncatingIfNeeded: source[i].key >> shift & 2047)] &+= 1 }
                        var start = 0
                        for i in 0..<2048 { (counts[i], start) = (start, start &+ counts[i]) }
                        for i in 0..<count {
                            let digit = Int(truncatingIfNeeded: source[i].key >> shift & 2047)
                            target[counts[digit]] = source[i]
                            counts[digit] &+= 1
                        }
                    }
                }
            }
            swap(&pairs, &other)
        }
        let sorted = pairs.map(\.row)
        rows = ascending ? nulls + sorted : sorted + nulls
    }

    private static func texts(_ rows: inout [Int32], _ text: Text, _ present: Bits?, _ ascending: Bool) {
        struct Item {
            var prefix: UInt64, row: Int32, ordinal: Int32
        }
        var nulls: [Int32] = [], items: [Item] = []
        items.reserveCapacity(rows.count)
        text.bytes.withUnsafeBytes { bytes in
            for row in rows {
                if let present, !present[Int(row)] {
                    nulls.append(row)
                    continue
                }
                let range = text.range(Int(row))
                var prefix: UInt64 = 0
                if range.count >= 8 {
                    prefix = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: range.lowerBound, as: UInt64.self))
                } else {
                    for (i, at) in range.enumerated() { prefix |= UInt64(bytes[at]) << UInt64(56 - 8 * i) }
                }
                items.append(Item(prefix: prefix, row: row, ordinal: Int32(truncatingIfNeeded: items.count)))
            }
            items.sort { a, b in
                if a.prefix != b.prefix { return (a.prefix < b.prefix) == ascending }
                let order = TextTest.order(
                    UnsafeRawBufferPointer(rebasing: bytes[text.range(Int(a.row))]),
                    UnsafeRawBufferPointer(rebasing: bytes[text.range(Int(b.row))]))
                return order == 0 ? a.ordinal < b.ordinal : (order < 0) == ascending
            }
        }
        let sorted = items.map(\.row)
        rows = ascending ? nulls + sorted : sorted + nulls
    }
}
