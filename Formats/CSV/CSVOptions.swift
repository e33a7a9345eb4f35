import FirnBytes
import FirnExchange
import FirnModel

/// How the bytes of a CSV file stand for characters.
package enum CSVEncoding: String, Sendable {
    case utf8 = "utf-8", latin1 = "latin-1", utf16LittleEndian = "utf-16le", utf16BigEndian = "utf-16be"
}

/// What a user may say about CSV input and output. The defaults read RFC 4180 and what is usually meant by CSV.
package struct CSVOptions: Sendable {
    /// Nil: `,` (for tsv: tab), or `;`, tab or `|` when the first line holds that and no `,`.
    package var delimiter: UInt8?
    /// Nil: no quoting at all; every quote character is text.
    package var quote: UInt8? = UInt8(ascii: "\"")
    package var hasHeader = true
    /// Unquoted cells with one of these texts are null.
    package var nullWords = [""]
    /// Nil: by byte order mark, else UTF-8.
    package var encoding: CSVEncoding?
    /// The type's name; nil: from the input's name.
    package var typeName: String?
    /// Columns to read, in this order; nil: all.
    package var columns: [String]?
    /// Columns found here get this type instead of an inferred one; cells that do not fit are bad input.
    package var types: TypeSchema?
    /// Finds among names the one that a word was meant to be, for advice.
    package var nearest: @Sendable (_ word: String, _ names: [String]) -> String? = { _, _ in nil }
    /// Every column is text, as it stands.
    package var allText = false
    /// Bad rows go here as they stand in the input, and reading goes on; nil: the first bad row is an error.
    package var rejects: Rejects?
    /// The dialect remembers that writing the rows back gives the same bytes, other encodings than UTF-8 included.
    package var isLossless = false
    package var threads = defaultThreads
    package var progress: Progress?
    /// Bytes that a thread takes at a time. For tests; results do not depend on it.
    package var blockSize = 1 << 20

    package init() {}

    /// Tab-separated.
    package static var tsv: CSVOptions {
        var options = CSVOptions()
        options.delimiter = UInt8(ascii: "\t")
        return options
    }
}
