import FirnBytes
import FirnDisk

/// Determines whether the version that a writer begins from is on the medium, or only in the system's cache.
///
/// A program that was stopped between its root and the sync, or whose sync failed, leaves a root that all other processes see. The next
/// commit overwrites the root before that one. If its own root reached the medium before the extents of the version it follows, no whole
/// version would remain.
extension Store {
    /// Byte `durableBase` + v is locked by a store that has made version v durable, until it is closed or a version that does not follow v
    /// becomes durable. The lock is a hint: a writer that does not find it repeats the syncs.
    static let durableBase: UInt64 = 1 << 60

    /// Takes the lock that shows other processes that a version is durable.
    func markDurable(_ version: UInt64) {
        // The lock of the next version is merged by the system with the one before.
        if let markedDurable, markedDurable + 1 != version { file.unlock(at: Store.durableBase, count: ExtentRef.maximumVersion) }
        markedDurable = (try? file.lock(.shared, at: Store.durableBase + version)) ?? false ? version : nil
    }

    func isKnownDurable(_ root: Root) throws(FirnError) -> Bool {
        if lock.withLock({ group.durableVersion == root.version }) { return true }
        return try file.firstConflict(in: Store.durableBase + root.version..<Store.durableBase + root.version + 1) != nil
    }

    /// Makes the newest version of the file durable, whichever process wrote it, and the name of the file.
    func makeDurable() throws(FirnError) {
        try file.sync()
        try Paths.syncDirectory(of: Paths.linkEnd(absolutePath), ifAllowed: true)
    }

    /// Writes a commit whose root is visible once more, byte for byte, after its sync failed. The system may count pages as written that
    /// are not, and the next sync could then succeed although they are missing; after this rewrite, it covers these pages too. The commit
    /// was not acknowledged, so it may be torn. What cannot be read or written here was lost before.
    func renew(_ root: Root) {
        var extents: [(ref: ExtentRef, bytes: [UInt8])] = []
        do {
            // If the record lists nothing, everything except the root was synced before the root was written.
            if root.listsExtents {
                let (bytes, record) = try stored(root.record) { (bytes) throws(Damage) in try CommitRecord(bytes) }
                extents.append((root.record, bytes))
                for ref in record.listed where ref != root.record { extents.append((ref, try stored(ref) { _ in }.bytes)) }
            }
            for (ref, bytes) in extents { try file.write(bytes, at: ref.offset) }
            let offset = root.offset(of: root.version)
            try file.write(try file.read(count: try root.encoded(sealing: cipher).count, at: offset), at: offset)
        } catch {}
    }

    /// Returns the bytes of an extent as they are stored, after checking them against the reference, and the result of `body` for its
    /// contents.
    private func stored<R>(_ ref: ExtentRef, _ body: (UnsafeRawBufferPointer) throws(Damage) -> R) throws(Damage) -> (bytes: [UInt8], R) {
        guard ref.offset >= UInt64(Root.slotBytes), ref.length <= writer.length, ref.offset <= writer.length - ref.length else {
            throw Damage("reference to bytes outside the file", inFileAt: ref.offset)
        }
        let bytes = try file.copy(ref, isSealed: cipher != nil)
        defer { File.giveBack(bytes) }
        guard let opened = try cipher?.open(bytes, ref) else { return (Array(bytes), try body(bytes)) }
        return try withExtendedLifetime(opened) { () throws(Damage) in (Array(bytes), try body(opened.bytes)) }
    }
}
