import FirnBytes
import FirnCodecs
import FirnDisk

/// How many rows (or, in a child stream, elements) a vector holds, and how many rows a full segment.
package let vectorSize = 1024
package let segmentSize = 65_536

/// A run of rows of one table at one version: up to 65,536 rows with ascending row ids. Usable from any thread.
///
/// Positions count physical rows, deleted ones too; `live` tells which are there.
package protocol Segment: AnyObject, Sendable {
    var rowCount: Int { get }
    /// Nil: all rows are there.
    var live: Bits? { get }
    func rowID(at position: Int) throws(Damage) -> Int64
    /// The position of a row id, or nil if the segment does not hold it (deleted rows are found).
    func position(of rowID: Int64) throws(Damage) -> Int?
    /// The reader of one column, by its position in the type's schema. Cheap after the first call.
    func column(_ index: Int) throws(Damage) -> any ColumnReader
    /// The same as it is stored: embedded objects as the row ids they have in their own table (links). Where they have none, `column(_:)`.
    func storedColumn(_ index: Int) throws(Damage) -> any ColumnReader
    /// The zone of a column over the whole segment, as its reader has it; nil if nothing is known. Where the segment's header has it, nothing else is read.
    func zone(of column: Int) throws(Damage) -> Zone?
    /// The reader of a field within embedded objects: `path[0]` is a position in the type's columns, each further number one in the
    /// fields of the embedded target before it. One number is `column(_:)`. Through embedded objects that stand alone the leaf keeps
    /// its type, made optional (null wherever an object on the way is); through a collection of them the rows are lists of the leaf,
    /// one element an object (as many as a leaf that is itself a collection has), end to end; no elements where an object on the way
    /// is null.
    func column(path: [Int]) throws(Damage) -> any ColumnReader
    /// Against the same rows at another version of the same table: the rows that may differ in a value or in being there; all others are
    /// known to be equal. Nil if nothing is known. Both must have the same first row id and columns; this one may have rows behind the other's last.
    func rowsThatMayDiffer(from other: any Segment) throws(Damage) -> Bits?
    /// The same of what is stored: embedded objects by their row ids, whatever became of their fields. The other may also hold fewer or more
    /// rows, the further ones following on the last it has in common with this one: the answer has a bit for each row of the longer.
    func storedRowsThatMayDiffer(from other: any Segment) throws(Damage) -> Bits?
}

extension Segment {
    package func zone(of column: Int) throws(Damage) -> Zone? { try self.column(column).zone() }
    package func storedColumn(_ index: Int) throws(Damage) -> any ColumnReader { try column(index) }
    package func rowsThatMayDiffer(from other: any Segment) throws(Damage) -> Bits? { self === other ? Bits(count: rowCount) : nil }
    package func storedRowsThatMayDiffer(from other: any Segment) throws(Damage) -> Bits? { try rowsThatMayDiffer(from: other) }
    package var vectorCount: Int { (rowCount + vectorSize - 1) / vectorSize }
    /// The physical rows of a vector.
    package func rows(ofVector vector: Int) -> Range<Int> { vector * vectorSize..<min((vector + 1) * vectorSize, rowCount) }
    package var liveCount: Int { live?.ones ?? rowCount }
}

/// What is known of a run of values without decoding it. Bounds are inclusive, over the values that are present.
package struct Zone: Sendable, Equatable {
    package enum Bounds: Sendable, Equatable {
        /// Nothing is known (any, decimals, collections, what older versions wrote of text), or no value is present.
        case none
        /// bool, int, link, date (seconds), uuid and objectID (first word).
        case words(Int64, Int64)
        /// float, double; never NaN, and absent if a value is.
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

/// Codecs' patterns, for who asks columns and knows nothing of codecs.
package typealias TextPattern = FirnCodecs.TextPattern

/// Values that a query looks for in a column: a range, both ends included.
package enum SoughtRange: Sendable {
    /// bool, int, link.
    case words(Int64, Int64)
    /// float, double; neither end is NaN.
    case reals(Double, Double)
    /// date, uuid, objectID: `words` first, then `extra`.
    case pairs(low: (Int64, Int64), high: (Int64, Int64))
    /// Codes into the column's dictionary.
    case codes(Int64, Int64)
    /// string, data: no range, but what passes.
    case text(TextPattern)
}

/// Whether a search was done, and which rows of the vector have a value (nil: all): the bits of the others mean nothing.
package enum SearchOutcome: Sendable {
    case notDone
    case done(present: Bits?)
}

/// The sum of the values of a vector, all of which are there.
package enum VectorSum: Sendable {
    case notDone
    /// Of ints, exactly.
    case whole(Int128)
    /// Of doubles.
    case real(Double)
}

/// Reads one column of one segment, a vector or a value at a time. Usable from any thread.
package protocol ColumnReader: AnyObject, Sendable {
    var type: ColumnType { get }
    var rowCount: Int { get }
    /// Bytes that the column takes in the file; 0 where it lies in memory.
    var storedBytes: Int { get }
    /// Over the whole segment, or over one vector; nil if nothing is known.
    func zone() -> Zone?
    func zone(ofVector vector: Int) -> Zone?
    /// Replaces the contents of `column` by the rows of a vector (deleted rows included). `column` keeps its capacity.
    func read(vector: Int, into column: inout Column) throws(Damage)
    /// One value; decodes as little as its encoding allows.
    func value(at row: Int) throws(Damage) -> Value
    /// For string and data columns whose values are codes into a dictionary: that dictionary, sorted by bytes, distinct.
    /// Nil if this segment's values are stored otherwise.
    func dictionary() throws(Damage) -> Text?
    /// Only where `dictionary()` is not nil: as `read`, but `column` (of kind int, same optionality) receives codes in `words`, each of
    /// which the dictionary has.
    func readCodes(vector: Int, into column: inout Column) throws(Damage)
    /// Writes 16 words to `out`, a bit for each row of a vector whose value lies in the range, without decoding it; if that cannot be done
    /// here, read the vector and look. `codes` only where `dictionary()` is not nil.
    func search(_ range: SoughtRange, vector: Int, into out: UnsafeMutablePointer<UInt64>) throws(Damage) -> SearchOutcome
    /// The sum of all rows of a vector without decoding it, for ints and doubles; if that cannot be done here, or a row has no value,
    /// read the vector and add.
    func sum(vector: Int) throws(Damage) -> VectorSum
    /// Replaces the contents of `column` by some rows of a vector, given by their places within it, ascending, without decoding the
    /// others. False: not done here, or not worth it; read the vector and choose.
    func gather(_ rows: UnsafeBufferPointer<Int32>, vector: Int, into column: inout Column) throws(Damage) -> Bool
    /// The numbers of a vector, or of some of its rows as `gather` wants them, without a column around them: of ints as words, of floats and
    /// doubles as reals. False, and what lies in the room is worth nothing, if that cannot be done here or a row has no value.
    func numbers(vector: Int, only rows: UnsafeBufferPointer<Int32>?, into room: NumberRoom) throws(Damage) -> Bool
}

/// Memory for the numbers of a vector.
package enum NumberRoom {
    case words(UnsafeMutablePointer<Int64>), reals(UnsafeMutablePointer<Double>)

    /// All `count` values, or those of the given rows. True.
    package static func copy<T>(_ values: UnsafePointer<T>, _ count: Int, _ rows: UnsafeBufferPointer<Int32>?, to out: UnsafeMutablePointer<T>) -> Bool {
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
    var type: TypeSchema { get }
    /// The schema that embedded and linked types are looked up in.
    var schema: Schema { get }
    /// Live rows.
    var rowCount: Int { get }
    var segmentCount: Int { get }
    func segment(_ index: Int) throws(Damage) -> any Segment
    /// Which segment holds (or would hold) a row id; nil if it lies outside every segment.
    func segmentIndex(of rowID: Int64) throws(Damage) -> Int?
    /// The rows of another type (or of this one) at the same version, which links lead to; nil where they are not at hand.
    func related(_ typeName: String) throws(Damage) -> (any Table)?
    /// What is charged with what is made of the rows.
    var memory: MemoryBudget { get }
}

extension Table {
    package var memory: MemoryBudget { .process }
    package func related(_ typeName: String) throws(Damage) -> (any Table)? { nil }
}

/// What most readers answer: nothing is known of the values, and they are no codes.
extension ColumnReader {
    package func zone() -> Zone? { nil }
    package func zone(ofVector vector: Int) -> Zone? { nil }
    package var storedBytes: Int { 0 }
    package func dictionary() throws(Damage) -> Text? { nil }
    package func search(_ range: SoughtRange, vector: Int, into out: UnsafeMutablePointer<UInt64>) throws(Damage) -> SearchOutcome { .notDone }
    package func sum(vector: Int) throws(Damage) -> VectorSum { .notDone }
    package func gather(_ rows: UnsafeBufferPointer<Int32>, vector: Int, into column: inout Column) throws(Damage) -> Bool { false }
    package func numbers(vector: Int, only rows: UnsafeBufferPointer<Int32>?, into room: NumberRoom) throws(Damage) -> Bool { false }
    package func readCodes(vector: Int, into column: inout Column) throws(Damage) {
        preconditionFailure("this segment has no dictionary: ask dictionary() first")
    }
}
