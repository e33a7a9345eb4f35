import Firn
import Foundation
import Testing

private class Article: Object, Codable {
    @Persisted var id: Int
    @Persisted var title = "untitled"
    @Persisted var subtitle: String?
    @Persisted var tags: List<String>
    @Persisted var pages = 1
    override class func primaryKey() -> String? { "id" }

    private enum CodingKeys: CodingKey { case id, title, subtitle, tags, pages }

    required override init() { super.init() }

    init(id: Int, title: String) {
        self.id = id
        self.title = title
        pages = 12
        super.init()
    }

    convenience init(title: String) {
        self.init()
        self.title = title
    }

    required init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        id = try values.decode(Int.self, forKey: .id)
        title = try values.decode(String.self, forKey: .title)
        subtitle = try values.decodeIfPresent(String.self, forKey: .subtitle)
        tags = try values.decode(List<String>.self, forKey: .tags)
        super.init()
    }
}

/// Properties with the names of what the library keeps in its base class.
private class Crowded: Object {
    @Persisted var object: Crowded?
    @Persisted var state = "state"
    @Persisted var segment = 1
    @Persisted var position = 2
    @Persisted var generation = 3
    @Persisted var rowID = 4
    @Persisted var core: String?
    @Persisted var recorder = "recorder"
    @Persisted var access = 5
    @Persisted var word = 6
    @Persisted var optionalWord: Int? = 7
    @Persisted var real = 8.5
    @Persisted var stored = "stored"
    @Persisted var moved = true
    @Persisted var untyped = "untyped"
    @Persisted var untypedElement = "element"
    @Persisted var record: String?
    @Persisted var window = 9
    @Persisted var value = 10
    @Persisted var set: MutableSet<Int>
    @Persisted var typeName = "type"
    @Persisted var text = "text"
    @Persisted var objects: List<Crowded>
}

private class Order: Object {
    nonisolated(unsafe) static var count = 0
    static func next() -> Int {
        count += 1
        return count
    }
    @Persisted var number = Order.next()
}

/// How classes may be written.
@Suite struct DeclarationTests {
    @Test func `initializers set properties before super init`() throws {
        let article = Article(id: 4, title: "Snow")
        #expect(article.id == 4 && article.title == "Snow" && article.pages == 12 && article.subtitle == nil)
        let realm = try memoryRealm([Article.self])
        try realm.write { realm.add(article) }
        #expect(realm.object(ofType: Article.self, forPrimaryKey: 4)?.title == "Snow" && Article(title: "x").title == "x")
    }

    @Test func `decoding initializers set properties before super init`() throws {
        let text = #"{"id": 7, "title": "Ice", "subtitle": "and firn", "tags": ["a", "b"]}"#
        let article = try JSONDecoder().decode(Article.self, from: Data(text.utf8))
        #expect(article.id == 7 && article.title == "Ice" && article.subtitle == "and firn" && Array(article.tags) == ["a", "b"])
        #expect(article.pages == 1)
        let realm = try memoryRealm([Article.self])
        try realm.write { realm.add(article) }
        #expect(realm.objects(Article.self).filter("'b' IN tags").count == 1)
    }

    @Test func `properties may have the names of the library's own`() throws {
        let realm = try memoryRealm([Crowded.self])
        let one = try realm.write {
            realm.create(Crowded.self, value: ["object": ["word": 60], "objects": [["real": 1.5]]] as [String: Any])
        }
        #expect(one.object?.word == 60 && one.objects[0].real == 1.5 && one.state == "state" && one.untypedElement == "element")
        #expect(one.segment + one.position + one.generation + one.rowID + one.access + one.word == 21 && one.optionalWord == 7)
        #expect(realm.objects(Crowded.self).where { $0.object.word == 60 && $0.stored == "stored" }.count == 1)
    }

    @Test func `initial values are evaluated once for each object`() throws {
        let first = Order(), second = Order()
        #expect(second.number == first.number + 1 && first.number == first.number)
        let realm = try memoryRealm([Order.self])
        try realm.write { realm.add(first) }
        let number = first.number
        #expect(realm.objects(Order.self).map(\.number) == [number])
    }
}
