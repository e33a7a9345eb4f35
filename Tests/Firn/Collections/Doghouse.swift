import Firn
import Foundation
import Testing

/// A dog with a property of every type that aggregates support.
class Pup: Object {
    @Persisted var name = ""
    @Persisted var age = 0
    @Persisted var teeth: Int?
    @Persisted var small: Int8 = 0
    @Persisted var weight = 0.0
    @Persisted var height: Float = 0
    @Persisted var born = Date(timeIntervalSince1970: 0)
    @Persisted var price: Decimal128 = 0
    @Persisted var isGood = true
    @Persisted var kennel: Doghouse?
    @Persisted var friends: MutableSet<Pup>

    convenience init(_ name: String, age: Int, teeth: Int? = nil) {
        self.init()
        self.name = name
        self.age = age
        self.teeth = teeth
        weight = Double(age) / 2
        height = Float(age) / 4
        small = Int8(truncatingIfNeeded: age)
        born = Date(timeIntervalSince1970: Double(age) * 1000)
        price = Decimal128(age) + 0.5
    }
}

class Doghouse: Object {
    @Persisted var name = ""
    @Persisted var list: List<Pup>
    @Persisted var set: MutableSet<Pup>
    @Persisted var map: Map<String, Pup?>
    @Persisted(originProperty: "kennel") var pups: LinkingObjects<Pup>
    @Persisted var rooms: List<Room>
}

class Room: EmbeddedObject {
    @Persisted var number = 0
    convenience init(_ number: Int) {
        self.init()
        self.number = number
    }
}

/// An object that encodes itself.
class Lamb: Object, Encodable {
    @Persisted var name = ""

    enum CodingKeys: CodingKey { case name }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(name, forKey: .name)
    }
}

class Flock: Object {
    @Persisted var lambs: List<Lamb>
    @Persisted var set: MutableSet<Lamb>
}

/// Lists, sets and maps of primitive values.
class Values: Object {
    @Persisted var ints: List<Int>
    @Persisted var optInts: List<Int?>
    @Persisted var doubles: List<Double>
    @Persisted var strings: List<String>
    @Persisted var dates: List<Date>
    @Persisted var bools: List<Bool>
    @Persisted var data: List<Data>
    @Persisted var decimals: List<Decimal128>
    @Persisted var uuids: List<UUID>
    @Persisted var intSet: MutableSet<Int>
    @Persisted var optIntSet: MutableSet<Int?>
    @Persisted var boolSet: MutableSet<Bool>
    @Persisted var doubleSet: MutableSet<Double>
    @Persisted var stringSet: MutableSet<String>
    @Persisted var optStringSet: MutableSet<String?>
    @Persisted var dateSet: MutableSet<Date>
    @Persisted var uuidSet: MutableSet<UUID>
    @Persisted var scores: Map<String, Int>
    @Persisted var names: Map<String, String?>
}

/// The kind of a collection, and its version.
struct Conformer: Sendable, CustomTestStringConvertible {
    enum Kind: String, CaseIterable { case results, filtered, sorted, list, set, linking }
    enum Version: String, CaseIterable { case live, frozen, unmanaged }
    var kind: Kind
    var version: Version

    var testDescription: String { "\(version.rawValue) \(kind.rawValue)" }

    static let managed = Version.allCases.filter { $0 != .unmanaged }.flatMap { version in
        Kind.allCases.map { Conformer(kind: $0, version: version) }
    }
    static let live = managed.filter { $0.version == .live }
    static let frozen = managed.filter { $0.version == .frozen }
    static let unmanaged = [Conformer(kind: .list, version: .unmanaged), Conformer(kind: .set, version: .unmanaged)]
    static let all = managed + unmanaged

    /// Returns the pups of a kennel in a new realm. The kennel keeps the realm.
    func collection(_ pups: [Pup]) throws -> AnyRealmCollection<Pup> {
        let kennel = Doghouse()
        kennel.name = "of all"
        kennel.list.append(objectsIn: pups)
        kennel.set.insert(objectsIn: pups)
        if version == .unmanaged { return kind == .list ? AnyRealmCollection(kennel.list) : AnyRealmCollection(kennel.set) }
        for pup in pups { pup.kennel = kennel }
        let realm = try memoryRealm()
        try realm.write { realm.add(kennel) }
        // The realm can have others, which the conditions of these collections exclude.
        let live: AnyRealmCollection<Pup> =
            switch kind {
            case .results: AnyRealmCollection(realm.objects(Pup.self))
            case .filtered: AnyRealmCollection(realm.objects(Pup.self).filter("age >= 0"))
            case .sorted: AnyRealmCollection(realm.objects(Pup.self).sorted(byKeyPath: "isGood"))
            case .list: AnyRealmCollection(kennel.list)
            case .set: AnyRealmCollection(kennel.set)
            case .linking: AnyRealmCollection(kennel.pups)
            }
        return version == .frozen ? live.freeze() : live
    }
}

/// Rex 3, Fido 7 (no teeth), Bo 1, Ada 7.
func fourPups() -> [Pup] {
    [Pup("Rex", age: 3, teeth: 20), Pup("Fido", age: 7), Pup("Bo", age: 1, teeth: 4), Pup("Ada", age: 7, teeth: 30)]
}
