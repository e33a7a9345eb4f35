import Firn
import FirnKit
import Foundation
import RLM
import Testing

/// Rows C21–C32 of the contract of collections, for every conforming type.
@Suite struct CollectionNoticeTests {
    @Test(arguments: Conformer.live)
    func `addNotificationBlock reports the initial collection, then changes with old and new indexes [C21, D3]`(
        _ one: Conformer
    ) throws {
        let log = Log(), dogs = try one.collection(), realm = dogs.realm!, all = realm.allObjects("Dog")
        let token = dogs.addNotificationBlock { log.note($0?.count, $1, $2) }
        realm.refresh()
        try realm.transaction {
            all[3]["age"] = 8
            realm.delete(all[2])
        }
        realm.refresh()
        try realm.transaction { realm.createObject("Values") }
        realm.refresh()
        #expect(log.take() == ["initial 4", "3: -[2] +[] ~[3] now [2]"])
        token.invalidate()
        try realm.transaction { realm.delete(all[0]) }
        realm.refresh()
        #expect(log.take() == [])
    }

    @Test(arguments: Conformer.live) func `changes before the first call of an observer are part of the first call [C21]`(_ one: Conformer)
        throws
    {
        let log = Log(), dogs = try one.collection(), realm = dogs.realm!
        let token = dogs.addNotificationBlock { log.note($0?.count, $1, $2) }
        try realm.transaction { realm.delete(realm.allObjects("Dog")[0]) }
        realm.refresh()
        #expect(log.take() == ["initial 3"])
        token.invalidate()
    }

    @Test(.timeLimit(.minutes(15)), arguments: Conformer.live)
    func `an observer with a queue is called on the queue [C22]`(_ one: Conformer) throws {
        let log = Log(), queue = DispatchQueue(label: "rlm"), dogs = try one.collection(), realm = dogs.realm!
        let token = dogs.addNotificationBlock(
            { dogs, change, error in
                dispatchPrecondition(condition: .onQueue(queue))
                log.note(dogs?.count, change, error)
            }, queue: queue)
        #expect(log.waits(for: 1))
        try realm.transaction { realm.allObjects("Dog")[1]["age"] = 8 }
        #expect(log.waits(for: 2) && log.take() == ["initial 4", "4: -[] +[] ~[1] now [1]"])
        token.invalidate()
    }

    @Test(.timeLimit(.minutes(15)), arguments: Conformer.live)
    func `key paths filter the changes for observers with and without a queue [C23]`(_ one: Conformer) throws {
        let log = Log(), here = Log(), dogs = try one.collection(), realm = dogs.realm!
        let token = dogs.addNotificationBlock({ log.note($0?.count, $1, $2) }, keyPaths: ["name"], queue: DispatchQueue(label: "rlm"))
        let own = dogs.addNotificationBlock({ here.note($0?.count, $1, $2) }, keyPaths: ["name"])
        realm.refresh()
        #expect(log.waits(for: 1))
        try realm.transaction { realm.allObjects("Dog")[1]["age"] = 8 }
        realm.refresh()
        try realm.transaction { realm.allObjects("Dog")[1]["name"] = "Fidi" }
        realm.refresh()
        #expect(
            log.waits(for: 2) && log.take() == ["initial 4", "4: -[] +[] ~[1] now [1]"]
                && here.take() == ["initial 4", "4: -[] +[] ~[1] now [1]"])
        token.invalidate()
        own.invalidate()
    }

    @Test func `changes have index paths for a section of a table [C21]`() throws {
        var paths: [[IndexPath]] = []
        let ada = try person(), realm = ada.realm!
        let token = ada.dogs.addNotificationBlock { _, change, _ in
            if let change { paths = [change.deletions(inSection: 2), change.insertions(inSection: 2), change.modifications(inSection: 2)] }
        }
        realm.refresh()
        try realm.transaction {
            ada.dogs.removeObject(at: 0)
            ada.dogs[0]["age"] = 1
            ada.dogs.add(dog("Max", 1))
        }
        realm.refresh()
        #expect(paths == [[[2, 0]], [[2, 3]], [[2, 1]]])
        token.invalidate()
    }

    @Test func `observing a read-only realm traps [C21]`() async {
        let readOnly = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let configuration = RLMRealmConfiguration()
            let folder = TemporaryFolder()
            configuration.fileURL = URL(filePath: folder.file("a.firn"))
            configuration.customSchema = kennelSchema()
            do { _ = try RLMRealm(configuration: configuration) }
            configuration.readOnly = true
            let dogs = try RLMRealm(configuration: configuration).allObjects("Dog")
            try FileManager.default.removeItem(atPath: folder.path)
            _ = dogs.addNotificationBlock { _, _, _ in }
        }
        #expect(said(readOnly).contains("Read-only Realms do not change"))
    }

    @Test(arguments: Conformer.managed)
    func `collections of every kind can be sectioned by key path and by descriptors [C24, C25]`(_ one: Conformer) throws {
        let dogs = try one.collection()
        let sections = dogs.sectionedResultsSorted(usingKeyPath: "age", ascending: false) { ($0 as! RLMObject).age }
        #expect(sections.allKeys.map { $0 as? Int } == [7, 3, 1] && sections.count == 3 && sections.isFrozen == (one.version == .frozen))
        let parity = dogs.sectionedResults(using: [
            RLMSortDescriptor(keyPath: "age", ascending: true), RLMSortDescriptor(keyPath: "name", ascending: false),
        ]) { ($0 as! RLMObject).age > 2 }
        #expect(parity.allKeys.map { $0 as? Bool } == [false, true] && names(parity[1]) == ["Rex", "Fido", "Ada"])
    }

    @Test func `sections without a descriptor trap [C25]`() async {
        let none = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try person().realm!.allObjects("Dog").sectionedResults(using: []) { _ in 1 }
        }
        #expect(said(none).contains("There must be at least one SortDescriptor when using SectionedResults."))
    }

    @Test(arguments: Conformer.all) func `min is nil for an empty collection [C26]`(_ one: Conformer) throws {
        let dogs = try one.collection()
        #expect(
            dogs.min(ofProperty: "age") as? Int == 1 && dogs.min(ofProperty: "teeth") as? Int == 4
                && dogs.min(ofProperty: "weight") as? Double == 0.5)
        #expect(
            try dogs.min(ofProperty: "born") as? Date == Date(timeIntervalSince1970: 1000)
                && one.collection([]).min(ofProperty: "age") == nil)
    }

    @Test(arguments: Conformer.all) func `max is nil for an empty collection [C27]`(_ one: Conformer) throws {
        let dogs = try one.collection()
        #expect(
            dogs.max(ofProperty: "age") as? Int == 7 && dogs.max(ofProperty: "teeth") as? Int == 30
                && dogs.max(ofProperty: "height") as? Float == 1.75)
        #expect(
            try dogs.max(ofProperty: "born") as? Date == Date(timeIntervalSince1970: 7000)
                && one.collection([]).max(ofProperty: "age") == nil)
    }

    @Test(arguments: Conformer.all) func `sum is 0 for an empty collection [C28]`(_ one: Conformer) throws {
        let dogs = try one.collection()
        #expect(dogs.sum(ofProperty: "age") == 18 && dogs.sum(ofProperty: "teeth") == 54 && dogs.sum(ofProperty: "weight") == 9)
        #expect(try one.collection([]).sum(ofProperty: "age") == 0)
    }

    @Test(arguments: Conformer.all) func `average is nil for an empty collection [C29]`(_ one: Conformer) throws {
        let dogs = try one.collection()
        #expect(
            dogs.average(ofProperty: "age") == 4.5 && dogs.average(ofProperty: "teeth") == 18 && dogs.average(ofProperty: "weight") == 2.25)
        #expect(try one.collection([]).average(ofProperty: "age") == nil)
    }

    @Test(arguments: Conformer.all) func `isFrozen is true for frozen collections and their objects only [C30]`(_ one: Conformer) throws {
        let dogs = try one.collection(), isFrozen = one.version == .frozen
        #expect(dogs.isFrozen == isFrozen && dogs[0].isFrozen == isFrozen && dogs.map { $0 }[1].isFrozen == isFrozen)
    }

    @Test(arguments: Conformer.live)
    func `freeze keeps the version, and in a transaction the version before it [C31]`(_ one: Conformer) throws {
        let dogs = try one.collection(), realm = dogs.realm!, frozen = dogs.freeze()
        #expect(frozen.freeze() === frozen)
        try realm.transaction {
            realm.delete(realm.allObjects("Dog")[0])
            #expect(dogs.freeze().count == 4 && dogs.count == 3)
        }
        #expect(names(frozen.map { $0 }) == ["Rex", "Fido", "Bo", "Ada"] && dogs.count == 3)
        nonisolated(unsafe) let shared = frozen
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            #expect(shared.count == 4 && shared.sum(ofProperty: "age") == 18 && shared[3].name == "Ada")
            done.signal()
        }
        done.wait()
    }

    @Test(arguments: Conformer.live)
    func `thaw returns the live collection, and a live collection returns itself [C32]`(_ one: Conformer) throws {
        let dogs = try one.collection(), realm = dogs.realm!, frozen = dogs.freeze()
        try realm.transaction { realm.delete(realm.allObjects("Dog")[0]) }
        let thawed = try #require(frozen.thaw())
        #expect(thawed.count == 3 && !thawed.isFrozen && thawed.realm == realm && dogs.thaw() === dogs)
    }

    @Test func `freezing and thawing unmanaged collections traps [C31, C32]`() async {
        let freeze = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try Conformer(kind: .array, version: .unmanaged).collection().freeze()
        }
        #expect(said(freeze).contains("This method may only be called on RLMArray instances retrieved from an RLMRealm"))
        let thaw = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try Conformer(kind: .array, version: .unmanaged).collection().thaw()
        }
        #expect(said(thaw).contains("This method may only be called on RLMArray instances retrieved from an RLMRealm"))
    }
}
