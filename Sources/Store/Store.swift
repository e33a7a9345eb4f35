import FirnBytes
import FirnCrypto
import FirnDisk
import Synchronization

/// Versions of extents in one file: one writer at a time and any number of readers, in this and other processes.
/// A commit is durable when it returns. Safe to use from any thread.
package final class Store: @unchecked Sendable {
    static let writerLock: UInt64 = 1 << 61
    static let pinBase: UInt64 = 1 << 62
    static let knownReaderFeatures: UInt64 = ReaderFeature.allCases.reduce(0) { $0 | $1.bit }
    static let knownWriterFeatures: UInt64 = WriterFeature.allCases.reduce(0) { $0 | $1.bit }

    package let path: String
    /// The same from the root.
    package let place: String
    /// False if opened for reading, or if the file asks of writers what this version does not know.
    package let isWritable: Bool
    /// The file asks of writers what this version does not know.
    let isBeyondWriting: Bool
    /// Random, fixed at creation.
    package let identity: Hash128
    /// What is wrong, if one of the two roots does not hold: the trace of an interrupted commit, or of damage. If it was the newer one, the version
    /// before is what is read; users should be told.
    package let fellBack: Damage?

    /// What is charged with what this store's extents decode to.
    package let memory: MemoryBudget
    let file: File
    let verified: VerifiedExtents
    /// Of an encrypted file: its cipher, and what is open in memory.
    let opened: OpenedExtents?
    var cipher: ExtentCipher? { opened?.cipher }
    package var isEncrypted: Bool { opened != nil }
    /// Where the slot is that is not at 0. Changes once at most: when a file is committed alone.
    let secondOffset: Atomic<UInt64>
    /// The newest version whose root was seen in the file: an older one is no answer any more.
    let seen: Atomic<UInt64>
    /// The root that was refused at opening; seen again, it is refused again.
    let refused: Root?
    /// The newest version where the slot of its root is not whole, but leaves no doubt what it held.
    let standIn: Root?
    /// Says whether a version is whole that is found without its root.
    let check: VersionCheck?
    /// No newer version is to be looked for any more.
    var hasLookedForLost = false
    /// What was wrong with the root of a version that was restored.
    package let restored: Damage?

    // Guarded by `lock`.
    let lock = Lock()
    /// Nil: extents are copied.
    private var mapping: Mapping?
    var pinCounts: [UInt64: Pins] = [:]
    /// The medium has no locks (and the store is open for reading): pins are not taken.
    var lockless = false
    var isWriting = false
    var hasFailed = false
    /// Why.
    var failure: FirnError?
    /// Versions that the file's root does not know of yet; changed by the writer alone.
    var pending: PendingVersions?
    /// The newest version that this store made durable, and the name that leads to it.
    var durableVersion: UInt64?
    /// The one of which it says so to others.
    var toldDurable: UInt64?
    /// Threads that are about to write, and those that wait for what they wrote.
    var beginners = 0
    /// Those of them that wait for their turn, as they came: by numbers of `comers`, and how many transactions had begun.
    var line: [(number: UInt64, begun: UInt64)] = []
    var comers: UInt64 = 0
    var begun: UInt64 = 0
    var waiting = 0

    // The writer's alone, between `begin` and the end of its transaction.
    var space: SpaceState?
    var records: [(version: UInt64, ref: ExtentRef, time: Int64)] = []
    var kept = KeptHistory()
    var keptRef = ExtentRef.none
    /// Tags of the version that the file is at, while later ones are pending: a crash comes back to it.
    var durableTags: [Tag] = []
    var checkpoint: (version: UInt64, ref: ExtentRef) = (0, .none)
    /// Bytes of the commit records since the checkpoint.
    var logBytes: UInt64 = 0
    /// How long the file is.
    var length: UInt64 = 0
    /// The slot of the root that was refused holds it no more.
    var hasCleared = false
    /// Which file it is.
    var ownIdentity: FileFacts.Identity?
    /// Units that the last commit wrote, if it was small: the next one looks for as much in one piece.
    var usualUnits: UInt64 = 0
    static let mostUsualUnits: UInt64 = 1024
    /// What is given to those commits that make the file longer, and what they should not write more than.
    static let spareBytes: UInt64 = 16 << 10
    static let smallBytes: UInt64 = 24 << 10
    var replacement: Replacement?

    // MARK: Creating and opening

    /// An empty store, durable. `overwrite`: replaces what is at `path`. `atFirstCommit`: the file takes its name when the first
    /// commit is durable, and leaves nothing behind if there is none; until then only this `Store` can reach it. Such a file has no empty version to
    /// fall back to: if its first commit is damaged, it does not open.
    package static func create(
        path: String, overwrite: Bool, atFirstCommit: Bool = false, key: EncryptionKey? = nil, sources: SourceModes = .none, memory: MemoryBudget = .process,
        calls: (any DiskCalls)? = nil
    ) throws(FirnError) -> Store {
        let replacement = try Replacement(of: path, overwrite: overwrite, sources: sources, calls: calls)
        var root = Root(version: 0, end: Root.firstEnd, oldestKept: 0, time: Machine.wallNanoseconds, listsExtents: false,
                        identity: Hash128(low: Machine.random, high: Machine.random), record: .none, catalogue: .none)
        let cipher = try key.map { (key) throws(FirnError) in try ExtentCipher(key, salt: Cipher.random(Cipher.saltCount), identity: root.identity) }
        if cipher != nil { root.readerFeatures |= ReaderFeature.encryption.bit }
        try replacement.file.write(try root.encoded(sealing: cipher), at: 0)
        if !atFirstCommit { try replacement.finish() }
        let store = try Store(file: replacement.file, path: path, RootSearch.Found(root: root, cipher: cipher), isWritable: true, reading: .standard, memory)
        if atFirstCommit { store.replacement = replacement } else { store.published(0) }
        return store
    }

    /// Opens what is there, in constant time if its newest root is whole. Never writes if `writable` is false; otherwise it restores a newest root that is damaged (see
    /// `Store+Restoring`). `check`: says whether a version is whole that is found without its root. Errors `.encrypted` without the key of an encrypted file, `.wrongKey` with
    /// another's, `.notEncrypted` with a key for any other file.
    package static func open(path: String, writable: Bool, key: EncryptionKey? = nil, reading: FileReading = .standard, memory: MemoryBudget = .process, check: VersionCheck? = nil,
                             calls: (any DiskCalls)? = nil) throws(FirnError) -> Store {
        let file = try File(path: path, writable ? .readWrite : .read, calls: calls)
        guard !file.isDirectory else { throw FirnError(.notThisFormat, "it is a directory", at: .init(file: path)) }
        var found = try RootSearch(file: file, path: path, key: key).run(), restored: Damage?
        if writable, found.root.writerFeatures & ~knownWriterFeatures == 0, found.needsRestoring, let again = try restore(found, file, path, key, check) {
            (found, restored) = again
        }
        if found.root.version == 0, !found.root.isEncrypted, let why = found.why, let lost = try LostVersion(salvage: Salvage(file, path: path), base: found.root, isWhole: check).find() {
            // The file is not written here: the version is read as it was found.
            (found.root, found.why, found.isCorrected) = (lost, why, true)
        }
        if found.root.version == 0, !found.root.isEncrypted, found.why != nil, try file.read(count: Root.slotBytes, at: found.root.secondOffset).contains(where: { $0 != 0 }) {
            // A root was there, and what it led to was durable before.
            throw FirnError.damaged(path, what: "the only root of a commit is damaged, and so is what it led to: the file is not empty", byte: found.root.secondOffset)
        }
        let knowsAll = found.root.writerFeatures & ~knownWriterFeatures == 0
        return try Store(file: file, path: path, found, isWritable: writable && knowsAll, isBeyondWriting: !knowsAll, reading: reading, memory, check: check, restored: restored)
    }

    private init(file: File, path: String, _ found: RootSearch.Found, isWritable: Bool, isBeyondWriting: Bool = false, reading: FileReading, _ memory: MemoryBudget,
                 check: VersionCheck? = nil, restored: Damage? = nil) throws(FirnError) {
        let root = found.root, cipher = found.cipher
        self.file = file
        self.memory = memory
        self.path = path
        place = Paths.absolute(path)
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
        mapping = reading == .copied ? nil : Mapping.watched(file)
    }

    deinit {
        if isWritable, replacement == nil, !file.isInherited, !hasFailed, pending == nil, fellBack == nil, standIn == nil { _ = try? truncateTail() }
    }

    /// The file is the parent's of a process that was forked since: nothing of it is read or written here.
    package var isInherited: Bool { file.isInherited }

    // MARK: Roots

    /// The newest root that is whole now. Cheap: two small reads.
    func newestRoot() throws(FirnError) -> Root {
        if !isInherited, let visible = lock.withLock({ pending?.visible }) { return visible }
        for _ in 0..<100 {
            var newest: Root?
            func look(_ bytes: UnsafeRawBufferPointer, _ offset: UInt64) throws(Damage) {
                do throws(Damage) {
                    let root = try Root(slot: bytes, at: offset).unsealed(cipher)
                    guard root.identity == identity, root != refused else { return }
                    if newest == nil || root.version > newest!.version { newest = root }
                } catch { if error.isUnread { throw error } }
            }
            let second = secondOffset.load(ordering: .relaxed)
            // One read for both where they stand near each other.
            let isNear = second == 4096
            for offset in isNear ? [0] : [0, second] {
                let count = isNear ? Int(second) + Root.slotBytes : Root.slotBytes
                let bytes = try file.read(count: count, at: offset)
                do throws(Damage) {
                    try bytes.withUnsafeBytesTyped { (bytes) throws(Damage) in
                        try look(UnsafeRawBufferPointer(rebasing: bytes.prefix(Root.slotBytes)), offset)
                        if count > Root.slotBytes, bytes.count > Int(second) { try look(UnsafeRawBufferPointer(rebasing: bytes[Int(second)...]), second) }
                    }
                } catch { throw FirnError(error, in: path) }
            }
            if let standIn, newest?.version ?? 0 < standIn.version { newest = standIn }
            // A root is gone, or was just being written when it was read.
            if let newest, newest.version >= seen.load(ordering: .relaxed) {
                try Store.checkFeatures(newest, path)
                seen.max(newest.version, ordering: .relaxed)
                return newest
            }
        }
        let last = seen.load(ordering: .relaxed)
        throw FirnError.damaged(path, what: last == 0 ? "both roots are damaged" : "the root of version \(last) was there, and is damaged", byte: 0)
    }

    static func checkFeatures(_ root: Root, _ path: String) throws(FirnError) {
        if root.formatVersion != Root.format {
            throw FirnError(.unsupported, "the file has format version \(root.formatVersion), this program knows \(Root.format)", at: .init(file: path),
                            advice: "use a newer version of Firn")
        }
        let unknown = root.readerFeatures & ~knownReaderFeatures
        if unknown != 0 {
            throw FirnError(.unsupported, "the file uses feature \(unknown.trailingZeroBitCount), which this program does not know", at: .init(file: path),
                            advice: "use a newer version of Firn")
        }
    }

    /// The newest version, other processes' commits included.
    package func latestVersion() throws(FirnError) -> UInt64 { try newestRoot().version }

    // MARK: Snapshots

    /// The newest version, or a given one that is still kept (`.notFound` if it is not). It stays readable until released.
    package func snapshot(version: UInt64? = nil) throws(FirnError) -> StoreSnapshot {
        guard !isInherited else { throw file.inherited }
        while true {
            let newest = try newestRoot()
            if let version, version != newest.version { return try keptSnapshot(version) }
            try pin(newest.version)
            // The pin counts for writers that look after it was set; if the version was dropped before, begin anew.
            let now: Root
            do throws(FirnError) { now = try newestRoot() } catch {
                unpin(newest.version)
                throw error
            }
            if newest.version >= now.oldestKept { return try snapshot(pinned: newest) }
            unpin(newest.version)
        }
    }

    /// A kept version that is not the newest: found by walking the records back, under the newest one's pin.
    private func keptSnapshot(_ version: UInt64) throws(FirnError) -> StoreSnapshot {
        let gone = FirnError(.notFound, "version \(version) is not kept any more", at: .init(file: path))
        let newest = try snapshot()
        if version == newest.version { return newest }
        guard version < newest.version else { throw FirnError(.notFound, "there is no version \(version): the newest is \(newest.version)", at: .init(file: path)) }
        let tag = version < newest.root.oldestKept ? try keptHistory(of: newest).tags.first { $0.version == version } : nil
        guard tag != nil || version >= newest.root.oldestKept else { throw gone }
        try pin(version)
        do throws(FirnError) {
            // As above: whoever released it meanwhile did so in a version that is there now.
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

    /// A version that is pinned already, once more, or one that only the writer knows.
    func snapshot(pinning root: Root) throws(FirnError) -> StoreSnapshot {
        try pin(root.version)
        return try snapshot(pinned: root)
    }

    /// The same version once more.
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

    /// The present mapping, or a larger one if the file has outgrown it; nil if extents are to be copied: because that is wanted, because there is no
    /// mapping to be had, or because nobody who writes sees pins, so that what was found to hash right may change.
    func mapping(covering size: UInt64) -> Mapping? {
        lock.withLock {
            if let reach = mapping?.reach, UInt64(reach) < size { mapping = Mapping.watched(file, minimum: Int(size)) }
            return lockless ? nil : mapping
        }
    }

    /// Extents are copied, not mapped.
    package var isCopying: Bool { lock.withLock { mapping == nil || lockless } }
}
