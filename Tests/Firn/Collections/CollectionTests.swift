import Firn
import Foundation
import Testing

/// Rows R01–R11, R20–R22, R27–R29, R38–R41 of the contract of collections, for every kind of collection.
@Suite struct CollectionTests {
    @Test(arguments: Conformer.all)
    func `realm and isFrozen depend on the kind of a collection, and it is valid [R01, R02, R27]`(_ one: Conformer) throws {
        let pups = try one.collection(fourPups())
        #expect((pups.realm == nil) == (one.version == .unmanaged))
        #expect(pups.isFrozen == (one.version == .frozen))
        #expect(!pups.isInvalidated)
        #expect(pups.first?.isFrozen == (one.version == .frozen))
    }

    @Test(arguments: Conformer.live)
    func `a collection is invalid after its realm was invalidated, and a frozen one is not [R02]`(_ one: Conformer) throws {
        let pups = try one.collection(fourPups()), frozen = pups.freeze()
        pups.realm!.invalidate()
        #expect(pups.isInvalidated && !frozen.isInvalidated && frozen.count == 4)
    }

    @Test func `a collection of a deleted object is invalid, results of it are not, and both are empty [R02, S01, S07]`() throws {
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
        #expect(list.isInvalidated && set.isInvalidated && map.isInvalidated && inverse.isInvalidated && !some.isInvalidated)
        let counts: [Int] = [list.count, set.count, map.count, inverse.count, some.count]
        #expect(counts == [0, 0, 0, 0, 0])
        let first: [Pup?] = [list.first, set.first, inverse.first, some.first]
        #expect(first.allSatisfy { $0 == nil })
    }

    @Test(arguments: Conformer.all)
    func `count, indices, first and last agree with the elements [R03, R05, R06, R38, R39, R40, R41]`(_ one: Conformer) throws {
        let pups = try one.collection(fourPups())
        #expect(pups.count == 4 && !pups.isEmpty && pups.startIndex == 0 && pups.endIndex == 4)
        #expect(pups.index(after: 0) == 1 && pups.index(before: 4) == 3)
        #expect(Set(pups.map(\.name)) == ["Rex", "Fido", "Bo", "Ada"])
        #expect(pups.first?.name == pups[0].name && pups.last?.name == pups[3].name)
        if one.kind != .set { #expect(pups.map(\.name) == ["Rex", "Fido", "Bo", "Ada"]) }
        let empty = try one.collection([])
        #expect(empty.isEmpty && empty.count == 0 && empty.startIndex == empty.endIndex)
    }

    @Test(arguments: Conformer.all) func `first and last are nil for an empty collection [R05, R06]`(_ one: Conformer) throws {
        let empty = try one.collection([])
        #expect(empty.first == nil && empty.last == nil && Array(empty).isEmpty)
    }

    @Test(arguments: Conformer.all) func `a description has at most a hundred elements [R04]`(_ one: Conformer) throws {
        let few = try one.collection(fourPups())
        #expect(few.description.contains("[3] Pup {") && few.description.contains("name = Fido") && !few.description.contains("skipped"))
        let many = try one.collection((0..<103).map { Pup("p\($0)", age: $0) })
        #expect(many.description.contains("[99] Pup {") && !many.description.contains("[100]"))
        #expect(many.description.contains("... 3 objects skipped."))
    }

    @Test func `the description of objects that link to each other through collections ends [R04]`() throws {
        let realm = try memoryRealm(), kennel = Doghouse(), pup = Pup("Rex", age: 1)
        kennel.list.append(pup)
        kennel.map["rex"] = pup
        pup.kennel = kennel
        pup.friends.insert(pup)
        try realm.write { realm.add(pup) }
        #expect(pup.description.contains("list = List<Pup> <1 objects>") && kennel.list.description.contains("Rex"))
        #expect(kennel.map.description.contains("[rex]"))
    }

    @Test(arguments: Conformer.all) func `the index of an element is found by identity [R07, C10]`(_ one: Conformer) throws {
        guard one.kind != .set else { return }
        let pups = try one.collection(fourPups())
        for i in 0..<4 { #expect(pups.index(of: pups[i]) == i) }
        #expect(pups.index(of: Pup("Rex", age: 3)) == nil)
        let other = try one.collection(fourPups())
        #expect(pups.index(of: other[0]) == nil)
    }

    @Test func `the index of a primitive element is found by value [R07, C10]`() throws {
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

    @Test(arguments: Conformer.managed)
    func `index(matching:) is the first match of a predicate, or nil [R10, C11]`(_ one: Conformer) throws {
        guard one.kind != .set else { return }
        let pups = try one.collection(fourPups())
        #expect(pups.index(matching: "age == 7") == 1)
        #expect(pups.index(matching: "age == %@ AND teeth > $1", 7, 10) == 3)
        #expect(pups.index(matching: "age > 100") == nil)
        #expect(pups.sorted(byKeyPath: "name").index(matching: "age == 7") == 0)
    }

    @Test func `indices are correct in a table with deleted rows [R10]`() throws {
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

    @Test(arguments: Conformer.all)
    func `objects at indexes are returned, or an error if one is out of bounds [R11, C06, C07]`(_ one: Conformer) throws {
        let pups = try one.collection(fourPups())
        #expect(try pups.objects(at: IndexSet([0, 2, 3])).map(\.name) == [0, 2, 3].map { pups[$0].name })
        #expect(try pups.objects(at: IndexSet()).isEmpty)
        #expect(throws: Realm.Error.self) { try pups.objects(at: IndexSet([1, 4])) }
        #expect(try pups.object(at: 3).name == pups[3].name)
        #expect(throws: Realm.Error.self) { try pups.object(at: 4) }
        #expect(throws: Realm.Error.self) { try pups.object(at: -1) }
    }

    @Test(arguments: Conformer.all)
    func `value(forKey:) and value(forKeyPath:) return values of elements and aggregates [R20, R21, C18, C19]`(_ one: Conformer) throws {
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

    @Test func `value(forKey:) of a set is a set, and self returns primitive elements [C18]`() throws {
        let realm = try memoryRealm(), kennel = Doghouse(),
            values = Values(value: ["ints": [3, 1, 3], "intSet": [3, 1], "optStringSet": [nil, "a"] as [String?]] as [String: Any])
        kennel.set.insert(objectsIn: fourPups())
        for round in 0..<2 {
            #expect(kennel.set.value(forKey: "age") as? Set<AnyHashable?> == [3, 7, 1])
            #expect((values.ints.value(forKey: "self") as? [Any?])?.map { $0 as? Int } == [3, 1, 3])
            #expect(values.intSet.value(forKey: "self") as? Set<AnyHashable?> == [1, 3])
            #expect(values.optStringSet.value(forKey: "self") as? Set<AnyHashable?> == [nil, "a"])
            #expect(values.ints.value(forKeyPath: "@sum.self") as? Int == 7)
            #expect(kennel.value(forKeyPath: "set.@sum.age") as? Int == 18)
            if round == 0 {
                try realm.write {
                    realm.add(kennel); realm.add(values)
                }
            }
        }
    }

    @Test(arguments: Conformer.live + Conformer.unmanaged)
    func `setValue sets a property of every element [R22, C20]`(_ one: Conformer) throws {
        let pups = try one.collection(fourPups())
        if let realm = pups.realm {
            try realm.write { pups.setValue(9, forKey: "age") }
        } else {
            pups.setValue(9, forKey: "age")
        }
        #expect(pups.map(\.age) == [9, 9, 9, 9])
    }

    @Test func `setValue on results sets all elements, also if they no longer match [R22]`() throws {
        let realm = try memoryRealm()
        try realm.write { realm.add(fourPups()) }
        try realm.write { realm.objects(Pup.self).filter("age > 2").setValue(0, forKey: "age") }
        #expect(realm.objects(Pup.self).map(\.age) == [0, 0, 1, 0])
    }

    @Test(arguments: Conformer.live) func `frozen collections and their objects do not change [R28, C31, S31]`(_ one: Conformer) throws {
        let pups = try one.collection(fourPups()), frozen = pups.freeze(), realm = pups.realm!
        let names: [String] = pups.map(\.name)
        try realm.write {
            for pup in pups { pup.age += 1 }
            realm.delete(realm.objects(Pup.self).filter("name == 'Bo'"))
            // The state at the beginning of the transaction.
            #expect(pups.freeze().map(\.name) == names && pups.freeze().sum(ofProperty: "age") as Int == 18)
        }
        #expect(frozen.isFrozen && frozen.count == 4 && frozen.map(\.name) == names && frozen.sum(ofProperty: "age") as Int == 18)
        #expect(frozen[0].isFrozen && frozen.first?.kennel?.isFrozen == true)
        #expect(pups.count == 3 && pups.freeze().count == 3 && frozen.freeze().isFrozen)
    }

    @Test(arguments: Conformer.live) func `thaw returns the live collection [R29, C32, S32]`(_ one: Conformer) throws {
        let pups = try one.collection(fourPups()), frozen = pups.freeze(), realm = pups.realm!
        try realm.write { realm.delete(realm.objects(Pup.self).filter("name == 'Bo'")) }
        let thawed = try #require(frozen.thaw())
        #expect(!thawed.isFrozen && thawed.realm == realm && thawed.count == 3 && thawed.map(\.name) == Array(pups.map(\.name)))
        #expect(pups.thaw()?.isSameCollection(as: pups) == true)
    }

    @Test func `thaw returns nil if the owner was deleted [R29]`() throws {
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

    @Test(arguments: Conformer.frozen)
    func `frozen collections can be read by many tasks concurrently [R28, C30]`(_ one: Conformer) async throws {
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

    @Test func `collections of objects are encoded in their order, also frozen and sorted ones [R47]`() throws {
        let realm = try memoryRealm([Flock.self, Lamb.self]), flock = Flock()
        try realm.write {
            realm.add(flock)
            for name in ["Rex", "Fido", "Bo"] { flock.lambs.append(Lamb(value: ["name": name])) }
            flock.set.insert(flock.lambs[1])
        }
        func encoded(_ collection: some Encodable) throws -> String {
            String(decoding: try JSONEncoder().encode(collection), as: UTF8.self)
        }
        let inOrder = #"[{"name":"Rex"},{"name":"Fido"},{"name":"Bo"}]"#, sorted = #"[{"name":"Bo"},{"name":"Fido"},{"name":"Rex"}]"#
        let lambs = realm.objects(Lamb.self)
        #expect(try encoded(flock.lambs) == inOrder && encoded(flock.lambs.freeze()) == inOrder && encoded(lambs) == inOrder)
        #expect(try encoded(AnyRealmCollection(flock.lambs)) == inOrder && encoded(lambs.freeze()) == inOrder)
        #expect(try encoded(lambs.sorted(byKeyPath: "name")) == sorted && encoded(flock.lambs.sorted(byKeyPath: "name")) == sorted)
        #expect(try encoded(flock.set) == #"[{"name":"Fido"}]"# && encoded(lambs.filter("name == 'x'")) == "[]")
    }

    private struct Shared: @unchecked Sendable {
        let pups: AnyRealmCollection<Pup>
    }

    @Test func `lists, sets and maps can be encoded and decoded [R47]`() throws {
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

    @Test func `collections are equal by content, and the same by identity [D2]`() throws {
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
        #expect(all == all && all != realm.objects(Values.self) && some == some && some != all.filter("ints.@count == 2"))
        #expect(some.isEqual(to: all) && AnyRealmCollection(all) == AnyRealmCollection(all))
    }
}
