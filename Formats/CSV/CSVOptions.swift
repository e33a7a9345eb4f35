import FirnBytes
import FirnExchange
import FirnTable

/// The encoding of the characters of a CSV file.
package enum CSVEncoding: String, Sendable {
    case utf8 = "utf-8", latin1 = "latin-1", utf16LittleEndian = "utf-16le", utf16BigEndian = "utf-16be"
}

/// Options for CSV input and output. The defaults read RFC 4180 and its common variants.
package struct CSVOptions: Sendable {
    /// Nil stands for `,` (in TSV: tab), or for `;`, tab or `|` if the first line contains one of these and no `,`.
    package var delimiter: UInt8?
    /// Nil means no quoting: every quote character is text.
    package var quote: UInt8? = UInt8(ascii: "\"")
    package var hasHeader = true
    /// Unquoted cells with one of these texts are null.
    package var nullWords = [""]
    /// Nil means UTF-8, unless a byte order mark indicates another encoding.
    package var encoding: CSVEncoding?
    /// The name of the type; nil derives it from the name of the input.
    package var typeName: String?
    /// The columns to read, in this order; nil means all.
    package var columns: [String]?
    /// Whether the input may lack some of `columns` and `types`.
    package var mayLackColumns = false
    /// Columns that are listed here get this type instead of an inferred one. Cells that do not fit it are bad input.
    package var types: TypeSchema?
    /// Whether every column is text, unchanged.
    package var allText = false
    /// Receives bad rows, with the bytes of the input, and reading continues. Nil makes the first bad row an error.
    package var rejects: Rejects?
    /// Whether the dialect records that output must have the same bytes as the input, in its encoding too.
    package var isLossless = false
    package var threads = defaultThreads
    package var progress: Progress?
    /// The number of bytes that a thread works on at a time. For tests; results do not depend on it.
    package var blockSize = 1 << 20

    package init() {}

    /// The options for tab-separated text.
    package static var tsv: CSVOptions {
        var options = CSVOptions()
        options.delimiter = UInt8(ascii: "\t")
        return options
    }
}
