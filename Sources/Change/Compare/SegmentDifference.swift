import FirnBytes
import FirnTable
import FirnThreads

/// The result for the rows of one segment of the new table.
struct SegmentDifference: Sendable {
    /// For each row: the number of its partner in the old table, or one of the two values below.
    var partners: [UInt32]
    static let added = UInt32.max
    /// The row is not live, or not requested.
    static let leftOut = UInt32.max - 1
    /// The rows with a changed cell, and the changed rows of each compared column (nil if none).
    var changed: Bits
    var changedCells: [Bits?]
    /// The hashes of the added rows, in order.
    var addedHashes: [UInt64] = []
}

/// Finds the partners of the new table's rows and compares them.
struct SegmentMatching: Sendable {
    let old: any Table
    let new: any Table
    let key: [ColumnPairing]
    let compared: [ColumnPairing]
    let hashes: KeyHashes
    let index: KeyHashTable
    let options: DifferenceOptions

    func matchAll() throws(FirnError) -> [SegmentDifference] {
        try parallelMap(count: new.segmentCount, threads: options.execution.threads) { i throws(FirnError) in try match(i) }
    }

    func match(_ number: Int) throws(FirnError) -> SegmentDifference {
        let segment: any Segment
        do throws(Damage) { segment = try new.segment(number) } catch { throw FirnError(error, in: options.newName) }
        let count = segment.rowCount
        guard count <= segmentSize else { throw FirnError(Damage("a segment of \(count) rows"), in: options.newName) }
        let chosen = try chosenRows(new, .new, number, options)
        if let chosen, chosen.noneSet {
            let partners = [UInt32](repeating: SegmentDifference.leftOut, count: count)
            return SegmentDifference(partners: partners, changed: Bits(count: count), changedCells: compared.map { _ in nil })
        }
        let scratch = UnsafeMutablePointer<UInt64>.allocate(capacity: max(count, 1))
        defer { scratch.deallocate() }
        do throws(Damage) { try hashKeys(segment, .new, key, chosen, mask: options.execution.hashMask, into: scratch) } catch {
            throw FirnError(error, in: options.newName)
        }
        var out = SegmentDifference(partners: find(scratch, count, chosen), changed: Bits(count: count), changedCells: [])
        var comparison = comparison(segment, out.partners)
        var mistaken = Bits(count: count)
        for pairing in key { mistaken.formUnion(try comparison.differences(pairing)) }
        if !mistaken.noneSet {
            try correct(mistaken, number, scratch, &out.partners)
            comparison = self.comparison(segment, out.partners)
        }
        for row in 0..<count where out.partners[row] == SegmentDifference.added { out.addedHashes.append(scratch[row]) }
        guard options.kinds.contains(.changed) else { return out }
        for pairing in compared {
            comparison.tolerance = options.tolerance
            let unequal = try comparison.differences(pairing)
            out.changed.formUnion(unequal)
            out.changedCells.append(unequal.noneSet ? nil : unequal)
        }
        return out
    }

    /// Finds partners by hash. The row after the previous partner is tried first, so that tables in the same order need no search.
    private func find(_ keys: UnsafePointer<UInt64>, _ count: Int, _ chosen: Bits?) -> [UInt32] {
        let oldKeys = UnsafePointer(hashes.hashes.baseAddress!), oldCount = hashes.count
        let takesAll = hashes.chosen.allSatisfy { $0 == nil }
        var expected = oldCount
        return [UInt32](unsafeUninitializedCapacity: count) { partners, used in
            for row in 0..<count {
                if let chosen, !chosen[row] {
                    partners[row] = SegmentDifference.leftOut
                    continue
                }
                let hash = keys[row]
                if expected < oldCount, oldKeys[expected] == hash, takesAll || hashes.isChosen(expected) {
                    partners[row] = UInt32(truncatingIfNeeded: expected)
                } else {
                    partners[row] = index.first(hash)
                }
                if partners[row] != SegmentDifference.added { expected = Int(partners[row]) &+ 1 }
            }
            used = count
        }
    }

    private func comparison(_ segment: any Segment, _ partners: [UInt32]) -> PairComparison {
        var pairs = RowPairs()
        pairs.reserve(partners.count)
        var bounds = 0..<0, base: UInt32 = 0
        for row in partners.indices where partners[row] < SegmentDifference.leftOut {
            let flat = Int(partners[row])
            if !bounds.contains(flat) {
                let found = hashes.segment(of: flat)
                bounds = hashes.starts[found]..<hashes.starts[found + 1]
                base = UInt32(found) << 16
            }
            pairs.append(row: row, partner: base + UInt32(flat - bounds.lowerBound))
        }
        pairs.arrange()
        return PairComparison(new: segment, newName: options.newName, old: old, oldName: options.oldName, pairs: pairs, tolerance: 0)
    }

    /// Finds the partners again for rows whose first partner has the same hash but a different key.
    private func correct(_ mistaken: Bits, _ number: Int, _ keys: UnsafePointer<UInt64>, _ partners: inout [UInt32]) throws(FirnError) {
        let oldReader = RowReader(old, name: options.oldName), newReader = RowReader(new, name: options.newName)
        for row in partners.indices where mistaken[row] {
            let location = RowLocation(packed: UInt32(number) << 16 | UInt32(row))
            let found = try index.firstWhere(keys[row]) { flat throws(FirnError) in
                try key.hasSame(RowLocation(packed: hashes.position(of: Int(flat))), oldReader, location, newReader)
            }
            partners[row] = found ?? SegmentDifference.added
        }
    }
}
