import FirnKit
import FirnOracle
import FirnQuery
import FirnTable
import Foundation
import Testing

@testable import Firn

/// Returns random values of a kind in their Swift form.
func some<V>(_ kind: ScalarKind, _ type: V.Type = V.self) -> (inout Random) -> V {
    { random in swiftValue(of: RandomWorld.scalar(kind, &random)) as! V }
}

func maybe<V>(_ kind: ScalarKind, _ type: V.Type = V.self) -> (inout Random) -> V? {
    { random in random.below(6) == 0 ? nil : some(kind, V.self)(&random) }
}

func anything(_ random: inout Random) -> AnyRealmValue {
    while true { if let value = AnyRealmValue(RandomWorld.scalar(.any, &random)) { return value } }
}

/// `where` with random combinations of typed conditions over properties of every kind.
@Suite struct WhereOracleTests {
    private static func oaks(_ grove: Grove, seed: UInt64) -> PieceMaker<Oak> {
        var maker = PieceMaker<Oak>(seed: seed)
        values(&maker)
        collections(&maker)
        links(&maker, grove)
        functions(&maker)
        return maker
    }

    private static func values(_ maker: inout PieceMaker<Oak>) {
        typealias Side = TypedSide
        maker.order(Side("bool") { $0.bool }, some(.bool))
        maker.order(Side("optBool") { $0.optBool }, maybe(.bool))
        maker.order(Side("int") { $0.int }, some(.int))
        maker.range(Side("int") { $0.int }, some(.int))
        maker.arithmetic(Side("int") { $0.int }, some(.int))
        maker.order(Side("optInt") { $0.optInt }, maybe(.int))
        maker.null(Side("optInt") { $0.optInt })
        maker.arithmetic(Side("optInt") { $0.optInt }, maybe(.int))
        maker.order(Side("float") { $0.float }, some(.float))
        maker.range(Side("float") { $0.float }, some(.float))
        maker.order(Side("optFloat") { $0.optFloat }, maybe(.float))
        maker.order(Side("double") { $0.double }, some(.double))
        maker.range(Side("double") { $0.double }, some(.double))
        maker.arithmetic(Side("double") { $0.double }, some(.double))
        maker.order(Side("optDouble") { $0.optDouble }, maybe(.double))
        maker.null(Side("optDouble") { $0.optDouble })
        maker.order(Side("string") { $0.string }, some(.string))
        maker.range(Side("string") { $0.string }, some(.string))
        maker.text(Side("string") { $0.string }, some(.string))
        maker.order(Side("optString") { $0.optString }, maybe(.string))
        maker.text(Side("optString") { $0.optString }, maybe(.string))
        maker.null(Side("optString") { $0.optString })
        maker.order(Side("data") { $0.data }, some(.data))
        maker.text(Side("data") { $0.data }, folds: false, some(.data))
        maker.order(Side("optData") { $0.optData }, maybe(.data))
        maker.order(Side("date") { $0.date }, some(.date))
        maker.range(Side("date") { $0.date }, some(.date))
        maker.order(Side("optDate") { $0.optDate }, maybe(.date))
        maker.order(Side("dec") { $0.dec }, some(.decimal))
        maker.order(Side("optDec") { $0.optDec }, maybe(.decimal))
        maker.order(Side("oid") { $0.oid }, some(.objectID))
        maker.order(Side("optOid") { $0.optOid }, maybe(.objectID))
        maker.order(Side("uuid") { $0.uuid }, some(.uuid))
        maker.order(Side("optUuid") { $0.optUuid }, maybe(.uuid))
        maker.order(Side("`any`") { $0.any }, anything)
        maker.text(Side("`any`") { $0.any }, folds: false, anything)
        maker.order(Side("`any`['k']") { $0.any["k"] }, anything)
        maker.order(Side("`any`[0]") { $0.any[0] }, anything)
        maker.equality(Side("`any`[*]") { $0.any.any }, anything)
        maker.pair(Side("int") { $0.int }, Side("double") { $0.double })
        maker.pair(Side("optFloat") { $0.optFloat }, Side("dec") { $0.dec })
        maker.pair(Side("string") { $0.string }, Side("optString") { $0.optString })
        maker.pair(Side("date") { $0.date }, Side("optDate") { $0.optDate })
        maker.pair(Side("int") { $0.int }, Side("optInt") { $0.optInt })
    }

    private static func collections(_ maker: inout PieceMaker<Oak>) {
        typealias Side = TypedSide
        maker.collection(Side("ints") { $0.ints }, some(.int))
        maker.positions(Side("ints") { $0.ints }, some(.int))
        maker.collection(Side("optInts") { $0.optInts }, maybe(.int))
        maker.positions(Side("optInts") { $0.optInts }, maybe(.int))
        maker.collection(Side("doubles") { $0.doubles }, some(.double))
        maker.figures(Side("doubles") { $0.doubles }, some(.double))
        maker.collection(Side("strings") { $0.strings }, some(.string))
        maker.positions(Side("strings") { $0.strings }, some(.string))
        maker.collection(Side("words") { $0.words }, some(.string))
        maker.collection(Side("dates") { $0.dates }, some(.date))
        maker.collection(Side("datas") { $0.datas }, some(.data))
        maker.collection(Side("decs") { $0.decs }, some(.decimal))
        maker.collection(Side("bools") { $0.bools }, some(.bool))
        maker.collection(Side("uuids") { $0.uuids }, some(.uuid))
        maker.collection(Side("anys") { $0.anys }, anything)
        maker.map(Side("scores") { $0.scores }, some(.int))
        maker.map(Side("names") { $0.names }, maybe(.string))
        maker.say("int IN ints") { $0.int.in($0.ints) }
        maker.say("int IN ints") { $0.ints.contains($0.int) }
        maker.say("ints.@min >= 0 && ints.@max <= 5") { $0.ints.contains(0...5) }
        maker.say("ints.@min >= 0 && ints.@max < 5") { $0.ints.contains(0..<5) }
        maker.say("doubles.@min >= 0.0 && doubles.@max <= 5.0") { $0.doubles.contains(0...5) }
    }

    private static func links(_ maker: inout PieceMaker<Oak>, _ grove: Grove) {
        typealias Side = TypedSide
        maker.null(Side("twig") { $0.twig })
        maker.null(Side("next") { $0.next })
        maker.null(Side("knot") { $0.knot })
        maker.order(Side("twig.name") { $0.twig.name }, maybe(.string))
        maker.text(Side("twig.name") { $0.twig.name }, maybe(.string))
        maker.order(Side("twig.length") { $0.twig.length }, some(.int))
        maker.order(Side("next.next.int") { $0.next.next.int }, some(.int))
        maker.order(Side("next.twig.born") { $0.next.twig.born }, some(.date))
        maker.collection(Side("next.ints") { $0.next.ints }, some(.int))
        maker.order(Side("ANY twig.tags") { $0.twig.tags.any }, some(.string))
        maker.order(Side("twigs.size") { $0.twigs.size }, maybe(.double))
        maker.order(Side("ALL twigs.size") { $0.twigs.all.size }, maybe(.double))
        maker.order(Side("NONE twigs.name") { $0.twigs.none.name }, maybe(.string))
        maker.text(Side("ANY grove.string") { $0.grove.any.string }, some(.string))
        maker.order(Side("grove.twig.length") { $0.grove.twig.length }, some(.int))
        maker.order(Side("twigs.@max.size") { $0.twigs.size.max }, maybe(.double))
        maker.order(Side("twigs.@min.length") { $0.twigs.length.min }, some(.int))
        maker.order(Side("twigs.@sum.size") { $0.twigs.size.sum }, maybe(.double))
        maker.order(Side("twigs.@avg.size") { $0.twigs.size.avg }, maybe(.double))
        maker.order(Side("twigs.@max.born") { $0.twigs.born.max }, some(.date))
        maker.order(Side("twigs.@count") { $0.twigs.count }, some(.int))
        maker.order(Side("grove.@count") { $0.grove.count }, some(.int))
        maker.order(Side("before.int") { $0.before.int }, some(.int))
        maker.order(Side("ALL before.double") { $0.before.all.double }, some(.double))
        maker.order(Side("before.@count") { $0.before.count }, some(.int))
        maker.order(Side("twig.oaks.string") { $0.twig.oaks.string }, some(.string))
        maker.order(Side("@links.Oak.grove.int") { $0.linking(\Oak.grove).int }, some(.int))
        maker.order(Side("@links.Twig.up.name") { $0.linking(\Twig.up).name }, maybe(.string))
        maker.order(Side("twig.@links.Oak.twig.@count") { $0.twig.linking(\Oak.twig).count }, some(.int))
        maker.order(Side("@links.@count") { $0.linkCount }, some(.int))
        maker.order(Side("knot.mark") { $0.knot.mark }, maybe(.int))
        maker.text(Side("knot.note") { $0.knot.note }, some(.string))
        maker.order(Side("knots.note") { $0.knots.note }, some(.string))
        maker.order(Side("ALL knots.mark") { $0.knots.all.mark }, maybe(.int))
        maker.order(Side("knots.sizes") { $0.knots.sizes.any }, some(.double))
        maker.order(Side("byName['k'].size") { $0.byName["k"].size }, maybe(.double))
        maker.order(Side("byName.@values.length") { $0.byName.values.length }, some(.int))
        maker.order(Side("knotsByName['z'].note") { $0.knotsByName["z"].note }, some(.string))
        for (number, object) in grove.arguments.prefix(4).enumerated() {
            guard let oak = object as? Oak else { continue }
            maker.say("next == $\(number)") { $0.next == oak }
            maker.say("next.next != $\(number)") { $0.next.next != oak }
            maker.say("$\(number) IN grove") { $0.grove.contains(oak) }
        }
    }

    private static func functions(_ maker: inout PieceMaker<Oak>) {
        maker.say("bool == true") { $0.bool }
        maker.say("!(bool == true)") { !$0.bool }
        maker.say("bool == false") { $0.bool == false }
        maker.say("int > 1.5") { $0.int > 1.5 }
        maker.say("float <= 0.5") { $0.float <= 0.5 }
        maker.say("int + double > 1.0") { $0.int + $0.double > 1.0 }
        maker.say("int * 2 - 1 > optInt") { $0.int * 2 - 1 > $0.optInt }
        maker.say("string.@count > 1") { $0.string.byteCount > 1 }
        maker.say("optInt IN {1, 2, 5}") { $0.optInt.in([1, 2, 5]) }
        maker.say("string TEXT 'a -ice'") { $0.string.fullTextSearch("a -ice") }
        maker.say("optString TEXT 'sn* A'") { $0.optString.fullTextSearch("sn* A") }
        maker.say("`any`.@type == 'int'") { $0.any.isOf(type: .int) }
        maker.say("`any`.@type == 'string'") { $0.any.isOf(type: .string) }
        maker.say("`any`.@type == 'object'") { $0.any.isOf(type: .object) }
        maker.say("`any`.@type == 'decimal'") { $0.any.isOf(type: .decimal128) }
        maker.say("`any`.@count > 1") { $0.any.count > 1 }
        maker.say("SUBQUERY(twigs, $x, $x.size > 0.5 && $x.name != 'a').@count > 0") {
            ($0.twigs.size > 0.5 && $0.twigs.name != "a").count > 0
        }
        maker.say("SUBQUERY(grove, $x, $x.int > 0 || $x.optInt == NULL).@count == 1") {
            ($0.grove.int > 0 || $0.grove.optInt == nil).count == 1
        }
        maker.say("SUBQUERY(knots, $x, !($x.mark > 1)).@count <= 1") { (!($0.knots.mark > 1)).count <= 1 }
        maker.say("SUBQUERY(before, $x, $x.double < 1.0).@count > 0") { ($0.before.double < 1.0).count > 0 }
        maker.say("place GEOWITHIN geoBox([-20.5, -30.5], [100.5, 60.5])") {
            $0.place.geoWithin(GeoBox(bottomLeft: (-30.5, -20.5), topRight: (60.5, 100.5))!)
        }
        maker.say("places GEOWITHIN geoCircle([11.0, 12.0], 0.9)") { $0.places.geoWithin(GeoCircle(center: (12, 11), radius: 0.9)!) }
        maker.say("place GEOWITHIN geoPolygon({[-60.0, -40.0], [80.0, -31.0], [61.0, 50.0]})") {
            $0.place.geoWithin(GeoPolygon(outerRing: [(-40, -60), (-31, 80), (50, 61)])!)
        }
    }

    @Test(arguments: 0..<2) func `where on live and frozen results agrees with the oracle [R09, R14]`(part: Int) throws {
        try FilterOracleTests.each(part, of: 2) { grove, tally in
            var maker = WhereOracleTests.oaks(grove, seed: grove.seed &* 49_979_687)
            let oracle = grove.oracle, oaks = oracle.rows["Oak"]!.indices.filter { oracle.rows["Oak"]![$0] != nil }
            let live = grove.realm.objects(Oak.self), frozen = grove.realm.isInWriteTransaction ? nil : live.freeze()
            func rows(_ results: Results<Oak>) -> [Int] { results.map { Int($0._rowID) } }
            for number in 0..<120 {
                let piece = maker.piece(), tree = QuerySyntax(piece.tree)
                let expected = Result { try oracle.rows(tree, of: "Oak") }
                func judge(_ what: String, _ run: () -> [Int]) {
                    grove.judge(&tally, "\(number) \(what): \(tree)", expected: expected.get, run)
                }
                judge("live") { rows(live.where(piece.typed)) }
                if number % 3 == 0, let frozen { judge("frozen") { rows(frozen.where(piece.typed)) } }
                if number % 4 == 0 {
                    grove.judge(
                        &tally, "\(number) first: \(tree)", expected: { try expected.get().first.map { [oaks.firstIndex(of: $0)!] } ?? [] }
                    ) { live.index(matching: piece.typed).map { [$0] } ?? [] }
                }
                if number % 4 == 2, let id = oaks.randomElement(using: &maker.random) {
                    let among = oracle.rows["Oak"]![id]![oracle.schema["Oak"]!.index(of: "grove")!]
                    var members: [Int] = []
                    among.forEachLink { members.append(Int($0)) }
                    grove.judge(&tally, "\(number) grove of \(id): \(tree)", expected: { try oracle.rows(tree, of: "Oak", among: members) })
                    { rows(grove.oak(id).grove.where(piece.typed)) }
                    let before = try oracle.links(from: "Oak", "next", to: .link(Int64(id)), "Oak").map {
                        if case .link(let row) = $0 { Int(row) } else { -1 }
                    }
                    grove.judge(&tally, "\(number) before \(id): \(tree)", expected: { try oracle.rows(tree, of: "Oak", among: before) }) {
                        rows(grove.oak(id).before.where(piece.typed))
                    }
                }
            }
        }
    }

    @Test func `the first match of where in an unmanaged list agrees with the oracle [R09]`() throws {
        var random = Random(seed: FilterOracleTests.first), faults: [String] = []
        func judge<V: RealmCollectionValue & _QueryOrdered>(_ kind: ScalarKind, _ value: (inout Random) -> V, count: Int = 60) {
            for _ in 0..<count {
                let list = List<V>(), wanted = value(&random),
                    comparator: FirnQuery.Comparator = [.equal, .notEqual, .less, .greaterOrEqual][random.below(4)]
                for _ in 0..<random.below(5) { list.append(value(&random)) }
                let tree = PredicateSyntax.comparison(
                    ComparisonSyntax(
                        .path(PathSyntax([.name("self")])), comparator, .constant(ConstantSyntax(wanted._stored(in: nil).value))))
                let oracle = Oracle(schema: Schema(), rows: [:]), type = V._elementShape.type
                let found = list.index(matching: { (element: Query<V>) -> Query<Bool> in
                    switch comparator {
                    case .equal: element == wanted
                    case .notEqual: element != wanted
                    case .less: element < wanted
                    default: element >= wanted
                    }
                })
                let expected = try? list.firstIndex { try oracle.holds(tree, .value($0._stored(in: nil).value, type)) }
                if found != expected {
                    faults.append("\(Array(list)) \(tree): \(String(describing: found)), expected \(String(describing: expected))")
                }
            }
        }
        judge(.int, some(.int, Int.self))
        judge(.int, maybe(.int, Int.self))
        judge(.double, some(.double, Double.self))
        judge(.string, some(.string, String.self))
        judge(.string, maybe(.string, String.self))
        judge(.date, some(.date, Date.self))
        judge(.data, some(.data, Data.self))
        judge(.uuid, some(.uuid, UUID.self))
        judge(.objectID, some(.objectID, ObjectId.self))
        judge(.decimal, some(.decimal, Decimal128.self))
        judge(.bool, some(.bool, Bool.self))
        judge(.any, anything)
        #expect(faults.isEmpty, "seed \(FilterOracleTests.first): \(faults.prefix(5))")
    }
}
