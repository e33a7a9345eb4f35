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
    /// After `compact`: the rows without a partner, and the partners of the rows with a changed cell, in order.
    private var compacted: (added: Bits, partners: [UInt32])?
    var isCompact: Bool { compacted != nil }

    init(partners: [UInt32], changed: Bits, changedCells: [Bits?]) {
        self.partners = partners
        self.changed = changed
        self.changedCells = changedCells
    }

    /// The rows without a partner.
    var added: Bits {
        if let compacted { return compacted.added }
        var bits = Bits(count: partners.count)
        for row in partners.indices where partners[row] == SegmentDifference.added { bits[row] = true }
        return bits
    }

    /// The partners of the rows with a changed cell, in the order of the rows.
    var changedPartners: [UInt32] { compacted?.partners ?? changed.positions.map { partners[$0] } }

    /// Releases what only changes files need.
    mutating func compact() {
        compacted = (added, changedPartners)
        partners = []
        addedHashes = []
    }

    /// Replaces the numbers of all partners.
    mutating func renumberPartners(_ number: (UInt32) -> UInt32) {
        for row in partners.indices where partners[row] < SegmentDifference.leftOut { partners[row] = number(partners[row]) }
        if var known = compacted {
            for i in known.partners.indices { known.partners[i] = number(known.partners[i]) }
            compacted = known
        }
    }
}

/// Finds the partners of the new table's rows and compares them.
struct SegmentMatching: Sendable {
    let old: any Table
    let new: any Table
    let key: [ColumnPairing]
    let compared: [ColumnPairing]
    let hashes: KeyHashes
    let index: KeyIndex
    let options: DifferenceOptions

    func matchAll() throws(FirnError) -> [SegmentDifference] {
        if old.readsByColumn || new.readsByColumn { return try matchByColumn() }
        return try parallelMap(count: new.segmentCount, threads: options.execution.threads) { i throws(FirnError) in
            try options.execution.progress(0)
            let found = try match(i)
            try options.execution.progress(segmentSize)
            return found
        }
    }

    func match(_ number: Int) throws(FirnError) -> SegmentDifference {
        var found = try findPartners(number)
        var mistaken = Bits(count: found.out.partners.count)
        let segment = try open(number)
        func differences(_ pairing: ColumnPairing) throws(FirnError) -> Bits {
            if let twin = found.comparison.pairs.twin, storesSame(pairing, segment, twin) { return Bits(count: segment.rowCount) }
            var partners = PartnerColumn(pairing, of: old, options.oldName)
            return try found.comparison.differences(segment, &partners)
        }
        for pairing in key { mistaken.formUnion(try differences(pairing)) }
        if !mistaken.noneSet { try correct(mistaken, &found) }
        found.noteAdded()
        guard options.kinds.contains(.changed) else { return found.out }
        for pairing in compared { found.add(try differences(pairing)) }
        return found.out
    }

    /// A segment whose rows have partners, and the hashes of their keys.
    struct Matched {
        let number: Int
        var out: SegmentDifference
        var hashes: [UInt64]
        var comparison: PairComparison

        mutating func noteAdded() {
            for row in out.partners.indices where out.partners[row] == SegmentDifference.added { out.addedHashes.append(hashes[row]) }
        }

        /// Adds the rows that differ in the next compared column.
        mutating func add(_ unequal: Bits) {
            out.changed.formUnion(unequal)
            out.changedCells.append(unequal.noneSet ? nil : unequal)
        }
    }

    /// Opens a segment of the new table.
    func open(_ number: Int) throws(FirnError) -> any Segment {
        do throws(Damage) { return try new.segment(number) } catch { throw FirnError(error, in: options.newName) }
    }

    /// Finds the partners of a segment's rows by the hashes of their keys.
    func findPartners(_ number: Int) throws(FirnError) -> Matched {
        let segment = try open(number), count = segment.rowCount
        guard count <= segmentSize else { throw FirnError(Damage("a segment of \(count) rows"), in: options.newName) }
        let chosen = try chosenRows(new, .new, number, options)
        if let chosen, chosen.noneSet {
            let none = [UInt32](repeating: SegmentDifference.leftOut, count: count)
            return matched(number, none, [])
        }
        if chosen == nil, hashes.hasAll(ofSegment: number, count), key.allSatisfy({ storesSame($0, segment, number) }) {
            let first = UInt32(hashes.starts[number])
            return matched(number, Array(first..<first + UInt32(count)), [])
        }
        let scratch = UnsafeMutablePointer<UInt64>.allocate(capacity: max(count, 1))
        defer { scratch.deallocate() }
        do throws(Damage) {
            try hashKeys(segment, .new, key, chosen, mask: options.execution.hashMask, into: scratch)
            let partners = try find(scratch, chosen, in: segment, number)
            return matched(number, partners, Array(UnsafeBufferPointer(start: scratch, count: count)))
        } catch { throw FirnError(error, in: options.newName) }
    }

    private func matched(_ number: Int, _ partners: [UInt32], _ hashes: [UInt64]) -> Matched {
        let out = SegmentDifference(partners: partners, changed: Bits(count: partners.count), changedCells: [])
        return Matched(number: number, out: out, hashes: hashes, comparison: comparison(partners))
    }

    /// Whether the stored form proves that the rows of a segment have the values that the same rows of a segment of the old table have.
    private func storesSame(_ pairing: ColumnPairing, _ segment: any Segment, _ twin: Int) -> Bool {
        // What cannot be read here is reported when it is decoded.
        guard pairing.isLaidOutAlike, let old = try? old.segment(twin) else { return false }
        return (try? segment.storesSame(pairing.new.index, as: old, pairing.old.index)) ?? false
    }

    /// How many old rows after the previous partner are tried first, at most and at least. Each time that they do not have the key, half of
    /// them are tried for the next one.
    private static let ahead = (most: 256, least: 4)

    /// Finds partners by hash. The rows after the previous partner are tried first, so that tables in the same order need no search.
    private func find(_ keys: UnsafePointer<UInt64>, _ chosen: Bits?, in segment: any Segment, _ number: Int) throws(Damage) -> [UInt32] {
        let oldKeys = UnsafePointer(hashes.hashes.baseAddress!), oldCount = hashes.count
        let takesAll = hashes.chosen.allSatisfy { $0 == nil }
        var search = try KeySearch(index, segment, key, takesAll: takesAll)
        var expected = number < old.segmentCount ? hashes.starts[number] : oldCount, isInOrder = true, ahead = SegmentMatching.ahead.most
        var partners = [UInt32](repeating: SegmentDifference.leftOut, count: segment.rowCount)
        for row in partners.indices where chosen?[row] ?? true {
            let hash = keys[row]
            var near = expected
            let end = min(near &+ (isInOrder ? ahead : 1), oldCount)
            while near < end, oldKeys[near] != hash { near &+= 1 }
            if near < end {
                if near > expected { ahead = SegmentMatching.ahead.most }
            } else if isInOrder {
                ahead = max(ahead / 2, SegmentMatching.ahead.least)
            }
            isInOrder = near < end
            let isNear = isInOrder && (takesAll || hashes.isChosen(near))
            let partner = isNear ? UInt32(truncatingIfNeeded: near) : try search.find(row, hash: hash)
            partners[row] = partner
            if partner != SegmentDifference.added { expected = Int(partner) &+ 1 }
        }
        return partners
    }

    private func comparison(_ partners: [UInt32]) -> PairComparison {
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
        return PairComparison(rowCount: partners.count, newName: options.newName, pairs: pairs)
    }

    /// Finds the partners again for rows whose first partner has the same hash but a different key.
    func correct(_ mistaken: Bits, _ matched: inout Matched) throws(FirnError) {
        let oldReader = RowReader(old, name: options.oldName), newReader = RowReader(new, name: options.newName)
        for row in matched.out.partners.indices where mistaken[row] {
            let location = RowLocation(packed: UInt32(matched.number) << 16 | UInt32(row))
            let found = try index.table().firstWhere(matched.hashes[row]) { flat throws(FirnError) in
                try key.hasSame(RowLocation(packed: hashes.position(of: Int(flat))), oldReader, location, newReader)
            }
            matched.out.partners[row] = found ?? SegmentDifference.added
        }
        matched.comparison = comparison(matched.out.partners)
    }
}
