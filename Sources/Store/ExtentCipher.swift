import FirnBytes
import FirnCrypto

/// Seals the extents and roots of one encrypted file, and opens them (docs/format/store.md, "Encrypted files").
final class ExtentCipher: Sendable {
    /// Random, fixed at creation.
    let salt: [UInt8]
    private let identity: Hash128
    let cipher: Cipher
    /// How much longer an extent is than what it holds.
    static let overhead = Cipher.nonceCount
    private static let tag: UInt32 = 0x3154_5845       // "EXT1"

    init(_ key: EncryptionKey, salt: [UInt8], identity: Hash128) throws(FirnError) {
        self.salt = salt
        self.identity = identity
        cipher = try Cipher(key, salt: salt, purpose: "firn 1")
    }

    /// What an extent's tag stands for besides its bytes: the file, the place, the stored length, the birth.
    private func bound(_ offset: UInt64, _ length: UInt64, _ birth: UInt64) -> [UInt8] {
        var writer = ByteWriter(reserving: 44)
        writer.append(ExtentCipher.tag)
        writer.append(identity)
        writer.append(offset)
        writer.append(length)
        writer.append(birth)
        return writer.bytes
    }

    /// Seals an extent; `out` is `overhead` bytes longer. Returns its reference, whose hash is the tag.
    func seal(_ bytes: UnsafeRawBufferPointer, at offset: UInt64, birth: UInt64, into out: UnsafeMutableRawBufferPointer) throws(FirnError) -> ExtentRef {
        let length = UInt64(out.count)
        guard let tag = cipher.seal(bytes, bound: bound(offset, length, birth), into: out) else { throw Cipher.noMemory }
        return ExtentRef(offset: offset, length: length, birth: birth, hash: tag)
    }

    /// What an extent holds, in memory of its own.
    func open(_ sealed: UnsafeRawBufferPointer, _ ref: ExtentRef) throws(Damage) -> OpenedExtent {
        guard sealed.count >= ExtentCipher.overhead else { throw Damage("an encrypted extent has no room for its nonce", inFileAt: ref.offset) }
        let opened = OpenedExtent(count: sealed.count - ExtentCipher.overhead)
        switch cipher.open(sealed, bound: bound(ref.offset, ref.length, ref.birth), tag: ref.hash, into: opened.place) {
        case .opened: return opened
        case .differs: throw Damage("stored bytes are not those that were encrypted", inFileAt: ref.offset)
        case .noMemory: throw ExtentCipher.noMemory.shifted(by: ref.offset)
        }
    }

    private static let noMemory = Damage("OpenSSL could not decrypt: there is no memory for it", isUnread: true)

    // MARK: Roots

    /// `bytes` behind a new nonce, and the tag that stands for them and for `bound`.
    func seal(root bytes: [UInt8], bound: [UInt8]) throws(FirnError) -> [UInt8] {
        var out = [UInt8](repeating: 0, count: bytes.count + ExtentCipher.overhead)
        guard let tag = bytes.withUnsafeBytes({ bytes in out.withUnsafeMutableBytes { cipher.seal(bytes, bound: bound, into: $0) } }) else { throw Cipher.noMemory }
        var writer = ByteWriter(reserving: out.count + Cipher.tagCount)
        writer.append(contentsOf: out)
        writer.append(tag)
        return writer.bytes
    }

    /// nil if it is not what was sealed with this key.
    func open(root sealed: [UInt8], bound: [UInt8], tag: Hash128) throws(Damage) -> [UInt8]? {
        var out = [UInt8](repeating: 0, count: sealed.count - ExtentCipher.overhead)
        switch sealed.withUnsafeBytes({ sealed in out.withUnsafeMutableBytes { cipher.open(sealed, bound: bound, tag: tag, into: $0) } }) {
        case .opened: return out
        case .differs: return nil
        case .noMemory: throw ExtentCipher.noMemory
        }
    }
}

/// What an encrypted extent holds, in memory, as long as somebody holds it.
final class OpenedExtent: @unchecked Sendable {
    /// Written before anybody else sees it.
    fileprivate let place: UnsafeMutableRawBufferPointer
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(place) }

    fileprivate init(count: Int) {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: max(count, 1), alignment: 16)
        place = UnsafeMutableRawBufferPointer(rebasing: memory[..<count])
    }

    deinit { UnsafeMutableRawPointer(place.baseAddress)?.deallocate() }
}
