import FirnBytes
import FirnCodecs
import FirnDisk
import FirnStore

/// One `.firn` file. Any number of snapshots and, one at a time across processes, a transaction. Usable from any thread.
package final class Database: Sendable {
    let store: Store
    package let path: String
    /// How many recent versions stay readable.
    package let keep: Int
    /// The rows of types with a key, by key, as far as look-ups were worth it.
    package let keys = KeyIndexes()

    private init(_ store: Store, path: String, keep: Int) {
        self.store = store
        self.path = path
        self.keep = keep
    }

    /// A new file without types. Fails if the file exists, unless `overwrite`. `atFirstCommit`: there is no file until the first transaction is
    /// committed, and if that is damaged later, no empty file is seen in its place; where it holds little, the file is a root and one extent.
    package static func create(path: String, overwrite: Bool = false, atFirstCommit: Bool = false, keep: Int = 8) throws(FirnError) -> Database {
        Database(try Store.create(path: path, overwrite: overwrite, atFirstCommit: atFirstCommit), path: path, keep: keep)
    }

    /// What is wrong, if one of the file's two roots does not hold: an interrupted commit, or damage. The version read may not be the last one: tell users.
    package var fallback: Damage? { store.fellBack }

    /// - Complexity: O(1), whatever the size of the file.
    package static func open(path: String, writable: Bool = false, keep: Int = 8) throws(FirnError) -> Database {
        Database(try Store.open(path: path, writable: writable), path: path, keep: keep)
    }

    /// Pins a version, the newest if none is given: it stays as it is, for any thread, until the last reference goes.
    package func snapshot(version: UInt64? = nil) throws(FirnError) -> DatabaseSnapshot {
        try DatabaseSnapshot(try store.snapshot(version: version), path: path, keys: keys)
    }

    /// The versions that can be opened, newest first.
    package func versions() throws(FirnError) -> [VersionInfo] { try store.history() }

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

    /// Begins the one transaction that may be under way; waits for another's end, or fails with `.locked`.
    package func begin(wait: Bool = true, threads: Int = Machine.cores) throws(FirnError) -> DatabaseTransaction {
        try DatabaseTransaction(self, try store.begin(wait: wait), threads: threads)
    }

    /// An error of the file's contents, as users see it.
    func failure(_ damage: Damage) -> FirnError { .damaged(path, what: damage.what, byte: damage.offset) }
}

/// Bytes of a file that its newest version does not use.
package struct FileSpace: Sendable {
    /// Of older versions that are kept or pinned.
    package var dead: Int
    /// Ready to be written again.
    package var free: Int
}

/// A file at one version: immutable, usable from any thread, pinned until the last reference goes.
package final class DatabaseSnapshot: Sendable {
    let core: SnapshotCore
    private let pinned: StoreSnapshot
    package let path: String
    let keys: KeyIndexes

    init(_ pinned: StoreSnapshot, path: String, keys: KeyIndexes) throws(FirnError) {
        self.pinned = pinned
        self.keys = keys
        self.path = path
        do throws(Damage) {
            core = try SnapshotCore(pinned, catalogueRef: pinned.catalogue)
        } catch {
            throw .damaged(path, what: error.what, byte: error.offset)
        }
    }

    deinit { core.close() }

    package var version: UInt64 { pinned.version }
    package var schema: Schema { core.schema }

    /// The tables of all types, embedded ones too, in the order of the schema.
    package var tables: [StoredTable] { core.schema.types.indices.map { StoredTable(core, type: $0, keeper: self) } }

    package func table(named name: String) -> StoredTable? {
        core.schema.types.firstIndex { $0.name == name }.map { StoredTable(core, type: $0, keeper: self) }
    }
}
