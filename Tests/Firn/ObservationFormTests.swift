import Dispatch
import Firn
import Foundation
import Testing

/// Every kind of observation on an actor and with Swift key paths, and passing every kind of collection to other threads.
@Suite struct ObservationFormTests {
    actor Desk {
        let log = Log()
        func note<T>(_ change: ObjectChange<T>) { log.note(change) }
        func note<M>(_ change: RealmMapChange<Map<String, M>>) { log.note(change) }
        func note<C>(_ change: SectionedResultsChange<C>) {
            switch change {
            case .initial: log.note("initial")
            case .update(_, let deletions, let insertions, let modifications, let came, let went):
                func text(_ paths: [IndexPath]) -> String { "\(paths.map { [$0[0], $0[1]] })" }
                log.note("-\(text(deletions)) +\(text(insertions)) ~\(text(modifications)) sections -\(Array(went)) +\(Array(came))")
            }
        }
    }

    /// Returns the calls of an actor's observer before and after one write.
    private func received(_ observe: (Realm, Desk) async throws -> NotificationToken, after write: (Realm) -> Void) async throws -> [String]
    {
        let file = TemporaryRealm(), desk = Desk()
        func filled() throws -> Realm {
            let realm = try Realm(fileURL: file.url)
            try realm.write {
                let toy = Toy(value: ["brand": "Kong"])
                for (name, age) in [("a", 1), ("b", 1), ("c", 2)] {
                    let hound = realm.create(Beagle.self, value: ["name": name, "age": age] as [String: Any])
                    hound.byName["k"] = toy
                }
            }
            return realm
        }
        let token: NotificationToken
        do { token = try await observe(filled(), desk) }
        let before = desk.log.count
        do {
            let realm = try Realm(fileURL: file.url)
            try realm.write { write(realm) }
        }
        while desk.log.count <= before { try await Task.sleep(nanoseconds: 1_000_000) }
        token.invalidate()
        return desk.log.take()
    }

    @Test(.timeLimit(.minutes(2))) func `an actor can observe a section`() async throws {
        let lines = try await received(
            { realm, desk in
                let section = realm.objects(Beagle.self).sectioned(by: \.age)[0]
                return await section.observe(on: desk) { desk, change in desk.note(change) }
            }, after: { realm in realm.objects(Beagle.self)[2].age = 1 })
        #expect(lines == ["initial", "-[] +[[0, 2]] ~[] sections -[] +[]"])
    }

    @Test(.timeLimit(.minutes(2))) func `an actor can observe a section and sectioned results by key paths`() async throws {
        let section = try await received(
            { realm, desk in
                await realm.objects(Beagle.self).sectioned(by: \.age)[0].observe(keyPaths: [\.name], on: desk) { desk, change in
                    desk.note(change)
                }
            }, after: { realm in realm.objects(Beagle.self)[1].name = "x" })
        #expect(section == ["initial", "-[] +[] ~[[0, 1]] sections -[] +[]"])
        let all = try await received(
            { realm, desk in
                await realm.objects(Beagle.self).sectioned(by: \.age).observe(keyPaths: [\.name], on: desk) { desk, change in
                    desk.note(change)
                }
            }, after: { realm in realm.objects(Beagle.self)[2].name = "x" })
        #expect(all == ["initial", "-[] +[] ~[[1, 0]] sections -[] +[]"])
    }

    @Test(.timeLimit(.minutes(2))) func `an actor can observe an object by key paths, and a map`() async throws {
        let object = try await received(
            { realm, desk in
                await realm.objects(Beagle.self)[0].observe(keyPaths: [\Beagle.age], on: desk) {
                    (desk: isolated Desk, change: ObjectChange<Beagle>) in desk.note(change)
                }
            },
            after: { realm in
                realm.objects(Beagle.self)[0].name = "not reported"
                realm.objects(Beagle.self)[0].age = 5
            })
        #expect(object == ["age: 1 -> 5"])
        let map = try await received(
            { realm, desk in
                await realm.objects(Beagle.self)[0].scores.observe(on: desk) { desk, change in desk.note(change) }
            }, after: { realm in realm.objects(Beagle.self)[0].scores["z"] = 1 })
        #expect(map == ["initial 0", "1: -[] +[\"z\"] ~[]"])
    }

    @Test func `snapshots of maps, sections, sectioned results and erased collections can be read by another task`() async throws {
        let realm = try memoryRealm()
        try realm.write {
            for i in 0..<6 { realm.create(Beagle.self, value: ["name": "h\(i)", "age": i % 2, "scores": ["k": i]] as [String: Any]) }
        }
        func handed() -> (
            Snapshot<Map<String, Int>>, Snapshot<SectionedResults<Int, Beagle>>, Snapshot<ResultsSection<Int, Beagle>>,
            Snapshot<AnyRealmCollection<Beagle>>
        ) {
            let hounds = realm.objects(Beagle.self), sections = hounds.sectioned(by: \.age)
            return (Snapshot(hounds[3].scores), Snapshot(sections), Snapshot(sections[1]), Snapshot(AnyRealmCollection(hounds)))
        }
        let (map, sections, section, erased) = handed()
        try realm.write { realm.deleteAll() }
        let seen = await Task.detached {
            [
                map.value["k"] ?? -1, sections.value.count, sections.value[0].count, section.value.count, section.value.key,
                erased.value.count, erased.value[5].scores["k"] ?? -1,
            ]
        }.value
        #expect(seen == [3, 2, 3, 3, 1, 6, 5])
    }

    @Test func `references to maps and sections can be resolved on another queue`() throws {
        let file = TemporaryRealm(), realm = try Realm(fileURL: file.url)
        try realm.write { for i in 0..<4 { realm.create(Beagle.self, value: ["age": i % 2, "scores": ["k": i]] as [String: Any]) } }
        let hounds = realm.objects(Beagle.self), sections = hounds.sectioned(by: \.age)
        let map = ThreadSafeReference(to: hounds[1].scores), all = ThreadSafeReference(to: sections),
            one = ThreadSafeReference(to: sections[1])
        let gone = ThreadSafeReference(to: sections[0])
        try realm.write { realm.delete(hounds.filter("age == 0")) }
        let queue = DispatchQueue(label: "there"), url = file.url
        try queue.sync {
            let there = try Realm(configuration: Realm.Configuration(fileURL: url), queue: queue)
            #expect(
                there.resolve(map)?["k"] == 1 && there.resolve(all)?.allKeys == [1] && there.resolve(one)?.count == 2
                    && there.resolve(gone) == nil)
        }
    }
}
