import FirnBytes
import FirnTable
import FirnThreads

/// Numbers texts from 0, in the order of their first appearance. One table holds few of them, 64 tables hold many.
struct TextNumbering: Sendable {
    private var table = ByteTable()
    private var tables: [ByteTable] = []
    private var parts = PartNumbers()
    private let scratch = Scratch()

    var count: Int { tables.isEmpty ? table.keys.count : parts.places.count }
    /// The texts numbered 0, 1 …
    /// - Complexity: O(n) for each call, if there are many.
    var keys: Text { tables.isEmpty ? table.keys : keys(Array(0..<count)) }

    /// Returns the texts with the given numbers, and an empty one for -1.
    func keys(_ numbers: [Int]) -> Text {
        guard !tables.isEmpty else {
            var out = Text()
            for number in numbers { number < 0 ? out.appendEmpty() : table.keys.withBytes(number) { out.append($0) } }
            return out
        }
        var out = Text()
        out.appendRoom(count: numbers.count, bytes: numbers.reduce(0) { $0 &+ ($1 < 0 ? 0 : length($1)) })
        out.withMutableRows { offsets, bytes in
            var end = 0
            for (i, number) in numbers.enumerated() {
                if number >= 0 {
                    let origin = parts.origin(number)
                    tables[origin.table].keys.withRows { $0.copy(origin.number, to: bytes + end) }
                    end &+= length(number)
                }
                offsets[i &+ 1] = end
            }
        }
        return out
    }

    private func length(_ number: Int) -> Int {
        let origin = parts.origin(number)
        return tables[origin.table].keys.length(origin.number)
    }

    /// The memory in use in bytes.
    var bytes: Int { tables.reduce(table.bytes &+ parts.bytes &+ scratch.count) { $0 &+ $1.bytes } }

    mutating func number(_ text: UnsafeRawBufferPointer) -> UInt32 {
        tables.isEmpty ? table.number(text) : number(text, ByteTable.mixed(text))
    }

    private mutating func number(_ text: UnsafeRawBufferPointer, _ hash: UInt64) -> UInt32 {
        let at = parts.table(hash), place = PartNumbers.place(tables[at].number(text), in: at)
        return parts.number(at: place, of: tables[at].keys.count)
    }

    /// Writes the numbers of many texts, as if `number` were called for one after another.
    mutating func numbers(_ sought: TextRows, into out: UnsafeMutablePointer<UInt32>, threads: Int = 1) {
        if tables.isEmpty {
            guard sought.count >= PartNumbers.minimumBatch, table.keys.count >= PartNumbers.minimumKeys else {
                return table.numbers(sought, nil, into: out)
            }
            spreadOut(threads)
        }
        guard sought.count >= PartNumbers.minimumBatch else {
            for j in 0..<sought.count { out[j] = number(sought[j]) }
            return
        }
        sorted(sought, into: out, threads)
    }

    private mutating func spreadOut(_ threads: Int) {
        let known = table.keys
        tables = Array(repeating: ByteTable(), count: PartNumbers.tables)
        table = ByteTable()
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: known.count) { out in
            known.withRows { sorted($0, into: out.baseAddress!, threads) }
        }
    }

    private mutating func sorted(_ sought: TextRows, into out: UnsafeMutablePointer<UInt32>, _ threads: Int) {
        let count = sought.count
        scratch.begin(arrays: 5, bytes: count * (PartSort.bytes + 24))
        let unsorted = scratch.array(count, of: UInt64.self), hashes = scratch.array(count, of: UInt64.self)
        let rows = scratch.array(count, of: Int32.self), numbers = scratch.array(count, of: UInt32.self)
        let order = PartSort(count, in: scratch) { j in
            unsorted[j] = ByteTable.mixed(sought[j])
            return parts.table(unsorted[j])
        }
        order.sort { j, _, at in
            hashes[at] = unsorted[j]
            rows[at] = Int32(truncatingIfNeeded: sought.row(j))
        }
        tables.withUnsafeMutableBufferPointer { tables in
            nonisolated(unsafe) let (tables, sought, hashes, rows, numbers) = (tables, sought, hashes, rows, numbers)
            parallel(count: tables.count, threads: threads) { t in
                let first = order.starts[t]
                let share = sought.ofRows(UnsafeBufferPointer(start: rows + first, count: order.starts[t + 1] - first))
                tables[t].numbers(share, hashes + first, into: numbers + first)
            }
        }
        parts.assign(order, numbers, into: out, of: mostKeys)
    }

    /// The number of keys of the table that has the most.
    private var mostKeys: Int { tables.reduce(0) { max($0, $1.keys.count) } }

    /// Writes the numbers of all keys of another table.
    mutating func numbers(of other: TextNumbering, into out: UnsafeMutablePointer<UInt32>, threads: Int) {
        guard !other.tables.isEmpty else { return other.keys.withRows { numbers($0, into: out, threads: threads) } }
        if tables.isEmpty { spreadOut(threads) }
        // A key is in the same table of both.
        tables.withUnsafeMutableBufferPointer { tables in
            nonisolated(unsafe) let (tables, out) = (tables, out)
            parallel(count: tables.count, threads: threads) { t in
                let keys = other.tables[t].keys
                withUnsafeTemporaryAllocation(of: UInt32.self, capacity: keys.count) { numbers in
                    keys.withRows { tables[t].numbers($0, nil, into: numbers.baseAddress!) }
                    other.parts.forEach(in: t, of: keys.count) { out[Int($1)] = PartNumbers.place(numbers[$0], in: t) }
                }
            }
        }
        parts.assign(UnsafeMutableBufferPointer(start: out, count: other.count), of: mostKeys)
    }
}
