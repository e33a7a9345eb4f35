@testable import Firn
import Foundation
import Testing

/// Rows R30–R34 and X01–X07 of the contract of collections.
@Suite struct SectionTests {
    private func realm(_ pups: [Pup] = fourPups()) throws -> Realm {
        let realm = try memoryRealm()
        try realm.write { realm.add(pups) }
        return realm
    }

    @Test(arguments: Conformer.managed)
    func `sectioning by a property makes one section for each value [R32, X01, X02]`(_ one: Conformer) throws {
        let sections = try one.collection(fourPups()).sectioned(by: \.age)
        #expect(sections.count == 3 && sections.allKeys == [1, 3, 7] && sections.isFrozen == (one.version == .frozen))
        #expect(sections.map(\.key) == [1, 3, 7] && sections.map(\.count) == [1, 1, 2] && sections[2].id == 7)
        #expect(Set(sections[2].map(\.name)) == ["Fido", "Ada"] && sections[[0, 0]].name == "Bo")
        #expect(try one.collection(fourPups()).sectioned(by: \.age, ascending: false).allKeys == [7, 3, 1])
        #expect(try one.collection([]).sectioned(by: \.age).isEmpty)
    }

    @Test func `collections can be sectioned by blocks and several descriptors [R30, R33, R34]`() throws {
        let pups = try realm().objects(Pup.self)
        let byFirst = pups.sectioned(sortDescriptors: ["name"]) { String($0.name.first!) }
        #expect(byFirst.allKeys == ["A", "B", "F", "R"])
        let parity = pups.sectioned(
            by: { $0.age > 2 }, sortDescriptors: [SortDescriptor(keyPath: "age"), SortDescriptor(keyPath: "name", ascending: false)])
        #expect(parity.allKeys == [false, true] && parity[1].map(\.name) == ["Rex", "Fido", "Ada"])
        let within = pups.sectioned(
            by: \.age, sortDescriptors: [SortDescriptor(keyPath: "age", ascending: false), SortDescriptor(keyPath: "name")])
        #expect(within.allKeys == [7, 3, 1] && within[0].map(\.name) == ["Ada", "Fido"])
    }

    @Test func `collections of primitive elements can be sectioned [R31]`() throws {
        let realm = try memoryRealm(),
            values = Values(
                value: ["ints": [5, 2, 4, 1, 2], "stringSet": ["b1", "a2", "a1"], "optInts": [3, nil] as [Int?]] as [String: Any])
        try realm.write { realm.add(values) }
        let parity = values.ints.sectioned(by: { $0 % 2 == 0 ? "even" : "odd" })
        #expect(parity.allKeys == ["odd", "even"] && Array(parity[0]) == [1, 5] && Array(parity[1]) == [2, 2, 4])
        #expect(values.ints.sectioned(by: { $0 % 2 }, ascending: false).map { Array($0) } == [[5, 1], [4, 2, 2]])
        #expect(values.stringSet.sectioned(by: { String($0.prefix(1)) }).map { Array($0) } == [["a1", "a2"], ["b1"]])
        #expect(values.optInts.sectioned(by: { $0 == nil }).allKeys == [true, false])
        #expect(parity[1].sum() == 8 && parity[0].max() == 5)
    }

    @Test func `sections are in order of the first element of their key, equal keys are joined, and nil is a key [X01]`() throws {
        let pups = try realm([
            Pup("a", age: 1, teeth: 5), Pup("b", age: 2), Pup("c", age: 3, teeth: 5), Pup("d", age: 4), Pup("e", age: 5, teeth: 6),
        ]).objects(Pup.self)
        let sections = pups.sectioned(sortDescriptors: ["age"]) { $0.teeth }
        #expect(sections.allKeys == [5, nil, 6] && sections.map { $0.map(\.name) } == [["a", "c"], ["b", "d"], ["e"]])
        #expect(pups.sectioned(by: \.teeth).allKeys == [nil, 5, 6])
    }

    @Test func `a section follows its key, not its index [X02]`() throws {
        let realm = try realm(), pups = realm.objects(Pup.self), sections = pups.sectioned(by: \.age)
        let three = sections[1], seven = sections[2]
        try realm.write {
            realm.add(Pup("Zoe", age: 7))
            pups[2].age = 9
            #expect(sections.allKeys == [3, 7, 9] && three.key == 3 && three.count == 1 && seven.count == 3)
        }
        try realm.write { realm.delete(pups.filter("age == 3")) }
        #expect(three.isInvalidated && !seven.isInvalidated && sections.allKeys == [7, 9])
        try realm.write { realm.add(Pup("Max", age: 3)) }
        #expect(!three.isInvalidated && three.map(\.name) == ["Max"])
    }

    @Test func `the key block is called once for each element of an evaluation, and only after changes [X02]`() throws {
        let realm = try realm(), pups = realm.objects(Pup.self)
        var asked = 0
        let sections = pups.sectioned(sortDescriptors: ["age"]) { pup -> Int in
            asked += 1
            return pup.age
        }
        #expect(asked == 0)
        #expect(sections.count == 3 && asked == 4)
        _ = (sections.allKeys, sections[0][0], sections[2].count, sections.map(\.key))
        #expect(asked == 4)
        try realm.write { pups[0].name = "other" }
        #expect(sections.count == 3 && asked == 8)
        let frozen = sections.freeze()
        let atFreeze = asked
        #expect(frozen.allKeys == [1, 3, 7] && frozen[2].count == 2 && frozen[0][0].name == "Bo" && asked == atFreeze)
        try realm.write { realm.delete(pups[0]) }
        #expect(frozen.count == 3 && frozen[1][0].name == "other" && asked == atFreeze)
    }

    @Test func `sections can be frozen, read on another thread, and thawed [X05, X06, X07]`() throws {
        let realm = try realm(), pups = realm.objects(Pup.self), sections = pups.sectioned(by: \.age)
        let seven = sections[2], frozenSeven = seven.freeze(), frozen = sections.freeze()
        #expect(frozen.isFrozen && frozenSeven.isFrozen && !seven.isFrozen && frozen[0][0].isFrozen && frozen.freeze() == frozen)
        try realm.write { realm.delete(pups.filter("name == 'Ada'")) }
        #expect(frozenSeven.count == 2 && seven.count == 1 && frozen[2].count == 2)
        #expect(frozen.thaw()?[2].count == 1 && frozenSeven.thaw()?.count == 1 && frozenSeven.thaw()?.isFrozen == false)
        #expect(sections.thaw() == sections && seven.thaw() == seven)
        nonisolated(unsafe) let shared = frozen
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            #expect(shared.allKeys == [1, 3, 7] && shared[2].count == 2 && shared[0][0].name == "Bo")
            done.signal()
        }
        done.wait()
    }

    @Test func `sections support aggregates, queries, sorting, descriptions and JSON`() throws {
        let pups = try realm().objects(Pup.self), sections = pups.sectioned(by: \.age), seven = sections[2]
        #expect(
            sections.map { $0.sum(of: \.age) } == [1, 3, 14] && seven.average(of: \.teeth) == 30
                && seven.max(ofProperty: "weight") as Double? == 3.5)
        #expect(seven.sorted(byKeyPath: "name").map(\.name) == ["Ada", "Fido"] && seven.filter("name == 'Ada'").count == 1)
        #expect(seven.index(of: seven[1]) == 1 && seven.index(matching: "name == 'Ada'") == seven.firstIndex { $0.name == "Ada" })
        #expect(sections.description.contains("Fido") && seven.description.contains("Ada"))
        let values = Values(value: ["ints": [1, 2, 3]]), realm = pups.realm!
        try realm.write { realm.add(values) }
        #expect(try String(decoding: JSONEncoder().encode(values.ints.sectioned(by: { $0 % 2 == 0 })), as: UTF8.self) == "[[1,3],[2]]")
        #expect(sections == sections && sections != pups.sectioned(by: \.age) && sections[0] == sections[0] && sections[0] != sections[1])
        #expect(sections.realm == realm && !sections.isInvalidated)
    }

    @Test func `wrong descriptors, keys and indexes of sections trap [R31, R33, X02, X03]`() async throws {
        func says(_ result: ExitTest.Result?, _ text: String) -> Bool {
            result.map { String(decoding: $0.standardErrorContent, as: UTF8.self).contains(text) } ?? false
        }
        let none = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try memoryRealm().objects(Pup.self).sectioned(by: \.age, sortDescriptors: [])
        }
        #expect(says(none, "Can not section Results with empty sortDescriptor parameter."))
        let other = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try memoryRealm().objects(Pup.self).sectioned(by: \.age, sortDescriptors: ["name"])
        }
        #expect(says(other, "The section key path must match the primary sort descriptor."))
        let link = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try memoryRealm().objects(Pup.self).sectioned(sortDescriptors: ["name"]) { $0.kennel }
        }
        #expect(says(link, "Links are not supported as section keys."))
        let outside = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try memoryRealm()
            try realm.write { realm.add(fourPups()) }
            _ = realm.objects(Pup.self).sectioned(by: \.age)[2][2]
        }
        #expect(says(outside, "Requested index 2 calling ResultsSection[] when max is 1"))
        let gone = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try memoryRealm()
            try realm.write { realm.add(fourPups()) }
            let section = realm.objects(Pup.self).sectioned(by: \.age)[2]
            try realm.write { realm.delete(realm.objects(Pup.self)) }
            _ = section.count
        }
        #expect(says(gone, "Access to invalidated Results objects"))
        await #expect(processExitsWith: .failure) { _ = Doghouse().list.sectioned(by: \.age) }
        await #expect(processExitsWith: .failure) { _ = try memoryRealm().objects(Pup.self).sectioned(by: \.age)[0] }
    }
}
