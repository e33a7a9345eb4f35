import FirnBytes
import FirnThreads

/// The numbers of keys that are spread over 64 parts by their hash. The table of a part, or its tables if there are kinds of keys, stays in
/// the cache of the processor while it looks up its share of a batch, and threads look up in different tables.
struct PartNumbers: Sendable {
    static let parts = 64
    /// Batches that are smaller are not sorted by table.
    static let minimumBatch = 8192
    /// One table is spread when it has this many keys.
    static let minimumKeys = 1 << 14
    /// Keys cannot be chosen to be in the same table.
    private static let secret = UInt64.random(in: .min ... .max) | 1

    private let factor = PartNumbers.secret
    /// Table t is that of part `t % 64` and of kind `t / 64`.
    let tables: Int
    /// The number of the key that has number `place / tables` in table `place % tables`; `.max` if it has none yet.
    private var numbers: [UInt32] = []
    /// The places of the keys numbered 0, 1 …
    private(set) var places: [UInt32] = []

    /// The memory in use in bytes.
    var bytes: Int { (numbers.count &+ places.count) &* 4 }

    /// `kinds` is a power of two.
    init(kinds: Int = 1) { tables = PartNumbers.parts * kinds }

    /// Returns the part of a key with the given hash.
    @inline(__always)
    func part(_ hash: UInt64) -> Int { Int(truncatingIfNeeded: (hash &* factor) >> 58) }

    @inline(__always)
    static func place(_ number: UInt32, in table: Int, of tables: Int) -> UInt32 {
        number &* UInt32(truncatingIfNeeded: tables) | UInt32(truncatingIfNeeded: table)
    }

    private mutating func grow(_ keys: Int) {
        let wanted = keys * tables
        trap(unless: keys < 1 << 25, "more than 2^31 distinct values")
        guard numbers.count < wanted else { return }
        numbers.append(contentsOf: repeatElement(.max, count: max(wanted, numbers.count * 3 / 2) - numbers.count))
        places.reserveCapacity(numbers.count)
    }

    /// Returns the number of one key. The table has `keys` keys.
    mutating func number(at place: UInt32, of keys: Int) -> UInt32 {
        grow(keys)
        if numbers[Int(place)] == .max {
            numbers[Int(place)] = UInt32(truncatingIfNeeded: places.count)
            places.append(place)
        }
        return numbers[Int(place)]
    }

    /// Returns the table of a key and its number there.
    @inline(__always)
    func origin(_ number: Int) -> (table: Int, number: Int) {
        (Int(places[number]) & (tables &- 1), Int(places[number]) >> tables.trailingZeroBitCount)
    }

    /// Calls `body` with the number of each key of a table, in the order of the numbers in the table.
    func forEach(in table: Int, of keys: Int, _ body: (Int, UInt32) -> Void) {
        for i in 0..<keys { body(i, numbers[i * tables + table]) }
    }

    /// Writes the numbers of a batch, which are assigned in its order. `found` are the numbers of the sorted keys in their tables. No table has
    /// more than `keys` keys.
    mutating func assign(
        _ order: PartSort, _ found: UnsafePointer<UInt32>, into out: UnsafeMutablePointer<UInt32>, of keys: Int
    ) {
        let tables = tables
        assign(order.count, of: keys) { put in
            order.sort { j, table, at in out[j] = put(PartNumbers.place(found[at], in: table, of: tables)) }
        }
    }

    /// Replaces places with numbers, which are assigned in the order of the batch. No table has more than `keys` keys.
    mutating func assign(_ batch: UnsafeMutableBufferPointer<UInt32>, of keys: Int) {
        assign(batch.count, of: keys) { put in for j in batch.indices { batch[j] = put(batch[j]) } }
    }

    /// Calls `body` with a function that returns the number of a place and may be called `count` times.
    @inline(__always)
    private mutating func assign(_ count: Int, of keys: Int, _ body: ((UInt32) -> UInt32) -> Void) {
        grow(keys)
        var next = places.count
        places.append(contentsOf: repeatElement(0, count: count))
        numbers.withUnsafeMutableBufferPointer { numbers in
            places.withUnsafeMutableBufferPointer { places in
                // Without a branch on whether a key is new, which the processor could not predict.
                body { place in
                    let known = numbers[Int(place)], isNew = known == .max
                    let number = isNew ? UInt32(truncatingIfNeeded: next) : known
                    places[next] = place
                    next &+= isNew ? 1 : 0
                    numbers[Int(place)] = number
                    return number
                }
            }
        }
        places.removeLast(places.count - next)
    }
}

/// The order of the keys of a batch by table. Its array is one of the current batch of a `Scratch`.
struct PartSort: @unchecked Sendable {
    private let tables: UnsafeMutablePointer<UInt8>
    /// The sorted keys of table t are those at starts[t] ..< starts[t + 1], in the order of the batch.
    private(set) var starts: [Int]
    let count: Int

    /// The bytes that it needs for each key.
    static let bytes = 1

    /// Counts the keys of each of `tableCount` tables, which `table` returns.
    @inline(__always)
    init(_ count: Int, among tableCount: Int, in scratch: Scratch, table: (Int) -> Int) {
        self.count = count
        tables = scratch.array(count, of: UInt8.self)
        starts = [Int](repeating: 0, count: tableCount + 1)
        starts.withUnsafeMutableBufferPointer { starts in
            for j in 0..<count {
                let at = table(j)
                tables[j] = UInt8(truncatingIfNeeded: at)
                starts[at &+ 1] &+= 1
            }
            for t in 0..<tableCount { starts[t &+ 1] &+= starts[t] }
        }
    }

    /// Calls `put` with each key, its table and its place among the sorted keys, in the order of the batch.
    @inline(__always)
    func sort(_ put: (Int, Int, Int) -> Void) {
        var ends = starts
        ends.withUnsafeMutableBufferPointer { ends in
            for j in 0..<count {
                let table = Int(tables[j]), at = ends[table]
                ends[table] = at &+ 1
                put(j, table, at)
            }
        }
    }
}
