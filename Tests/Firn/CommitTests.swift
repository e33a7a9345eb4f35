@testable import Firn
import FirnBytes
import FirnDisk
import Foundation
import Testing

/// The guarantees of a commit.
@Suite struct CommitTests {
    /// The position at which readers of a version hold their lock (`docs/format/store.md`).
    private func pin(_ version: UInt64) -> UInt64 { 1 << 62 + version }

    @Test func `a durable commit succeeds although its version cannot be read yet`() throws {
        let folder = try RealmFolder(), realm = try Realm(configuration: folder.configuration([Dog.self]))
        try realm.write { realm.create(Dog.self, value: ["name": "a"]) }
        let next = realm.core.version + 1
        let other = try File(path: folder.file().path, .readWrite)
        #expect(try other.lock(.exclusive, at: pin(next)))
        let dogs = realm.objects(Dog.self)
        try realm.write { realm.create(Dog.self, value: ["name": "b"]) }
        #expect(!realm.isInWriteTransaction && realm.damage == nil && dogs.count == 1)
        other.unlock(at: pin(next))
        #expect(realm.refresh() && dogs.map(\.name) == ["a", "b"])
        try realm.write { realm.create(Dog.self, value: ["name": "c"]) }
        #expect(dogs.count == 3)
    }

    @Test func `the next transaction continues from a version that could not be read`() throws {
        let folder = try RealmFolder(), realm = try Realm(configuration: folder.configuration([Dog.self]))
        try realm.write { realm.create(Dog.self, value: ["name": "a"]) }
        let next = realm.core.version + 1
        let other = try File(path: folder.file().path, .readWrite)
        #expect(try other.lock(.exclusive, at: pin(next)))
        try realm.write { realm.create(Dog.self, value: ["name": "b"]) }
        // A transaction cannot begin while the version cannot be read: this is an error without further effect.
        #expect(throws: Realm.Error.self) { try realm.write { realm.create(Dog.self) } }
        other.unlock(at: pin(next))
        try realm.write { realm.create(Dog.self, value: ["name": "c"]) }
        #expect(realm.objects(Dog.self).map(\.name) == ["a", "b", "c"])
    }
}
