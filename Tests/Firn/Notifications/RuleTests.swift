import Firn
import Foundation
import Testing

/// The rules of notifications, N1 to N12. On a thread without a run loop, notifications are delivered by `refresh()`.
@Suite struct NotificationRuleTests {
    /// Observes each kind of collection, and returns its name, log and token.
    private func observeAll(_ realm: Realm, _ owner: Beagle, _ toy: Toy, keyPaths: [String]? = nil) -> [(
        name: String, log: Log, token: NotificationToken
    )] {
        func observe<C: RealmCollection>(_ name: String, _ collection: C) -> (String, Log, NotificationToken) {
            let log = Log()
            return (name, log, collection.observe(keyPaths: keyPaths) { log.note($0) })
        }
        return [
            observe("table", realm.objects(Beagle.self)), observe("filter", realm.objects(Beagle.self).filter("name != 'x'")),
            observe("sorted", realm.objects(Beagle.self).sorted(by: [SortDescriptor(keyPath: "age")])), observe("set", owner.friends),
            observe("links", toy.owners),
            observe("any", AnyRealmCollection(realm.objects(Beagle.self))),
        ]
    }

    private func kennel(_ count: Int) throws -> (realm: Realm, owner: Beagle, toy: Toy) {
        let realm = try memoryRealm()
        let owner = Beagle(value: ["name": "owner", "age": -1]), toy = Toy(value: ["brand": "Kong"])
        try realm.write {
            realm.add(owner)
            realm.add(toy)
            owner.toys.append(toy)
            owner.friends.insert(owner)
            for i in 0..<count {
                let hound = Beagle(value: ["name": "a\(i)", "age": i])
                realm.add(hound)
                hound.toys.append(toy)
                owner.friends.insert(hound)
            }
        }
        return (realm, owner, toy)
    }

    @Test func `the first call has the initial collection, and later ones changes, for every kind of collection [N1, N2, R23]`() throws {
        let (realm, owner, toy) = try kennel(3)
        let observed = observeAll(realm, owner, toy)
        for one in observed { #expect(one.log.take() == [], "\(one.name): called synchronously") }
        realm.refresh()
        for one in observed { #expect(one.log.take() == ["initial 4"], "\(one.name)") }
        let second = realm.objects(Beagle.self)[1]
        try realm.write { second.name = "b" }
        for one in observed { #expect(one.log.take() == [], "\(one.name): called synchronously") }
        realm.refresh()
        // The owner links to it, so it counts as modified too.
        for one in observed { #expect(one.log.take() == ["4: -[] +[] ~[0, 1]"], "\(one.name)") }
        try realm.write {
            let hound = Beagle(value: ["name": "new", "age": 10])
            realm.add(hound)
            hound.toys.append(toy)
            owner.friends.insert(hound)
        }
        realm.refresh()
        for one in observed { #expect(one.log.take() == ["5: -[] +[4] ~[0]"], "\(one.name)") }
        try realm.write { realm.delete(second) }
        realm.refresh()
        for one in observed { #expect(one.log.take() == ["4: -[1] +[] ~[0]"], "\(one.name)") }
        withExtendedLifetime(observed) {}
    }

    @Test func `a change of the order is reported as a deletion and an insertion [N1]`() throws {
        let (realm, owner, toy) = try kennel(3)
        _ = (owner, toy)
        let sorted = realm.objects(Beagle.self).sorted(by: [SortDescriptor(keyPath: "age")]), log = Log()
        let token = sorted.observe(keyPaths: .shallow) { log.note($0) }
        realm.refresh()
        try realm.write { sorted[1].age = 100 }
        realm.refresh()
        #expect(log.take() == ["initial 4", "4: -[1] +[3] ~[]"])
        token.invalidate()
    }

    @Test func `modifications are indexes of the old version, and those of the new version are available [N2, D3]`() throws {
        let realm = try memoryRealm()
        let hound = Beagle(value: ["words": ["a", "b", "c", "d"]])
        try realm.write { realm.add([hound, Beagle(), Beagle(), Beagle()]) }
        var old: [Int] = [], new: [Int] = [], compatible: [Int] = []
        let all = realm.objects(Beagle.self)
        let token = all.observe { change in
            old = change.modificationsOld
            new = change.modificationsNew
            if case .update(_, _, _, let modifications) = change { compatible = modifications }
        }
        realm.refresh()
        try realm.write {
            all[2].age = 4
            realm.delete(all[1])
        }
        realm.refresh()
        #expect(old == [2] && new == [1] && compatible == [2])
        token.invalidate()
    }

    @Test func `a transaction that changes nothing in the collection is not reported [N3]`() throws {
        let (realm, owner, toy) = try kennel(3)
        let observed = observeAll(realm, owner, toy)
        realm.refresh()
        for one in observed { _ = one.log.take() }
        try realm.write {}
        realm.refresh()
        try realm.write { realm.add(Chain()) }
        realm.refresh()
        try realm.write {
            let hound = Beagle()
            realm.add(hound)
            realm.delete(hound)
        }
        realm.refresh()
        try realm.write { owner.age = owner.age }
        realm.refresh()
        for one in observed { #expect(one.log.take() == [], "\(one.name)") }
    }

    @Test func `no errors are reported [N4]`() throws {
        let (realm, owner, _) = try kennel(1)
        var errors = 0
        let token = realm.objects(Beagle.self).observe { if case .error = $0 { errors += 1 } }
        for i in 0..<5 {
            try realm.write { owner.age = i }
            realm.refresh()
        }
        #expect(errors == 0)
        token.invalidate()
    }

    @Test func `observing and writing before delivery is one call with the written rows [N6]`() throws {
        let realm = try memoryRealm()
        let hounds = realm.objects(Beagle.self), log = Log()
        let token = hounds.observe { log.note($0) }
        try realm.write { realm.add(Beagle()) }
        realm.refresh()
        #expect(log.take() == ["initial 1"])
        realm.refresh()
        #expect(log.take() == [])
        token.invalidate()
    }

    @Test func `several commits are reported as one change [N6]`() throws {
        let (realm, _, _) = try kennel(3)
        let hounds = realm.objects(Beagle.self), log = Log()
        let token = hounds.observe { log.note($0) }
        realm.refresh()
        for i in 0..<3 { try realm.write { realm.add(Beagle(value: ["age": i])) } }
        try realm.write { realm.delete(hounds[4]) }
        try realm.write { hounds[0].age = 7 }
        realm.refresh()
        #expect(log.take() == ["initial 4", "6: -[] +[4, 5] ~[0]"])
        token.invalidate()
    }

    @Test func `releasing or invalidating a token ends its calls [N7]`() throws {
        let realm = try memoryRealm()
        let log = Log()
        var token: NotificationToken? = realm.objects(Beagle.self).observe { log.note($0) }
        let other = realm.objects(Beagle.self).observe { log.note($0) }
        realm.refresh()
        #expect(log.take().count == 2)
        token = nil
        try realm.write { realm.add(Beagle()) }
        realm.refresh()
        #expect(log.take().count == 1)
        #expect(other.invalidate() && !other.invalidate())
        try realm.write { realm.add(Beagle()) }
        realm.refresh()
        #expect(log.take() == [] && token == nil)
    }

    @Test func `a token can be invalidated from any thread and within its block [N7]`() throws {
        let realm = try memoryRealm()
        let log = Log()
        let token = realm.objects(Beagle.self).observe { log.note($0) }
        var inner: NotificationToken?
        inner = realm.objects(Beagle.self).observe {
            log.note($0); inner?.invalidate()
        }
        realm.refresh()
        #expect(log.take().count == 2)
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            token.invalidate()
            done.signal()
        }
        done.wait()
        try realm.write { realm.add(Beagle()) }
        realm.refresh()
        #expect(log.take() == [])
    }

    @Test func `within a transaction observing is possible until the first change [N8, D6]`() throws {
        let (realm, _, _) = try kennel(1)
        let hounds = realm.objects(Beagle.self), log = Log()
        realm.beginWrite()
        let token = hounds.observe { log.note($0) }
        realm.add(Beagle())
        #expect(throws: Realm.Error.invalidInput) { try hounds.tryObserve { _ in } }
        do { _ = try hounds.tryObserve { _ in } } catch {
            #expect("\(error)".contains("Cannot create asynchronous query after making changes in a write transaction."))
        }
        try realm.commitWrite()
        realm.refresh()
        #expect(log.take() == ["initial 3"])
        token.invalidate()
    }

    @Test func `observing frozen, unmanaged and read-only collections is refused [N8]`() throws {
        let realm = try memoryRealm()
        try realm.write { realm.add(Beagle()) }
        let frozen = realm.objects(Beagle.self).freeze()
        func message(_ body: () throws -> NotificationToken) -> String {
            do { _ = try body() } catch { return "\(error)" }
            return "nothing was thrown"
        }
        #expect(message { try frozen.tryObserve { _ in } } == "Frozen Realms do not change and do not have change notifications.")
        #expect(message { try frozen[0].tryObserve { _ in } } == "Frozen Realms do not change and do not have change notifications.")
        #expect(message { try List<Int>().tryObserve { _ in } } == "Change notifications are only supported on managed collections.")
        #expect(message { try MutableSet<Int>().tryObserve { _ in } } == "Change notifications are only supported on managed collections.")
        #expect(message { try Map<String, Int>().tryObserve { _ in } } == "Change notifications are only supported on managed collections.")
        #expect(message { try Beagle().tryObserve { _ in } } == "Only objects which are managed by a Realm support change notifications.")
        let file = TemporaryRealm()
        do {
            let writable = try Realm(fileURL: file.url)
            try writable.write { writable.add(Beagle()) }
        }
        let readOnly = try Realm(configuration: Realm.Configuration(fileURL: file.url, readOnly: true))
        #expect(message { try readOnly.objects(Beagle.self).tryObserve { _ in } }.hasPrefix("Read-only Realms do not change"))
    }

    @Test func `observing a frozen collection traps with the reason [N8]`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try memoryRealm()
            _ = realm.objects(Beagle.self).freeze().observe { _ in }
        }
        #expect(said(result).contains("Frozen Realms do not change and do not have change notifications."))
    }

    @Test func `in the block the collection is current, and can be read and written [N9]`() throws {
        let realm = try memoryRealm()
        let hounds = realm.objects(Beagle.self).filter("age > 2")
        var counts: [Int] = []
        let token = hounds.observe { change in
            let collection = change.collection!
            counts.append(collection.count)
            #expect(collection.allSatisfy { $0.age > 2 } && collection.realm == realm)
            if collection.count == 1 { try! realm.write { realm.add(Beagle(value: ["age": 4])) } }
        }
        realm.refresh()
        try realm.write { realm.add(Beagle(value: ["age": 3])) }
        realm.refresh()
        // The change by the block is reported in the next call.
        #expect(counts == [0, 1])
        realm.refresh()
        #expect(counts == [0, 1, 2])
        token.invalidate()
    }

    @Test(arguments: [nil, ["name"], ["toys"], ["toys.brand"], [], .shallow, ["*"], ["age", "toys.price"], ["*.brand"]] as [[String]?])
    func `each token gets only changes that its key paths include [N10, N11, N12, R24, D8, D14]`(keyPaths: [String]?) throws {
        let (realm, owner, toy) = try kennel(1)
        let other = Toy(value: ["brand": "x"])
        try realm.write { realm.add(other) }
        _ = owner
        let hounds = realm.objects(Beagle.self), sorted = realm.objects(Beagle.self).filter("name != ''")
        let log = Log(), second = Log()
        // Another token on the same collection gets all changes, because filters belong to tokens.
        let tokens = [
            hounds.observe(keyPaths: keyPaths) { log.note($0) }, hounds.observe { _ in },
            sorted.observe(keyPaths: keyPaths) { second.note($0) },
        ]
        realm.refresh()
        _ = (log.take(), second.take())
        func tells(_ body: () -> Void) throws -> Bool {
            try realm.write(body)
            realm.refresh()
            let first = log.take()
            #expect(first == second.take())
            return !first.isEmpty
        }
        let hound = hounds[1]
        let paths = keyPaths ?? ["everything"]
        let all = keyPaths == nil, whole = paths == ["*"]
        #expect(try tells { hound.name = "b" } == (all || whole || paths == ["name"]))
        #expect(try tells { hound.age = 9 } == (all || whole || paths.contains("age")))
        #expect(try tells { toy.brand = "new" } == (all || paths == ["toys.brand"] || paths == ["*.brand"]))
        #expect(try tells { toy.price = 9 } == (all || paths.contains("toys.price")))
        #expect(try tells { other.price = 10 } == false)
        #expect(try tells { hound.toys.append(other) } == (all || whole || paths.contains { $0.contains("toys") || $0 == "*.brand" }))
        #expect(try tells { hound.toys.removeAll() } == (all || whole || paths.contains { $0.contains("toys") || $0 == "*.brand" }))
        #expect(try tells { realm.add(Beagle(value: ["name": "new"])) })
        #expect(try tells { realm.delete(hounds[2]) })
        withExtendedLifetime(tokens) {}
    }

    @Test func `key paths can be Swift key paths [R24]`() throws {
        let (realm, _, toy) = try kennel(2)
        let hounds = realm.objects(Beagle.self), log = Log()
        let token = hounds.observe(keyPaths: [\.age, \.best?.name, \.toys.brand]) { log.note($0) }
        realm.refresh()
        try realm.write { hounds[1].name = "c" }
        realm.refresh()
        try realm.write { hounds[1].age = 8 }
        realm.refresh()
        try realm.write { hounds[2].best = hounds[1] }
        realm.refresh()
        try realm.write { hounds[1].name = "d" }
        realm.refresh()
        try realm.write { toy.price = 4 }
        realm.refresh()
        try realm.write { toy.brand = "d" }
        realm.refresh()
        #expect(log.take() == ["initial 3", "3: -[] +[] ~[1]", "3: -[] +[] ~[2]", "3: -[] +[] ~[2]", "3: -[] +[] ~[0, 1, 2]"])
        token.invalidate()
    }

    @Test func `without key paths changes within four links are reported, also in cycles [N11]`() throws {
        let realm = try memoryRealm()
        try realm.write {
            let chain = (0..<8).map { Chain(value: ["value": $0]) }
            realm.add(chain)
            for i in 0..<8 { chain[i].next = chain[(i + 1) % 8] }
        }
        let all = realm.objects(Chain.self), log = Log()
        let token = all.observe { log.note($0) }
        realm.refresh()
        try realm.write { all[5].value = 100 }
        realm.refresh()
        #expect(log.take() == ["initial 8", "8: -[] +[] ~[1, 2, 3, 4, 5]"])
        token.invalidate()
    }

    @Test func `a key path without a property is refused when observing begins [N12]`() async throws {
        let realm = try memoryRealm()
        let hounds = realm.objects(Beagle.self)
        do {
            _ = try hounds.tryObserve(keyPaths: ["name", "best.wings"]) { _ in }
            Issue.record("nothing was thrown")
        } catch { #expect("\(error)" == "Property 'wings' in KeyPath 'best.wings' is not a valid property in Beagle.") }
        #expect(throws: Realm.Error.invalidInput) { try realm.objects(Toy.self).tryObserve(keyPaths: [""]) { _ in } }
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try memoryRealm()
            _ = realm.objects(Beagle.self).observe(keyPaths: ["wings"]) { _ in }
        }
        #expect(said(result).contains("Property 'wings' in KeyPath 'wings' is not a valid property in Beagle."))
    }
}
