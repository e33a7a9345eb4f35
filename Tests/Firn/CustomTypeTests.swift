import Firn
import Foundation
import Testing

enum Mood: String, PersistableEnum { case calm, happy, sad }
private enum Rank: Int, PersistableEnum { case low = 1, high = 10 }
/// The cases that an older version of a program has.
private enum OldMood: String, PersistableEnum { case calm, happy }

struct Money: CustomPersistable, Hashable {
    typealias PersistedType = Int
    var cents: Int
    init(cents: Int) { self.cents = cents }
    init(persistedValue: Int) { cents = persistedValue }
    var persistableValue: Int { cents }
}

struct Even: FailableCustomPersistable, Hashable {
    typealias PersistedType = Int
    var number: Int
    init?(persistedValue: Int) {
        guard persistedValue % 2 == 0 else { return nil }
        number = persistedValue
    }
    var persistableValue: Int { number }
}

class StoredPoint: EmbeddedObject {
    @Persisted var x = 0.0
    @Persisted var y = 0.0
}

struct Point: CustomPersistable, Hashable {
    typealias PersistedType = StoredPoint
    var x, y: Double
    init(x: Double, y: Double) { (self.x, self.y) = (x, y) }
    init(persistedValue: StoredPoint) { self.init(x: persistedValue.x, y: persistedValue.y) }
    var persistableValue: StoredPoint { StoredPoint(value: ["x": x, "y": y]) }
}

class Wallet: Object {
    @Persisted(indexed: true) var mood: Mood
    @Persisted var last: Mood?
    @Persisted fileprivate var rank: Rank?
    @Persisted var moods: List<Mood>
    @Persisted var moodsByName: Map<String, Mood?>
    @Persisted var money = Money(cents: 5)
    @Persisted var debt: Money?
    @Persisted var coins: MutableSet<Money>
    @Persisted var even: Even?
    @Persisted var place = Point(x: 1, y: 2)
    @Persisted var second: Point?
    @Persisted var way: List<Point>
}

private class OldWallet: Object {
    override class func _realmObjectName() -> String? { "Wallet" }
    @Persisted(indexed: true) var mood: OldMood
    @Persisted var last: OldMood?
    @Persisted var rank: Int?
    @Persisted var moods: List<OldMood>
    @Persisted var moodsByName: Map<String, OldMood?>
    @Persisted var money: Int
    @Persisted var debt: Int?
    @Persisted var coins: MutableSet<Int>
    @Persisted var even: Int?
    @Persisted var place: StoredPoint?
    @Persisted var second: StoredPoint?
    @Persisted var way: List<StoredPoint>
}

/// A required custom type that the zero of its stored form is no value of.
private struct Site: FailableCustomPersistable, Hashable {
    typealias PersistedType = String
    var address: String
    init?(persistedValue: String) { if persistedValue.isEmpty { return nil } else { address = persistedValue } }
    var persistableValue: String { address }
}
private struct Late: FailableCustomPersistable, Hashable {
    typealias PersistedType = Date
    var date: Date
    init?(persistedValue: Date) { if persistedValue.timeIntervalSince1970 < 1e9 { return nil } else { date = persistedValue } }
    var persistableValue: Date { date }
}
private class Bookmark: Object {
    @Persisted var site: Site
    @Persisted var end = Late(persistedValue: Date(timeIntervalSince1970: 2e9))!
    @Persisted var next: Bookmark?
    convenience init(_ address: String) {
        self.init()
        site = Site(persistedValue: address)!
    }
}

@Suite struct CustomTypeTests {
    @Test func `key paths lead to required properties of failable custom types`() throws {
        let realm = try memoryRealm([Bookmark.self])
        try realm.write { for name in ["b", "a"] { realm.add(Bookmark(name)) } }
        let all = realm.objects(Bookmark.self)
        #expect(all.sorted(by: [SortDescriptor(keyPath: \Bookmark.site)]).map(\.site.address) == ["a", "b"])
        #expect(all.distinct(by: [\Bookmark.end]).count == 1 && all.where { $0.site == Site(persistedValue: "a")! }.count == 1)
        #expect(all.where { $0.next.end == Late(persistedValue: Date(timeIntervalSince1970: 2e9))! }.count == 0)
    }

    @Test func `enums and custom types are stored as their raw and persisted values`() throws {
        let realm = try memoryRealm([Wallet.self])
        let wallet = Wallet()
        #expect(wallet.mood == .calm && wallet.last == nil && wallet.money == Money(cents: 5) && wallet.place == Point(x: 1, y: 2))
        wallet.mood = .happy
        wallet.moods.append(objectsIn: [.sad, .calm])
        wallet.moodsByName["a"] = .sad
        wallet.moodsByName["b"] = .some(nil)
        wallet.coins.insert(Money(cents: 3))
        wallet.way.append(objectsIn: [Point(x: 3, y: 4), Point(x: 5, y: 6)])
        try realm.write { realm.add(wallet) }
        #expect(
            wallet.mood == .happy && Array(wallet.moods) == [.sad, .calm] && wallet.coins.contains(Money(cents: 3)) && wallet.rank == nil)
        #expect(wallet.moodsByName["a"] == .sad && wallet.moodsByName["b"] == .some(nil))
        #expect(wallet.place == Point(x: 1, y: 2) && wallet.second == nil && Array(wallet.way) == [Point(x: 3, y: 4), Point(x: 5, y: 6)])
        try realm.write {
            wallet.mood = .sad
            wallet.last = .happy
            wallet.rank = .high
            wallet.money = Money(cents: 70)
            wallet.debt = Money(cents: 7)
            wallet.place = Point(x: 0.5, y: 0.25)
            wallet.second = Point(x: 9, y: 9)
            wallet.way.remove(at: 0)
            wallet["last"] = "sad"
        }
        #expect(wallet.mood == .sad && wallet.last == .sad && wallet.rank == .high && wallet.money.cents == 70 && wallet.debt?.cents == 7)
        #expect(wallet.place == Point(x: 0.5, y: 0.25) && wallet.second?.x == 9 && wallet.way.first == Point(x: 5, y: 6))
        #expect(realm.dynamicObjects("StoredPoint").count == 3)
        #expect(realm.objects(Wallet.self).filter("mood == 'sad' && money > 60").count == 1)
        try realm.write {
            wallet.second = nil
            wallet.debt = nil
        }
        #expect(wallet.second == nil && wallet.debt == nil && realm.dynamicObjects("StoredPoint").count == 2)
        #expect(realm.schema["Wallet"]?["mood"]?.type == .string && realm.schema["Wallet"]?["place"]?.objectClassName == "StoredPoint")
    }

    @Test func `a custom type that is stored as an embedded object is compared by all of its properties`() throws {
        let realm = try memoryRealm([Wallet.self])
        try realm.write {
            for i in 0..<4 {
                let wallet = Wallet()
                wallet.place = Point(x: Double(i), y: Double(i % 2))
                wallet.second = i == 0 ? nil : Point(x: 0, y: Double(i))
                realm.add(wallet)
            }
        }
        let wallets = realm.objects(Wallet.self)
        #expect(wallets.where { $0.place == Point(x: 2, y: 0) }.count == 1 && wallets.where { $0.place == Point(x: 2, y: 1) }.isEmpty)
        #expect(wallets.where { $0.place != Point(x: 2, y: 0) }.count == 3)
        #expect(wallets.where { $0.second == Point(x: 0, y: 3) }.count == 1 && wallets.where { $0.second == nil }.count == 1)
        #expect(wallets.where { $0.second != Point(x: 0, y: 3) }.count == 3, "null differs from a value")
    }

    @Test func `raw values that an enum does not have are nil, or the first case`() throws {
        let realm = try memoryRealm([Wallet.self])
        try realm.write {
            let wallet = realm.create(
                Wallet.self, value: ["mood": "sad", "last": Mood.sad, "moods": ["happy", "sad"], "even": 4] as [String: Any])
            #expect(wallet.even?.number == 4)
            realm.dynamicObjects("Wallet")[0]["even"] = 5
            #expect(wallet.even == nil)
        }
        let old = realm.objects(OldWallet.self)[0]
        #expect(old.mood == .calm && old.last == nil && Array(old.moods) == [.happy, .calm] && old.even == 5)
        #expect(realm.objects(Wallet.self)[0].mood == .sad && realm.damage == nil)
    }

    @Test func `properties of any type can have values, objects, lists and dictionaries`() throws {
        let realm = try memoryRealm([Anything.self, Dog.self])
        let dog = Dog(value: ["name": "Rex"])
        let values: [AnyRealmValue] = [
            .none, .int(3), .bool(true), .float(1.5), .double(2.5), .string("s"), .data(Data([1])), .date(Date(timeIntervalSince1970: 5)),
            .objectId(.generate()), .decimal128(12.5), .uuid(UUID()), .object(dog),
            .fromArray([1, "two", .object(dog), .fromArray([nil])]),
            .fromDictionary(["a": 1, "b": .fromDictionary(["c": .object(dog)])]),
        ]
        try realm.write {
            for value in values {
                realm.create(Anything.self, value: ["any": value, "many": [value, value], "named": ["x": value]] as [String: Any])
            }
        }
        #expect(realm.objects(Dog.self).count == 1 && dog.realm == realm)
        for (one, value) in zip(realm.objects(Anything.self), values) {
            #expect(one.any == value && Array(one.many) == [value, value] && one.named["x"] == value, "\(value)")
        }
        let stored = realm.objects(Anything.self)
        #expect(stored[11].any.object(Dog.self)?.name == "Rex" && stored[12].any.listValue?.count == 4)
        #expect(stored[13].any.dictionaryValue?["b"]?.dictionaryValue?["c"]?.object(Dog.self) == dog)
        #expect(stored.freeze()[11].any.object(Dog.self)?.isFrozen == true)
        try realm.write {
            stored[0].any = .object(dog)
            stored[1]["any"] = ["k": [1, 2]]
            #expect(stored[0].any.object(Dog.self) == dog)
            realm.delete(dog)
        }
        #expect(stored[0].any == .none && stored[11].any == .none && stored[12].any.listValue?[2] == AnyRealmValue.none)
        #expect(stored[1].any == .fromDictionary(["k": .fromArray([1, 2])]))
        #expect(realm.damage == nil)
    }

    @Test func `lists and dictionaries of any values round trip through JSON`() throws {
        let value = AnyRealmValue.fromDictionary(["a": .fromArray([1, 2.5, "x", nil]), "b": .uuid(UUID())])
        #expect(try JSONDecoder().decode(AnyRealmValue.self, from: JSONEncoder().encode(value)) == value)
        #expect(AnyRealmValue.string("z") < .fromArray([]) && AnyRealmValue.fromArray([]) < .fromDictionary([:]))
    }

    @Test func `primary keys and indexes can be declared by class functions too`() throws {
        let realm = try memoryRealm([Legacy.self])
        #expect(realm.schema["Legacy"]?.primaryKeyProperty?.name == "code" && Legacy().objectSchema["other"]?.isIndexed == true)
        try realm.write { realm.create(Legacy.self, value: ["code": "a"]) }
        #expect(realm.object(ofType: Legacy.self, forPrimaryKey: "a") != nil)
    }
}

class Anything: Object {
    @Persisted var any: AnyRealmValue
    @Persisted var many: List<AnyRealmValue>
    @Persisted var named: Map<String, AnyRealmValue>
}

class Legacy: Object {
    @Persisted var code = ""
    @Persisted var other = 0
    override class func primaryKey() -> String? { "code" }
    override class func indexedProperties() -> [String] { ["other"] }
}
