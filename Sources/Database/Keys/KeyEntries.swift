import FirnBytes
import FirnTable

/// Maps hashes of keys to row ids. Results are candidates: an entry contains only a part of the hash, and entries of changed and deleted
/// rows remain.
///
/// Open addressing with linear probing, one word per entry: the upper bits of the hash, then the row id. Row ids take as many bits as they
/// need, at most 40; larger row ids are stored in `beyond`. The home slot of an entry is derived from the upper bits of its hash, so a
/// larger table can be built from the entries alone.
struct KeyEntries {
    private static let empty = UInt64.max

    private var slots: [UInt64]
    /// 64 minus the binary logarithm of the number of slots.
    private var shift: UInt64
    private var rowMask: UInt64
    /// The maximum that `rowMask` can grow to.
    private let maximumRows: UInt64
    /// Row ids that do not fit into an entry, by hash.
    private var beyond: [UInt64: [Int64]] = [:]
    private(set) var count = 0

    /// `rowBits` limits the bits of a row id (for tests; at most 40).
    init(rowBits: Int = 40) {
        slots = Array(repeating: KeyEntries.empty, count: 16)
        shift = 60
        maximumRows = 1 << UInt64(min(max(rowBits, 1), 40)) - 1
        rowMask = min(1 << 20 - 1, maximumRows)
    }

    /// Reserves space for `more` entries with row ids up to `last`.
    mutating func reserve(_ more: Int, last: Int64) {
        if last >= 0, UInt64(last) >= rowMask { widen(to: mask(for: UInt64(last))) }
        var capacity = slots.count
        while (count + more) * 10 > capacity * 7 { capacity *= 2 }
        if capacity > slots.count { replace(capacity: capacity) }
    }

    /// Adds a row. Adding a row again with the same hash has no effect.
    mutating func add(_ hash: UInt64, _ rowID: Int64) {
        trap(unless: rowID >= 0, "row ids begin at 0")
        let row = UInt64(rowID)
        // A row id of all ones would make an entry that looks empty.
        if row >= rowMask {
            guard row < maximumRows else {
                guard beyond[hash]?.contains(rowID) != true else { return }
                beyond[hash, default: []].append(rowID)
                count += 1
                return
            }
            widen(to: mask(for: row))
        }
        if (count + 1) * 10 > slots.count * 7 { replace(capacity: slots.count * 2) }
        if enter(hash & ~rowMask | row) { count += 1 }
    }

    /// Adds the rows of one segment with their hashes, except those for which `gone` returns true. `rowIDs` are relative to `firstRowID`;
    /// nil means consecutive.
    mutating func add(_ hashes: [UInt64], firstRowID: Int64, rowIDs: [Int64]?, except gone: (Int) -> Bool) {
        guard !hashes.isEmpty else { return }
        reserve(hashes.count, last: firstRowID + (rowIDs?.last ?? Int64(hashes.count - 1)))
        for i in hashes.indices where !gone(i) { add(hashes[i], firstRowID + (rowIDs?[i] ?? Int64(i))) }
    }

    mutating func add(_ other: KeyEntries) {
        // An entry must not contain more bits of its hash than the other table has kept.
        widen(to: other.rowMask)
        reserve(other.count, last: -1)
        for entry in other.slots where entry != KeyEntries.empty { add(entry & ~other.rowMask, Int64(entry & other.rowMask)) }
        for (hash, rows) in other.beyond { for row in rows { add(hash, row) } }
    }

    /// Returns the rows whose key may have this hash.
    func candidates(_ hash: UInt64) -> KeyCandidates {
        var found = KeyCandidates()
        slots.withUnsafeBufferPointer { slots in
            let last = slots.count &- 1
            var at = Int(truncatingIfNeeded: (hash & ~rowMask) >> shift)
            while slots[at] != KeyEntries.empty {
                if (slots[at] ^ hash) & ~rowMask == 0 { found.append(Int64(slots[at] & rowMask)) }
                at = (at &+ 1) & last
            }
        }
        if !beyond.isEmpty, let rows = beyond[hash] { for row in rows { found.append(row) } }
        return found
    }

    @inline(__always)
    private mutating func enter(_ entry: UInt64) -> Bool {
        let last = slots.count &- 1
        let home = Int(truncatingIfNeeded: (entry & ~rowMask) >> shift)
        return slots.withUnsafeMutableBufferPointer { slots in
            var at = home
            while slots[at] != KeyEntries.empty {
                if slots[at] == entry { return false }
                at = (at &+ 1) & last
            }
            slots[at] = entry
            return true
        }
    }

    /// Returns a mask that leaves room for row ids four times as large as `row`, so that widening is rare.
    private func mask(for row: UInt64) -> UInt64 {
        var mask = rowMask
        while mask < maximumRows, row >= mask >> 2 { mask = min(mask << 1 | 1, maximumRows) }
        return mask
    }

    private mutating func widen(to mask: UInt64) {
        guard mask > rowMask else { return }
        let old = rowMask, entries = slots
        rowMask = mask
        slots = Array(repeating: KeyEntries.empty, count: entries.count)
        count = beyond.values.reduce(0) { $0 + $1.count }
        // Entries of one row whose hashes differed only in the dropped bits are equal now.
        for entry in entries where entry != KeyEntries.empty && enter(entry & ~mask | entry & old) { count += 1 }
    }

    private mutating func replace(capacity: Int) {
        let entries = slots
        slots = Array(repeating: KeyEntries.empty, count: capacity)
        shift = UInt64(64 - capacity.trailingZeroBitCount)
        for entry in entries where entry != KeyEntries.empty { _ = enter(entry) }
    }
}

/// Candidate row ids; nearly always none or one.
struct KeyCandidates {
    private var first: Int64 = -1
    private var more: [Int64] = []

    init(_ rows: [Int64] = []) { for row in rows { append(row) } }

    mutating func append(_ rowID: Int64) {
        if first < 0 { first = rowID } else { more.append(rowID) }
    }

    /// The only candidate; nil if there is none, or more than one.
    var only: Int64? { first >= 0 && more.isEmpty ? first : nil }

    /// Returns the smallest row id that passes the test, or nil.
    func smallest<E: Error>(where test: (Int64) throws(E) -> Bool) throws(E) -> Int64? {
        if first < 0 { return nil }
        if more.isEmpty { return try test(first) ? first : nil }
        for row in ([first] + more).sorted() where try test(row) { return row }
        return nil
    }
}
