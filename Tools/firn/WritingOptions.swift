import FirnBytes
import FirnCommandLine
import FirnDatabase
import FirnDisk
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

    init(threads: Int) { self.threads = threads }

    init(_ arguments: Arguments, threads: Int) {
        self.threads = threads
        overwrites = arguments.has("force")
        effort = arguments.text("profile").flatMap(Effort.init(rawValue:)) ?? .standard
        isLossless = arguments.has("lossless")
    }
}
