import FirnBytes
import FirnDisk
import FirnTable

/// The keys for encrypted files that a user provides: an explicit one, and one from the environment.
package struct KeyRing: Sendable {
    /// The explicit key. A file that is opened with it must be encrypted with it or with the ambient key.
    package let given: EncryptionKey?
    /// The key from the environment. It is used for encrypted files and ignored for others. It is kept as text, because a malformed key
    /// matters only if it is needed.
    private let ambient: [UInt8]?

    package init(given: EncryptionKey? = nil, ambient: String? = nil) {
        self.given = given
        self.ambient = ambient.flatMap { $0.isEmpty ? nil : Array($0.utf8) }
    }

    /// Whether there is any key.
    package var hasAny: Bool { given != nil || ambient != nil }

    /// The name of the environment variable that contains the ambient key, in hexadecimal digits.
    package static let variable = "FIRN_KEY"

    /// Returns the error for a malformed key. `what` names its source.
    package static func malformed(_ what: String, _ location: FirnError.Location? = nil) -> FirnError {
        FirnError(.usage, "\(what) does not contain a key: 64 bytes, or 128 hexadecimal digits", at: location)
    }

    /// Opens a file with the key that fits. If `writable`, also removes the files that killed processes left next to it.
    package func open(path: String, writable: Bool = false) throws(FirnError) -> Database {
        if writable { AbandonedFiles.remove(beside: Paths.linkEnd(path)) }
        return try trying { (key) throws(FirnError) in try Database.open(path: path, writable: writable, key: key) }
    }

    /// Returns the result of `body`, called with the key that fits the file that it opens: the explicit key, then the ambient one.
    package func trying<R>(_ body: (EncryptionKey?) throws(FirnError) -> R) throws(FirnError) -> R {
        do throws(FirnError) { return try body(given) } catch {
            // An explicit key means that the file must be encrypted: an unencrypted file that was put in its place must not be accepted.
            if error.code == .notEncrypted {
                var explained = error
                explained.advice =
                    "omit --key-file; if the key is for another of the files, set the environment variable \(KeyRing.variable) to it, as 128 hexadecimal digits"
                throw explained
            }
            guard error.code == .encrypted || error.code == .wrongKey else { throw error }
            guard let ambient else {
                var explained = error
                if error.code == .encrypted {
                    explained.advice = "provide its key: --key-file FILE, or the environment variable \(KeyRing.variable)"
                }
                throw explained
            }
            guard let key = EncryptionKey(written: ambient) else { throw KeyRing.malformed(KeyRing.variable) }
            return try body(key)
        }
    }
}
