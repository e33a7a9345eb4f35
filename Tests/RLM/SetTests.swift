import Firn
import Foundation
import RLM
import Testing

/// Rows S01–S12 of the contract of collections.
@Suite struct SetTests {
    /// Returns a set of values of a kind; its object keeps the realm.
    private func set(_ kind: ElementKind, _ members: [Any], _ version: Conformer.Version, optional: Bool = false) throws
        -> any RLMCollection
    {
        let name = optional && kind != .any ? "\(kind)OptSet" : "\(kind)Set"
        if version == .unmanaged {
            return RLMObject(objectSchema: kennelSchema()["Values"]!, value: [name: members])[name] as! any RLMCollection
        }
        let realm = try memoryRealm()
        var made: RLMObject!
        try realm.transaction { made = realm.createObject("Values", withValue: [name: members]) }
        let set = made[name] as! any RLMCollection
        return version == .frozen ? set.freeze() as any RLMCollection : set
    }

    private func all(_ collection: any RLMCollection) -> [AnyHashable] {
        (0..<collection.count).map { collection.object(at: $0) as! AnyHashable }
    }

    @Test(arguments: Conformer.Version.allCases) func `count is the number of members, and 0 after the owner was deleted [S01]`(
        _ version: Conformer.Version
    ) throws {
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

    @Test(arguments: Conformer.Version.allCases) func `type is the type of the members [S02]`(_ version: Conformer.Version) throws {
        for kind in ElementKind.allCases {
            let one = try set(kind, kind.values, version)
            #expect(one.type == kind.type, "\(kind)")
        }
        #expect(try Conformer(kind: .set, version: version).collection().type == .object)
    }

    @Test(arguments: Conformer.Version.allCases) func `objectClassName is the type of objects, and nil for values [S05]`(
        _ version: Conformer.Version
    ) throws {
        for kind in ElementKind.allCases { #expect(try set(kind, kind.values, version).objectClassName == nil, "\(kind)") }
        #expect(try Conformer(kind: .set, version: version).collection().objectClassName == "Dog")
    }

    @Test(arguments: Conformer.Version.allCases) func `optional sets can have nil once, and managed sets have nil first [S03]`(
        _ version: Conformer.Version
    ) throws {
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
        #expect(
            optional.allObjects == (version == .unmanaged ? [4, nil, -1] : [nil, -1, 4]) && optional.contains(nil) && optional.contains(4)
                && !optional.contains(5))
    }

    @Test(arguments: ElementKind.allCases) func `allObjects is a copy, sorted by value if managed and in order of insertion if not [S04]`(
        _ kind: ElementKind
    ) throws {
        let shuffled = Array(kind.values.reversed())
        let live = try set(kind, shuffled, .live), unmanaged = try set(kind, shuffled, .unmanaged)
        #expect(all(live) == kind.values.map { AnyHashable($0) } && all(unmanaged) == shuffled.map { AnyHashable($0) })
        let ints = try intSet([3, 1, 2]), copy = ints.allObjects
        try ints.realm!.transaction { ints.remove(2) }
        #expect(copy == [1, 2, 3] && ints.allObjects == [1, 3] && Array(ints) == [1, 3])
    }

    @Test func `realm is the managing realm, or nil [S06]`() throws {
        let ada = try person()
        #expect(ada.pack.realm == ada.realm && ada.pack.freeze().realm == ada.realm?.freeze())
        #expect(try intSet([1], .unmanaged).realm == nil)
    }

    @Test func `isInvalidated is true after the owner was deleted or the realm invalidated, never for unmanaged sets [S07]`() throws {
        let ada = try person(), realm = ada.realm!, pack = ada.pack, frozen = pack.freeze()
        #expect(!pack.isInvalidated && !frozen.isInvalidated)
        try realm.transaction { realm.delete(ada) }
        #expect(pack.isInvalidated && !frozen.isInvalidated && frozen.count == 4)
        let ints = try intSet([1])
        ints.realm!.invalidate()
        #expect(ints.isInvalidated)
        #expect(try !intSet([1], .unmanaged).isInvalidated)
    }

    @Test(arguments: Conformer.Version.allCases) func `isFrozen is true for frozen sets only [S08]`(_ version: Conformer.Version) throws {
        #expect(try intSet([1], version).isFrozen == (version == .frozen))
    }

    @Test func `add adds a member once, and adds unmanaged objects to the realm [S09]`() throws {
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

    @Test func `adding nil, other types or deleted objects traps, and so do changes outside of transactions [S09]`() async {
        let null = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try intSet([], .unmanaged).addObjects([nil] as [Int?])
        }
        #expect(said(null).contains("Invalid nil value for set of \"int\"."))
        let nothing = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let ada = try person()
            ada.realm!.beginWriteTransaction()
            ada.pack.addObjects([NSNull()])
        }
        #expect(said(nothing).contains("Invalid nil value for set of \"Dog\"."))
        let other = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let ada = try person()
            ada.realm!.beginWriteTransaction()
            ada.pack.add(ada)
        }
        #expect(said(other).contains("Object of type \"Person\" does not match RLMSet type \"Dog\"."))
        let text = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try intSet([], .unmanaged).addObjects(["one"])
        }
        #expect(said(text).contains("Invalid value \"one\" of type \"String\" for expected type \"int\"."))
        let deleted = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let ada = try person(), rex = ada.dogs[0]
            ada.realm!.beginWriteTransaction()
            ada.realm!.delete(rex)
            ada.pack.add(rex)
        }
        #expect(said(deleted).contains("Adding a deleted or invalidated object to a Realm is not permitted"))
        let outside = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { try intSet([1]).add(2) }
        #expect(
            said(outside).contains(
                "Can only perform add(_:) in a Realm in a write transaction - call beginWriteTransaction on an RLMRealm instance first."))
        let frozen = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { try intSet([1], .frozen).add(2) }
        #expect(said(frozen).contains("Cannot modify a frozen realm"))
    }

    @Test func `addObjects accepts any sequence, and adds equal values once [S10]`() throws {
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

    @Test func `remove deletes a member, and ignores values that are no members [S11]`() throws {
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

    @Test func `removeAllObjects empties the set, and objects stay in the realm [S12]`() throws {
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
}
