import FirnBytes
import FirnTable

/// Assigning groups to the rows of a vector.
extension Grouper {
    /// The maximum total bits of the combined dense key numbers.
    static let denseBits = 18

    /// A key with few values in a segment, numbered from 1; 0 is null.
    struct DenseKey: Equatable {
        let slot: Int
        /// The count of numbers including that of null, and the bits that hold them.
        let size: Int, bits: Int
        /// The minimum value of a column of words; nil for codes of a dictionary.
        let low: Int64?

        init(slot: Int, size: Int, low: Int64?) {
            self.slot = slot
            self.size = size
            self.low = low
            bits = Int.bitWidth - (size - 1).leadingZeroBitCount
        }

        /// The key with the bounds of a block of a power of two, if its values are integers: segments with similar bounds have the same
        /// numbers.
        var widened: DenseKey {
            guard let low else { return self }
            for wide in bits...bits + 2 {
                let start = (low >> Int64(wide)) << Int64(wide)
                if Int(low - start) + size <= 1 << wide { return DenseKey(slot: slot, size: 1 << wide, low: start) }
            }
            return self
        }
    }

    /// Finds the groups of the chosen rows. `prepareDense` was called for the segment.
    func findGroups(_ vector: Int, _ count: Int, _ hits: Int, _ scan: SegmentScan) throws(FirnError) {
        // If at least half of the rows are chosen, the numbers of all rows are computed in one loop; otherwise only those of the chosen
        // rows.
        if denseKeys != nil { return try findDense(vector, count, hits, all: hits * 2 >= count, scan) }
        for i in plan.keys.indices {
            try withKey(i, of: vector, count: count, chosen: UnsafeBufferPointer(start: rows, count: hits), scan) {
                (column, chosen) throws(FirnError) in
                tables[i].numbers(column, chosen, into: ids)
            }
            chains[i].numbers(UnsafeBufferPointer(start: ids, count: hits), groups)
        }
        growCounts()
    }

    /// Calls `body` with a column that has the values of a key, and with the positions of the chosen rows in it.
    func withKey(
        _ i: Int, of vector: Int, count: Int, chosen: UnsafeBufferPointer<Int32>, _ scan: SegmentScan,
        _ body: (Column, UnsafeBufferPointer<Int32>) throws(FirnError) -> Void
    ) throws(FirnError) {
        let key = plan.keys[i]
        if key.steps.isEmpty {
            try scan.withColumn(key.slot, vector) { (column) throws(FirnError) in try body(column, chosen) }
        } else if key.leavesTable {
            let column = try Operand.path(key).evaluate(scan, vector, count, only: chosen).whole().column
            try body(column, UnsafeBufferPointer(start: ascending, count: chosen.count))
        } else {
            try body(try Operand.path(key).evaluate(scan, vector, count).whole().column, chosen)
        }
    }

    func growCounts() {
        let known = chains[chains.count - 1].count
        if rowCounts.count < known { rowCounts.append(contentsOf: repeatElement(0, count: known - rowCounts.count)) }
    }

    /// If all keys have few values in this segment (dictionary codes, or ints in a small range), prepares a direct table from key numbers
    /// to groups. It is not filled for one segment alone if it would have many new groups that are found without it.
    func prepareDense(_ segment: Int, _ scan: SegmentScan) throws(FirnError) {
        denseSegment = segment
        let before = denseKeys
        denseKeys = nil
        isDenseKept = false
        var keys: [DenseKey] = []
        for key in plan.keys {
            guard key.isPlain, let found = try denseKey(key, scan) else { return }
            keys.append(found)
        }
        let wide = keys.map(\.widened)
        if wide.reduce(0, { $0 + $1.bits }) <= Grouper.denseBits { keys = wide }
        let bits = keys.reduce(0) { $0 + $1.bits }
        guard bits <= Grouper.denseBits else { return }
        denseKeys = keys
        // The codes of a dictionary are those of one segment.
        isDenseKept = keys == before && keys.allSatisfy { $0.low != nil }
        if isDenseKept { return }
        if areManyPlain {
            denseKeys = nil
            return
        }
        dense = Array(repeating: -1, count: 1 << bits)
    }

    private func denseKey(_ key: BoundPath, _ scan: SegmentScan) throws(FirnError) -> DenseKey? {
        switch key.type.kind {
        case .string, .data:
            guard let dictionary = try scan.dictionary(key.slot) else { return nil }
            return DenseKey(slot: key.slot, size: dictionary.count + 1, low: nil)
        case .bool, .int, .link:
            guard case .words(let low, let high)? = try scan.zone(key.slot)?.bounds, low <= high else { return nil }
            let (span, overflow) = high.subtractingReportingOverflow(low)
            guard !overflow, span < 1 << Grouper.denseBits else { return nil }
            return DenseKey(slot: key.slot, size: Int(span) + 2, low: low)
        default: return nil
        }
    }

    private func findDense(_ vector: Int, _ count: Int, _ hits: Int, all: Bool, _ scan: SegmentScan) throws(FirnError) {
        for i in denseKeys!.indices {
            let key = denseKeys![i]
            if let low = key.low {
                let isWithin = try scan.withColumn(key.slot, vector) { (column) throws(FirnError) in
                    number(column, all ? count : hits, all, from: low, key, isFirst: i == 0)
                }
                // The bounds need not include deleted rows.
                if !isWithin, all, hits < count { return try findDense(vector, count, hits, all: false, scan) }
                guard isWithin else { throw scan.damaged(Damage("a value outside the bounds of its column")) }
            } else {
                _ = try scan.withCodes(key.slot, vector) { (column) throws(FirnError) in
                    number(column, all ? count : hits, all, from: 0, key, isFirst: i == 0)
                }
            }
        }
        var least: Int32 = 0
        dense.withUnsafeBufferPointer { dense in
            for j in 0..<hits {
                let group = dense[Int(ids[all ? Int(rows[j]) : j])]
                groups[j] = UInt32(bitPattern: group)
                least |= group
            }
        }
        if least < 0 { try meetDense(hits, all, scan) }
    }

    /// Makes groups for the combined key numbers that have none yet.
    private func meetDense(_ hits: Int, _ all: Bool, _ scan: SegmentScan) throws(FirnError) {
        var new: [Int] = []
        for j in 0..<hits where Int32(bitPattern: groups[j]) < 0 {
            let id = Int(ids[all ? Int(rows[j]) : j])
            guard dense[id] == -1 else { continue }
            dense[id] = -2
            new.append(id)
        }
        let found = try newGroups(new, scan)
        for (i, id) in new.enumerated() { dense[id] = Int32(bitPattern: found[i]) }
        for j in 0..<hits where Int32(bitPattern: groups[j]) < 0 { groups[j] = UInt32(bitPattern: dense[Int(ids[all ? Int(rows[j]) : j])]) }
        growCounts()
    }

    /// Combines the numbers of a key with those of the keys before it in `ids`: for the first `count` rows, or for as many chosen ones.
    /// Returns false if a number exceeds the key's bits; `ids` must not be used then.
    private func number(_ column: Column, _ count: Int, _ all: Bool, from low: Int64, _ key: DenseKey, isFirst: Bool) -> Bool {
        let shift = UInt32(truncatingIfNeeded: key.bits), rows = rows, ids = ids
        var bits: UInt64 = 0
        column.words.withUnsafeBufferPointer { words in
            @inline(__always)
            func put(_ j: Int, _ row: Int) {
                // A value below the minimum shows in `before`, one above the maximum in either number.
                let before = UInt64(bitPattern: words[row] &- low), number = before &+ 1
                bits |= before | number
                ids[j] = isFirst ? UInt32(truncatingIfNeeded: number) : ids[j] &<< shift | UInt32(truncatingIfNeeded: number)
            }
            if let present = column.present {
                present.words.withUnsafeBufferPointer { present in
                    for j in 0..<count {
                        let row = all ? j : Int(rows[j])
                        if present[row >> 6] &>> UInt64(truncatingIfNeeded: row & 63) & 1 == 1 {
                            put(j, row)
                        } else {
                            ids[j] = isFirst ? 0 : ids[j] &<< shift
                        }
                    }
                }
            } else if !all {
                for j in 0..<count { put(j, Int(rows[j])) }
            } else if isFirst {
                for j in 0..<count {
                    let before = UInt64(bitPattern: words[j] &- low), number = before &+ 1
                    bits |= before | number
                    ids[j] = UInt32(truncatingIfNeeded: number)
                }
            } else {
                for j in 0..<count {
                    let before = UInt64(bitPattern: words[j] &- low), number = before &+ 1
                    bits |= before | number
                    ids[j] = ids[j] &<< shift | UInt32(truncatingIfNeeded: number)
                }
            }
        }
        return bits >> UInt64(key.bits) == 0
    }

    /// Returns the groups of combined key numbers, which are looked up together.
    private func newGroups(_ combined: [Int], _ scan: SegmentScan) throws(FirnError) -> [UInt32] {
        let keys = denseKeys!
        var groups = [UInt32](repeating: 0, count: combined.count), shift = keys.reduce(0) { $0 + $1.bits }
        for (i, key) in keys.enumerated() {
            shift -= key.bits
            let numbers = combined.map { $0 >> shift & (1 << key.bits - 1) }
            guard numbers.allSatisfy({ $0 < key.size }) else { throw scan.damaged(Damage("a value outside the bounds of its column")) }
            // Number 0 is null; it has no value to look up.
            let present = numbers.filter { $0 > 0 }
            let found = try denseNumbers(of: present, i, key, scan)
            var next = found.makeIterator()
            let all = numbers.map { $0 > 0 ? next.next()! : 0 }
            all.withUnsafeBufferPointer { all in
                groups.withUnsafeMutableBufferPointer { if let start = $0.baseAddress { chains[i].numbers(all, start) } }
            }
        }
        return groups
    }

    /// Returns the numbers in the key's table of values of the segment, which are numbered from 1.
    private func denseNumbers(of numbers: [Int], _ i: Int, _ key: DenseKey, _ scan: SegmentScan) throws(FirnError) -> [UInt32] {
        var column = Column(tables[i].type), rows: [Int32]
        if let low = key.low {
            column.words = numbers.map { low &+ Int64($0 - 1) }
            column.count = numbers.count
            rows = numbers.indices.map { Int32(truncatingIfNeeded: $0) }
        } else {
            column.text = try scan.dictionary(key.slot) ?? Text()
            column.count = column.text.count
            rows = numbers.map { Int32(truncatingIfNeeded: $0 - 1) }
        }
        return [UInt32](unsafeUninitializedCapacity: numbers.count) { out, filled in
            rows.withUnsafeBufferPointer { rows in if let start = out.baseAddress { tables[i].numbers(column, rows, into: start) } }
            filled = numbers.count
        }
    }
}
