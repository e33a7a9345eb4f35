import FirnBytes
import FirnDisk

/// A run of rows of one type as they are stored: embedded objects are row ids. What a segment of a table shows, without the version it belongs to,
/// so that versions which have it in common share one. Usable from any thread, as long as nobody writes it.
protocol StoredRows: AnyObject, Sendable {
    /// Rows, deleted ones too.
    var rowCount: Int { get }
    /// Nil: all rows are there.
    var live: Bits? { get }
    func rowID(at position: Int) throws(Damage) -> Int64
    /// The position of a row id, or nil if it is none of these (deleted rows are found).
    func position(of rowID: Int64) throws(Damage) -> Int?
    /// The reader of one column, by its position in the type's schema.
    func storedColumn(_ index: Int) throws(Damage) -> any ColumnReader
    /// What is known of a column's values without reading any of them; nil: nothing. Opens no chunk where the segment's header knows it.
    func zone(of column: Int) throws(Damage) -> Zone?
    /// A bool, int or link; nil: null. Nothing is boxed.
    func word(at position: Int, _ column: Int) throws(Damage) -> Int64?
    /// A float or double; nil: null.
    func real(at position: Int, _ column: Int) throws(Damage) -> Double?
    /// Against the same rows at another version: those that may differ in a value or in being there, as many bits as the longer has rows (one may
    /// go on behind the other's last). Nil if nothing is known.
    func rowsThatMayDiffer(from other: any StoredRows) throws(Damage) -> Bits?
}

extension StoredRows {
    func zone(of column: Int) throws(Damage) -> Zone? { try storedColumn(column).zone() }
}

extension StoredSegment {
    func zone(of column: Int) throws(Damage) -> Zone? { overlay[column] == nil ? entry(column)?.zone : nil }

    /// Bytes that a column of a segment may come to where next to nothing is stored of it.
    static let mostInMemory = 1 << 30
}

extension Column {
    /// About what the values take, without those of nested objects.
    fileprivate var bytesInMemory: Int {
        text.bytes.count + 8 * (words.count + extra.count + reals.count + offsets.count) + children.reduce(0) { $0 + $1.bytesInMemory }
    }
}

extension StoredRows {
    var vectorCount: Int { (rowCount + vectorSize - 1) / vectorSize }
    /// The rows of a vector.
    func rows(ofVector vector: Int) -> Range<Int> { vector * vectorSize..<min((vector + 1) * vectorSize, rowCount) }
    var liveCount: Int { live?.ones ?? rowCount }

    /// What is charged for a column.
    func memory(_ index: Int) -> MemoryScope { sealedBase?.scope(index) ?? MemoryScope(.process) }
    func isLive(_ position: Int) -> Bool { live?[position] ?? true }

    /// Every row of a column, in canonical form.
    func allRows(_ index: Int) throws(Damage) -> Column {
        let reader = try storedColumn(index)
        var all = Column(reader.type), scratch = Column(reader.type)
        for vector in 0..<vectorCount {
            try reader.read(vector: vector, into: &scratch)
            try all.hold(memory(index), adding: scratch.footprint)
            all.append(contentsOf: scratch)
            // A few bytes can claim any number of equal values.
            guard all.bytesInMemory <= StoredSegment.mostInMemory || all.bytesInMemory >> 12 <= reader.storedBytes else { throw Damage("more values than their bytes can tell") }
        }
        all.normalise()
        return all
    }

    /// The live rows with their row ids.
    func liveRows(columns count: Int) throws(Damage) -> (columns: [Column], rowIDs: [Int64]) {
        var rows: [Int]?
        if let live, !live.allSet {
            var kept: [Int] = []
            live.forEachSet { kept.append($0) }
            rows = kept
        }
        var columns: [Column] = []
        for index in 0..<count {
            let all = try allRows(index)
            guard let rows else {
                columns.append(all)
                continue
            }
            var live = all.emptyCopy
            try live.hold(memory(index), adding: all.footprint)
            live.appendGathered(all, rows: rows)
            columns.append(live)
        }
        var rowIDs: [Int64] = []
        rowIDs.reserveCapacity(rows?.count ?? rowCount)
        if let rows {
            for row in rows { rowIDs.append(try rowID(at: row)) }
        } else {
            for row in 0..<rowCount { rowIDs.append(try rowID(at: row)) }
        }
        return (columns, rowIDs)
    }
}
