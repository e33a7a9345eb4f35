import Foundation
import FirnKit
import Testing
@testable import Firn

/// Who is within a write transaction, so that nobody waits for himself.
@Suite struct WriterThreadTests {
    @Test func `a transaction that has ended takes no mark with it of the one that has begun since`() throws {
        let folder = TemporaryFolder()
        let file = try RealmFile.of(Realm.Configuration(fileURL: URL(fileURLWithPath: folder.file("a.firn"))))
        let me = currentThread(), other = me &+ 1
        file.noteWriter(other)
        try file.checkWaiting()
        // This thread has begun before the other one has said that it ended.
        file.noteWriter(me)
        file.forgetWriter(other)
        #expect { try file.checkWaiting() } throws: { ($0 as? Realm.Error)?.code == .alreadyInTransaction }
        file.forgetWriter(me)
        try file.checkWaiting()
    }
}
