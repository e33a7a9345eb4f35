import FirnBytes
import FirnCommandLine
import FirnDatabase
import FirnDisk
import FirnExchange

extension KeyRing {
    /// Reads the key of `--key-file` and that of the environment. Keys are never arguments, which every program on the machine can read.
    init(_ arguments: Arguments) throws(FirnError) {
        self.init(
            given: try arguments.key("key-file"),
            ambient: Machine.environment(KeyRing.variable))
    }
}

extension CopyEncryption {
    /// Reads `--new-key-file` and `--plain`.
    init(_ arguments: Arguments) throws(FirnError) {
        guard let key = try arguments.key("new-key-file") else {
            self = arguments.has("plain") ? .plain : .same
            return
        }
        guard !arguments.has("plain") else {
            throw FirnError(.usage, "--plain and --new-key-file contradict each other", advice: "omit one of them")
        }
        self = .key(key)
    }
}

extension Arguments {
    /// Returns the key that a flag names: the contents of a file, or those that a caller passed in memory.
    fileprivate func key(_ flag: String) throws(FirnError) -> EncryptionKey? {
        if let bytes = keys[flag] {
            guard let key = EncryptionKey(written: bytes) else { throw KeyRing.malformed("the argument") }
            return key
        }
        return try text(flag).map { (path) throws(FirnError) in try EncryptionKey(file: path) }
    }
}

extension EncryptionKey {
    fileprivate init(file path: String) throws(FirnError) {
        guard let key = EncryptionKey(written: try EncryptionKey.bytes(path)) else {
            throw KeyRing.malformed("the file", .init(file: path))
        }
        self = key
    }

    /// Reads a key file. Reads at most one byte more than a key has, because a device never ends; white space between digits does not
    /// count.
    private static func bytes(_ path: String) throws(FirnError) -> [UInt8] {
        let stream = try StreamIn(path: path), most = 2 * EncryptionKey.count + 1
        var bytes: [UInt8] = []
        while bytes.count < 4096, bytes.count(where: { !(0x09...0x0D ~= $0 || $0 == 0x20) }) < most {
            var piece = [UInt8](repeating: 0, count: most)
            let got = try piece.withMutableBytes { (buffer) throws(FirnError) in try stream.read(into: buffer) }
            bytes += piece[..<got]
            if got < most { break }
        }
        return bytes
    }
}
