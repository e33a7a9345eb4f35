import FirnBytes
import Foundation
import Testing

@testable import Firn

@Suite struct RealmErrorTests {
    private func thrown(_ body: () throws -> Void) -> Realm.Error? {
        do { try body() } catch { return error as? Realm.Error }
        return nil
    }

    @Test func `a code is a pattern for errors and for codes`() throws {
        do { throw Realm.Error(.fileNotFound) } catch Realm.Error.fileExists {
            Issue.record("another code")
        } catch Realm.Error.fileNotFound {}
        let error: any Error = Realm.Error(.outOfDiskSpace)
        switch error {
        case Realm.Error.invalidInput: Issue.record("another code")
        case Realm.Error.outOfDiskSpace: break
        default: Issue.record("no code")
        }
        let own = try #require(error as? Realm.Error)
        #expect(own.code == Realm.Error.outOfDiskSpace && own.code == .outOfDiskSpace && own.code != Realm.Error.fail)
        switch own.code {
        case Realm.Error.outOfDiskSpace: break
        default: Issue.record("no code")
        }
        #expect(throws: Realm.Error.subscriptionFailed) { throw Realm.Error.subscriptionFailed }
        let isOther = if case Realm.Error.fail = CocoaError(.fileNoSuchFile) as any Error { true } else { false }
        #expect(!isOther)
    }

    @Test func `codes have the numbers of Realm`() {
        let numbers: [(Realm.Error.Code, Int)] = [
            (Realm.Error.fail, 1), (Realm.Error.fileAccess, 2), (Realm.Error.filePermissionDenied, 3), (Realm.Error.fileExists, 4),
            (Realm.Error.fileNotFound, 5), (Realm.Error.fileFormatUpgradeRequired, 6), (Realm.Error.incompatibleLockFile, 8),
            (Realm.Error.addressSpaceExhausted, 9), (Realm.Error.schemaMismatch, 10), (Realm.Error.alreadyOpen, 12),
            (Realm.Error.invalidInput, 13), (Realm.Error.outOfDiskSpace, 14), (Realm.Error.incompatibleSession, 15),
            (Realm.Error.unsupportedFileFormatVersion, 16), (Realm.Error.multipleSyncAgents, 17), (Realm.Error.subscriptionFailed, 18),
            (Realm.Error.fileOperationFailed, 19), (Realm.Error.invalidDatabase, 20), (Realm.Error.incompatibleHistories, 21),
            (Realm.Error.noSubscriptionForWrite, 22),
        ]
        for (code, number) in numbers { #expect(code.rawValue == number) }
        #expect(Realm.Error.Code.allCases.count == numbers.count + 3)
        for code in Realm.Error.Code.allCases { #expect(!Realm.Error(code).message.isEmpty) }
        #expect(Realm.Error.errorDomain == "io.realm" && Realm.Error(.fileExists).errorCode == 4)
    }

    @Test func `an error of a program's own has its code, message and file`() {
        let error = Realm.Error(.invalidInput, userInfo: [NSLocalizedDescriptionKey: "no such shelf", NSFilePathErrorKey: "/a/b.firn"])
        #expect(error.code == .invalidInput && error.message == "no such shelf" && error.localizedDescription == "no such shelf")
        #expect(error.fileURL?.path == "/a/b.firn" && error.errorUserInfo[NSFilePathErrorKey] as? String == "/a/b.firn")
        #expect(Realm.Error(.fail).fileURL == nil)
    }

    @Test func `opening a file that cannot be opened throws the code of Realm, with the file`() throws {
        let folder = try RealmFolder()
        let missing = Realm.Configuration(fileURL: folder.file("none.firn"), readOnly: true)
        var error = thrown { _ = try Realm(configuration: missing) }
        #expect(error?.code == .fileNotFound && error?.fileURL == folder.file("none.firn"))
        let junk = folder.file("junk.firn")
        try Data("a".utf8).write(to: junk)
        error = thrown { _ = try Realm(fileURL: junk) }
        #expect(error?.code == .invalidDatabase && error?.fileURL?.lastPathComponent == "junk.firn")
        error = thrown { _ = try Realm(fileURL: URL(fileURLWithPath: "/dev/null/foo")) }
        #expect(error?.code == .fileOperationFailed && error?.fileURL?.path == "/dev/null/foo", "\(String(describing: error))")
        error = thrown { _ = try Realm(fileURL: folder.file("no/folder.firn")) }
        #expect(error?.code == .fileNotFound, "\(String(describing: error))")
        error = thrown { _ = try schemaVersionAtURL(folder.file("none.firn")) }
        #expect(error?.code == .invalidDatabase && error?.fileURL?.lastPathComponent == "none.firn")
        #expect(thrown { _ = try schemaVersionAtURL(junk) }?.code == .invalidDatabase)
    }

    @Test func `the copy of a realm is refused with the code of Realm`() throws {
        let folder = try RealmFolder(), realm = try Realm(fileURL: folder.file())
        var error = thrown { try realm.writeCopy(toFile: folder.file()) }
        #expect(error?.code == .fileExists && error?.fileURL == folder.file())
        error = thrown { try realm.writeCopy(toFile: folder.file("no/folder.firn")) }
        #expect(error?.code == .fileNotFound, "\(String(describing: error))")
        var changed = realm.configuration
        changed.schemaVersion = 3
        error = thrown { _ = try Realm(configuration: changed) }
        #expect(error?.code == .schemaMismatch && error?.fileURL == folder.file())
    }

    @Test func `errors of the system and of memory have the codes of Realm`() {
        func code(_ number: Int32) -> Realm.Error.Code {
            var error = FirnError(.inputOutput, "cannot open", at: .init(file: "/a.firn"))
            error.systemCode = number
            return Realm.Error(error).code
        }
        #expect(code(EACCES) == .filePermissionDenied && code(EPERM) == .filePermissionDenied && code(EROFS) == .filePermissionDenied)
        #expect(code(EIO) == .fileOperationFailed && code(EISDIR) == .fileOperationFailed)
        #expect(Realm.Error(FirnError(.inputOutput, "unread")).code == .fileAccess)
        #expect(Realm.Error(FirnError(.outOfMemory, "too large")).code == .addressSpaceExhausted)
    }
}
