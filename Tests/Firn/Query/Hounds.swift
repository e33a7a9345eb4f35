@testable import Firn
import FirnKit
import FirnQuery
import Foundation
import Testing

// Classes and objects that the tests of queries share.

class Trinket: Object {
    @Persisted var brand = ""
    @Persisted var price = 0.0
    @Persisted var made: Date?
}

class Hut: EmbeddedObject {
    @Persisted var place = ""
    @Persisted var size = 0
}

class Keeper: Object {
    @Persisted var name = ""
    @Persisted var age: Int?
    @Persisted var best: Hound?
    @Persisted(originProperty: "owner") var hounds: LinkingObjects<Hound>
}

class Hound: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var name = ""
    @Persisted var nick: String?
    @Persisted var age = 0
    @Persisted var optAge: Int?
    @Persisted var small: Int8 = 0
    @Persisted var weight = 0.0
    @Persisted var optWeight: Double?
    @Persisted var score: Float = 0
    @Persisted var good = false
    @Persisted var optGood: Bool?
    @Persisted var born = Date(timeIntervalSince1970: 0)
    @Persisted var optBorn: Date?
    @Persisted var data = Data()
    @Persisted var uuid = UUID()
    @Persisted var oid: ObjectId
    @Persisted var dec: Decimal128 = 0
    @Persisted var optDec: Decimal128?
    @Persisted var owner: Keeper?
    @Persisted var hut: Hut?
    @Persisted var toys: List<Trinket>
    @Persisted var friends: MutableSet<Hound>
    @Persisted var ints: List<Int>
    @Persisted var reals: List<Double>
    @Persisted var tags: MutableSet<String>
    @Persisted var scores: Map<String, Int>
    @Persisted var huts: List<Hut>
    /// A keyword of the query language, and a member of `Query`.
    @Persisted var any = 0
    @Persisted var count = 0
}

/// Random hounds in a new realm.
struct Kennel {
    let realm: Realm
    let seed: UInt64
    var hounds: Results<Hound> { realm.objects(Hound.self) }

    static let names = ["Rex", "rex", "Åsa", "asa", "Bo", "", "Bobby", "Rexina", "o*o", "Kongo"]
    static let brands = ["Kong", "kong", "Acme", ""]
    static let uuids = (0..<4).map { UUID(uuidString: "0000000\($0)-0000-0000-0000-000000000000")! }

    init(seed: UInt64, count: Int = 60) throws {
        self.seed = seed
        realm = try memoryRealm([Hound.self])
        var random = Random(seed: seed)
        func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
        func maybe<T>(_ make: () -> T) -> T? { number(0...3) == 0 ? nil : make() }
        func name() -> String { Kennel.names[number(0...Kennel.names.count - 1)] }
        func hut() -> Hut { Hut(value: ["place": name(), "size": number(0...4)] as [String: Any]) }
        let keepers = (0..<8).map { i in Keeper(value: ["name": name(), "age": maybe { number(0...6) }] as [String: Any?]) }
        let trinkets = (0..<12).map { _ in
            Trinket(
                value: [
                    "brand": Kennel.brands[number(0...3)], "price": Double(number(0...8)) / 2,
                    "made": maybe { Date(timeIntervalSince1970: Double(number(0...3))) },
                ] as [String: Any?])
        }
        var hounds: [Hound] = []
        for i in 0..<count {
            let hound = Hound()
            hound.id = i
            hound.name = name()
            hound.nick = maybe(name)
            hound.age = number(-2...7)
            hound.optAge = maybe { number(-1...6) }
            hound.small = Int8(number(-3...3))
            hound.weight = Double(number(-4...12)) / 4
            hound.optWeight = maybe { Double(number(-4...12)) / 4 }
            hound.score = Float(number(0...10)) / 4
            hound.good = number(0...1) == 0
            hound.optGood = maybe { number(0...1) == 0 }
            hound.born = Date(timeIntervalSince1970: Double(number(-3...3)) + 0.5)
            hound.optBorn = maybe { Date(timeIntervalSince1970: Double(number(-3...3))) }
            hound.data = Data((0..<number(0...3)).map { _ in UInt8(number(0...3)) })
            hound.uuid = Kennel.uuids[number(0...3)]
            hound.dec = Decimal128(number(-2...4)) / 2
            hound.optDec = maybe { Decimal128(number(0...4)) / 4 }
            hound.owner = maybe { keepers[number(0...7)] }
            hound.hut = maybe(hut)
            hound.any = number(0...2)
            hound.count = number(0...2)
            for _ in 0..<number(0...3) { hound.toys.append(trinkets[number(0...11)]) }
            for _ in 0..<number(0...4) { hound.ints.append(number(0...5)) }
            for _ in 0..<number(0...3) { hound.reals.append(Double(number(0...6)) / 2) }
            for _ in 0..<number(0...3) { hound.tags.insert(name()) }
            for key in ["a", "b", "c"] where number(0...1) == 0 { hound.scores[key] = number(0...4) }
            for _ in 0..<number(0...2) { hound.huts.append(hut()) }
            if !hounds.isEmpty { for _ in 0..<number(0...2) { hound.friends.insert(hounds[number(0...hounds.count - 1)]) } }
            hounds.append(hound)
        }
        for keeper in keepers { keeper.best = maybe { hounds[number(0...count - 1)] } }
        try realm.write {
            realm.add(keepers)
            realm.add(hounds)
        }
    }

    /// Checks that a text query and its typed form have the same tree, select the same as plain Swift, and round trip through the
    /// description.
    func holds(
        _ text: String, with arguments: [Any?] = [], file: String = #filePath, line: Int = #line, _ typed: (Query<Hound>) -> Query<Bool>,
        _ plain: (Hound) -> Bool
    ) {
        let location = SourceLocation(fileID: "FirnTests/\(file.split(separator: "/").last!)", filePath: file, line: line, column: 1)
        do {
            let tree = Query<Hound>.tree(of: typed)
            #expect(try Parser.query(text) == tree, "\(text) against \(tree)", sourceLocation: location)
            #expect(try Parser.query(tree.description) == tree, "\(tree) read back", sourceLocation: location)
            let expected = hounds.filter(plain).map(\.id)
            #expect(hounds.where(typed).map(\.id) == expected, "where \(tree), seed \(seed)", sourceLocation: location)
            #expect(try hounds.filtered(text, arguments).map(\.id) == expected, "\(text), seed \(seed)", sourceLocation: location)
            #expect(
                hounds.index(matching: typed) == (0..<hounds.count).first { plain(hounds[$0]) }, "first of \(tree), seed \(seed)",
                sourceLocation: location)
        } catch { Issue.record(error, "\(text)", sourceLocation: location) }
    }
}
