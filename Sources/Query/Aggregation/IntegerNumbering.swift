import FirnThreads

/// Numbers words from 0, in the order of their first appearance. One table holds few of them, 64 tables hold many.
struct IntegerNumbering: Sendable {
    private var table = IntegerTable()
    private var tables: [IntegerTable] = []
    private var parts = PartNumbers()
    private let scratch = Scratch()

    /// The words numbered 0, 1 …
    /// - Complexity: O(n) for each call.
    var keys: [Int64] {
        guard !tables.isEmpty else { return table.keys }
        return (0..<count).map { number in
            let origin = parts.origin(number)
            return tables[origin.table].keys[origin.number]
        }
    }
    var count: Int { tables.isEmpty ? table.keys.count : parts.places.count }
    /// The memory in use in bytes.
    var bytes: Int { tables.reduce(table.bytes &+ parts.bytes &+ scratch.count) { $0 &+ $1.bytes } }

    @inline(__always)
    mutating func number(_ key: Int64) -> UInt32 { tables.isEmpty ? table.number(key) : spreadNumber(key) }

    private mutating func spreadNumber(_ key: Int64) -> UInt32 {
        let at = parts.table(IntegerTable.mixed(key)), place = PartNumbers.place(tables[at].number(key), in: at)
        return parts.number(at: place, of: tables[at].keys.count)
    }

    /// Writes the numbers of many keys, as if `number` were called for one after another.
    mutating func numbers(_ sought: UnsafeBufferPointer<Int64>, into out: UnsafeMutablePointer<UInt32>, threads: Int = 1) {
        if tables.isEmpty {
            guard sought.count >= PartNumbers.minimumBatch, table.keys.count >= PartNumbers.minimumKeys else {
                return table.numbers(sought, into: out)
            }
            spreadOut(threads)
        }
        guard sought.count >= PartNumbers.minimumBatch else {
            for j in sought.indices { out[j] = spreadNumber(sought[j]) }
            return
        }
        var runs = 1
        for j in 1..<sought.count { runs &+= sought[j] == sought[j &- 1] ? 0 : 1 }
        if runs * 2 < sought.count { byRuns(sought, runs, into: out, threads) } else { sorted(sought, into: out, threads) }
    }

    /// Numbers keys that come in runs of equal ones: one of each run.
    private mutating func byRuns(
        _ sought: UnsafeBufferPointer<Int64>, _ runs: Int, into out: UnsafeMutablePointer<UInt32>, _ threads: Int
    ) {
        var firsts: [Int64] = [], run = 0
        firsts.reserveCapacity(runs)
        for j in sought.indices where j == 0 || sought[j] != sought[j &- 1] { firsts.append(sought[j]) }
        let numbers = [UInt32](unsafeUninitializedCapacity: runs) { numbers, filled in
            firsts.withUnsafeBufferPointer { sorted($0, into: numbers.baseAddress!, threads) }
            filled = runs
        }
        for j in sought.indices {
            run &+= j > 0 && sought[j] != sought[j &- 1] ? 1 : 0
            out[j] = numbers[run]
        }
    }

    private mutating func spreadOut(_ threads: Int) {
        let known = table.keys
        tables = Array(repeating: IntegerTable(), count: PartNumbers.tables)
        table = IntegerTable()
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: known.count) { out in
            known.withUnsafeBufferPointer { sorted($0, into: out.baseAddress!, threads) }
        }
    }

    private mutating func sorted(_ sought: UnsafeBufferPointer<Int64>, into out: UnsafeMutablePointer<UInt32>, _ threads: Int) {
        scratch.begin(arrays: 4, bytes: sought.count * (PartSort.bytes + 12))
        let order = PartSort(sought.count, in: scratch) { parts.table(IntegerTable.mixed(sought[$0])) }
        let words = scratch.array(sought.count, of: Int64.self), numbers = scratch.array(sought.count, of: UInt32.self)
        order.sort { j, _, at in words[at] = sought[j] }
        tables.withUnsafeMutableBufferPointer { tables in
            nonisolated(unsafe) let (tables, words, numbers, out) = (tables, words, numbers, out)
            parallel(count: tables.count, threads: threads) { t in
                let first = order.starts[t], count = order.starts[t + 1] - first
                tables[t].numbers(UnsafeBufferPointer(start: words + first, count: count), into: numbers + first)
                order.put(numbers + first, of: t, into: out)
            }
        }
        finish(out, sought.count)
    }

    /// Replaces the places of a batch with numbers.
    private mutating func finish(_ batch: UnsafeMutablePointer<UInt32>, _ count: Int) {
        parts.assign(UnsafeMutableBufferPointer(start: batch, count: count), of: tables.reduce(0) { max($0, $1.keys.count) })
    }

    /// Writes the numbers of all keys of another table.
    mutating func numbers(of other: IntegerNumbering, into out: UnsafeMutablePointer<UInt32>, threads: Int) {
        guard !other.tables.isEmpty else { return other.keys.withUnsafeBufferPointer { numbers($0, into: out, threads: threads) } }
        if tables.isEmpty { spreadOut(threads) }
        // A key is in the same table of both.
        tables.withUnsafeMutableBufferPointer { tables in
            nonisolated(unsafe) let (tables, out) = (tables, out)
            parallel(count: tables.count, threads: threads) { t in
                let keys = other.tables[t].keys
                withUnsafeTemporaryAllocation(of: UInt32.self, capacity: keys.count) { numbers in
                    keys.withUnsafeBufferPointer { tables[t].numbers($0, into: numbers.baseAddress!) }
                    other.parts.forEach(in: t, of: keys.count) { out[Int($1)] = PartNumbers.place(numbers[$0], in: t) }
                }
            }
        }
        finish(out, other.count)
    }
}
