import FirnBytes
import FirnDisk

/// A damaged newest root is rewritten before anything else is written. Otherwise the next commit would overwrite the version that it
/// referred to, which was acknowledged. See docs/format/store.md, "A root that is damaged".
extension Store {
    /// Restores the newest root of a file that is being opened for writing. Returns nil if another process is writing: that process
    /// restores the root.
    static func restore(_ found: RootSearch.Found, _ file: File, _ path: String, _ key: EncryptionKey?, _ check: VersionCheck?)
        throws(FirnError) -> (RootSearch.Found, Damage?)?
    {
        guard (try? file.lock(.exclusive, at: writerLock)) ?? false else { return nil }
        defer { file.unlock(at: writerLock) }
        // A writer that had the lock before may have restored it.
        let now = try RootSearch(file: file, path: path, key: key).run()
        guard now.needsRestoring, let root = try rootToRestore(now, file, path, check) else { return (now, nil) }
        try write(root, file, now.cipher)
        return (
            try RootSearch(file: file, path: path, key: key).run(),
            now.why ?? Damage("one bit of the root was wrong", inFileAt: root.offset(of: root.version))
        )
    }

    /// Restores the newest root of a file that was opened for writing earlier, or that another process wrote meanwhile. The caller holds
    /// the write lock.
    func restoreNewest() throws(FirnError) {
        guard standIn != nil || fellBack != nil, refused == nil, !writer.hasLookedForLost, group.pending == nil else { return }
        let now = try RootSearch(file: file, path: path, key: nil, known: cipher).run()
        if now.needsRestoring, let root = try Store.rootToRestore(now, file, path, check) { try Store.write(root, file, cipher) }
        writer.hasLookedForLost = true
    }

    private static func rootToRestore(_ found: RootSearch.Found, _ file: File, _ path: String, _ check: VersionCheck?) throws(FirnError)
        -> Root?
    {
        if found.isCorrected { return found.root }
        return found.root.isEncrypted ? nil : try LostVersion(salvage: Salvage(file, path: path), base: found.root, isWhole: check).find()
    }

    private static func write(_ root: Root, _ file: File, _ cipher: ExtentCipher?) throws(FirnError) {
        try file.write(try root.encoded(sealing: cipher), at: root.offset(of: root.version))
        try file.sync()
    }
}

extension RootSearch.Found {
    /// The newest version may have a root that is not whole. A root that was rejected is whole: its commit never became durable.
    var needsRestoring: Bool { isCorrected || (why != nil && refused == nil) }
}
