import Firn
import Foundation
import Testing

private class Shelf: Object {
    @Persisted var number = 0
    @Persisted var mixed: AnyRealmValue
    @Persisted var mixedList: List<AnyRealmValue>
    @Persisted var mixedMap: Map<String, AnyRealmValue>
}
private class Volume: Object {
    @Persisted var title = ""
    @Persisted var sequel: Volume?
    @Persisted var authors: List<Writer>
    @Persisted var print: Imprint?
}
private class Writer: Object {
    @Persisted var name = ""
    @Persisted var title = "writer"
}
private class Imprint: EmbeddedObject {
    @Persisted var city = ""
    @Persisted var owner: Writer?
}

/// Values of any type that link to objects.
@Suite struct MixedLinkTests {
    private func shelves() throws -> Results<Shelf> {
        let realm = try memoryRealm([Shelf.self, Volume.self, Writer.self, Imprint.self])
        try realm.write {
            let ada = Writer(value: ["name": "Ada"]), ben = Writer(value: ["name": "Ben"])
            let second = Volume(value: ["title": "two", "authors": [ben]] as [String: Any])
            let first = Volume(value: ["title": "one", "sequel": second, "authors": [ada, ben]] as [String: Any])
            first.print = Imprint(value: ["city": "Bern", "owner": ada] as [String: Any])
            let values: [AnyRealmValue] = [.object(first), .object(second), .object(ada), .none, .string("one"), .int(0)]
            for (i, value) in values.enumerated() {
                let shelf = realm.create(Shelf.self, value: ["number": i])
                shelf.mixed = value
                shelf.mixedList.append(objectsIn: [value, .int(1)])
                shelf.mixedMap["v"] = value
            }
            realm.create(Shelf.self, value: ["number": 6]).mixed = AnyRealmValue.fromDictionary(["title": "one"])
        }
        return realm.objects(Shelf.self)
    }

    private func numbers(_ shelves: Results<Shelf>) -> [Int] { shelves.map(\.number) }

    @Test func `paths lead through mixed values to properties of all classes and to keys of dictionaries`() throws {
        let shelves = try shelves()
        #expect(numbers(shelves.filter("mixed.title == 'one'")) == [0, 6] && numbers(shelves.filter("mixed.title == 'writer'")) == [2])
        #expect(numbers(shelves.filter("mixed.name == 'Ada'")) == [2] && numbers(shelves.filter("mixed.sequel.title == 'two'")) == [0])
        #expect(numbers(shelves.filter("mixed.print.city == 'Bern'")) == [0])
        #expect(numbers(shelves.filter("mixed.print.owner.name == 'Ada'")) == [0])
        #expect(numbers(shelves.filter("ANY mixed.authors[*].name == 'Ben'")) == [0, 1])
        #expect(numbers(shelves.filter("mixed.authors[0].name == 'Ben'")) == [1])
        #expect(
            numbers(shelves.filter("ANY mixedList.title == 'two'")) == [1] && numbers(shelves.filter("mixedMap.v.title == 'two'")) == [1])
        #expect(numbers(shelves.filter("mixed.sequel != nil")) == [0] && numbers(shelves.filter("mixed.colour == 'red'")) == [])
        #expect(numbers(shelves.where { $0.mixed["title"] == "one" }) == [0, 6])
    }

    @Test func `objects are compared with mixed values by class and identity`() throws {
        let shelves = try shelves()
        let realm = try #require(shelves.realm)
        let ada = try #require(realm.objects(Writer.self).filter("name == 'Ada'").first)
        let first = try #require(realm.objects(Volume.self).filter("title == 'one'").first)
        #expect(numbers(shelves.filter("mixed == %@", ada)) == [2] && numbers(shelves.filter("mixed == %@", first)) == [0])
        #expect(numbers(shelves.filter("mixed IN %@", [ada, first])) == [0, 2])
        #expect(numbers(shelves.filter("ANY mixedList == %@", ada)) == [2] && numbers(shelves.filter("%@ IN mixedList", first)) == [0])
        #expect(numbers(shelves.filter("mixed.sequel == %@", first)) == [] && shelves.filter("mixed != %@", ada).count == 6)
        #expect(numbers(shelves.where { $0.mixed == .object(ada) }) == [2])
        #expect(numbers(shelves.filter("mixed.@type == 'link'")) == [0, 1, 2] && numbers(shelves.filter("mixed.@type == 'object'")) == [6])
    }

    @Test func `an object of another class than that of a link is an error`() throws {
        let realm = try #require(try shelves().realm)
        let ada = try #require(realm.objects(Writer.self).first)
        #expect(throws: Realm.Error.self) { try realm.objects(Volume.self).filtered("sequel == %@", [ada]) }
    }

    @Test func `results follow changes of the objects that mixed values link to`() throws {
        let shelves = try shelves()
        let realm = try #require(shelves.realm)
        let found = shelves.filter("mixed.name == 'Ada'")
        let ada = try #require(realm.objects(Writer.self).filter("name == 'Ada'").first)
        #expect(found.count == 1)
        try realm.write { realm.objects(Writer.self).setValue("Eve", forKey: "name") }
        #expect(found.count == 0)
        try realm.write { ada.name = "Ada" }
        #expect(numbers(found) == [2])
        try realm.write { realm.delete(realm.objects(Writer.self)) }
        #expect(found.count == 0 && shelves.filter("mixed.title == 'one'").count == 2)
    }

    @Test func `descriptions of objects that link to themselves through mixed values end`() throws {
        let realm = try memoryRealm([Shelf.self])
        let shelf = try realm.write { realm.create(Shelf.self, value: ["number": 1]) }
        try realm.write {
            shelf.mixed = AnyRealmValue.fromArray([.object(shelf)])
            shelf.mixedList.append(.object(shelf))
            shelf.mixedMap["self"] = .object(shelf)
        }
        let text = shelf.description
        #expect(text.contains("number = 1;") && text.contains("Shelf <object>") && text.utf8.count < 2000)
        try realm.write { shelf.mixed = .object(shelf) }
        #expect(shelf.description.utf8.count < 2000)
    }
}
