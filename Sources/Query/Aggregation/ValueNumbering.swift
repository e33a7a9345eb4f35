import FirnBytes
import FirnTable

/// Numbers the distinct values of a column from 1, in the order of their first appearance; 0 is null. -0 equals 0, and all NaNs are equal.
struct ValueNumbering: Sendable {
    let type: ColumnType
    /// Row i is the value numbered i; row 0 is a filler. Without a validity bitmap, which appending row by row would copy each time. Its
    /// values are in `texts`, or in `words` if the numbering is whole, and only its count is kept.
    private var store: Column
    private var words = IntegerNumbering()
    private var extras = IntegerNumbering()
    private var pairs = IntegerNumbering()
    private var texts = TextNumbering()
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

    /// Whether the values are words themselves.
    private var isWhole: Bool { type.kind == .bool || type.kind == .int || type.kind == .link }

    var count: Int { store.count }
    /// The memory in use in bytes.
    var bytes: Int {
        words.bytes &+ extras.bytes &+ pairs.bytes &+ texts.bytes &+ store.footprint &* (buckets.isEmpty ? 1 : 2) &+ buckets.count &* 96
    }

    /// Whether looking up few values at a time costs no more than looking up many.
    var isPlain: Bool {
        switch type.kind {
        case .bool, .int, .link, .float, .double: words.isPlain
        default: false
        }
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
        } else if isWhole {
            out.words = [0] + words.keys
        }
        return out
    }

    /// Returns the values with the given numbers; 0 is null.
    func values(_ numbers: [Int]) -> Column {
        var out = Column(type)
        if type.kind == .string || type.kind == .data {
            out.text = texts.keys(numbers.map { $0 - 1 })
        } else if isWhole {
            out.words = numbers.map { $0 == 0 ? 0 : words.key($0 - 1) }
        } else {
            return values.gather(numbers)
        }
        out.count = numbers.count
        if numbers.contains(0) {
            var bits = Bits(repeating: true, count: numbers.count)
            for (i, number) in numbers.enumerated() where number == 0 { bits[i] = false }
            out.present = bits
        }
        return out
    }

    private mutating func keep(_ column: Column, _ row: Int) {
        store.count += 1
        if isWhole { return }
        if !column.words.isEmpty { store.words.append(column.words[row]) }
        if !column.extra.isEmpty { store.extra.append(column.extra[row]) }
        if !column.reals.isEmpty { store.reals.append(column.reals[row]) }
    }

    /// Writes the numbers of the given rows. Looks up the rows together, so that memory accesses overlap; many rows also by several
    /// threads.
    mutating func numbers(
        _ column: Column, _ rows: UnsafeBufferPointer<Int32>, into out: UnsafeMutablePointer<UInt32>, threads: Int = 1
    ) {
        guard let present = column.present else { return presentNumbers(column, rows, into: out, threads) }
        withUnsafeTemporaryAllocation(of: Int32.self, capacity: 2 * rows.count) { room in
            let positions = UnsafeMutableBufferPointer(rebasing: room[rows.count...])
            var count = 0
            for (j, row) in rows.enumerated() {
                out[j] = 0
                guard present[Int(row)] else { continue }
                room[count] = row
                positions[count] = Int32(truncatingIfNeeded: j)
                count &+= 1
            }
            withUnsafeTemporaryAllocation(of: UInt32.self, capacity: count) { numbers in
                let start = numbers.baseAddress!
                presentNumbers(column, UnsafeBufferPointer(rebasing: room[..<count]), into: start, threads)
                for j in 0..<count { out[Int(positions[j])] = numbers[j] }
            }
        }
    }

    /// Writes the numbers of all rows.
    mutating func numbers(ofAll column: Column, into out: UnsafeMutablePointer<UInt32>, threads: Int = 1) {
        if isWhole, column.present == nil {
            column.words.withUnsafeBufferPointer { words.numbers($0, into: out, threads: threads) }
            for j in 0..<column.count { out[j] &+= 1 }
            return store.count = words.count + 1
        }
        withUnsafeTemporaryAllocation(of: Int32.self, capacity: column.count) { rows in
            for j in rows.indices { rows[j] = Int32(truncatingIfNeeded: j) }
            numbers(column, UnsafeBufferPointer(rows), into: out, threads: threads)
        }
    }

    /// Writes the numbers of rows that have a value.
    private mutating func presentNumbers(
        _ column: Column, _ rows: UnsafeBufferPointer<Int32>, into out: UnsafeMutablePointer<UInt32>, _ threads: Int
    ) {
        guard !rows.isEmpty else { return }
        switch type.kind {
        case .bool, .int, .link: ValueNumbering.number(rows, by: &words, into: out, threads) { column.words[$0] }
        case .float, .double: ValueNumbering.number(rows, by: &words, into: out, threads) { ValueNumbering.word(column.reals[$0]) }
        case .date, .uuid, .objectID:
            withUnsafeTemporaryAllocation(of: UInt32.self, capacity: rows.count) { seconds in
                let second = seconds.baseAddress!
                ValueNumbering.number(rows, by: &words, into: out, threads) { column.words[$0] }
                ValueNumbering.number(rows, by: &extras, into: second, threads) { column.extra[$0] }
                withUnsafeTemporaryAllocation(of: Int64.self, capacity: rows.count) { both in
                    for j in rows.indices { both[j] = Int64(out[j]) << 32 | Int64(second[j]) }
                    pairs.numbers(UnsafeBufferPointer(both), into: out, threads: threads)
                }
            }
        case .string, .data:
            column.text.withRows(rows) { texts.numbers($0, into: out, threads: threads) }
            store.count = texts.count + 1
            for j in rows.indices { out[j] += 1 }
            return
        case .any, .decimal, .embedded:
            for (j, row) in rows.enumerated() { out[j] = number(column, Int(row)) }
            return
        }
        if isWhole {
            for j in rows.indices { out[j] &+= 1 }
            store.count = words.count + 1
            return
        }
        for (j, row) in rows.enumerated() {
            out[j] += 1
            if Int(out[j]) == store.count { keep(column, Int(row)) }
        }
    }

    @inline(__always)
    private static func number(
        _ rows: UnsafeBufferPointer<Int32>, by table: inout IntegerNumbering, into out: UnsafeMutablePointer<UInt32>, _ threads: Int,
        _ word: (Int) -> Int64
    ) {
        withUnsafeTemporaryAllocation(of: Int64.self, capacity: rows.count) { keys in
            for (j, row) in rows.enumerated() { keys[j] = word(Int(row)) }
            table.numbers(UnsafeBufferPointer(keys), into: out, threads: threads)
        }
    }

    /// Returns the numbers in this table of another table's values, by their numbers there.
    mutating func numbers(of other: ValueNumbering, threads: Int = 1) -> [UInt32] {
        [UInt32](unsafeUninitializedCapacity: other.count) { out, filled in
            // Value 0 is null; no other value is.
            let start = out.baseAddress! + 1
            out[0] = 0
            filled = other.count
            switch type.kind {
            case .string, .data:
                texts.numbers(of: other.texts, into: start, threads: threads)
                store.count = texts.count + 1
            case .bool, .int, .link, .float, .double: words.numbers(of: other.words, into: start, threads: threads)
            default:
                let rows = (1..<Int32(truncatingIfNeeded: other.count)).map { $0 }
                return rows.withUnsafeBufferPointer { presentNumbers(other.store, $0, into: start, threads) }
            }
            for i in 1..<other.count {
                out[i] += 1
                if store.count == out[i] { keep(other.store, i) }
            }
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
