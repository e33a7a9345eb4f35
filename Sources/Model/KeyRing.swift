import FirnBytes
import FirnDisk

/// The keys of encrypted files that a user named: one that is meant, and one that may be.
package struct KeyRing: Sendable {
    /// Asked for by name: a file that is opened with it has to be encrypted with it, or with the other.
    package let given: EncryptionKey?
    /// That of the surroundings: for encrypted files, and of no consequence for others. As it stands there, for what is wrong with it matters only where it is needed.
    private let ambient: [UInt8]?

    package init(given: EncryptionKey? = nil, ambient: String? = nil) {
        self.given = given
        self.ambient = ambient.flatMap { $0.isEmpty ? nil : Array($0.utf8) }
    }

    package var hasAny: Bool { given != nil || ambient != nil }

    /// The name of the variable that holds the ambient key, in hexadecimal digits.
    package static let variable = "FIRN_KEY"

    package static func malformed(_ what: String, _ place: FirnError.Place? = nil) -> FirnError {
        FirnError(.usage, "\(what) does not hold a key: 64 bytes, or 128 hexadecimal digits", at: place)
    }

    /// Opens a file with the key that fits. Opened for writing, what killed processes left next to it is removed.
    package func open(path: String, writable: Bool = false) throws(FirnError) -> Database {
        if writable { AbandonedFiles.remove(beside: Paths.linkEnd(path)) }
        return try trying { (key) throws(FirnError) in try Database.open(path: path, writable: writable, key: key) }
    }

    /// What `body` gives with the key that fits the file that it opens.
    package func trying<R>(_ body: (EncryptionKey?) throws(FirnError) -> R) throws(FirnError) -> R {
        do throws(FirnError) { return try body(given) } catch {
            // Whoever names a key means that the file is sealed with it: one that somebody put in its place, in the clear, must not pass for it.
            if error.code == .notEncrypted {
                var told = error
                told.advice = "leave out --key-file; where it is for another of the files, give the key in the variable \(KeyRing.variable), as 128 hexadecimal digits"
                throw told
            }
            guard error.code == .encrypted || error.code == .wrongKey else { throw error }
            guard let ambient else {
                var told = error
                if error.code == .encrypted { told.advice = "give its key: --key-file FILE, or the variable \(KeyRing.variable)" }
                throw told
            }
            guard let key = EncryptionKey(written: ambient) else { throw KeyRing.malformed(KeyRing.variable) }
            return try body(key)
        }
    }
}
