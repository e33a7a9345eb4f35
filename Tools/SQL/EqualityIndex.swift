import CSQLite
import FirnBytes
import FirnDisk
import FirnTable

/// A hash index in memory on the values of some columns, for joins. It returns candidates, in the order of the table; SQLite compares the
/// values itself. It takes 8 bytes per row, and 4 to 8 bytes per row for the slots.
final class EqualityIndex {
    struct Entry {
        /// The row: its vector number in `VectorNumbers`, times `vectorSize`, plus its position in the vector.
        var spot: UInt32
        /// The high bits of the hash, which exclude most rows with other values.
        var tag: UInt32
    }

    /// The candidates of a look-up: the entries of a slot that have the tag.
    struct Matches {
        var at: UnsafePointer<Entry>
        let end: UnsafePointer<Entry>
        let tag: UInt32

        /// Advances `at` to the next candidate, unless it is at one.
        @inline(__always)
        mutating func skip() { while at < end, at.pointee.tag != tag { at += 1 } }
    }

    /// For each column, the rows with texts that are numbers in an unusual notation (`EqualityKey.isOdd`). They can equal numbers with
    /// another hash.
    private(set) var odd: [[UInt32]]
    /// For each column, whether it has too many such rows to list.
    private(set) var hasTooManyOdd: [Bool]
    private static let maximumOdd = 256
    private var entries: UnsafeMutablePointer<Entry>
    private let count: Int
    /// The index of each slot's first entry, and after the last slot the end of the entries.
    private let starts: UnsafeMutablePointer<UInt32>
    private let mask: UInt64
    let bytes: Int
    private let charge: MemoryCharge

    /// The maximum number of bytes of all indexes of a connection.
    static let maximumBytes = Machine.memory / 4

    /// The maximum number of vectors that `Entry.spot` can number.
    static let maximumVectors = Int(UInt32.max) / vectorSize

    /// Returns whether a table with this number of rows can have an index.
    static func isPossible(rows: Int) -> Bool { rows < Int(UInt32.max) / 2 && rows * rowBytes < maximumBytes }
    /// The number of bytes per row while the index is built.
    private static let rowBytes = 24

    init(_ table: any Table, _ columns: [SQLColumn], on key: [Int], _ numbers: VectorNumbers) throws(Damage) {
        charge = try table.memory.holding(
            table.rowCount * EqualityIndex.rowBytes, for: "an index of the rows of type \"\(table.type.name)\"")
        let hashes = try EqualityIndex.hashes(table, columns, key, numbers)
        odd = hashes.odd
        hasTooManyOdd = hashes.hasTooManyOdd
        var size = 64
        while size < hashes.hashes.count { size *= 2 }
        let mask = UInt64(size - 1)
        let starts = UnsafeMutablePointer<UInt32>.allocate(capacity: size + 1)
        starts.initialize(repeating: 0, count: size + 1)
        // A counting sort by slot. It fills slots from the end, so that rows keep their order within a slot.
        for hash in hashes.hashes { starts[Int(hash & mask)] &+= 1 }
        var sum: UInt32 = 0
        for slot in 0..<size {
            sum &+= starts[slot]
            starts[slot] = sum
        }
        starts[size] = sum
        count = hashes.hashes.count
        let entries = UnsafeMutablePointer<Entry>.allocate(capacity: max(1, count))
        for i in hashes.hashes.indices.reversed() {
            let hash = hashes.hashes[i], slot = Int(hash & mask)
            starts[slot] &-= 1
            (entries + Int(starts[slot])).initialize(to: Entry(spot: hashes.spots[i], tag: UInt32(truncatingIfNeeded: hash >> 32)))
        }
        self.mask = mask
        self.starts = starts
        self.entries = entries
        bytes = count * 8 + size * 4
    }

    deinit {
        entries.deallocate()
        starts.deallocate()
    }

    func matches(_ hash: UInt64) -> Matches {
        let slot = Int(hash & mask)
        var matches = Matches(
            at: entries + Int(starts[slot]), end: entries + Int(starts[slot + 1]), tag: UInt32(truncatingIfNeeded: hash >> 32))
        matches.skip()
        return matches
    }

    /// Returns the spots of all candidates, and with `orOdd` those of the odd texts of the only column, in ascending order.
    func spots(_ hash: UInt64, orOdd: Bool) -> [UInt32] {
        var matches = matches(hash), spots: [UInt32] = []
        while matches.at < matches.end {
            spots.append(matches.at.pointee.spot)
            matches.at += 1
            matches.skip()
        }
        guard orOdd, !odd[0].isEmpty else { return spots }
        return Set(spots).union(odd[0]).sorted()
    }

    private static func hashes(_ table: any Table, _ columns: [SQLColumn], _ key: [Int], _ numbers: VectorNumbers) throws(Damage)
        -> (hashes: [UInt64], spots: [UInt32], odd: [[UInt32]], hasTooManyOdd: [Bool])
    {
        var all: [UInt64] = [], spots: [UInt32] = [], odd = key.map { _ in [UInt32]() }, hasTooManyOdd = key.map { _ in false }
        all.reserveCapacity(table.rowCount)
        spots.reserveCapacity(table.rowCount)
        let reader = SQLReader(table, columns), buffer = ColumnBuffer()
        let hash = UnsafeMutablePointer<UInt64>.allocate(capacity: vectorSize),
            next = UnsafeMutablePointer<UInt64>.allocate(capacity: vectorSize)
        defer {
            hash.deallocate()
            next.deallocate()
        }
        for number in 0..<table.segmentCount {
            let segment = try reader.move(to: number), live = segment.live
            for vector in 0..<segment.vectorCount {
                let range = segment.rows(ofVector: vector), base = UInt32(truncatingIfNeeded: (numbers.first[number] + vector) * vectorSize)
                for (k, index) in key.enumerated() {
                    let column = try reader.fill(buffer, column: index, vector: vector), form = columns[index].form
                    EqualityKey.hash(column, form, count: range.count, into: k == 0 ? hash : next)
                    if k > 0 { for row in 0..<range.count { hash[row] = EqualityKey.combine(hash[row], next[row]) } }
                    guard EqualityKey.mayBeOdd(form), !hasTooManyOdd[k] else { continue }
                    for row in 0..<range.count
                    where EqualityKey.isOdd(EqualityKey.bytes(column, row)) && live?[range.lowerBound + row] ?? true {
                        odd[k].append(base + UInt32(row))
                    }
                    hasTooManyOdd[k] = odd[k].count > maximumOdd
                }
                for row in 0..<range.count where live?[range.lowerBound + row] ?? true {
                    all.append(hash[row])
                    spots.append(base &+ UInt32(truncatingIfNeeded: row))
                }
            }
        }
        return (all, spots, odd, hasTooManyOdd)
    }
}
