import FirnBytes
import FirnCrypto
import FirnDisk
import FirnThreads
import Synchronization

/// Versions of extents in one file: one writer at a time and any number of readers, in this and other processes.
///
/// A commit with durability "full" is durable when it returns. A store can be used from any thread.
package final class Store: @unchecked Sendable {
    static let writerLock: UInt64 = 1 << 61
    static let pinBase: UInt64 = 1 << 62
    static let knownReaderFeatures: UInt64 = ReaderFeature.allCases.reduce(0) { $0 | $1.bit }
    static let knownWriterFeatures: UInt64 = WriterFeature.allCases.reduce(0) { $0 | $1.bit }

    package let path: String
    /// `path` as an absolute path.
    package let absolutePath: String
    /// False if the file was opened for reading, or if it has a writer feature that this program does not know.
    package let isWritable: Bool
    /// The file has a writer feature that this program does not know.
    let isBeyondWriting: Bool
    /// The random identity that the file got when it was created.
    package let identity: Hash128
    /// What is wrong if one of the two roots is not valid: the trace of an interrupted commit, or damage. If it was the newer root, the
    /// version before it is read; callers should report this to users.
    package let fellBack: Damage?

    /// The budget that the decoded contents of this store's extents are charged to.
    package let memory: MemoryBudget
    let file: File
    let verified: VerifiedExtents
    /// In an encrypted file: its cipher and the decrypted extents in memory.
    let opened: OpenedExtents?
    var cipher: ExtentCipher? { opened?.cipher }
    package var isEncrypted: Bool { opened != nil }
    /// The offset of the slot that is not at 0. It changes at most once, when the first commit makes an inline file.
    let secondOffset: Atomic<UInt64>
    /// The newest version whose root was seen in the file. Older roots are not accepted afterwards.
    let seen: Atomic<UInt64>
    /// The root that was rejected at opening. It is rejected whenever it is read again.
    let refused: Root?
    /// The root of the newest version if its slot is not whole but its contents could be determined.
    let standIn: Root?
    /// Tests whether a version that was found without its root is whole.
    let check: VersionCheck?
    /// What was wrong with the root of a version that was restored at opening.
    package let restored: Damage?

    let lock = Lock()
    // Guarded by `lock`.
    var readers: ReaderState
    var queue = WriterQueue()
    var group = GroupCommit()
    /// The version for which this store holds the lock that marks it as durable.
    var markedDurable: UInt64?

    /// Used only by the writer, between `begin` and the end of its transaction.
    var writer = WriterState()

    /// Whether an earlier write failed, so that no more commits are possible.
    var hasFailed: Bool { group.failure != nil }

    // MARK: Creating and opening

    /// Creates an empty, durable store. `overwrite` replaces the file at `path`.
    ///
    /// With `atFirstCommit` the file gets its name when the first commit is durable. Until then only this `Store` can reach it, and without
    /// a commit nothing remains of it. Such a file has no empty version to fall back to: if its first commit is damaged, it does not open.
    package static func create(
        path: String, overwrite: Bool, atFirstCommit: Bool = false, key: EncryptionKey? = nil, sources: SourceModes = .none,
        memory: MemoryBudget = .process,
        calls: (any DiskCalls)? = nil
    ) throws(FirnError) -> Store {
        let replacement = try Replacement(of: path, overwrite: overwrite, sources: sources, calls: calls)
        var root = Root(
            version: 0, end: Root.firstEnd, oldestKept: 0, time: Machine.wallNanoseconds, listsExtents: false,
            identity: Hash128(low: Machine.random, high: Machine.random), record: .none, catalogue: .none)
        let cipher = try key.map { (key) throws(FirnError) in
            try ExtentCipher(key, salt: Cipher.random(Cipher.saltCount), identity: root.identity)
        }
        if cipher != nil { root.readerFeatures |= ReaderFeature.encryption.bit }
        try replacement.file.write(try root.encoded(sealing: cipher), at: 0)
        if !atFirstCommit { try replacement.finish() }
        let store = try Store(
            file: replacement.file, path: path, RootSearch.Found(root: root, cipher: cipher), isWritable: true, reading: .standard, memory)
        if atFirstCommit { store.writer.replacement = replacement } else { store.published(0) }
        return store
    }

    /// Opens a file, in constant time if its newest root is whole.
    ///
    /// If `writable` is false, nothing is written; otherwise a damaged newest root is restored (see `Store+Restoring`). `check` tests
    /// whether a version that was found without its root is whole.
    /// - Throws: `.encrypted` if the file is encrypted and `key` is nil, `.wrongKey` if `key` is not its key, `.notEncrypted` if the file
    /// is not encrypted
    ///   and `key` is given, `.notThisFormat` if it is not a store, `.damaged` if it cannot be read.
    package static func open(
        path: String, writable: Bool, key: EncryptionKey? = nil, reading: FileReading = .standard, memory: MemoryBudget = .process,
        check: VersionCheck? = nil,
        calls: (any DiskCalls)? = nil
    ) throws(FirnError) -> Store {
        let file = try File(path: path, writable ? .readWrite : .read, calls: calls)
        guard !file.isDirectory else { throw FirnError(.notThisFormat, "it is a directory", at: .init(file: path)) }
        var found = try RootSearch(file: file, path: path, key: key).run(), restored: Damage?
        if writable, found.root.isWritable, found.needsRestoring,
            let again = try restore(found, file, path, key, check)
        {
            (found, restored) = again
        }
        if found.root.version == 0, !found.root.isEncrypted, let why = found.why,
            let lost = try LostVersion(salvage: Salvage(file, path: path), base: found.root, isWhole: check).find()
        {
            // The file is not written here: the version is read as it was found.
            (found.root, found.why, found.isCorrected) = (lost, why, true)
        }
        if found.root.version == 0, !found.root.isEncrypted, found.why != nil,
            try file.read(count: Root.slotBytes, at: found.root.secondOffset).contains(where: { $0 != 0 })
        {
            // The slot held a root, and what that root referred to was durable before it.
            throw FirnError.damaged(
                path, what: "the only root of a commit is damaged, and so is the data that it referred to: the file is not empty",
                byte: found.root.secondOffset)
        }
        let knowsAll = found.root.isWritable
        return try Store(
            file: file, path: path, found, isWritable: writable && knowsAll, isBeyondWriting: !knowsAll, reading: reading, memory,
            check: check, restored: restored)
    }

    private init(
        file: File, path: String, _ found: RootSearch.Found, isWritable: Bool, isBeyondWriting: Bool = false, reading: FileReading,
        _ memory: MemoryBudget,
        check: VersionCheck? = nil, restored: Damage? = nil
    ) throws(FirnError) {
        let root = found.root, cipher = found.cipher
        self.file = file
        self.memory = memory
        self.path = path
        absolutePath = Paths.absolute(path)
        refused = found.refused
        fellBack = found.why
        standIn = found.isCorrected ? root : nil
        self.check = check
        self.restored = restored
        self.isWritable = isWritable
        self.isBeyondWriting = isBeyondWriting
        opened = cipher.map(OpenedExtents.init)
        identity = root.identity
        seen = Atomic(root.version)
        secondOffset = Atomic(root.secondOffset)
        verified = try VerifiedExtents(for: file, trusting: reading == .mappedUnchecked)
        readers = ReaderState(mapping: reading == .copied ? nil : Mapping.watched(file))
    }

    deinit {
        if isWritable, writer.replacement == nil, !file.isInherited, !hasFailed, group.pending == nil, fellBack == nil, standIn == nil {
            _ = try? truncateTail()
        }
    }

    /// True in a forked child whose parent opened the file. Such a store reads and writes nothing.
    package var isInherited: Bool { file.isInherited }

    // MARK: Snapshots

    /// Returns a snapshot of the newest version, or of `version`, which must be kept or tagged. The version stays readable until the
    /// snapshot is released.
    /// - Throws: `.notFound` if `version` is not kept any more or does not exist yet.
    package func snapshot(version: UInt64? = nil) throws(FirnError) -> StoreSnapshot {
        guard !isInherited else { throw file.inherited }
        while true {
            let newest = try newestRoot()
            if let version, version != newest.version { return try keptSnapshot(version) }
            try pin(newest.version)
            // A pin is seen by writers that look after it was set. If the version was dropped before, start again.
            let now: Root
            do throws(FirnError) { now = try newestRoot() } catch {
                unpin(newest.version)
                throw error
            }
            if newest.version >= now.oldestKept { return try snapshot(pinned: newest) }
            unpin(newest.version)
        }
    }

    /// Returns a snapshot of a kept or tagged version that is not the newest. It follows the commit records back, while the newest version
    /// is pinned.
    private func keptSnapshot(_ version: UInt64) throws(FirnError) -> StoreSnapshot {
        let gone = FirnError(.notFound, "version \(version) is not kept any more", at: .init(file: path))
        let newest = try snapshot()
        if version == newest.version { return newest }
        guard version < newest.version else {
            throw FirnError(.notFound, "there is no version \(version): the newest is \(newest.version)", at: .init(file: path))
        }
        let tag = version < newest.root.oldestKept ? try keptHistory(of: newest).tags.first { $0.version == version } : nil
        guard tag != nil || version >= newest.root.oldestKept else { throw gone }
        try pin(version)
        do throws(FirnError) {
            // As in `snapshot`: a writer that released this version meanwhile has published a version that is visible now.
            if try newestRoot().oldestKept > version {
                let now = try snapshot()
                defer { now.release() }
                guard tag != nil, try keptHistory(of: now).tags.contains(where: { $0.version == version }) else { throw gone }
            }
            var root = newest.root
            root.version = 0
            root.catalogue = .none
            if let tag {
                root.catalogue = tag.catalogue
                root.time = tag.time
                root.end = tag.end
            } else if version > 0 {
                let record = try self.record(of: version, from: newest)
                root.catalogue = record.catalogue
                root.time = record.time
                root.end = record.end
                root.oldestKept = record.oldestKept
            }
            root.version = version
            return try snapshot(pinned: root)
        } catch {
            unpin(version)
            throw error
        }
    }

    /// Returns a snapshot of a version that is already pinned, or of one that only the writer knows.
    func snapshot(pinning root: Root) throws(FirnError) -> StoreSnapshot {
        try pin(root.version)
        return try snapshot(pinned: root)
    }

    /// Returns another snapshot of the same version.
    package func snapshot(like other: StoreSnapshot) throws(FirnError) -> StoreSnapshot { try snapshot(pinning: other.root) }

    private func snapshot(pinned root: Root) throws(FirnError) -> StoreSnapshot {
        do throws(FirnError) {
            let size = try file.size()
            let mapping = mapping(covering: size)
            return StoreSnapshot(store: self, root: root, mapping: mapping, limit: min(size, root.end * 64))
        } catch {
            unpin(root.version)
            throw error
        }
    }

    /// Returns the current mapping, or a larger one if the file has outgrown it. Returns nil if extents are to be copied.
    func mapping(covering size: UInt64) -> Mapping? { lock.withLock { readers.mapping(of: file, covering: size) } }

    /// Whether extents are copied instead of mapped.
    package var isCopying: Bool { lock.withLock { readers.isCopying } }
}
