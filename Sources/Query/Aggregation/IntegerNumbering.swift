import FirnBytes
import FirnThreads

/// Numbers words from 0, in the order of their first appearance.
///
/// Words that ascend need no table. Words in a small range have a slot each. Of others, one hash table holds few and 64 tables hold many.
struct IntegerNumbering: Sendable {
    private enum Form { case ascending, direct, table, tables }

    private var form = Form.ascending
    /// The words numbered 0, 1 … if they ascend.
    private var ascending: [Int64] = []
    private var direct = DirectNumbering()
    private var table = IntegerTable()
    private var tables: [IntegerTable] = []
    private var parts = PartNumbers()
    private let scratch = Scratch()

    /// The words numbered 0, 1 …
    /// - Complexity: O(n) for each call, if there are many.
    var keys: [Int64] {
        switch form {
        case .ascending: ascending
        case .direct: direct.keys
        case .table: table.keys
        case .tables:
            (0..<count).map { key($0) }
        }
    }

    /// Returns the word with a number.
    func key(_ number: Int) -> Int64 {
        switch form {
        case .ascending: return ascending[number]
        case .direct: return direct.keys[number]
        case .table: return table.keys[number]
        case .tables:
            let origin = parts.origin(number)
            return tables[origin.table].keys[origin.number]
        }
    }

    var count: Int {
        switch form {
        case .ascending: ascending.count
        case .direct: direct.keys.count
        case .table: table.keys.count
        case .tables: parts.places.count
        }
    }

    /// The memory in use in bytes.
    var bytes: Int {
        tables.reduce(ascending.count &* 8 &+ direct.bytes &+ table.bytes &+ parts.bytes &+ scratch.count) { $0 &+ $1.bytes }
    }

    /// Whether a look-up takes no hash, so that many of them at a time are not faster than few.
    var isPlain: Bool { form == .ascending || form == .direct }

    @inline(__always)
    mutating func number(_ key: Int64) -> UInt32 { form == .table ? table.number(key) : otherNumber(key) }

    private mutating func otherNumber(_ key: Int64) -> UInt32 {
        switch form {
        case .ascending, .direct:
            if form == .direct, let number = direct.number(ofKnown: key) { return number }
            var number: UInt32 = 0
            withUnsafePointer(to: key) { numbers(UnsafeBufferPointer(start: $0, count: 1), into: &number) }
            return number
        case .table: return table.number(key)
        case .tables:
            let at = parts.part(key.mixed), place = PartNumbers.place(tables[at].number(key), in: at, of: tables.count)
            return parts.number(at: place, of: tables[at].keys.count)
        }
    }

    /// Writes the numbers of many keys, as if `number` were called for one after another.
    mutating func numbers(_ sought: UnsafeBufferPointer<Int64>, into out: UnsafeMutablePointer<UInt32>, threads: Int = 1) {
        switch form {
        case .ascending:
            let taken = takeAscending(sought, into: out)
            guard taken < sought.count else { return }
            let rest = UnsafeBufferPointer(rebasing: sought[taken...])
            leaveOrder(rest, threads)
            numbers(rest, into: out + taken, threads: threads)
        case .direct:
            if direct.numbers(sought, into: out) { return }
            let known = direct.keys
            direct = DirectNumbering()
            enter(known, threads)
            numbers(sought, into: out, threads: threads)
        case .table:
            guard sought.count >= PartNumbers.minimumBatch, table.keys.count >= PartNumbers.minimumKeys else {
                return table.numbers(sought, into: out)
            }
            spreadOut(threads)
            numbers(sought, into: out, threads: threads)
        case .tables:
            guard sought.count >= PartNumbers.minimumBatch else {
                for j in sought.indices { out[j] = otherNumber(sought[j]) }
                return
            }
            var runs = 1
            for j in 1..<sought.count { runs &+= sought[j] == sought[j &- 1] ? 0 : 1 }
            if runs * 2 < sought.count { byRuns(sought, runs, into: out, threads) } else { sorted(sought, into: out, threads) }
        }
    }

    // MARK: Words that ascend

    /// Numbers words until one is below the last of them. Returns how many were numbered.
    private mutating func takeAscending(_ sought: UnsafeBufferPointer<Int64>, into out: UnsafeMutablePointer<UInt32>) -> Int {
        guard !sought.isEmpty else { return 0 }
        if ascending.isEmpty { ascending.append(sought[0]) }
        // The words that are not below the one before, and how many of them are above it.
        var last = ascending[ascending.count - 1], end = 0, new = 0
        while end < sought.count, sought[end] >= last {
            new &+= sought[end] > last ? 1 : 0
            last = sought[end]
            end &+= 1
        }
        trap(unless: ascending.count + new < Int(UInt32.max) - 1, "more than 2^32 distinct values")
        var number = ascending.count - 1
        last = ascending[number]
        ascending.append(contentsOf: repeatElement(0, count: new))
        ascending.withUnsafeMutableBufferPointer { ascending in
            for j in 0..<end {
                number &+= sought[j] > last ? 1 : 0
                last = sought[j]
                ascending[number] = last
                out[j] = UInt32(truncatingIfNeeded: number)
            }
        }
        return end
    }

    /// Changes the form, because the words of `rest` do not continue the order.
    private mutating func leaveOrder(_ rest: UnsafeBufferPointer<Int64>, _ threads: Int) {
        let known = ascending
        ascending = []
        if let direct = DirectNumbering(known, and: rest) {
            (form, self.direct) = (.direct, direct)
        } else {
            enter(known, threads)
        }
    }

    // MARK: Tables

    /// Enters words, which are numbered in this order, into one table or, if they are many, into 64.
    private mutating func enter(_ known: [Int64], _ threads: Int) {
        guard known.count < PartNumbers.minimumKeys else { return spread(known, threads) }
        form = .table
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: known.count) { out in
            known.withUnsafeBufferPointer { if let out = out.baseAddress, !known.isEmpty { table.numbers($0, into: out) } }
        }
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

    /// Spreads the words of the only table over 64, or gives each a slot if their range is small.
    private mutating func spreadOut(_ threads: Int) {
        let known = table.keys
        if let direct = DirectNumbering(known, and: UnsafeBufferPointer(start: nil, count: 0)) {
            (form, table, self.direct) = (.direct, IntegerTable(), direct)
        } else {
            spread(known, threads)
        }
    }

    private mutating func spread(_ known: [Int64], _ threads: Int) {
        form = .tables
        (ascending, direct, table) = ([], DirectNumbering(), IntegerTable())
        tables = Array(repeating: IntegerTable(), count: parts.tables)
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: known.count) { out in
            known.withUnsafeBufferPointer { if let out = out.baseAddress, !known.isEmpty { sorted($0, into: out, threads) } }
        }
    }

    private mutating func sorted(_ sought: UnsafeBufferPointer<Int64>, into out: UnsafeMutablePointer<UInt32>, _ threads: Int) {
        scratch.begin(arrays: 3, bytes: sought.count * (PartSort.bytes + 12))
        let order = PartSort(sought.count, among: parts.tables, in: scratch) { parts.part(sought[$0].mixed) }
        let words = scratch.array(sought.count, of: Int64.self), numbers = scratch.array(sought.count, of: UInt32.self)
        order.sort { j, _, at in words[at] = sought[j] }
        tables.withUnsafeMutableBufferPointer { tables in
            nonisolated(unsafe) let (tables, words, numbers) = (tables, words, numbers)
            parallel(count: tables.count, threads: threads) { t in
                let first = order.starts[t], count = order.starts[t + 1] - first
                tables[t].numbers(UnsafeBufferPointer(start: words + first, count: count), into: numbers + first)
            }
        }
        parts.assign(order, numbers, into: out, of: mostKeys)
    }

    /// The number of keys of the table that has the most.
    private var mostKeys: Int { tables.reduce(0) { max($0, $1.keys.count) } }

    /// Writes the numbers of all keys of another table.
    mutating func numbers(of other: IntegerNumbering, into out: UnsafeMutablePointer<UInt32>, threads: Int) {
        guard other.form == .tables else { return other.keys.withUnsafeBufferPointer { numbers($0, into: out, threads: threads) } }
        if form != .tables { spread(keys, threads) }
        // A key is in the same table of both.
        tables.withUnsafeMutableBufferPointer { tables in
            nonisolated(unsafe) let (tables, out) = (tables, out)
            parallel(count: tables.count, threads: threads) { t in
                let keys = other.tables[t].keys
                withUnsafeTemporaryAllocation(of: UInt32.self, capacity: keys.count) { numbers in
                    keys.withUnsafeBufferPointer { tables[t].numbers($0, into: numbers.baseAddress!) }
                    other.parts.forEach(in: t, of: keys.count) { out[Int($1)] = PartNumbers.place(numbers[$0], in: t, of: tables.count) }
                }
            }
        }
        parts.assign(UnsafeMutableBufferPointer(start: out, count: other.count), of: mostKeys)
    }
}
