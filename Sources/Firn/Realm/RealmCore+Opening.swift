import FirnBytes
import FirnDatabase
import FirnTable
import Synchronization

/// The open realms of the process: one for each file and thread, queue or actor, and one frozen realm for each version.
extension RealmCore {
    private struct Open {
        weak var core: RealmCore?
    }
    private struct Opened {
        var cores: [String: Open] = [:]
        /// The number of entries at which those of released realms are removed.
        var most = 64
    }
    private static let opened: Mutex<Opened> = Mutex(Opened())

    /// Returns the realm of a configuration for a thread, queue or actor. Opens it if it is not open.
    static func opened(_ configuration: Realm.Configuration, _ executor: RealmExecutor) throws -> RealmCore {
        let key = try configuration.fileKey() + "\n" + executor.identity
        if let core = opened.withLock({ Carried($0.cores[key]?.core) }).value, !core.file.database.isInherited, !core.executor.isGone {
            try core.file.check(try configuration.key())
            guard core.configuration.schemaVersion == configuration.schemaVersion else {
                throw Realm.Error(
                    .schemaMismatch,
                    "Realm at path \"\(core.file.path)\" already opened with different schema version \(core.configuration.schemaVersion).")
            }
            if let types = configuration.objectTypes { try core.adopt(types.map(ClassSchema.of)) }
            return core
        }
        let core: RealmCore
        do {
            core = try RealmCore(RealmFile.of(configuration), configuration, executor)
        } catch let error as Realm.Error
            where error.code == .schemaMismatch && configuration.deleteRealmIfMigrationNeeded && !configuration.readOnly
        {
            try Realm.deleteFiles(for: configuration)
            core = try RealmCore(RealmFile.of(configuration), configuration, executor)
        }
        remember(core, key)
        return core
    }

    private static func remember(_ core: RealmCore, _ key: String) {
        let core = Carried(core)
        // Released after the lock: this may hold the last reference to a realm, and releasing one can run the program's own code.
        _ = opened.withLock { opened in
            var seen: [RealmCore] = []
            if opened.cores.count >= opened.most {
                opened.cores = opened.cores.filter { entry in
                    guard let core = entry.value.core else { return false }
                    seen.append(core)
                    return true
                }
                opened.most = max(64, 2 * opened.cores.count)
            }
            opened.cores[key] = Open(core: core.value)
            return Carried(seen)
        }
    }

    /// Returns the frozen realm of the version that is read.
    func frozen() -> RealmCore {
        check()
        if isFrozen { return self }
        do { return try frozen(at: snapshot) } catch { trap("a pinned version can always be frozen: \(error)") }
    }

    /// Returns the frozen realm of a version.
    func frozen(at snapshot: DatabaseSnapshot) throws -> RealmCore {
        let key = "\(file.path)\nfrozen \(snapshot.version) \(ObjectIdentifier(file).hashValue)"
        if let core = RealmCore.opened.withLock({ Carried($0.cores[key]?.core) }).value { return core }
        let core = try RealmCore(file, configuration, .none, snapshot: snapshot)
        RealmCore.remember(core, key)
        return core
    }

    /// Returns the live realm of this thread with the same file.
    func thawed() -> RealmCore {
        do { return try RealmCore.opened(configuration, .on(nil)) } catch {
            trap("The live realm cannot be opened: \(error)")
        }
    }

    /// Returns this realm's access to the type of an access of another realm, or nil if this realm does not have the type.
    func sameAccess(_ access: TypeAccess) -> TypeAccess? {
        guard schema[access.name] != nil else { return nil }
        return access.schema.map { self.access($0.objectClass) } ?? dynamicAccess(access.name)
    }

    /// Returns the current rows of a type, including the changes of a transaction.
    func currentTable(_ type: Int) -> any RowTable {
        access(named: schema.types[type].name)?.table ?? table(type)
    }
}
