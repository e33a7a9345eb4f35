import FirnDatabase
import FirnDisk
import FirnKit
import Foundation
import Synchronization
import Testing

@testable import Firn

@Suite struct DurabilityTests {
    private func configuration(_ path: String, _ durability: Realm.Durability = .full) -> Realm.Configuration {
        var configuration = Realm.Configuration(fileURL: URL(fileURLWithPath: path), objectTypes: [Dog.self, Person.self, Address.self])
        configuration.durability = durability
        return configuration
    }

    @Test func `writes without durability are visible in their realm, and to others when they are made durable`() throws {
        let folder = TemporaryFolder(), path = folder.file("a.firn"), journal = DiskJournal(of: folder)
        defer { ScriptedDisk.end(in: folder.path) }
        let realm = try Realm(configuration: configuration(path, .none))
        try realm.write(durability: .full) { realm.add(Dog(value: ["name": "first"])) }
        let syncs = journal.calls["sync"]!
        for number in 0..<5 { try realm.write { realm.add(Dog(value: ["name": "dog \(number)"])) } }
        #expect(journal.calls["sync"] == syncs)
        #expect(realm.objects(Dog.self).count == 6)
        #expect(try Database.open(path: path).snapshot().table(named: "Dog")!.rowCount == 1)
        try realm.makeDurable()
        #expect(journal.calls["sync"]! > syncs)
        #expect(try Database.open(path: path).snapshot().table(named: "Dog")!.rowCount == 6)
        try realm.write { realm.delete(realm.objects(Dog.self).first!) }
        try realm.write(durability: .full) { realm.objects(Dog.self).first!.age = 7 }
        #expect(try Database.open(path: path).snapshot().table(named: "Dog")!.rowCount == 5)
    }

    @Test func `the last realm makes its writes durable when it is released`() throws {
        let folder = TemporaryFolder(), path = folder.file("a.firn")
        try autoreleasing {
            let realm = try Realm(configuration: configuration(path, .none))
            try realm.write { realm.add(Dog(value: ["name": "one"])) }
            try realm.write { realm.add(Dog(value: ["name": "two"])) }
        }
        #expect(try Realm(configuration: configuration(path)).objects(Dog.self).count == 2)
    }

    private func autoreleasing(_ body: () throws -> Void) rethrows { try body() }

    @Test func `grouped writes of many threads are readable in the file when they return`() throws {
        let folder = TemporaryFolder(), path = folder.file("a.firn"), configuration = configuration(path, .grouped)
        let first = try Realm(configuration: configuration)
        try first.write { first.add(Dog(value: ["name": "first"])) }
        let journal = DiskJournal(of: folder)
        defer { ScriptedDisk.end(in: folder.path) }
        try parallelEach(threads: 6) { thread in
            let realm = try Realm(configuration: configuration)
            for step in 0..<10 {
                try realm.write { realm.add(Dog(value: ["name": "\(thread)", "age": step])) }
                #expect(realm.objects(Dog.self).where { $0.name == "\(thread)" }.count == step + 1)
                #expect(try Database.open(path: path).snapshot().table(named: "Dog")!.rowCount >= step + 1)
            }
        }
        first.refresh()
        #expect(first.objects(Dog.self).count == 61)
        #expect(try Database.open(path: path).snapshot().verify(full: true).isEmpty)
    }

}
