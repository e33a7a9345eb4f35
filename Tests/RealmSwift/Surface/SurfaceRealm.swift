import Dispatch
import Foundation
import RealmSwift

extension Surface {
    mutating func addRealm(_ realm: Realm, _ pet: SurfacePet) {
        use("Realm.init(queue:)") { _ = try Realm(queue: DispatchQueue(label: "q")) }
        use("Realm.init(configuration:queue:)") { _ = try Realm(configuration: .defaultConfiguration, queue: nil) }
        use("Realm.init(fileURL:)") { _ = try Realm(fileURL: URL(fileURLWithPath: "a.firn")) }
        use("Realm.init(configuration:actor:)", "Realm.open(configuration:)") {
            @MainActor func opened() async throws -> Realm {
                let realm = try await Realm(configuration: .defaultConfiguration, actor: MainActor.shared)
                return try await realm.isEmpty ? realm : Realm.open(configuration: .defaultConfiguration)
            }
        }
        use("Realm.asyncOpen(configuration:callbackQueue:callback:)", "Realm.AsyncOpenTask.cancel()") {
            let task: Realm.AsyncOpenTask = Realm.asyncOpen(configuration: .defaultConfiguration, callbackQueue: .main) { result in
                switch result {
                case .success(let realm): _ = realm.isEmpty
                case .failure(let error): _ = error
                }
            }
            task.cancel()
        }
        use("Realm.schema", "Realm.configuration", "Realm.isEmpty") { _ = (realm.schema as Schema, realm.configuration, realm.isEmpty) }
        use("Realm.write(withoutNotifying:_:)") {
            let number: Int = try realm.write(withoutNotifying: [NotificationToken]()) { 1 }
            try realm.write { _ = number }
        }
        use("Realm.beginWrite()", "Realm.commitWrite(withoutNotifying:)", "Realm.cancelWrite()", "Realm.isInWriteTransaction") {
            realm.beginWrite()
            try realm.commitWrite(withoutNotifying: [])
            try realm.commitWrite()
            if realm.isInWriteTransaction { realm.cancelWrite() }
        }
        use(
            "Realm.writeAsync(_:onComplete:)", "Realm.beginAsyncWrite(_:)", "Realm.commitAsyncWrite(allowGrouping:_:)",
            "Realm.cancelAsyncWrite(_:)"
        ) {
            let id: AsyncTransactionId = realm.writeAsync({}) { error in _ = error }
            realm.writeAsync {}
            realm.beginAsyncWrite { realm.commitAsyncWrite(allowGrouping: true) { _ in } }
            realm.commitAsyncWrite()
            try realm.cancelAsyncWrite(id)
        }
        use("Realm.isPerformingAsynchronousWriteOperations") { _ = realm.isPerformingAsynchronousWriteOperations }
        useLater("Realm.asyncWrite(_:)", "Realm.asyncRefresh()") {
            try await realm.asyncWrite {}
            _ = await realm.asyncRefresh()
        }
        use("Realm.add(_:update:)", "Realm.UpdatePolicy") {
            realm.add(pet)
            realm.add(pet, update: .modified)
            realm.add([pet], update: .all)
            let policy: Realm.UpdatePolicy = .error
            realm.add(pet, update: policy)
        }
        use("Realm.create(_:value:update:)", "Realm.dynamicCreate(_:value:update:)") {
            _ = realm.create(SurfacePet.self, value: ["name": "Rex"], update: .modified)
            _ = realm.create(SurfacePet.self)
            let object: DynamicObject = realm.dynamicCreate("SurfacePet", value: ["name": "Rex"], update: .all)
            _ = object
        }
        use("Realm.delete(_:)", "Realm.deleteAll()") {
            realm.delete(pet)
            realm.delete([pet])
            realm.delete(pet.friends)
            realm.delete(pet.rivals)
            realm.delete(pet.byName)
            realm.delete(realm.objects(SurfacePet.self))
            realm.deleteAll()
        }
        use(
            "Realm.objects(_:)", "Realm.object(ofType:forPrimaryKey:)", "Realm.dynamicObjects(_:)",
            "Realm.dynamicObject(ofType:forPrimaryKey:)"
        ) {
            let all: Results<SurfacePet> = realm.objects(SurfacePet.self)
            let one: SurfacePet? = realm.object(ofType: SurfacePet.self, forPrimaryKey: ObjectId.generate())
            let untyped: Results<DynamicObject> = realm.dynamicObjects("SurfacePet")
            let other: DynamicObject? = realm.dynamicObject(ofType: "SurfacePet", forPrimaryKey: ObjectId.generate())
            _ = (all, one, untyped, other)
        }
        use("Realm.autorefresh", "Realm.refresh()", "Realm.invalidate()") {
            realm.autorefresh = false
            _ = realm.refresh()
            realm.invalidate()
        }
        use("Realm.isFrozen", "Realm.freeze()", "Realm.thaw()", "Realm.==(_:_:)") {
            _ = realm.freeze().isFrozen
            _ = realm.thaw() == realm
        }
        use("Realm.freeze(_:)", "Realm.thaw(_:)") {
            let object: SurfacePet = realm.freeze(pet)
            let thawn: SurfacePet? = realm.thaw(object)
            _ = (realm.freeze(realm.objects(SurfacePet.self)), realm.thaw(realm.objects(SurfacePet.self)))
            _ = (realm.freeze(pet.friends), realm.thaw(pet.friends), realm.freeze(pet.names), realm.thaw(pet.names))
            _ = (realm.freeze(pet.scores), realm.thaw(pet.scores), realm.freeze(pet.admirers), realm.thaw(pet.admirers), thawn)
        }
        use("ThreadSafeReference.init(to:)", "ThreadSafeReference.isInvalidated", "Realm.resolve(_:)") {
            let reference = ThreadSafeReference(to: pet)
            if !reference.isInvalidated { _ = realm.resolve(reference) }
        }
        use("ThreadSafe") {
            @ThreadSafe var safe: SurfacePet? = pet
            _ = safe?.name
        }
        use(
            "ThreadConfined.realm", "ThreadConfined.isInvalidated", "ThreadConfined.isFrozen", "ThreadConfined.freeze()",
            "ThreadConfined.thaw()"
        ) {
            func copies<T: ThreadConfined>(_ value: T) -> (T, T?, Realm?, Bool) {
                (value.freeze(), value.thaw(), value.realm, value.isFrozen || value.isInvalidated)
            }
            func all<C: RealmCollection>(_ collection: C) -> C { copies(collection).0 }
            _ = (copies(pet), copies(pet.scores), copies(SurfaceCard(projecting: pet)), all(pet.names), all(pet.friends))
        }
        use("Realm.Notification", "Realm.observe(_:)") {
            let token: NotificationToken = realm.observe { notification, realm in
                switch notification {
                case .didChange: _ = realm
                case .refreshRequired: break
                }
            }
            token.invalidate()
        }
    }

    mutating func addFiles(_ realm: Realm) {
        let configuration = realm.configuration
        use("Realm.Configuration.init(…)") {
            _ = Realm.Configuration(
                fileURL: nil, inMemoryIdentifier: nil, encryptionKey: nil, readOnly: false, schemaVersion: 1, migrationBlock: nil,
                deleteRealmIfMigrationNeeded: false, shouldCompactOnLaunch: nil, objectTypes: nil, seedFilePath: nil)
        }
        use("Realm.Configuration.defaultConfiguration") { Realm.Configuration.defaultConfiguration = configuration }
        use(
            "Realm.Configuration.fileURL", "Realm.Configuration.inMemoryIdentifier", "Realm.Configuration.encryptionKey",
            "Realm.Configuration.readOnly"
        ) {
            var own = configuration
            own.fileURL = URL(fileURLWithPath: "a.firn")
            own.inMemoryIdentifier = "a"
            own.encryptionKey = Data(count: 64)
            own.readOnly = true
        }
        use("Realm.Configuration.schemaVersion", "Realm.Configuration.migrationBlock", "Realm.Configuration.deleteRealmIfMigrationNeeded") {
            var own = configuration
            own.schemaVersion = 2
            own.migrationBlock = { migration, oldSchemaVersion in _ = (migration, oldSchemaVersion) }
            own.deleteRealmIfMigrationNeeded = true
        }
        use(
            "Realm.Configuration.shouldCompactOnLaunch", "Realm.Configuration.objectTypes",
            "Realm.Configuration.maximumNumberOfActiveVersions", "Realm.Configuration.seedFilePath"
        ) {
            var own = configuration
            own.shouldCompactOnLaunch = { totalBytes, usedBytes in totalBytes > 2 * usedBytes }
            own.objectTypes = [SurfacePet.self, SurfacePlace.self]
            own.maximumNumberOfActiveVersions = 10
            own.seedFilePath = URL(fileURLWithPath: "seed.firn")
        }
        use("Realm.Configuration.description") { _ = configuration.description }
        use("Realm.writeCopy(toFile:encryptionKey:)", "Realm.writeCopy(configuration:)") {
            try realm.writeCopy(toFile: URL(fileURLWithPath: "b.firn"), encryptionKey: Data())
            try realm.writeCopy(configuration: configuration)
        }
        use("Realm.fileExists(for:)", "Realm.deleteFiles(for:)", "Realm.performMigration(for:)", "schemaVersionAtURL(_:encryptionKey:)") {
            _ = Realm.fileExists(for: configuration)
            _ = try Realm.deleteFiles(for: configuration)
            try Realm.performMigration(for: configuration)
            let version: UInt64 = try schemaVersionAtURL(URL(fileURLWithPath: "a.firn"), encryptionKey: nil)
            _ = version
        }
        use("Realm.Error", "Realm.Error.code", "Realm.Error.fileURL", "Realm.Error.init(_:)", "Realm.Error.Code") {
            do { throw Realm.Error(.fail) } catch Realm.Error.fileNotFound {} catch let error as Realm.Error where error.code == .fileAccess
            {
                let code: Realm.Error.Code = error.code
                _ = (error.fileURL, error.localizedDescription, code.rawValue)
            }
        }
        use("Logger.shared", "Logger.level", "Logger.init(level:logFunction:)", "Logger.log(level:message:)", "LogLevel") {
            Logger.shared.level = .trace
            let logger = Logger(level: .info) { level, message in print(level, message) }
            logger.log(level: .error, message: "failed")
            Logger.shared = logger
            let level: LogLevel = .off
            _ = (level, LogLevel.fatal, LogLevel.warn, LogLevel.detail, LogLevel.debug, LogLevel.all)
        }
    }

    mutating func addMigrations() {
        use("Migration.enumerateObjects(ofType:_:)", "Migration.create(_:value:)", "Migration.delete(_:)", "Migration.deleteData(forType:)")
        {
            let block: MigrationBlock = { migration, _ in
                migration.enumerateObjects(ofType: SurfacePet.className()) { (old: MigrationObject?, new: MigrationObject?) in
                    new?["name"] = old?["name"]
                    if let new { migration.delete(new) }
                }
                let made: MigrationObject = migration.create("SurfacePet", value: ["name": "Rex"])
                _ = (made, migration.deleteData(forType: "Gone"))
            }
            _ = block
        }
        use("Migration.renameProperty(onType:from:to:)", "Migration.oldSchema", "Migration.newSchema") {
            let block: MigrationBlock = { migration, _ in
                migration.renameProperty(onType: "SurfacePet", from: "title", to: "name")
                let schemas: [Schema] = [migration.oldSchema, migration.newSchema]
                _ = schemas
            }
            _ = block
        }
        use("MigrationObjectEnumerateBlock") {
            let block: MigrationObjectEnumerateBlock = { old, new in _ = (old, new) }
            _ = block
        }
    }
}
