import FirnBytes
import FirnDisk
import Foundation
import Synchronization

extension Realm {
    /// Where a realm's data is, and how it is opened. A plain value.
    public struct Configuration: Sendable {
        /// What `Realm()` opens.
        public static var defaultConfiguration: Configuration {
            get { standard.withLock { $0 } }
            set { standard.withLock { $0 = newValue } }
        }
        private static let standard: Mutex<Configuration> = Mutex(Configuration())

        /// The file. Setting it unsets `inMemoryIdentifier`.
        public var fileURL: URL? {
            didSet { if fileURL != nil, inMemoryIdentifier != nil { inMemoryIdentifier = nil } }
        }
        /// A realm without a file: it lives while any realm with the same identifier is open. Setting it unsets `fileURL`.
        public var inMemoryIdentifier: String? {
            didSet { if inMemoryIdentifier != nil, fileURL != nil { fileURL = nil } }
        }
        /// 64 bytes: a file that is made is encrypted with them, and one that is opened has to be. Nil: neither is. To change the key, or to encrypt a file that is not, or
        /// the other way round: `writeCopy(toFile:encryptionKey:)`. Keep it well; without it nobody reads the file.
        public var encryptionKey: Data?
        /// Never writes, nor makes a file.
        public var readOnly: Bool
        /// The version of the classes: the application counts it up whenever a class changes. Opening a file of a lower version migrates the classes of
        /// `objectTypes` (nil: those that the program has used so far); a file of a higher version is not opened.
        public var schemaVersion: UInt64
        /// The classes that the realm holds; nil: all classes that are used with it.
        public var objectTypes: [ObjectBase.Type]? {
            get { types.map(\.types) }
            set { types = newValue.map(TypeList.init) }
        }
        /// Beginning a write transaction fails when more versions than this are alive; nil: any number may be.
        public var maximumNumberOfActiveVersions: UInt?

        /// Which versions of the file stay readable, from the next commit on: the file remembers it. Nil: what the file says; where it says nothing, the eight newest. What holds is
        /// what the realm was opened with that had the file open first in this process.
        public var history: Realm.History?

        /// Brings the data of an older `schemaVersion` into the shape of the classes: see `Migration`.
        public var migrationBlock: MigrationBlock?
        /// Where the file does not fit the classes, it is deleted and begun anew, instead of being migrated: for data that can be had again.
        public var deleteRealmIfMigrationNeeded: Bool
        /// Asked when this process opens the file first: is it to be compacted, with so many bytes in all, of which so many are used? Not done, silently,
        /// while anybody else uses the file. Never asked for realms that are read-only or in memory.
        public var shouldCompactOnLaunch: (@Sendable (_ totalBytes: Int, _ usedBytes: Int) -> Bool)?
        /// The file is read in place, where the system keeps what it has of it. False: with calls, into memory, which is slower and takes more of it, but an
        /// error of the medium is then an error of the call. The first realm of a file decides for the process.
        public var mapsFile = true
        /// Bytes that may be held at a time of what the file contains: unpacked values, dictionaries, results of queries. Nil: what the process may hold in all,
        /// half of the machine's memory. Beyond it reading behaves as `docs/guide/damage.md` says of damage: zero or nil, and `realm.damage` names the column.
        /// A small file can unpack to any size, so programs that open files of others set it. The first realm of a file decides for the process.
        public var memoryLimit: Int?
        /// Where there is no file yet, it begins as a copy of this one.
        public var seedFilePath: URL?

        /// When the writes of this realm return, unless they say otherwise. See `docs/guide/caveats.md`.
        public var durability: Durability = .full

        private struct TypeList: @unchecked Sendable { var types: [ObjectBase.Type] }
        private var types: TypeList?

        /// - Parameter fileURL: by default `default.firn` in the working directory.
        public init(fileURL: URL? = URL(fileURLWithPath: "default.firn"), inMemoryIdentifier: String? = nil, encryptionKey: Data? = nil, readOnly: Bool = false,
                    schemaVersion: UInt64 = 0, migrationBlock: MigrationBlock? = nil, deleteRealmIfMigrationNeeded: Bool = false,
                    shouldCompactOnLaunch: (@Sendable (_ totalBytes: Int, _ usedBytes: Int) -> Bool)? = nil,
                    objectTypes: [ObjectBase.Type]? = nil, seedFilePath: URL? = nil, maximumNumberOfActiveVersions: UInt? = nil, history: Realm.History? = nil) {
            self.fileURL = inMemoryIdentifier == nil ? fileURL : nil
            self.inMemoryIdentifier = inMemoryIdentifier
            self.encryptionKey = encryptionKey
            self.readOnly = readOnly
            self.schemaVersion = schemaVersion
            self.maximumNumberOfActiveVersions = maximumNumberOfActiveVersions
            types = objectTypes.map(TypeList.init)
            self.migrationBlock = migrationBlock
            self.deleteRealmIfMigrationNeeded = deleteRealmIfMigrationNeeded
            self.shouldCompactOnLaunch = shouldCompactOnLaunch
            self.seedFilePath = seedFilePath
            self.history = history
        }

        /// What is charged for the file: a budget of its own within the process's memory, or that of the process.
        var memory: MemoryBudget {
            guard let memoryLimit else { return .process }
            return MemoryBudget(limit: memoryLimit) { more, _ in ProcessMemory.hasRoom(more, ProcessMemory.bound(MemoryBudget.process.limit)) }
        }

        /// The key of the file; throws where there can be none.
        func key() throws -> EncryptionKey? {
            guard let encryptionKey else { return nil }
            guard inMemoryIdentifier == nil else { throw Realm.Error(.invalidInput, "a realm in memory is not encrypted: leave encryptionKey out") }
            return try EncryptionKey(checked: encryptionKey)
        }

        /// For a system that gives processes no stamps: distinguishes this process from one that had its number before.
        private static let processMark = String(UInt32.random(in: 0...UInt32.max), radix: 36)

        var isInMemory: Bool { inMemoryIdentifier != nil }

        /// The same for realms that share an open file: those that only read have one of their own, which is open for reading.
        func fileKey() throws -> String { try place().path + (readOnly ? "\n(read)" : "") }

        /// The file behind the realm; of one in memory, what its name begins with. One in memory stands in memory-backed storage and is removed with the last realm.
        func place() throws -> (path: String, isTemporary: Bool) {
            if let inMemoryIdentifier {
                guard !readOnly else { throw Realm.Error(.invalidInput, "a realm in memory cannot be read-only") }
                // Names of files are short, identifiers may be long.
                let name = Hash128(of: Array(inMemoryIdentifier.utf8))
                let folder = FileManager.default.fileExists(atPath: "/dev/shm") ? "/dev/shm" : NSTemporaryDirectory()
                return ("\(folder)/\(AbandonedFiles.memoryName(Configuration.processMark))-\(name)", true)
            }
            guard let fileURL else { throw Realm.Error(.invalidInput, "a configuration needs a fileURL or an inMemoryIdentifier") }
            guard fileURL.isFileURL, !fileURL.path.isEmpty else { throw Realm.Error(.invalidInput, "'\(fileURL)' is no file") }
            return (fileURL.standardizedFileURL.path, false)
        }
    }
}

extension EncryptionKey {
    /// Throws if they are not 64 bytes.
    init(checked data: Data) throws {
        guard let key = EncryptionKey(Array(data)) else {
            throw Realm.Error(.invalidInput, "Encryption key must be exactly \(EncryptionKey.count) bytes long: this one has \(data.count).")
        }
        self = key
    }
}
