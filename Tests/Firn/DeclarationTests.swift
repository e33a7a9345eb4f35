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

/// The forms of `init()` that Realm's classes can have.
private class PlainInit: Object {
    @Persisted(primaryKey: true) var _id: ObjectId
    @Persisted(indexed: true) var name: String
    @Persisted var parts: List<InitPart>
    override init() {
        super.init()
        name = "plain"
    }
}
private class OverriddenRequiredInit: Object {
    @Persisted var name: String
    override required init() {
        super.init()
        name = "required"
    }
}
private class ConvenienceInit: Object {
    @Persisted(primaryKey: true) var id: String
    @Persisted(originProperty: "owner") var keepers: LinkingObjects<InitKeeper>
    convenience init(id: String) {
        self.init()
        self.id = id
    }
    convenience override init() { self.init(number: 7) }
    init(number: Int) {
        super.init()
        id = "number \(number)"
    }
}
private class InitKeeper: Object { @Persisted var owner: ConvenienceInit? }
private class HeirInit: PlainInit {
    @Persisted var more: String
    init(more: String) {
        self.more = more
        super.init()
    }
    override init() {
        more = "heir"
        super.init()
    }
}
/// Overrides one designated initializer of several.
private class PartlyOverridden: HeirInit {
    override init() { super.init() }
}
private class InitPart: EmbeddedObject {
    @Persisted var text: String
    override init() {
        super.init()
        text = "part"
    }
}
private class DecodedInit: Object, Codable {
    @Persisted(primaryKey: true) var id: String
    @Persisted(indexed: true) var level: InitLevel
    @Persisted(indexed: true) var count = 3
    @Persisted(primaryKey: false) var code = "none"
    @Persisted var mark: Int?
    enum CodingKeys: String, CodingKey { case id, level, code, mark }
    override init() { super.init() }
    required init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        // These have a wrapped value of their own, or no arguments: they can be set before super.init().
        code = try values.decode(String.self, forKey: .code)
        mark = try values.decodeIfPresent(Int.self, forKey: .mark)
        count = 4
        super.init()
        id = try values.decode(String.self, forKey: .id)
        level = try values.decode(InitLevel.self, forKey: .level)
    }
}
private enum InitLevel: String, PersistableEnum, Codable { case low, high }
private class WithoutInit: Object {
    @Persisted var number: Int
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
    init(number: Int) {
        self.number = number
        super.init()
    }
}
private protocol Startable: AnyObject { init() }
private final class Started: Object, Startable { @Persisted var name = "started" }
private class StartedAgain: Object, Startable {
    @Persisted var name = "again"
    required override init() { super.init() }
}
extension Object {
    fileprivate static func fresh() -> Self { self.init() }
    fileprivate func another() -> Self { type(of: self).init() }
}
private func created<T: Object>(_ type: T.Type) -> T { T() }
private func createdByName<T: Object>(_ type: T.Type) -> [T] { (0..<2).map { _ in type.init() } }
private func started<T: Startable>(_ type: T.Type) -> T { T() }

/// How classes may be written.
@Suite struct DeclarationTests {
    @Test func `every form of init that Realm accepts is called for every object`() throws {
        let realm = try memoryRealm([
            PlainInit.self, OverriddenRequiredInit.self, ConvenienceInit.self, InitKeeper.self, HeirInit.self, PartlyOverridden.self,
        ])
        try realm.write {
            realm.create(PlainInit.self, value: ["parts": [[:] as [String: Any]]])
            realm.create(OverriddenRequiredInit.self)
            realm.create(ConvenienceInit.self)
            realm.add(ConvenienceInit(id: "named"))
            realm.create(HeirInit.self)
            realm.add(HeirInit(more: "own"))
            realm.create(PartlyOverridden.self)
            realm.create(InitKeeper.self, value: ["owner": ["id": "made"]])
        }
        let plain = try #require(realm.objects(PlainInit.self).first)
        #expect(plain.name == "plain" && plain.parts.map(\.text) == ["part"])
        #expect(realm.objects(OverriddenRequiredInit.self).map(\.name) == ["required"])
        #expect(realm.objects(ConvenienceInit.self).map(\.id) == ["number 7", "named", "made"])
        #expect(realm.objects(ConvenienceInit.self).last?.keepers.count == 1)
        #expect(
            realm.objects(HeirInit.self).map(\.more) == ["heir", "own"] && realm.objects(HeirInit.self).map(\.name) == ["plain", "plain"])
        #expect(realm.objects(PartlyOverridden.self).map(\.more) == ["heir"])
    }

    @Test func `decoding initializers set keys after super init, and properties with values before it`() throws {
        let text = #"{"id": "a", "level": "high", "code": "c", "mark": null}"#
        let one = try JSONDecoder().decode(DecodedInit.self, from: Data(text.utf8))
        #expect(one.id == "a" && one.level == .high && one.count == 4 && one.code == "c" && one.mark == nil)
        let realm = try memoryRealm([DecodedInit.self])
        try realm.write { realm.add(one) }
        #expect(realm.object(ofType: DecodedInit.self, forPrimaryKey: "a")?.level == .high)
        #expect(realm.schema["DecodedInit"]?["count"]?.isIndexed ?? false && DecodedInit().id == "")
    }

    @Test func `generic code creates objects of a class with its own init`() {
        let type: Object.Type = HeirInit.self
        #expect((type.init() as? HeirInit)?.more == "heir" && (createdByName(type).last as? HeirInit)?.more == "heir")
        #expect(created(PlainInit.self).name == "plain" && createdByName(PartlyOverridden.self).map(\.more) == ["heir", "heir"])
        #expect(HeirInit.fresh().more == "heir" && OverriddenRequiredInit().another().name == "required")
        #expect(started(Started.self).name == "started" && started(StartedAgain.self).name == "again")
    }

    @Test func `a class without init of its own is named when an object of it is created`() async {
        let without = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try memoryRealm([WithoutInit.self])
        }
        #expect(
            said(without).contains("unimplemented initializer 'init()' for class 'FirnTests.WithoutInit'"), "\(said(without).prefix(300))")
        #expect(WithoutInit(number: 3).number == 3)
    }

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
        // Reading the schema of a class creates an object.
        _ = Order.sharedSchema()
        let first = Order(), second = Order()
        #expect(second.number == first.number + 1 && first.number == first.number)
        let realm = try memoryRealm([Order.self])
        try realm.write { realm.add(first) }
        let number = first.number
        #expect(realm.objects(Order.self).map(\.number) == [number])
    }
}
