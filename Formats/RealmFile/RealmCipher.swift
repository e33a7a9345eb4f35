import FirnBytes
import FirnCrypto

/// Decrypts the pages of an encrypted file. A block of the file is a page of metadata, with an entry for each of the 64 data pages after it.
struct RealmCipher {
    private static let pageBytes = RealmPages.pageBytes
    private static let pagesOfBlock = 64
    private static let entryBytes = 64

    /// The number of bytes after decryption.
    let count: Int
    let sealed: RealmBytes
    private let cipher: PageCipher

    /// - Throws: `.unsupported` if OpenSSL is not installed.
    init(_ sealed: RealmBytes, _ key: EncryptionKey) throws(FirnError) {
        self.sealed = sealed
        cipher = try PageCipher(key)
        let pages = sealed.count / RealmCipher.pageBytes
        // The last block can be short. Its metadata page comes first.
        let metadata = (pages + RealmCipher.pagesOfBlock) / (RealmCipher.pagesOfBlock + 1)
        count = (pages - metadata) * RealmCipher.pageBytes
    }

    /// Returns the offset in the file of a byte of the decrypted contents.
    static func fileOffset(of offset: UInt64) -> UInt64 {
        let (pages, _) = (offset / UInt64(pageBytes * pagesOfBlock)).addingReportingOverflow(1)
        let (sum, overflow) = offset.addingReportingOverflow(pages.multipliedReportingOverflow(by: UInt64(pageBytes)).partialValue)
        return overflow ? offset : sum
    }

    /// Decrypts a page. A page that was never written is zeros.
    /// - Throws: `Damage` at an offset of the decrypted contents, if the page is not authentic.
    func open(_ page: Int, into out: UnsafeMutableRawBufferPointer) throws(Damage) {
        let position = page * RealmCipher.pageBytes, block = page / RealmCipher.pagesOfBlock
        let entry = try sealed.pointer(
            block * (RealmCipher.pagesOfBlock + 1) * RealmCipher.pageBytes + page % RealmCipher.pagesOfBlock * RealmCipher.entryBytes,
            RealmCipher.entryBytes)
        let bytes = UnsafeRawBufferPointer(
            start: try sealed.pointer(position + RealmCipher.pageBytes * (block + 1), RealmCipher.pageBytes), count: RealmCipher.pageBytes)
        func word(_ offset: Int) -> UInt32 { UInt32(littleEndian: entry.loadUnaligned(fromByteOffset: offset, as: UInt32.self)) }
        func isAuthentic(_ tag: [UInt8], _ offset: Int) -> Bool {
            UnsafeRawBufferPointer(start: entry + offset, count: PageCipher.tagCount).elementsEqual(tag)
        }
        guard word(0) != 0 else { return RealmCipher.clear(out) }
        guard let tag = cipher.tag(of: bytes) else { throw Damage("OpenSSL could not authenticate a page", at: position, isUnread: true) }
        let number: UInt32
        if isAuthentic(tag, 4) {
            number = word(0)
        } else if word(32) != 0, isAuthentic(tag, 36) {
            // The write of the page was interrupted: the old page is still there.
            number = word(32)
        } else if bytes.allSatisfy({ $0 == 0 }) {
            return RealmCipher.clear(out)
        } else {
            throw Damage(RealmCipher.unauthentic, at: position)
        }
        var nonce = [UInt8](repeating: 0, count: 16)
        for i in 0..<4 { nonce[i] = UInt8(truncatingIfNeeded: number >> UInt32(8 * i)) }
        for i in 0..<8 { nonce[4 + i] = UInt8(truncatingIfNeeded: UInt64(position) >> UInt64(8 * i)) }
        guard cipher.open(bytes, nonce: nonce, into: out) else {
            throw Damage("OpenSSL could not decrypt a page", at: position, isUnread: true)
        }
    }

    private static func clear(_ out: UnsafeMutableRawBufferPointer) { for i in out.indices { out[i] = 0 } }

    static let unauthentic = "an encrypted page does not match its authentication code"
}
