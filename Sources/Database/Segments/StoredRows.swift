import FirnBytes
import FirnDisk
import FirnTable
import FirnThreads

/// A run of rows of one type in stored form: embedded objects are row ids. It is the content of a table's segment without the version that
/// it belongs to, so that versions can share it. Usable from any thread as long as no thread writes to it.
protocol StoredRows: AnyObject, Sendable {
    /// The number of rows, including deleted ones.
    var rowCount: Int { get }
    /// The number of bytes that a reader of all columns reads of the file.
    var storedBytes: Int { get }
    /// The rows that are not deleted; nil if no row is deleted.
    var live: Bits? { get }
    func rowID(at position: Int) throws(Damage) -> Int64
    /// Returns the position of a row id, or nil if it is not among these. Deleted rows are found too.
    func position(of rowID: Int64) throws(Damage) -> Int?
    /// Returns the reader of one column, by its position in the type.
    func storedColumn(_ index: Int) throws(Damage) -> any ColumnReader
    /// Returns what is known about a column's values without reading any of them, or nil. Opens no chunk if the segment's header contains
    /// the zone.
    func zone(of column: Int) throws(Damage) -> Zone?
    /// Returns a bool, int or link, or nil for null. Nothing is boxed.
    func word(at position: Int, _ column: Int) throws(Damage) -> Int64?
    /// Returns a float or double, or nil for null.
    func real(at position: Int, _ column: Int) throws(Damage) -> Double?
    /// Compares with the same rows at another version. Returns the rows that may differ in a value or in existence, with as many bits as
    /// the longer of both has rows (either may continue after the other's last row). Returns nil if nothing is known.
    func rowsThatMayDiffer(from other: any StoredRows) throws(Damage) -> Bits?
    /// The same as `Segment.storesSame(_:as:_:)`.
    func storesSame(_ column: Int, as other: any StoredRows, _ otherColumn: Int) throws(Damage) -> Bool
}

extension StoredRows {
    var storedBytes: Int { 0 }
    func zone(of column: Int) throws(Damage) -> Zone? { try storedColumn(column).zone() }
    func storesSame(_ column: Int, as other: any StoredRows, _ otherColumn: Int) throws(Damage) -> Bool { false }
}

extension StoredSegment {
    /// Returns every row of a column without the changes in the delta store, as the segment's header describes it.
    func sealedRows(_ index: Int) throws(Damage) -> Column { try allRows(of: StoredColumn(try sealedColumn(index)), index) }

    /// Returns every row of a column, in canonical form. Errors do not have the location of the column.
    func unlocatedRows(_ index: Int) throws(Damage) -> Column { try allRows(of: StoredColumn(try rawColumn(index)), index) }

    func zone(of column: Int) throws(Damage) -> Zone? { !hasDelta(column) ? entry(column)?.zone : nil }

    /// The maximum number of bytes that a column of a segment may take in memory, unless at least 1/4096 of them is stored.
    static let maximumInMemory = 1 << 30
}

extension StoredRows {
    var vectorCount: Int { (rowCount + vectorSize - 1) / vectorSize }
    /// Returns the positions of the rows of a vector.
    func rows(ofVector vector: Int) -> Range<Int> { vector * vectorSize..<min((vector + 1) * vectorSize, rowCount) }
    var liveCount: Int { live?.ones ?? rowCount }

    /// Returns the scope that the memory of a column is charged to.
    func memory(_ index: Int) -> MemoryScope { sealedBase?.scope(index) ?? MemoryScope(.process) }
    func isLive(_ position: Int) -> Bool { live?[position] ?? true }

    /// Returns every row of a column, in canonical form.
    func allRows(_ index: Int) throws(Damage) -> Column { try allRows(of: try storedColumn(index), index) }

    fileprivate func allRows(of reader: any ColumnReader, _ index: Int) throws(Damage) -> Column {
        var all = Column(reader.type), scratch = Column(reader.type)
        for vector in 0..<vectorCount {
            try reader.read(vector: vector, into: &scratch)
            try all.hold(memory(index), adding: scratch.footprint)
            all.append(contentsOf: scratch)
            // A few bytes can claim to represent any number of equal values.
            guard all.bytesInMemory <= StoredSegment.maximumInMemory || all.bytesInMemory >> 12 <= reader.storedBytes else {
                throw Damage("more values than their bytes can represent")
            }
        }
        all.normalise()
        return all
    }

    /// Returns the live rows with their row ids.
    func liveRows(columns count: Int, threads: Int = 1) throws(Damage) -> (columns: [Column], rowIDs: [Int64]) {
        var rows: [Int]?
        if let live, !live.allSet {
            var kept: [Int] = []
            live.forEachSet { kept.append($0) }
            rows = kept
        }
        let kept = rows
        let columns = try parallelMap(count: count, threads: threads) { (index) throws(Damage) in
            let all = try allRows(index)
            guard let kept else { return all }
            var live = all.emptyCopy
            try live.hold(memory(index), adding: all.footprint)
            live.appendGathered(all, rows: kept)
            return live
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
