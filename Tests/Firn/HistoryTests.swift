import Firn
import Foundation
import Testing

class Entry: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var text = ""
    @Persisted var next: Entry?
}

@Suite struct HistoryTests {
    @Test func `versions can be listed, tagged, frozen and reverted to`() throws {
        let folder = try RealmFolder(), realm = try Realm(configuration: folder.configuration([Entry.self]))
        try realm.write {
            let second = Entry(value: ["id": 2, "text": "two"] as [String: Any])
            realm.add(second)
            realm.add(Entry(value: ["id": 1, "text": "one", "next": second] as [String: Any]))
        }
        try realm.tag("start")
        for i in 0..<30 { try realm.write { realm.object(ofType: Entry.self, forPrimaryKey: 1)!.text = "round \(i)" } }
        try realm.write { realm.delete(realm.object(ofType: Entry.self, forPrimaryKey: 2)!) }
        let versions = try realm.versions
        #expect(versions.first?.number ?? 0 > 30 && versions.last?.tags == ["start"] && versions.count <= 9)
        #expect(zip(versions, versions.dropFirst()).allSatisfy { $0.number > $1.number && $0.date >= $1.date })

        let start = try realm.freeze(at: "start")
        #expect(start.isFrozen && start.objects(Entry.self).count == 2)
        #expect(
            start.object(ofType: Entry.self, forPrimaryKey: 1)?.text == "one"
                && start.object(ofType: Entry.self, forPrimaryKey: 1)?.next?.text == "two")
        #expect(try realm.freeze(at: versions[0].number).objects(Entry.self).count == 1)
        #expect { try realm.freeze(at: 3) } throws: { ($0 as? Realm.Error)?.code == .fileNotFound }
        #expect { try realm.freeze(at: "unknown") } throws: { ($0 as? Realm.Error)?.code == .fileNotFound }
        #expect { try realm.tag("no name") } throws: { ($0 as? Realm.Error)?.code == .invalidInput }

        let live = realm.object(ofType: Entry.self, forPrimaryKey: 1)!, results = realm.objects(Entry.self)
        try realm.revert(to: "start")
        #expect(live.text == "one" && live.next?.text == "two" && results.count == 2)
        #expect(realm.object(ofType: Entry.self, forPrimaryKey: 2)?.text == "two")
        // The versions in between remain.
        #expect(try realm.freeze(at: versions[0].number).objects(Entry.self).count == 1)
        try realm.write { realm.add(Entry(value: ["id": 3, "text": "three"] as [String: Any])) }
        #expect(results.count == 3)
        #expect(try realm.removeTag("start") && !realm.removeTag("start"))
    }

    @Test func `observers are notified of the changes of a revert`() throws {
        let folder = try RealmFolder(), realm = try Realm(configuration: folder.configuration([Entry.self]))
        try realm.write { for i in 1...5 { realm.add(Entry(value: ["id": i, "text": "t\(i)"] as [String: Any])) } }
        try realm.tag("five")
        try realm.write {
            realm.delete(realm.object(ofType: Entry.self, forPrimaryKey: 2)!)
            realm.object(ofType: Entry.self, forPrimaryKey: 4)!.text = "changed"
            realm.add(Entry(value: ["id": 6, "text": "t6"] as [String: Any]))
        }
        let results = realm.objects(Entry.self).sorted(byKeyPath: "id")
        nonisolated(unsafe) var received: [(deletions: [Int], insertions: [Int], modifications: [Int])] = []
        let token = results.observe { change in
            if case .update(_, let deletions, let insertions, let modifications) = change {
                received.append((deletions, insertions, modifications))
            }
        }
        // The first call shows the results before the revert.
        realm.refresh()
        try realm.revert(to: "five")
        realm.refresh()
        #expect(Array(results.map(\.id)) == [1, 2, 3, 4, 5])
        #expect(received.count == 1)
        let only = try #require(received.first)
        #expect(only == ([4], [1], [2]))
        token.invalidate()
    }

    @Test func `the example of the page on history works`() throws {
        let folder = try RealmFolder(), realm = try Realm(configuration: folder.configuration([Entry.self])),
            backup = folder.file("backup.firn")
        try realm.write { for i in 1...5 { realm.add(Entry(value: ["id": i, "text": i < 3 ? "" : "t\(i)"] as [String: Any])) } }
        try realm.tag("before-cleaning")
        try realm.write { realm.delete(realm.objects(Entry.self).where { $0.text == "" }) }
        let before = try realm.freeze(at: "before-cleaning")
        print(before.objects(Entry.self).count, realm.objects(Entry.self).count)
        for version in try realm.versions { print(version) }
        try realm.revert(to: "before-cleaning")
        try realm.removeTag("before-cleaning")
        try realm.writeCopy(toFile: backup)
        #expect(before.objects(Entry.self).count == 5 && realm.objects(Entry.self).count == 5)
        #expect(try Realm(configuration: .init(fileURL: backup, objectTypes: [Entry.self])).objects(Entry.self).count == 5)
    }

    @Test func `the number of kept versions is set by the configuration and stored in the file`() throws {
        let folder = try RealmFolder()
        func count(_ history: Realm.History?) throws -> Int {
            var configuration = folder.configuration([Entry.self])
            configuration.history = history
            let realm = try Realm(configuration: configuration)
            for i in 0..<20 {
                try realm.write {
                    realm.add(Entry(value: ["id": i, "text": "\(history?.versions ?? 0) \(i)"] as [String: Any]), update: .modified)
                }
            }
            return try realm.versions.count
        }
        #expect(try count(nil) == 8)
        #expect(try count(.init(versions: 15)) == 15)
        #expect(try count(nil) == 15)
        #expect(try count(.init(versions: 3, age: 3600)) >= 23)
        #expect(try count(.init(versions: 3)) == 3)
    }

    @Test func `copying a live realm during writes gives a consistent version, and never overwrites a file`() throws {
        let folder = try RealmFolder(), realm = try Realm(configuration: folder.configuration([Entry.self]))
        try realm.write { for i in 1...100 { realm.add(Entry(value: ["id": i, "text": "t\(i)"] as [String: Any])) } }
        let configuration = folder.configuration([Entry.self])
        nonisolated(unsafe) var isDone = false
        let lock = NSLock()
        let thread = Thread {
            // Sets all entries to the same text, so that a torn copy would have different texts.
            guard let realm = try? Realm(configuration: configuration) else { return }
            var round = 0
            while !lock.withLock({ isDone }) {
                round += 1
                try? realm.write {
                    for entry in realm.objects(Entry.self) { entry.text = "round \(round)" }
                }
            }
        }
        thread.start()
        for i in 0..<5 {
            realm.refresh()
            let copy = folder.file("copy\(i).firn")
            try realm.writeCopy(toFile: copy)
            #expect { try realm.writeCopy(toFile: copy) } throws: { ($0 as? Realm.Error)?.code == .fileExists }
            let other = try Realm(configuration: .init(fileURL: copy, objectTypes: [Entry.self]))
            #expect(other.objects(Entry.self).count == 100)
            #expect(Set(other.objects(Entry.self).map { $0.text.hasPrefix("round") ? $0.text : "first" }).count == 1)
            #expect(other.object(ofType: Entry.self, forPrimaryKey: 50) != nil)
        }
        lock.withLock { isDone = true }
        while !thread.isFinished { usleep(1000) }
    }
}
