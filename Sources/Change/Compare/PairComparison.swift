import FirnBytes
import FirnTable

/// Compares the columns of the rows of one segment with those of their partners in another table. The partners are read in the order of their
/// vectors. So are the rows of the segment if both have the same order; otherwise a column of the segment is kept in memory whole.
struct PairComparison {
    let newName: String
    let pairs: RowPairs
    private let needed: [Bool]
    private var isLaidOutAlike = false
    /// The values of the segment that are in memory, and the row of the first of them.
    private var values = Column(ColumnType(.int)), start = 0
    /// Reads `values` vector by vector; nil if all are in memory.
    private var reader: (any ColumnReader)?

    init(rowCount: Int, newName: String, pairs: RowPairs) {
        self.newName = newName
        self.pairs = pairs
        var needed = [Bool](repeating: false, count: (rowCount + vectorSize - 1) / vectorSize)
        for row in pairs.rows { needed[Int(row) / vectorSize] = true }
        self.needed = needed
    }

    /// Returns the rows of a segment whose value differs from that of their partner.
    mutating func differences(_ segment: any Segment, _ partners: inout PartnerColumn) throws(FirnError) -> Bits {
        var unequal = Bits(repeating: false, count: segment.rowCount)
        guard pairs.count > 0 else { return unequal }
        do throws(Damage) { try begin(segment, partners.pairing) } catch { throw FirnError(error, in: newName) }
        isLaidOutAlike = partners.pairing.isLaidOutAlike
        var first = 0
        while first < pairs.count {
            let known = try partners.read(pairs.partners[first])
            do throws(Damage) { try read(Int(pairs.rows[first])) } catch { throw FirnError(error, in: newName) }
            let last = reader == nil ? UInt32.max : UInt32(start + values.count)
            var end = first + 1
            while end < pairs.count, known.contains(pairs.partners[end]), pairs.rows[end] < last { end += 1 }
            compare(partners, first..<end, &unequal)
            first = end
        }
        (reader, values) = (nil, Column(ColumnType(.int)))
        return unequal
    }

    /// Reads the column, unless its vectors are read one after the other.
    private mutating func begin(_ segment: any Segment, _ pairing: ColumnPairing) throws(Damage) {
        let column = try segment.column(pairing.new.index)
        (reader, start) = (nil, 0)
        if let all = try column.wholeColumn() {
            guard all.count >= segment.rowCount else { throw Damage("a column has \(all.count) rows of \(segment.rowCount)") }
            values = all
            return
        }
        values = Column(pairing.new.column, in: pairing.new.schema)
        if pairs.isInOrder { reader = column } else { try readAll(column, segment) }
    }

    /// Reads the vectors that contain rows of a pair; the others are null.
    private mutating func readAll(_ column: any ColumnReader, _ segment: any Segment) throws(Damage) {
        var vector = values
        for i in needed.indices {
            if needed[i] {
                try column.read(vector: i, into: &vector)
                if values.count == 0 {
                    values = vector
                    values.reserve(rows: segment.rowCount)
                } else {
                    values.append(contentsOf: vector)
                }
            } else {
                for _ in segment.rows(ofVector: i) { values.appendNull() }
            }
        }
    }

    /// Reads the vector of a row if it is not in memory.
    private mutating func read(_ row: Int) throws(Damage) {
        guard let reader, !(start..<start + values.count).contains(row) else { return }
        start = row / vectorSize * vectorSize
        try reader.read(vector: row / vectorSize, into: &values)
        guard row - start < values.count else { throw Damage("a vector has \(values.count) rows") }
    }

    private func compare(_ partners: PartnerColumn, _ range: Range<Int>, _ unequal: inout Bits) {
        let pairing = partners.pairing, there = partners.values, tolerance = pairing.tolerance
        switch pairing.mode {
        case .words:
            values.words.withUnsafeBufferPointer { a in
                there.words.withUnsafeBufferPointer { b in
                    if !tolerance.isNone, values.type.kind == .int {
                        each(partners, range, &unequal) { a[$0] == b[$1] || tolerance.permits(a[$0], b[$1]) }
                    } else {
                        each(partners, range, &unequal) { a[$0] == b[$1] }
                    }
                }
            }
        case .pairs:
            values.words.withUnsafeBufferPointer { a in
                there.words.withUnsafeBufferPointer { b in
                    values.extra.withUnsafeBufferPointer { c in
                        there.extra.withUnsafeBufferPointer { d in each(partners, range, &unequal) { a[$0] == b[$1] && c[$0] == d[$1] } }
                    }
                }
            }
        case .reals:
            values.reals.withUnsafeBufferPointer { a in
                there.reals.withUnsafeBufferPointer { b in
                    if tolerance.isNone {
                        each(partners, range, &unequal) { a[$0] == b[$1] || (a[$0].isNaN && b[$1].isNaN) }
                    } else {
                        each(partners, range, &unequal) {
                            a[$0] == b[$1] || (a[$0].isNaN && b[$1].isNaN) || tolerance.permits(a[$0], b[$1])
                        }
                    }
                }
            }
        case .text: compareText(partners, range, &unequal)
        case .values where isLaidOutAlike:
            // Most rows are equal bit for bit; only the others are converted to values.
            each(partners, range, &unequal) {
                values.holdsSame($0, as: there, $1) || pairing.same(there.value(at: $1), values.value(at: $0), tolerance: tolerance)
            }
        case .numbers, .canonicalText, .values:
            each(partners, range, &unequal) { pairing.same(there.value(at: $1), values.value(at: $0), tolerance: tolerance) }
        }
    }

    private func compareText(_ partners: PartnerColumn, _ range: Range<Int>, _ unequal: inout Bits) {
        let there = partners.values
        values.text.offsets.withUnsafeBufferPointer { from in
            there.text.offsets.withUnsafeBufferPointer { to in
                values.text.bytes.withUnsafeBytes { a in
                    there.text.bytes.withUnsafeBytes { b in
                        each(partners, range, &unequal) { i, j in
                            let length = from[i &+ 1] &- from[i]
                            return length == to[j &+ 1] &- to[j] && sameBytes(a, from[i], b, to[j], length)
                        }
                    }
                }
            }
        }
    }

    /// Marks the rows for which `same(row in the values of the segment, row in those of the partners)` is false.
    @inline(__always)
    private func each(_ column: PartnerColumn, _ range: Range<Int>, _ unequal: inout Bits, _ same: (Int, Int) -> Bool) {
        let there = column.values, theirStart = column.start, start = start
        // A column of type any has nulls in two forms: no value, and the value null.
        let hasNullValues = values.holdsNullValues || there.holdsNullValues
        pairs.rows.withUnsafeBufferPointer { rows in
            pairs.partners.withUnsafeBufferPointer { partners in
                if values.present == nil, there.present == nil {
                    for k in range {
                        let row = Int(truncatingIfNeeded: rows[k])
                        if !same(row &- start, Int(truncatingIfNeeded: partners[k] &- theirStart)) { unequal[row] = true }
                    }
                } else {
                    for k in range {
                        let row = Int(truncatingIfNeeded: rows[k]), own = row &- start
                        let partner = Int(truncatingIfNeeded: partners[k] &- theirStart), has = values.isPresent(own)
                        if has != there.isPresent(partner) ? !(hasNullValues && same(own, partner)) : has && !same(own, partner) {
                            unequal[row] = true
                        }
                    }
                }
            }
        }
    }
}

@inline(__always)
func sameBytes(_ a: UnsafeRawBufferPointer, _ i: Int, _ b: UnsafeRawBufferPointer, _ j: Int, _ count: Int) -> Bool {
    if count >= 8 {
        var k = 0
        while k &+ 8 <= count {
            if a.loadUnaligned(fromByteOffset: i &+ k, as: UInt64.self) != b.loadUnaligned(fromByteOffset: j &+ k, as: UInt64.self) {
                return false
            }
            k &+= 8
        }
        return a.loadUnaligned(fromByteOffset: i &+ count &- 8, as: UInt64.self)
            == b.loadUnaligned(fromByteOffset: j &+ count &- 8, as: UInt64.self)
    }
    for k in 0..<count where a[i &+ k] != b[j &+ k] { return false }
    return true
}
