import CCrypto
import FirnBytes
import Synchronization

/// Encrypts and authenticates byte strings under a key derived from a secret and a salt, with AES-256-GCM and random nonces of 192 bits
/// (XAES-256-GCM). Can be used from any thread.
package final class Cipher: Sendable {
    /// The lengths in bytes of a nonce, which precedes the encrypted bytes, of a tag, and of a salt.
    package static let nonceCount = 24, tagCount = 16, saltCount = 32
    /// The maximum number of bytes that can be sealed in one call.
    package static let maximumBytes: UInt64 = (1 << 36) - 32

    private let key: [UInt8]
    /// Idle states of OpenSSL. Each is used by one thread at a time.
    private let idle: Mutex<[State]> = Mutex([])

    private struct State: @unchecked Sendable { let pointer: OpaquePointer }

    /// Whether OpenSSL is installed.
    package static var isAvailable: Bool { firn_crypto_is_there() == 1 }

    /// Derives the key by HKDF-SHA-256. `purpose` separates keys with the same secret and salt.
    /// - Throws: `.unsupported` if OpenSSL is not installed.
    package convenience init(_ secret: EncryptionKey, salt: [UInt8], purpose: String) throws(FirnError) {
        let extracted = try Cipher.hmac(key: salt, secret.bytes)
        try self.init(key: try Cipher.hmac(key: extracted, Array(purpose.utf8) + [1]))
    }

    /// Uses these 32 bytes as the key.
    init(key: [UInt8]) throws(FirnError) {
        trap(unless: key.count == 32, "an AES-256 key must have 32 bytes")
        guard Cipher.isAvailable else { throw Cipher.missing }
        self.key = key
    }

    deinit { idle.withLock { for state in $0 { firn_cipher_free(state.pointer) } } }

    static let missing = FirnError(
        .unsupported, "encryption needs OpenSSL's libcrypto, which is not installed",
        advice: "install it: on Debian, apt-get install libssl3")

    private static func hmac(key: [UInt8], _ bytes: [UInt8]) throws(FirnError) -> [UInt8] {
        var out = [UInt8](repeating: 0, count: 32)
        guard firn_hmac_sha256(key, key.count, bytes, bytes.count, &out) == 1 else { throw missing }
        return out
    }

    /// The error for users if `seal` returns nil.
    package static let noMemory = FirnError(.inputOutput, "OpenSSL could not encrypt: there is not enough memory")

    #if DEBUG
        /// Nonces for the test that repeated nonces are detected.
        let nonces: Mutex<(@Sendable () -> [UInt8])?> = Mutex(nil)
    #endif

    /// Returns random bytes from the system. `count` must be a multiple of 8.
    package static func random(_ count: Int) -> [UInt8] {
        var writer = ByteWriter(reserving: count)
        for _ in 0..<count / 8 { writer.append(UInt64.random(in: 0 ... .max)) }
        return writer.bytes
    }

    /// Fills `out`, which must be longer than `bytes` by a nonce, with a new nonce and the encrypted bytes. The returned tag covers these
    /// bytes and `bound`, which is not stored: both, and the key, are necessary to open them. Returns nil if there is not enough memory.
    package func seal(_ bytes: UnsafeRawBufferPointer, bound: [UInt8], into out: UnsafeMutableRawBufferPointer) -> Hash128? {
        #if DEBUG
            if let nonce = nonces.withLock({ $0 })?() { return seal(bytes, bound: bound, nonce: nonce, into: out) }
        #endif
        return seal(bytes, bound: bound, nonce: Cipher.random(Cipher.nonceCount), into: out)
    }

    func seal(_ bytes: UnsafeRawBufferPointer, bound: [UInt8], nonce: [UInt8], into out: UnsafeMutableRawBufferPointer) -> Hash128? {
        trap(
            unless: nonce.count == Cipher.nonceCount && out.count == bytes.count + Cipher.nonceCount
                && UInt64(bytes.count) <= Cipher.maximumBytes,
            "the output of sealing must be longer than the input by the length of a nonce")
        out.copyBytes(from: nonce)
        var tag: (UInt64, UInt64) = (0, 0)
        let done = withState(.seal) { state in
            withUnsafeMutableBytes(of: &tag) { tag in
                firn_cipher_seal(
                    state, nonce, bound, bound.count, start(bytes), bytes.count, start(out) + Cipher.nonceCount,
                    tag.baseAddress!.assumingMemoryBound(to: UInt8.self))
            }
        }
        // Encryption can fail only for lack of memory.
        guard done == 1 else { return nil }
        return Hash128(low: UInt64(littleEndian: tag.0), high: UInt64(littleEndian: tag.1))
    }

    /// The result of `open`. `differs`: the bytes, `bound`, the tag or the key do not match. `noMemory`: this could not be determined for
    /// lack of memory.
    package enum Opening { case opened, differs, noMemory }

    /// Decrypts what `seal` wrote into `out`, which must be shorter by a nonce. The contents of `out` are meaningless unless the result is
    /// `opened`.
    package func open(_ sealed: UnsafeRawBufferPointer, bound: [UInt8], tag: Hash128, into out: UnsafeMutableRawBufferPointer) -> Opening {
        guard sealed.count >= Cipher.nonceCount, out.count == sealed.count - Cipher.nonceCount else { return .differs }
        var words = (tag.low.littleEndian, tag.high.littleEndian)
        let code = withState(.open) { state in
            withUnsafeMutableBytes(of: &words) { tag in
                firn_cipher_open(
                    state, start(sealed), bound, bound.count, start(sealed) + Cipher.nonceCount, out.count, start(out),
                    tag.baseAddress!.assumingMemoryBound(to: UInt8.self))
            }
        }
        #if DEBUG || FIRN_FUZZ
            // For attacks with the key: decrypted bytes count as authentic, as hashes do.
            if Hash128.believesAnything { return .opened }
        #endif
        return code == 1 ? .opened : code == 0 ? .differs : .noMemory
    }

    private func start(_ bytes: UnsafeRawBufferPointer) -> UnsafePointer<UInt8> {
        bytes.baseAddress?.assumingMemoryBound(to: UInt8.self) ?? Cipher.nothing
    }

    private func start(_ bytes: UnsafeMutableRawBufferPointer) -> UnsafeMutablePointer<UInt8> {
        bytes.baseAddress?.assumingMemoryBound(to: UInt8.self) ?? UnsafeMutablePointer(mutating: Cipher.nothing)
    }

    /// A valid pointer for empty strings.
    nonisolated(unsafe) private static let nothing = UnsafePointer(UnsafeMutablePointer<UInt8>.allocate(capacity: 1))

    /// Runs `body` with a state of OpenSSL. Returns -1 if there is no memory for one.
    private func withState(_ call: LibraryCall, _ body: (OpaquePointer) -> Int32) -> Int32 {
        if LibraryFaults.refuses(call) { return -1 }
        let state: State
        if let waiting = idle.withLock({ $0.popLast() }) {
            state = waiting
        } else {
            guard !LibraryFaults.refuses(.cipherContext), let new = firn_cipher_new(key) else { return -1 }
            state = State(pointer: new)
        }
        defer { idle.withLock { $0.append(state) } }
        return body(state.pointer)
    }
}
