import Firn
import Foundation
import Synchronization

/// Where a realm's data is, and how it is opened.
public final class RLMRealmConfiguration {
    var base: Realm.Configuration
    /// Types that the realm has, without a class for them: made types of the file if they are not yet. Opening throws where the file has others of the same
    /// name. Types that the file has need not be named. (Files are migrated with classes: see `Realm.Configuration.migrationBlock`.)
    public var customSchema: RLMSchema?

    public init() { base = Realm.Configuration() }

    private init(_ base: Realm.Configuration, _ schema: RLMSchema?) {
        self.base = base
        customSchema = schema
    }

    private struct Standard: @unchecked Sendable { var schema: RLMSchema? }
    private static let standard: Mutex<Standard> = Mutex(Standard())

    /// What `RLMRealm.default()` opens: a copy.
    public static func `default`() -> RLMRealmConfiguration { RLMRealmConfiguration(.defaultConfiguration, standard.withLock { $0 }.schema) }

    public static func setDefault(_ configuration: RLMRealmConfiguration) {
        let new = Standard(schema: configuration.customSchema)
        standard.withLock { $0 = new }
        Realm.Configuration.defaultConfiguration = configuration.base
    }

    func copied() -> RLMRealmConfiguration { RLMRealmConfiguration(base, customSchema) }

    init(_ base: Realm.Configuration) { self.base = base }

    /// The file. Setting it unsets `inMemoryIdentifier`.
    public var fileURL: URL? {
        get { base.fileURL }
        set { base.fileURL = newValue }
    }

    /// A realm without a file: it lives while any realm with the same identifier is open. Setting it unsets `fileURL`.
    public var inMemoryIdentifier: String? {
        get { base.inMemoryIdentifier }
        set { base.inMemoryIdentifier = newValue }
    }

    /// 64 bytes that the file is encrypted with; nil: it is not.
    public var encryptionKey: Data? {
        get { base.encryptionKey }
        set { base.encryptionKey = newValue }
    }

    /// Never writes, nor makes a file.
    public var readOnly: Bool {
        get { base.readOnly }
        set { base.readOnly = newValue }
    }

    /// The version that the file must not be above.
    public var schemaVersion: UInt64 {
        get { base.schemaVersion }
        set { base.schemaVersion = newValue }
    }

    /// Beginning a write transaction fails when more versions than this are alive; 0: any number may be.
    public var maximumNumberOfActiveVersions: UInt {
        get { base.maximumNumberOfActiveVersions ?? 0 }
        set { base.maximumNumberOfActiveVersions = newValue == 0 ? nil : newValue }
    }

    /// Where the file does not fit, it is deleted and begun anew.
    public var deleteRealmIfMigrationNeeded: Bool {
        get { base.deleteRealmIfMigrationNeeded }
        set { base.deleteRealmIfMigrationNeeded = newValue }
    }

    /// Asked when this process opens the file first: is it to be compacted?
    public var shouldCompactOnLaunch: (@Sendable (_ totalBytes: Int, _ bytesUsed: Int) -> Bool)? {
        get { base.shouldCompactOnLaunch }
        set { base.shouldCompactOnLaunch = newValue }
    }

    /// Where there is no file yet, it begins as a copy of this one.
    public var seedFilePath: URL? {
        get { base.seedFilePath }
        set { base.seedFilePath = newValue }
    }
}
