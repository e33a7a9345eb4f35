import FirnBytes
import FirnCodecs
import FirnDisk
import FirnStore
import Synchronization

/// One `.firn` file. Any number of snapshots and, one at a time across processes, a transaction. Usable from any thread.
package final class Database: Sendable {
    let store: Store
    package let path: String
    /// Which versions commits of this object keep; nil: those that the file says.
    let keep: Retention?
    /// What the file is to say, from the next commit on; nil: what it does.
    let lasting: Retention?
    /// The rows of types with a key, by key, as far as look-ups were worth it.
    package let keys = KeyIndexes()
    /// What was read so far, for tests.
    package let counts = ReadCounts()

    /// The newest version that somebody holds, if anybody does, and what the last commit of this process left in memory.
    private struct Recent {
        weak var owner: CoreOwner?
        var version: UInt64 = 0
        var open: OpenRows?
    }
    private let recent: Mutex<Recent> = Mutex(Recent())

    /// The key of an encrypted file.
    package let key: EncryptionKey?
    package var memory: MemoryBudget { store.memory }

    private init(_ store: Store, path: String, keep: Int?, lasting: Retention?, key: EncryptionKey?) {
        self.store = store
        self.key = key
        self.path = path
        self.keep = keep.map { Retention(versions: $0) }
        self.lasting = lasting
    }

    /// A new file without types. Fails if the file exists, unless `overwrite`. `atFirstCommit`: there is no file until the first transaction is
    /// committed, and if that is damaged later, no empty file is seen in its place; where it holds little, the file is a root and one extent.
    /// `key`: the file is encrypted with it. `sources`: the files that it is made from; the new file has no more permissions than they have.
    /// `memory` is charged with what is read of the file.
    package static func create(path: String, overwrite: Bool = false, atFirstCommit: Bool = false, keep: Int? = nil, retention: Retention? = nil,
                               key: EncryptionKey? = nil, sources: SourceModes = .none, memory: MemoryBudget = .process) throws(FirnError) -> Database {
        let store = try Store.create(path: path, overwrite: overwrite, atFirstCommit: atFirstCommit, key: key, sources: sources, memory: memory)
        return Database(store, path: path, keep: keep, lasting: retention, key: key)
    }

    deinit { try? store.settle() }

    /// Makes durable what was committed without that.
    package func settle() throws(FirnError) { try store.settle() }

    /// What is wrong, if one of the file's two roots does not hold: an interrupted commit, or damage. The version read may not be the last one: tell users.
    package var fallback: Damage? { store.fellBack }

    /// What was wrong with the root of the newest version, which was restored when the file was opened for writing.
    package var restored: Damage? { store.restored }

    /// What is wrong with a root without which nothing is missing.
    package func rootNotice() throws(FirnError) -> Damage? { try store.rootNotice() }

    /// `retention`: what the file says of the versions to keep, from the next commit on.
    /// - Complexity: O(1), whatever the size of the file.
    package static func open(path: String, writable: Bool = false, keep: Int? = nil, retention: Retention? = nil, key: EncryptionKey? = nil,
                             reading: FileReading = .standard, memory: MemoryBudget = .process) throws(FirnError) -> Database {
        Database(try Store.open(path: path, writable: writable, key: key, reading: reading, memory: memory, check: isWhole), path: path, keep: keep, lasting: retention, key: key)
    }

    /// Every hash of a version that is found without its root.
    private static let isWhole: VersionCheck = { source, catalogue in
        guard let core = try? SnapshotCore(source, catalogueRef: catalogue) else { return false }
        defer { core.close() }
        return core.verify(full: false).isEmpty
    }

    /// It was opened by the process that this one was forked from: it is of no use here.
    package var isInherited: Bool { store.isInherited }

    /// Pins a version, the newest if none is given: it stays as it is, for any thread, until the last reference goes.
    package func snapshot(version: UInt64? = nil) throws(FirnError) -> DatabaseSnapshot {
        let pinned = try store.snapshot(version: version)
        do throws(Damage) { return DatabaseSnapshot(pinned, try core(of: pinned), path: path, key: key, keys: keys) } catch { throw failure(error) }
    }

    /// What readers of a version share: one for all who hold it at a time. What earlier versions have in memory and this one has too is taken over.
    func core(of pinned: StoreSnapshot) throws(Damage) -> CoreOwner {
        let (owner, version, left) = recent.withLock { ($0.owner, $0.version, $0.open) }
        if let owner, version == pinned.version { return owner }
        var open = left
        if let owner, version >= open?.version ?? 0 { open = owner.core.openRows(version: version) }
        let new = CoreOwner(try SnapshotCore(pinned.extents, catalogueRef: pinned.catalogue, taking: open, counts: counts))
        return recent.withLock { recent in
            if let owner = recent.owner, recent.version == pinned.version { return owner }
            if recent.owner == nil || recent.version < pinned.version {
                recent.owner = new
                recent.version = pinned.version
            }
            return new
        }
    }

    /// Takes what a commit left in memory, for the next version's readers.
    func keep(_ open: OpenRows) { recent.withLock { if open.version > $0.open?.version ?? 0 { $0.open = open } } }

    /// What is wrong with what carries the versions: roots, commit records, the state of space. What the versions hold is `DatabaseSnapshot.verify`'s.
    package func verifyStructure() throws(FirnError) -> [Damage] {
        var found: [Damage] = []
        try store.verify { found.append($0) }
        return found
    }

    /// Bytes of the file that the newest version does not use.
    package func space() throws(FirnError) -> FileSpace {
        let report = try store.spaceReport()
        return FileSpace(dead: Int(clamping: report.pending), free: Int(clamping: report.free + report.slack))
    }

    /// Begins the one transaction that may be under way; waits for another's end as long as `wait` says, or fails with `.locked`. Who waits has the next turn: of this program in the
    /// order in which they came (16 may pass), and beside other programs before any that begins again.
    package func begin(wait: WriterPatience = .always, threads: Int = Machine.cores) throws(FirnError) -> DatabaseTransaction {
        try DatabaseTransaction(self, try store.begin(wait: wait), threads: threads)
    }

    /// For transactions that are waited for as long as something is so, and it is no more.
    package func wakeWaiting() { store.wakeWaiting() }

    /// An error of the file's contents, as users see it.
    func failure(_ damage: Damage) -> FirnError { FirnError(damage, in: path) }
}

/// Bytes of a file that its newest version does not use.
package struct FileSpace: Sendable {
    /// Of older versions that are kept or pinned.
    package var dead: Int
    /// Ready to be written again.
    package var free: Int
}

/// Ends what readers of one version share when the last of them goes.
final class CoreOwner: Sendable {
    let core: SnapshotCore
    init(_ core: SnapshotCore) { self.core = core }
    deinit { core.close() }
}

/// A file at one version: immutable, usable from any thread, pinned until the last reference goes. Its tables and their segments are to be used
/// while the snapshot is there: a segment that versions share holds none of them.
package final class DatabaseSnapshot: Sendable {
    private let owner: CoreOwner
    var core: SnapshotCore { owner.core }
    let pinned: StoreSnapshot
    package let path: String
    /// The key of an encrypted file.
    package let key: EncryptionKey?
    let keys: KeyIndexes

    init(_ pinned: StoreSnapshot, _ owner: CoreOwner, path: String, key: EncryptionKey?, keys: KeyIndexes) {
        self.key = key
        self.pinned = pinned
        self.owner = owner
        self.path = path
        self.keys = keys
    }

    package var version: UInt64 { pinned.version }
    package var schema: Schema { core.schema }

    /// The tables of all types, embedded ones too, in the order of the schema.
    package var tables: [StoredTable] { core.schema.types.indices.map { StoredTable(core, type: $0, keeper: self) } }

    package func table(named name: String) -> StoredTable? {
        core.schema.types.firstIndex { $0.name == name }.map { StoredTable(core, type: $0, keeper: self) }
    }
}

extension Database {
    /// Versions that somebody reads now, in any process, ascending.
    package func pinnedVersions() throws(FirnError) -> [UInt64] { try store.pins() }

    /// Which processes read which version, as far as the system tells; what reads through this very database is not among them.
    package func pinHolders() throws(FirnError) -> [UInt64: [LockHolder]] { try store.pinHolders() }
}
