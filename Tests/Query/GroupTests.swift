import FirnBytes
import FirnKit
import FirnTable
import Testing

@testable import FirnQuery

/// Random rows in several segments, few enough for a simple evaluator.
struct RandomTable {
    static let type = TypeSchema(
        "R",
        columns: [
            ColumnSchema("i", ColumnType(.int, optional: true)), ColumnSchema("d", ColumnType(.double, optional: true)),
            ColumnSchema("s", ColumnType(.string, optional: true)),
            ColumnSchema("b", ColumnType(.bool)), ColumnSchema("l", ColumnType(.int, collection: .list, elementOptional: true)),
        ])
    var rows: [[Value]] = []
    let table: MemoryTable

    init(_ random: inout Random) {
        let words = ["", "a", "b", "ab", "A", "é", "É", "abc"]
        var batches: [Batch] = []
        for _ in 0..<(1 + random.below(3)) {
            var batch = Batch(Self.type, in: Schema([Self.type]))
            for _ in 0..<(1 + random.below(70)) {
                let row: [Value] = [
                    random.below(5) == 0 ? .null : .int(Int64(random.below(9)) - 4),
                    random.below(5) == 0 ? .null : .double([0, 1, -1.5, 2.5, .nan, .infinity][random.below(6)]),
                    random.below(5) == 0 ? .null : .string(words[random.below(words.count)]), .bool(random.bool()),
                    .list((0..<random.below(4)).map { _ in random.below(5) == 0 ? .null : .int(Int64(random.below(5))) }),
                ]
                for (i, value) in row.enumerated() { batch.columns[i].append(value) }
                batch.count += 1
                rows.append(row)
            }
            batches.append(batch)
        }
        table = MemoryTable(Self.type, schema: Schema([Self.type]), batches: batches)
    }
}

/// Returns a random predicate as text, and a function that evaluates it for a row without the engine.
enum RandomPredicate {
    static func make(_ random: inout Random, _ depth: Int) -> (String, ([Value]) -> Bool) {
        switch depth > 0 ? random.below(6) : 3 + random.below(3) {
        case 0:
            let (text, holds) = make(&random, depth - 1)
            return ("NOT (\(text))", { !holds($0) })
        case 1:
            let (a, p) = make(&random, depth - 1), (b, q) = make(&random, depth - 1)
            return ("(\(a) AND \(b))", { p($0) && q($0) })
        case 2:
            let (a, p) = make(&random, depth - 1), (b, q) = make(&random, depth - 1)
            return ("(\(a) OR \(b))", { p($0) || q($0) })
        default: return leaf(&random)
        }
    }

    private static func leaf(_ random: inout Random) -> (String, ([Value]) -> Bool) {
        let comparator = ["==", "!=", "<", "<=", ">", ">="][random.below(6)]
        func holds(_ x: Double?, _ y: Double) -> Bool {
            guard let x else { return comparator == "!=" }
            switch comparator {
            case "==": return x == y
            case "!=": return x != y
            case "<": return x < y
            case "<=": return x <= y
            case ">": return x > y
            default: return x >= y
            }
        }
        func number(_ value: Value) -> Double? {
            switch value {
            case .int(let x): Double(x)
            case .double(let x): x
            default: nil
            }
        }
        let constant = [-4.0, -1.5, 0, 0.5, 1, 2, 2.5, 4][random.below(8)], column = random.below(2)
        switch random.below(6) {
        case 0, 1: return ("\(["i", "d"][column]) \(comparator) \(constant)", { holds(number($0[column]), constant) })
        case 2:
            let wanted = ["", "a", "ab", "é", "zz"][random.below(5)]
            return (
                "s \(comparator) '\(wanted)'",
                { row in
                    guard case .string(let text) = row[2] else { return comparator == "!=" || comparator == "<" || comparator == "<=" }
                    let order = Array(text.utf8) == Array(wanted.utf8) ? 0 : text.utf8.lexicographicallyPrecedes(wanted.utf8) ? -1.0 : 1
                    return holds(order, 0)
                }
            )
        case 3: return ("i + 1 \(comparator) \(constant)", { holds(number($0[0]).map { $0 + 1 }, constant) })
        case 4:
            let quantifier = ["ANY", "ALL", "NONE"][random.below(3)]
            return (
                "\(quantifier) l \(comparator) \(constant)",
                { row in
                    guard case .list(let values) = row[4] else { return false }
                    let passed = values.filter { holds(number($0), constant) }.count
                    return quantifier == "ANY" ? passed > 0 : quantifier == "ALL" ? passed == values.count : passed == 0
                }
            )
        default: return ("i IN {0, 2, null}", { $0[0] == .null || $0[0] == .int(0) || $0[0] == .int(2) })
        }
    }
}

@Suite struct GroupTests {
    @Test func `random predicates find the same rows as a simple evaluator`() throws {
        for seed in Seed.first(Tier.cases(80, of: 250)) {
            var random = Random(seed)
            let data = RandomTable(&random)
            for _ in 0..<40 {
                let (text, holds) = RandomPredicate.make(&random, 3)
                let expected = data.rows.indices.filter { holds(data.rows[$0]) }.count
                let run = try QueryRun(QueryRequest(filter: text), table: data.table, threads: 2)
                #expect(try run.count() == expected, "seed \(seed): \(text)")
                var sum = 0
                try run.forEachBatch { batch in
                    for row in 0..<batch.count where holds(batch.columns.map { $0.value(at: row) }) { sum += 1 }
                    return true
                }
                #expect(sum == expected, "seed \(seed): \(text)")
            }
        }
    }

    @Test(arguments: [1, 2, 7]) func `groups and their aggregates are those of a simple evaluator`(threads: Int) throws {
        var random = Random(seed: 5)
        let data = RandomTable(&random)
        let request = QueryRequest(
            groupBy: ["s", "b"],
            aggregates: try Aggregate.list("count, sum(i) as total, min(d), max(s), count(distinct i) as kinds, avg(i)"))
        let run = try QueryRun(request, table: data.table, threads: threads)
        #expect(run.columns.map(\.name) == ["s", "b", "count", "total", "min(d)", "max(s)", "kinds", "avg(i)"])
        var expected: [[Value]: [[Value]]] = [:]
        for row in data.rows { expected[[row[2], row[3]], default: []].append(row) }
        var groups = 0
        try run.forEachBatch { batch in
            for r in 0..<batch.count {
                let rows = expected[[batch.columns[0].value(at: r), batch.columns[1].value(at: r)]] ?? []
                let ints = rows.compactMap { row -> Int64? in if case .int(let x) = row[0] { x } else { nil } }
                #expect(batch.columns[2].value(at: r) == .int(Int64(rows.count)))
                #expect(batch.columns[3].value(at: r) == .int(ints.reduce(0, +)))
                #expect(batch.columns[6].value(at: r) == .int(Int64(Set(ints).count)))
                #expect(batch.columns[7].value(at: r) == (ints.isEmpty ? .null : .double(Double(ints.reduce(0, +)) / Double(ints.count))))
                groups += 1
            }
            return true
        }
        #expect(groups == expected.count)
    }

    @Test func `groups are sorted and limited like rows, and aggregates of no rows are one row`() throws {
        let request = QueryRequest(
            filter: "age > -10", select: ["age", "count"], sort: [.init("count", ascending: false), .init("age")], limit: 2,
            groupBy: ["age"], aggregates: try Aggregate.list("count"))
        var out: [Value] = []
        try QueryRun(request, table: Zoo.table).forEachBatch { batch in
            for row in 0..<batch.count { out += batch.columns.map { $0.value(at: row) } }
            return true
        }
        #expect(out == [.int(5), .int(2), .int(-4), .int(1)])
        out = []
        try QueryRun(QueryRequest(filter: "age > 1000", aggregates: try Aggregate.list("count, sum(age), max(age)")), table: Zoo.table)
            .forEachBatch { batch in
                out = batch.columns.map { $0.value(at: 0) }
                return true
            }
        #expect(out == [.int(0), .int(0), .null])
    }

    @Test func `a sum of integers that overflows is an error`() throws {
        let type = TypeSchema("T", columns: [ColumnSchema("x", ColumnType(.int))])
        var batch = Batch(type, in: Schema([type]))
        for _ in 0..<2 { batch.columns[0].append(.int(.max)) }
        batch.count = 2
        let table = MemoryTable(type, schema: Schema([type]), batches: [batch])
        let run = try QueryRun(QueryRequest(aggregates: [Aggregate(.sum, "x")]), table: table)
        #expect(throws: FirnError.self) { try run.forEachBatch { _ in true } }
        try QueryRun(QueryRequest(aggregates: [Aggregate(.avg, "x")]), table: table).forEachBatch { batch in
            #expect(batch.columns[0].value(at: 0) == .double(0x1p63))
            return true
        }
    }
}
