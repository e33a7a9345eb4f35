import Firn
import Foundation
import Testing

/// Observers of objects, maps, lists of values and realms, and transactions without notification of some tokens.
@Suite struct ObjectObserverTests {
    @Test func `an observer of an object gets changed properties with old and new values, and the deletion`() throws {
        let realm = try memoryRealm()
        let hound = Beagle(value: ["name": "a", "words": ["x"]] as [String: Any]), other = Beagle(value: ["name": "b"])
        try realm.write { realm.add([hound, other]) }
        let log = Log()
        let token = hound.observe { (change: ObjectChange<Beagle>) in log.note(change) }
        realm.refresh()
        #expect(log.take() == [])
        try realm.write {
            hound.name = "c"; hound.age = 3
        }
        try realm.write { other.age = 4 }
        realm.refresh()
        #expect(log.take() == ["name: a -> c, age: 0 -> 3"])
        try realm.write { hound.words.append("y") }
        realm.refresh()
        #expect(log.take() == ["words: nil -> nil"])
        try realm.write { hound.name = hound.name }
        try realm.write { other.name = "z" }
        realm.refresh()
        #expect(log.take() == [])
        try realm.write { hound.best = other }
        realm.refresh()
        #expect(log.take().first?.hasPrefix("best: nil -> Beagle {") ?? false)
        try realm.write { realm.delete(hound) }
        try realm.write { other.name = "y" }
        realm.refresh()
        #expect(log.take() == ["deleted"])
        try realm.write { realm.add(Beagle()) }
        realm.refresh()
        #expect(log.take() == [] && !token.invalidate())
    }

    @Test func `an observer of an object with key paths gets only their changes, also through links`() throws {
        let realm = try memoryRealm()
        let hound = Beagle(value: ["name": "a"]), other = Beagle(value: ["name": "b"])
        hound.best = other
        try realm.write { realm.add([hound, other]) }
        var received: [[String]] = []
        let token = hound.observe(keyPaths: ["age", "best.name"]) {
            if case .change(_, let properties) = $0 { received.append(properties.map(\.name)) }
        }
        for change in [{ hound.name = "x" }, { hound.age = 2 }, { other.name = "y" }, { other.age = 3 }, { hound.best = nil }] {
            try realm.write(change)
            realm.refresh()
        }
        #expect(received == [["age"], ["best"], ["best"]])
        token.invalidate()
    }

    @Test func `an observer of a map gets the changed keys`() throws {
        let realm = try memoryRealm()
        let hound = Beagle(), toy = Toy(value: ["brand": "a"])
        try realm.write {
            realm.add([hound])
            realm.add(toy)
            hound.scores["a"] = 1
            hound.scores["b"] = 2
            hound.byName["toy"] = .some(toy)
        }
        let log = Log(), second = Log()
        let tokens = [hound.scores.observe { log.note($0) }, hound.byName.observe { second.note($0) }]
        realm.refresh()
        #expect(log.take() == ["initial 2"] && second.take() == ["initial 1"])
        try realm.write {
            hound.scores["c"] = 3
            hound.scores["b"] = 5
            hound.scores.removeObject(for: "a")
        }
        realm.refresh()
        #expect(log.take() == [#"2: -["a"] +["c"] ~["b"]"#] && second.take() == [])
        try realm.write { toy.brand = "b" }
        realm.refresh()
        #expect(log.take() == [] && second.take() == [#"1: -[] +[] ~["toy"]"#])
        try realm.write { realm.delete(hound) }
        realm.refresh()
        #expect(log.take() == [#"0: -["b", "c"] +[] ~[]"#] && second.take() == [#"0: -["toy"] +[] ~[]"#])
        withExtendedLifetime(tokens) {}
    }

    @Test func `observers of lists and sets get changed elements, and the deletion of their owner [R23, S23]`() throws {
        let realm = try memoryRealm()
        let hound = Beagle(value: ["words": ["a", "b", "c"], "numbers": [1, 5]] as [String: Any])
        try realm.write {
            realm.add(hound)
            hound.toys.append(objectsIn: [Toy(), Toy()])
        }
        let log = Log(), numbers = Log(), toys = Log()
        let tokens = [
            hound.words.observe { log.note($0) }, hound.numbers.observe { numbers.note($0) }, hound.toys.observe { toys.note($0) },
        ]
        realm.refresh()
        #expect(log.take() == ["initial 3"] && numbers.take() == ["initial 2"] && toys.take() == ["initial 2"])
        try realm.write {
            hound.words[1] = "x"
            hound.words.append("d")
            hound.numbers.insert(3)
            hound.numbers.remove(1)
            hound.toys[0].price = 4
            hound.toys.append(hound.toys[1])
        }
        realm.refresh()
        #expect(log.take() == ["4: -[] +[3] ~[1]"] && numbers.take() == ["2: -[0] +[0] ~[]"] && toys.take() == ["3: -[] +[2] ~[0]"])
        try realm.write { realm.delete(hound) }
        realm.refresh()
        #expect(
            log.take() == ["0: -[0, 1, 2, 3] +[] ~[]"] && numbers.take() == ["0: -[0, 1] +[] ~[]"]
                && toys.take() == ["0: -[0, 1, 2] +[] ~[]"])
        withExtendedLifetime(tokens) {}
    }

    @Test func `an observer of a realm is called for each version, immediately after own commits`() throws {
        let realm = try memoryRealm()
        try realm.write { realm.add(Beagle()) }
        let log = Log()
        let token = realm.observe { what, here in
            #expect(here == realm)
            log.note("\(what) \(here.objects(Beagle.self).count)")
        }
        try realm.write { realm.add(Beagle()) }
        #expect(log.take() == ["didChange 2"])
        realm.refresh()
        try realm.write {}
        realm.beginWrite()
        realm.add(Beagle())
        realm.cancelWrite()
        #expect(log.take() == [])
        token.invalidate()
        try realm.write { realm.add(Beagle()) }
        #expect(log.take() == [])
    }

    @Test func `write(withoutNotifying:) skips only the given tokens`() throws {
        let realm = try memoryRealm()
        let hounds = realm.objects(Beagle.self), log = Log(), second = Log(), whole = Log()
        let token = hounds.observe { log.note($0) }, other = hounds.filter("age >= 0").observe { second.note($0) },
            observer = realm.observe { what, _ in whole.note("\(what)") }
        realm.refresh()
        try realm.write { realm.add(Beagle()) }
        // The previous commit is reported now, because it is before the transaction.
        try realm.write(withoutNotifying: [token, observer]) {
            #expect(log.take() == ["initial 0", "1: -[] +[0] ~[]"])
            realm.add(Beagle())
        }
        realm.refresh()
        #expect(log.take() == [] && second.take() == ["initial 0", "2: -[] +[0, 1] ~[]"] && whole.take() == ["didChange"])
        realm.beginWrite()
        realm.delete(hounds[0])
        try realm.commitWrite(withoutNotifying: [other])
        realm.refresh()
        #expect(log.take() == ["1: -[0] +[] ~[]"] && second.take() == [])
        try realm.write { hounds[0].age = 5 }
        realm.refresh()
        #expect(log.take() == ["1: -[] +[] ~[0]"] && second.take() == ["1: -[] +[] ~[0]"])
    }

    @Test func `invalidating a realm ends its observations`() throws {
        let realm = try memoryRealm()
        try realm.write { realm.add(Beagle()) }
        let log = Log()
        let token = realm.objects(Beagle.self).observe { log.note($0) }
        realm.refresh()
        realm.invalidate()
        try realm.write { realm.add(Beagle()) }
        realm.refresh()
        #expect(log.take() == ["initial 1"] && !token.invalidate())
    }

    @Test func `a token keeps its realm open`() throws {
        let file = TemporaryRealm(), log = Log()
        var token: NotificationToken?
        do { token = try Realm(fileURL: file.url).objects(Beagle.self).observe { log.note($0) } }
        let realm = try Realm(fileURL: file.url)
        try realm.write { realm.add(Beagle()) }
        realm.refresh()
        #expect(log.take() == ["initial 1"])
        token?.invalidate()
    }
}
