import Firn
import Foundation
import RLM
import Testing

/// Rows S13–S16 of the contract of collections, and the algebra of sets with every kind of value.
@Suite struct SetAlgebraTests {
    @Test func `setSet copies the members of another set, and keeps them for the set itself [S13]`() throws {
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

    @Test func `intersect keeps the common members [S14]`() throws {
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

    @Test func `minus removes the members of the other set [S15]`() throws {
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

    @Test func `union adds the missing members [S16]`() throws {
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

    /// Returns a person with four dogs, and another one who has the second and the third.
    private func twoPacks() throws -> (RLMObject, RLMObject) {
        let ada = try person()
        var second: RLMObject!
        try ada.realm!.transaction {
            second = ada.realm!.createObject("Person", withValue: ["name": "Bob", "pack": [ada.dogs[1], ada.dogs[2]]])
        }
        return (ada, second)
    }

    @Test(arguments: ElementKind.allCases, [Conformer.Version.live, .unmanaged])
    func `set algebra works for every kind [S09, S11, S13, S14, S15, S16, S17, S18, S19, S20]`(
        _ kind: ElementKind, _ version: Conformer.Version
    ) throws {
        func check<T>(_ type: T.Type) throws {
            let first = Array(kind.values.dropLast()) as [Any], second = Array(kind.values.dropFirst()) as [Any],
                realm = version == .live ? try memoryRealm() : nil
            func make(_ members: [Any]) -> RLMSet<T> {
                let value = ["\(kind)Set": members]
                return
                    (realm?.createObject("Values", withValue: value) ?? RLMObject(objectSchema: kennelSchema()["Values"]!, value: value))[
                        "\(kind)Set"] as! RLMSet<T>
            }
            func members(_ set: RLMSet<T>) -> Set<AnyHashable> { Set(set.map { $0 as! AnyHashable }) }
            func hashable(_ values: [Any]) -> Set<AnyHashable> { Set(values.map { $0 as! AnyHashable }) }
            realm?.beginWriteTransaction()
            let a = make(first), b = make(second), both = hashable(first).intersection(hashable(second)), all = hashable(first + second)
            #expect(
                a.intersects(b) == !both.isEmpty && !a.isSubset(of: b) && a.isSubset(of: a) && !a.isEqual(to: b)
                    && a.isEqual(to: make(first.reversed())))
            #expect(first.allSatisfy { a.contains($0 as! T) } && !a.contains(second.last as! T))
            let union = make(first), intersection = make(first), difference = make(first), copy = make(first)
            union.union(b)
            intersection.intersect(b)
            difference.minus(b)
            copy.setSet(b)
            #expect(
                members(union) == all && members(intersection) == both && members(difference) == hashable(first).subtracting(both)
                    && members(copy) == hashable(second))
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

    @Test func `the other set must be managed, of the same type and of the same realm [S13, S14, S15, S16, S17, S18]`() async {
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
        let intersects = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try intSet([1]).intersects(try intSet([1], .unmanaged))
        }
        #expect(said(intersects).contains("Right hand side value must be a managed Set."))
        let subset = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try intSet([1]).isSubset(of: try intSet([1], .unmanaged))
        }
        #expect(said(subset).contains("Right hand side value must be a managed Set."))
        let realms = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try intSet([1]).isSubset(of: try intSet([1]))
        }
        #expect(said(realms).contains("Right hand side set is managed by another Realm"))
        let types = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let schema = RLMSchema(objectSchema: [
                RLMObjectSchema(
                    className: "A",
                    properties: [
                        RLMProperty(name: "a", type: .object, objectClassName: "A", isSet: true),
                        RLMProperty(name: "b", type: .object, objectClassName: "B", isSet: true),
                    ]),
                RLMObjectSchema(className: "B", properties: [RLMProperty(name: "x", type: .int)]),
            ])
            let realm = try memoryRealm(schema)
            realm.beginWriteTransaction()
            let a = realm.createObject("A")
            (a["a"] as! RLMSet<RLMObject>).union(a["b"] as! RLMSet<RLMObject>)
        }
        #expect(said(types).contains("Right hand side set of \"B\" does not match set of \"A\"."))
    }
}
