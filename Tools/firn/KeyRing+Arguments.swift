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
        guard let key = EncryptionKey(written: try EncryptionKey.bytes(path)) else { throw KeyRing.malformed("the file", .init(file: path)) }
        self = key
    }

    /// What may be a key: one byte more than one shows that it is none, and a device never ends. White space may be between the digits.
    private static func bytes(_ path: String) throws(FirnError) -> [UInt8] {
        let stream = try StreamIn(path: path), most = 2 * EncryptionKey.count + 1
        var bytes: [UInt8] = []
        while bytes.count < 4096, bytes.count(where: { !(0x09...0x0D ~= $0 || $0 == 0x20) }) < most {
            var piece = [UInt8](repeating: 0, count: most), got = 0, failure: FirnError?
            piece.withUnsafeMutableBytes { buffer in do throws(FirnError) { got = try stream.read(into: buffer) } catch { failure = error } }
            if let failure { throw failure }
            bytes += piece[..<got]
            if got < most { break }
        }
        return bytes
    }
}
