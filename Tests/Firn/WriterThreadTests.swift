import Foundation
import FirnKit
import Testing
@testable import Firn

/// Tracks the threads that are in a write transaction, so that no thread waits for itself.
@Suite struct WriterThreadTests {
    @Test func `the end of a transaction does not clear the mark of a transaction that began later`() throws {
        let folder = TemporaryFolder()
        let file = try RealmFile.of(Realm.Configuration(fileURL: URL(fileURLWithPath: folder.file("a.firn"))))
        let me = currentThread(), other = me &+ 1
        file.noteWriter(other)
        try file.checkWaiting()
        // This thread has begun before the other one reports its end.
        file.noteWriter(me)
        file.forgetWriter(other)
        #expect { try file.checkWaiting() } throws: { ($0 as? Realm.Error)?.code == .alreadyInTransaction }
        file.forgetWriter(me)
        try file.checkWaiting()
    }
}
