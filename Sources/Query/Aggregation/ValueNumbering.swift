import FirnBytes
import FirnTable

/// Numbers the distinct values of a column from 1, in the order of their first appearance; 0 is null. -0 equals 0, and all NaNs are equal.
struct ValueNumbering: Sendable {
    let type: ColumnType
    /// Row i is the value numbered i; row 0 is a filler. Without a validity bitmap, which appending row by row would copy each time.
    private var store: Column
    private var words = IntegerTable()
    private var extras = IntegerTable()
    private var pairs = IntegerTable()
    private var texts = ByteTable()
    /// For mixed values and decimals, which are compared by value: candidates by nearest double or by equal bytes.
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
    /// The memory in use in bytes.
    var bytes: Int {
        words.bytes &+ extras.bytes &+ pairs.bytes &+ texts.bytes &+ store.footprint &* (buckets.isEmpty ? 1 : 2) &+ buckets.count &* 96
    }

    /// The values; row i is the value numbered i.
    /// - Complexity: O(n) for each call, because the column is copied.
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

    /// Writes the numbers of the given rows. Looks up the rows together, so that memory accesses overlap.
    mutating func numbers(_ column: Column, _ rows: UnsafeBufferPointer<Int32>, into out: UnsafeMutablePointer<UInt32>) {
        guard column.present == nil, !rows.isEmpty else {
            for (j, row) in rows.enumerated() { out[j] = number(column, Int(row)) }
            return
        }
        switch type.kind {
        case .bool, .int, .link:
            number(rows, into: out) {
                column.words[$0]
            } keep: {
                $0.words.append(column.words[$1])
            }
        case .float, .double:
            number(rows, into: out) {
                ValueNumbering.word(column.reals[$0])
            } keep: {
                $0.reals.append(column.reals[$1])
            }
        case .string, .data:
            let known = texts.keys.count
            texts.numbers(column.text, rows, into: out)
            store.count += texts.keys.count - known
            for j in rows.indices { out[j] += 1 }
        default: for (j, row) in rows.enumerated() { out[j] = number(column, Int(row)) }
        }
    }

    @inline(__always)
    private mutating func number(
        _ rows: UnsafeBufferPointer<Int32>, into out: UnsafeMutablePointer<UInt32>, _ word: (Int) -> Int64,
        keep: (inout Column, Int) -> Void
    ) {
        withUnsafeTemporaryAllocation(of: Int64.self, capacity: rows.count) { keys in
            for (j, row) in rows.enumerated() { keys[j] = word(Int(row)) }
            words.numbers(UnsafeBufferPointer(keys), into: out)
        }
        for (j, row) in rows.enumerated() {
            out[j] += 1
            guard Int(out[j]) == store.count else { continue }
            store.count += 1
            keep(&store, Int(row))
        }
    }

    /// Returns the numbers in this table of another table's values, by their numbers there.
    mutating func numbers(of other: ValueNumbering) -> [UInt32] {
        var values = other.values
        // Value 0 is null; no other value is.
        values.present = nil
        let rows = (0..<Int32(truncatingIfNeeded: values.count)).map { $0 }
        return [UInt32](unsafeUninitializedCapacity: values.count) { out, filled in
            rows.withUnsafeBufferPointer { rows in
                out[0] = 0
                var first = 1
                while first < rows.count {
                    let end = min(first + vectorSize, rows.count)
                    numbers(values, UnsafeBufferPointer(rebasing: rows[first..<end]), into: out.baseAddress! + first)
                    first = end
                }
            }
            filled = values.count
        }
    }

    /// Returns equal words for doubles that count as one value.
    @inline(__always)
    private static func word(_ real: Double) -> Int64 {
        Int64(bitPattern: real == 0 ? 0 : real.isNaN ? Double.nan.bitPattern : real.bitPattern)
    }

    /// Returns the number of a bool, int or link.
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
            id = words.number(ValueNumbering.word(column.reals[row])) + 1
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
