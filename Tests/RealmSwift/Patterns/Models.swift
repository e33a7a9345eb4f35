import Foundation
import RealmSwift

// Models in the style of published apps.

enum Mood: String, PersistableEnum { case calm, wild }

enum Rank: Int, PersistableEnum, Comparable {
    case low, middle, high
    static func < (a: Rank, b: Rank) -> Bool { a.rawValue < b.rawValue }
}

struct Email: FailableCustomPersistable, Hashable {
    typealias PersistedType = String
    let text: String
    init?(persistedValue: String) {
        guard persistedValue.contains("@") else { return nil }
        text = persistedValue
    }
    var persistableValue: String { text }
}

struct Tint: CustomPersistable, Equatable {
    typealias PersistedType = StoredTint
    var red = 0.0
    var green = 0.0
    init(red: Double, green: Double) { (self.red, self.green) = (red, green) }
    init(persistedValue: StoredTint) { self.init(red: persistedValue.red, green: persistedValue.green) }
    var persistableValue: StoredTint { StoredTint(value: [red, green]) }
}

class StoredTint: EmbeddedObject {
    @Persisted var red = 0.0
    @Persisted var green = 0.0
}

extension URL: FailableCustomPersistable {
    public typealias PersistedType = String
    public init?(persistedValue: String) { self.init(string: persistedValue) }
    public var persistableValue: String { absoluteString }
}

class Country: Object {
    @Persisted(primaryKey: true) var code = ""
    @Persisted var name: String?
}

class Home: EmbeddedObject {
    @Persisted var street: String?
    @Persisted var city = ""
    @Persisted var country: Country?
}

class Contact: Object, ObjectKeyIdentifiable, Codable {
    @Persisted(primaryKey: true) var _id: UUID
    @Persisted(indexed: true) var name: String
    @Persisted var age: Int
    @Persisted var email: String?
    @Persisted var created = Date()
    @Persisted var score: Double?
    @Persisted var small: Int8 = 1
    @Persisted var tags: List<String>
    @Persisted var counts: List<Int16>
    @Persisted var meta: Map<String, String?>

    convenience init(name: String, age: Int) {
        self.init()
        self.name = name
        self.age = age
    }
}

class Site: Object {
    @Persisted(primaryKey: true) var id = UUID().uuidString
    @Persisted var mood: Mood = .calm
    @Persisted var nextMood: Mood?
    @Persisted var rank = Rank.low
    @Persisted var moods: List<Mood>
    @Persisted var moodSet: MutableSet<Mood>
    @Persisted var moodMap: Map<String, Mood>
    @Persisted var mixed: AnyRealmValue
    @Persisted var mixedList: List<AnyRealmValue>
    @Persisted var price: Decimal128?
    @Persisted var data: Data
    @Persisted var parent: Site?
    @Persisted(originProperty: "parent") var children: LinkingObjects<Site>
    @Persisted var home: Home?
    @Persisted var homes: List<Home>
    @Persisted var homesByName: Map<String, Home?>
    @Persisted var people: List<Contact>
    @Persisted var peopleSet: MutableSet<Contact>
    @Persisted var peopleByName: Map<String, Contact?>
    @Persisted var email: Email?
    @Persisted var emails: List<Email>
    @Persisted var tint: Tint
    @Persisted var tints: List<Tint>
    @Persisted var page: URL?
    @Persisted var pages: List<URL>
    @Persisted var numbers: List<Int?>
    @Persisted var dates: List<Date>
}

class SiteCard: Projection<Site> {
    @Projected(\Site.mood) var mood
    @Projected(\Site.home?.city) var city
    @Projected(\Site.people.projectTo.name) var names: ProjectedCollection<String>
    @Projected(\Site.children) var children: LinkingObjects<Site>
}

extension Results {
    func toArray() -> [Element] { Array(self) }
}

extension Realm {
    func safeWrite(_ block: () throws -> Void) throws {
        if isInWriteTransaction { try block() } else { try write(block) }
    }
}

/// A store for any class, as many apps have one.
struct Repository<Entity: Object> {
    let realm: Realm
    func all() -> Results<Entity> { realm.objects(Entity.self) }
    func find(_ key: Any) -> Entity? { realm.object(ofType: Entity.self, forPrimaryKey: key) }
    func search(_ isIncluded: (Query<Entity>) -> Query<Bool>) -> Results<Entity> { all().where(isIncluded) }
    func save(_ entity: Entity) throws {
        try realm.safeWrite { realm.add(entity, update: Entity.sharedSchema()?.primaryKeyProperty == nil ? .error : .modified) }
    }
    func sorted<V: _HasPersistedType>(by path: KeyPath<Entity, V>) -> Results<Entity> where V.PersistedType: SortableType {
        all().sorted(by: path)
    }
    func make() -> Entity { Entity() }
}

/// A realm in memory with a site that has values in all its properties, and a child of it.
func filledSite() throws -> Site {
    let realm = try Realm(configuration: Realm.Configuration(inMemoryIdentifier: UUID().uuidString))
    let site = Site()
    site.people.append(objectsIn: [Contact(name: "Ada", age: 30), Contact(name: "Bob", age: 20)])
    try realm.write { realm.add(site) }
    try realm.write {
        site.nextMood = .wild
        site.moods.append(objectsIn: [.calm, .wild])
        site.moodSet.insert(.wild)
        site.moodMap["a"] = .calm
        site.mixed = .object(site)
        site.mixedList.append(.int(1))
        site.price = 1.5
        site.data = Data([1])
        site.home = Home(value: ["city": "Bern", "country": ["code": "CH", "name": "Schweiz"]] as [String: Any])
        site.homes.append(Home(value: ["city": "Rom"]))
        site.homesByName["h"] = Home(value: ["city": "Oslo"])
        site.peopleSet.insert(site.people[0])
        site.peopleByName["a"] = site.people[0]
        site.peopleByName["none"] = .some(nil)
        site.email = Email(persistedValue: "c@d")
        site.emails.append(Email(persistedValue: "a@b")!)
        site.tint = Tint(red: 1, green: 2)
        site.tints.append(Tint(red: 3, green: 4))
        site.page = URL(string: "http://a")
        site.pages.append(URL(string: "http://b")!)
        site.numbers.append(objectsIn: [1, nil, 3])
        site.dates.append(Date(timeIntervalSince1970: 5))
        realm.create(Site.self).parent = site
    }
    return site
}
