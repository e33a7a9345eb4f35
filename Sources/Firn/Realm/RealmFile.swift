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
    /// Where asynchronous writes of this file stand in line for the lock, one behind the other.
    let waiters = DispatchQueue(label: "firn.waiters")
    private let listeners: Mutex<[Listener]> = Mutex([])
    /// Which realms of this process hold which version.
    let holds: Mutex<[ObjectIdentifier: VersionHold]> = Mutex([:])

    // What listens is told at its own place alone.
    private struct Listener: @unchecked Sendable {
        weak var core: RealmCore?
        /// Of that realm, which holds it; rung from anywhere.
        weak var doorbell: Doorbell?
    }
    /// The thread within a write transaction that no other thread can end; 0: none.
    private let writer = Atomic<UInt>(0)
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
    /// Somebody opens the file, or sees to it that nobody does.
    private struct Opening {
        var thread: UInt
        let forks = Forks.count
        /// Of this process: the thread of a parent does not end here.
        var isHere: Bool { forks == Forks.count }
    }
    private struct Openings {
        var files: [String: Open] = [:]
        var opening: [String: Opening] = [:]
        /// Of the files in memory that this process has made.
        var serial = 0
    }
    private static let lock = Lock()
    // Guarded by `lock`, which is held for moments: files are opened, and compacted, without it.
    nonisolated(unsafe) private static var table = Openings()

    /// The file of a configuration, opened once in this process; made if it does not exist and may be written.
    static func of(_ configuration: Realm.Configuration) throws -> RealmFile {
        let place = try configuration.place(), key = try configuration.key(), name = try configuration.fileKey()
        // Who has it open keeps it open: nobody need be alone for that.
        if let file = opened(name) {
            try file.check(key)
            return file
        }
        return try alone(name) {
            if let file = opened(name) {
                try file.check(key)
                return file
            }
            // One in memory gets a name that none had: the one before may be about to be removed.
            let path = place.isTemporary ? "\(place.path)-\(nextSerial()).firn" : place.path
            // Those of processes that were killed hold memory of the machine.
            if place.isTemporary { AbandonedFiles.removeMemory(in: Paths.directory(of: path)) }
            let file = try RealmFile(configuration, path, isTemporary: place.isTemporary)
            remember(file, name)
            return file
        }
    }

    /// A forked child opens anew what its parent had open.
    private static func opened(_ name: String) -> RealmFile? {
        // Held until the lock is free again.
        let file = lock.withLock { table.files[name]?.file }
        return file?.database.isInherited ?? true ? nil : file
    }

    private static func nextSerial() -> Int {
        lock.withLock {
            table.serial += 1
            return table.serial
        }
    }

    private static func remember(_ file: RealmFile, _ name: String) {
        // Let go of after the lock: whoever is looked at may have nobody else by then.
        _ = lock.withLock {
            var seen: [RealmFile] = []
            table.files = table.files.filter { entry in
                guard let file = entry.value.file else { return false }
                seen.append(file)
                return true
            }
            table.files[name] = Open(file: file)
            return seen
        }
    }

    /// Runs `body` while nobody else in this process opens, or deletes, the file.
    private static func alone<R>(_ name: String, _ body: () throws -> R) throws -> R {
        let me = currentThread()
        lock.withLock {
            while let other = table.opening[name], other.isHere {
                precondition(other.thread != me, "A realm was opened, or deleted, by a block that is called because the same realm is being opened (shouldCompactOnLaunch).")
                lock.wait()
            }
            table.opening[name] = Opening(thread: me)
        }
        defer {
            lock.withLock {
                table.opening[name] = nil
                lock.wakeAll()
            }
        }
        return try body()
    }

    /// Whoever has not the key does not read the file because somebody else has.
    func check(_ key: EncryptionKey?) throws {
        guard database.key == key else {
            throw Realm.Error(.invalidDatabase, "Realm at path '\(path)' already opened with a different encryption key, or none.")
        }
    }

    /// Runs `body` while nobody in this process opens the file; throws if somebody has it open.
    static func whileClosed<R>(_ configuration: Realm.Configuration, _ body: () throws -> R) throws -> R {
        var names = [configuration, configuration]
        names[0].readOnly = false
        if !names[0].isInMemory { names[1].readOnly = true }
        let (writing, reading) = (try names[0].fileKey(), try names[1].fileKey())
        return try alone(writing) {
            func look() throws -> R {
                for name in [writing, reading] where isOpen(name) {
                    throw Realm.Error(.alreadyOpen, "The file '\(try configuration.place().path)' is open: let go of every realm of it, and of all that was read from them, first.")
                }
                return try body()
            }
            return reading == writing ? try look() : try alone(reading, look)
        }
    }

    private static func isOpen(_ name: String) -> Bool { opened(name) != nil }

    /// A realm in memory of this configuration is open.
    static func isOpen(_ configuration: Realm.Configuration) -> Bool { (try? configuration.fileKey()).map(isOpen) ?? false }

    private convenience init(_ configuration: Realm.Configuration, _ path: String, isTemporary: Bool) throws {
        let database: Database, key = try configuration.key()
        try configuration.seed(path)
        try configuration.compactOnLaunch(path)
        let reading: FileReading = configuration.mapsFile ? .standard : .copied, retention = configuration.history?.retention, memory = configuration.memory
        func open() throws(FirnError) -> Database {
            try Database.open(path: path, writable: !configuration.readOnly, retention: retention, key: key, reading: reading, memory: memory)
        }
        if access(path, F_OK) == 0 {
            database = try open()
        } else {
            guard !configuration.readOnly else { throw Realm.Error(.fileNotFound, "there is no file '\(path)', and a read-only realm makes none") }
            var created: Database?
            do throws(FirnError) {
                created = try Database.create(path: path, retention: retention, key: key, sources: isTemporary ? .ownerOnly : .none, memory: memory)
            } catch {
                // Another process was first: the file is theirs as well.
                guard error.code == .exists else { throw error }
            }
            if let created, configuration.mapsFile { database = created } else { database = try open() }
        }
        self.init(database, path: path, isTemporary: isTemporary)
    }

    // MARK: Commits

    /// This thread, and no other, will end the transaction that is under way.
    func noteWriter(_ thread: UInt) { writer.store(thread, ordering: .relaxed) }

    /// It has ended, and another thread may have begun one since: that stands.
    func forgetWriter(_ thread: UInt) { _ = writer.compareExchange(expected: thread, desired: 0, ordering: .relaxed) }

    /// Throws where whoever waits for a transaction's end would wait for itself.
    func checkWaiting() throws {
        guard writer.load(ordering: .relaxed) == currentThread() else { return }
        throw Realm.Error(.alreadyInTransaction, "This thread is within a write transaction of another Realm of '\(path)', and would wait for itself for ever.")
    }

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
