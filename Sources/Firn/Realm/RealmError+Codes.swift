/// The codes under the names that Realm gives them: in patterns, and to compare with `code`.
extension Realm.Error {
    /// The code `fail`: a general failure.
    public static let fail: Code = .fail
    /// The code `fileAccess`: reading or writing the file failed.
    public static let fileAccess: Code = .fileAccess
    /// The code `filePermissionDenied`: the file may not be opened or created in this way, or the realm is read-only.
    public static let filePermissionDenied: Code = .filePermissionDenied
    /// The code `fileExists`: a file to be created exists already.
    public static let fileExists: Code = .fileExists
    /// The code `fileNotFound`: there is no file to open.
    public static let fileNotFound: Code = .fileNotFound
    /// The code `fileFormatUpgradeRequired`: never thrown: files are not upgraded when they are opened.
    public static let fileFormatUpgradeRequired: Code = .fileFormatUpgradeRequired
    /// The code `incompatibleLockFile`: never thrown: there are no lock files.
    public static let incompatibleLockFile: Code = .incompatibleLockFile
    /// The code `addressSpaceExhausted`: the operation needs more memory or address space than there is.
    public static let addressSpaceExhausted: Code = .addressSpaceExhausted
    /// The code `schemaMismatch`: the classes and the file differ: a migration is required.
    public static let schemaMismatch: Code = .schemaMismatch
    /// The code `alreadyOpen`: the file is in use.
    public static let alreadyOpen: Code = .alreadyOpen
    /// The code `invalidInput`: an argument is not valid.
    public static let invalidInput: Code = .invalidInput
    /// The code `outOfDiskSpace`: the disk is full.
    public static let outOfDiskSpace: Code = .outOfDiskSpace
    /// The code `incompatibleSession`: never thrown: a file is opened by any number of processes.
    public static let incompatibleSession: Code = .incompatibleSession
    /// The code `unsupportedFileFormatVersion`: the file needs a feature of a newer version.
    public static let unsupportedFileFormatVersion: Code = .unsupportedFileFormatVersion
    /// The code `multipleSyncAgents`: never thrown: there is no synchronization.
    public static let multipleSyncAgents: Code = .multipleSyncAgents
    /// The code `subscriptionFailed`: never thrown: there is no synchronization.
    public static let subscriptionFailed: Code = .subscriptionFailed
    /// The code `fileOperationFailed`: a call of the operating system failed.
    public static let fileOperationFailed: Code = .fileOperationFailed
    /// The code `invalidDatabase`: the file is damaged, is of another format, or does not fit the encryption key.
    public static let invalidDatabase: Code = .invalidDatabase
    /// The code `incompatibleHistories`: never thrown: there is no synchronization.
    public static let incompatibleHistories: Code = .incompatibleHistories
    /// The code `noSubscriptionForWrite`: never thrown: there is no synchronization.
    public static let noSubscriptionForWrite: Code = .noSubscriptionForWrite
    /// The code `alreadyInTransaction`: a write transaction was begun within another one.
    public static let alreadyInTransaction: Code = .alreadyInTransaction
    /// The code `duplicatePrimaryKey`: another object of the type has the same primary key.
    public static let duplicatePrimaryKey: Code = .duplicatePrimaryKey
    /// The code `tooManyVersions`: there are more active versions than `maximumNumberOfActiveVersions` permits.
    public static let tooManyVersions: Code = .tooManyVersions
}

/// The errors that have a code and nothing else. Swift chooses them where a code does not fit: `throw Realm.Error.invalidInput`.
public protocol _RealmErrorCodes: Error {}

extension _RealmErrorCodes where Self == Realm.Error {
    /// An error with the code `fail`.
    public static var fail: Self { Self(.fail) }
    /// An error with the code `fileAccess`.
    public static var fileAccess: Self { Self(.fileAccess) }
    /// An error with the code `filePermissionDenied`.
    public static var filePermissionDenied: Self { Self(.filePermissionDenied) }
    /// An error with the code `fileExists`.
    public static var fileExists: Self { Self(.fileExists) }
    /// An error with the code `fileNotFound`.
    public static var fileNotFound: Self { Self(.fileNotFound) }
    /// An error with the code `fileFormatUpgradeRequired`.
    public static var fileFormatUpgradeRequired: Self { Self(.fileFormatUpgradeRequired) }
    /// An error with the code `incompatibleLockFile`.
    public static var incompatibleLockFile: Self { Self(.incompatibleLockFile) }
    /// An error with the code `addressSpaceExhausted`.
    public static var addressSpaceExhausted: Self { Self(.addressSpaceExhausted) }
    /// An error with the code `schemaMismatch`.
    public static var schemaMismatch: Self { Self(.schemaMismatch) }
    /// An error with the code `alreadyOpen`.
    public static var alreadyOpen: Self { Self(.alreadyOpen) }
    /// An error with the code `invalidInput`.
    public static var invalidInput: Self { Self(.invalidInput) }
    /// An error with the code `outOfDiskSpace`.
    public static var outOfDiskSpace: Self { Self(.outOfDiskSpace) }
    /// An error with the code `incompatibleSession`.
    public static var incompatibleSession: Self { Self(.incompatibleSession) }
    /// An error with the code `unsupportedFileFormatVersion`.
    public static var unsupportedFileFormatVersion: Self { Self(.unsupportedFileFormatVersion) }
    /// An error with the code `multipleSyncAgents`.
    public static var multipleSyncAgents: Self { Self(.multipleSyncAgents) }
    /// An error with the code `subscriptionFailed`.
    public static var subscriptionFailed: Self { Self(.subscriptionFailed) }
    /// An error with the code `fileOperationFailed`.
    public static var fileOperationFailed: Self { Self(.fileOperationFailed) }
    /// An error with the code `invalidDatabase`.
    public static var invalidDatabase: Self { Self(.invalidDatabase) }
    /// An error with the code `incompatibleHistories`.
    public static var incompatibleHistories: Self { Self(.incompatibleHistories) }
    /// An error with the code `noSubscriptionForWrite`.
    public static var noSubscriptionForWrite: Self { Self(.noSubscriptionForWrite) }
    /// An error with the code `alreadyInTransaction`.
    public static var alreadyInTransaction: Self { Self(.alreadyInTransaction) }
    /// An error with the code `duplicatePrimaryKey`.
    public static var duplicatePrimaryKey: Self { Self(.duplicatePrimaryKey) }
    /// An error with the code `tooManyVersions`.
    public static var tooManyVersions: Self { Self(.tooManyVersions) }
}
