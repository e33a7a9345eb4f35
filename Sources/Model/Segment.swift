import FirnBytes
import FirnCodecs
import FirnDisk

/// The number of rows (or, in a child stream, of elements) of a vector, and the maximum number of rows of a segment.
package let vectorSize = 1024
package let segmentSize = 65_536

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
}

extension Segment {
    package func zone(of column: Int) throws(Damage) -> Zone? { try self.column(column).zone() }
    package func storedColumn(_ index: Int) throws(Damage) -> any ColumnReader { try column(index) }
    package func rowsThatMayDiffer(from other: any Segment) throws(Damage) -> Bits? { self === other ? Bits(count: rowCount) : nil }
    package func storedRowsThatMayDiffer(from other: any Segment) throws(Damage) -> Bits? { try rowsThatMayDiffer(from: other) }
    /// The number of vectors; the last one may be shorter than `vectorSize`.
    package var vectorCount: Int { (rowCount + vectorSize - 1) / vectorSize }
    /// Returns the positions of the rows of a vector.
    package func rows(ofVector vector: Int) -> Range<Int> { vector * vectorSize..<min((vector + 1) * vectorSize, rowCount) }
    /// The number of rows that are not deleted.
    package var liveCount: Int { live?.ones ?? rowCount }
}

/// What is known about a run of values without decoding it. Bounds are inclusive and cover the values that are present.
package struct Zone: Sendable, Equatable {
    package enum Bounds: Sendable, Equatable {
        /// Nothing is known (any, decimals, collections, text of older writers), or no value is present.
        case none
        /// bool, int, link, date (seconds), UUID and object id (first integer).
        case words(Int64, Int64)
        /// float, double. The bounds are never NaN; there are none if a value is NaN.
        case reals(Double, Double)
        /// string, data.
        case text(TextBounds)
    }
    package var mayHaveNulls: Bool
    package var allNull: Bool
    package var bounds: Bounds

    package init(mayHaveNulls: Bool, allNull: Bool, bounds: Bounds) {
        self.mayHaveNulls = mayHaveNulls
        self.allNull = allNull
        self.bounds = bounds
    }
}

/// The patterns of FirnCodecs, for modules that search columns without importing codecs.
package typealias TextPattern = FirnCodecs.TextPattern

/// What a query searches for in a column: an inclusive range, or a text pattern.
package enum SoughtRange: Sendable {
    /// bool, int, link.
    case words(Int64, Int64)
    /// float, double; neither end is NaN.
    case reals(Double, Double)
    /// date, UUID, object id: `words` first, then `extra`.
    case pairs(low: (Int64, Int64), high: (Int64, Int64))
    /// Codes into the column's dictionary.
    case codes(Int64, Int64)
    /// string, data: a pattern, not a range.
    case text(TextPattern)
}

/// Whether a search was done, and which rows of the vector have a value (nil: all). The result bits of the other rows are undefined.
package enum SearchOutcome: Sendable {
    case notDone
    case done(present: Bits?)
}

/// The sum of the values of a vector without nulls.
package enum VectorSum: Sendable {
    case notDone
    /// The exact sum of ints.
    case whole(Int128)
    /// The sum of doubles.
    case real(Double)
}

/// Reads one column of one segment, by vector or by value. Usable from any thread.
package protocol ColumnReader: AnyObject, Sendable {
    var type: ColumnType { get }
    var rowCount: Int { get }
    /// The number of bytes that the column takes in the file; 0 if it is in memory.
    var storedBytes: Int { get }
    /// Returns the zone of the whole segment, or nil if nothing is known.
    func zone() -> Zone?
    /// Returns the zone of one vector, or nil if nothing is known.
    func zone(ofVector vector: Int) -> Zone?
    /// Replaces the contents of `column` with the rows of a vector, including deleted rows. `column` keeps its capacity.
    func read(vector: Int, into column: inout Column) throws(Damage)
    /// Returns one value. Decodes as little as the encoding allows.
    func value(at row: Int) throws(Damage) -> Value
    /// Returns the dictionary of a string or data column whose values are codes into it: distinct values, sorted by bytes. Returns nil if
    /// this segment stores the values in another way.
    func dictionary() throws(Damage) -> Text?
    /// Reads a vector as `read` does, but `column` (of kind int, with the same optionality) receives codes in `words`, all of which are in
    /// the dictionary. Call it only if `dictionary()` does not return nil.
    func readCodes(vector: Int, into column: inout Column) throws(Damage)
    /// Writes 16 words to `out`, with a bit for each row of a vector whose value is in the range, without decoding the vector. If it
    /// returns
    /// `.notDone`, read the vector and compare. Use `.codes` only if `dictionary()` does not return nil.
    func search(_ range: SoughtRange, vector: Int, into out: UnsafeMutablePointer<UInt64>) throws(Damage) -> SearchOutcome
    /// Returns the sum of all rows of a vector of ints or doubles without decoding it. If it returns `.notDone`, which it does if a row has
    /// no value, read the vector and add.
    func sum(vector: Int) throws(Damage) -> VectorSum
    /// Replaces the contents of `column` with some rows of a vector, given by ascending positions within it, without decoding the others.
    /// If it returns false, because this is not possible or does not pay, read the vector and select the rows.
    func gather(_ rows: UnsafeBufferPointer<Int32>, vector: Int, into column: inout Column) throws(Damage) -> Bool
    /// Copies the numbers of a vector, or of some of its rows as in `gather`, without a `Column`: ints as words, floats and doubles as
    /// reals. Returns false, and leaves the contents of `room` undefined, if this is not possible or a row has no value.
    func numbers(vector: Int, only rows: UnsafeBufferPointer<Int32>?, into room: NumberRoom) throws(Damage) -> Bool
}

/// A buffer for the numbers of a vector.
package enum NumberRoom {
    case words(UnsafeMutablePointer<Int64>), reals(UnsafeMutablePointer<Double>)

    /// Copies all `count` values, or those of the given rows. Always returns true.
    package static func copy<T>(
        _ values: UnsafePointer<T>, _ count: Int, _ rows: UnsafeBufferPointer<Int32>?, to out: UnsafeMutablePointer<T>
    ) -> Bool {
        if let rows {
            for j in 0..<rows.count {
                precondition(rows[j] >= 0 && rows[j] < count, "a row outside the vector")
                out[j] = values[Int(rows[j])]
            }
        } else {
            out.update(from: values, count: count)
        }
        return true
    }
}

/// All rows of one type at one version. Usable from any thread.
package protocol Table: AnyObject, Sendable {
    /// The type of the rows.
    var type: TypeSchema { get }
    /// The schema in which embedded and linked types are looked up.
    var schema: Schema { get }
    /// The number of live rows.
    var rowCount: Int { get }
    var segmentCount: Int { get }
    /// Returns the segment at an index from 0 up to `segmentCount`.
    func segment(_ index: Int) throws(Damage) -> any Segment
    /// Returns the index of the segment that contains (or would contain) a row id, or nil if the row id is outside every segment.
    func segmentIndex(of rowID: Int64) throws(Damage) -> Int?
    /// Returns the table of another type (or of this one) at the same version, which links refer to, or nil if it is not available.
    func related(_ typeName: String) throws(Damage) -> (any Table)?
    /// The budget that is charged for data that is made from the rows.
    var memory: MemoryBudget { get }
}

extension Table {
    package var memory: MemoryBudget { .process }
    package func related(_ typeName: String) throws(Damage) -> (any Table)? { nil }
}

/// Default implementations: nothing is known about the values, they are not codes, and nothing is done in the stored form.
extension ColumnReader {
    package func zone() -> Zone? { nil }
    package func zone(ofVector vector: Int) -> Zone? { nil }
    package var storedBytes: Int { 0 }
    package func dictionary() throws(Damage) -> Text? { nil }
    package func search(_ range: SoughtRange, vector: Int, into out: UnsafeMutablePointer<UInt64>) throws(Damage) -> SearchOutcome {
        .notDone
    }
    package func sum(vector: Int) throws(Damage) -> VectorSum { .notDone }
    package func gather(_ rows: UnsafeBufferPointer<Int32>, vector: Int, into column: inout Column) throws(Damage) -> Bool { false }
    package func numbers(vector: Int, only rows: UnsafeBufferPointer<Int32>?, into room: NumberRoom) throws(Damage) -> Bool { false }
    package func readCodes(vector: Int, into column: inout Column) throws(Damage) {
        preconditionFailure("this segment has no dictionary: ask dictionary() first")
    }
}
