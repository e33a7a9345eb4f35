import FirnBytes
import FirnDatabase
import FirnDisk
import FirnThreads
import Foundation
import Synchronization

/// One open file, which all realms of this process share.
final class RealmFile: Sendable {
    let database: Database
    let path: String
    /// True for in-memory realms: the file is removed with the last realm.
    let isTemporary: Bool
    /// The serial queue on which asynchronous writes of this file wait for the lock.
    let waiters = DispatchQueue(label: "firn.waiters")
    private let listeners: Mutex<[Listener]> = Mutex([])
    /// The version that each realm of this process holds.
    let holds: Mutex<[ObjectIdentifier: VersionHold]> = Mutex([:])

    // Each realm is notified only on its own executor.
    private struct Listener {
        weak var core: RealmCore?
        /// The realm's doorbell, which the realm holds. Any thread can ring it.
        weak var doorbell: Doorbell?
    }
    /// The thread within a write transaction that only this thread can end; 0 if there is none.
    private let writer = Atomic<UInt>(0)
    /// The state of watching for commits of other processes, while there are observers.
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
    /// A thread that is opening the file, or that prevents others from opening it.
    private struct Opening {
        var thread: UInt
        let forks = Forks.count
        /// False in a forked child: the parent's thread does not exist there.
        var isHere: Bool { forks == Forks.count }
    }
    private struct Openings {
        var files: [String: Open] = [:]
        var opening: [String: Opening] = [:]
        /// The number of in-memory files that this process has created.
        var serial = 0
    }
    private static let lock = Lock()
    // Guarded by `lock`, which is held only briefly: files are opened and compacted without it.
    nonisolated(unsafe) private static var table = Openings()

    /// Returns the file of a configuration, which is opened once in this process. Creates it if it does not exist and the configuration is
    /// not read-only.
    static func of(_ configuration: Realm.Configuration) throws -> RealmFile {
        let location = try configuration.location(), key = try configuration.key(), name = try configuration.fileKey()
        // An open file can be shared without excluding other threads.
        if let file = opened(name) {
            try file.check(key)
            return file
        }
        return try exclusively(name) {
            if let file = opened(name) {
                try file.check(key)
                return file
            }
            // Every in-memory file gets a new name: a previous one may still be about to be removed.
            let path = location.isTemporary ? "\(location.path)-\(nextSerial()).firn" : location.path
            // The files of killed processes occupy memory of the machine.
            if location.isTemporary { AbandonedFiles.removeMemory(in: Paths.directory(of: path)) }
            let file = try RealmFile(configuration, path, isTemporary: location.isTemporary)
            remember(file, name)
            Logger.note(.debug, "opened \"\(path)\"\(configuration.readOnly ? " for reading" : "")")
            return file
        }
    }

    /// Returns the open file with a key, or nil. A forked child does not use the files of its parent.
    private static func opened(_ name: String) -> RealmFile? {
        // The reference is released after the lock.
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
        // Released after the lock: these may be the last references to the files.
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

    /// Runs `body` while no other thread of this process opens or deletes the file.
    private static func exclusively<R>(_ name: String, _ body: () throws -> R) throws -> R {
        let me = currentThread()
        lock.withLock {
            while let other = table.opening[name], other.isHere {
                trap(
                    unless: other.thread != me,
                    "A realm was opened, or deleted, by a block that runs while the same realm is being opened: shouldCompactOnLaunch must do neither."
                )
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

    /// Throws unless `key` is the file's key: a configuration without the key must not read the file although it is open.
    func check(_ key: EncryptionKey?) throws {
        guard database.key == key else {
            throw Realm.Error(.invalidDatabase, "Realm at path \"\(path)\" already opened with a different encryption key, or none.")
        }
    }

    /// Runs `body` while no thread of this process opens the file. Throws if it is open.
    static func whileClosed<R>(_ configuration: Realm.Configuration, _ body: () throws -> R) throws -> R {
        var names = [configuration, configuration]
        names[0].readOnly = false
        if !names[0].isInMemory { names[1].readOnly = true }
        let (writing, reading) = (try names[0].fileKey(), try names[1].fileKey())
        return try exclusively(writing) {
            func look() throws -> R {
                for name in [writing, reading] where isOpen(name) {
                    throw Realm.Error(
                        .alreadyOpen,
                        "The file \"\(try configuration.location().path)\" is open: first release all realms of it and everything read from them."
                    )
                }
                return try body()
            }
            return reading == writing ? try look() : try exclusively(reading, look)
        }
    }

    private static func isOpen(_ name: String) -> Bool { opened(name) != nil }

    /// Returns whether a realm in memory of this configuration is open.
    static func isOpen(_ configuration: Realm.Configuration) -> Bool { (try? configuration.fileKey()).map(isOpen) ?? false }

    private convenience init(_ configuration: Realm.Configuration, _ path: String, isTemporary: Bool) throws {
        let database: Database, key = try configuration.key()
        try configuration.seed(path)
        try configuration.compactOnLaunch(path)
        let reading: FileReading = configuration.mapsFile ? .standard : .copied, retention = configuration.history?.retention,
            memory = configuration.memory
        func open() throws(FirnError) -> Database {
            try Database.open(
                path: path, writable: !configuration.readOnly, retention: retention, key: key, reading: reading, memory: memory)
        }
        if access(path, F_OK) == 0 {
            database = try open()
        } else {
            guard !configuration.readOnly else {
                throw Realm.Error(.fileNotFound, "there is no file \"\(path)\", and a read-only realm does not create one")
            }
            var created: Database?
            do {
                created = try Database.create(
                    path: path, retention: retention, key: key, sources: isTemporary ? .ownerOnly : .none, memory: memory)
            } catch {
                // Another process has created the file first: both use it.
                guard error.code == .exists else { throw error }
            }
            if let created, configuration.mapsFile { database = created } else { database = try open() }
        }
        self.init(database, path: path, isTemporary: isTemporary)
    }

    // MARK: Commits

    /// Records that only this thread can end the transaction that is under way.
    func noteWriter(_ thread: UInt) { writer.store(thread, ordering: .relaxed) }

    /// Records that the transaction has ended, unless another thread has already begun one.
    func forgetWriter(_ thread: UInt) { _ = writer.compareExchange(expected: thread, desired: 0, ordering: .relaxed) }

    /// Throws if this thread would wait for the end of its own transaction.
    func checkWaiting() throws {
        guard writer.load(ordering: .relaxed) == currentThread() else { return }
        throw Realm.Error(
            .alreadyInTransaction,
            "This thread is within a write transaction of another Realm of \"\(path)\", and would wait for itself forever.")
    }

    func listen(_ core: RealmCore) {
        let core = Carried(core)
        listeners.withLock { listeners in
            // Tests the doorbell and not the realm: this could take the last reference to a realm on a thread that it does not belong to.
            listeners.removeAll { $0.doorbell == nil }
            listeners.append(Listener(core: core.value, doorbell: core.value.doorbell))
        }
    }

    /// Returns the doorbells of all realms that have this file open, except one.
    func doorbells(but mine: Doorbell?) -> [Doorbell] {
        listeners.withLock { $0.compactMap(\.doorbell) }.filter { $0 !== mine }
    }

    /// Returns the realms that have this file open, except one.
    func others(than core: RealmCore?) -> [RealmCore] { listeners.withLock { Carried($0) }.value.compactMap(\.core).filter { $0 !== core } }
}
