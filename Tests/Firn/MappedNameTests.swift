import Firn
import Testing

private class Letter: Object {
    @Persisted var title = ""
    @Persisted var weight = 0
    @Persisted var sender: Scribe?
    @Persisted var copies: List<Scribe>
    @Persisted var seal: WaxSeal?
    @Persisted var extra: AnyRealmValue

    override class func propertiesMapping() -> [String: String] {
        ["title": "t", "weight": "w", "sender": "from", "copies": "cc", "seal": "s"]
    }
}

private class Scribe: Object {
    @Persisted var name = ""
    @Persisted(originProperty: "sender") var sent: LinkingObjects<Letter>

    override class func propertiesMapping() -> [String: String] { ["name": "n", "sent": "mail"] }
}

private class WaxSeal: EmbeddedObject {
    @Persisted var color = ""

    override class func propertiesMapping() -> [String: String] { ["color": "c"] }
}

/// Properties that `propertiesMapping()` gives another name in the file are named as in code, and also as in the file.
struct MappedNameTests {
    private func filled() throws -> (realm: Realm, letters: Results<Letter>) {
        let realm = try memoryRealm([Letter.self])
        try realm.write {
            let ada = Scribe(value: ["name": "Ada"]), bob = Scribe(value: ["name": "Bob"])
            for (title, weight, sender, color) in [("b", 1, ada, "red"), ("a", 2, bob, "blue"), ("c", 2, ada, "red")] {
                let letter = Letter(value: ["title": title, "weight": weight, "sender": sender, "seal": ["color": color]] as [String: Any])
                letter.copies.append(sender)
                letter.extra = .object(sender)
                realm.add(letter)
            }
        }
        return (realm, realm.objects(Letter.self))
    }

    @Test(arguments: [
        ("title == 'b'", ["b"]), ("t == 'b'", ["b"]), ("sender.name == 'Ada'", ["b", "c"]), ("from.name == 'Bob'", ["a"]),
        ("ANY copies.name == 'Bob'", ["a"]), ("copies.@count == 1 AND weight > 1", ["a", "c"]), ("seal.color == 'blue'", ["a"]),
        ("ANY sender.sent.weight == 1", ["b", "c"]), ("ANY sender.mail.w == 1", ["b", "c"]), ("extra.name == 'Bob'", ["a"]),
        ("SUBQUERY(copies, $x, $x.name == 'Ada').@count == 1", ["b", "c"]), ("sender.@links.Letter.sender.@count == 1", ["a"]),
        ("weight >= 1 SORT(title DESC) LIMIT(2)", ["c", "b"]), ("%K == 'b'", ["b"]),
    ])
    func `filters name properties as in code`(_ query: String, _ expected: [String]) throws {
        let (realm, letters) = try filled()
        let arguments: [Any?] = query.contains("%K") ? ["title"] : []
        let found = try letters.filtered(query, arguments)
        #expect(found.map(\.title).sorted() == expected.sorted())
        let dynamic = try realm.dynamicObjects("Letter").filtered(query, arguments)
        #expect(Array(dynamic.map { $0["title"] as? String ?? "" }).sorted() == expected.sorted())
        let frozen = try letters.freeze().filtered(query, arguments)
        #expect(frozen.map(\.title).sorted() == expected.sorted())
    }

    @Test func `results stay current, whichever name their query uses`() throws {
        let (realm, letters) = try filled()
        let heavy = letters.filter("weight > 1"), sameHeavy = letters.filter("w > 1")
        #expect(heavy.count == 2 && sameHeavy.count == 2)
        try realm.write { letters.where { $0.title == "b" }.first?.weight = 5 }
        #expect(heavy.count == 3 && sameHeavy.count == 3)
    }

    @Test func `sorting, distinct values and aggregates name properties as in code`() throws {
        let (realm, letters) = try filled()
        #expect(letters.sorted(byKeyPath: "title").map(\.title) == ["a", "b", "c"])
        #expect(letters.sorted(by: [SortDescriptor(keyPath: "sender.name"), "title"]).map(\.title) == ["b", "c", "a"])
        #expect(letters.distinct(by: ["weight"]).map(\.title) == ["b", "a"])
        #expect(letters.distinct(by: ["sender.name"]).map(\.title) == ["b", "a"])
        #expect(letters.sum(ofProperty: "weight") as Int == 5 && letters.max(ofProperty: "weight") as Int? == 2)
        #expect(letters.value(forKeyPath: "@sum.weight") as? Int == 5)
        #expect(Array(letters.column("weight", as: Int.self)) == [1, 2, 2])
        #expect(realm.dynamicObjects("Letter").sorted(byKeyPath: "title").map { $0["t"] as? String } == ["a", "b", "c"])
    }

    @Test func `dynamic objects have the names in code`() throws {
        let (realm, letters) = try filled()
        let letter = try #require(realm.dynamicObjects("Letter").first)
        #expect(letter["title"] as? String == "b" && letter.title as? String == "b" && letter["t"] as? String == "b")
        #expect((letter["sender"] as? DynamicObject)?["name"] as? String == "Ada" && letter.dynamicList("copies").count == 1)
        try realm.write {
            letter["title"] = "z"
            _ = realm.dynamicCreate("Letter", value: ["title": "new", "weight": 7])
        }
        #expect(letters.map(\.title).sorted() == ["a", "c", "new", "z"])
    }

    @Test func `schemas have both names of a property`() throws {
        let (realm, letters) = try filled()
        let schema = try #require(realm.schema["Letter"])
        #expect(schema.properties.prefix(2).map(\.name) == ["title", "weight"])
        #expect(schema.properties.prefix(2).map(\.columnName) == ["t", "w"])
        #expect(schema["title"]?.columnName == "t" && schema["t"]?.name == "title")
        #expect(realm.schema["Scribe"]?["sent"]?.type == .linkingObjects)
        #expect(letters.first?.objectSchema == schema)
    }

    @Test func `key paths of observers name properties as in code`() async throws {
        let (realm, letters) = try filled()
        let letter = try #require(letters.first), sender = try #require(letter.sender)
        var inCode: [[Int]] = [], linked: [[Int]] = [], changed: [String] = []
        let tokens = [
            letters.observe(keyPaths: ["title"]) { change in
                if case .update(_, _, _, let modifications) = change { inCode.append(modifications) }
            },
            letters.observe(keyPaths: ["sender.name", "seal.*"]) { change in
                if case .update(_, _, _, let modifications) = change { linked.append(modifications) }
            },
            letter.observe(keyPaths: ["title", "sender.name", "copies"]) { change in
                if case .change(_, let properties) = change { changed += properties.map(\.name) }
            },
        ]
        realm.refresh()
        try realm.write { letter.title = "x" }
        try realm.write { letter.weight = 9 }
        try realm.write { sender.name = "Eve" }
        try realm.write { letter.copies.removeAll() }
        realm.refresh()
        #expect(inCode.flatMap(\.self) == [0] && linked.flatMap(\.self) == [0, 2])
        #expect(changed == ["title", "sender", "copies"])
        #expect(throws: Realm.Error.self) { try letters.tryObserve(keyPaths: ["titel"]) { _ in } }
        for token in tokens { token.invalidate() }
    }

    @Test func `unmanaged lists are searched by the names in code`() {
        let letters = List<Letter>()
        letters.append(Letter(value: ["title": "a", "weight": 1] as [String: Any]))
        letters.append(Letter(value: ["title": "b", "sender": ["name": "Ada"]] as [String: Any]))
        #expect(letters.index(matching: "title == 'b'") == 1 && letters.index(matching: "sender.name == 'Ada'") == 1)
    }

    @Test func `errors list the names in code`() throws {
        let letters = try filled().letters
        let error = #expect(throws: Realm.Error.self) { try letters.filtered("titel == 'x'") }
        #expect(error?.message.contains("\"title\"") ?? false)
    }
}
