import Firn
import Foundation
import Testing

/// Rows R01–R11, R20–R22, R27–R29, R38–R41 of the collections' contract, over every kind of collection.
@Suite struct CollectionTests {
    @Test(arguments: Conformer.all) func `R01 R02 R27 where a collection is`(_ one: Conformer) throws {
        let pups = try one.collection(fourPups())
        #expect((pups.realm == nil) == (one.version == .unmanaged))
        #expect(pups.isFrozen == (one.version == .frozen))
        #expect(!pups.isInvalidated)
        #expect(pups.first?.isFrozen == (one.version == .frozen))
    }

    @Test(arguments: Conformer.live) func `R02 a collection is invalid after its realm was invalidated`(_ one: Conformer) throws {
        let pups = try one.collection(fourPups()), frozen = pups.freeze()
        pups.realm!.invalidate()
        #expect(pups.isInvalidated && !frozen.isInvalidated && frozen.count == 4)
    }

    @Test func `R02 S01 S07 a collection of an object that was deleted is invalid, and empty`() throws {
        let realm = try memoryRealm(), kennel = Doghouse()
        let pups = fourPups()
        for pup in pups { pup.kennel = kennel }
        kennel.list.append(objectsIn: pups)
        kennel.set.insert(objectsIn: pups)
        kennel.map["a"] = pups[0]
        try realm.write { realm.add(kennel) }
        let (list, set, map, inverse, some) = (kennel.list, kennel.set, kennel.map, kennel.pups, kennel.list.filter("age > 1"))
        #expect(list.count == 4 && set.count == 4 && inverse.count == 4 && some.count == 3)
        try realm.write { realm.delete(kennel) }
        #expect(list.isInvalidated && set.isInvalidated && map.isInvalidated && inverse.isInvalidated && some.isInvalidated)
        #expect(list.count == 0 && set.count == 0 && map.count == 0 && inverse.count == 0 && some.count == 0)
        #expect(list.first == nil && set.first == nil && inverse.first == nil && some.first == nil)
    }

    @Test(arguments: Conformer.all) func `R03 R05 R06 R38 R39 R40 R41 count, ends and indices`(_ one: Conformer) throws {
        let pups = try one.collection(fourPups())
        #expect(pups.count == 4 && !pups.isEmpty && pups.startIndex == 0 && pups.endIndex == 4)
        #expect(pups.index(after: 0) == 1 && pups.index(before: 4) == 3)
        #expect(Set(pups.map(\.name)) == ["Rex", "Fido", "Bo", "Ada"])
        #expect(pups.first?.name == pups[0].name && pups.last?.name == pups[3].name)
        if one.kind != .set { #expect(pups.map(\.name) == ["Rex", "Fido", "Bo", "Ada"]) }
        let empty = try one.collection([])
        #expect(empty.isEmpty && empty.count == 0 && empty.startIndex == empty.endIndex)
    }

    @Test(arguments: Conformer.all) func `R05 R06 first and last are nil where nothing is there`(_ one: Conformer) throws {
        let empty = try one.collection([])
        #expect(empty.first == nil && empty.last == nil && Array(empty).isEmpty)
    }

    @Test(arguments: Conformer.all) func `R04 a description shows a hundred elements`(_ one: Conformer) throws {
        let few = try one.collection(fourPups())
        #expect(few.description.contains("[3] Pup {") && few.description.contains("name = Fido") && !few.description.contains("skipped"))
        let many = try one.collection((0..<103).map { Pup("p\($0)", age: $0) })
        #expect(many.description.contains("[99] Pup {") && !many.description.contains("[100]"))
        #expect(many.description.contains("... 3 objects skipped."))
    }

    @Test func `R04 objects that lead to each other through collections are described to an end`() throws {
        let realm = try memoryRealm(), kennel = Doghouse(), pup = Pup("Rex", age: 1)
        kennel.list.append(pup)
        kennel.map["rex"] = pup
        pup.kennel = kennel
        pup.friends.insert(pup)
        try realm.write { realm.add(pup) }
        #expect(pup.description.contains("list = List<Pup> <1 objects>") && kennel.list.description.contains("Rex"))
        #expect(kennel.map.description.contains("[rex]"))
    }

    @Test(arguments: Conformer.all) func `R07 C10 index of an element`(_ one: Conformer) throws {
        guard one.kind != .set else { return }
        let pups = try one.collection(fourPups())
        for i in 0..<4 { #expect(pups.index(of: pups[i]) == i) }
        #expect(pups.index(of: Pup("Rex", age: 3)) == nil)
        let other = try one.collection(fourPups())
        #expect(pups.index(of: other[0]) == nil)
    }

    @Test func `R07 C10 index of a primitive element, by value`() throws {
        let realm = try memoryRealm()
        let values = Values(
            value: [
                "ints": [3, 1, 3], "optInts": [nil, 4] as [Int?], "doubles": [0.5, 2], "strings": ["a", "B"], "bools": [true, false],
                "dates": [Date(timeIntervalSince1970: 5)], "decimals": [Decimal128("1.0")], "data": [Data([1])],
            ] as [String: Any])
        for round in 0..<3 {
            let v = round < 2 ? values : values.freeze()
            #expect(v.ints.index(of: 3) == 0 && v.ints.index(of: 1) == 1 && v.ints.index(of: 2) == nil)
            #expect(v.optInts.index(of: nil) == 0 && v.optInts.index(of: 4) == 1 && v.doubles.index(of: 2) == 1)
            #expect(v.strings.index(of: "B") == 1 && v.strings.index(of: "b") == nil && v.bools.index(of: false) == 1)
            #expect(
                v.dates.index(of: Date(timeIntervalSince1970: 5)) == 0 && v.decimals.index(of: "1.00") == 0
                    && v.data.index(of: Data([1])) == 0)
            if round == 0 { try realm.write { realm.add(values) } }
        }
    }

    @Test(arguments: Conformer.managed) func `R10 C11 index of the first element that a predicate holds for`(_ one: Conformer) throws {
        guard one.kind != .set else { return }
        let pups = try one.collection(fourPups())
        #expect(pups.index(matching: "age == 7") == 1)
        #expect(pups.index(matching: "age == %@ AND teeth > $1", 7, 10) == 3)
        #expect(pups.index(matching: "age > 100") == nil)
        #expect(pups.sorted(byKeyPath: "name").index(matching: "age == 7") == 0)
    }

    @Test func `R10 indices count what is there`() throws {
        let realm = try memoryRealm()
        try realm.write { for i in 0..<3000 { realm.add(Pup("p\(i)", age: i % 100)) } }
        let pups = realm.objects(Pup.self)
        try realm.write { realm.delete(pups.filter("age < 50")) }
        #expect(pups.index(matching: "name == 'p2999'") == 1499 && pups.index(of: pups[700]) == 700)
        try realm.write {
            realm.delete(pups[0])
            #expect(pups.index(matching: "name == 'p2999'") == 1498 && pups.index(of: pups[700]) == 700)
        }
    }

    @Test(arguments: Conformer.all) func `R11 C06 C07 elements at places, all or none`(_ one: Conformer) throws {
        let pups = try one.collection(fourPups())
        #expect(try pups.objects(at: IndexSet([0, 2, 3])).map(\.name) == [0, 2, 3].map { pups[$0].name })
        #expect(try pups.objects(at: IndexSet()).isEmpty)
        #expect(throws: Realm.Error.self) { try pups.objects(at: IndexSet([1, 4])) }
        #expect(try pups.object(at: 3).name == pups[3].name)
        #expect(throws: Realm.Error.self) { try pups.object(at: 4) }
        #expect(throws: Realm.Error.self) { try pups.object(at: -1) }
    }

    @Test(arguments: Conformer.all) func `R20 R21 C18 C19 what elements hold, by name`(_ one: Conformer) throws {
        let pups = try one.collection(fourPups())
        let names = pups.value(forKey: "name") as? [Any?]
        #expect(names?.map { $0 as? String } == pups.map(\.name))
        #expect((pups.value(forKey: "teeth") as? [Any?])?.map { $0 as? Int } == pups.map(\.teeth))
        #expect(
            (pups.value(forKeyPath: "kennel.name") as? [Any?])?.map { $0 as? String }
                == Array(repeating: one.version == .unmanaged ? nil : "of all", count: 4))
        #expect(pups.value(forKeyPath: "@count") as? Int == 4 && pups.value(forKey: "@count") as? Int == 4)
        #expect(pups.value(forKeyPath: "@sum.age") as? Int == 18 && pups.value(forKeyPath: "@min.teeth") as? Int == 4)
        #expect(pups.value(forKeyPath: "@max.weight") as? Double == 3.5 && pups.value(forKeyPath: "@avg.age") as? Double == 4.5)
    }

    @Test func `C18 a set gives a set, and primitive elements themselves under self`() throws {
        let realm = try memoryRealm(), kennel = Doghouse(),
            values = Values(value: ["ints": [3, 1, 3], "intSet": [3, 1], "optStringSet": [nil, "a"] as [String?]] as [String: Any])
        kennel.set.insert(objectsIn: fourPups())
        for round in 0..<2 {
            #expect(kennel.set.value(forKey: "age") as? Set<AnyHashable?> == [3, 7, 1])
            #expect((values.ints.value(forKey: "self") as? [Any?])?.map { $0 as? Int } == [3, 1, 3])
            #expect(values.intSet.value(forKey: "self") as? Set<AnyHashable?> == [1, 3])
            #expect(values.optStringSet.value(forKey: "self") as? Set<AnyHashable?> == [nil, "a"])
            #expect(values.ints.value(forKeyPath: "@sum.self") as? Int == 7)
            #expect(kennel.value(forKeyPath: "set.@sum.age") == nil || kennel.value(forKeyPath: "set.@sum.age") as? Int == 18)
            if round == 0 {
                try realm.write {
                    realm.add(kennel); realm.add(values)
                }
            }
        }
    }

    @Test(arguments: Conformer.live + Conformer.unmanaged) func `R22 C20 setting a property of every element`(_ one: Conformer) throws {
        let pups = try one.collection(fourPups())
        if let realm = pups.realm {
            try realm.write { pups.setValue(9, forKey: "age") }
        } else {
            pups.setValue(9, forKey: "age")
        }
        #expect(pups.map(\.age) == [9, 9, 9, 9])
    }

    @Test func `R22 setting what a collection chooses by sets it of all that were chosen`() throws {
        let realm = try memoryRealm()
        try realm.write { realm.add(fourPups()) }
        try realm.write { realm.objects(Pup.self).filter("age > 2").setValue(0, forKey: "age") }
        #expect(realm.objects(Pup.self).map(\.age) == [0, 0, 1, 0])
    }

    @Test(arguments: Conformer.live) func `R28 C31 S31 frozen copies stay as they were, objects and all`(_ one: Conformer) throws {
        let pups = try one.collection(fourPups()), frozen = pups.freeze(), realm = pups.realm!
        let names: [String] = pups.map(\.name)
        try realm.write {
            for pup in pups { pup.age += 1 }
            realm.delete(realm.objects(Pup.self).filter("name == 'Bo'"))
            // The state when the transaction began.
            #expect(pups.freeze().map(\.name) == names && pups.freeze().sum(ofProperty: "age") as Int == 18)
        }
        #expect(frozen.isFrozen && frozen.count == 4 && frozen.map(\.name) == names && frozen.sum(ofProperty: "age") as Int == 18)
        #expect(frozen[0].isFrozen && frozen.first?.kennel?.isFrozen == true)
        #expect(pups.count == 3 && pups.freeze().count == 3 && frozen.freeze().isFrozen)
    }

    @Test(arguments: Conformer.live) func `R29 C32 S32 thawed is the live collection again`(_ one: Conformer) throws {
        let pups = try one.collection(fourPups()), frozen = pups.freeze(), realm = pups.realm!
        try realm.write { realm.delete(realm.objects(Pup.self).filter("name == 'Bo'")) }
        let thawed = try #require(frozen.thaw())
        #expect(!thawed.isFrozen && thawed.realm == realm && thawed.count == 3 && thawed.map(\.name) == Array(pups.map(\.name)))
        #expect(pups.thaw()?.isSameCollection(as: pups) == true)
    }

    @Test func `R29 thawed is nil where the owner is not there any more`() throws {
        let realm = try memoryRealm(), kennel = Doghouse()
        kennel.list.append(objectsIn: fourPups())
        try realm.write { realm.add(kennel) }
        let frozen = (
            kennel.list.freeze(), kennel.set.freeze(), kennel.map.freeze(), kennel.pups.freeze(), kennel.list.filter("age > 1").freeze()
        )
        try realm.write { realm.delete(kennel) }
        #expect(
            frozen.0.thaw() == nil && frozen.1.thaw() == nil && frozen.2.thaw() == nil && frozen.3.thaw() == nil && frozen.4.thaw() == nil)
        #expect(frozen.0.count == 4 && frozen.4.count == 3)
    }

    @Test(arguments: Conformer.frozen) func `R28 C30 frozen collections are read by any thread`(_ one: Conformer) async throws {
        let pups = try one.collection((0..<500).map { Pup("p\($0)", age: $0) })
        let shared = Shared(pups: pups)
        let sums = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    var sum = 0
                    for pup in shared.pups { sum += pup.age }
                    return sum + shared.pups.count + (shared.pups.sum(ofProperty: "age") as Int) + shared.pups[17].age * 0
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(sums == Array(repeating: 124_750 * 2 + 500, count: 4))
    }

    @Test(arguments: Conformer.all) func `R47 elements are encoded one after the other`(_ one: Conformer) throws {
        struct Shown: Decodable { var name: String }
        let pups = try one.collection(fourPups())
        let data = try JSONEncoder().encode(EncodedNames(pups))
        #expect(try Set(JSONDecoder().decode([String].self, from: data)) == ["Rex", "Fido", "Bo", "Ada"])
    }

    private struct Shared: @unchecked Sendable {
        let pups: AnyRealmCollection<Pup>
    }

    private struct EncodedNames: Encodable {
        let names: [String]
        init(_ pups: AnyRealmCollection<Pup>) { names = pups.map(\.name) }
        func encode(to encoder: any Encoder) throws { try names.encode(to: encoder) }
    }

    @Test func `R47 lists, sets and maps are encoded and decoded`() throws {
        let realm = try memoryRealm()
        let values = Values(
            value: ["ints": [3, 1, 3], "optInts": [nil, 4] as [Int?], "stringSet": ["b", "a"], "scores": ["x": 1, "y": 2]] as [String: Any])
        try realm.write { realm.add(values) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        #expect(try String(decoding: encoder.encode(values.ints), as: UTF8.self) == "[3,1,3]")
        #expect(try String(decoding: encoder.encode(values.optInts.freeze()), as: UTF8.self) == "[null,4]")
        #expect(try String(decoding: encoder.encode(values.stringSet), as: UTF8.self) == #"["a","b"]"#)
        #expect(try String(decoding: encoder.encode(values.scores), as: UTF8.self) == #"{"x":1,"y":2}"#)
        #expect(try String(decoding: encoder.encode(values.ints.sorted(ascending: false)), as: UTF8.self) == "[3,3,1]")
        #expect(try String(decoding: encoder.encode(AnyRealmCollection(values.ints)), as: UTF8.self) == "[3,1,3]")
        let decoder = JSONDecoder()
        #expect(try Array(decoder.decode(List<Int?>.self, from: Data("[1,null]".utf8))) == [1, nil])
        #expect(try Set(decoder.decode(MutableSet<String>.self, from: Data(#"["a","a","b"]"#.utf8))) == ["a", "b"])
        #expect(
            try decoder.decode(Map<String, Int>.self, from: Data(#"{"b":2,"a":1}"#.utf8)).asKeyValueSequence().map(\.key) == ["a", "b"])
        #expect(throws: DecodingError.self) { try decoder.decode(Map<String, Int>.self, from: Data(#"{"a.b":2}"#.utf8)) }
    }

    @Test func `D2 what is equal, and what is the same`() throws {
        let realm = try memoryRealm(), one = Values(value: ["ints": [1, 2], "intSet": [1, 2]]),
            other = Values(value: ["ints": [1, 2], "intSet": [2, 1]])
        try realm.write { realm.add([one, other]) }
        #expect(one.ints == other.ints && !one.ints.isSameCollection(as: other.ints) && one.ints.isSameCollection(as: one.ints))
        #expect(
            one.ints.freeze() == one.ints && one.ints.freeze().isSameCollection(as: one.ints.freeze())
                && !one.ints.freeze().isSameCollection(as: one.ints))
        #expect(one.ints == List(objectsIn: [1, 2]) && one.ints != List(objectsIn: [2, 1]) && List<Int>() == List<Int>())
        #expect(one.intSet == other.intSet && one.intSet == MutableSet(objectsIn: [2, 1]) && one.intSet.isEqual(to: other.intSet.freeze()))
        let all = realm.objects(Values.self), some = all.filter("ints.@count == 2")
        #expect(all == realm.objects(Values.self) && some == some && some != all.filter("ints.@count == 2"))
        #expect(some.isEqual(to: all) && AnyRealmCollection(all) == AnyRealmCollection(realm.objects(Values.self)))
    }
}
