import FirnBytes
import FirnExchange
import FirnTable

/// Which character quotes cells.
package enum CSVQuoting: Hashable, Sendable {
    /// The double quote, or another one that the first part of the text shows.
    case automatic
    /// No quoting: every quote character is text.
    case none
    case mark(UInt8)

    var quote: UInt8? { if case .mark(let byte) = self { byte } else { nil } }
}

/// Options for CSV input and output. The defaults read RFC 4180 and its common variants.
package struct CSVOptions: Sendable {
    /// Nil stands for the delimiter that the first part of the text shows: see `CSVSniffer`.
    package var delimiter: UInt8? {
        get { delimiterBytes?.first }
        set { delimiterBytes = newValue.map { [$0] } }
    }
    package var delimiterBytes: [UInt8]?
    /// Whether tabs belong to the format of the input, and not to its notation.
    var isTSV = false
    package var quoting = CSVQuoting.automatic
    /// The byte before a quote within quotes. Nil stands for doubled quotes, or for a backslash if the text shows it.
    package var escape: UInt8?
    /// Whether quotes within quotes are doubled, whatever the text shows.
    package var doublesQuotes = false
    /// The number of lines before the header and after the rows that are skipped. 0 stands for those that the text shows.
    package var skipped = 0
    package var skippedFooter = 0
    /// Lines that begin with this text are skipped. An empty text stands for no comments, nil for those that the text shows.
    package var comment: String?
    /// Nil stands for `widen`, or for `reject` if there are `rejects`.
    package var ragged: CSVRagged?
    /// Nil stands for true, unless the first record has values of the same types as the others.
    package var hasHeader: Bool?
    /// Unquoted cells with one of these texts are null.
    package var nullWords = [""]
    /// Texts that represent null in the columns of these names only, in addition to `nullWords`.
    package var nullWordsOf: [String: [String]] = [:]
    /// The notations of dates that decide how dates are read that can be read in several ways.
    package var dates: [Notation] = []
    /// The same for the columns of these names.
    package var datesOf: [String: [Notation]] = [:]
    /// Whether fractions follow a comma in numbers (true), or a point (false); then numbers can have groups of digits. Nil decides it for
    /// each column.
    package var hasDecimalComma: Bool?
    /// The same for the columns of these names.
    package var hasDecimalCommaOf: [String: Bool] = [:]
    /// Nil means UTF-8, or another encoding that the text shows.
    package var encoding: CSVEncoding?
    /// The name of the type; nil derives it from the name of the input.
    package var typeName: String?
    /// The columns to read, in this order; nil means all.
    package var columns: [String]?
    /// Whether the input may lack some of `columns` and `types`.
    package var mayLackColumns = false
    /// Columns that are listed here get this type instead of an inferred one. Cells that do not fit it are bad input.
    package var types: TypeSchema?
    /// Whether dates of requested types can have another notation than these, if all cells of the column allow one reading only.
    package var readsOtherNotations = false
    /// The attributes of the schema.
    package var fileAttributes: [SchemaAttribute] = []
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

    /// Returns the texts that represent null in a column.
    func nullWords(of column: String) -> [String] { nullWords + (nullWordsOf[column] ?? []) }
    /// Returns the requested notations of the dates of a column.
    func dates(of column: String) -> [Notation] { datesOf[column] ?? dates }

    /// Whether fractions follow a comma in a column; nil if the column decides it.
    func hasDecimalComma(_ column: String) -> Bool? { hasDecimalCommaOf[column] ?? hasDecimalComma }

    /// The options for tab-separated text.
    package static var tsv: CSVOptions {
        var options = CSVOptions()
        options.delimiter = UInt8(ascii: "\t")
        options.isTSV = true
        return options
    }
}
