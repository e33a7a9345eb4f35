import Firn
import Foundation
import RLM
import Testing

/// Rows C01–C20 of the contract of collections, for every conforming type.
@Suite struct CollectionTests {
    private func name(_ object: Any?) -> String? { (object as? RLMObject)?.name }

    @Test(arguments: Conformer.all) func `count is the number of elements [C01]`(_ one: Conformer) throws {
        #expect(try one.collection().count == 4 && one.collection([]).count == 0)
    }

    @Test(arguments: Conformer.all)
    func `type is object for collections of objects [C02]`(_ one: Conformer) throws { #expect(try one.collection().type == .object) }

    @Test(arguments: Conformer.all) func `isOptional is false for collections of objects [C03]`(_ one: Conformer) throws {
        #expect(try !one.collection().isOptional)
    }

    @Test(arguments: Conformer.all) func `objectClassName is the type of the elements [C04]`(_ one: Conformer) throws {
        #expect(try one.collection().objectClassName == "Dog" && one.collection([]).objectClassName == "Dog")
    }

    @Test(arguments: ElementKind.allCases)
    func `arrays of values have a type, isOptional, and no class name [C02, C03, C04]`(_ kind: ElementKind) throws {
        for isManaged in [false, true] {
            let realm = try memoryRealm()
            var made = RLMObject(objectSchema: kennelSchema()["Values"]!, value: ["\(kind)Array": kind.values])
            if isManaged { try realm.transaction { made = realm.createObject("Values", withValue: ["\(kind)Array": kind.values]) } }
            let array = made["\(kind)Array"] as! any RLMCollection
            #expect(array.type == kind.type && array.objectClassName == nil && (!array.isOptional || kind == .any))
            #expect((0..<array.count).map { array.object(at: $0) as! AnyHashable } == kind.values.map { AnyHashable($0) }, "\(kind)")
            if kind != .any { #expect((made["\(kind)OptArray"] as! any RLMCollection).isOptional) }
        }
    }

    @Test(arguments: Conformer.all)
    func `isInvalidated is true after the realm was invalidated, never for unmanaged collections [C05]`(_ one: Conformer) throws {
        let dogs = try one.collection()
        #expect(!dogs.isInvalidated)
        guard one.version == .live else { return }
        dogs.realm!.invalidate()
        #expect(dogs.isInvalidated && dogs.count == 0 && dogs.description.contains("invalidated"))
    }

    @Test(arguments: Conformer.all) func `objects can be read by index and subscript [C06]`(_ one: Conformer) throws {
        let dogs = try one.collection()
        #expect(
            (0..<4).map { name(dogs.object(at: $0)) } == ["Rex", "Fido", "Bo", "Ada"] && dogs[2].name == "Bo"
                && names(dogs.map { $0 }) == ["Rex", "Fido", "Bo", "Ada"])
    }

    @Test func `an index out of bounds traps [C06]`() async {
        let results = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try person().realm!.allObjects("Dog").object(at: 4)
        }
        #expect(said(results).contains("Index 4 is out of bounds (must be less than 4)."))
        let set = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { _ = try person([]).pack.object(at: 0) }
        #expect(said(set).contains("Index 0 is out of bounds (must be less than 0)."))
        let loose = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try Conformer(kind: .array, version: .unmanaged).collection().object(at: 7)
        }
        #expect(said(loose).contains("Index 7 is out of bounds (must be less than 4)."))
        let huge = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { _ = try person().dogs[UInt.max] }
        #expect(said(huge).contains("is out of bounds (must be less than 4)."))
    }

    @Test(arguments: Conformer.all) func `objects at several indexes are nil if one is out of bounds [C07, D4]`(_ one: Conformer) throws {
        let dogs = try one.collection()
        #expect(
            dogs.objects(at: [3, 1])?.map { name($0) } == ["Fido", "Ada"] && dogs.objects(at: [])?.isEmpty == true
                && dogs.objects(at: [1, 4]) == nil)
    }

    @Test(arguments: Conformer.all) func `firstObject is nil for an empty collection [C08]`(_ one: Conformer) throws {
        #expect(try name(one.collection().firstObject) == "Rex" && one.collection([]).firstObject == nil)
    }

    @Test(arguments: Conformer.all)
    func `lastObject is nil for an empty collection, and can be the first object [C09]`(_ one: Conformer) throws {
        #expect(try name(one.collection().lastObject) == "Ada" && one.collection([]).lastObject == nil)
        #expect(try name(one.collection([dog("Rex", 1)]).lastObject) == "Rex")
    }

    @Test(arguments: Conformer.ordered) func `index of an object is NSNotFound for other objects [C10]`(_ one: Conformer) throws {
        let dogs = try one.collection()
        #expect(
            dogs.index(of: dogs[2]) == 2 && dogs.index(of: dog("Rex", 3, 20)) == UInt(NSNotFound)
                && dogs.index(of: "Rex") == UInt(NSNotFound))
        guard let realm = dogs.realm else { return }
        #expect(dogs.index(of: realm.allObjects("Person")[0]) == UInt(NSNotFound))
    }

    @Test func `index of a value is that of the first equal element [C10]`() throws {
        let realm = try memoryRealm()
        var values: RLMObject!
        try realm.transaction {
            values = realm.createObject("Values", withValue: ["intArray": [4, 5, 4], "intOptArray": [1, NSNull()], "stringArray": ["a"]])
        }
        let ints = values["intArray"] as! RLMArray<Int>, optional = values["intOptArray"] as! RLMArray<Int?>
        #expect(
            ints.index(of: 4) == 0 && ints.index(of: 5) == 1 && ints.index(of: 6) == UInt(NSNotFound)
                && ints.index(of: "4") == UInt(NSNotFound))
        #expect(optional.index(of: NSNull()) == 1 && ints.index(of: NSNull()) == UInt(NSNotFound) && ints.freeze().index(of: 5) == 1)
        #expect(ints.indexOfObject(where: "self > 4") == 1)
    }

    @Test(arguments: Conformer.managed.filter { $0.kind != .set }) func `indexOfObject(where:) is the first match or NSNotFound [C11]`(
        _ one: Conformer
    ) throws {
        let dogs = try one.collection()
        #expect(dogs.indexOfObject(where: "age == %@", 7) == 1 && dogs.indexOfObject(where: "age > %@ AND name == %@", 1, "Ada") == 3)
        #expect(dogs.indexOfObject(where: "age > 7") == UInt(NSNotFound) && dogs.indexOfObject(where: "teeth == nil") == 1)
    }

    @Test(arguments: Conformer.ordered) func `indexOfObject(with:) is the first match or NSNotFound [C12]`(_ one: Conformer) throws {
        let dogs = try one.collection()
        #expect(dogs.indexOfObject(with: NSPredicate { dog, _ in (dog as! RLMObject).age == 7 }) == 1)
        #expect(dogs.indexOfObject(with: NSPredicate { dog, _ in (dog as! RLMObject).age == 8 }) == UInt(NSNotFound))
    }

    @Test(arguments: Conformer.managed) func `objects(where:) selects objects, live and frozen [C13]`(_ one: Conformer) throws {
        let dogs = try one.collection(owned: true)
        #expect(
            names(dogs.objects(where: "age > %@", 2)) == ["Rex", "Fido", "Ada"]
                && names(dogs.objects(where: "name IN %@", ["Bo", "Rex"])) == ["Rex", "Bo"])
        #expect(names(dogs.objects(where: "%K == nil", "teeth")) == ["Fido"] && dogs.objects(where: "age > 100").count == 0)
        #expect(
            names(dogs.objects(where: "age > 2").objects(where: "age < 5")) == ["Rex"]
                && dogs.objects(where: "age > 2").isFrozen == (one.version == .frozen))
        let ada = dogs.realm!.allObjects("Person")[0]
        #expect(dogs.objects(where: "owner == %@", ada).count == 4 && dogs.objects(where: "self IN %@", ada.dogs).count == 4)
        guard one.version == .live else { return }
        let old = dogs.objects(where: "age >= 7")
        try dogs.realm!.transaction { dogs[0]["age"] = 9 }
        #expect(names(old) == ["Rex", "Fido", "Ada"])
    }

    @Test(arguments: Conformer.managed)
    func `objects(with:) selects objects by a predicate, and follows changes [C14]`(_ one: Conformer) throws {
        let dogs = try one.collection(), old = dogs.objects(with: NSPredicate { dog, _ in (dog as! RLMObject).age > 2 })
        #expect(
            names(old) == ["Rex", "Fido", "Ada"]
                && names(old.sortedResults(usingKeyPath: "name", ascending: true)) == ["Ada", "Fido", "Rex"])
        guard one.version == .live else { return }
        try dogs.realm!.transaction { dogs[2]["age"] = 9 }
        #expect(names(old) == ["Rex", "Fido", "Bo", "Ada"])
    }

    @Test(arguments: Conformer.managed) func `results are sorted by a key path, also through links [C15]`(_ one: Conformer) throws {
        let dogs = try one.collection(owned: true)
        #expect(names(dogs.sortedResults(usingKeyPath: "name", ascending: true)) == ["Ada", "Bo", "Fido", "Rex"])
        #expect(names(dogs.sortedResults(usingKeyPath: "teeth", ascending: false)) == ["Ada", "Rex", "Bo", "Fido"])
        #expect(names(dogs.sortedResults(usingKeyPath: "owner.name", ascending: true)) == ["Rex", "Fido", "Bo", "Ada"])
    }

    @Test(arguments: Conformer.managed)
    func `results are sorted by several descriptors, and keep their order without any [C16]`(_ one: Conformer) throws {
        let dogs = try one.collection()
        #expect(
            names(
                dogs.sortedResults(using: [
                    RLMSortDescriptor(keyPath: "age", ascending: false), RLMSortDescriptor(keyPath: "name", ascending: true),
                ])) == ["Ada", "Fido", "Rex", "Bo"])
        #expect(names(dogs.sortedResults(using: [])) == ["Rex", "Fido", "Bo", "Ada"])
        #expect(
            names(dogs.sortedResults(using: [RLMSortDescriptor(keyPath: "name", ascending: true).reversed()])) == [
                "Rex", "Fido", "Bo", "Ada",
            ])
    }

    @Test(arguments: Conformer.managed) func `distinct keeps the first row in order, and drops rows with a missing link [C17]`(
        _ one: Conformer
    ) throws {
        let dogs = try one.collection(owned: true)
        #expect(
            names(dogs.distinctResults(usingKeyPaths: ["age"])) == ["Rex", "Fido", "Bo"]
                && dogs.distinctResults(usingKeyPaths: ["age", "name"]).count == 4)
        #expect(
            names(dogs.sortedResults(usingKeyPath: "name", ascending: true).distinctResults(usingKeyPaths: ["age"])) == [
                "Ada", "Bo", "Rex",
            ])
        #expect(names(dogs.distinctResults(usingKeyPaths: ["owner.name"])) == ["Rex"])
        guard one.version == .live, one.kind != .linking else { return }
        try dogs.realm!.transaction { dogs[0]["owner"] = nil }
        #expect(names(dogs.distinctResults(usingKeyPaths: ["owner.name"])) == ["Fido"])
    }

    @Test func `queries and sorting trap for unmanaged collections and unknown properties [C11, C13, C14, C15, C16, C17]`() async {
        let whose = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try Conformer(kind: .array, version: .unmanaged).collection().objects(where: "age > 1")
        }
        #expect(said(whose).contains("This method may only be called on RLMArray instances retrieved from an RLMRealm"))
        let with = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try intSet([1], .unmanaged).objects(with: NSPredicate(value: true))
        }
        #expect(said(with).contains("This method may only be called on RLMSet instances retrieved from an RLMRealm"))
        let sorted = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try intSet([1], .unmanaged).sortedResults(usingKeyPath: "self", ascending: true)
        }
        #expect(said(sorted).contains("This method may only be called on RLMSet"))
        let distinct = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try intSet([1], .unmanaged).distinctResults(usingKeyPaths: ["self"])
        }
        #expect(said(distinct).contains("This method may only be called on RLMSet"))
        let index = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try Conformer(kind: .array, version: .unmanaged).collection().indexOfObject(where: "age > 1")
        }
        #expect(said(index).contains("This method may only be called on RLMArray"))
        let wings = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try person().dogs.objects(where: "wings > 1")
        }
        #expect(said(wings).contains("wings"))
        let path = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try person().dogs.sortedResults(usingKeyPath: "wings", ascending: true)
        }
        #expect(said(path).contains("wings"))
    }

    @Test(arguments: Conformer.all)
    func `value(forKey:) returns the value of each element, and a set for a set [C18]`(_ one: Conformer) throws {
        let dogs = try one.collection(), found = dogs.value(forKey: "teeth"), themselves = dogs.value(forKey: "self")
        #expect(dogs.value(forKey: "@count") as? Int == 4)
        if one.kind == .set {
            #expect(
                (found as! Set<AnyHashable>).count == 4 && (found as! Set<AnyHashable>).isSuperset(of: [20, 4, 30])
                    && (found as! Set<AnyHashable>).contains { $0.base is NSNull } && (themselves as? Set<AnyHashable>)?.count == 4)
            #expect(dogs.value(forKey: "age") as? Set<AnyHashable> == [3, 7, 1])
        } else {
            #expect((found as? [Any])?.map { $0 as? Int } == [20, nil, 4, 30] && (found as? [Any])?[1] is NSNull)
            #expect((themselves as? [RLMObject])?.map(\.name) == ["Rex", "Fido", "Bo", "Ada"])
        }
    }

    @Test func `value(forKey:) with self returns the values of a set of values [C18]`() throws {
        #expect(
            try intSet([2, 1]).value(forKey: "self") as? Set<AnyHashable> == [1, 2]
                && intSet([2, 1], .unmanaged).value(forKey: "self") as? Set<AnyHashable> == [1, 2])
    }

    @Test(arguments: Conformer.all) func `value(forKeyPath:) follows links and computes aggregates [C19]`(_ one: Conformer) throws {
        let dogs = try one.collection(owned: true)
        #expect(
            dogs.value(forKeyPath: "@sum.age") as? Int == 18 && dogs.value(forKeyPath: "@min.age") as? Int == 1
                && dogs.value(forKeyPath: "@max.age") as? Int == 7)
        #expect(dogs.value(forKeyPath: "@avg.age") as? Double == 4.5 && dogs.value(forKeyPath: "@count") as? Int == 4)
        guard one.version != .unmanaged else { return }
        let owners = dogs.value(forKeyPath: "owner.name")
        if one.kind == .set {
            #expect(owners as? Set<AnyHashable> == ["Ada"])
        } else {
            #expect(owners as? [String] == ["Ada", "Ada", "Ada", "Ada"])
        }
    }

    @Test(arguments: Conformer.live + Conformer.unmanaged) func `setValue sets a property of every element [C20]`(_ one: Conformer) throws {
        let dogs = try one.collection()
        try dogs.realm?.beginWriteTransaction()
        dogs.setValue(5, forKey: "age")
        dogs.setValue(NSNull(), forKey: "teeth")
        try dogs.realm?.commitWriteTransaction()
        #expect(dogs.map(\.age) == [5, 5, 5, 5] && dogs.allSatisfy { $0["teeth"] == nil })
    }

    @Test func `setValue traps outside of a write transaction [C20]`() async {
        let outside = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try person().realm!.allObjects("Dog").setValue(5, forKey: "age")
        }
        #expect(
            said(outside).contains(
                "Can only perform setValue(_:forKey:) in a Realm in a write transaction - call beginWriteTransaction on an RLMRealm instance first."
            ))
    }
}
