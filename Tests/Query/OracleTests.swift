import FirnBytes
import FirnDatabase
import FirnKit
import FirnOracle
import FirnTable
import Foundation
import Testing

@testable import FirnQuery

/// Random syntax trees on random tables: printed, parsed, bound and run by the engine, and compared with the oracle.
@Suite struct OracleTests {
    /// The number of tables, and of queries for each: 22,000 cases, or more than 10^5 in long runs. FIRN_ORACLE_TABLES sets the number of
    /// tables, FIRN_ORACLE_SEED the first seed.
    private static let tables = ProcessInfo.processInfo.environment["FIRN_ORACLE_TABLES"].flatMap { Int($0) } ?? Tier.cases(100, of: 620)
    private static let first = ProcessInfo.processInfo.environment["FIRN_ORACLE_SEED"].flatMap { UInt64($0) } ?? 1
    private static let queries = 220

    struct Tally {
        var cases = 0, refused = 0, unknown = 0, faults: [String] = []
    }

    @Test(arguments: 0..<4) func `the engine finds the rows that the oracle finds`(part: Int) throws {
        var tally = Tally()
        for number in stride(from: part, to: OracleTests.tables, by: 4) {
            try OracleTests.compare(seed: OracleTests.first + UInt64(number), &tally)
            if tally.faults.count > 5 { break }
        }
        if ProcessInfo.processInfo.environment["FIRN_ORACLE_TABLES"] != nil {
            print("\(tally.cases) cases, \(tally.refused) refused, \(tally.unknown) unknown")
        }
        for fault in tally.faults { Issue.record("\(fault)") }
        #expect(tally.refused + tally.unknown < tally.cases / 3, "\(tally.cases) cases, \(tally.refused) refused, \(tally.unknown) unknown")
    }

    static func compare(seed: UInt64, _ tally: inout Tally) throws {
        var random = Random(seed: seed)
        var world = RandomWorld(&random)
        let store = RandomWorld.Store.allCases[Int(seed % 3)]
        let (tables, keeping) = try world.tables(store, &random)
        defer { withExtendedLifetime(keeping) {} }
        var maker = RandomQuery(seed: seed &* 7919, world)
        let oracle = Oracle(schema: world.schema, rows: world.rows, arguments: maker.arguments)
        for number in 0..<queries {
            let type = maker.chance(85) ? "Node" : "Leaf"
            let tree = maker.query(of: type)
            tally.cases += 1
            let text = tree.description
            func fault(_ what: String) { tally.faults.append("seed \(seed), query \(number) of \(type) in \(store): \(text): \(what)") }
            let parsed: QuerySyntax
            do { parsed = try Parser.query(text) } catch {
                fault("not parsed: \(error)")
                continue
            }
            if parsed != tree { fault("the printed text parses to \(parsed)") }
            let table = tables[type]!
            do {
                let run = try QueryRun(
                    QueryRequest(filter: text, arguments: maker.arguments), table: table, threads: number % 8 == 0 ? 2 : 1)
                var expected: [Int]?
                do { expected = try oracle.rows(tree, of: type) } catch let error as Oracle.Unknown {
                    tally.unknown += 1
                    _ = error
                } catch is Oracle.Overflow {
                    // The engine may not have evaluated the rows that overflow.
                    tally.unknown += 1
                }
                let found = try run.rowLocations().map { Int(try table.segment($0.segment).rowID(at: $0.position)) }
                if let expected, found != expected {
                    let difference = zip(found, expected).first { $0 != $1 }
                    let odd = difference.map { [$0, $1] } ?? Array(Set(found).symmetricDifference(expected).prefix(2))
                    let columns = world.schema[type]!.columns
                    let shown = odd.map { id in
                        "\(id): "
                            + zip(columns, world.rows[type]![id] ?? []).map { "\($0.name) \($0.type.name) \(ConstantSyntax($1))" }.joined(
                                separator: ", ")
                    }
                    fault("found \(found), expected \(expected) \(shown)")
                }
                if number % 16 == 0, try run.count() != found.count { fault("counted \(try run.count()), found \(found.count)") }
            } catch let error as QueryError {
                if ProcessInfo.processInfo.environment["FIRN_REFUSED"] != nil { print("REFUSED \(error.message) IN \(text)") }
                tally.refused += 1
                // A query that the engine refuses is not compared.
            } catch let error as FirnError {
                if !error.message.contains("@sum of ints does not fit") { fault("\(error)") }
                tally.unknown += 1
            }
            if tally.faults.count > 5 { return }
        }
    }
}
