import FirnBytes
import FirnCommandLine
import FirnDisk
import FirnModel

/// How outputs are to be written, from the flags under "Writing".
struct WritingOptions {
    enum Effort: String { case fast, standard = "default", small }

    var overwrites = false
    var effort = Effort.standard
    var isLossless = false
    /// Of CSV; nil: see `CSVWriterOptions.encoding`.
    var encoding: String?
    var threads: Int
    /// What a `.firn` file is encrypted with.
    var key: EncryptionKey?
    /// The files that outputs are made from: a new output has no more permissions than they have.
    var sources = SourceModes.none

    init(threads: Int) { self.threads = threads }

    init(_ arguments: Arguments, threads: Int) {
        self.threads = threads
        overwrites = arguments.has("force")
        effort = arguments.text("profile").flatMap(Effort.init(rawValue:)) ?? .standard
        isLossless = arguments.has("lossless")
    }
}
