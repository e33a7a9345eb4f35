import FirnBytes
import FirnCrypto

/// Encrypts and decrypts the extents and roots of one encrypted file (docs/format/store.md, "Encrypted files").
final class ExtentCipher: Sendable {
    /// The random salt that the file got when it was created.
    let salt: [UInt8]
    private let identity: Hash128
    let cipher: Cipher
    /// The difference in bytes between the stored length of an extent and the length of its contents.
    static let overhead = Cipher.nonceCount
    private static let tag: UInt32 = 0x3154_5845  // "EXT1"

    init(_ key: EncryptionKey, salt: [UInt8], identity: Hash128) throws(FirnError) {
        self.salt = salt
        self.identity = identity
        cipher = try Cipher(key, salt: salt, purpose: "firn 1")
    }

    /// The additional data that the tag of an extent covers: the file, the offset, the stored length and the birth.
    private func bound(_ offset: UInt64, _ length: UInt64, _ birth: UInt64) -> [UInt8] {
        var writer = ByteWriter(reserving: 44)
        writer.append(ExtentCipher.tag)
        writer.append(identity)
        writer.append(offset)
        writer.append(length)
        writer.append(birth)
        return writer.bytes
    }

    /// Seals an extent into `out`, which must be `overhead` bytes longer. Returns the reference of the extent, with the tag in place of the
    /// hash.
    func seal(_ bytes: UnsafeRawBufferPointer, at offset: UInt64, birth: UInt64, into out: UnsafeMutableRawBufferPointer) throws(FirnError)
        -> ExtentRef
    {
        let length = UInt64(out.count)
        guard let tag = cipher.seal(bytes, bound: bound(offset, length, birth), into: out) else { throw Cipher.noMemory }
        return ExtentRef(offset: offset, length: length, birth: birth, hash: tag)
    }

    /// Returns the contents of an extent in newly allocated memory.
    func open(_ sealed: UnsafeRawBufferPointer, _ ref: ExtentRef) throws(Damage) -> OpenedExtent {
        guard sealed.count >= ExtentCipher.overhead else {
            throw Damage("an encrypted extent is too short for its nonce", inFileAt: ref.offset)
        }
        let opened = OpenedExtent(count: sealed.count - ExtentCipher.overhead)
        switch cipher.open(sealed, bound: bound(ref.offset, ref.length, ref.birth), tag: ref.hash, into: opened.buffer) {
        case .opened: return opened
        case .differs: throw Damage("stored bytes do not match their authentication tag", inFileAt: ref.offset)
        case .noMemory: throw ExtentCipher.noMemory.shifted(by: ref.offset)
        }
    }

    private static let noMemory = Damage("OpenSSL could not decrypt: there is not enough memory", isUnread: true)

    // MARK: Roots

    /// Returns a new nonce, the encrypted `bytes`, and the tag that covers them and `bound`.
    func seal(root bytes: [UInt8], bound: [UInt8]) throws(FirnError) -> [UInt8] {
        var out = [UInt8](repeating: 0, count: bytes.count + ExtentCipher.overhead)
        guard let tag = bytes.withUnsafeBytes({ bytes in out.withUnsafeMutableBytes { cipher.seal(bytes, bound: bound, into: $0) } }) else {
            throw Cipher.noMemory
        }
        var writer = ByteWriter(reserving: out.count + Cipher.tagCount)
        writer.append(contentsOf: out)
        writer.append(tag)
        return writer.bytes
    }

    /// Returns the contents, or nil if the bytes were not sealed with this key.
    func open(root sealed: [UInt8], bound: [UInt8], tag: Hash128) throws(Damage) -> [UInt8]? {
        var out = [UInt8](repeating: 0, count: sealed.count - ExtentCipher.overhead)
        switch sealed.withUnsafeBytes({ sealed in out.withUnsafeMutableBytes { cipher.open(sealed, bound: bound, tag: tag, into: $0) } }) {
        case .opened: return out
        case .differs: return nil
        case .noMemory: throw ExtentCipher.noMemory
        }
    }
}

/// The decrypted contents of an extent, in memory as long as the object lives.
final class OpenedExtent: @unchecked Sendable {
    /// Written before other threads see the object.
    fileprivate let buffer: UnsafeMutableRawBufferPointer
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(buffer) }

    fileprivate init(count: Int) {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: max(count, 1), alignment: 16)
        buffer = UnsafeMutableRawBufferPointer(rebasing: memory[..<count])
    }

    deinit { UnsafeMutableRawPointer(buffer.baseAddress)?.deallocate() }
}
