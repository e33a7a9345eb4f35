import FirnBytes
import FirnCommandLine
import FirnModel

/// How outputs are to be written, from the flags under "Writing".
struct WritingOptions {
    enum Effort: String { case fast, standard = "default", small }

    var overwrites = false
    var effort = Effort.standard
    var isLossless = false
    var threads: Int
    /// What a `.firn` file is encrypted with.
    var key: EncryptionKey?

    init(threads: Int) { self.threads = threads }

    init(_ arguments: Arguments, threads: Int) {
        self.threads = threads
        overwrites = arguments.has("force")
        effort = arguments.text("profile").flatMap(Effort.init(rawValue:)) ?? .standard
        isLossless = arguments.has("lossless")
    }
}
