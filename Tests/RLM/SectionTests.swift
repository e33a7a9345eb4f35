import Firn
import FirnKit
import Foundation
import RLM
import Testing

/// Rows X01–X11 of the contract of collections.
@Suite struct SectionTests {
    /// Returns dogs in sections by the first letter of their names: Ada, Alf; Bo; Cid.
    private func sections(_ version: Conformer.Version = .live) throws -> (RLMRealm, RLMSectionedResults<any RLMValue, RLMObject>) {
        let ada = try person([dog("Alf", 3), dog("Bo", 1), dog("Cid", 7), dog("Ada", 5)])
        let sections = ada.realm!.allObjects("Dog").sectionedResultsSorted(usingKeyPath: "name", ascending: true) {
            String(($0 as! RLMObject).name.prefix(1))
        }
        return (ada.realm!, version == .frozen ? sections.freeze() : sections)
    }

    @Test(arguments: [Conformer.Version.live, .frozen]) func `key is the result of the key block, and NSNull for nil [X01]`(
        _ version: Conformer.Version
    ) throws {
        let (_, sections) = try sections(version)
        #expect(sections.map { $0.key as? String } == ["A", "B", "C"] && sections[0].key.rlm_valueType == .string)
        let byTeeth = try person().dogs.sectionedResultsSorted(usingKeyPath: "age", ascending: true) { ($0 as! RLMObject)["teeth"] as? Int }
        #expect(
            byTeeth.map { $0.key is NSNull } == [false, false, true, false]
                || byTeeth.map { $0.key is NSNull } == [false, false, false, true])
    }

    @Test(arguments: ElementKind.allCases) func `keys can be values of every kind [X01]`(_ kind: ElementKind) throws {
        nonisolated(unsafe) let keys = kind.values as [Any]
        let dogs = try person().dogs
        let sections = dogs.sectionedResultsSorted(usingKeyPath: "age", ascending: true) {
            keys[(($0 as! RLMObject).age == 1 ? 0 : 1)] as? any RLMValue
        }
        #expect(sections.allKeys.map { $0 as? AnyHashable } == [AnyHashable(kind.values[0]), AnyHashable(kind.values[1])])
        if kind != .any { #expect(sections[0].key.rlm_valueType == kind.type) }
    }

    @Test(arguments: [Conformer.Version.live, .frozen])
    func `count is the number of elements, and a section without elements is invalidated [X02]`(_ version: Conformer.Version)
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

    @Test(arguments: [Conformer.Version.live, .frozen]) func `elements can be read by subscript and by iteration [X03]`(
        _ version: Conformer.Version
    ) throws {
        let (_, sections) = try sections(version)
        #expect(sections[0][0].name == "Ada" && sections[0][1].name == "Alf" && names(sections[0]) == ["Ada", "Alf"])
    }

    @Test(arguments: [Conformer.Version.live, .frozen])
    func `elements can be read by object(at:) [X04]`(_ version: Conformer.Version) throws {
        let (_, sections) = try sections(version)
        #expect(sections[0].object(at: 1).name == "Alf" && sections.object(at: 2).object(at: 0).name == "Cid")
    }

    @Test func `an index out of bounds and access to an invalidated section trap [X03, X04]`() async {
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

    @Test func `thaw returns the live section, and a live section returns itself [X06]`() throws {
        let (realm, sections) = try sections(), a = sections[0], frozen = a.freeze(), all = sections.freeze()
        #expect(a.thaw() === a && sections.thaw() === sections)
        try realm.transaction { realm.add(dog("Abe", 1)) }
        #expect(
            frozen.thaw()?.count == 3 && frozen.thaw()?.isFrozen == false && frozen.thaw()?.key as? String == "A"
                && all.thaw()?[0].count == 3)
    }

    @Test func `isFrozen is true for frozen sections and their objects only [X07]`() throws {
        let (_, live) = try sections(), (_, frozen) = try sections(.frozen)
        #expect(
            !live.isFrozen && !live[0].isFrozen && !live[0][0].isFrozen && frozen.isFrozen && frozen[0].isFrozen && frozen[0][0].isFrozen
                && live[0].freeze().isFrozen)
    }

    @Test func `a frozen section does not change and can be read on any thread [X05]`() throws {
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

    @Test func `a section reports its own changes only, with changes before the first call in it [X08]`() throws {
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

    @Test(.timeLimit(.minutes(15))) func `an observer of a section with a queue is called on the queue [X09]`() throws {
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

    @Test(.timeLimit(.minutes(15))) func `key paths filter the changes of a section, but its own key always counts [X10]`() throws {
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
        // The key of the section always counts: the element moves to another section.
        try realm.transaction { dogs[0]["name"] = "Bada" }
        realm.refresh()
        #expect(log.take() == ["1: -[[0, 0]] +[] ~[] sections +[] -[]"])
        token.invalidate()
    }

    @Test(.timeLimit(.minutes(15))) func `key paths filter the changes of a section on a queue [X11]`() throws {
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

    @Test func `sectioned results report the initial sections, then changes with sections [X08, D11]`() throws {
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

    @Test func `observing read-only, frozen and changed realms traps [X08]`() async {
        let readOnly = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let configuration = RLMRealmConfiguration()
            let folder = TemporaryFolder()
            configuration.fileURL = URL(filePath: folder.file("a.firn"))
            configuration.customSchema = kennelSchema()
            do {
                let realm = try RLMRealm(configuration: configuration)
                try realm.transaction { realm.addObjects(fourDogs()) }
            }
            configuration.readOnly = true
            let dogs = try RLMRealm(configuration: configuration).allObjects("Dog")
            try FileManager.default.removeItem(atPath: folder.path)
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

    @Test func `the key block is called once for each element of an evaluation, and never for frozen sections [X01]`() throws {
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
