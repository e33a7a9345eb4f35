import Firn
import Foundation
import Testing

class Puppy: Object {
    @Persisted var name = ""
    @Persisted var age = 0
    @Persisted var mother: Puppy?
    @Persisted var toys: List<Toy>
    @Persisted var scores: Map<String, Int>
}

/// Runs the examples of docs/guide/notifications.md.
@Suite struct NotificationGuideTests {
    /// What an example prints. A local function `print` of each test calls it, so that the example is unchanged.
    private final class Printed: @unchecked Sendable {
        private let lock = NSLock()
        private var all: [String] = []
        func add(_ items: [Any]) { lock.withLock { all.append(items.map { "\($0)" }.joined(separator: " ")) } }
        /// Returns the lines since the last call.
        func take() -> [String] {
            lock.withLock {
                defer { all = [] }
                return all
            }
        }
    }

    @Test func `the example of updating a copy by changes works`() throws {
        let realm = try memoryRealm()
        let puppies = realm.objects(Puppy.self).filter("age < 2")
        var shown: [String] = []
        let token = puppies.observe { change in
            switch change {
            case .initial(let puppies):
                shown = puppies.map(\.name)
            case .update(let puppies, let deletions, let insertions, let modifications):
                for index in modifications { shown[index] = "" }
                for index in deletions.reversed() { shown.remove(at: index) }
                for index in insertions { shown.insert(puppies[index].name, at: index) }
                for index in change.modificationsNew { shown[index] = puppies[index].name }
            case .error:
                break
            }
        }
        realm.refresh()
        for round in [["a", "b", "c"], ["d"]] {
            try realm.write { for name in round { realm.add(Puppy(value: ["name": name])) } }
            realm.refresh()
        }
        try realm.write {
            puppies[0].name = "x"
            puppies[2].name = "z"
            puppies[1].age = 5
        }
        realm.refresh()
        #expect(shown == ["x", "z", "d"] && shown == puppies.map(\.name))
        token.invalidate()
    }

    @Test func `the example of observing a map prints the changed keys`() throws {
        let realm = try memoryRealm(), printed = Printed()
        func print(_ items: Any...) { printed.add(items) }
        let puppy = Puppy()
        try realm.write { realm.add(puppy) }
        let scores = puppy.scores.observe { change in
            if case .update(_, let deletions, let insertions, let modifications) = change { print(deletions, insertions, modifications) }
        }
        realm.refresh()
        try realm.write { (puppy.scores["a"], puppy.scores["b"]) = (1, 2) }
        realm.refresh()
        try realm.write { (puppy.scores["a"], puppy.scores["b"], puppy.scores["c"]) = (3, nil, 4) }
        realm.refresh()
        #expect(printed.take() == [#"[] ["a", "b"] []"#, #"["b"] ["c"] ["a"]"#] && scores.invalidate())
    }

    @Test func `the example of observing sections prints the inserted sections`() throws {
        let realm = try memoryRealm(), printed = Printed()
        func print(_ items: Any...) { printed.add(items) }
        let puppies = realm.objects(Puppy.self)
        let letters = puppies.sectioned(by: { $0.name.prefix(1).uppercased() }, sortDescriptors: [SortDescriptor(keyPath: "name")])
        let sections = letters.observe { change in
            if case .update(_, _, let insertions, _, let sectionsToInsert, _) = change { print(insertions, Array(sectionsToInsert)) }
        }
        realm.refresh()
        try realm.write { realm.add(Puppy(value: ["name": "rex"])) }
        realm.refresh()
        let first = printed.take()
        #expect(letters.allKeys == ["R"] && first.count == 1 && first[0].hasSuffix(" [0]"), "\(first)")
        try realm.write { realm.add(Puppy(value: ["name": "rita"])) }
        realm.refresh()
        #expect(printed.take() == ["[[0, 1]] []"] && sections.invalidate())
    }

    @Test func `the example of observing and writing gives one call`() throws {
        let realm = try memoryRealm(), printed = Printed()
        func print(_ items: Any...) { printed.add(items) }
        var received: [Int] = []
        let token = realm.objects(Puppy.self).observe { change in received.append(change.collection!.count) }
        try realm.write { realm.add(Puppy()) }
        realm.refresh()
        print(received)  // [1]
        #expect(printed.take() == ["[1]"] && token.invalidate())
    }

    @Test func `the example of key paths prints for the properties that it names`() throws {
        let realm = try memoryRealm(), printed = Printed()
        func print(_ items: Any...) { printed.add(items) }
        let puppy = Puppy(value: ["name": "a", "mother": ["name": "m"], "toys": [["brand": "b"]]] as [String: Any])
        try realm.write { realm.add(puppy) }
        let puppies = realm.objects(Puppy.self)
        let named = puppies.observe(keyPaths: ["name", "toys.brand"]) { _ in print("a name, the toys or the brand of one") }
        let typed = puppies.observe(keyPaths: [\.name, \.mother?.name]) { _ in print("a name, the mother or her name") }
        realm.refresh()
        // The first call of each.
        let both = ["a name, the mother or her name", "a name, the toys or the brand of one"]
        #expect(printed.take().sorted() == both)
        func lines(_ change: () -> Void) throws -> [String] {
            try realm.write(change)
            realm.refresh()
            return printed.take().sorted()
        }
        #expect(try lines { puppy.age = 5 } == [])
        #expect(try lines { puppy.toys[0].brand = "c" } == [both[1]])
        // The mother is a puppy of the results too, and her own name counts for both.
        #expect(try lines { puppy.mother = nil } == [both[0]])
        #expect(try lines { puppy.name = "x" } == both)
        #expect(named.invalidate() && typed.invalidate())
    }

    @Test func `the examples of observing objects and realms print the properties and the new version`() throws {
        let realm = try memoryRealm(), printed = Printed()
        func print(_ items: Any...) { printed.add(items) }
        let puppy = Puppy()
        try realm.write { realm.add(puppy) }
        let changes = puppy.observe { change in
            switch change {
            case .change(_, let properties):
                for property in properties { print(property.name, property.oldValue ?? "-", property.newValue ?? "-") }
            case .deleted: print("gone")
            case .error: break
            }
        }
        let versions = realm.observe { notification, realm in print(notification, realm.isEmpty) }
        realm.refresh()
        _ = printed.take()
        try realm.write { puppy.age = 3 }
        realm.refresh()
        #expect(printed.take().sorted() == ["age 0 3", "didChange false"])
        try realm.write { realm.delete(puppy) }
        realm.refresh()
        #expect(printed.take().sorted() == ["didChange true", "gone"])
        // The observer of a deleted object has ended.
        #expect(!changes.invalidate() && versions.invalidate())
    }

    @Test func `the example of writing without notifying a token works`() throws {
        let realm = try memoryRealm()
        var shown: [String] = [], calls = 0
        let token = realm.objects(Puppy.self).observe { _ in calls += 1 }
        realm.refresh()
        shown.append("Rex")
        try realm.write(withoutNotifying: [token]) { realm.add(Puppy(value: ["name": "Rex"])) }
        realm.refresh()
        #expect(calls == 1 && shown == realm.objects(Puppy.self).map(\.name))
    }

    @Test(.timeLimit(.minutes(15))) func `the example of for await over changes works`() async throws {
        let file = TemporaryRealm(), url = file.url, printed = Printed()
        func print(_ items: Any...) { printed.add(items) }
        func add(_ count: Int) throws {
            let realm = try Realm(fileURL: url)
            try realm.write { for _ in 0..<count { realm.add(Puppy()) } }
        }
        let puppies = try Realm(fileURL: url).objects(Puppy.self)
        let writer = Task.detached { [add] in
            var count = 0
            while !Task.isCancelled {
                count += 1
                try add(count)
                await Task.yield()
            }
        }
        for await change in puppies.changes() {
            print(change.collection!.count, change.insertions)
            if change.insertions.count > 1 { break }
        }
        writer.cancel()
        _ = await writer.result
        // The first line shows what was there, and each other what was added; only the last has several.
        let lines = printed.take()
        #expect(lines.count > 1 && lines.last!.contains(", ") && lines.dropFirst().allSatisfy { !$0.hasSuffix(" []") }, "\(lines)")
    }
}
