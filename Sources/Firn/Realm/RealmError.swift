import FirnBytes
import FirnTable
import Foundation

extension Realm {
    /// The errors that opening, writing and committing throw.
    public struct Error: LocalizedError, Equatable, Sendable, CustomStringConvertible {
        /// The kinds of errors.
        public enum Code: String, Sendable {
            case fail, fileAccess, filePermissionDenied, fileExists, fileNotFound, fileFormatUpgradeRequired, incompatibleLockFile
            case addressSpaceExhausted, schemaMismatch, alreadyOpen, invalidInput, outOfDiskSpace, unsupportedFileFormatVersion
            case fileOperationFailed, invalidDatabase, incompatibleHistories
            /// A write transaction was begun within another one.
            case alreadyInTransaction
            /// Another object of the type has the same primary key.
            case duplicatePrimaryKey
            /// There are more active versions than `maximumNumberOfActiveVersions` permits.
            case tooManyVersions
        }

        /// The kind of the error.
        public let code: Code
        /// What failed, and why.
        public let message: String
        /// The underlying error with its location in the file, or nil.
        public let cause: FirnError?

        init(_ code: Code, _ message: String, cause: FirnError? = nil) {
            self.code = code
            self.message = message
            self.cause = cause
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
                case .inputOutput: .fileAccess
                default: .fail
                }
            self.init(code, error.description, cause: error)
        }

        /// What failed, and why: the same as `message`.
        public var description: String { message }
        /// What failed, and why: the same as `message`; never nil. It is also the `localizedDescription`.
        public var errorDescription: String? { message }

        /// Returns whether both have the same code, so that `catch Realm.Error.fileNotFound` works.
        public static func == (a: Error, b: Error) -> Bool { a.code == b.code }

        /// Returns whether `error` is a `Realm.Error` with the code of `pattern`.
        public static func ~= (pattern: Error, error: any Swift.Error) -> Bool { (error as? Error)?.code == pattern.code }

        /// Matches every error with the code `fail`.
        public static let fail = Error(.fail, "")
        /// Matches every error with the code `fileAccess`.
        public static let fileAccess = Error(.fileAccess, "")
        /// Matches every error with the code `filePermissionDenied`.
        public static let filePermissionDenied = Error(.filePermissionDenied, "")
        /// Matches every error with the code `fileExists`.
        public static let fileExists = Error(.fileExists, "")
        /// Matches every error with the code `fileNotFound`.
        public static let fileNotFound = Error(.fileNotFound, "")
        /// Matches every error with the code `schemaMismatch`.
        public static let schemaMismatch = Error(.schemaMismatch, "")
        /// Matches every error with the code `alreadyOpen`.
        public static let alreadyOpen = Error(.alreadyOpen, "")
        /// Matches every error with the code `invalidInput`.
        public static let invalidInput = Error(.invalidInput, "")
        /// Matches every error with the code `outOfDiskSpace`.
        public static let outOfDiskSpace = Error(.outOfDiskSpace, "")
        /// Matches every error with the code `unsupportedFileFormatVersion`.
        public static let unsupportedFileFormatVersion = Error(.unsupportedFileFormatVersion, "")
        /// Matches every error with the code `invalidDatabase`.
        public static let invalidDatabase = Error(.invalidDatabase, "")
        /// Matches every error with the code `duplicatePrimaryKey`.
        public static let duplicatePrimaryKey = Error(.duplicatePrimaryKey, "")
        /// Matches every error with the code `alreadyInTransaction`.
        public static let alreadyInTransaction = Error(.alreadyInTransaction, "")
        /// Matches every error with the code `tooManyVersions`.
        public static let tooManyVersions = Error(.tooManyVersions, "")
    }
}

/// Messages that several functions use.
enum RealmMessage {
    static func outsideTransaction(_ action: String) -> String {
        "Cannot \(action) outside of a write transaction: do it within realm.write { … }."
    }

    static func invalidValue(_ value: Any?, property: ClassSchema.Property, type: String) -> String {
        let shown = unwrapped(value).map { "\"\($0)\" of type \(Swift.type(of: $0))" } ?? "nil"
        return "Invalid value \(shown) for property \"\(type).\(property.name)\", which takes \(property.shape.type.name)."
    }

    static func invalidValue(_ value: Any?, of type: TypeSchema, _ place: Int) -> String {
        "Invalid value \"\(unwrapped(value) ?? "nil")\" for property \"\(type.name).\(type.columns[place].name)\", which takes \(type.columns[place].type.name)."
    }

    static let frozen = "Cannot modify a frozen realm or objects read from it: use thaw() to get the live ones."
}
