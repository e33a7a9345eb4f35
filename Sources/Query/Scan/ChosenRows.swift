import FirnBytes
import FirnTable

/// The rows of another table that an index names, in their order. Segments without such rows are omitted; other rows of a segment are not
/// live.
final class ChosenRows: Table {
    let base: any Table
    /// The indexes of the included segments in the base table, in order.
    let segmentIndices: [Int]
    private let candidates: RowCandidates

    init(_ candidates: RowCandidates, of base: any Table) {
        self.base = base
        self.candidates = candidates
        segmentIndices = candidates.segments
    }

    var type: TypeSchema { base.type }
    var schema: Schema { base.schema }
    var memory: MemoryBudget { base.memory }
    /// An upper bound.
    var rowCount: Int { base.rowCount }
    var segmentCount: Int { segmentIndices.count }

    func segment(_ index: Int) throws(Damage) -> any Segment {
        let segment = try base.segment(segmentIndices[index])
        guard let rows = candidates.rows(segmentIndices[index]) else { return segment }
        guard rows.count == segment.rowCount else { throw Damage("the number of rows of a segment does not match its directory") }
        return ChosenSegment(segment, rows)
    }

    func segmentIndex(of rowID: Int64) throws(Damage) -> Int? {
        try base.segmentIndex(of: rowID).flatMap { segmentIndices.firstIndex(of: $0) }
    }
    func related(_ typeName: String) throws(Damage) -> (any Table)? { try base.related(typeName) }
}

private final class ChosenSegment: Segment {
    private let base: any Segment
    let live: Bits?

    init(_ base: any Segment, _ rows: Bits) {
        self.base = base
        live = base.live.map { Bits(words: zip($0.words, rows.words).map { $0 & $1 }, count: rows.count) } ?? rows
    }

    var rowCount: Int { base.rowCount }
    func rowID(at position: Int) throws(Damage) -> Int64 { try base.rowID(at: position) }
    func position(of rowID: Int64) throws(Damage) -> Int? { try base.position(of: rowID) }
    func column(_ index: Int) throws(Damage) -> any ColumnReader { try base.column(index) }
    func storedColumn(_ index: Int) throws(Damage) -> any ColumnReader { try base.storedColumn(index) }
    func column(path: [Int]) throws(Damage) -> any ColumnReader { try base.column(path: path) }
}

extension Bits {
    /// Returns whether no bit is set for the rows of a vector.
    func noneSet(ofVector vector: Int) -> Bool {
        for w in vector &* 16..<min(vector &* 16 &+ 16, words.count) where words[w] != 0 { return false }
        return true
    }
}
