import FirnBytes
import FirnTable

/// A table in memory whose last segment reports which of its rows may differ, like segments whose parts are shared between versions.
final class KnowingTable: Table {
    let type: TypeSchema
    let schema: Schema
    private let segments: [KnowingSegment]

    /// `batches`: rows of integers by segment. Row ids count on from segment to segment.
    init(_ batches: [[Int64]], changed: [Int], longest: Int) {
        type = TypeSchema("Row", columns: [ColumnSchema("a", ColumnType(.int))])
        schema = Schema([type])
        var first: Int64 = 0, segments: [KnowingSegment] = []
        for rows in batches {
            var batch = Batch(type, in: schema)
            for row in rows { batch.columns[0].append(.int(row)) }
            batch.count = rows.count
            var bits = Bits(count: longest)
            for row in changed where row < longest { bits[row] = true }
            segments.append(KnowingSegment(MemorySegment(batch, firstRowID: first), bits))
            first += Int64(rows.count)
        }
        self.segments = segments
    }

    var rowCount: Int { segments.reduce(0) { $0 + $1.rowCount } }
    var segmentCount: Int { segments.count }
    func segment(_ index: Int) throws(Damage) -> any Segment { segments[index] }
    func segmentIndex(of rowID: Int64) throws(Damage) -> Int? {
        for (i, segment) in segments.enumerated() { if try segment.position(of: rowID) != nil { return i } }
        return nil
    }
}

final class KnowingSegment: Segment {
    private let base: MemorySegment
    private let bits: Bits

    init(_ base: MemorySegment, _ bits: Bits) {
        self.base = base
        self.bits = bits
    }

    var rowCount: Int { base.rowCount }
    var live: Bits? { base.live }
    func rowID(at position: Int) throws(Damage) -> Int64 { try base.rowID(at: position) }
    func position(of rowID: Int64) throws(Damage) -> Int? { try base.position(of: rowID) }
    func column(_ index: Int) throws(Damage) -> any ColumnReader { try base.column(index) }
    func column(path: [Int]) throws(Damage) -> any ColumnReader { try base.column(path: path) }
    func storedRowsThatMayDiffer(from other: any Segment) throws(Damage) -> Bits? { bits }
}
