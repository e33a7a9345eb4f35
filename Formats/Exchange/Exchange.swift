import FirnBytes
import FirnModel

/// A source of rows with a known schema. Batches come in order; each holds at most 65,536 rows of one type.
package protocol BatchReader: AnyObject {
    /// Known before the first batch: whatever inference a format needs has then been done.
    var schema: Schema { get }
    /// What was changed or left out to make the input fit: one sentence each, for the user. Complete after the last batch.
    var remarks: [String] { get }
    /// The next rows and the name of their type; nil at the end. Throws `FirnError` with the place of bad input.
    func next() throws(FirnError) -> (type: String, batch: Batch)?
}

/// A sink of rows. `begin` first, `finish` last.
package protocol BatchWriter: AnyObject {
    func begin(_ schema: Schema) throws(FirnError)
    func write(_ batch: Batch, type: String) throws(FirnError)
    /// Writes what closes the output, and flushes. Nothing may be written after it.
    func finish() throws(FirnError)
    var remarks: [String] { get }
}
