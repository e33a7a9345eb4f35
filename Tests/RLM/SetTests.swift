import Firn
import Foundation
import RLM
import Testing

/// Rows S01–S16 of the collections' contract.
@Suite struct SetTests {
    /// A set of values of a kind, with its owner.
    private func set(_ kind: ElementKind, _ members: [Any], _ version: Conformer.Version, optional: Bool = false) throws -> any RLMCollection {
        let name = optional && kind != .any ? "\(kind)OptSet" : "\(kind)Set"
        if version == .unmanaged { return RLMObject(objectSchema: kennelSchema()["Values"]!, value: [name: members])[name] as! any RLMCollection }
        let realm = try memoryRealm()
        var made: RLMObject!
        try realm.transaction { made = realm.createObject("Values", withValue: [name: members]) }
        let set = made[name] as! any RLMCollection
        return version == .frozen ? set.freeze() as any RLMCollection : set
    }

    private func all(_ collection: any RLMCollection) -> [AnyHashable] { (0..<collection.count).map { collection.object(at: $0) as! AnyHashable } }

    @Test(arguments: Conformer.Version.allCases) func `S01 count is the number of members, and 0 when their owner was deleted`(_ version: Conformer.Version) throws {
        for kind in ElementKind.allCases {
            #expect(try set(kind, kind.values + kind.values, version).count == UInt(kind.values.count), "\(kind)")
            #expect(try set(kind, [], version).count == 0)
        }
        let ada = try person(), pack = ada.pack, realm = ada.realm!
        #expect(pack.count == 4)
        try realm.transaction { realm.deleteObjects(realm.objects("Dog", where: "age == 7")) }
        #expect(pack.count == 2)
        try realm.transaction { realm.delete(ada) }
        #expect(pack.count == 0)
    }

    @Test(arguments: Conformer.Version.allCases) func `S02 type says what members are`(_ version: Conformer.Version) throws {
        for kind in ElementKind.allCases {
            let one = try set(kind, kind.values, version)
            #expect(one.type == kind.type, "\(kind)")
        }
        #expect(try Conformer(kind: .set, version: version).collection().type == .object)
    }

    @Test(arguments: Conformer.Version.allCases) func `S05 objectClassName is the type of objects, nil of values`(_ version: Conformer.Version) throws {
        for kind in ElementKind.allCases { #expect(try set(kind, kind.values, version).objectClassName == nil, "\(kind)") }
        #expect(try Conformer(kind: .set, version: version).collection().objectClassName == "Dog")
    }

    @Test(arguments: Conformer.Version.allCases) func `S03 isOptional sets may have nil once, first in the order`(_ version: Conformer.Version) throws {
        for kind in ElementKind.allCases {
            #expect(try set(kind, [], version).isOptional == (kind == .any) || kind == .any)
            let one = try set(kind, [NSNull(), kind.values[1], NSNull(), kind.values[0]], version, optional: true)
            #expect(one.isOptional || kind == .any, "\(kind)")
            #expect(one.count == 3, "\(kind)")
            guard version != .unmanaged else { continue }
            let first = one.value(forKey: "self") as! Set<AnyHashable>
            #expect(first.contains { $0.base is NSNull } && first.count == 3)
        }
        let optional = try #require(try set(.int, [4, NSNull(), -1], version, optional: true) as? RLMSet<Int?>)
        #expect(optional.allObjects == (version == .unmanaged ? [4, nil, -1] : [nil, -1, 4]) && optional.contains(nil) && optional.contains(4) && !optional.contains(5))
    }

    @Test(arguments: ElementKind.allCases) func `S04 allObjects is a copy, managed in value order, unmanaged as members were added`(_ kind: ElementKind) throws {
        let shuffled = Array(kind.values.reversed())
        let live = try set(kind, shuffled, .live), unmanaged = try set(kind, shuffled, .unmanaged)
        #expect(all(live) == kind.values.map { AnyHashable($0) } && all(unmanaged) == shuffled.map { AnyHashable($0) })
        let ints = try intSet([3, 1, 2]), copy = ints.allObjects
        try ints.realm!.transaction { ints.remove(2) }
        #expect(copy == [1, 2, 3] && ints.allObjects == [1, 3] && Array(ints) == [1, 3])
    }

    @Test func `S06 realm is the managing one, nil for none`() throws {
        let ada = try person()
        #expect(ada.pack.realm == ada.realm && ada.pack.freeze().realm == ada.realm?.freeze())
        #expect(try intSet([1], .unmanaged).realm == nil)
    }

    @Test func `S07 isInvalidated when the owner is deleted or the realm invalidated, never of unmanaged sets`() throws {
        let ada = try person(), realm = ada.realm!, pack = ada.pack, frozen = pack.freeze()
        #expect(!pack.isInvalidated && !frozen.isInvalidated)
        try realm.transaction { realm.delete(ada) }
        #expect(pack.isInvalidated && !frozen.isInvalidated && frozen.count == 4)
        let ints = try intSet([1])
        ints.realm!.invalidate()
        #expect(ints.isInvalidated)
        #expect(try !intSet([1], .unmanaged).isInvalidated)
    }

    @Test(arguments: Conformer.Version.allCases) func `S08 isFrozen of frozen sets only`(_ version: Conformer.Version) throws {
        #expect(try intSet([1], version).isFrozen == (version == .frozen))
    }

    @Test func `S09 add adds once, and adds unmanaged objects to the realm`() throws {
        let ints = try intSet([1])
        try ints.realm!.transaction { for value in [1, 2, 1] { ints.add(value) } }
        #expect(ints.allObjects == [1, 2])
        let loose = try intSet([1], .unmanaged)
        for value in [1, 2, 1] { loose.add(value) }
        #expect(loose.allObjects == [1, 2])
        let ada = try person(), fifth = dog("Max", 2)
        try ada.realm!.transaction {
            ada.pack.add(fifth)
            ada.pack.add(fifth)
            ada.pack.add(ada.dogs[0])
        }
        #expect(ada.pack.count == 5 && fifth.realm == ada.realm && ada.realm!.allObjects("Dog").count == 5)
        #expect(ada.pack.contains(fifth))
    }

    @Test func `S09 nil, other types and deleted objects trap`() async {
        let null = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { try intSet([], .unmanaged).addObjects([nil] as [Int?]) }
        #expect(said(null).contains("Invalid nil value for set of 'int'."))
        let nothing = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let ada = try person()
            ada.realm!.beginWriteTransaction()
            ada.pack.addObjects([NSNull()])
        }
        #expect(said(nothing).contains("Invalid nil value for set of 'Dog'."))
        let other = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let ada = try person()
            ada.realm!.beginWriteTransaction()
            ada.pack.add(ada)
        }
        #expect(said(other).contains("Object of type 'Person' does not match RLMSet type 'Dog'."))
        let text = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { try intSet([], .unmanaged).addObjects(["one"]) }
        #expect(said(text).contains("Invalid value 'one' of type 'String' for expected type 'int'."))
        let deleted = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let ada = try person(), rex = ada.dogs[0]
            ada.realm!.beginWriteTransaction()
            ada.realm!.delete(rex)
            ada.pack.add(rex)
        }
        #expect(said(deleted).contains("Adding a deleted or invalidated object to a Realm is not permitted"))
        let outside = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { try intSet([1]).add(2) }
        #expect(said(outside).contains("Can only perform add(_:) in a Realm in a write transaction - call beginWriteTransaction on an RLMRealm instance first."))
        let frozen = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { try intSet([1], .frozen).add(2) }
        #expect(said(frozen).contains("Cannot modify a frozen realm"))
    }

    @Test func `S10 addObjects takes any sequence, equal ones once`() throws {
        for version in [Conformer.Version.live, .unmanaged] {
            let ints = try intSet([], version)
            try ints.realm?.beginWriteTransaction()
            ints.addObjects([2, 1, 2])
            ints.addObjects(Set([1, 3]))
            ints.addObjects(NSArray(array: [4]))
            ints.addObjects(ints)
            try ints.realm?.commitWriteTransaction()
            #expect(Set(ints.allObjects) == [1, 2, 3, 4] && ints.count == 4)
        }
        let ada = try person([])
        try ada.realm!.transaction {
            ada.pack.addObjects(fourDogs())
            ada.pack.addObjects(ada.realm!.allObjects("Dog"))
            ada.pack.addObjects(ada.pack)
        }
        #expect(names(ada.pack) == ["Rex", "Fido", "Bo", "Ada"])
    }

    @Test func `S11 remove takes a member out, and nothing that is none`() throws {
        for version in [Conformer.Version.live, .unmanaged] {
            let ints = try intSet([1, 2, 3], version)
            try ints.realm?.beginWriteTransaction()
            ints.remove(2)
            ints.remove(9)
            #expect(ints.allObjects == [1, 3])
            try ints.realm?.commitWriteTransaction()
        }
        let ada = try person(), rex = ada.dogs[0]
        try ada.realm!.transaction {
            ada.pack.remove(rex)
            ada.pack.remove(dog("Rex", 3, 20))
            ada.pack.remove(ada)
        }
        #expect(names(ada.pack) == ["Fido", "Bo", "Ada"] && ada.dogs.count == 4)
    }

    @Test func `S12 removeAllObjects empties the set; objects stay in the realm`() throws {
        for version in [Conformer.Version.live, .unmanaged] {
            let ints = try intSet([1, 2, 3], version)
            try ints.realm?.beginWriteTransaction()
            ints.removeAllObjects()
            ints.removeAllObjects()
            try ints.realm?.commitWriteTransaction()
            #expect(ints.count == 0 && ints.allObjects == [])
        }
        let ada = try person()
        try ada.realm!.transaction { ada.pack.removeAllObjects() }
        #expect(ada.pack.count == 0 && ada.realm!.allObjects("Dog").count == 4)
    }

    @Test func `S13 setSet takes another set's members; its own are kept`() throws {
        let sets = try intSets([[1, 2], [2, 3]]), realm = sets[0].realm!
        try realm.transaction { sets[0].setSet(sets[1]) }
        #expect(sets[0].allObjects == [2, 3] && sets[1].allObjects == [2, 3])
        try realm.transaction { sets[0].setSet(sets[0]) }
        #expect(sets[0].allObjects == [2, 3])
        let loose = try intSet([1, 2], .unmanaged)
        loose.setSet(sets[0])
        loose.setSet(loose)
        #expect(loose.allObjects == [2, 3])
    }

    @Test func `S14 intersect keeps what both have`() throws {
        let sets = try intSets([[1, 2, 3], [2, 3, 4], []]), realm = sets[0].realm!
        try realm.transaction {
            sets[0].intersect(sets[1])
            sets[0].intersect(sets[0])
            #expect(sets[0].allObjects == [2, 3])
            sets[1].intersect(sets[2])
            #expect(sets[1].count == 0)
        }
        let loose = try intSet([5, 1], .unmanaged)
        loose.intersect(try intSet([1, 7], .unmanaged))
        #expect(loose.allObjects == [1])
        let (ada, second) = try twoPacks()
        try ada.realm!.transaction { ada.pack.intersect(second.pack) }
        #expect(names(ada.pack) == ["Fido", "Bo"])
    }

    @Test func `S15 minus takes out what the other has`() throws {
        let sets = try intSets([[1, 2, 3, 4], [2, 3], []]), realm = sets[0].realm!
        try realm.transaction {
            sets[0].minus(sets[1])
            sets[0].minus(sets[2])
            #expect(sets[0].allObjects == [1, 4])
            sets[0].minus(sets[0])
            #expect(sets[0].count == 0)
        }
        let loose = try intSet([5, 1], .unmanaged)
        loose.minus(try intSet([5], .unmanaged))
        #expect(loose.allObjects == [1])
        let (ada, second) = try twoPacks()
        try ada.realm!.transaction { ada.pack.minus(second.pack) }
        #expect(names(ada.pack) == ["Rex", "Ada"] && second.pack.count == 2)
    }

    @Test func `S16 union adds what is not there`() throws {
        let sets = try intSets([[1, 2], [2, 3], []]), realm = sets[0].realm!
        try realm.transaction {
            sets[0].union(sets[1])
            sets[0].union(sets[0])
            sets[0].union(sets[2])
            sets[2].union(sets[1])
        }
        #expect(sets.map(\.allObjects) == [[1, 2, 3], [2, 3], [2, 3]])
        let loose = try intSet([5, 1], .unmanaged)
        loose.union(try intSet([1, 7], .unmanaged))
        #expect(loose.allObjects == [5, 1, 7])
        let (ada, second) = try twoPacks()
        try ada.realm!.transaction { second.pack.union(ada.pack) }
        #expect(second.pack.count == 4 && second.pack.isEqual(to: ada.pack))
    }

    /// Ada with four dogs, and another who has the second and the third.
    private func twoPacks() throws -> (RLMObject, RLMObject) {
        let ada = try person()
        var second: RLMObject!
        try ada.realm!.transaction { second = ada.realm!.createObject("Person", withValue: ["name": "Bob", "pack": [ada.dogs[1], ada.dogs[2]]]) }
        return (ada, second)
    }

    @Test(arguments: ElementKind.allCases, [Conformer.Version.live, .unmanaged]) func `S09 S11 S13 S14 S15 S16 S17 S18 S19 S20 sets of every kind of value`(_ kind: ElementKind, _ version: Conformer.Version) throws {
        func check<T>(_ type: T.Type) throws {
            let first = Array(kind.values.dropLast()) as [Any], second = Array(kind.values.dropFirst()) as [Any], realm = version == .live ? try memoryRealm() : nil
            func make(_ members: [Any]) -> RLMSet<T> {
                let value = ["\(kind)Set": members]
                return (realm?.createObject("Values", withValue: value) ?? RLMObject(objectSchema: kennelSchema()["Values"]!, value: value))["\(kind)Set"] as! RLMSet<T>
            }
            func members(_ set: RLMSet<T>) -> Set<AnyHashable> { Set(set.map { $0 as! AnyHashable }) }
            func hashable(_ values: [Any]) -> Set<AnyHashable> { Set(values.map { $0 as! AnyHashable }) }
            realm?.beginWriteTransaction()
            let a = make(first), b = make(second), both = hashable(first).intersection(hashable(second)), all = hashable(first + second)
            #expect(a.intersects(b) == !both.isEmpty && !a.isSubset(of: b) && a.isSubset(of: a) && !a.isEqual(to: b) && a.isEqual(to: make(first.reversed())))
            #expect(first.allSatisfy { a.contains($0 as! T) } && !a.contains(second.last as! T))
            let union = make(first), intersection = make(first), difference = make(first), copy = make(first)
            union.union(b)
            intersection.intersect(b)
            difference.minus(b)
            copy.setSet(b)
            #expect(members(union) == all && members(intersection) == both && members(difference) == hashable(first).subtracting(both) && members(copy) == hashable(second))
            union.remove(first[0] as! T)
            union.add(second.last as! T)
            #expect(members(union) == all.subtracting(hashable([first[0]])) && a.isSubset(of: make(first + second)))
            realm?.cancelWriteTransaction()
        }
        switch kind {
        case .bool: try check(Bool.self)
        case .int: try check(Int.self)
        case .float: try check(Float.self)
        case .double: try check(Double.self)
        case .string: try check(String.self)
        case .data: try check(Data.self)
        case .date: try check(Date.self)
        case .decimal128: try check(Decimal128.self)
        case .objectId: try check(ObjectId.self)
        case .uuid: try check(UUID.self)
        case .any: try check(Any.self)
        }
    }

    @Test func `S13 S14 S15 S16 S17 S18 the other set must be managed, of the same type and realm`() async {
        let loose = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let set = try intSet([1])
            set.realm!.beginWriteTransaction()
            set.setSet(try intSet([1], .unmanaged))
        }
        #expect(said(loose).contains("Right hand side value must be a managed Set."))
        let intersect = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let set = try intSet([1])
            set.realm!.beginWriteTransaction()
            set.intersect(try intSet([1], .unmanaged))
        }
        #expect(said(intersect).contains("Right hand side value must be a managed Set."))
        let minus = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let set = try intSet([1])
            set.realm!.beginWriteTransaction()
            set.minus(try intSet([1], .unmanaged))
        }
        #expect(said(minus).contains("Right hand side value must be a managed Set."))
        let union = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let set = try intSet([1])
            set.realm!.beginWriteTransaction()
            set.union(try intSet([1], .unmanaged))
        }
        #expect(said(union).contains("Right hand side value must be a managed Set."))
        let intersects = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { _ = try intSet([1]).intersects(try intSet([1], .unmanaged)) }
        #expect(said(intersects).contains("Right hand side value must be a managed Set."))
        let subset = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { _ = try intSet([1]).isSubset(of: try intSet([1], .unmanaged)) }
        #expect(said(subset).contains("Right hand side value must be a managed Set."))
        let realms = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { _ = try intSet([1]).isSubset(of: try intSet([1])) }
        #expect(said(realms).contains("Right hand side set is managed by another Realm"))
        let types = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let schema = RLMSchema(objectSchema: [RLMObjectSchema(className: "A", properties: [RLMProperty(name: "a", type: .object, objectClassName: "A", isSet: true), RLMProperty(name: "b", type: .object, objectClassName: "B", isSet: true)]),
                                                  RLMObjectSchema(className: "B", properties: [RLMProperty(name: "x", type: .int)])])
            let realm = try memoryRealm(schema)
            realm.beginWriteTransaction()
            let a = realm.createObject("A")
            (a["a"] as! RLMSet<RLMObject>).union(a["b"] as! RLMSet<RLMObject>)
        }
        #expect(said(types).contains("Right hand side set of 'B' does not match set of 'A'."))
    }
}
