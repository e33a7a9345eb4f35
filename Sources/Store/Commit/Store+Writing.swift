import FirnBytes
import FirnDisk
import Synchronization

/// What the writer tracks without asking the system again: no other process changes the file while the writer holds the lock.
extension Store {
    /// The bytes that a small commit preallocates if it makes the file longer, and the most that it writes in total for that purpose.
    static let preallocatedBytes: UInt64 = 16 << 10
    static let smallCommitBytes: UInt64 = 24 << 10

    /// Records the length of the file.
    /// - Throws: `.inputOutput` if its path leads to another file or to none.
    func revalidateFile() throws(FirnError) {
        guard writer.replacement == nil else { return writer.length = try file.size() }
        if writer.identity == nil { writer.identity = try? file.identity() }
        guard let there = FileFacts(path: absolutePath), there.identity == writer.identity else { throw replaced }
        writer.length = there.size
    }

    private var replaced: FirnError {
        FirnError(.inputOutput, "the file was replaced or removed while it was open", at: .init(file: path), advice: "open the file again")
    }

    /// Checks that the path leads to the file that is open.
    /// - Throws: `.inputOutput` if its path leads to another file or to none.
    package func checkPath() throws(FirnError) {
        // A new file gets its path with its first commit.
        guard !isInherited, seen.load(ordering: .relaxed) > 0 else { return }
        let own = try file.identity()
        guard FileFacts(path: absolutePath)?.identity == own else { throw replaced }
    }

    func cut(to length: UInt64) throws(FirnError) {
        try file.truncate(to: length)
        writer.length = length
    }

    /// Preallocates space after the end of the file, unless this is the first small commit. The commits that follow then use blocks that
    /// are already allocated, in one piece, and their syncs are cheaper. Closing the file cuts off the unused part.
    func preallocate(after bytes: UInt64) throws(FirnError) {
        guard writer.usualUnits > 0 else { return }
        // Whole pages, and a small commit writes at most 24 KiB.
        let count =
            bytes > Store.smallCommitBytes
            ? Store.preallocatedBytes : min(Store.preallocatedBytes, (Store.smallCommitBytes - bytes) & ~4095)
        if count == 0 { return }
        let start = writer.length
        writer.extend(to: start + count)
        try file.write([UInt8](repeating: 0, count: Int(count)), at: start)
    }

    /// Removes the root that was rejected at opening, durably, before anything else is written. Its commit lost extents in a crash. The
    /// next commit may write the same bytes at the same offsets; if it were interrupted too, it could make the rejected version whole.
    func clearRejected() throws(FirnError) {
        guard let refused, !writer.hasClearedRejected else { return }
        let offset = refused.offset(of: refused.version), slot = try file.read(count: Root.slotBytes, at: offset)
        let there = slot.withUnsafeBytes { try? Root(slot: $0, at: offset).unsealed(cipher) }
        if there == refused {
            do throws(FirnError) {
                // A vacant slot shows that the root was removed and not damaged: no version is searched for it.
                try file.write(refused.vacantSlot, at: offset)
                try file.sync()
            } catch {
                fail(error)
                throw error
            }
        }
        writer.hasClearedRejected = true
    }

    /// Returns the newest version for the writer. Only the writer could release it, so no lock is taken for it.
    func writersSnapshot() throws(FirnError) -> StoreSnapshot {
        let newest: Root
        if let known = group.pending?.newest { newest = known } else { newest = try newestRoot() }
        try pin(newest.version, isWriters: true)
        return StoreSnapshot(
            store: self, root: newest, mapping: mapping(covering: writer.length), limit: min(writer.length, newest.end * 64))
    }
}
