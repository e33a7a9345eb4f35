import Firn
import Foundation
import Testing

private class Warden: Object {
    let pets = List<Ward>()
    let tags = MutableSet<String>()
    let scores = Map<String, Int>()
    let age = RealmProperty<Int?>()
    let anything = RealmProperty<AnyRealmValue>()
    let mood = RealmProperty<WardMood?>()
    var remark = "not stored"
}

private enum WardMood: String, PersistableEnum { case calm, wild }

private class Ward: Object {
    let number = RealmProperty<Int?>(3)
    let keepers = LinkingObjects(fromType: Warden.self, property: "pets")
    let collar = List<Collar>()
    override class func primaryKey() -> String? { nil }
    override class func indexedProperties() -> [String] { ["number"] }
}

private class Collar: EmbeddedObject {
    let sizes = List<Double>()
}

private class Keyed: Object {
    let id = RealmProperty<String?>()
    let hidden = List<Int>()
    override class func primaryKey() -> String? { "id" }
    override class func ignoredProperties() -> [String] { ["hidden"] }
    override class func propertiesMapping() -> [String: String] { ["id": "identifier"] }
}

@available(*, deprecated)
private class Oldest: Object {
    let number = RealmOptional<Int>(7)
    let weight = RealmOptional<Double>()
}

private class Base: Object { let first = List<Int>() }
private class Derived: Base { let second = List<String>() }

private class MixedKinds: Object {
    @Persisted var name = ""
    let items = List<Int>()
}
private class MixedButIgnored: Object {
    @Persisted var name = ""
    let items = List<Int>()
    let owners = LinkingObjects(fromType: Warden.self, property: "pets")
    override class func ignoredProperties() -> [String] { ["items", "owners"] }
}
private class VariableList: Object { var items = List<Int>() }
private class LazyList: Object { lazy var items = List<Int>() }
private class OptionalMap: Object { let items: Map<String, Int>? = nil }

private func keeper(_ pets: Int, in realm: Realm) throws -> Warden {
    try realm.write {
        let keeper = Warden()
        for i in 0..<pets { keeper.pets.append(Ward(value: ["number": i])) }
        keeper.tags.insert(objectsIn: ["a", "b"])
        keeper.scores["x"] = 1
        keeper.age.value = 30
        keeper.anything.value = .string("any")
        keeper.mood.value = .wild
        realm.add(keeper)
        return keeper
    }
}

/// Properties that are declared without `@Persisted`, as before Realm had property wrappers.
@Suite struct OlderDeclarationTests {
    @Test func `older declarations are properties of the schema`() throws {
        let realm = try memoryRealm([Warden.self, Keyed.self])
        let schema = try #require(realm.schema["Warden"])
        #expect(schema.properties.map(\.name) == ["pets", "tags", "scores", "age", "anything", "mood"])
        #expect(schema["pets"]?.isArray ?? false && schema["pets"]?.objectClassName == "Ward" && schema["tags"]?.isSet ?? false)
        #expect(schema["scores"]?.isMap ?? false && schema["age"]?.type == .int && schema["age"]?.isOptional ?? false)
        #expect(Ward().objectSchema["keepers"]?.linkOriginPropertyName == "pets" && Ward().objectSchema["number"]?.isIndexed ?? false)
        #expect(realm.schema["Keyed"]?.properties.map(\.columnName) == ["identifier"])
        #expect(realm.schema["Keyed"]?.primaryKeyProperty?.name == "id")
    }

    @Test func `inverse links are found by name in a schema, and are not among its properties`() throws {
        #expect(Ward().objectSchema["keepers"]?.type == .linkingObjects)
        #expect(Ward().objectSchema.properties.allSatisfy { $0.type != .linkingObjects && $0.name != "keepers" })
        #expect(Ward().objectSchema.description.contains("keepers"))
    }

    @Test func `the object that was added reads and writes the realm through the same instances`() throws {
        let realm = try memoryRealm([Warden.self]), unmanaged = Warden(), list = unmanaged.pets
        list.append(Ward())
        #expect(list.realm == nil && unmanaged.age.value == nil && unmanaged.anything.value == .none)
        try realm.write { realm.add(unmanaged) }
        #expect(list.realm == realm && list.count == 1 && unmanaged.pets === list && list[0].number.value == 3)
        try realm.write {
            list.append(Ward(value: ["number": 9]))
            unmanaged.tags.insert("new")
            unmanaged.scores["k"] = 4
            unmanaged.age.value = 8
        }
        let stored = try #require(realm.objects(Warden.self).first)
        #expect(stored !== unmanaged && stored.pets.map(\.number.value) == [3, 9] && Array(stored.tags) == ["new"])
        #expect(stored.scores["k"] == 4 && stored.age.value == 8 && stored.pets == unmanaged.pets)
    }

    @Test func `values survive in the file`() throws {
        let folder = try RealmFolder()
        do { _ = try keeper(3, in: Realm(configuration: folder.configuration([Warden.self]))) }
        let realm = try Realm(configuration: folder.configuration([Warden.self]))
        let one = try #require(realm.objects(Warden.self).first)
        #expect(one.pets.map(\.number.value) == [0, 1, 2] && Array(one.tags) == ["a", "b"] && one.scores.asKeyValueSequence().count == 1)
        #expect(one.age.value == 30 && one.anything.value == .string("any") && one.mood.value == .wild && one.remark == "not stored")
        #expect(one.pets[1].keepers.count == 1 && one.pets[1].keepers.first == one && Ward().keepers.isEmpty)
    }

    @Test func `a collection that was read stays that of its row while others are read`() throws {
        let realm = try memoryRealm([Warden.self, Ward.self])
        _ = try keeper(100, in: realm)
        var lists: [List<Collar>] = [], numbers: [RealmProperty<Int?>] = []
        for pet in realm.objects(Ward.self) {
            lists.append(pet.collar)
            numbers.append(pet.number)
        }
        #expect(numbers.map(\.value) == Array(0..<100))
        try realm.write { for (i, list) in lists.enumerated() { list.append(Collar(value: ["sizes": [Double(i)]])) } }
        let sizes: [Double] = realm.objects(Ward.self).map { $0.collar[0].sizes[0] }
        #expect(sizes == (0..<100).map { Double($0) })
    }

    @Test func `queries, key paths and observers name older declarations`() throws {
        let realm = try memoryRealm([Warden.self])
        let one = try keeper(3, in: realm)
        #expect(realm.objects(Warden.self).filter("pets.number == 2 AND tags CONTAINS 'a' AND age > 5").count == 1)
        #expect(realm.objects(Warden.self).where { $0.pets.count == 3 }.count == 1)
        #expect(realm.objects(Ward.self).where { $0.keepers.count == 1 }.count == 3)
        #expect(realm.objects(Warden.self).where { $0.age.value > 5 && $0.mood.value == .wild }.count == 1)
        #expect(realm.objects(Ward.self).where { $0.number.value == 2 }.count == 1)
        #expect(realm.objects(Warden.self).where { $0.pets.number.value == 2 }.count == 1)
        #expect(realm.objects(Ward.self).sorted(byKeyPath: "number", ascending: false).first?.number.value == 2)
        #expect(realm.objects(Ward.self).sum(ofProperty: "number") == 3)
        #expect(one["age"] as? Int == 30 && one.value(forKeyPath: "pets.@count") as? Int == 3)
        var received: [[String]] = []
        let token = one.observe(keyPaths: [\Warden.tags, \Warden.age.value]) { (change: ObjectChange<Warden>) in
            if case .change(_, let properties) = change { received.append(properties.map(\.name)) }
        }
        for change in [{ one.tags.insert("z") }, { one.scores["n"] = 1 }, { one.age.value = 1 }] as [() -> Void] {
            try realm.write(change)
            realm.refresh()
        }
        #expect(received == [["tags"], ["age"]])
        token.invalidate()
    }

    @Test func `copies, frozen objects and updates have the contents`() throws {
        let realm = try memoryRealm([Warden.self, Keyed.self])
        let one = try keeper(2, in: realm), frozen = one.freeze(), copy = one.detached()
        try realm.write {
            one.pets.removeAll()
            one.age.value = nil
        }
        #expect(frozen.pets.count == 2 && frozen.age.value == 30 && frozen.pets[0].keepers.count == 1 && one.age.value == nil)
        #expect(copy.pets.count == 2 && copy.realm == nil && copy.pets.realm == nil && copy.mood.value == .wild && copy.scores["x"] == 1)
        try realm.write {
            realm.create(Keyed.self, value: ["id": "k"])
            realm.add(Keyed(value: ["id": "k"]), update: .modified)
            realm.create(Warden.self, value: copy)
        }
        #expect(realm.objects(Keyed.self).count == 1 && realm.object(ofType: Keyed.self, forPrimaryKey: "k")?.id.value == "k")
        #expect(realm.objects(Warden.self)[1].pets.count == 2)
    }

    @Test func `collections of deleted objects are invalid, also if they were never read`() throws {
        let realm = try memoryRealm([Warden.self])
        let one = try keeper(2, in: realm), again = realm.objects(Warden.self)[0]
        let (pets, tags, scores) = (again.pets, again.tags, again.scores)
        try realm.write { realm.delete(one) }
        #expect(pets.isInvalidated && tags.isInvalidated && scores.isInvalidated && one.pets.isInvalidated)
        #expect(pets.count == 0 && Ward().keepers.isInvalidated == false)
    }

    @available(*, deprecated)
    @available(*, deprecated)
    @Test func `a typed query reads the value of RealmOptional`() throws {
        let realm = try memoryRealm([Oldest.self])
        try realm.write { for i in 0..<3 { realm.add(Oldest(value: ["number": i])) } }
        #expect(realm.objects(Oldest.self).where { $0.number.value > 0 && $0.weight.value == nil }.count == 2)
    }

    @Test func `RealmOptional is stored like RealmProperty`() throws {
        let realm = try memoryRealm([Oldest.self])
        let one = try realm.write { realm.create(Oldest.self, value: ["weight": 2.5]) }
        #expect(one.number.value == 7 && one.weight.value == 2.5)
        try realm.write { one.number.value = nil }
        #expect(realm.objects(Oldest.self)[0].number.value == nil)
    }

    @Test func `declarations of superclasses come first`() throws {
        let realm = try memoryRealm([Derived.self])
        try realm.write { realm.add(Derived(value: ["first": [1], "second": ["x"]] as [String: Any])) }
        #expect(realm.schema["Derived"]?.properties.map(\.name) == ["first", "second"])
        #expect(realm.objects(Derived.self)[0].first[0] == 1 && realm.objects(Derived.self)[0].second[0] == "x")
    }

    @Test func `RealmProperty is coded as its value`() throws {
        let property = try JSONDecoder().decode([RealmProperty<Int?>].self, from: Data("[4, null]".utf8))
        #expect(property.map(\.value) == [4, nil] && property[0] == RealmProperty(4))
        #expect(String(decoding: try JSONEncoder().encode(property), as: UTF8.self) == "[4,null]")
    }

    @Test func `declarations that cannot be stored trap with class and property`() async {
        let mixed = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try memoryRealm([MixedKinds.self])
        }
        #expect(said(mixed).contains("\"MixedKinds.items\" is declared without @Persisted"), "\(said(mixed).prefix(300))")
        let variable = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try memoryRealm([VariableList.self])
        }
        #expect(said(variable).contains("\"VariableList.items\" is a variable List<Int>"), "\(said(variable).prefix(300))")
        let lazy = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { _ = try memoryRealm([LazyList.self]) }
        #expect(said(lazy).contains("\"LazyList.items\" is an optional or lazy List<Int>"), "\(said(lazy).prefix(300))")
        let optional = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try memoryRealm([OptionalMap.self])
        }
        #expect(said(optional).contains("\"OptionalMap.items\" is an optional or lazy Map<String, Int>"), "\(said(optional).prefix(300))")
    }

    @Test func `a class with both kinds names those that it ignores`() throws {
        let realm = try memoryRealm([MixedButIgnored.self])
        #expect(realm.schema["MixedButIgnored"]?.properties.map(\.name) == ["name"])
        let one = MixedButIgnored()
        one.items.append(1)
        try realm.write { realm.add(one) }
        #expect(one.items.count == 1 && one.items.realm == nil)
    }
}
