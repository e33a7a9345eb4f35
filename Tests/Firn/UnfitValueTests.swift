import Firn
import Foundation
import Testing

private enum Grade: Int8, PersistableEnum { case low = 1, high = 100 }

private class Narrow: Object {
    @Persisted var small: Int8
    @Persisted var short: Int16?
    @Persisted var middle: Int32
    @Persisted var grade: Grade
    @Persisted var list: List<Int8>
    @Persisted var set: MutableSet<Int16>
    @Persisted var map: Map<String, Int32?>
}

private class OptionalMixed: Object {
    @Persisted var any: AnyRealmValue?
    @Persisted var name = ""
}

/// Values that do not fit their property, and values and collections in forms that are easily lost.
@Suite struct UnfitValueTests {
    @Test func `integers that fit are converted to narrow integers`() throws {
        let realm = try memoryRealm([Narrow.self])
        let one = try realm.write {
            realm.create(
                Narrow.self,
                value: [
                    "small": -128, "short": Int64(32_767), "middle": 70_000.0, "grade": 100, "list": [1, 127], "set": [300],
                    "map": ["a": 1, "b": nil] as [String: Int?],
                ] as [String: Any])
        }
        #expect(one.small == -128 && one.short == 32_767 && one.middle == 70_000 && one.grade == .high && Array(one.list) == [1, 127])
        #expect(one.set.contains(300) && one.map["a"] == 1 && one.map["b"] == .some(nil))
        try realm.write { one.setValue(nil, forKey: "short") }
        #expect(one.short == nil)
    }

    @Test func `integers that do not fit a narrow integer are invalid values`() {
        #expect(Int8._fromUntyped(300) == nil && Int8._fromUntyped(-129) == nil && Int8._fromUntyped(200.0) == nil)
        #expect(Optional<Int16>._fromUntyped(40_000) == nil && Int32._fromUntyped(1 << 40) == nil && Grade._fromUntyped(257) == nil)
        #expect(List<Int8>._fromUntyped([1, 128]) == nil && MutableSet<Int16>._fromUntyped([70_000]) == nil)
        #expect(
            Map<String, Int32?>._fromUntyped(["a": 1 << 40]) == nil && Int8._fromUntyped(127) == 127 && Grade._fromUntyped(100) == .high)
    }

    @Test func `creating, setting and decoding refuse an integer that does not fit`() async throws {
        let created = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try memoryRealm([Narrow.self])
            try realm.write { realm.create(Narrow.self, value: ["small": 300]) }
        }
        #expect(said(created).contains("Invalid value \"300\""), "\(said(created).prefix(300))")
        let set = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { Narrow().setValue(300, forKey: "small") }
        #expect(said(set).contains("Invalid value \"300\""), "\(said(set).prefix(300))")
        let all = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try memoryRealm([Narrow.self])
            try realm.write {
                realm.create(Narrow.self)
                realm.objects(Narrow.self).setValue(40_000, forKey: "short")
            }
        }
        #expect(said(all).contains("Invalid value \"40000\""), "\(said(all).prefix(300))")
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(List<Int8>.self, from: Data("[300]".utf8)) }
    }

    @Test func `several properties are read and set by name, and nil is NSNull`() throws {
        let realm = try memoryRealm([Person.self])
        let one = try realm.write { realm.create(Person.self, value: ["id": 1, "name": "Ada"]) }
        let values = one.dictionaryWithValues(forKeys: ["id", "name", "age", "best", "dogs"])
        #expect(values["id"] as? Int == 1 && values["name"] as? String == "Ada" && values["age"] is NSNull && values["best"] is NSNull)
        #expect((values["dogs"] as? List<Dog>)?.isEmpty ?? false && values.count == 5)
        try realm.write { one.setValuesForKeys(["name": "Bo", "age": 3, "best": NSNull()]) }
        #expect(one.name == "Bo" && one.age == 3 && one.best == nil)
    }

    @Test func `an optional AnyRealmValue keeps links and reads them`() throws {
        let realm = try memoryRealm([OptionalMixed.self, Dog.self])
        let added = OptionalMixed()
        added.any = .object(Dog(value: ["name": "added"]))
        let one = try realm.write {
            realm.add(added)
            return realm.create(OptionalMixed.self, value: ["any": Dog(value: ["name": "created"])])
        }
        func name(_ holder: OptionalMixed) -> String? { (holder.any?.object(Dog.self))?.name }
        #expect(name(added) == "added" && name(one) == "created" && OptionalMixed().any == nil)
        try realm.write { one.any = .object(Dog(value: ["name": "set"])) }
        #expect(name(one) == "set" && realm.objects(Dog.self).count == 3)
        let list = List<AnyRealmValue>()
        list.append(objectsIn: [.int(1), .string("a")])
        try realm.write { one.any = .list(list) }
        #expect(one.any?.listValue?.count == 2)
        try realm.write { one.any = nil }
        #expect(one.any == nil)
        try realm.write { one.any = .int(3) }
        #expect(one.any == .int(3) && one.freeze().any == .int(3) && name(added.detached()) == "added")
    }

    @Test func `unmanaged inverse links and erased collections equal themselves`() {
        let dog = Person(), list = List<Int>(), other = List<Int>(), inverse = LinkingObjects(fromType: Person.self, property: "dogs")
        list.append(1)
        #expect(inverse == inverse && inverse == LinkingObjects(fromType: Person.self, property: "dogs"))
        #expect(inverse != LinkingObjects(fromType: Person.self, property: "best"))
        let erased = AnyRealmCollection(list)
        #expect(erased == erased && erased == AnyRealmCollection(list) && erased != AnyRealmCollection(other))
        #expect(AnyRealmCollection(dog.dogs) == AnyRealmCollection(dog.dogs))
        let set = MutableSet<Int>()
        set.insert(1)
        #expect(AnyRealmCollection(set) == AnyRealmCollection(set) && AnyRealmCollection(set) != erased)
        #expect(AnyRealmCollection(inverse) == AnyRealmCollection(inverse))
    }

    @Test func `unmanaged collections exist in no other realm`() throws {
        let realm = try memoryRealm([Person.self])
        #expect(List<Int>()._moved(to: realm) == nil && MutableSet<Int>()._moved(to: realm) == nil)
        #expect(AnyRealmCollection(List<Int>())._moved(to: realm) == nil && Map<String, Int>()._moved(to: realm) == nil)
        #expect(LinkingObjects(fromType: Person.self, property: "dogs")._moved(to: realm) == nil)
    }

    @Test func `a map is filled from a dictionary in the order of the keys`() {
        let entries = Dictionary(uniqueKeysWithValues: (0..<20_000).map { ("k\($0)", $0) })
        let person = Everykey(value: ["map": entries])
        #expect(person.map.count == 20_000 && person.map["k777"] == 777 && person.map.keys == entries.keys.sorted())
        for key in entries.keys { person.map.removeObject(for: key) }
        #expect(person.map.isEmpty)
    }
}

private class Everykey: Object { @Persisted var map: Map<String, Int> }
