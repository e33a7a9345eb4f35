import FirnBytes
import FirnDisk
import FirnModel
import Foundation

/// Files as wholes: copies, versions, deletion.
extension Realm {
    /// Writes what is read now (in a transaction: with its changes), compacted, into a new file. Throws `.fileExists` if there is one.
    /// - Parameter encryptionKey: 64 bytes with which the copy is encrypted, whatever the realm is with; nil: it is not encrypted.
    public func writeCopy(toFile fileURL: URL, encryptionKey: Data? = nil) throws {
        core.confinement.check()
        let path = fileURL.standardizedFileURL.path
        guard !FileManager.default.fileExists(atPath: path) else { throw Error(.fileExists, "File at path '\(path)' already exists.") }
        let encryption = try encryptionKey.map { CopyEncryption.key(try EncryptionKey(checked: $0)) } ?? .plain
        do throws(FirnError) {
            try core.flushCells()
            if let transaction = core.transaction {
                try transaction.compact(to: path, encryption: encryption)
                core.moveInTransaction()
            } else { try core.snapshot.compact(to: path, encryption: encryption) }
        } catch { throw Error(error) }
    }

    /// As `writeCopy(toFile:encryptionKey:)`, to where the configuration's file is and with its key.
    public func writeCopy(configuration: Configuration) throws {
        guard let url = configuration.fileURL else { throw Error(.invalidInput, "a copy needs a file: give the configuration a fileURL") }
        try writeCopy(toFile: url, encryptionKey: configuration.encryptionKey)
    }

    /// There is a file of this configuration (or an open realm in memory).
    public static func fileExists(for configuration: Configuration) -> Bool {
        guard let place = try? configuration.place() else { return false }
        return place.isTemporary ? RealmFile.isOpen(configuration) : Paths.kind(place.path) == .file
    }

    /// Deletes the file of a configuration. False if there is none; throws `.alreadyOpen` while a realm of it, or a part of one, is held in this process.
    @discardableResult
    public static func deleteFiles(for configuration: Configuration) throws -> Bool {
        let path = try configuration.place().path
        return try RealmFile.whileClosed(configuration) {
            // Never a folder with all that is in it, whatever the configuration says.
            if let kind = Paths.kind(path), kind != .file { throw Error(.fileAccess, "'\(path)' is no file: nothing was deleted.") }
            Configuration.removeUnfinished(path)
            guard Paths.kind(path) != nil else { return false }
            do throws(FirnError) { try Paths.remove(path) } catch { throw Error(error) }
            return true
        }
    }

    /// The schema version of a file; 0 if none was set. Throws `.fileNotFound` and what else opening throws.
    public static func schemaVersionAtURL(_ fileURL: URL, encryptionKey: Data? = nil) throws -> UInt64 {
        let path = fileURL.standardizedFileURL.path
        guard FileManager.default.fileExists(atPath: path) else { throw Error(.fileNotFound, "there is no file '\(path)'") }
        let key = try encryptionKey.map { try EncryptionKey(checked: $0) }
        do throws(FirnError) { return try SchemaVersion.read(try Database.open(path: path, key: key).snapshot()) } catch { throw Error(error) }
    }

    /// Brings the file of a configuration to its schema version now, rather than when it is opened first.
    @discardableResult
    public static func performMigration(for configuration: Configuration = .defaultConfiguration) throws -> Bool {
        let path = try configuration.place().path
        let before = FileManager.default.fileExists(atPath: path) ? try schemaVersionAtURL(URL(fileURLWithPath: path), encryptionKey: configuration.encryptionKey) : configuration.schemaVersion
        _ = try Realm(configuration: configuration)
        return before < configuration.schemaVersion
    }
}

extension Realm.Configuration {
    /// Before the file is opened first: it begins as the seed.
    func seed(_ path: String) throws {
        guard let seedFilePath, !FileManager.default.fileExists(atPath: path), !readOnly else { return }
        let seed = seedFilePath.standardizedFileURL.path
        guard FileManager.default.fileExists(atPath: seed) else { throw Realm.Error(.fileNotFound, "there is no seed file '\(seed)'") }
        // A version of the seed, whatever its writers do meanwhile. It may be encrypted with the realm's key or not at all; the realm's file is as the realm is.
        let key = try key(), database: Database
        do throws(FirnError) { database = try Database.open(path: seed, key: key) } catch {
            guard error.code == .notEncrypted else { throw error }
            database = try Database.open(path: seed)
        }
        do throws(FirnError) { try database.snapshot().compact(to: path, encryption: key.map(CopyEncryption.key) ?? .plain) } catch {
            // Another process was first: what it may have written since stays.
            guard error.code == .exists else { throw error }
        }
    }

    /// What compactions left behind that were killed.
    static func removeUnfinished(_ path: String) {
        let path = Paths.linkEnd(path), folder = Paths.directory(of: path), start = path.split(separator: "/").last.map(String.init) ?? ""
        guard !start.isEmpty, let names = try? Paths.list(folder) else { return }
        for name in names where name == start + ".compacting" || name.hasPrefix(start + ".compacting.tmp-") { try? Paths.remove(folder + "/" + name) }
    }

    /// Compacts a file that is being opened first, if it is asked for and nobody uses it.
    func compactOnLaunch(_ path: String) throws {
        guard let shouldCompactOnLaunch, !readOnly, inMemoryIdentifier == nil, FileManager.default.fileExists(atPath: path) else { return }
        let total = (try FileManager.default.attributesOfItem(atPath: path)[.size] as? NSNumber)?.intValue ?? 0
        let database = try Database.open(path: path, writable: true, key: try key())
        let space = try database.space()
        guard shouldCompactOnLaunch(total, max(0, total - space.dead - space.free)) else { return }
        // What the newest commit still holds, which is damaged, would be gone for good.
        guard database.fallback == nil else { return }
        // A file with several names would part.
        guard try Paths.names(path) == 1 else { return }
        // Nobody reads it, in any process.
        guard try database.pinnedVersions().isEmpty else { return }
        let transaction: DatabaseTransaction
        do throws(FirnError) { transaction = try database.begin(wait: .no) } catch {
            if error.code == .locked { return }
            throw error
        }
        defer { transaction.cancel() }
        // A symbolic link stays one.
        let place = Paths.linkEnd(path), fresh = place + ".compacting"
        // Only the holder of the lock writes such files.
        Realm.Configuration.removeUnfinished(path)
        // Of several versions the first may be there when it fails: it must not take the space that was missing.
        var isWanted = false
        defer { if !isWanted { try? Paths.remove(fresh) } }
        guard try Realm.Configuration.compact(try Database.open(path: path, key: try key()), to: fresh) else { return }
        try FilePermissions(path: place)?.give(path: fresh)
        // Whoever has come meanwhile would have a file that nobody else sees, and could not write it.
        guard try Database.open(path: path, key: try key()).pinnedVersions().isEmpty else { return }
        // Within the write lock: who has the file open sees at the next write that it was replaced.
        do throws(FirnError) { try Paths.rename(fresh, to: place) } catch { throw Realm.Error(.fileAccess, "the compacted file cannot take the name '\(path)'", cause: error) }
        isWanted = true
        // Until then a crash may bring the old file back, and what is written from here on would be gone with the new one.
        try Paths.syncDirectory(of: place)
    }

    /// False: there is nothing to compact. `database`: for this alone, so that no version is held when it returns; a writer's would be.
    private static func compact(_ database: Database, to fresh: String) throws -> Bool {
        let snapshot = try database.snapshot()
        guard snapshot.version > 0 else { return false }
        // Tagged versions stay.
        do throws(FirnError) { try Database.compact(try database.versions(upTo: snapshot), retention: try database.retention(), to: fresh) } catch { throw Realm.Error(error) }
        return true
    }
}
