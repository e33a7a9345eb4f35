import FirnBytes
import FirnTable

/// Compares the columns of the rows of one segment with those of their partners in another table. A column of the segment is kept in memory
/// whole; the partners are read in the order of their vectors.
struct PairComparison {
    let newName: String
    let pairs: RowPairs
    var tolerance: Double
    private let needed: [Bool]
    private var isLaidOutAlike = false
    private var whole = Column(ColumnType(.int))

    init(rowCount: Int, newName: String, pairs: RowPairs, tolerance: Double) {
        self.newName = newName
        self.pairs = pairs
        self.tolerance = tolerance
        var needed = [Bool](repeating: false, count: (rowCount + vectorSize - 1) / vectorSize)
        for row in pairs.rows { needed[Int(row) / vectorSize] = true }
        self.needed = needed
    }

    /// Returns the rows of a segment whose value differs from that of their partner.
    mutating func differences(_ segment: any Segment, _ partners: inout PartnerColumn) throws(FirnError) -> Bits {
        var unequal = Bits(repeating: false, count: segment.rowCount)
        guard pairs.count > 0 else { return unequal }
        try readWhole(segment, partners.pairing)
        isLaidOutAlike = partners.pairing.isLaidOutAlike
        var first = 0
        while first < pairs.count {
            let known = try partners.read(pairs.partners[first])
            var end = first + 1
            while end < pairs.count, known.contains(pairs.partners[end]) { end += 1 }
            compare(partners, first..<end, &unequal)
            first = end
        }
        whole = Column(ColumnType(.int))
        return unequal
    }

    /// Reads the vectors that contain rows of a pair; the others are null, unless all are read together.
    private mutating func readWhole(_ segment: any Segment, _ pairing: ColumnPairing) throws(FirnError) {
        do throws(Damage) {
            let reader = try segment.column(pairing.new.index)
            if let all = try reader.wholeColumn() {
                guard all.count >= segment.rowCount else { throw Damage("a column has \(all.count) rows of \(segment.rowCount)") }
                whole = all
                return
            }
            var vector = Column(pairing.new.column, in: pairing.new.schema)
            whole = vector
            for i in needed.indices {
                if needed[i] {
                    try reader.read(vector: i, into: &vector)
                    if whole.count == 0 { whole = vector } else { whole.append(contentsOf: vector) }
                } else {
                    for _ in segment.rows(ofVector: i) { whole.appendNull() }
                }
            }
        } catch { throw FirnError(error, in: newName) }
    }

    private func compare(_ partners: PartnerColumn, _ range: Range<Int>, _ unequal: inout Bits) {
        let pairing = partners.pairing, there = partners.values
        switch pairing.mode {
        case .words:
            whole.words.withUnsafeBufferPointer { a in
                there.words.withUnsafeBufferPointer { b in
                    if tolerance > 0, whole.type.kind == .int {
                        each(partners, range, &unequal) { a[$0] == b[$1] || Value.isWithin(tolerance, a[$0], b[$1]) }
                    } else {
                        each(partners, range, &unequal) { a[$0] == b[$1] }
                    }
                }
            }
        case .pairs:
            whole.words.withUnsafeBufferPointer { a in
                there.words.withUnsafeBufferPointer { b in
                    whole.extra.withUnsafeBufferPointer { c in
                        there.extra.withUnsafeBufferPointer { d in each(partners, range, &unequal) { a[$0] == b[$1] && c[$0] == d[$1] } }
                    }
                }
            }
        case .reals:
            whole.reals.withUnsafeBufferPointer { a in
                there.reals.withUnsafeBufferPointer { b in
                    let tolerance = tolerance
                    each(partners, range, &unequal) {
                        a[$0] == b[$1] || (a[$0].isNaN && b[$1].isNaN) || (a[$0] - b[$1]).magnitude <= tolerance
                    }
                }
            }
        case .text: compareText(partners, range, &unequal)
        case .values where isLaidOutAlike:
            // Most rows are equal bit for bit; only the others are converted to values.
            each(partners, range, &unequal) {
                whole.holdsSame($0, as: there, $1) || pairing.same(there.value(at: $1), whole.value(at: $0), tolerance: tolerance)
            }
        case .numbers, .canonicalText, .values:
            each(partners, range, &unequal) { pairing.same(there.value(at: $1), whole.value(at: $0), tolerance: tolerance) }
        }
    }

    private func compareText(_ partners: PartnerColumn, _ range: Range<Int>, _ unequal: inout Bits) {
        let there = partners.values
        whole.text.offsets.withUnsafeBufferPointer { from in
            there.text.offsets.withUnsafeBufferPointer { to in
                whole.text.bytes.withUnsafeBytes { a in
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

    /// Marks the rows for which `same(row in the segment, row in the values of the partners)` is false.
    @inline(__always)
    private func each(_ column: PartnerColumn, _ range: Range<Int>, _ unequal: inout Bits, _ same: (Int, Int) -> Bool) {
        let there = column.values, start = column.start
        pairs.rows.withUnsafeBufferPointer { rows in
            pairs.partners.withUnsafeBufferPointer { partners in
                if whole.present == nil, there.present == nil {
                    for k in range {
                        let row = Int(truncatingIfNeeded: rows[k])
                        if !same(row, Int(truncatingIfNeeded: partners[k] &- start)) { unequal[row] = true }
                    }
                } else {
                    for k in range {
                        let row = Int(truncatingIfNeeded: rows[k]), partner = Int(truncatingIfNeeded: partners[k] &- start)
                        let has = whole.isPresent(row)
                        if has != there.isPresent(partner) || (has && !same(row, partner)) { unequal[row] = true }
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
