import Firn
import Foundation
import RLM
import Testing

/// Rows S17–S34 of the contract of collections.
@Suite struct SetQuestionTests {
    @Test func `intersects is true with a common member, and false with an empty set [S17]`() throws {
        let sets = try intSets([[1, 2], [2, 3], [4], []])
        #expect(
            sets[0].intersects(sets[1]) && !sets[0].intersects(sets[2]) && !sets[0].intersects(sets[3]) && !sets[3].intersects(sets[3])
                && sets[0].intersects(sets[0]))
        #expect(sets[0].intersects(sets[1].freeze()) && sets[0].freeze().intersects(sets[1]))
        let loose = try intSet([1, 2], .unmanaged)
        #expect(try loose.intersects(sets[1]) && loose.intersects(intSet([1], .unmanaged)) && !loose.intersects(intSet([], .unmanaged)))
    }

    @Test func `isSubset is true if the other set has all members, and always for the empty set [S18]`() throws {
        let sets = try intSets([[1, 2], [1, 2, 3], []])
        #expect(
            sets[0].isSubset(of: sets[1]) && !sets[1].isSubset(of: sets[0]) && sets[2].isSubset(of: sets[0])
                && sets[2].isSubset(of: sets[2]) && !sets[0].isSubset(of: sets[2]))
        let loose = try intSet([2], .unmanaged)
        #expect(try loose.isSubset(of: sets[0]) && !loose.isSubset(of: intSet([3], .unmanaged)))
        let ada = try person()
        #expect(ada.pack.isSubset(of: ada.pack.freeze()) && ada.pack.freeze().isSubset(of: ada.pack))
    }

    @Test(arguments: Conformer.Version.allCases)
    func `contains compares values by value and objects by identity [S19]`(_ version: Conformer.Version) throws {
        #expect(try intSet([1, 2], version).contains(2) && !intSet([1, 2], version).contains(3) && !intSet([], version).contains(0))
        let dogs = fourDogs()
        let pack = try #require(try Conformer(kind: .set, version: version).collection(dogs) as? RLMSet<RLMObject>)
        #expect(pack.contains(pack.allObjects[1]) && !pack.contains(dog("Rex", 3, 20)))
        if version == .unmanaged { #expect(pack.contains(dogs[0])) }
        if let realm = pack.realm?.thaw() { #expect(!pack.contains(realm.allObjects("Person")[0])) }
    }

    @Test func `isEqual compares the members of live, frozen and unmanaged sets [S20, D2]`() throws {
        let sets = try intSets([[1, 2], [2, 1], [1], []])
        for one in [sets[0], sets[0].freeze(), try intSet([2, 1], .unmanaged)] {
            for other in [sets[1], sets[1].freeze(), try intSet([1, 2], .unmanaged)] { #expect(one.isEqual(to: other)) }
            #expect(!one.isEqual(to: sets[2]) && !one.isEqual(to: sets[3]))
        }
        #expect(try sets[3].isEqual(to: intSet([], .unmanaged)) && intSet([], .unmanaged).isEqual(to: intSet([], .frozen)))
        let ada = try person()
        #expect(ada.pack.isEqual(to: ada.pack.freeze()) && ada.pack.isEqual(to: ada.pack))
    }

    @Test func `sets can be sectioned by one key path [S21]`() throws {
        let ada = try person()
        let byAge = ada.pack.sectionedResultsSorted(usingKeyPath: "age", ascending: true) { ($0 as! RLMObject).age }
        #expect(byAge.allKeys.map { $0 as? Int } == [1, 3, 7] && byAge.map(\.count) == [1, 1, 2])
        let parity = try intSet([3, 1, 2]).sectionedResultsSorted(usingKeyPath: "self", ascending: true) {
            ($0 as! Int) % 2 == 0 ? "even" : "odd"
        }
        #expect(parity.allKeys.map { $0 as? String } == ["odd", "even"] && Array(parity[0]) == [1, 3] && Array(parity[1]) == [2])
    }

    @Test func `sets can be sectioned by several descriptors, and nil is a key [S22]`() throws {
        let ada = try person()
        let within = ada.pack.sectionedResults(using: [
            RLMSortDescriptor(keyPath: "age", ascending: false), RLMSortDescriptor(keyPath: "name", ascending: true),
        ]) { ($0 as! RLMObject)["teeth"] as? Int }
        #expect(within.allKeys.map { $0 as? Int } == [30, nil, 20, 4] && within.allKeys[1] is NSNull && names(within[1]) == ["Fido"])
    }

    @Test func `sectioning an unmanaged set, without descriptors or by objects traps [S21, S22]`() async {
        let unmanaged = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try intSet([1], .unmanaged).sectionedResultsSorted(usingKeyPath: "self", ascending: true) { $0 as? Int }
        }
        #expect(said(unmanaged).contains("This method may only be called on RLMSet instances retrieved from an RLMRealm"))
        let none = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try intSet([1]).sectionedResults(using: []) { $0 as? Int }
        }
        #expect(said(none).contains("There must be at least one SortDescriptor when using SectionedResults."))
        let link = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try person().pack.sectionedResultsSorted(usingKeyPath: "age", ascending: true) { $0 as? RLMObject }.count
        }
        #expect(said(link).contains("Links are not supported as section keys."))
    }

    @Test func `addNotificationBlock reports the initial set, then its changes [S23]`() throws {
        let log = Log(), ints = try intSet([1, 5, 9]), realm = ints.realm!
        let token = ints.addNotificationBlock { log.note($0?.count, $1, $2) }
        realm.refresh()
        try realm.transaction {
            ints.remove(1)
            ints.add(7)
        }
        realm.refresh()
        try realm.transaction { realm.createObject("Dog") }
        realm.refresh()
        token.invalidate()
        try realm.transaction { ints.removeAllObjects() }
        realm.refresh()
        #expect(log.take() == ["initial 3", "3: -[0] +[1] ~[] now []"])
    }

    @Test(.timeLimit(.minutes(15))) func `an observer of a set with a queue is called on the queue [S24]`() throws {
        let log = Log(), queue = DispatchQueue(label: "sets"), ada = try person()
        let token = ada.pack.addNotificationBlock(
            { pack, change, error in
                dispatchPrecondition(condition: .onQueue(queue))
                log.note(pack?.count, change, error)
            }, queue: queue)
        #expect(log.waits(for: 1))
        try ada.realm!.transaction { ada.dogs[1]["age"] = 8 }
        #expect(log.waits(for: 2) && log.take() == ["initial 4", "4: -[] +[] ~[1] now [1]"])
        token.invalidate()
    }

    @Test(.timeLimit(.minutes(15))) func `key paths filter the changes of a set on a queue [S25]`() throws {
        let queueLog = Log(), ada = try person(), realm = ada.realm!
        let onQueue = ada.pack.addNotificationBlock(
            { queueLog.note($0?.count, $1, $2) }, keyPaths: ["age"], queue: DispatchQueue(label: "keys"))
        #expect(queueLog.waits(for: 1))
        try realm.transaction { ada.dogs[0]["name"] = "Rexi" }
        try realm.transaction { ada.dogs[0]["age"] = 4 }
        #expect(queueLog.waits(for: 2) && queueLog.take() == ["initial 4", "4: -[] +[] ~[0] now [0]"])
        onQueue.invalidate()
    }

    @Test func `key paths filter the changes of a set, and without key paths all count [S26]`() throws {
        let log = Log(), ada = try person(), realm = ada.realm!
        let token = ada.pack.addNotificationBlock({ log.note($0?.count, $1, $2) }, keyPaths: ["name"])
        let all = Log(), everything = ada.pack.addNotificationBlock({ all.note($0?.count, $1, $2) }, keyPaths: nil)
        realm.refresh()
        try realm.transaction { ada.dogs[0]["age"] = 4 }
        realm.refresh()
        #expect(log.take() == ["initial 4"] && all.take() == ["initial 4", "4: -[] +[] ~[0] now [0]"])
        try realm.transaction { ada.dogs[0]["name"] = "Rexi" }
        realm.refresh()
        #expect(log.take() == ["4: -[] +[] ~[0] now [0]"])
        for one in [token, everything] { one.invalidate() }
    }

    @Test func `observing unmanaged, frozen or changed sets traps [S23]`() async {
        let unmanaged = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try intSet([1], .unmanaged).addNotificationBlock { _, _, _ in }
        }
        #expect(said(unmanaged).contains("Change notifications are only supported on managed collections."))
        let frozen = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try intSet([1], .frozen).addNotificationBlock { _, _, _ in }
        }
        #expect(said(frozen).contains("Frozen Realms do not change and do not have change notifications."))
        let changed = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let set = try intSet([1])
            set.realm!.beginWriteTransaction()
            set.add(2)
            _ = set.addNotificationBlock { _, _, _ in }
        }
        #expect(said(changed).contains("Cannot create asynchronous query after making changes in a write transaction."))
    }

    @Test(arguments: Conformer.Version.allCases) func `min of values, dates and properties is nil for an empty set [S27]`(
        _ version: Conformer.Version
    ) throws {
        #expect(
            try intSet([3, -1, 2], version).min(ofProperty: "self") as? Int == -1 && intSet([], version).min(ofProperty: "self") == nil)
        let pack = try Conformer(kind: .set, version: version).collection()
        #expect(
            pack.min(ofProperty: "age") as? Int == 1 && pack.min(ofProperty: "teeth") as? Int == 4
                && pack.min(ofProperty: "weight") as? Double == 0.5)
        #expect(
            pack.min(ofProperty: "height") as? Float == 0.25 && pack.min(ofProperty: "born") as? Date == Date(timeIntervalSince1970: 1000)
                && pack.min(ofProperty: "price") as? Decimal128 == 1.5)
    }

    @Test(arguments: Conformer.Version.allCases) func `max of values, dates and properties is nil for an empty set [S28]`(
        _ version: Conformer.Version
    ) throws {
        #expect(try intSet([3, -1, 2], version).max(ofProperty: "self") as? Int == 3 && intSet([], version).max(ofProperty: "self") == nil)
        let pack = try Conformer(kind: .set, version: version).collection()
        #expect(
            pack.max(ofProperty: "age") as? Int == 7 && pack.max(ofProperty: "teeth") as? Int == 30
                && pack.max(ofProperty: "weight") as? Double == 3.5)
        #expect(
            pack.max(ofProperty: "height") as? Float == 1.75 && pack.max(ofProperty: "born") as? Date == Date(timeIntervalSince1970: 7000)
                && pack.max(ofProperty: "price") as? Decimal128 == 7.5)
    }

    @Test(arguments: Conformer.Version.allCases) func `sum is 0 for an empty set [S29]`(_ version: Conformer.Version) throws {
        #expect(try intSet([3, -1, 2], version).sum(ofProperty: "self") == 4 && intSet([], version).sum(ofProperty: "self") == 0)
        let pack = try Conformer(kind: .set, version: version).collection()
        #expect(pack.sum(ofProperty: "age") == 18 && pack.sum(ofProperty: "teeth") == 54)
        #expect(pack.sum(ofProperty: "weight") == 9 && pack.sum(ofProperty: "price").doubleValue == 20)
    }

    @Test(arguments: Conformer.Version.allCases) func `average is nil for an empty set [S30]`(_ version: Conformer.Version) throws {
        #expect(try intSet([3, -1, 1], version).average(ofProperty: "self") == 1 && intSet([], version).average(ofProperty: "self") == nil)
        let pack = try Conformer(kind: .set, version: version).collection()
        #expect(
            pack.average(ofProperty: "age") == 4.5 && pack.average(ofProperty: "teeth") == 18 && pack.average(ofProperty: "weight") == 2.25)
    }

    @Test func `every member counts once, also with equal properties [D1, S29, S30]`() throws {
        let ada = try person((0..<10).map { dog("\($0)", $0 < 4 ? 1 : 0) })
        #expect(ada.pack.sum(ofProperty: "age") == 4 && ada.pack.average(ofProperty: "age") == 0.4)
    }

    @Test func `sets of values have aggregates of self only, and text has no sum [S27, S29]`() async {
        let least = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try intSet([1]).min(ofProperty: "age")
        }
        #expect(said(least).contains("Sets of \"int\" can only be aggregated on \"self\""))
        let sum = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try intSet([1], .unmanaged).sum(ofProperty: "age")
        }
        #expect(said(sum).contains("Sets of \"int\" can only be aggregated on \"self\""))
        let text = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try person().pack.sum(ofProperty: "name")
        }
        #expect(said(text).contains("is not supported for string property \"Dog.name\""))
    }

    @Test func `a frozen set does not change and can be read on any thread [S31]`() throws {
        let ada = try person(), frozen = ada.pack.freeze()
        #expect(frozen.isFrozen && frozen.freeze() === frozen && frozen.allObjects[0].isFrozen)
        try ada.realm!.transaction {
            ada.pack.removeAllObjects()
            #expect(ada.pack.freeze().count == 4)
        }
        nonisolated(unsafe) let shared = frozen
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            #expect(names(shared) == ["Rex", "Fido", "Bo", "Ada"] && shared.sum(ofProperty: "age") == 18)
            done.signal()
        }
        done.wait()
        #expect(ada.pack.count == 0)
    }

    @Test func `thaw returns the live set, and a live set returns itself [S32]`() throws {
        let ints = try intSet([1]), frozen = ints.freeze()
        try ints.realm!.transaction { ints.add(2) }
        let thawed = try #require(frozen.thaw())
        #expect(thawed.allObjects == [1, 2] && !thawed.isFrozen && ints.thaw() === ints)
        try ints.realm!.transaction { thawed.add(3) }
        #expect(ints.allObjects == [1, 2, 3] && frozen.allObjects == [1])
    }

    @Test func `freezing and thawing trap for unmanaged sets and sets of new objects [S31, S32]`() async {
        let freeze = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try intSet([1], .unmanaged).freeze()
        }
        #expect(said(freeze).contains("This method may only be called on RLMSet instances retrieved from an RLMRealm"))
        let thaw = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { _ = try intSet([1], .unmanaged).thaw() }
        #expect(said(thaw).contains("This method may only be called on RLMSet instances retrieved from an RLMRealm"))
        let fresh = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try memoryRealm()
            realm.beginWriteTransaction()
            _ = (realm.createObject("Values")["intSet"] as! RLMSet<Int>).freeze()
        }
        #expect(said(fresh).contains("in the same write transaction as it was created in"))
    }

    @Test(arguments: ["RLMSet", "RLMArray", "RLMDictionary", "RLMResults", "RLMLinkingObjects"])
    func `init of collections is declared unavailable [S33]`(_ name: String) throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Sources/RLM").standardized
        let file = name == "RLMLinkingObjects" ? "RLMResults" : name
        let text = try String(contentsOf: folder.appending(path: "\(file).swift"), encoding: .utf8)
        let own = try #require(
            text.components(separatedBy: "public final class \(name)<").dropFirst().first?.components(separatedBy: "\n}\n").first)
        let lines = own.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        let place = try #require(lines.firstIndex { $0.hasPrefix("public init()") })
        let plural = name == "RLMDictionary" ? "RLMDictionaries" : name == "RLMSet" || name == "RLMArray" ? name + "s" : name
        #expect(attribute(before: place, lines).hasPrefix("@available(*, unavailable, message: \"\(plural) cannot be created directly"))
    }

    /// Returns the attribute that ends on the line before, which the formatter may have wrapped.
    private func attribute(before place: Int, _ lines: [String]) -> String {
        let start = lines[..<place].lastIndex { $0.hasPrefix("@") } ?? 0
        return lines[start..<place].joined()
    }

    @Test(arguments: ["RLMSet", "RLMArray", "RLMDictionary", "RLMResults"])
    func `all initializers and new methods of collections are declared unavailable [S34]`(
        _ name: String
    ) throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Sources/RLM").standardized
        let text = try String(contentsOf: folder.appending(path: "\(name).swift"), encoding: .utf8)
        let lines = text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        let ways = lines.indices.filter {
            lines[$0].hasPrefix("public") && (lines[$0].contains(" init(") || lines[$0].contains("func new("))
        }
        #expect(!ways.isEmpty && ways.allSatisfy { attribute(before: $0, lines).hasPrefix("@available(*, unavailable") })
    }

    @Test func `the index of a member of a set traps, because sets have no indexes`() async {
        let index = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { _ = try intSet([1]).index(of: 1) }
        #expect(said(index).contains("An RLMSet has no indexes"))
        let text = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try person().pack.indexOfObject(where: "age > 1")
        }
        #expect(said(text).contains("An RLMSet has no indexes"))
    }
}
