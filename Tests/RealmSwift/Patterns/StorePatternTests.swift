import Foundation
import RealmSwift
import Testing

/// Creating, decoding, updating and deleting as apps do it.
@Suite struct StorePatternTests {
    @Test func `custom types, enums and projections read what was stored`() throws {
        let site = try filledSite()
        #expect(site.tint == Tint(red: 1, green: 2) && site.tints[0].red == 3 && site.page?.absoluteString == "http://a")
        #expect(site.pages.first?.absoluteString == "http://b" && site.children.first?.parent == site && site.email?.text == "c@d")
        let card = SiteCard(projecting: site)
        #expect(card.mood == .calm && card.city == "Bern" && card.names.contains("Ada") && card.children.count == 1)
        #expect(site.peopleByName.keys.sorted() == ["a", "none"] && site.dynamicList("people").count == 2)
    }

    @Test func `dictionaries from JSON create objects, and keys without a property are ignored`() throws {
        let realm = try #require(try filledSite().realm)
        let text = #"{"name":"J","age":7,"tags":["x"],"score":1,"email":null,"other":{"a":1},"more":[1,2]}"#
        let json = try JSONSerialization.jsonObject(with: Data(text.utf8))
        try realm.write {
            let one = realm.create(Contact.self, value: json, update: .all)
            #expect(one.name == "J" && one.age == 7 && one.score == 1 && Array(one.tags) == ["x"] && one.email == nil)
            let again = realm.create(Contact.self, value: ["_id": one._id, "age": 8, "unknown": 1] as [String: Any], update: .modified)
            #expect(again == one && one.age == 8 && one.name == "J" && one.tags.count == 1)
            let list = realm.create(Contact.self, value: [UUID(), "List", 5] as [Any])
            #expect(list.name == "List" && list.small == 1)
            let dynamic = realm.dynamicCreate("Contact", value: ["_id": UUID(), "name": "D", "unknown": 2] as [String: Any])
            #expect(dynamic["name"] as? String == "D")
        }
        let nested = Site(
            value: [
                "moods": ["calm"], "mood": "wild", "rank": 2, "people": [["name": "In", "age": 1, "no": 1]], "mixed": 5, "page": "http://z",
                "peopleByName": ["z": ["name": "M"]], "tint": ["red": 5.0],
            ] as [String: Any])
        #expect(nested.mood == .wild && nested.rank == .high && nested.people[0].name == "In" && nested.mixed == .int(5))
        #expect(nested.page?.absoluteString == "http://z" && nested.tint.red == 5 && nested.peopleByName["z"]??.name == "M")
        #expect(Contact(value: NSDictionary(dictionary: ["name": "N", "age": NSNumber(value: 9)])).age == 9)
    }

    private func decode(_ extra: String) throws -> Contact {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        let text = """
            {"_id":"123e4567-e89b-12d3-a456-426614174000","name":"Js","age":4,"created":"2020-01-01T00:00:00Z","meta":{"a":null,"b":"c"},
            "tags":["a"],\(extra)}
            """
        return try decoder.decode(Contact.self, from: Data(text.utf8))
    }

    @Test func `numbers in JSON that a property cannot hold are errors that name the number and the type`() throws {
        let contact = try decode(#""small":3,"counts":[1,2]"#)
        #expect(contact.small == 3 && Array(contact.counts) == [1, 2] && contact.meta["b"] == "c" && contact.email == nil)
        for (extra, message) in [
            (#""small":300,"counts":[]"#, "the number 300 does not fit in Int8"),
            (#""small":-129,"counts":[]"#, "the number -129 does not fit in Int8"),
            (#""small":3,"counts":[1,70000]"#, "the number 70000 does not fit in Int16"),
            (#""small":1.5,"counts":[]"#, "the number 1.5 does not fit in Int8"),
        ] {
            let error = #expect(throws: DecodingError.self) { try decode(extra) }
            guard case .dataCorrupted(let context)? = error else {
                Issue.record(error ?? CancellationError())
                continue
            }
            #expect(context.debugDescription == message && !context.codingPath.isEmpty)
        }
        let text = #expect(throws: DecodingError.self) { try decode(#""small":"3","counts":[]"#) }
        if case .typeMismatch? = text {} else { Issue.record(text ?? CancellationError()) }
    }

    @Test func `deleted embedded objects are removed from their owners`() throws {
        let site = try filledSite(), realm = try #require(site.realm)
        try realm.write {
            site.homes.append(Home(value: ["city": "Ulm"]))
            realm.delete(site.homes[0])
            if let home = site.home { realm.delete(home) }
            if let home = site.homesByName["h"] ?? nil { realm.delete(home) }
        }
        #expect(site.home == nil && site.homes.map(\.city) == ["Ulm"] && (site.homesByName["h"] ?? nil) == nil)
        try realm.write { realm.delete(site.homes) }
        #expect(site.homes.isEmpty && realm.dynamicObjects("Home").count == 0)
    }

    @Test func `a generic repository creates, saves and finds objects`() throws {
        let site = try filledSite(), repository = Repository<Contact>(realm: try #require(site.realm))
        let made = repository.make()
        made.name = "R"
        try repository.save(made)
        try repository.save(Contact(value: ["_id": made._id, "name": "S"] as [String: Any]))
        #expect(repository.find(made._id)?.name == "S" && repository.all().count == 3)
        #expect(repository.search { $0.age >= 20 }.count == 2 && repository.sorted(by: \.name).first?.name == "Ada")
        let reference = ThreadSafeReference(to: site.people), frozen = site.freeze()
        #expect(repository.realm.resolve(reference)?.count == 2 && frozen.isFrozen && frozen.thaw() == site)
    }
}
