import FirnKit
import FirnOracle
import FirnQuery
import FirnTable
import Foundation
import Testing

@testable import Firn

/// Random queries as text on all kinds of collections: live, frozen, of links, of inverse links, of embedded objects, of values.
@Suite struct FilterOracleTests {
    /// The number of realms, and the number of queries of each kind of collection in a realm. FIRN_ORACLE_REALMS sets the number of realms,
    /// and FIRN_ORACLE_SEED the first seed.
    static let realms = ProcessInfo.processInfo.environment["FIRN_ORACLE_REALMS"].flatMap { Int($0) } ?? Tier.cases(16, of: 40)
    static let first = ProcessInfo.processInfo.environment["FIRN_ORACLE_SEED"].flatMap { UInt64($0) } ?? 1
    private static let queries = 20

    /// Runs the body for each realm, and records faults. At least two thirds of the cases must be judged.
    static func each(_ part: Int, of parts: Int, realms: Int = FilterOracleTests.realms, _ body: (Grove, inout Grove.Tally) throws -> Void)
        throws
    {
        var tally = Grove.Tally()
        for number in stride(from: part, to: realms, by: parts) {
            let seed = FilterOracleTests.first + UInt64(number)
            let grove = try Grove(seed: seed, open: seed % 4 == 1, file: seed % 4 == 2)
            defer { if grove.realm.isInWriteTransaction { grove.realm.cancelWrite() } }
            try body(grove, &tally)
            if tally.faults.count > 5 { break }
        }
        if ProcessInfo.processInfo.environment["FIRN_ORACLE_REALMS"] != nil {
            print("\(tally.cases) cases, \(tally.refused) refused, \(tally.unknown) unknown")
        }
        for fault in tally.faults { Issue.record("\(fault)") }
        #expect(
            tally.cases > 0 && tally.refused + tally.unknown < tally.cases / 3,
            "\(tally.cases) cases, \(tally.refused) refused, \(tally.unknown) unknown")
    }

    private static func rows<Element: ObjectBase>(_ results: Results<Element>) -> [Int] { results.map { Int($0._rowID) } }

    /// Keeps at most one descriptor, because these collections are small.
    private static func descriptors(_ tree: QuerySyntax) -> QuerySyntax {
        QuerySyntax(tree.predicate, descriptors: Array(tree.descriptors.prefix(1)))
    }

    @Test(arguments: 0..<2) func `text queries on live and frozen results agree with the oracle [R12]`(part: Int) throws {
        try FilterOracleTests.each(part, of: 2) { grove, tally in
            var maker = grove.query(seed: grove.seed &* 104_729)
            let frozen = grove.realm.isInWriteTransaction ? nil : grove.realm.freeze()
            for number in 0..<FilterOracleTests.queries * 4 {
                let isOak = maker.chance(80), type = isOak ? "Oak" : "Twig"
                let tree = maker.query(of: type), text = tree.description
                func run(_ realm: Realm) throws -> [Int] {
                    if isOak { return FilterOracleTests.rows(try realm.objects(Oak.self).filtered(text, grove.arguments)) }
                    return FilterOracleTests.rows(try realm.objects(Twig.self).filtered(text, grove.arguments))
                }
                grove.judge(&tally, "\(number) of \(type): \(text)", expected: { try grove.oracle.rows(tree, of: type) }) {
                    try run(grove.realm)
                }
                if number % 2 == 0, let frozen {
                    grove.judge(&tally, "\(number) of frozen \(type): \(text)", expected: { try grove.oracle.rows(tree, of: type) }) {
                        try run(frozen)
                    }
                }
                if number % 4 == 1 {
                    // A query on the results of a query.
                    let next = maker.query(of: type), more = next.description
                    grove.judge(
                        &tally, "\(number) of \(type): \(text) then \(more)",
                        expected: {
                            // The oracle finds sums that overflow among all rows.
                            _ = try grove.oracle.rows(next, of: type)
                            return try grove.oracle.rows(next, of: type, among: grove.oracle.rows(tree, of: type))
                        }
                    ) {
                        if isOak {
                            return FilterOracleTests.rows(
                                try grove.realm.objects(Oak.self).filtered(text, grove.arguments).filtered(more, grove.arguments))
                        }
                        return FilterOracleTests.rows(
                            try grove.realm.objects(Twig.self).filtered(text, grove.arguments).filtered(more, grove.arguments))
                    }
                }
            }
        }
    }

    @Test(arguments: 0..<2) func `text queries on lists, sets and inverse links agree with the oracle [R12]`(part: Int) throws {
        try FilterOracleTests.each(part, of: 2) { grove, tally in
            var maker = grove.query(seed: grove.seed &* 15_485_863)
            let oracle = grove.oracle, oaks = oracle.rows["Oak"]!.indices.filter { oracle.rows["Oak"]![$0] != nil },
                twigs = oracle.rows["Twig"]!.indices.filter { oracle.rows["Twig"]![$0] != nil }
            func frozen<C: RealmCollection>(_ collection: C) -> C {
                !grove.realm.isInWriteTransaction && maker.chance(40) ? collection.freeze() : collection
            }
            func links(_ type: String, _ id: Int, _ name: String) -> [Int] {
                var found: [Int] = []
                oracle.rows[type]![id]![oracle.schema[type]!.index(of: name)!].forEachLink { found.append(Int($0)) }
                return found
            }
            func judge<C: RealmCollection>(_ collection: C, _ type: String, _ among: [Int], _ name: String) where C.Element: ObjectBase {
                let tree = FilterOracleTests.descriptors(maker.query(of: type)), text = tree.description
                grove.judge(&tally, "\(name) \(among): \(text)", expected: { try oracle.rows(tree, of: type, among: among) }) {
                    FilterOracleTests.rows(try collection.filtered(text, grove.arguments))
                }
            }
            for _ in 0..<FilterOracleTests.queries {
                if !oaks.isEmpty {
                    let id = maker.one(oaks), oak = grove.oak(id)
                    judge(frozen(oak.twigs), "Twig", links("Oak", id, "twigs"), "Oak \(id) twigs")
                    judge(frozen(oak.grove), "Oak", links("Oak", id, "grove"), "Oak \(id) grove")
                    judge(
                        frozen(oak.before), "Oak",
                        try oracle.links(from: "Oak", "next", to: .link(Int64(id)), "Oak").map {
                            if case .link(let row) = $0 { Int(row) } else { -1 }
                        }, "Oak \(id) before")
                }
                guard !twigs.isEmpty else { continue }
                let id = maker.one(twigs)
                judge(
                    frozen(grove.twig(id).oaks), "Oak",
                    try oracle.links(from: "Oak", "twigs", to: .link(Int64(id)), "Twig").map {
                        if case .link(let row) = $0 { Int(row) } else { -1 }
                    }, "Twig \(id) oaks")
            }
        }
    }

    @Test func `text queries on embedded objects and values agree with the oracle [R12]`() throws {
        try FilterOracleTests.each(0, of: 1) { grove, tally in
            var maker = grove.query(seed: grove.seed &* 32_452_843)
            let oracle = grove.oracle, type = oracle.schema["Oak"]!,
                oaks = oracle.rows["Oak"]!.indices.filter { oracle.rows["Oak"]![$0] != nil }
            func frozen<C: RealmCollection>(_ collection: C) -> C {
                !grove.realm.isInWriteTransaction && maker.chance(40) ? collection.freeze() : collection
            }
            guard !oaks.isEmpty else { return }
            func elements(_ id: Int, _ name: String) -> [Value] {
                switch oracle.rows["Oak"]![id]![type.index(of: name)!] {
                case .list(let values), .set(let values): values
                default: []
                }
            }
            for _ in 0..<FilterOracleTests.queries {
                let id = maker.one(oaks), oak = grove.oak(id)
                let knots = elements(id, "knots"), list = frozen(oak.knots), tree = maker.predicate("Knot", depth: 1),
                    text = QuerySyntax(tree).description
                let places = list.map { Int($0._rowID) }
                grove.judge(
                    &tally, "Oak \(id) knots: \(text)",
                    expected: { try knots.indices.filter { try oracle.holds(tree, .object("Knot", knots[$0])) } }
                ) {
                    try list.filtered(text, grove.arguments).map { places.firstIndex(of: Int($0._rowID))! }
                }
                func judge<C: RealmCollection>(_ collection: C, _ name: String) {
                    let values = elements(id, name), element = type.columns[type.index(of: name)!].type.element
                    let tree = maker.predicate(on: element), text = QuerySyntax(tree).description
                    var chosen: [Value] = []
                    grove.judge(
                        &tally, "Oak \(id) \(name) \(values): \(text)",
                        expected: {
                            let expected = try values.filter { try oracle.holds(tree, .value($0, element)) }
                            return "\(expected)" == "\(chosen)" ? [] : [expected.count, -1]
                        }
                    ) {
                        let source = try frozen(collection).filtered(text, grove.arguments).source
                        chosen = (0..<source.count).map { source.value($0) }
                        return []
                    }
                }
                judge(oak.ints, "ints")
                judge(oak.optInts, "optInts")
                judge(oak.doubles, "doubles")
                judge(oak.strings, "strings")
                judge(oak.words, "words")
                judge(oak.dates, "dates")
                judge(oak.datas, "datas")
                judge(oak.decs, "decs")
                judge(oak.bools, "bools")
                judge(oak.uuids, "uuids")
                judge(oak.anys, "anys")
            }
        }
    }
}
