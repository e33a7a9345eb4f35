import FirnBytes
import FirnModel
import Synchronization

/// Which realms are open where: one for each place that uses a file, and one frozen one for each version.
extension RealmCore {
    private struct Open {
        weak var core: RealmCore?
    }
    // What is in it is used at its own place alone.
    private struct Opened: @unchecked Sendable {
        var cores: [String: Open] = [:]
        /// So many entries are a reason to look for those whose realm is gone.
        var most = 64
    }
    private static let opened: Mutex<Opened> = Mutex(Opened())

    /// The realm of a configuration at a place, opened if it is not.
    static func opened(_ configuration: Realm.Configuration, _ confinement: Confinement) throws -> RealmCore {
        let key = try configuration.fileKey() + "\n" + confinement.identity
        if let core = opened.withLock({ Shared($0.cores[key]?.core) }).value, !core.file.database.isInherited, !core.place.isGone {
            try core.file.check(try configuration.key())
            guard core.configuration.schemaVersion == configuration.schemaVersion else {
                throw Realm.Error(.schemaMismatch, "Realm at path '\(core.file.path)' already opened with different schema version \(core.configuration.schemaVersion).")
            }
            if let types = configuration.objectTypes { try core.adopt(types.map(ClassSchema.of)) }
            return core
        }
        let core: RealmCore
        do {
            core = try RealmCore(RealmFile.of(configuration), configuration, confinement)
        } catch let error as Realm.Error where error.code == .schemaMismatch && configuration.deleteRealmIfMigrationNeeded && !configuration.readOnly {
            try Realm.deleteFiles(for: configuration)
            core = try RealmCore(RealmFile.of(configuration), configuration, confinement)
        }
        remember(core, key)
        return core
    }

    private static func remember(_ core: RealmCore, _ key: String) {
        let core = Shared(core)
        // Let go of after the lock: what is looked at may have nobody else by then, and a realm that goes takes the program's own blocks with it.
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
            return Shared(seen)
        }
    }

    private struct Shared<T>: @unchecked Sendable {
        let value: T
        init(_ value: T) { self.value = value }
    }

    /// The frozen realm of the version that is read.
    func frozen() -> RealmCore {
        confinement.check()
        if isFrozen { return self }
        do { return try frozen(at: snapshot) } catch { preconditionFailure("a pinned version can always be frozen: \(error)") }
    }

    /// The frozen realm of a version.
    func frozen(at snapshot: DatabaseSnapshot) throws -> RealmCore {
        let key = "\(file.path)\nfrozen \(snapshot.version) \(ObjectIdentifier(file).hashValue)"
        if let core = RealmCore.opened.withLock({ Shared($0.cores[key]?.core) }).value { return core }
        let core = try RealmCore(file, configuration, .none, snapshot: snapshot)
        RealmCore.remember(core, key)
        return core
    }

    /// The live realm of this thread with the same file.
    func thawed() -> RealmCore {
        do { return try RealmCore.opened(configuration, .on(nil)) } catch { preconditionFailure("The live realm cannot be opened: \(error)") }
    }

    /// The access of another realm for the same type.
    func sameAccess(_ access: TypeAccess) -> TypeAccess? {
        guard schema[access.name] != nil else { return nil }
        return access.schema.map { self.access($0.objectClass) } ?? dynamicAccess(access.name)
    }

    /// The rows of a type as they are now, with the changes of a transaction.
    func currentTable(_ type: Int) -> any RowTable {
        access(named: schema.types[type].name)?.table ?? table(type)
    }
}
