import FirnBytes
import FirnThreads

/// Finds a position by its 64-bit hash: a hash table with open addressing and linear probing over 32-bit positions, in partitions that are
/// filled by one thread each. The hashes are stored outside, in the order of positions.
///
///     partition = lowest bits of the hash      slot = highest bits × capacity / 2^64, then the next ones
final class KeyHashTable: @unchecked Sendable {
    static let none = UInt32.max

    private let hashes: UnsafePointer<UInt64>
    private let mask: UInt64
    private var slots: [UnsafeMutableBufferPointer<UInt32>]
    /// Positions that were left out because an earlier one has the same hash: (position, earlier position), ascending within each
    /// partition.
    private(set) var suspects: [(later: UInt32, earlier: UInt32)] = []

    /// Enters the positions 0 ..< count for which `isChosen` returns true (nil means all).
    init(_ hashes: UnsafePointer<UInt64>, count: Int, threads: Int, isChosen: (@Sendable (Int) -> Bool)?) {
        var partitions = 1
        while partitions < min(threads, 16) { partitions *= 2 }
        self.hashes = hashes
        let mask = UInt64(partitions - 1)
        self.mask = mask
        let source = Source(hashes: hashes)
        let filled = parallelMap(count: partitions, threads: threads) { partition -> Filled in
            Self.fill(source.hashes, count, UInt64(partition), mask, isChosen)
        }
        slots = filled.map(\.slots)
        suspects = filled.flatMap(\.suspects)
    }

    /// Whether no position was entered.
    var isEmpty: Bool { slots.allSatisfy { part in part.allSatisfy { $0 == KeyHashTable.none } } }

    deinit { for part in slots { part.deallocate() } }

    private struct Source: @unchecked Sendable { let hashes: UnsafePointer<UInt64> }
    private struct Filled: @unchecked Sendable {
        var slots: UnsafeMutableBufferPointer<UInt32>
        var suspects: [(later: UInt32, earlier: UInt32)] = []
    }

    private static func fill(
        _ hashes: UnsafePointer<UInt64>, _ count: Int, _ partition: UInt64, _ mask: UInt64, _ isChosen: ((Int) -> Bool)?
    ) -> Filled {
        var members = 0
        for i in 0..<count where hashes[i] & mask == partition { members &+= 1 }
        let capacity = members &+ members / 2 &+ 8
        var out = Filled(slots: .allocate(capacity: capacity))
        out.slots.initialize(repeating: none)
        let slots = out.slots.baseAddress!
        for i in 0..<count where hashes[i] & mask == partition {
            if let isChosen, !isChosen(i) { continue }
            let hash = hashes[i]
            var slot = Int(truncatingIfNeeded: hash.multipliedFullWidth(by: UInt64(capacity)).high)
            while slots[slot] != none, hashes[Int(slots[slot])] != hash {
                slot &+= 1
                if slot == capacity { slot = 0 }
            }
            if slots[slot] == none {
                slots[slot] = UInt32(truncatingIfNeeded: i)
            } else {
                out.suspects.append((UInt32(truncatingIfNeeded: i), slots[slot]))
            }
        }
        return out
    }

    /// Returns the first position that was entered with this hash; `none` if there is none.
    @inline(__always)
    func first(_ hash: UInt64) -> UInt32 {
        let part = slots[Int(truncatingIfNeeded: hash & mask)]
        var slot = Int(truncatingIfNeeded: hash.multipliedFullWidth(by: UInt64(part.count)).high)
        let base = part.baseAddress!
        while true {
            let position = base[slot]
            if position == KeyHashTable.none || hashes[Int(position)] == hash { return position }
            slot &+= 1
            if slot == part.count { slot = 0 }
        }
    }

    /// Calls the body with each position with this hash, in the order of entry, until it returns true. Returns that position.
    func firstWhere<E: Error>(_ hash: UInt64, _ body: (UInt32) throws(E) -> Bool) throws(E) -> UInt32? {
        let part = slots[Int(truncatingIfNeeded: hash & mask)]
        var slot = Int(truncatingIfNeeded: hash.multipliedFullWidth(by: UInt64(part.count)).high)
        while part[slot] != KeyHashTable.none {
            if hashes[Int(part[slot])] == hash, try body(part[slot]) { return part[slot] }
            slot += 1
            if slot == part.count { slot = 0 }
        }
        return nil
    }

    /// Enters a position that `init` left out. The table has a slot for each of them.
    func enter(_ position: UInt32) {
        let hash = hashes[Int(position)]
        let part = slots[Int(truncatingIfNeeded: hash & mask)]
        var slot = Int(truncatingIfNeeded: hash.multipliedFullWidth(by: UInt64(part.count)).high)
        while part[slot] != KeyHashTable.none {
            slot += 1
            if slot == part.count { slot = 0 }
        }
        part[slot] = position
    }
}
