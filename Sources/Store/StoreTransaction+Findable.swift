import FirnBytes
import FirnDisk

/// Extents that are found by looking through a file whose end is lost (`docs/format/model.md`, "Proof").
extension StoreTransaction {
    /// The identity of the file, if this is its first commit, the file has no name yet and is not encrypted. What such a commit leaves in the file is what it committed:
    /// no transaction that was given up came before it.
    package var identityOfNewFile: Hash128? { base.version == 0 && store.replacement != nil && !store.isEncrypted ? store.identity : nil }

    /// Writes an extent that proves itself, after every other extent of the file: what it refers to is in the file if it is. It is made unreadable if it is freed before the commit:
    /// only what was committed may be found.
    package func writeFindable(_ bytes: [UInt8]) throws(FirnError) -> ExtentRef {
        let usual = lock.withLock { () -> Placing in
            defer { placing = .last }
            return placing
        }
        defer { lock.withLock { placing = usual } }
        let ref = try write(bytes)
        lock.withLock { _ = findable.insert(ref.offset / 64) }
        return ref
    }

    /// The lock is held. What waits in memory never comes to be in the file.
    func wipe(_ ref: ExtentRef) {
        guard let entry = written[ref.offset / 64], entry.buffer == nil else { return }
        do throws(FirnError) { try store.file.write([UInt8](repeating: 0, count: Int(min(ref.length, 64))), at: ref.offset) } catch { fail(error) }
    }
}
