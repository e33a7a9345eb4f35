import Firn
import Foundation
import Testing

/// Observers of sections: rows X08 to X11, ruling D11.
@Suite struct SectionObserverTests {
    private func note<C>(_ log: Log, _ change: SectionedResultsChange<C>, _ count: (C) -> Int) {
        switch change {
        case .initial(let all): log.note("initial \(count(all))")
        case .update(let all, let deletions, let insertions, let modifications, let more, let less):
            log.note(
                "\(count(all)): -\(deletions.map { Array($0) }) +\(insertions.map { Array($0) }) ~\(modifications.map { Array($0) }) sections +\(Array(more)) -\(Array(less))"
            )
        }
    }

    private func kennel() throws -> (Realm, Results<Beagle>, SectionedResults<String, Beagle>) {
        let realm = try memoryRealm()
        try realm.write { for name in ["ada", "alf", "bob", "cid"] { realm.add(Beagle(value: ["name": name])) } }
        let hounds = realm.objects(Beagle.self)
        return (realm, hounds, hounds.sectioned(by: { String($0.name.prefix(1)) }, sortDescriptors: [SortDescriptor(keyPath: "name")]))
    }

    @Test func `changes of sectioned results include inserted and deleted sections [D11]`() throws {
        let (realm, hounds, sections) = try kennel()
        let log = Log()
        let token = sections.observe { note(log, $0, \.count) }
        realm.refresh()
        try realm.write { hounds[0].age = 3 }
        realm.refresh()
        try realm.write { realm.add(Beagle(value: ["name": "dan"])) }
        realm.refresh()
        try realm.write { realm.delete(hounds[2]) }
        realm.refresh()
        try realm.write { realm.add(Chain()) }
        realm.refresh()
        #expect(
            log.take() == [
                "initial 3", "3: -[] +[] ~[[0, 0]] sections +[] -[]", "4: -[] +[[3, 0]] ~[] sections +[3] -[]",
                "3: -[] +[] ~[] sections +[] -[1]",
            ])
        token.invalidate()
    }

    @Test func `a section reports its own changes only, with changes before the first call in it [X08]`() throws {
        let (realm, hounds, sections) = try kennel()
        let log = Log()
        let token = sections[0].observe { note(log, $0) { $0.isInvalidated ? 0 : $0.count } }
        try realm.write { realm.add(Beagle(value: ["name": "abe"])) }
        realm.refresh()
        #expect(log.take() == ["initial 3"])
        try realm.write { hounds[2].age = 3 }
        realm.refresh()
        #expect(log.take() == [])
        try realm.write { hounds[0].age = 3 }
        realm.refresh()
        #expect(log.take() == ["3: -[] +[] ~[[0, 1]] sections +[] -[]"])
        try realm.write { for hound in hounds { if hound.name.hasPrefix("a") { hound.name = "x" + hound.name } } }
        realm.refresh()
        #expect(log.take() == ["0: -[] +[] ~[] sections +[] -[0]"])
        try realm.write { realm.add(Beagle(value: ["name": "again"])) }
        realm.refresh()
        #expect(log.take() == ["1: -[] +[[0, 0]] ~[] sections +[0] -[]"])
        token.invalidate()
    }

    @Test(.timeLimit(.minutes(15))) func `sections can be observed on queues and by key paths [X09, X10, X11]`() throws {
        let (realm, hounds, sections) = try kennel()
        let log = Log(), queue = DispatchQueue(label: "test")
        let token = sections[0].observe(keyPaths: ["age"], on: queue) { note(log, $0, \.count) }
        #expect(log.waits(for: 1))
        try realm.write { hounds[0].toys.append(Toy()) }
        queue.sync {}
        try realm.write { hounds[0].age = 3 }
        #expect(log.waits(for: 2))
        #expect(log.take() == ["initial 2", "2: -[] +[] ~[[0, 0]] sections +[] -[]"])
        let refused = try? sections.tryObserve(keyPaths: ["wings"]) { _ in }
        #expect(refused == nil)
        #expect(token.invalidate())
    }

    @Test(.timeLimit(.minutes(15))) func `sections can be observed as an asynchronous sequence`() async throws {
        let log = Log()
        let (changes, path) = try start()
        for await change in changes {
            note(log, change, \.count)
            if log.count == 2 { break }
            let realm = try Realm(fileURL: path.url)
            try realm.write { realm.add(Beagle(value: ["name": "b"])) }
        }
        #expect(log.take() == ["initial 1", "2: -[] +[[1, 0]] ~[] sections +[1] -[]"])
    }

    private func start() throws -> (RealmChanges<SectionedResultsChange<SectionedResults<String, Beagle>>>, TemporaryRealm) {
        let file = TemporaryRealm()
        let realm = try Realm(fileURL: file.url)
        try realm.write { realm.add(Beagle(value: ["name": "a"])) }
        return (realm.objects(Beagle.self).sectioned(by: { $0.name }, sortDescriptors: [SortDescriptor(keyPath: "name")]).changes(), file)
    }
}
