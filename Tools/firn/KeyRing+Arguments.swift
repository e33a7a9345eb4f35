import FirnBytes
import FirnCommandLine
import FirnDisk
import FirnExchange
import FirnModel

extension KeyRing {
    /// The key of `--key-file`, and that of the environment. Never from the command line itself, which every program on the machine can read.
    init(_ arguments: Arguments) throws(FirnError) {
        self.init(given: try arguments.text("key-file").map { (path) throws(FirnError) in try EncryptionKey(file: path) }, ambient: Machine.environment(KeyRing.variable))
    }
}

extension CopyEncryption {
    /// `--new-key-file` and `--plain`, of the commands that write `.firn` files.
    init(_ arguments: Arguments) throws(FirnError) {
        guard let path = arguments.text("new-key-file") else {
            self = arguments.has("plain") ? .plain : .same
            return
        }
        guard !arguments.has("plain") else { throw FirnError(.usage, "--plain and --new-key-file contradict each other", advice: "leave one of them out") }
        self = .key(try EncryptionKey(file: path))
    }
}

extension EncryptionKey {
    fileprivate init(file path: String) throws(FirnError) {
        let input = try Input(path: path, rereadable: false)
        guard let key = EncryptionKey(written: try input.readToEnd()) else { throw KeyRing.malformed("the file", .init(file: path)) }
        self = key
    }
}
