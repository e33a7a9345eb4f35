// The root of an encrypted file has 320 bytes. See docs/format/store.md, "Encrypted files".
//
//   as in other files, but time 0, record "unit 8", catalogue none · salt 32 · nonce 24 · sealed 72: time 8, record 32, catalogue 32 · tag
// 16 · hash 16

import FirnBytes
import FirnCrypto

/// The part of a root that only the key opens.
struct RootSeal: Equatable {
    static let rootLength = 320
    /// The bytes of the root that the tag also covers: everything before the nonce.
    static let boundCount = 192
    private static let sealedCount = 72
    /// The reference in place of the record. With it, programs that do not know the feature find a whole root and reject it by its feature
    /// bit.
    static let placeholder = ExtentRef(offset: 512, length: 0, birth: 0, hash: Hash128(low: 0, high: 0))

    let salt: [UInt8]
    private let bound: [UInt8]
    private let sealed: [UInt8]
    private let tag: Hash128

    /// `slot` has at least `rootLength` bytes of a root with a valid hash.
    init(slot: UnsafeRawBufferPointer) throws(Damage) {
        var reader = ByteReader(slot, at: RootSeal.boundCount - Cipher.saltCount)
        salt = Array(try reader.read(count: Cipher.saltCount))
        bound = Array(slot[..<RootSeal.boundCount])
        sealed = Array(try reader.read(count: Cipher.nonceCount + RootSeal.sealedCount))
        tag = try reader.readHash()
    }

    fileprivate func open(_ cipher: ExtentCipher) throws(Damage) -> [UInt8]? {
        cipher.salt == salt ? try cipher.open(root: sealed, bound: bound, tag: tag) : nil
    }
}

extension Root {
    var isEncrypted: Bool { readerFeatures & ReaderFeature.encryption.bit != 0 }

    /// Returns the bytes of the slot, sealed if the file is encrypted. Each call uses a new nonce.
    func encoded(sealing cipher: ExtentCipher?) throws(FirnError) -> [UInt8] {
        guard let cipher else { return encoded() }
        trap(unless: isEncrypted && secondSlot == 0, "the root of an encrypted file must have the encryption bit and no second slot")
        var inner = ByteWriter(reserving: 72)
        inner.append(time)
        record.encode(to: &inner)
        catalogue.encode(to: &inner)
        var open = self
        open.time = 0
        open.record = version == 0 ? .none : RootSeal.placeholder
        open.catalogue = .none
        var writer = ByteWriter(reserving: Root.slotBytes)
        open.encodeFields(length: RootSeal.rootLength, to: &writer)
        writer.append(contentsOf: cipher.salt)
        let bound = writer.bytes
        writer.append(contentsOf: try cipher.seal(root: inner.bytes, bound: bound))
        writer.append(Hash128(of: writer.bytes))
        writer.bytes += repeatElement(0, count: Root.slotBytes - writer.count)
        return writer.bytes
    }

    /// Returns the root with its sealed fields. Throws `Damage` if the cipher does not open it, or if there is a cipher and the root is not
    /// encrypted.
    func unsealed(_ cipher: ExtentCipher?) throws(Damage) -> Root {
        guard let seal else {
            guard cipher == nil else { throw Damage("a root that is not encrypted, in an encrypted file") }
            return self
        }
        guard let cipher, let bytes = try seal.open(cipher) else { throw Damage("the root cannot be opened with this key") }
        var root = self
        root.seal = nil
        try bytes.withBytes { (bytes) throws(Damage) in
            var reader = ByteReader(bytes)
            root.time = try reader.read()
            root.record = try ExtentRef(from: &reader)
            root.catalogue = try ExtentRef(from: &reader)
        }
        guard root.record.isNone == (version == 0) else { throw Damage("fields of the root contradict each other", at: 32) }
        return root
    }
}
