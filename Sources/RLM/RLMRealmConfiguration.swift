import Firn
import Foundation
import Synchronization

/// The location of a realm's data and the options that it is opened with.
public final class RLMRealmConfiguration {
    var base: Realm.Configuration
    /// Types without a Swift class that the realm has. They are added to the file if it does not have them. Opening throws if types of the
    /// same name in the file differ. Types that the file has need not be listed. (Files are migrated with classes: see
    /// `Realm.Configuration.migrationBlock`.)
    public var customSchema: RLMSchema?

    /// Creates a configuration with the default options.
    public init() { base = Realm.Configuration() }

    private init(_ base: Realm.Configuration, _ schema: RLMSchema?) {
        self.base = base
        customSchema = schema
    }

    private struct Standard: @unchecked Sendable { var schema: RLMSchema? }
    private static let standard: Mutex<Standard> = Mutex(Standard())

    /// Returns a copy of the configuration that `RLMRealm.default()` opens.
    public static func `default`() -> RLMRealmConfiguration {
        RLMRealmConfiguration(.defaultConfiguration, standard.withLock { $0 }.schema)
    }

    /// Sets the configuration that `RLMRealm.default()` opens.
    public static func setDefault(_ configuration: RLMRealmConfiguration) {
        let new = Standard(schema: configuration.customSchema)
        standard.withLock { $0 = new }
        Realm.Configuration.defaultConfiguration = configuration.base
    }

    func copied() -> RLMRealmConfiguration { RLMRealmConfiguration(base, customSchema) }

    init(_ base: Realm.Configuration) { self.base = base }

    /// The URL of the file. Setting it sets `inMemoryIdentifier` to nil.
    public var fileURL: URL? {
        get { base.fileURL }
        set { base.fileURL = newValue }
    }

    /// The name of a realm in memory, which exists as long as any realm with the same identifier is open. Setting it sets `fileURL` to nil.
    public var inMemoryIdentifier: String? {
        get { base.inMemoryIdentifier }
        set { base.inMemoryIdentifier = newValue }
    }

    /// The key of 64 bytes that the file is encrypted with; nil if it is not encrypted.
    public var encryptionKey: Data? {
        get { base.encryptionKey }
        set { base.encryptionKey = newValue }
    }

    /// If true, the realm never writes to the file and never creates one.
    public var readOnly: Bool {
        get { base.readOnly }
        set { base.readOnly = newValue }
    }

    /// The schema version. A file with a higher one is not opened.
    public var schemaVersion: UInt64 {
        get { base.schemaVersion }
        set { base.schemaVersion = newValue }
    }

    /// The maximum number of active versions; 0 for no limit. Beginning a write transaction fails if there are more.
    public var maximumNumberOfActiveVersions: UInt {
        get { base.maximumNumberOfActiveVersions ?? 0 }
        set { base.maximumNumberOfActiveVersions = newValue == 0 ? nil : newValue }
    }

    /// If true, a file that does not fit the types is deleted and created again.
    public var deleteRealmIfMigrationNeeded: Bool {
        get { base.deleteRealmIfMigrationNeeded }
        set { base.deleteRealmIfMigrationNeeded = newValue }
    }

    /// Decides, when this process opens the file for the first time, whether it is compacted. See `Realm.Configuration`.
    public var shouldCompactOnLaunch: (@Sendable (_ totalBytes: Int, _ bytesUsed: Int) -> Bool)? {
        get { base.shouldCompactOnLaunch }
        set { base.shouldCompactOnLaunch = newValue }
    }

    /// The file that a new file is a copy of. It is not used if `fileURL` exists.
    public var seedFilePath: URL? {
        get { base.seedFilePath }
        set { base.seedFilePath = newValue }
    }
}
