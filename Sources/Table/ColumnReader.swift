import FirnBytes
import FirnCodecs

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
    /// Returns all rows of the segment if reading them together costs less than vector by vector, else nil. The reader does not keep what it
    /// decodes for this.
    func wholeColumn() throws(Damage) -> Column?
    /// Returns one value. Decodes as little as the encoding allows.
    func value(at row: Int) throws(Damage) -> Value
    /// Returns one row as a column, which takes less memory than a value if the row is a large collection.
    func row(at row: Int) throws(Damage) -> Column
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
    /// Copies the numbers of a vector, or of some of its rows as in `gather`, without a `Column`: ints, and the seconds of dates that have no
    /// fraction, as words; floats and doubles as reals. Returns false, and leaves the contents of `room` undefined, if this is not possible or a row has no value.
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
                trap(unless: rows[j] >= 0 && rows[j] < count, "a row outside the vector")
                out[j] = values[Int(rows[j])]
            }
        } else {
            out.update(from: values, count: count)
        }
        return true
    }
}

/// Default implementations: nothing is known about the values, they are not codes, and nothing is done in the stored form.
extension ColumnReader {
    package func zone() -> Zone? { nil }
    package func zone(ofVector vector: Int) -> Zone? { nil }
    package var storedBytes: Int { 0 }
    package func wholeColumn() throws(Damage) -> Column? { nil }
    package func row(at row: Int) throws(Damage) -> Column {
        var one = Column(type)
        one.append(try value(at: row))
        return one
    }
    package func dictionary() throws(Damage) -> Text? { nil }
    package func search(_ range: SoughtRange, vector: Int, into out: UnsafeMutablePointer<UInt64>) throws(Damage) -> SearchOutcome {
        .notDone
    }
    package func sum(vector: Int) throws(Damage) -> VectorSum { .notDone }
    package func gather(_ rows: UnsafeBufferPointer<Int32>, vector: Int, into column: inout Column) throws(Damage) -> Bool { false }
    package func numbers(vector: Int, only rows: UnsafeBufferPointer<Int32>?, into room: NumberRoom) throws(Damage) -> Bool { false }
    package func readCodes(vector: Int, into column: inout Column) throws(Damage) {
        trap("this segment has no dictionary: ask dictionary() first")
    }
}
