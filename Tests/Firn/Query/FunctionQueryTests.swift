@testable import Firn
import FirnKit
import FirnQuery
import Foundation
import Testing

class GlobePoint: EmbeddedObject {
    @Persisted var type = "Point"
    @Persisted var coordinates: List<Double>

    convenience init(_ latitude: Double, _ longitude: Double) {
        self.init()
        coordinates.append(objectsIn: [longitude, latitude])
    }
}

class Inn: Object {
    @Persisted(primaryKey: true) var name: String
    @Persisted var about = ""
    @Persisted var place: GlobePoint?
    @Persisted var branches: List<GlobePoint>
    @Persisted var any: AnyRealmValue
    @Persisted var prices: Map<String, Double>
    @Persisted var rooms: Map<String, AnyRealmValue>
    @Persisted var next: Inn?
}

/// Full-text search, shapes, values of any type, maps and subqueries: as text, typed, and on results of all kinds.
@Suite struct FunctionQueryTests {
    private func inns() throws -> Results<Inn> {
        let realm = try memoryRealm([Inn.self])
        try realm.write {
            for (name, about, place, any) in [
                ("Bear", "Old inn by the river", (46.95, 7.45), .int(5)), ("Swan", "River views, old and new", (41.9, 12.5), .string("5")),
                ("Moon", "Snow & ice", nil, .double(7.5)), ("Star", "", (-18.14, 178.44), AnyRealmValue.none),
            ] as [(String, String, (Double, Double)?, AnyRealmValue)] {
                let inn = Inn(value: ["name": name, "about": about])
                inn.place = place.map { GlobePoint($0.0, $0.1) }
                inn.any = any
                if name == "Swan" { inn.branches.append(GlobePoint(46.9, 7.4)) }
                inn.prices["single"] = Double(name.utf8.first!)
                inn.prices["double"] = 90
                realm.add(inn)
            }
            let all = realm.objects(Inn.self)
            all[0].next = all[1]
            all[3].any = .fromDictionary(["k": .int(3), "list": .fromArray([.int(1), .string("x")])])
        }
        return realm.objects(Inn.self)
    }

    private func holds(
        _ inns: Results<Inn>, _ text: String, _ arguments: [Any?], _ expected: String, location: SourceLocation = #_sourceLocation,
        _ typed: (Query<Inn>) -> Query<Bool>
    ) {
        func names(_ found: Results<Inn>) -> String { found.map { String($0.name.prefix(1)) }.joined() }
        do {
            let (tree, given) = inns.source.typed(typed)
            if arguments.isEmpty, given.isEmpty {
                #expect(try Parser.query(text) == tree, "\(text) against \(tree)", sourceLocation: location)
            }
            #expect(try Parser.query(tree.description) == tree, "\(tree)", sourceLocation: location)
            #expect(names(inns.where(typed)) == expected, "\(tree)", sourceLocation: location)
            #expect(try names(inns.filtered(text, arguments)) == expected, "\(text)", sourceLocation: location)
            #expect(names(inns.freeze().where(typed)) == expected, "frozen \(tree)", sourceLocation: location)
        } catch { Issue.record(error, sourceLocation: location) }
    }

    @Test func `words can be searched by text and typed queries`() throws {
        let inns = try inns()
        holds(inns, "about TEXT 'river old'", [], "BS") { $0.about.fullTextSearch("river old") }
        holds(inns, "about TEXT 'riv* -new'", [], "B") { $0.about.fullTextSearch("riv* -new") }
        #expect(throws: Realm.Error.self) { try inns.filtered("about TEXT 'a-b'") }
    }

    @Test func `shapes can be arguments, text and typed conditions`() throws {
        let inns = try inns()
        let box = GeoBox(bottomLeft: (40, 5), topRight: (50, 15))!, circle = GeoCircle(center: (46.95, 7.45), radius: .kilometers(20)!)!
        let fiji = GeoPolygon(outerRing: [(-30, 170), (-30, -170), (0, -170), (0, 170), (-30, 170)])!
        holds(inns, "place GEOWITHIN %@", [box], "BS") { $0.place.geoWithin(box) }
        holds(inns, "place GEOWITHIN geoBox([5.0, 40.0], [15.0, 50.0])", [], "BS") { $0.place.geoWithin(box) }
        holds(inns, "place GEOWITHIN %@", [circle], "B") { $0.place.geoWithin(circle) }
        holds(inns, "branches GEOWITHIN %@", [circle], "S") { $0.branches.geoWithin(circle) }
        holds(inns, "place GEOWITHIN %@", [fiji], "S") { $0.place.geoWithin(fiji) && $0.name == "Star" }
        #expect(inns.where { $0.place.geoWithin(fiji) }.map(\.name) == ["Star"])
        #expect(
            GeoPoint(latitude: 91, longitude: 0) == nil && GeoCircle(center: (0, 0), radius: -1.0) == nil
                && GeoCircle(center: (0, 0), radiusInRadians: -1) == nil
                && GeoPolygon(outerRing: [(0, 0), (1, 1), (0, 0)]) == nil)
        #expect(
            abs(Distance.miles(1)!.asKilometers() - 1.609344) < 1e-9 && abs(Distance.degrees(180)!.asRadians() - .pi) < 1e-12
                && Distance.kilometers(-1) == nil)
    }

    @Test func `results of a query with a shape follow changes of their objects`() throws {
        let inns = try inns(), circle = GeoCircle(center: (0, 0), radius: 0.1)!
        let found = inns.where { $0.place.geoWithin(circle) }
        #expect(found.count == 0)
        try inns.realm!.write {
            inns[0].place!.coordinates[0] = 1
            inns[0].place!.coordinates[1] = 1
        }
        #expect(found.map(\.name) == ["Bear"])
    }

    @Test func `values of any type compare like numbers and text, and queries can use their type and elements`() throws {
        let inns = try inns()
        holds(inns, "`any` == 5", [], "B") { $0.any == 5 }
        holds(inns, "`any` > 4", [], "BM") { $0.any > 4 }
        holds(inns, "`any` BETWEEN {5, 8}", [], "BM") { $0.any.contains(5...8) }
        holds(inns, "`any`.@type == 'string'", [], "S") { $0.any.isOf(type: .string) }
        holds(inns, "`any`.@type == 'object'", [], "S") { $0.any.isOf(type: .object) }
        holds(inns, "`any`['k'] == 3", [], "S") { $0.any["k"] == 3 }
        holds(inns, "`any`['list'][1] == 'x'", [], "S") { $0.any["list"][1] == "x" }
        holds(inns, "`any`['list'][*] == 1", [], "S") { $0.any["list"].any == 1 }
        #expect(
            inns.where { $0.any.isOf(type: .string) }.map(\.name) == ["Swan"] && inns.where { $0.any["k"] == 3 }.map(\.name) == ["Star"])
        #expect(
            inns.where { $0.any == .fromDictionary(["k": .int(3), "list": .fromArray([.int(1), .string("x")])]) }.map(\.name) == ["Star"])
    }

    @Test func `maps can be queried by their values`() throws {
        let map = try inns()[0].prices
        #expect(map.where { $0 > 80 }.map { $0 } == [90] && map.filter("self > 80").map { $0 } == [90])
        #expect(try map.filtered("self < %@", [70]).map { $0 } == [66])
        #expect(throws: Realm.Error.self) { try map.filtered("self == 'x'") }
    }

    @Test(arguments: Seed.some(1, 2, 3)) func `typed subqueries count elements that match several conditions`(seed: Seed) throws {
        let kennel = try Kennel(seed: seed.number)
        kennel.holds(
            "SUBQUERY(toys, $x, $x.price > 1.0 && $x.brand == 'Kong').@count > 0",
            { ($0.toys.price > 1 && $0.toys.brand == "Kong").count > 0 }
        ) {
            $0.toys.filter { $0.price > 1 && $0.brand == "Kong" }.count > 0
        }
        kennel.holds("SUBQUERY(huts, $x, !($x.size == 2)).@count == 1", { (!($0.huts.size == 2)).count == 1 }) {
            $0.huts.filter { $0.size != 2 }.count == 1
        }
        kennel.holds(
            "SUBQUERY(friends, $x1, SUBQUERY($x1.toys, $x, $x.price > 1.0 && $x.brand == 'Kong').@count > 0).@count > 0 && age > 1",
            { (($0.friends.toys.price > 1 && $0.friends.toys.brand == "Kong").count > 0).count > 0 && $0.age > 1 }
        ) {
            $0.friends.contains { $0.toys.contains { $0.price > 1 && $0.brand == "Kong" } } && $0.age > 1
        }
        let keeper = kennel.realm.objects(Keeper.self)[1]
        kennel.holds("SUBQUERY(friends, $x, $x.owner == $0).@count > 0", with: [keeper], { ($0.friends.owner == keeper).count > 0 }) {
            $0.friends.contains { $0.owner == keeper }
        }
        let limited = try kennel.hounds.filtered("age > 0 SORT(age DESC) LIMIT(9)")
        #expect(limited.filter("weight > 0").map(\.id) == limited.filter { $0.weight > 0 }.map(\.id))
        #expect(
            limited.where { ($0.toys.price > 1).count > 0 }.sorted(byKeyPath: "name").distinct(by: ["name"]).count
                == Set(limited.filter { $0.toys.contains { $0.price > 1 } }.map(\.name)).count)
    }
}
