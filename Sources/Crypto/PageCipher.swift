import CCrypto
import FirnBytes

/// Opens pages that another program encrypted with AES-256-CBC and authenticated with HMAC-SHA-224, under two keys of 32 bytes. Firn writes
/// no such pages: `Cipher` protects its own files. For one thread.
package final class PageCipher {
    /// The length of an authentication code in bytes.
    package static let tagCount = 28
    private let key: EncryptionKey

    /// - Throws: `.unsupported` if OpenSSL is not installed.
    package init(_ key: EncryptionKey) throws(FirnError) {
        guard Cipher.isAvailable else { throw Cipher.missing }
        self.key = key
    }

    /// Returns the authentication code of encrypted bytes under the second half of the key, or nil if there is not enough memory.
    package func tag(of bytes: UnsafeRawBufferPointer) -> [UInt8]? {
        var out = [UInt8](repeating: 0, count: PageCipher.tagCount)
        let second = Array(key.bytes[32...])
        guard let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return nil }
        return firn_hmac_sha224(second, second.count, start, bytes.count, &out) == 1 ? out : nil
    }

    /// Decrypts whole blocks of 16 bytes under the first half of the key. `out` must be as long as `bytes`. Returns false if there is not
    /// enough memory.
    package func open(_ bytes: UnsafeRawBufferPointer, nonce: [UInt8], into out: UnsafeMutableRawBufferPointer) -> Bool {
        trap(unless: nonce.count == 16 && bytes.count % 16 == 0 && out.count == bytes.count, "AES-CBC opens whole blocks")
        guard let from = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self),
            let to = out.baseAddress?.assumingMemoryBound(to: UInt8.self)
        else { return true }
        return firn_cbc_open(Array(key.bytes[..<32]), nonce, from, bytes.count, to) == 1
    }
}
