import FirnBytes
import FirnTable

/// A source of rows with a known schema. Each batch holds at most 65,536 rows of one type; batches are returned in order.
package protocol BatchReader: AnyObject {
    /// The schema. It is complete before the first batch: any type inference has been done by then.
    var schema: Schema { get }
    /// What was changed or left out so that the input fits: one sentence each, for the user. Complete after the last batch.
    var remarks: [String] { get }
    /// Returns what is known about the values of a column of the rows' type; nil if nothing is.
    func facts(ofColumn position: Int) -> ColumnFacts?
    /// What was guessed about the notation of the input, and what was padded or left out for it: one sentence each.
    var guesses: [String] { get }
    /// The columns that are text only because some of their values fit no other type, and those with texts that are read as null: what is to
    /// be reported, as one sentence.
    var textReasons: [(column: String, reason: String)] { get }
    /// What an export in the notation of the input would write differently, as far as it is known: one sentence each.
    var unreproduced: [String] { get }
    /// The names of all types of the folder that the input was written into together with the files of the other types; none if it was written
    /// alone.
    var folderTypes: [String] { get }
    /// Whether values can be links, which lead to rows of other types of the input.
    var hasLinks: Bool { get }
    /// The key that an encrypted input was opened with; nil if it is not encrypted.
    var key: EncryptionKey? { get }
    /// Restricts the reader to the rows of one type, before the first batch. Readers of formats with one type ignore it.
    func choose(_ type: String)
    /// Returns the next rows and the name of their type; nil at the end.
    /// - Throws: `FirnError` with the location of bad input.
    func next() throws(FirnError) -> (type: String, batch: Batch)?
}

extension BatchReader {
    package var unreproduced: [String] { [] }
    package var guesses: [String] { [] }
    package var textReasons: [(column: String, reason: String)] { [] }
    package var folderTypes: [String] { [] }
    package var hasLinks: Bool { schema.holds(.link) }
    package var key: EncryptionKey? { nil }
    package func choose(_ type: String) {}
}

extension Schema {
    /// Throws `.usage` if there is no type whose rows could be written. `format` is the subject of the message.
    package func checkHasRows(for format: String, at file: String) throws(FirnError) {
        guard roots.isEmpty else { return }
        throw FirnError(
            .usage, "\(format) contains the rows of a type, and the input has no types", at: .init(file: file), advice: "write a .firn file"
        )
    }

    /// Whether a type has a column of a kind.
    package func holds(_ kind: ScalarKind) -> Bool { types.contains { $0.columns.contains { $0.type.kind == kind } } }
}

/// A target of rows. Call `begin` first and `finish` last.
package protocol BatchWriter: AnyObject {
    func begin(_ schema: Schema) throws(FirnError)
    func write(_ batch: Batch, type: String) throws(FirnError)
    /// Completes the output and flushes it. Nothing may be written after it.
    func finish() throws(FirnError)
    var remarks: [String] { get }
}

/// A source of rows that can also be read in any order, so that a query reads only what it needs.
package protocol TableReader: BatchReader {
    /// The rows as a table. It is independent of `next`.
    var table: any Table { get }
    /// About the number of bytes of all values in memory.
    var valueBytes: Int { get }
}

/// A reader that can leave out rows that a condition excludes, before they are read.
package protocol SkippingReader: TableReader {
    /// Restricts `next` to the rows of some segments of `table`, which ascend. Call it before the first row is read.
    func keep(segments: [Int])
}

/// A table of a file that counts what is read of it.
package protocol AccountingTable: Table {
    /// What was read so far, in lines for the user.
    var account: String { get }
}
