import FirnBytes
import FirnTable
import FirnThreads

/// Numbers texts from 0, in the order of their first appearance. One table holds few of them. Many are in 64 parts, each with a table of
/// short texts, whose bytes are in the table, and one of longer texts.
struct TextNumbering: Sendable {
    private var table = ByteTable()
    private var short: [KeyTable<ShortText>] = []
    private var long: [ByteTable] = []
    /// Tables 0 ..< 64 are those of short texts.
    private var parts = PartNumbers(kinds: 2)
    private let scratch = Scratch()

    private var isSpread: Bool { !long.isEmpty }
    var count: Int { isSpread ? parts.places.count : table.keys.count }
    /// The texts numbered 0, 1 …
    /// - Complexity: O(n) for each call, if there are many.
    var keys: Text { isSpread ? keys(Array(0..<count)) : table.keys }

    /// Returns the texts with the given numbers, and an empty one for -1.
    func keys(_ numbers: [Int]) -> Text {
        var out = Text()
        guard isSpread else {
            for number in numbers { number < 0 ? out.appendEmpty() : table.keys.withBytes(number) { out.append($0) } }
            return out
        }
        out.appendRoom(count: numbers.count, bytes: numbers.reduce(0) { $0 &+ ($1 < 0 ? 0 : length($1)) })
        out.withMutableRows { offsets, bytes in
            var end = 0
            for (i, number) in numbers.enumerated() {
                if number >= 0 {
                    copy(number, to: bytes + end)
                    end &+= length(number)
                }
                offsets[i &+ 1] = end
            }
        }
        return out
    }

    private func length(_ number: Int) -> Int {
        let origin = parts.origin(number)
        guard origin.table >= short.count else { return short[origin.table].keys[origin.number].count }
        return long[origin.table &- short.count].keys.length(origin.number)
    }

    private func copy(_ number: Int, to target: UnsafeMutableRawPointer) {
        let origin = parts.origin(number)
        guard origin.table >= short.count else { return short[origin.table].keys[origin.number].copy(to: target) }
        long[origin.table &- short.count].keys.withRows { $0.copy(origin.number, to: target) }
    }

    /// The memory in use in bytes.
    var bytes: Int {
        let short = short.reduce(0) { $0 &+ $1.bytes }, long = long.reduce(0) { $0 &+ $1.bytes }
        return table.bytes &+ parts.bytes &+ scratch.count &+ short &+ long
    }

    mutating func number(_ text: UnsafeRawBufferPointer) -> UInt32 {
        guard isSpread else { return table.number(text) }
        let at: Int, number: UInt32
        if text.count <= ShortText.maximumBytes {
            let key = ShortText(text)
            at = parts.part(key.mixed)
            number = short[at].number(key)
        } else {
            let part = parts.part(ByteTable.mixed(text))
            at = part + short.count
            number = long[part].number(text)
        }
        return parts.number(at: PartNumbers.place(number, in: at, of: parts.tables), of: Int(number) + 1)
    }

    /// Writes the numbers of many texts, as if `number` were called for one after another.
    mutating func numbers(_ sought: TextRows, into out: UnsafeMutablePointer<UInt32>, threads: Int = 1) {
        if !isSpread {
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
        short = Array(repeating: KeyTable(), count: PartNumbers.parts)
        long = Array(repeating: ByteTable(), count: PartNumbers.parts)
        table = ByteTable()
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: known.count) { out in
            known.withRows { sorted($0, into: out.baseAddress!, threads) }
        }
    }

    private mutating func sorted(_ sought: TextRows, into out: UnsafeMutablePointer<UInt32>, _ threads: Int) {
        let count = sought.count, parts = parts.tables / 2
        scratch.begin(arrays: 6, bytes: count * (PartSort.bytes + 40))
        let unsorted = scratch.array(count, of: UInt64.self), hashes = scratch.array(count, of: UInt64.self)
        let words = scratch.array(count, of: ShortText.self)
        let rows = scratch.array(count, of: Int32.self), numbers = scratch.array(count, of: UInt32.self)
        let order = PartSort(count, among: self.parts.tables, in: scratch) { j in
            let text = sought[j]
            if text.count <= ShortText.maximumBytes { return self.parts.part(ShortText(text).mixed) }
            unsorted[j] = ByteTable.mixed(text)
            return parts + self.parts.part(unsorted[j])
        }
        order.sort { j, table, at in
            if table < parts {
                words[at] = ShortText(sought[j])
            } else {
                hashes[at] = unsorted[j]
                rows[at] = Int32(truncatingIfNeeded: sought.row(j))
            }
        }
        short.withUnsafeMutableBufferPointer { short in
            long.withUnsafeMutableBufferPointer { long in
                nonisolated(unsafe) let (short, long, sought, hashes, words) = (short, long, sought, hashes, words)
                nonisolated(unsafe) let (rows, numbers) = (rows, numbers)
                parallel(count: order.starts.count - 1, threads: threads) { t in
                    let first = order.starts[t], count = order.starts[t + 1] - first
                    if t < parts {
                        short[t].numbers(UnsafeBufferPointer(start: words + first, count: count), into: numbers + first)
                    } else {
                        let share = sought.ofRows(UnsafeBufferPointer(start: rows + first, count: count))
                        long[t - parts].numbers(share, hashes + first, into: numbers + first)
                    }
                }
            }
        }
        self.parts.assign(order, numbers, into: out, of: mostKeys)
    }

    /// The number of keys of the table that has the most.
    private var mostKeys: Int { max(short.reduce(0) { max($0, $1.keys.count) }, long.reduce(0) { max($0, $1.keys.count) }) }

    /// Writes the numbers of all keys of another table.
    mutating func numbers(of other: TextNumbering, into out: UnsafeMutablePointer<UInt32>, threads: Int) {
        guard other.isSpread else { return other.table.keys.withRows { numbers($0, into: out, threads: threads) } }
        if !isSpread { spreadOut(threads) }
        // A key is in the same table of both.
        short.withUnsafeMutableBufferPointer { short in
            long.withUnsafeMutableBufferPointer { long in
                nonisolated(unsafe) let (short, long, out) = (short, long, out)
                let tables = other.parts.tables
                parallel(count: tables, threads: threads) { t in
                    let isShort = t < short.count, part = isShort ? t : t - short.count
                    let count = isShort ? other.short[part].keys.count : other.long[part].keys.count
                    withUnsafeTemporaryAllocation(of: UInt32.self, capacity: count) { room in
                        guard count > 0, let numbers = room.baseAddress else { return }
                        if isShort {
                            other.short[part].keys.withUnsafeBufferPointer { short[part].numbers($0, into: numbers) }
                        } else {
                            other.long[part].keys.withRows { long[part].numbers($0, nil, into: numbers) }
                        }
                        other.parts.forEach(in: t, of: count) { out[Int($1)] = PartNumbers.place(numbers[$0], in: t, of: tables) }
                    }
                }
            }
        }
        parts.assign(UnsafeMutableBufferPointer(start: out, count: other.count), of: mostKeys)
    }
}
