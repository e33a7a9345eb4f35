import FirnBytes
import FirnTable

/// Finds the rows of one table that repeat the key of an earlier row.
struct DuplicateKeys {
    let side: DifferenceSide
    let table: any Table
    let key: [ColumnPairing]
    let options: DifferenceOptions
    /// (the repeating row, an earlier row with its key), as segment << 16 | row.
    var found: [(later: UInt32, earlier: UInt32)] = []

    init(_ side: DifferenceSide, _ table: any Table, key: [ColumnPairing], options: DifferenceOptions) {
        self.side = side
        self.table = table
        self.key = key.map { $0.within(side) }
        self.options = options
    }

    mutating func append(later: UInt32, earlier: UInt32) { found.append((later, earlier)) }

    /// Resolves the rows that a table of hashes left out: rows with an equal key are added to `found`, the others are entered in the table.
    /// `position` converts a position of the table to segment << 16 | row.
    mutating func settle(_ hashes: KeyHashTable, hash: (UInt32) -> UInt64, position: (UInt32) -> UInt32) throws(FirnError) {
        let suspects = hashes.suspects.sorted { $0.later < $1.later }
        guard !suspects.isEmpty else { return }
        let pairs = suspects.map { (later: position($0.later), earlier: position($0.earlier)) }
        let same = try sameKeys(pairs)
        var first: RowReader?, second: RowReader?
        for (i, suspect) in suspects.enumerated() {
            if same[i] {
                found.append(pairs[i])
                continue
            }
            if first == nil {
                first = RowReader(table, name: options.name(side))
                second = RowReader(table, name: options.name(side))
            }
            let later = RowLocation(packed: pairs[i].later)
            let twin = try hashes.firstWhere(hash(suspect.later)) { candidate throws(FirnError) in
                try key.hasSame(later, first!, RowLocation(packed: position(candidate)), second!)
            }
            if let twin { found.append((pairs[i].later, position(twin))) } else { hashes.enter(suspect.later) }
        }
    }

    /// Returns, in the order of the pairs, whether the rows of each pair have the same key.
    private func sameKeys(_ pairs: [(later: UInt32, earlier: UInt32)]) throws(FirnError) -> [Bool] {
        var same: [Bool] = []
        same.reserveCapacity(pairs.count)
        var start = 0
        while start < pairs.count {
            let index = Int(pairs[start].later >> 16)
            var end = start
            var rows = RowPairs()
            while end < pairs.count, Int(pairs[end].later >> 16) == index {
                rows.append(row: Int(pairs[end].later & 0xFFFF), partner: pairs[end].earlier)
                end += 1
            }
            rows.arrange()
            let segment: any Segment
            do throws(Damage) { segment = try table.segment(index) } catch { throw FirnError(error, in: options.name(side)) }
            var comparison = PairComparison(rowCount: segment.rowCount, newName: options.name(side), pairs: rows)
            var unequal = Bits(count: segment.rowCount)
            for pairing in key {
                var partners = PartnerColumn(pairing, of: table, options.name(side))
                unequal.formUnion(try comparison.differences(segment, &partners))
            }
            for i in start..<end { same.append(!unequal[Int(pairs[i].later & 0xFFFF)]) }
            start = end
        }
        return same
    }

    /// Returns numbers as "1 and 2", or "1, 2, 3 and 4 others".
    private static func list(_ rows: [Int], others: Int) -> String {
        let names = rows.map(String.init) + (others > 0 ? ["\(others) \(others == 1 ? "other" : "others")"] : [])
        return names.dropLast().joined(separator: ", ") + " and " + names[names.count - 1]
    }

    /// Returns the repeated key whose later row comes first, with both rows.
    func first() throws(FirnError) -> KeyUniqueness.Repeated? {
        guard let pair = found.min(by: { ($0.later, $0.earlier) < ($1.later, $1.earlier) }) else { return nil }
        let reader = RowReader(table, name: options.name(side)), earlier = RowLocation(packed: pair.earlier)
        let others = Set(found.map(\.earlier)).count - 1
        return (
            try words(of: earlier, reader), try reader.number(earlier), try reader.number(RowLocation(packed: pair.later)), others
        )
    }

    private func words(of location: RowLocation, _ reader: RowReader) throws(FirnError) -> String {
        var values: [String] = []
        for pairing in key { values.append("\(pairing.name) = \(nestedText(try reader.value(location, pairing.old.index)))") }
        return values.joined(separator: ", ")
    }

    /// Returns the error with the side, the number of keys, and the rows of up to five of them.
    func error() throws(FirnError) -> FirnError {
        let reader = RowReader(table, name: options.name(side))
        let sorted = found.sorted { ($0.earlier, $0.later) < ($1.earlier, $1.later) }
        var keys = 0, examples: [String] = [], i = 0
        while i < sorted.count {
            var end = i + 1
            while end < sorted.count, sorted[end].earlier == sorted[i].earlier { end += 1 }
            keys += 1
            if examples.count < 5 {
                let location = RowLocation(packed: sorted[i].earlier)
                var rows = [try reader.number(location)]
                for j in i..<min(end, i + 4) { rows.append(try reader.number(RowLocation(packed: sorted[j].later))) }
                examples.append(try words(of: location, reader) + " is in rows " + Self.list(rows, others: max(0, end - i - 4)))
            }
            i = end
        }
        let name = "\"\(key.map(\.name).joined(separator: ","))\"", count = keys > 1 ? " (\(keys) keys occur more than once)" : ""
        return FirnError(
            .duplicateKey, "the key \(name) is not unique\(count): " + examples.joined(separator: "; ") + (keys > 5 ? "; …" : ""),
            at: .init(file: options.name(side)),
            advice: "choose columns that are unique together with --key, or take the first row of each key with --duplicates first")
    }
}

extension [ColumnPairing] {
    /// Whether two rows have the same values in these columns; the first row is in the old table, the second in the new one.
    func hasSame(_ a: RowLocation, _ old: RowReader, _ b: RowLocation, _ new: RowReader) throws(FirnError) -> Bool {
        for pairing in self {
            let x = try old.value(a, pairing.old.index), y = try new.value(b, pairing.new.index)
            if !pairing.same(x, y, tolerance: 0) { return false }
        }
        return true
    }
}

extension Bits {
    /// Adds the set bits of `other`, which must have the same count.
    mutating func formUnion(_ other: Bits) {
        for i in words.indices { words[i] |= other.words[i] }
    }
}
