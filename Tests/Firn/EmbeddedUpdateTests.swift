import Firn
import Testing

private class Ware: Object {
    @Persisted(primaryKey: true) var code = ""
    @Persisted var title = ""
}

private class BasketLine: EmbeddedObject {
    @Persisted var count = 0
    @Persisted var article: Ware?
    @Persisted var extras: List<Ware>
    @Persisted var part: BasketLine?
}

private class Basket: Object {
    @Persisted(primaryKey: true) var id = 0
    @Persisted var first: BasketLine?
    @Persisted var lines: List<BasketLine>
    @Persisted var byName: Map<String, BasketLine?>
}

/// Embedded objects have no key, but the objects that they link to can have one.
struct EmbeddedUpdateTests {
    private func realm() throws -> Realm {
        let realm = try memoryRealm([Ware.self, BasketLine.self, Basket.self])
        try realm.write { realm.add(Ware(value: ["code": "a", "title": "old"])) }
        return realm
    }

    private func line(_ title: String) -> BasketLine { BasketLine(value: ["article": ["code": "a", "title": title]]) }

    private static let owners: [@Sendable (Basket, BasketLine) -> Void] = [
        { $0.first = $1 }, { $0.lines.append($1) }, { $0.byName["x"] = $1 },
        { basket, line in basket.first = BasketLine(value: ["part": line]) },
        { basket, line in basket.first = BasketLine(value: ["extras": [line.article]]) },
    ]

    @Test(arguments: owners.indices, [Realm.UpdatePolicy.modified, .all])
    func `an update reaches the objects that embedded objects link to`(owner: Int, policy: Realm.UpdatePolicy) throws {
        let realm = try realm()
        let basket = Basket(value: ["id": 1])
        Self.owners[owner](basket, line("new"))
        try realm.write { realm.add(basket, update: policy) }
        #expect(realm.objects(Ware.self).map(\.title) == ["new"])
        let again = Basket(value: ["id": 1])
        Self.owners[owner](again, line("newer"))
        try realm.write { realm.add(again, update: policy) }
        #expect(realm.objects(Ware.self).map(\.title) == ["newer"])
    }

    @Test func `create with update reaches the objects that embedded objects link to`() throws {
        let realm = try realm()
        let line: [String: Any] = ["count": 2, "article": ["code": "a", "title": "new"]]
        for _ in 0..<2 {
            let basket: [String: Any] = ["id": 1, "first": line, "lines": [line]]
            try realm.write { realm.create(Basket.self, value: basket, update: .modified) }
        }
        #expect(realm.objects(Ware.self).map(\.title) == ["new"] && realm.objects(BasketLine.self).count == 2)
        #expect(realm.objects(Basket.self).first?.lines.first?.article?.code == "a")
    }

    @Test func `dictionaries within embedded objects keep the values that they do not contain`() throws {
        let realm = try realm()
        let line: [String: Any] = ["article": ["code": "a"], "part": ["extras": [["code": "a"], ["code": "b"]]]]
        let basket: [String: Any] = ["id": 1, "first": line, "lines": [line], "byName": ["x": line]]
        try realm.write { realm.create(Basket.self, value: basket, update: .modified) }
        #expect(realm.objects(Ware.self).sorted(byKeyPath: "code").map(\.title) == ["old", ""])
        let stored = try #require(realm.objects(Basket.self).first)
        #expect(stored.lines[0].article?.title == "old" && stored.byName["x"]??.part?.extras.map(\.code) == ["a", "b"])
    }
}
