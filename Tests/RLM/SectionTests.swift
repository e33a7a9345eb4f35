import Firn
import Foundation
import RLM
import Testing

/// Rows X01–X11 of the collections' contract.
@Suite struct SectionTests {
    /// Dogs by the first letter of their names: Ada, Alf; Bo; Cid.
    private func sections(_ version: Conformer.Version = .live) throws -> (RLMRealm, RLMSectionedResults<any RLMValue, RLMObject>) {
        let ada = try person([dog("Alf", 3), dog("Bo", 1), dog("Cid", 7), dog("Ada", 5)])
        let sections = ada.realm!.allObjects("Dog").sectionedResultsSorted(usingKeyPath: "name", ascending: true) {
            String(($0 as! RLMObject).name.prefix(1))
        }
        return (ada.realm!, version == .frozen ? sections.freeze() : sections)
    }

    @Test(arguments: [Conformer.Version.live, .frozen]) func `X01 key is what the key block gave, nil as NSNull`(
        _ version: Conformer.Version
    ) throws {
        let (realm, sections) = try sections(version)
        #expect(sections.map { $0.key as? String } == ["A", "B", "C"] && sections[0].key.rlm_valueType == .string)
        let byTeeth = try person().dogs.sectionedResultsSorted(usingKeyPath: "age", ascending: true) { ($0 as! RLMObject)["teeth"] as? Int }
        #expect(
            byTeeth.map { $0.key is NSNull } == [false, false, true, false]
                || byTeeth.map { $0.key is NSNull } == [false, false, false, true])
        #expect(realm == realm)
    }

    @Test(arguments: ElementKind.allCases) func `X01 keys are values of every kind`(_ kind: ElementKind) throws {
        nonisolated(unsafe) let keys = kind.values as [Any]
        let dogs = try person().dogs
        let sections = dogs.sectionedResultsSorted(usingKeyPath: "age", ascending: true) {
            keys[(($0 as! RLMObject).age == 1 ? 0 : 1)] as? any RLMValue
        }
        #expect(sections.allKeys.map { $0 as? AnyHashable } == [AnyHashable(kind.values[0]), AnyHashable(kind.values[1])])
        if kind != .any { #expect(sections[0].key.rlm_valueType == kind.type) }
    }

    @Test(arguments: [Conformer.Version.live, .frozen]) func `X02 count, never 0 while the section is there`(_ version: Conformer.Version)
        throws
    {
        let (realm, sections) = try sections(version)
        #expect(sections.map(\.count) == [2, 1, 1])
        guard version == .live else { return }
        let b = sections[1], c = sections[2]
        try realm.transaction { realm.deleteObjects(realm.objects("Dog", where: "name == 'Bo'")) }
        #expect(b.isInvalidated && !c.isInvalidated && c.count == 1 && sections.count == 2)
        try realm.transaction { realm.add(dog("Bob", 1)) }
        #expect(!b.isInvalidated && names(b) == ["Bob"])
    }

    @Test(arguments: [Conformer.Version.live, .frozen]) func `X03 elements by subscript, and one after the other`(
        _ version: Conformer.Version
    ) throws {
        let (_, sections) = try sections(version)
        #expect(sections[0][0].name == "Ada" && sections[0][1].name == "Alf" && names(sections[0]) == ["Ada", "Alf"])
    }

    @Test(arguments: [Conformer.Version.live, .frozen]) func `X04 elements by object(at:)`(_ version: Conformer.Version) throws {
        let (_, sections) = try sections(version)
        #expect(sections[0].object(at: 1).name == "Alf" && sections.object(at: 2).object(at: 0).name == "Cid")
    }

    @Test func `X03 X04 an index out of bounds traps, and so does a section that is gone`() async {
        let index = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try person().dogs.sectionedResultsSorted(usingKeyPath: "age", ascending: true) { ($0 as! RLMObject).age }[2][2]
        }
        #expect(said(index).contains("Requested index 2 calling ResultsSection[] when max is 1"))
        let section = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try person().dogs.sectionedResultsSorted(usingKeyPath: "age", ascending: true) { ($0 as! RLMObject).age }.object(at: 3)
        }
        #expect(said(section).contains("Requested index 3 calling SectionedResults[] when max is 2"))
        let gone = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let ada = try person(),
                one = ada.dogs.sectionedResultsSorted(usingKeyPath: "age", ascending: true) { ($0 as! RLMObject).age }[0]
            try ada.realm!.transaction { ada.realm!.deleteObjects(ada.realm!.objects("Dog", where: "age == 1")) }
            _ = one.object(at: 0)
        }
        #expect(said(gone).contains("Access to invalidated Results objects"))
    }

    @Test func `X06 thaw is the live section, a live one itself`() throws {
        let (realm, sections) = try sections(), a = sections[0], frozen = a.freeze(), all = sections.freeze()
        #expect(a.thaw() === a && sections.thaw() === sections)
        try realm.transaction { realm.add(dog("Abe", 1)) }
        #expect(
            frozen.thaw()?.count == 3 && frozen.thaw()?.isFrozen == false && frozen.thaw()?.key as? String == "A"
                && all.thaw()?[0].count == 3)
    }

    @Test func `X07 isFrozen of frozen sections only, and of what is read from them`() throws {
        let (_, live) = try sections(), (_, frozen) = try sections(.frozen)
        #expect(
            !live.isFrozen && !live[0].isFrozen && !live[0][0].isFrozen && frozen.isFrozen && frozen[0].isFrozen && frozen[0][0].isFrozen
                && live[0].freeze().isFrozen)
    }

    @Test func `X05 freeze keeps a section for any thread`() throws {
        let (realm, sections) = try sections(), a = sections[0], frozen = a.freeze(), all = sections.freeze()
        #expect(frozen.freeze() === frozen && all.freeze() === all)
        try realm.transaction { realm.add(dog("Abe", 1)) }
        #expect(frozen.count == 2 && a.count == 3 && all[0].count == 2)
        nonisolated(unsafe) let shared = frozen
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            #expect(shared.key as? String == "A" && names(shared) == ["Ada", "Alf"])
            done.signal()
        }
        done.wait()
    }

    @Test func `X08 a section tells of itself only, and one call of what was written at once`() throws {
        let (realm, sections) = try sections(), log = Log()
        let token = sections[1].addNotificationBlock { log.note($0.isInvalidated ? 0 : $0.count, $1) }
        try realm.transaction { realm.add(dog("Bea", 1)) }
        realm.refresh()
        #expect(log.take() == ["initial 2"])
        try realm.transaction { realm.objects("Dog", where: "name == 'Cid'")[0]["age"] = 1 }
        realm.refresh()
        #expect(log.take() == [])
        try realm.transaction { realm.objects("Dog", where: "name == 'Bo'")[0]["age"] = 2 }
        realm.refresh()
        #expect(log.take() == ["2: -[] +[] ~[[1, 1]] sections +[] -[]"])
        try realm.transaction { realm.deleteObjects(realm.objects("Dog", where: "name BEGINSWITH 'B'")) }
        realm.refresh()
        try realm.transaction { realm.add(dog("Ben", 1)) }
        realm.refresh()
        #expect(log.take() == ["0: -[] +[] ~[] sections +[] -[1]", "1: -[] +[[1, 0]] ~[] sections +[1] -[]"])
        #expect(token.invalidate())
    }

    @Test(.timeLimit(.minutes(1))) func `X09 a section on a queue`() throws {
        let (realm, sections) = try sections(), log = Log(), queue = DispatchQueue(label: "sections")
        let token = sections[0].addNotificationBlock(
            { section, change in
                dispatchPrecondition(condition: .onQueue(queue))
                log.note(section.count, change)
            }, queue: queue)
        #expect(log.waits(for: 1))
        try realm.transaction { realm.add(dog("Aki", 2)) }
        #expect(log.waits(for: 2) && log.take() == ["initial 2", "3: -[] +[[0, 1]] ~[] sections +[] -[]"])
        token.invalidate()
    }

    @Test(.timeLimit(.minutes(1))) func `X10 key paths say which properties count; the section's own key always does`() throws {
        let (realm, sections) = try sections(), log = Log(),
            dogs = realm.allObjects("Dog").sortedResults(usingKeyPath: "name", ascending: true)
        let token = sections[0].addNotificationBlock({ log.note($0.count, $1) }, keyPaths: ["age"])
        realm.refresh()
        try realm.transaction { dogs[0]["weight"] = 9.0 }
        realm.refresh()
        #expect(log.take() == ["initial 2"])
        try realm.transaction { dogs[0]["age"] = 9 }
        realm.refresh()
        #expect(log.take() == ["2: -[] +[] ~[[0, 0]] sections +[] -[]"])
        // The key that the section follows from counts always: the element goes to another section.
        try realm.transaction { dogs[0]["name"] = "Bada" }
        realm.refresh()
        #expect(log.take() == ["1: -[[0, 0]] +[] ~[] sections +[] -[]"])
        token.invalidate()
    }

    @Test(.timeLimit(.minutes(1))) func `X11 key paths say which properties count, on a queue`() throws {
        let (realm, sections) = try sections(), log = Log(),
            dogs = realm.allObjects("Dog").sortedResults(usingKeyPath: "name", ascending: true)
        let token = sections[0].addNotificationBlock(
            { log.note($0.count, $1) }, keyPaths: ["weight"], queue: DispatchQueue(label: "sections"))
        #expect(log.waits(for: 1))
        try realm.transaction { dogs[0]["age"] = 9 }
        try realm.transaction { dogs[0]["weight"] = 9.0 }
        #expect(log.waits(for: 2) && log.take() == ["initial 2", "2: -[] +[] ~[[0, 0]] sections +[] -[]"])
        token.invalidate()
    }

    @Test func `X08 D11 sectioned results tell with sections: initial, then updates`() throws {
        let (realm, sections) = try sections(), log = Log()
        var inSection: [[IndexPath]] = []
        let token = sections.addNotificationBlock { all, change in
            log.note(all.count, change)
            inSection = [change.deletions(inSection: 0), change.insertions(inSection: 3), change.modifications(inSection: 0)]
        }
        realm.refresh()
        try realm.transaction {
            realm.add(dog("Dan", 1))
            realm.objects("Dog", where: "name == 'Ada'")[0]["age"] = 1
            realm.deleteObjects(realm.objects("Dog", where: "name == 'Alf'"))
        }
        realm.refresh()
        #expect(
            log.take() == ["initial 3", "4: -[[0, 1]] +[[3, 0]] ~[[0, 0]] sections +[3] -[]"]
                && inSection == [[[0, 1]], [[3, 0]], [[0, 0]]])
        try realm.transaction { realm.deleteObjects(realm.objects("Dog", where: "name == 'Bo'")) }
        realm.refresh()
        #expect(log.take() == ["3: -[] +[] ~[] sections +[] -[1]"])
        token.invalidate()
    }

    @Test func `X08 read-only, frozen and changed realms are not observed`() async {
        let readOnly = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let configuration = RLMRealmConfiguration()
            configuration.fileURL = FileManager.default.temporaryDirectory.appendingPathComponent("rlm-\(UUID().uuidString).firn")
            configuration.customSchema = kennelSchema()
            do {
                let realm = try RLMRealm(configuration: configuration)
                try realm.transaction { realm.addObjects(fourDogs()) }
            }
            configuration.readOnly = true
            let dogs = try RLMRealm(configuration: configuration).allObjects("Dog")
            try FileManager.default.removeItem(at: configuration.fileURL!)
            _ = dogs.sectionedResultsSorted(usingKeyPath: "age", ascending: true) { ($0 as! RLMObject).age }[0].addNotificationBlock {
                _, _ in
            }
        }
        #expect(said(readOnly).contains("Read-only Realms do not change"))
        let frozen = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try person().dogs.sectionedResultsSorted(usingKeyPath: "age", ascending: true) { ($0 as! RLMObject).age }[0].freeze()
                .addNotificationBlock { _, _ in }
        }
        #expect(said(frozen).contains("Frozen Realms do not change and do not have change notifications."))
        let changed = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let ada = try person(),
                one = ada.dogs.sectionedResultsSorted(usingKeyPath: "age", ascending: true) { ($0 as! RLMObject).age }[0]
            ada.realm!.beginWriteTransaction()
            ada.dogs[0]["age"] = 9
            _ = one.addNotificationBlock { _, _ in }
        }
        #expect(said(changed).contains("Cannot create asynchronous query after making changes in a write transaction."))
    }

    @Test func `X01 the key is asked for once for each element of an evaluation, and of frozen sections never again`() throws {
        var asked = 0
        let ada = try person()
        let sections = ada.dogs.sectionedResultsSorted(usingKeyPath: "age", ascending: true) { dog in
            asked += 1
            return (dog as! RLMObject).age
        }
        #expect(asked == 0 && sections.count == 3 && asked == 4)
        _ = (sections.allKeys, sections[0][0], sections.map(\.count))
        #expect(asked == 4)
        let frozen = sections.freeze(), now = asked
        try ada.realm!.transaction { ada.dogs[0]["age"] = 9 }
        #expect(frozen.allKeys.map { $0 as? Int } == [1, 3, 7] && frozen[1][0].age == 3 && asked == now)
    }
}
