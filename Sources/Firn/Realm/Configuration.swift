import FirnBytes
import FirnDisk
import Foundation
import Synchronization

extension Realm {
    /// The location of a realm's data and the options that it is opened with.
    public struct Configuration: Sendable {
        /// The configuration that `Realm()` opens.
        public static var defaultConfiguration: Configuration {
            get { standard.withLock { $0 } }
            set { standard.withLock { $0 = newValue } }
        }
        private static let standard: Mutex<Configuration> = Mutex(Configuration())

        /// The URL of the file. Setting it sets `inMemoryIdentifier` to nil.
        public var fileURL: URL? {
            didSet { if fileURL != nil, inMemoryIdentifier != nil { inMemoryIdentifier = nil } }
        }
        /// The name of a realm in memory, which exists as long as any realm with the same identifier is open. Setting it sets `fileURL` to
        /// nil.
        public var inMemoryIdentifier: String? {
            didSet { if inMemoryIdentifier != nil, fileURL != nil { fileURL = nil } }
        }
        /// A key of 64 bytes, with which a new file is encrypted. An existing file must be encrypted with the same key; if nil, it must not
        /// be encrypted. To encrypt or decrypt a file or to change its key, use `writeCopy(toFile:encryptionKey:)`. Without the key, an
        /// encrypted file cannot be read.
        public var encryptionKey: Data?
        /// If true, the realm never writes to the file and never creates one.
        public var readOnly: Bool
        /// The version of the classes. The application increases it whenever a class changes. Opening a file with a lower version migrates
        /// the classes of
        /// `objectTypes` (nil: those that the program has used so far). A file with a higher version is not opened.
        public var schemaVersion: UInt64
        /// The classes that the realm can hold. If nil, it can hold every class that it is used with.
        public var objectTypes: [ObjectBase.Type]?
        /// The maximum number of active versions; nil for no limit. Beginning a write transaction fails if there are more.
        public var maximumNumberOfActiveVersions: UInt?

        /// Which versions of the file stay readable, from the next commit on. The file stores this setting. If nil, the file's own setting
        /// is used, or, if it has none, the 8 newest versions are kept. The first realm of a file in this process decides for the process.
        public var history: Realm.History?

        /// Converts data of an older `schemaVersion` to the changed classes: see `Migration`.
        public var migrationBlock: MigrationBlock?
        /// If true, a file that does not fit the classes is deleted and created again instead of being migrated. Use it for data that can
        /// be restored.
        public var deleteRealmIfMigrationNeeded: Bool
        /// Decides, when this process opens the file for the first time, whether it is compacted. The block receives the size of the file
        /// and the number of bytes in use. The file is silently not compacted while another process uses it. The block is not called for
        /// read-only and in-memory realms.
        public var shouldCompactOnLaunch: (@Sendable (_ totalBytes: Int, _ usedBytes: Int) -> Bool)?
        /// If true, the file is memory-mapped. If false, it is read with system calls, which is slower and uses more memory, but reports an
        /// error of the medium as an error of the call. The first realm of a file decides for the process.
        public var mapsFile = true
        /// The maximum number of bytes of memory for decoded contents of the file: values, dictionaries, results of queries. If nil, the
        /// limit of the process applies, which is half of the machine's memory. Reads beyond the limit behave as `docs/guide/damage.md`
        /// describes for damage: they return zero or nil, and `realm.damage` names the column. A small file can decode to any size, so
        /// programs that open untrusted files should set a limit. The first realm of a file decides for the process.
        public var memoryLimit: Int?
        /// The file that a new file is a copy of. It is not used if `fileURL` exists.
        public var seedFilePath: URL?

        /// When the writes of this realm return, unless a write specifies it. See `docs/guide/caveats.md`.
        public var durability: Durability = .full

        /// Creates a configuration. Each parameter sets the property of its name; the other options have their defaults. The default file
        /// is `default.firn` in the working directory.
        public init(
            fileURL: URL? = URL(fileURLWithPath: "default.firn"), inMemoryIdentifier: String? = nil, encryptionKey: Data? = nil,
            readOnly: Bool = false,
            schemaVersion: UInt64 = 0, migrationBlock: MigrationBlock? = nil, deleteRealmIfMigrationNeeded: Bool = false,
            shouldCompactOnLaunch: (@Sendable (_ totalBytes: Int, _ usedBytes: Int) -> Bool)? = nil,
            objectTypes: [ObjectBase.Type]? = nil, seedFilePath: URL? = nil, maximumNumberOfActiveVersions: UInt? = nil,
            history: Realm.History? = nil
        ) {
            self.fileURL = inMemoryIdentifier == nil ? fileURL : nil
            self.inMemoryIdentifier = inMemoryIdentifier
            self.encryptionKey = encryptionKey
            self.readOnly = readOnly
            self.schemaVersion = schemaVersion
            self.maximumNumberOfActiveVersions = maximumNumberOfActiveVersions
            self.objectTypes = objectTypes
            self.migrationBlock = migrationBlock
            self.deleteRealmIfMigrationNeeded = deleteRealmIfMigrationNeeded
            self.shouldCompactOnLaunch = shouldCompactOnLaunch
            self.seedFilePath = seedFilePath
            self.history = history
        }

        /// The budget that the file is charged to: its own within the memory of the process, or that of the process.
        var memory: MemoryBudget {
            guard let memoryLimit else { return .process }
            return MemoryBudget(limit: memoryLimit) { more, _ in
                ProcessMemory.hasRoom(more, ProcessMemory.bound(MemoryBudget.process.limit))
            }
        }

        /// Returns the key of the file, or nil. Throws if the key is not valid or the realm is in memory.
        func key() throws -> EncryptionKey? {
            guard let encryptionKey else { return nil }
            guard inMemoryIdentifier == nil else {
                throw Realm.Error(.invalidInput, "a realm in memory cannot be encrypted: remove encryptionKey")
            }
            return try EncryptionKey(checked: encryptionKey)
        }

        /// Distinguishes this process from an earlier one with the same process id, on systems that do not record when a process started.
        private static let processMark = String(UInt32.random(in: 0...UInt32.max), radix: 36)

        var isInMemory: Bool { inMemoryIdentifier != nil }

        /// Returns the key under which realms share an open file. Read-only realms do not share with others: their file is opened for
        /// reading.
        func fileKey() throws -> String { try location().path + (readOnly ? "\n(read)" : "") }

        /// Returns the path of the file; for a realm in memory, the beginning of the path. Its file is in memory-backed storage and is
        /// removed with the last realm.
        func location() throws -> (path: String, isTemporary: Bool) {
            if let inMemoryIdentifier {
                guard !readOnly else { throw Realm.Error(.invalidInput, "a realm in memory cannot be read-only") }
                // Identifiers can be longer than file names.
                let name = Hash128(of: Array(inMemoryIdentifier.utf8))
                let folder = FileManager.default.fileExists(atPath: "/dev/shm") ? "/dev/shm" : NSTemporaryDirectory()
                return ("\(folder)/\(AbandonedFiles.memoryName(Configuration.processMark))-\(name)", true)
            }
            guard let fileURL else { throw Realm.Error(.invalidInput, "a configuration needs a fileURL or an inMemoryIdentifier") }
            guard fileURL.isFileURL, !fileURL.path.isEmpty else {
                throw Realm.Error(.invalidInput, "\"\(fileURL)\" is not the URL of a file")
            }
            return (fileURL.standardizedFileURL.path, false)
        }
    }
}

extension EncryptionKey {
    /// Throws if `data` does not have 64 bytes.
    init(checked data: Data) throws {
        guard let key = EncryptionKey(Array(data)) else {
            throw Realm.Error(
                .invalidInput, "Encryption key must be exactly \(EncryptionKey.count) bytes long: this one has \(data.count).")
        }
        self = key
    }
}
