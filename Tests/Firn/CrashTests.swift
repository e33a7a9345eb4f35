import FirnDatabase
import FirnDisk
import FirnKit
import FirnTable
import Foundation
import Testing

@testable import Firn

/// T2, T4: crashes and refused calls below realms, like `Tests/Database/CrashTests.swift` below databases.
@Suite struct CrashTests {
    private func configuration(_ path: String, compacts: Bool = false) -> Realm.Configuration {
        var configuration = Realm.Configuration(fileURL: URL(fileURLWithPath: path), objectTypes: [Person.self, Dog.self, Address.self])
        if compacts { configuration.shouldCompactOnLaunch = { _, _ in true } }
        return configuration
    }

    private static func next(_ database: Database) throws {
        let transaction = try database.begin()
        try transaction.extendSchema([TypeSchema("After", columns: [ColumnSchema("x", ColumnType(.int))])])
        _ = try transaction.insert("After", [.int(Int64(database.snapshot().version))])
        try transaction.commit()
    }

    private func write(_ realm: Realm, _ step: Int) throws {
        try realm.write {
            let person = Person(value: ["id": step, "name": "number \(step)", "age": step] as [String: Any])
            person.dogs.append(Dog(value: ["name": "dog of \(step)"]))
            realm.add(person)
            if step > 1 {
                realm.object(ofType: Person.self, forPrimaryKey: step - 1)!.address = Address(value: ["street": "street \(step)"])
            }
            if step == 4 { realm.delete(realm.object(ofType: Person.self, forPrimaryKey: 1)!) }
        }
    }

    @Test func `after any crash the file of a realm has its last write or the next, also when compacted in place [T2]`() throws {
        let run = CrashRun("realms")
        for round in 0..<2 {
            // The first realm creates the file; the second one compacts it at opening.
            let realm = try Realm(configuration: configuration(run.path, compacts: round > 0))
            if round == 0 { try run.acknowledge(Database.open(path: run.path)) }
            for step in 1...3 {
                try write(realm, round * 3 + step)
                try run.acknowledge(Database.open(path: run.path))
            }
        }
        #expect(run.journal.events.contains { if case .rename(_, run.path) = $0 { true } else { false } })
        try run.visit(next: CrashTests.next)
        #expect(run.failures.isEmpty, "\(run.failures.joined(separator: "\n"))")
        print("crashes, realms: \(run.counts)")
    }

    @Test(
        arguments: [(nil, 5), (nil, 28), ("map", 12), ("sync", 5), ("syncDirectory", 5), ("status", 5), ("memory", 12)]
            as [(String?, Int32)])
    func `if any call fails, a write throws and earlier writes remain [T4]`(_ only: String?, _ code: Int32) throws {
        for forEver in [false, true] {
            var nth = 0
            while true {
                let folder = TemporaryFolder(), path = folder.file("a.firn")
                try write(Realm(configuration: configuration(path)), 1)
                let journal = DiskJournal(of: folder, .init(after: nth, only: only, forEver: forEver, code: code))
                defer { ScriptedDisk.end(in: folder.path) }
                var written = 1, failed = false
                do {
                    let realm = try Realm(configuration: configuration(path, compacts: true))
                    for step in 2...3 {
                        do {
                            try write(realm, step)
                            written = step
                        } catch {
                            failed = true
                            // After a failed sync or write, all later writes fail until the file is reopened. A call that only reads can be
                            // repeated.
                            if journal.refusals.contains("sync") || journal.refusals.contains("write") {
                                journal.refuse(nil)
                                #expect(throws: (any Error).self) { try write(realm, 9) }
                            }
                            throw error
                        }
                    }
                } catch { failed = true }
                let refused = journal.refusals,
                    place = "\(only ?? "any") \(nth), error \(code), \(forEver ? "always" : "once"): \(refused)"
                if refused.isEmpty { break }
                journal.refuse(nil)
                #expect(refused.count { $0 == "sync" } <= 1, "a sync was repeated: \(place)")
                let database = try Database.open(path: path), snapshot = try database.snapshot()
                let ids = try Realm(configuration: configuration(path)).objects(Person.self).map(\.id).sorted()
                #expect(
                    ids == Array(1...written) || (failed && refused.contains("sync") && ids == Array(1...written + 1)), "\(place): \(ids)")
                #expect(snapshot.verify(full: true).isEmpty, "\(place)")
                #expect(try database.verifyStructure().isEmpty, "\(place)")
                nth += 1
            }
            #expect(nth > 0, "\(only ?? "any") was never called")
        }
    }
}
