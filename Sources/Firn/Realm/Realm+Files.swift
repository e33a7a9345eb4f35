import FirnBytes
import FirnDatabase
import FirnDisk
import Foundation

/// Operations on whole files: copies, schema versions, deletion.
extension Realm {
    /// Writes the realm's version (within a transaction: with its changes), compacted, to a new file.
    ///
    /// `encryptionKey` is the key of 64 bytes of the copy. If it is nil, the copy is not encrypted, even if the realm is.
    /// - Throws: `Realm.Error` with the code `fileExists` if the file exists.
    public func writeCopy(toFile fileURL: URL, encryptionKey: Data? = nil) throws {
        core.check()
        let path = fileURL.standardizedFileURL.path
        guard !FileManager.default.fileExists(atPath: path) else {
            throw Error(.fileExists, "File at path \"\(path)\" already exists.", at: path)
        }
        let encryption = try encryptionKey.map { CopyEncryption.key(try EncryptionKey(checked: $0)) } ?? .plain
        do {
            try core.flushCells()
            if let transaction = core.transaction {
                try transaction.compact(to: path, encryption: encryption)
                core.moved()
            } else {
                try core.snapshot.compact(to: path, encryption: encryption)
            }
        } catch { throw Error(error) }
    }

    /// As `writeCopy(toFile:encryptionKey:)`, to the file and with the key of a configuration.
    public func writeCopy(configuration: Configuration) throws {
        guard let url = configuration.fileURL else { throw Error(.invalidInput, "a copy needs a file: give the configuration a fileURL") }
        try writeCopy(toFile: url, encryptionKey: configuration.encryptionKey)
    }

    /// Returns whether the file of a configuration exists (or, for one in memory, whether a realm of it is open).
    public static func fileExists(for configuration: Configuration) -> Bool {
        guard let location = try? configuration.location() else { return false }
        return location.isTemporary ? RealmFile.isOpen(configuration) : Paths.kind(location.path) == .file
    }

    /// Deletes the file of a configuration. Returns false if it does not exist.
    /// - Throws: `Realm.Error` with the code `alreadyOpen` while this process holds a realm of the file or anything that was read from one.
    @discardableResult
    public static func deleteFiles(for configuration: Configuration) throws -> Bool {
        let path = try configuration.location().path
        return try RealmFile.whileClosed(configuration) {
            // Never deletes a folder with its contents, whatever the configuration contains.
            if let kind = Paths.kind(path), kind != .file {
                throw Error(.fileAccess, "\"\(path)\" is not a file: nothing was deleted.", at: path)
            }
            Configuration.removeUnfinished(path)
            guard Paths.kind(path) != nil else { return false }
            do throws(FirnError) { try Paths.remove(path) } catch { throw Error(error) }
            return true
        }
    }

    /// Returns the schema version of a file, or 0 if none was set.
    /// - Throws: `Realm.Error`; with the code `invalidDatabase` if the file does not exist.
    public static func schemaVersionAtURL(_ fileURL: URL, encryptionKey: Data? = nil) throws -> UInt64 {
        let path = fileURL.standardizedFileURL.path
        guard FileManager.default.fileExists(atPath: path) else {
            throw Error(.invalidDatabase, "Realm at path \"\(path)\" has not been initialized.", at: path)
        }
        let key = try encryptionKey.map { try EncryptionKey(checked: $0) }
        do { return try SchemaVersion.read(try Database.open(path: path, key: key).snapshot()) } catch {
            throw Error(error)
        }
    }

    /// Migrates the file of a configuration to its schema version now instead of when it is opened first. Returns whether it was migrated.
    @discardableResult
    public static func performMigration(for configuration: Configuration = .defaultConfiguration) throws -> Bool {
        let path = try configuration.location().path
        let before =
            FileManager.default.fileExists(atPath: path)
            ? try schemaVersionAtURL(URL(fileURLWithPath: path), encryptionKey: configuration.encryptionKey) : configuration.schemaVersion
        _ = try Realm(configuration: configuration)
        return before < configuration.schemaVersion
    }
}

/// Returns the schema version of a file. The same as `Realm.schemaVersionAtURL(_:encryptionKey:)`.
/// - Throws: `Realm.Error`; with the code `invalidDatabase` if the file does not exist.
public func schemaVersionAtURL(_ fileURL: URL, encryptionKey: Data? = nil) throws -> UInt64 {
    try Realm.schemaVersionAtURL(fileURL, encryptionKey: encryptionKey)
}

extension Realm.Configuration {
    /// Makes the file a copy of the seed if it does not exist. Called before the file is opened for the first time.
    func seed(_ path: String) throws {
        guard let seedFilePath, !FileManager.default.fileExists(atPath: path), !readOnly else { return }
        let seed = seedFilePath.standardizedFileURL.path
        guard FileManager.default.fileExists(atPath: seed) else { throw Realm.Error(.fileNotFound, "there is no seed file \"\(seed)\"") }
        // A snapshot of the seed is copied, so its writers do not matter. The seed may be encrypted with the realm's key or not encrypted.
        // The copy is encrypted if the realm is.
        let key = try key(), database: Database
        do { database = try Database.open(path: seed, key: key) } catch {
            guard error.code == .notEncrypted else { throw error }
            database = try Database.open(path: seed)
        }
        do { try database.snapshot().compact(to: path, encryption: key.map(CopyEncryption.key) ?? .plain) } catch {
            // Another process created the file first. It may have written to it, so that file is kept.
            guard error.code == .exists else { throw error }
        }
    }

    /// Removes the files of compactions that were killed.
    static func removeUnfinished(_ path: String) {
        let path = Paths.linkEnd(path), folder = Paths.directory(of: path), start = path.fields(at: UInt8(ascii: "/")).last ?? ""
        guard !start.isEmpty, let names = try? Paths.list(folder) else { return }
        // Bytes are compared: `==` also finds a file whose name has the same characters in another normal form.
        let ending = ".compacting", own = Array((start + ending).utf8)
        for name in names where name.utf8.starts(with: own) {
            let rest = name.utf8.dropFirst(own.count)
            if rest.isEmpty || rest.starts(with: ".tmp-".utf8) { try? Paths.remove(folder + "/" + name) }
        }
    }

    /// Compacts a file before it is opened for the first time, if the configuration requests it and no other process uses the file.
    func compactOnLaunch(_ path: String) throws {
        guard let shouldCompactOnLaunch, !readOnly, inMemoryIdentifier == nil, FileManager.default.fileExists(atPath: path) else { return }
        let total = (try FileManager.default.attributesOfItem(atPath: path)[.size] as? NSNumber)?.intValue ?? 0
        let database = try Database.open(path: path, writable: true, key: try key())
        let space = try database.space()
        guard shouldCompactOnLaunch(total, max(0, total - space.dead - space.free)) else { return }
        // Contents of a damaged newest commit would be lost permanently.
        guard database.fallback == nil else { return }
        // Renaming would separate the names of a file that has several hard links.
        guard try Paths.names(path) == 1 else { return }
        // No process may be reading the file.
        guard try database.pinnedVersions().isEmpty else { return }
        let transaction: DatabaseTransaction
        do { transaction = try database.begin(wait: .no) } catch {
            if error.code == .locked { return }
            throw error
        }
        defer { transaction.cancel() }
        // If the path is a symbolic link, its target is replaced.
        let target = Paths.linkEnd(path), fresh = target + ".compacting"
        // Only the process that holds the write lock writes such files.
        Realm.Configuration.removeUnfinished(path)
        // A compaction of several versions can fail after the first was written: the incomplete file must not take up scarce disk space.
        var isWanted = false
        defer { if !isWanted { try? Paths.remove(fresh) } }
        guard try Realm.Configuration.compact(try Database.open(path: path, key: try key()), to: fresh) else { return }
        try FilePermissions(path: target)?.give(path: fresh)
        // A process that opened the file in the meantime would be left with a file that no other process uses, and could not write to it.
        guard try Database.open(path: path, key: try key()).pinnedVersions().isEmpty else { return }
        // The write lock is held: processes that have the file open notice at their next write that it was replaced.
        do { try Paths.rename(fresh, to: target) } catch {
            throw Realm.Error(.fileAccess, "cannot rename the compacted file to \"\(path)\"", cause: error)
        }
        isWanted = true
        Logger.note(.detail, "compacted \"\(path)\", which had \(total) bytes")
        // Without this sync a crash may restore the old file, and everything written to the new one would be lost.
        try Paths.syncDirectory(of: target)
    }

    /// Returns false if there is nothing to compact. `database` must not be used otherwise, so that no version is held when this returns.
    private static func compact(_ database: Database, to fresh: String) throws -> Bool {
        let snapshot = try database.snapshot()
        guard snapshot.version > 0 else { return false }
        // Tagged versions are kept.
        do {
            try Database.compact(try database.versions(upTo: snapshot), retention: try database.retention(), to: fresh)
        } catch { throw Realm.Error(error) }
        return true
    }
}
