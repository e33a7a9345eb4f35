import FirnBytes
import FirnDisk
import FirnModel
import Foundation
import Synchronization

/// One file, shared by all realms of this process that have it open.
final class RealmFile: Sendable {
    let database: Database
    let path: String
    /// Removed with the last realm (in-memory realms).
    let isTemporary: Bool
    private let listeners: Mutex<[Listener]> = Mutex([])
    /// Which realms of this process hold which version.
    let holds: Mutex<[ObjectIdentifier: VersionHold]> = Mutex([:])

    // What listens is told at its own place alone.
    private struct Listener: @unchecked Sendable {
        weak var core: RealmCore?
        /// Of that realm, which holds it; rung from anywhere.
        weak var doorbell: Doorbell?
    }
    /// What is known of commits of other processes, while somebody observes.
    let watching: Mutex<Watching> = Mutex(Watching())

    private init(_ database: Database, path: String, isTemporary: Bool) {
        self.database = database
        self.path = path
        self.isTemporary = isTemporary
    }

    deinit { if isTemporary { unlink(path) } }

    // MARK: Opening

    private struct Open {
        weak var file: RealmFile?
    }
    private static let open: Mutex<[String: Open]> = Mutex([:])

    /// The file of a configuration, opened once in this process; made if it does not exist and may be written.
    static func of(_ configuration: Realm.Configuration) throws -> RealmFile {
        let place = try configuration.place(), key = try configuration.key()
        return try open.withLock { open in
            // A forked child opens anew what its parent had open.
            if let file = open[place.path]?.file, !file.database.isInherited {
                try file.check(key)
                return file
            }
            open = open.filter { $0.value.file != nil }
            let file = try RealmFile(configuration, place.path, isTemporary: place.isTemporary)
            open[place.path] = Open(file: file)
            return file
        }
    }

    /// Whoever has not the key does not read the file because somebody else has.
    func check(_ key: EncryptionKey?) throws {
        guard database.key == key else {
            throw Realm.Error(.invalidDatabase, "Realm at path '\(path)' already opened with a different encryption key, or none.")
        }
    }

    /// Runs `body` while nobody in this process opens the file; throws if somebody has it open.
    static func whileClosed<R>(_ path: String, _ body: () throws -> R) throws -> R {
        try open.withLock { open in
            guard open[path]?.file?.database.isInherited ?? true else {
                throw Realm.Error(.alreadyOpen, "The file '\(path)' is open: let go of every realm of it, and of all that was read from them, first.")
            }
            return try body()
        }
    }

    static func isOpen(_ path: String) -> Bool { open.withLock { !($0[path]?.file?.database.isInherited ?? true) } }

    private convenience init(_ configuration: Realm.Configuration, _ path: String, isTemporary: Bool) throws {
        let database: Database, key = try configuration.key()
        try configuration.seed(path)
        try configuration.compactOnLaunch(path)
        let reading: FileReading = configuration.mapsFile ? .standard : .copied
        if access(path, F_OK) == 0 {
            database = try Database.open(path: path, writable: !configuration.readOnly, retention: configuration.history?.retention, key: key, reading: reading)
        } else {
            guard !configuration.readOnly else { throw Realm.Error(.fileNotFound, "there is no file '\(path)', and a read-only realm makes none") }
            let created = try Database.create(path: path, retention: configuration.history?.retention, key: key)
            database = configuration.mapsFile ? created : try Database.open(path: path, writable: true, retention: configuration.history?.retention, key: key, reading: reading)
        }
        self.init(database, path: path, isTemporary: isTemporary)
    }

    // MARK: Commits

    func listen(_ core: RealmCore) {
        let listener = Listener(core: core, doorbell: core.doorbell)
        listeners.withLock { listeners in
            // Not by the realm: whoever looks may be the last to hold it, at a place that is not its own.
            listeners.removeAll { $0.doorbell == nil }
            listeners.append(listener)
        }
    }

    /// The doorbells of the realms that have this file open, but for one.
    func doorbells(but mine: Doorbell?) -> [Doorbell] {
        listeners.withLock { $0.compactMap(\.doorbell) }.filter { $0 !== mine }
    }

    /// The realms that have this file open, but for one.
    func others(than core: RealmCore?) -> [RealmCore] { listeners.withLock { $0 }.compactMap(\.core).filter { $0 !== core } }
}
