import FirnBytes
import FirnDisk

/// Extents that recovery finds by a search through a file whose end is lost (`docs/format/model.md`, "Proof").
extension StoreTransaction {
    /// The identity of the file, if this is its first commit, the file has no name yet and is not encrypted. Everything that is found in
    /// such a file was committed, because no cancelled transaction preceded it.
    package var identityOfNewFile: Hash128? {
        base.version == 0 && store.writer.replacement != nil && !store.isEncrypted ? store.identity : nil
    }

    /// Writes an extent with a proof after every other extent of the file, so everything that it refers to is in the file if it is. If it
    /// is freed before the commit, it is made unreadable: only committed extents may be found.
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

    /// Overwrites the beginning of an extent that is in the file already. Buffered extents need no overwriting. The lock must be held.
    func wipe(_ ref: ExtentRef) {
        guard let entry = written[ref.offset / 64], entry.buffer == nil else { return }
        do throws(FirnError) { try store.file.write([UInt8](repeating: 0, count: Int(min(ref.length, 64))), at: ref.offset) } catch {
            fail(error)
        }
    }
}
