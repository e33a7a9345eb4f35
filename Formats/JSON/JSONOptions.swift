import FirnBytes
import FirnExchange
import FirnTable

/// Options for reading and writing JSON.
package struct JSONOptions: Sendable {
    package enum Layout: Sendable {
        /// One document.
        case document
        /// One value per line (NDJSON).
        case lines
        /// Values one after the other: concatenated, written in several lines, or after record separators (RFC 7464). Written like lines.
        case values
    }

    /// The name of the type of the rows.
    package var typeName = "Row"
    /// The type of the rows, if it is known. Its columns accept only values that fit them; other columns are inferred. Its name takes
    /// precedence over
    /// `typeName`.
    package var given: GivenSchema?
    /// Whether columns of `given` that no row has are left out, instead of null in all rows.
    package var omitsMissing = false
    /// Receives rows that cannot be read, with the text of the input, and reading continues. Nil makes the first such row an error.
    package var rejects: Rejects?
    package var layout = Layout.document
    /// What to report about the choice of this format.
    package var note: String?
    /// Whether the content decides the layout, and `layout` only if the content permits several.
    package var findsLayout = false
    /// A JSON Pointer (RFC 6901) to the rows in a document: an array, an object of objects, or one value. Nil: they are found.
    package var rows: String?
    /// Paths of objects that become maps, and of objects that do not, whatever their keys: see `PathPattern`.
    package var maps: [String] = []
    package var objects: [String] = []
    /// Whether there need not be an object at each of these paths, as in one of several inputs.
    package var mayLackPaths = false
    /// If rows are the values of a column, which can be objects: its name, and names that types must not have. Each value is then in the
    /// column `value`.
    package var column: String?
    package var takenNames: [String] = []
    /// Whether strings become dates and UUIDs if every value of the column round-trips exactly.
    package var recognisesText = true
    /// Whether columns of numbers keep the original texts of values that they would not write back unchanged.
    var keepsTexts: Bool { keepsOriginals && given == nil && column == nil }
    package var keepsOriginals = true
    /// Whether anything that would not be written back with equal values is an error instead of a remark.
    package var isLossless = false
    /// The number of threads that parse lines.
    package var threads = defaultThreads
    /// The number of bytes of text that are parsed at a time.
    package var blockSize = 3 << 19
    /// The maximum number of slots (rows × columns with a value) of a batch. Types with many columns have batches with fewer rows.
    package var batchCells = 1 << 22
    /// Whether documents are written indented by two spaces. Nil writes them as the input was.
    package var isPretty: Bool?

    /// Writing: the budget for the memory of what surrounds rows in their document.
    package var budget = MemoryBudget.unlimited

    package init(layout: Layout = .document, typeName: String = "Row") {
        self.layout = layout
        self.typeName = typeName
    }
}
