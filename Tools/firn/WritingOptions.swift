import FirnBytes
import FirnCommandLine
import FirnDatabase
import FirnDisk
import FirnExchange
import FirnTable

/// The options for writing outputs, from the flags under "Writing".
struct WritingOptions {
    enum Effort: String { case fast, standard = "default", small }

    var overwrites = false
    var effort = Effort.standard
    var isLossless = false
    /// The encoding of CSV; for nil see `CSVWriterOptions.encoding`.
    var encoding: String?
    /// Whether CSV gets the lines around the rows (before the header, comments, after the last row) that its source had.
    var writesSurroundings = false
    var threads: Int
    /// The key that a `.firn` file is encrypted with; nil if it is not encrypted.
    var key: EncryptionKey?
    /// The permissions of the inputs. A new output gets no permissions that they do not have.
    var sources = SourceModes.none
    /// Whether Arrow is written as a stream, not as a file.
    var writesStream = false
    /// How the buffers of Arrow are compressed; nil for the standard.
    var bufferCompression: String?

    /// How Parquet is compressed, and the maximum number of rows of a row group; nil for the standard.
    var pageCompression: String?
    var groupRows: Int?

    /// The names of all types, if each is written into a file of one folder.
    var folderTypes: [String] = []

    init(threads: Int) { self.threads = threads }

    /// The flags that concern Parquet only.
    private static let parquetFlags = ["compression", "row-group"]

    /// Reads the flags for Parquet.
    /// - Throws: `.usage` if there are any and the format is another one.
    mutating func readPages(_ arguments: Arguments, _ format: FormatName?) throws(FirnError) {
        if format == .arrow {
            guard !arguments.has("row-group") else { throw FirnError(.usage, "--row-group applies to Parquet only", advice: "omit it") }
            bufferCompression = arguments.text("compression")
            guard let text = bufferCompression, !["zstd", "lz4", "none"].contains(text) else { return }
            throw FirnError(.usage, "buffers of Arrow cannot be compressed with \"\(text)\"", advice: "use zstd, lz4 or none")
        }
        guard format == .parquet else {
            guard let flag = WritingOptions.parquetFlags.first(where: arguments.has) else { return }
            let formats = flag == "compression" ? "Parquet and Arrow" : "Parquet", output = format?.rawValue ?? "a table for people"
            throw FirnError(
                .usage, "--\(flag) applies to \(formats) only, and the output is \(output)",
                advice: flag == "compression" ? "use --compress to compress a text file" : "omit it")
        }
        pageCompression = arguments.text("compression")
        guard let rows = try arguments.count("row-group") else { return }
        guard rows > 0 else { throw FirnError(.usage, "--row-group takes a number above 0, not \(rows)") }
        groupRows = rows
    }

    init(_ arguments: Arguments, threads: Int) {
        self.threads = threads
        overwrites = arguments.has("force")
        effort = arguments.text("profile").flatMap(Effort.init(rawValue:)) ?? .standard
        isLossless = arguments.has("lossless")
    }
}
