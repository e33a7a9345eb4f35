import FirnBytes
import FirnTable
import Foundation

extension Realm {
    /// The errors that opening, writing and committing throw.
    ///
    ///     do { _ = try Realm(configuration: configuration) } catch Realm.Error.fileNotFound {
    ///         …
    ///     } catch let error as Realm.Error { print(error.code, error.fileURL ?? "", error) }
    public struct Error: LocalizedError, CustomNSError, Equatable, Sendable, CustomStringConvertible, _RealmErrorCodes {
        /// The kinds of errors, with the numbers that Realm gives them.
        public enum Code: Int, Sendable, CaseIterable {
            /// A general failure.
            case fail = 1
            /// Reading or writing the file failed.
            case fileAccess = 2
            /// The file may not be opened or created in this way, or the realm is read-only.
            case filePermissionDenied = 3
            /// A file to be created exists already.
            case fileExists = 4
            /// There is no file to open.
            case fileNotFound = 5
            /// Never thrown: files are not upgraded when they are opened.
            case fileFormatUpgradeRequired = 6
            /// Never thrown: there are no lock files.
            case incompatibleLockFile = 8
            /// The operation needs more memory or address space than there is.
            case addressSpaceExhausted = 9
            /// The classes and the file differ: a migration is required.
            case schemaMismatch = 10
            /// The file is in use.
            case alreadyOpen = 12
            /// An argument is not valid.
            case invalidInput = 13
            /// The disk is full.
            case outOfDiskSpace = 14
            /// Never thrown: a file is opened by any number of processes.
            case incompatibleSession = 15
            /// The file needs a feature of a newer version.
            case unsupportedFileFormatVersion = 16
            /// Never thrown: there is no synchronization.
            case multipleSyncAgents = 17
            /// Never thrown: there is no synchronization.
            case subscriptionFailed = 18
            /// A call of the operating system failed.
            case fileOperationFailed = 19
            /// The file is damaged, is of another format, or does not fit the encryption key.
            case invalidDatabase = 20
            /// Never thrown: there is no synchronization.
            case incompatibleHistories = 21
            /// Never thrown: there is no synchronization.
            case noSubscriptionForWrite = 22
            /// A write transaction was begun within another one.
            case alreadyInTransaction = 1001
            /// Another object of the type has the same primary key.
            case duplicatePrimaryKey = 1002
            /// There are more active versions than `maximumNumberOfActiveVersions` permits.
            case tooManyVersions = 1003
        }

        /// The kind of the error.
        public let code: Code
        /// What failed, and why.
        public let message: String
        /// The underlying error with its location in the file, or nil.
        public let cause: FirnError?
        /// The file that the error concerns; nil if it concerns no file.
        public internal(set) var fileURL: URL?

        /// Makes an error with a code, for code that throws errors of its own. `NSLocalizedDescriptionKey` and `NSFilePathErrorKey` of
        /// `userInfo` are its message and file.
        public init(_ code: Code, userInfo: [String: Any] = [:]) {
            self.init(code, userInfo[NSLocalizedDescriptionKey] as? String ?? code.text)
            fileURL = (userInfo[NSFilePathErrorKey] as? String).map { URL(fileURLWithPath: $0) }
        }

        init(_ code: Code, _ message: String, cause: FirnError? = nil) {
            self.code = code
            self.message = message
            self.cause = cause
            // Messages can have other names in the place of a path.
            fileURL = cause?.location.flatMap { $0.file.hasPrefix("/") ? URL(fileURLWithPath: $0.file) : nil }
        }

        init(_ code: Code, _ message: String, at path: String) {
            self.init(code, message)
            fileURL = URL(fileURLWithPath: path)
        }

        init(_ error: FirnError) {
            let code: Code =
                switch error.code {
                case .damaged, .notThisFormat, .encrypted, .wrongKey, .notEncrypted: .invalidDatabase
                case .unsupported: .unsupportedFileFormatVersion
                case .exists: .fileExists
                case .notFound: .fileNotFound
                case .noSpace: .outOfDiskSpace
                case .locked: .alreadyOpen
                case .duplicateKey: .duplicatePrimaryKey
                case .schema: .schemaMismatch
                case .usage, .rejected: .invalidInput
                case .outOfMemory: .addressSpaceExhausted
                case .inputOutput: error.isPermission ? .filePermissionDenied : error.systemCode == nil ? .fileAccess : .fileOperationFailed
                default: .fail
                }
            var cause = error
            if let advice = Realm.Error.keyAdvice(error.code) { cause.advice = advice }
            self.init(code, cause.description + (cause.advice.map { "; \($0)" } ?? ""), cause: cause)
        }

        /// The advice for errors of keys. That of the error itself can name the flags of the command.
        private static func keyAdvice(_ code: FirnError.Code) -> String? {
            switch code {
            case .encrypted, .wrongKey: "set Realm.Configuration.encryptionKey to the 64 bytes that the file was encrypted with"
            case .notEncrypted:
                "leave Realm.Configuration.encryptionKey nil to open the file, or encrypt a copy with writeCopy(configuration:)"
            default: nil
            }
        }

        /// What failed, and why: the same as `message`.
        public var description: String { message }
        /// What failed, and why: the same as `message`; never nil. It is also the `localizedDescription`.
        public var errorDescription: String? { message }

        /// The domain of the error as an `NSError`: "io.realm".
        public static var errorDomain: String { "io.realm" }
        /// The number of the code.
        public var errorCode: Int { code.rawValue }
        /// The message and the path of the file.
        public var errorUserInfo: [String: Any] {
            var information: [String: Any] = [NSLocalizedDescriptionKey: message]
            if let fileURL { information[NSFilePathErrorKey] = fileURL.path }
            return information
        }

        /// Returns whether both have the same code.
        public static func == (a: Error, b: Error) -> Bool { a.code == b.code }

        /// Returns whether `error` is a `Realm.Error` with the code of `pattern`.
        public static func ~= (pattern: Error, error: any Swift.Error) -> Bool { (error as? Error)?.code == pattern.code }
    }
}

extension Realm.Error {
    /// Returns the error with the file of a configuration, if it has none.
    func concerning(_ configuration: Realm.Configuration) -> Realm.Error {
        var error = self
        if fileURL == nil { error.fileURL = configuration.fileURL }
        return error
    }
}

extension Realm.Error.Code {
    /// Returns whether `error` is a `Realm.Error` with this code, so that `catch Realm.Error.fileNotFound` works.
    public static func ~= (code: Self, error: any Swift.Error) -> Bool { (error as? Realm.Error)?.code == code }

    /// The message of an error that has no other.
    fileprivate var text: String {
        switch self {
        case .fail: "a general failure"
        case .fileAccess: "reading or writing the file failed"
        case .filePermissionDenied: "the file may not be opened or created in this way, or the realm is read-only"
        case .fileExists: "a file to be created exists already"
        case .fileNotFound: "there is no file to open"
        case .fileFormatUpgradeRequired: "never thrown: files are not upgraded when they are opened"
        case .incompatibleLockFile: "never thrown: there are no lock files"
        case .addressSpaceExhausted: "the operation needs more memory or address space than there is"
        case .schemaMismatch: "the classes and the file differ: a migration is required"
        case .alreadyOpen: "the file is in use"
        case .invalidInput: "an argument is not valid"
        case .outOfDiskSpace: "the disk is full"
        case .incompatibleSession: "never thrown: a file is opened by any number of processes"
        case .unsupportedFileFormatVersion: "the file needs a feature of a newer version"
        case .multipleSyncAgents: "never thrown: there is no synchronization"
        case .subscriptionFailed: "never thrown: there is no synchronization"
        case .fileOperationFailed: "a call of the operating system failed"
        case .invalidDatabase: "the file is damaged, is of another format, or does not fit the encryption key"
        case .incompatibleHistories: "never thrown: there is no synchronization"
        case .noSubscriptionForWrite: "never thrown: there is no synchronization"
        case .alreadyInTransaction: "a write transaction was begun within another one"
        case .duplicatePrimaryKey: "another object of the type has the same primary key"
        case .tooManyVersions: "there are more active versions than maximumNumberOfActiveVersions permits"
        }
    }
}

/// Messages that several functions use.
enum RealmMessage {
    static func outsideTransaction(_ action: String) -> String {
        "Cannot \(action) outside of a write transaction: do it within realm.write { … }."
    }

    static func invalidValue(_ value: Any?, property: ClassSchema.Property, type: String) -> String {
        let shown = unwrapped(value).map { "\"\($0)\" of type \(Swift.type(of: $0))" } ?? "nil"
        return "Invalid value \(shown) for property \"\(type).\(property.codeName)\", which takes \(property.access.accepted)."
    }

    static func invalidValue(_ value: Any?, of type: TypeSchema, _ index: Int) -> String {
        "Invalid value \"\(unwrapped(value) ?? "nil")\" for property \"\(type.name).\(type.columns[index].name)\", which takes \(type.columns[index].type.name)."
    }

    static let frozen = "Cannot modify a frozen realm or objects read from it: use thaw() to get the live ones."
}
