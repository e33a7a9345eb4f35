import FirnBytes
import FirnCodecs
import FirnDisk
import FirnStore
import FirnTable
import FirnThreads
import Synchronization

/// One `.firn` file: any number of snapshots, and one transaction at a time across processes. Usable from any thread.
package final class Database: Sendable {
    let store: Store
    package let path: String
    /// Which versions the commits of this object keep; nil: as the file specifies.
    let keep: Retention?
    /// The retention that the next commit stores in the file; nil: unchanged.
    let lasting: Retention?
    /// The key indexes in memory, which are built once enough look-ups need them.
    package let keys = KeyIndexes()
    /// Counts of what was read, for tests.
    package let counts = ReadCounts()

    /// The newest version that is in use, if any, and the rows that the last commit of this process left in memory.
    private struct Recent {
        weak var owner: CoreOwner?
        var version: UInt64 = 0
        var open: OpenRows?
    }
    private let recent: Mutex<Recent> = Mutex(Recent())

    /// The key, if the file is encrypted.
    package let key: EncryptionKey?
    package var memory: MemoryBudget { store.memory }

    private init(_ store: Store, path: String, keep: Int?, lasting: Retention?, key: EncryptionKey?) {
        self.store = store
        self.key = key
        self.path = path
        self.keep = keep.map { Retention(versions: $0) }
        self.lasting = lasting
    }

    /// Creates a file without types. Throws if the file exists, unless `overwrite`.
    ///
    /// * `atFirstCommit`: the file appears with its first commit. If that commit is damaged later, no empty version is read in its place.
    ///   If it is small, the file consists of a root and one extent.
    /// * `key`: encrypts the file.
    /// * `sources`: the files from which it is made. The new file has no more permissions than they have.
    /// * `memory`: the budget that is charged with what is read of the file.
    package static func create(
        path: String, overwrite: Bool = false, atFirstCommit: Bool = false, keep: Int? = nil, retention: Retention? = nil,
        key: EncryptionKey? = nil, sources: SourceModes = .none, memory: MemoryBudget = .process
    ) throws(FirnError) -> Database {
        let store = try Store.create(
            path: path, overwrite: overwrite, atFirstCommit: atFirstCommit, key: key, sources: sources, memory: memory)
        return Database(store, path: path, keep: keep, lasting: retention, key: key)
    }

    deinit { try? store.settle() }

    /// Makes all commits durable that returned before they were. Waits for the end of a transaction of this process.
    package func settle() throws(FirnError) { try store.settle() }

    /// The damage of one of the two roots when the file was opened, from an interrupted commit or from damage; nil if there is none. The
    /// version that is read may not be the newest one: report this to users.
    package var fallback: Damage? { store.fellBack }

    /// The damage of the root of the newest version, if the root was restored when the file was opened for writing.
    package var restored: Damage? { store.restored }

    /// Returns the damage of a root if no version is lost by it; otherwise nil.
    package func rootNotice() throws(FirnError) -> Damage? { try store.rootNotice() }

    /// Opens a file. The next commit stores `retention` in it, unless that is nil.
    /// - Complexity: O(1) if the newest root is intact, regardless of the size of the file.
    package static func open(
        path: String, writable: Bool = false, keep: Int? = nil, retention: Retention? = nil, key: EncryptionKey? = nil,
        reading: FileReading = .standard, memory: MemoryBudget = .process
    ) throws(FirnError) -> Database {
        Database(
            try Store.open(path: path, writable: writable, key: key, reading: reading, memory: memory, check: isWhole), path: path,
            keep: keep, lasting: retention, key: key)
    }

    /// Checks every hash of a version that was found without its root.
    private static let isWhole: VersionCheck = { source, catalogue in
        guard let core = try? SnapshotCore(source, catalogueRef: catalogue) else { return false }
        defer { core.close() }
        return core.verify(full: false).isEmpty
    }

    /// Whether the file was opened before a fork, by the parent process. Such a database cannot be used.
    package var isInherited: Bool { store.isInherited }

    /// Pins a version, by default the newest. The snapshot never changes and can be used on any thread until its last reference is
    /// released. Throws `.notFound` if the version is not kept.
    package func snapshot(version: UInt64? = nil) throws(FirnError) -> DatabaseSnapshot {
        let pinned = try store.snapshot(version: version)
        do throws(Damage) { return DatabaseSnapshot(pinned, try core(of: pinned), path: path, key: key, keys: keys) } catch {
            throw failure(error)
        }
    }

    /// Returns the state that all current readers of a version share. It takes over what earlier versions hold in memory, if it is
    /// unchanged.
    func core(of pinned: StoreSnapshot) throws(Damage) -> CoreOwner {
        let (owner, version, left) = recent.withLock { ($0.owner, $0.version, $0.open) }
        if let owner, version == pinned.version { return owner }
        var open = left
        if let owner, version >= open?.version ?? 0 { open = owner.core.openRows(version: version) }
        // Rows of a later version cannot be compared with those of an earlier one.
        if open?.version ?? 0 > pinned.version { open = nil }
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

    /// Keeps the rows that a commit left in memory, for readers of the new version.
    func keep(_ open: OpenRows) { recent.withLock { if open.version > $0.open?.version ?? 0 { $0.open = open } } }

    /// Checks roots, commit records and the state of space, and returns the damage. `DatabaseSnapshot.verify` checks the contents of
    /// versions.
    package func verifyStructure() throws(FirnError) -> [Damage] {
        var found: [Damage] = []
        try store.verify { found.append($0) }
        return found
    }

    /// Returns the number of bytes of the file that the newest version does not use.
    package func space() throws(FirnError) -> FileSpace {
        let report = try store.spaceReport()
        return FileSpace(dead: Int(clamping: report.pending), free: Int(clamping: report.free + report.slack))
    }

    /// Begins the one transaction of the file. While another one is under way, it waits as long as `wait` permits, and then throws
    /// `.locked`. Threads of a process begin in the order of their requests, except that at most 16 later ones overtake; a process that
    /// waits begins before a process that begins again (`docs/processes.md`, "The writer queue").
    package func begin(wait: WriterPatience = .always, threads: Int = Processors.count) throws(FirnError) -> DatabaseTransaction {
        try DatabaseTransaction(self, try store.begin(wait: wait), threads: threads)
    }

    /// Checks that the path leads to the file that is open: compaction and conversions replace files.
    /// - Throws: `.inputOutput` if it leads to another file or to none.
    package func checkPath() throws(FirnError) { try store.checkPath() }

    /// Makes writers that wait with `WriterPatience.asLongAs` evaluate their condition immediately.
    package func wakeWaiting() { store.wakeWaiting() }

    /// Converts damage to an error of this file.
    func failure(_ damage: Damage) -> FirnError { FirnError(damage, in: path) }
}

/// The numbers of bytes of a file that its newest version does not use.
package struct FileSpace: Sendable {
    /// Bytes that older versions use.
    package var dead: Int
    /// Bytes that can be written again.
    package var free: Int
}

/// Closes the state that readers of one version share when the last of them is released.
final class CoreOwner: Sendable {
    let core: SnapshotCore
    init(_ core: SnapshotCore) { self.core = core }
    deinit { core.close() }
}

/// A file at one version: immutable, usable from any thread, pinned until the last reference is released. Its tables and their segments may
/// be used only while the snapshot exists: a segment that versions share retains none of them.
package final class DatabaseSnapshot: Sendable {
    private let owner: CoreOwner
    var core: SnapshotCore { owner.core }
    let pinned: StoreSnapshot
    package let path: String
    /// The key, if the file is encrypted.
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

    /// The tables of all types, including embedded ones, in the order of the schema.
    package var tables: [StoredTable] { core.schema.types.indices.map { StoredTable(core, type: $0, keeper: self) } }

    /// Returns the table of a type; nil if there is no such type.
    package func table(named name: String) -> StoredTable? {
        core.schema.types.firstIndex { $0.name == name }.map { StoredTable(core, type: $0, keeper: self) }
    }
}

extension Database {
    /// The versions that readers in any process use now, ascending.
    package func pinnedVersions() throws(FirnError) -> [UInt64] { try store.pins() }

    /// The processes that read each version, as far as the operating system reports them. Readers of this database object are not included.
    package func pinHolders() throws(FirnError) -> [UInt64: [LockHolder]] { try store.pinHolders() }
}
