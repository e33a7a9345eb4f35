import FirnBytes

/// The number of rows (or, in a child stream, of elements) of a vector. Inlined into other modules, so that divisions by it are shifts.
@inlinable package var vectorSize: Int { 1024 }
/// The maximum number of rows of a segment.
@inlinable package var segmentSize: Int { 65_536 }

/// A run of rows of one table at one version: up to 65,536 rows with ascending row ids. Usable from any thread.
///
/// Positions count physical rows, including deleted ones; `live` marks the rows that exist.
package protocol Segment: AnyObject, Sendable {
    /// The number of physical rows, including deleted ones.
    var rowCount: Int { get }
    /// The rows that are not deleted; nil if no row is deleted.
    var live: Bits? { get }
    /// Returns the row id at a position.
    func rowID(at position: Int) throws(Damage) -> Int64
    /// Returns the position of a row id, or nil if the segment does not contain it. Deleted rows are found too.
    func position(of rowID: Int64) throws(Damage) -> Int?
    /// Returns the reader of one column, by its position in the type. Cheap after the first call.
    func column(_ index: Int) throws(Damage) -> any ColumnReader
    /// Returns the reader of a column in its stored form: embedded objects as links, that is, as the row ids that they have in their own
    /// table. If they have none, the same as `column(_:)`.
    func storedColumn(_ index: Int) throws(Damage) -> any ColumnReader
    /// Returns the zone of a column over the whole segment, or nil if nothing is known. Reads nothing else if the segment's header contains
    /// the zone.
    func zone(of column: Int) throws(Damage) -> Zone?
    /// Returns false only if no row of the segment has one of the values in a column, as far as this is known without reading the column, for
    /// example from a Bloom filter. Values of bool, int and link columns are ints, of float and double columns doubles, of text and binary
    /// columns data.
    func mayHold(_ values: [Value], column: Int) throws(Damage) -> Bool
    /// Returns the reader of a field within embedded objects. `path[0]` is a position in the type's columns; each further number is a
    /// position in the fields of the embedded type before it. A path of one number is the same as `column(_:)`. Through single embedded
    /// objects, the leaf keeps its type and becomes optional: it is null wherever an object on the path is null. Through a collection of
    /// embedded objects, each row is a flat list of the leaf's values: one element per object (or, if the leaf is itself a collection, all
    /// of its elements), and no elements where an object on the path is null.
    func column(path: [Int]) throws(Damage) -> any ColumnReader
    /// Compares this segment with the same rows at another version of the same table. Returns the rows that may differ in a value or in
    /// existence; all others are known to be equal. Returns nil if nothing is known. Both must have the same first row id and columns. This
    /// segment may have more rows after the last row of the other.
    func rowsThatMayDiffer(from other: any Segment) throws(Damage) -> Bits?
    /// Compares as `rowsThatMayDiffer(from:)` does, but the stored form: embedded objects are compared by row id, whatever happened to
    /// their fields. The other segment may also have fewer or more rows, which follow the last common one. The result has a bit for each
    /// row of the longer segment.
    func storedRowsThatMayDiffer(from other: any Segment) throws(Damage) -> Bits?
    /// Whether a column has the same values in the same rows as a column of another segment, which may be of another file. Only the stored
    /// bytes are compared: returns false if they differ or prove nothing. Always false for links and objects, whose row ids have a meaning
    /// only within their file.
    func storesSame(_ column: Int, as other: any Segment, _ otherColumn: Int) throws(Damage) -> Bool
}

extension Segment {
    package func zone(of column: Int) throws(Damage) -> Zone? { try self.column(column).zone() }
    package func mayHold(_ values: [Value], column: Int) throws(Damage) -> Bool { true }
    package func storedColumn(_ index: Int) throws(Damage) -> any ColumnReader { try column(index) }
    package func rowsThatMayDiffer(from other: any Segment) throws(Damage) -> Bits? { self === other ? Bits(count: rowCount) : nil }
    package func storedRowsThatMayDiffer(from other: any Segment) throws(Damage) -> Bits? { try rowsThatMayDiffer(from: other) }
    package func storesSame(_ column: Int, as other: any Segment, _ otherColumn: Int) throws(Damage) -> Bool { false }
    /// The number of vectors; the last one may be shorter than `vectorSize`.
    package var vectorCount: Int { (rowCount + vectorSize - 1) / vectorSize }
    /// Returns the positions of the rows of a vector.
    package func rows(ofVector vector: Int) -> Range<Int> { vector * vectorSize..<min((vector + 1) * vectorSize, rowCount) }
    /// The number of rows that are not deleted.
    package var liveCount: Int { live?.ones ?? rowCount }
}
