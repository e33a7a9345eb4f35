import FirnBytes
import FirnExchange
import FirnModel

/// How JSON is read and written.
package struct JSONOptions: Sendable {
    package enum Layout: Sendable {
        /// One document.
        case document
        /// One value a line (NDJSON).
        case lines
    }

    /// The name given to the type of the rows.
    package var typeName = "Row"
    /// The type of the rows, if it is known beforehand: its columns hold only what fits them, and columns it does not name are inferred.
    /// Its name goes before `typeName`.
    package var given: GivenSchema?
    /// Rows that cannot be read go here as they stand in the input, and reading goes on; nil: the first one is an error.
    package var rejects: Rejects?
    package var layout = Layout.document
    /// Strings become dates and UUIDs if every value of the column comes back exactly.
    package var recognisesText = true
    /// Refuse what would not come back with equal values, instead of remarking it.
    package var isLossless = false
    /// Threads that parse lines.
    package var threads = defaultThreads
    /// Bytes of text parsed at a time.
    package var blockSize = 2 << 20
    /// Slots (rows × columns with a value) that a batch may have: rows of a type with many columns come in smaller batches.
    package var batchCells = 1 << 22
    /// Writing documents: indented by two spaces. Nil: as the input was.
    package var isPretty: Bool?

    package init(layout: Layout = .document, typeName: String = "Row") {
        self.layout = layout
        self.typeName = typeName
    }
}
