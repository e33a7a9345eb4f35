import Firn
import FirnKit
import Foundation

import Testing

/// Rows S01–S34 of the contract of collections in their Swift form, `MutableSet`: for sets of every storage and any combination of them.
@Suite struct MutableSetTests {
    enum Storage: String, CaseIterable { case live, frozen, unmanaged }

    /// Returns a set of integers in a new realm; its object keeps the realm.
    private func set(_ elements: [Int], _ storage: Storage) throws -> MutableSet<Int> {
        let values = Values()
        values.intSet.insert(objectsIn: elements)
        if storage == .unmanaged { return values.intSet }
        let realm = try memoryRealm()
        try realm.write { realm.add(values) }
        return storage == .live ? values.intSet : values.intSet.freeze()
    }

    @Test(arguments: Storage.allCases)
    func `a set has distinct elements and the attributes of its storage [S01, S04, S06, S08]`(_ storage: Storage) throws {
        let one = try set([3, 1, 2, 3], storage)
        #expect(one.count == 3 && Array(one) == (storage == .unmanaged ? [3, 1, 2] : [1, 2, 3]))
        #expect(one.isFrozen == (storage == .frozen) && (one.realm == nil) == (storage == .unmanaged) && !one.isInvalidated)
        #expect(try set([], storage).isEmpty)
    }

    @Test func `nil is one element, and the first in a managed set [S03, D18]`() throws {
        let values = Values(value: ["optIntSet": [4, nil, -1, nil] as [Int?], "optStringSet": ["b", nil, "a"] as [String?]])
        #expect(values.optIntSet.count == 3 && values.optIntSet.contains(nil))
        let realm = try memoryRealm()
        try realm.write { realm.add(values) }
        #expect(Array(values.optIntSet) == [nil, -1, 4] && Array(values.optStringSet) == [nil, "a", "b"])
        #expect(values.optIntSet.first == .some(nil) && values.optIntSet.last == 4)
        try realm.write {
            values.optIntSet.insert(nil)
            values.optIntSet.remove(-1)
            #expect(values.optIntSet.contains(nil) && !values.optIntSet.contains(-1) && values.optIntSet.contains(4))
            values.optIntSet.remove(nil)
        }
        #expect(Array(values.optIntSet) == [4] && !values.optIntSet.contains(nil))
        #expect(Array(realm.objects(Values.self)[0].optIntSet) == [4])
    }

    @Test func `elements of every type can be inserted, found and removed [S09, S10, S11, S12, S19]`() throws {
        let realm = try memoryRealm(), ids = (0..<3).map { _ in UUID() }.sorted { "\($0)" < "\($1)" }
        for managed in [false, true] {
            let v = Values()
            if managed { realm.beginWrite(); realm.add(v) }
            v.intSet.insert(objectsIn: [2, 1, 2]); v.boolSet.insert(objectsIn: [true, false, true]);
            v.doubleSet.insert(objectsIn: [0.5, -1, 0.5])
            v.stringSet.insert(objectsIn: ["b", "a", "b"]);
            v.dateSet.insert(objectsIn: [Date(timeIntervalSince1970: 2), Date(timeIntervalSince1970: 1)])
            v.uuidSet.insert(objectsIn: [ids[2], ids[0], ids[2]])
            v.intSet.insert(1); v.stringSet.insert("a"); v.boolSet.insert(false)
            let counts: [Int] = [v.intSet.count, v.boolSet.count, v.doubleSet.count, v.stringSet.count, v.dateSet.count, v.uuidSet.count]
            #expect(counts == [2, 2, 2, 2, 2, 2])
            #expect(v.intSet.contains(2) && !v.intSet.contains(3))
            #expect(v.stringSet.contains("a") && !v.stringSet.contains("A"))
            #expect(v.doubleSet.contains(-1))
            #expect(v.uuidSet.contains(ids[0]) && !v.uuidSet.contains(ids[1]))
            #expect(v.dateSet.contains(Date(timeIntervalSince1970: 1)))
            #expect(v.boolSet.contains(true))
            if managed {
                #expect(Array(v.intSet) == [1, 2])
                #expect(Array(v.boolSet) == [false, true])
                #expect(Array(v.doubleSet) == [-1, 0.5])
                #expect(Array(v.stringSet) == ["a", "b"])
                #expect(Array(v.uuidSet) == [ids[0], ids[2]])
            } else {
                #expect(Array(v.intSet) == [2, 1] && Array(v.stringSet) == ["b", "a"])
            }
            v.intSet.remove(7)
            v.intSet.remove(2)
            v.stringSet.remove("b")
            #expect(Array(v.intSet) == [1] && Array(v.stringSet) == ["a"])
            v.intSet.removeAll()
            #expect(v.intSet.isEmpty && !v.intSet.contains(1))
            if managed { try realm.commitWrite() }
        }
        #expect(realm.objects(Values.self)[0].intSet.isEmpty && Array(realm.objects(Values.self)[0].stringSet) == ["a"])
    }

    @Test func `objects are found by identity, added to the realm, and stay in it [S09, S12, S19]`() throws {
        let realm = try memoryRealm(), kennel = Doghouse(), rex = Pup("Rex", age: 3)
        try realm.write {
            realm.add(kennel)
            kennel.set.insert(rex)
            kennel.set.insert(rex)
            kennel.set.insert(Pup("Bo", age: 1))
        }
        #expect(kennel.set.count == 2 && rex.realm == realm && kennel.set.contains(rex) && !kennel.set.contains(Pup("Rex", age: 3)))
        #expect(kennel.set.contains(rex.freeze()) && kennel.set.freeze().contains(rex))
        try realm.write { kennel.set.removeAll() }
        #expect(kennel.set.isEmpty && realm.objects(Pup.self).count == 2)
        try realm.write { kennel.set.insert(objectsIn: realm.objects(Pup.self)) }
        try realm.write { realm.delete(rex) }
        #expect(kennel.set.map(\.name) == ["Bo"])
    }

    @Test func `an unmanaged set finds its objects after they were added to a realm [S19]`() throws {
        let realm = try memoryRealm(), pups = (0..<50).map { Pup("p\($0)", age: $0) }, set = MutableSet<Pup>()
        set.insert(objectsIn: pups)
        try realm.write {
            realm.add(pups[7]); realm.add(pups[8])
        }
        #expect(set.contains(pups[7]) && set.contains(pups[9]) && set.contains(realm.objects(Pup.self)[0]))
        set.insert(realm.objects(Pup.self)[0])
        set.insert(pups[8])
        #expect(set.count == 50)
        for pup in pups { set.insert(pup) }
        set.remove(realm.objects(Pup.self)[0])
        set.remove(pups[8])
        set.remove(pups[9])
        #expect(set.count == 47 && !set.contains(pups[7]) && !set.contains(pups[9]))
    }

    @Test(arguments: Storage.allCases, Storage.allCases) func `sets of any storage can be compared with each other [S17, S18, S20, D2]`(
        _ a: Storage, _ b: Storage
    ) throws {
        let one = try set([1, 2, 3], a)
        #expect(try one.intersects(set([3, 4], b)) && !one.intersects(set([4, 5], b)) && !one.intersects(set([], b)))
        #expect(try set([1, 3], a).isSubset(of: set([1, 2, 3], b)) && !one.isSubset(of: set([1, 2], b)))
        #expect(try set([], a).isSubset(of: set([], b)) && set([], a).isSubset(of: set([1], b)) && !set([], a).intersects(set([], b)))
        #expect(try one == set([3, 2, 1], b) && one.isEqual(to: set([3, 2, 1], b)) && one != set([1, 2], b) && one != set([1, 2, 4], b))
        #expect(try set([], a) == set([], b))
        #expect(one.isSubset(of: one) && one.intersects(one) && one == one)
    }

    @Test(arguments: [Storage.live, .unmanaged], Storage.allCases) func `set algebra works with sets of any storage [S13, S14, S15, S16]`(
        _ a: Storage, _ b: Storage
    ) throws {
        func check(_ expected: [Int], _ change: (MutableSet<Int>, MutableSet<Int>) -> Void) throws {
            let one = try set([1, 2, 3], a), other = try set([5, 3, 2], b)
            if let realm = one.realm { try realm.write { change(one, other) } } else { change(one, other) }
            #expect(one.sorted() == expected && other.sorted() == [2, 3, 5])
            if let realm = one.realm { #expect(Array(realm.objects(Values.self)[0].intSet) == expected) }
        }
        try check([2, 3, 5]) { $0.assign($1) }
        try check([2, 3]) { $0.formIntersection($1) }
        try check([1]) { $0.subtract($1) }
        try check([1, 2, 3, 5]) { $0.formUnion($1) }
    }

    @Test(arguments: [Storage.live, .unmanaged])
    func `set algebra works with the set itself [S13, S14, S15, S16]`(_ storage: Storage) throws {
        func check(_ expected: [Int], _ change: (MutableSet<Int>) -> Void) throws {
            let one = try set([1, 2, 3], storage)
            if let realm = one.realm { try realm.write { change(one) } } else { change(one) }
            #expect(one.sorted() == expected)
        }
        try check([1, 2, 3]) { $0.assign($0) }
        try check([1, 2, 3]) { $0.formUnion($0) }
        try check([1, 2, 3]) { $0.formIntersection($0) }
        try check([]) { $0.subtract($0) }
        try check([1, 2, 3]) { $0.insert(objectsIn: $0) }
    }

    @Test func `set algebra works with objects of different versions [S13, S14, S15, S16, S20]`() throws {
        let realm = try memoryRealm(), one = Doghouse(), other = Doghouse(), pups = fourPups()
        one.set.insert(objectsIn: pups[0..<3])
        other.set.insert(objectsIn: pups[1..<4])
        try realm.write { realm.add([one, other]) }
        let frozen = other.set.freeze(), unmanaged = MutableSet<Pup>()
        unmanaged.insert(objectsIn: other.set)
        #expect(other.set == frozen && frozen == other.set && unmanaged == frozen && frozen == unmanaged && other.set == unmanaged)
        #expect(one.set.intersects(frozen) && !one.set.isSubset(of: frozen))
        try realm.write {
            one.set.formIntersection(frozen)
            #expect(one.set.map(\.name) == ["Fido", "Bo"])
            one.set.formUnion(frozen)
            #expect(one.set.map(\.name) == ["Fido", "Bo", "Ada"] && !one.set[2].isFrozen)
            one.set.subtract(unmanaged)
            #expect(one.set.isEmpty)
            one.set.assign(unmanaged)
            one.set = other.set
        }
        #expect(one.set == other.set && one.set.count == 3)
    }

    @Test func `changing a set outside of a transaction, or with a deleted object or owner, traps [S09]`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try memoryRealm(), values = Values()
            try realm.write { realm.add(values) }
            values.intSet.insert(1)
        }
        #expect(
            result.map {
                String(decoding: $0.standardErrorContent, as: UTF8.self).contains(
                    "Cannot modify a MutableSet outside of a write transaction")
            } == true)
        await #expect(processExitsWith: .failure) {
            let realm = try memoryRealm(), values = Values()
            try realm.write { realm.add(values) }
            values.intSet.freeze().insert(1)
        }
        let deleted = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try memoryRealm(), kennel = Doghouse(), pup = Pup("Rex", age: 1)
            try realm.write {
                realm.add(kennel); realm.add(pup)
            }
            try realm.write { realm.delete(pup) }
            try realm.write { kennel.set.insert(pup) }
        }
        #expect(
            deleted.map {
                String(decoding: $0.standardErrorContent, as: UTF8.self).contains(
                    "Adding a deleted or invalidated object to a Realm is not permitted")
            } == true)
        await #expect(processExitsWith: .failure) {
            let realm = try memoryRealm(), kennel = Doghouse()
            try realm.write { realm.add(kennel) }
            try realm.write {
                let set = kennel.set
                realm.delete(kennel)
                set.insert(Pup("Rex", age: 1))
            }
        }
    }

    @Test func `freezing an unmanaged set, or one of an object of the same transaction, traps [S31]`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try memoryRealm([Values.self]), values = Values()
            try realm.write {
                realm.add(values)
                _ = values.intSet.freeze()
            }
        }
        #expect(
            result.map {
                String(decoding: $0.standardErrorContent, as: UTF8.self).contains("in the same write transaction as it was created in")
            } == true)
        await #expect(processExitsWith: .failure) { _ = MutableSet<Int>().freeze() }
    }

    @Test(arguments: Seed.some(1, 2, 3))
    func `random changes of sets agree with Swift's own set [S09, S11, S14, S15, S16]`(_ seed: Seed) throws {
        var random = Random(seed)
        let realm = try memoryRealm(), values = Values(), unmanaged = MutableSet<Int>()
        try realm.write { realm.add(values) }
        var expected: Set<Int> = []
        for _ in 0..<20 {
            realm.beginWrite()
            let before = expected
            for _ in 0..<400 {
                let x = Int.random(in: -3000..<3000, using: &random)
                switch Int.random(in: 0..<8, using: &random) {
                case 0, 1:
                    values.intSet.remove(x); unmanaged.remove(x); expected.remove(x)
                case 2 where x % 40 == 0:
                    let other = MutableSet<Int>()
                    other.insert(objectsIn: (0..<1000).map { _ in Int.random(in: -3000..<3000, using: &random) })
                    if x < -1000 {
                        values.intSet.formIntersection(other); unmanaged.formIntersection(other); expected.formIntersection(other)
                    } else if x < 1000 {
                        values.intSet.subtract(other); unmanaged.subtract(other); expected.subtract(other)
                    } else {
                        values.intSet.formUnion(other); unmanaged.formUnion(other); expected.formUnion(other)
                    }
                default:
                    values.intSet.insert(x); unmanaged.insert(x); expected.insert(x)
                }
                #expect(values.intSet.contains(x) == expected.contains(x) && unmanaged.contains(x) == expected.contains(x))
            }
            #expect(Array(values.intSet) == expected.sorted() && unmanaged.sorted() == expected.sorted() && unmanaged == values.intSet)
            if Bool.random(using: &random) {
                try realm.commitWrite()
            } else {
                realm.cancelWrite()
                expected = before
                unmanaged.removeAll()
                unmanaged.insert(objectsIn: expected)
            }
            #expect(Array(realm.objects(Values.self)[0].intSet) == expected.sorted())
        }
    }
}
