import FirnBytes
import FirnTable

/// Compares the columns of the rows of one segment with those of their partners in another table. A column of the segment is kept in memory
/// whole; the partners are read in the order of their vectors.
struct PairComparison {
    let new: any Segment
    let newName: String
    let old: any Table
    let oldName: String
    let pairs: RowPairs
    var tolerance: Double
    private let needed: [Bool]
    private var isLaidOutAlike = false
    private var whole = Column(ColumnType(.int))
    private var vector = Column(ColumnType(.int))

    init(new: any Segment, newName: String, old: any Table, oldName: String, pairs: RowPairs, tolerance: Double) {
        self.new = new
        self.newName = newName
        self.old = old
        self.oldName = oldName
        self.pairs = pairs
        self.tolerance = tolerance
        var needed = [Bool](repeating: false, count: new.vectorCount)
        for row in pairs.rows { needed[Int(row) / vectorSize] = true }
        self.needed = needed
    }

    /// Returns the rows whose value differs from that of their partner.
    mutating func differences(_ pairing: ColumnPairing) throws(FirnError) -> Bits {
        var unequal = Bits(repeating: false, count: new.rowCount)
        guard pairs.count > 0 else { return unequal }
        try readWhole(pairing)
        isLaidOutAlike = pairing.isLaidOutAlike
        var first = 0, segment = -1
        var reader: (any ColumnReader)?
        while first < pairs.count {
            let id = pairs.partners[first] >> 10
            var end = first + 1
            while end < pairs.count, pairs.partners[end] >> 10 == id { end += 1 }
            do throws(Damage) {
                if segment != Int(id >> 6) || reader == nil {
                    segment = Int(id >> 6)
                    reader = try old.segment(segment).column(pairing.old.index)
                    vector = Column(pairing.old.column, in: pairing.old.schema)
                }
                try reader!.read(vector: Int(id & 63), into: &vector)
            } catch { throw FirnError(error, in: oldName) }
            compare(pairing, first..<end, &unequal)
            first = end
        }
        return unequal
    }

    /// Reads the vectors that contain rows of a pair; the others are null.
    private mutating func readWhole(_ pairing: ColumnPairing) throws(FirnError) {
        do throws(Damage) {
            let reader = try new.column(pairing.new.index)
            vector = Column(pairing.new.column, in: pairing.new.schema)
            whole = vector
            for i in 0..<new.vectorCount {
                if needed[i] {
                    try reader.read(vector: i, into: &vector)
                    if whole.count == 0 { whole = vector } else { whole.append(contentsOf: vector) }
                } else {
                    for _ in new.rows(ofVector: i) { whole.appendNull() }
                }
            }
        } catch { throw FirnError(error, in: newName) }
    }

    private func compare(_ pairing: ColumnPairing, _ range: Range<Int>, _ unequal: inout Bits) {
        switch pairing.mode {
        case .words:
            whole.words.withUnsafeBufferPointer { a in
                vector.words.withUnsafeBufferPointer { b in
                    if tolerance > 0, whole.type.kind == .int {
                        each(range, &unequal) { a[$0] == b[$1] || Value.isWithin(tolerance, a[$0], b[$1]) }
                    } else {
                        each(range, &unequal) { a[$0] == b[$1] }
                    }
                }
            }
        case .pairs:
            whole.words.withUnsafeBufferPointer { a in
                vector.words.withUnsafeBufferPointer { b in
                    whole.extra.withUnsafeBufferPointer { c in
                        vector.extra.withUnsafeBufferPointer { d in each(range, &unequal) { a[$0] == b[$1] && c[$0] == d[$1] } }
                    }
                }
            }
        case .reals:
            whole.reals.withUnsafeBufferPointer { a in
                vector.reals.withUnsafeBufferPointer { b in
                    let tolerance = tolerance
                    each(range, &unequal) {
                        a[$0] == b[$1] || (a[$0].isNaN && b[$1].isNaN) || (a[$0] - b[$1]).magnitude <= tolerance
                    }
                }
            }
        case .text: compareText(range, &unequal)
        case .values where isLaidOutAlike:
            // Most rows are equal bit for bit; only the others are converted to values.
            each(range, &unequal) {
                whole.holdsSame($0, as: vector, $1) || pairing.same(vector.value(at: $1), whole.value(at: $0), tolerance: tolerance)
            }
        case .numbers, .canonicalText, .values:
            each(range, &unequal) { pairing.same(vector.value(at: $1), whole.value(at: $0), tolerance: tolerance) }
        }
    }

    private func compareText(_ range: Range<Int>, _ unequal: inout Bits) {
        whole.text.offsets.withUnsafeBufferPointer { from in
            vector.text.offsets.withUnsafeBufferPointer { to in
                whole.text.bytes.withUnsafeBytes { a in
                    vector.text.bytes.withUnsafeBytes { b in
                        each(range, &unequal) { i, j in
                            let length = from[i &+ 1] &- from[i]
                            return length == to[j &+ 1] &- to[j] && sameBytes(a, from[i], b, to[j], length)
                        }
                    }
                }
            }
        }
    }

    /// Marks the rows for which `same(row in the segment, row in the partner's vector)` is false.
    @inline(__always)
    private func each(_ range: Range<Int>, _ unequal: inout Bits, _ same: (Int, Int) -> Bool) {
        pairs.rows.withUnsafeBufferPointer { rows in
            pairs.partners.withUnsafeBufferPointer { partners in
                if whole.present == nil, vector.present == nil {
                    for k in range {
                        let row = Int(truncatingIfNeeded: rows[k])
                        if !same(row, Int(truncatingIfNeeded: partners[k] & 1023)) { unequal[row] = true }
                    }
                } else {
                    for k in range {
                        let row = Int(truncatingIfNeeded: rows[k]), partner = Int(truncatingIfNeeded: partners[k] & 1023)
                        let here = whole.isPresent(row), there = vector.isPresent(partner)
                        if here != there || (here && !same(row, partner)) { unequal[row] = true }
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
