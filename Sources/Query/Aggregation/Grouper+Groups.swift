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

    func findGroups(_ segment: Int, _ vector: Int, _ count: Int, _ hits: Int, _ scan: SegmentScan) throws(FirnError) {
        if denseSegment != segment { try prepareDense(segment, scan) }
        // If at least half of the rows are chosen, the numbers of all rows are computed in one loop; otherwise only those of the chosen
        // rows.
        if denseKeys != nil { return try findDense(vector, count, hits, all: hits * 2 >= count, scan) }
        let chosen = UnsafeBufferPointer(start: rows, count: hits)
        for (i, key) in plan.keys.enumerated() {
            if key.steps.isEmpty {
                try scan.withColumn(key.slot, vector) { (column) throws(FirnError) in tables[i].numbers(column, chosen, into: ids) }
            } else if key.leavesTable {
                let column = try Operand.path(key).evaluate(scan, vector, count, only: chosen).whole().column
                tables[i].numbers(column, UnsafeBufferPointer(start: ascending, count: hits), into: ids)
            } else {
                tables[i].numbers(try Operand.path(key).evaluate(scan, vector, count).whole().column, chosen, into: ids)
            }
            chains[i].numbers(UnsafeBufferPointer(start: ids, count: hits), groups)
        }
        growCounts()
    }

    func growCounts() {
        let known = chains[chains.count - 1].count
        if rowCounts.count < known { rowCounts.append(contentsOf: repeatElement(0, count: known - rowCounts.count)) }
    }

    /// If all keys have few values in this segment (dictionary codes, or ints in a small range), prepares a direct table from key numbers
    /// to groups.
    private func prepareDense(_ segment: Int, _ scan: SegmentScan) throws(FirnError) {
        denseSegment = segment
        let before = denseKeys
        denseKeys = nil
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
        if keys == before, keys.allSatisfy({ $0.low != nil }) { return }
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
        if least < 0 {
            for j in 0..<hits where Int32(bitPattern: groups[j]) < 0 {
                let id = Int(ids[all ? Int(rows[j]) : j])
                if dense[id] < 0 { dense[id] = Int32(bitPattern: try newDense(id, scan)) }
                groups[j] = UInt32(bitPattern: dense[id])
            }
            growCounts()
        }
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

    private func newDense(_ combined: Int, _ scan: SegmentScan) throws(FirnError) -> UInt32 {
        let keys = denseKeys!
        var numbers: [Int] = [], rest = combined
        for key in keys.reversed() {
            numbers.append(rest & (1 << key.bits - 1))
            rest >>= key.bits
        }
        var group: UInt32 = 0
        for (i, number) in numbers.reversed().enumerated() {
            var id: UInt32 = 0
            if number > 0 {
                guard number < keys[i].size else { throw scan.damaged(Damage("a value outside the bounds of its column")) }
                if let low = keys[i].low {
                    id = tables[i].number(word: low &+ Int64(number - 1))
                } else if let dictionary = try scan.dictionary(keys[i].slot) {
                    id = dictionary.withBytes(number - 1) { tables[i].number(text: $0) }
                }
            }
            group = chains[i].number(id, after: group)
        }
        return group
    }
}
