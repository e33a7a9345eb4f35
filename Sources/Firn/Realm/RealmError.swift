import FirnBytes
import FirnModel
import Foundation

extension Realm {
    /// What opening, writing and committing throw.
    public struct Error: LocalizedError, Equatable, Sendable, CustomStringConvertible {
        public enum Code: String, Sendable {
            case fail, fileAccess, filePermissionDenied, fileExists, fileNotFound, fileFormatUpgradeRequired, incompatibleLockFile
            case addressSpaceExhausted, schemaMismatch, alreadyOpen, invalidInput, outOfDiskSpace, unsupportedFileFormatVersion
            case fileOperationFailed, invalidDatabase, incompatibleHistories
            /// `Realm.write` within a write transaction.
            case alreadyInTransaction
            /// A primary key that another object of the type has.
            case duplicatePrimaryKey
            /// More versions are alive than `maximumNumberOfActiveVersions` allows.
            case tooManyVersions
        }

        public let code: Code
        public let message: String
        /// What happened below, with its place in the file.
        public let cause: FirnError?

        init(_ code: Code, _ message: String, cause: FirnError? = nil) {
            self.code = code
            self.message = message
            self.cause = cause
        }

        init(_ error: FirnError) {
            let code: Code = switch error.code {
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

        public var description: String { message }
        public var errorDescription: String? { message }

        /// Errors with the same code are equal: `catch Realm.Error.fileNotFound`.
        public static func == (a: Error, b: Error) -> Bool { a.code == b.code }

        public static func ~= (pattern: Error, error: any Swift.Error) -> Bool { (error as? Error)?.code == pattern.code }

        public static let fail = Error(.fail, "")
        public static let fileAccess = Error(.fileAccess, "")
        public static let filePermissionDenied = Error(.filePermissionDenied, "")
        public static let fileExists = Error(.fileExists, "")
        public static let fileNotFound = Error(.fileNotFound, "")
        public static let schemaMismatch = Error(.schemaMismatch, "")
        public static let alreadyOpen = Error(.alreadyOpen, "")
        public static let invalidInput = Error(.invalidInput, "")
        public static let outOfDiskSpace = Error(.outOfDiskSpace, "")
        public static let unsupportedFileFormatVersion = Error(.unsupportedFileFormatVersion, "")
        public static let invalidDatabase = Error(.invalidDatabase, "")
        public static let duplicatePrimaryKey = Error(.duplicatePrimaryKey, "")
        public static let alreadyInTransaction = Error(.alreadyInTransaction, "")
        public static let tooManyVersions = Error(.tooManyVersions, "")
    }
}

/// Sentences that are said in more than one place.
enum RealmMessage {
    static func outsideTransaction(_ action: String) -> String {
        "Cannot \(action) outside of a write transaction: do it within realm.write { … }."
    }

    static func invalidValue(_ value: Any?, property: ClassSchema.Property, type: String) -> String {
        let shown = unwrapped(value).map { "'\($0)' of type \(Swift.type(of: $0))" } ?? "nil"
        return "Invalid value \(shown) for property '\(type).\(property.name)', which takes \(property.shape.type.name)."
    }

    static func invalidValue(_ value: Any?, of type: TypeSchema, _ place: Int) -> String {
        "Invalid value '\(unwrapped(value) ?? "nil")' for property '\(type.name).\(type.columns[place].name)', which takes \(type.columns[place].type.name)."
    }

    static let frozen = "Cannot modify a frozen realm or what was read from it: thaw() gives the live one."
}
