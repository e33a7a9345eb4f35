import Dispatch
import FirnBytes
import FirnDatabase
import FirnKit
import FirnTable
import Testing

@testable import FirnQuery

/// Columns in a file in many encodings, with changed and deleted rows, and the same rows in memory, where no encoded data is searched,
/// summed or gathered.
private struct TwoTables {
    static let type = TypeSchema(
        "T",
        columns: [
            ColumnSchema("small", ColumnType(.int)), ColumnSchema("wide", ColumnType(.int)), ColumnSchema("spikes", ColumnType(.int)),
            ColumnSchema("ids", ColumnType(.int)),
            ColumnSchema("hundreds", ColumnType(.int)), ColumnSchema("gaps", ColumnType(.int, optional: true)),
            ColumnSchema("runs", ColumnType(.int)),
            ColumnSchema("price", ColumnType(.double)), ColumnSchema("rate", ColumnType(.double)),
            ColumnSchema("noise", ColumnType(.double, optional: true)),
            ColumnSchema("single", ColumnType(.float)), ColumnSchema("few", ColumnType(.string)),
            ColumnSchema("label", ColumnType(.string, optional: true)),
            ColumnSchema("many", ColumnType(.string)), ColumnSchema("day", ColumnType(.date)),
            ColumnSchema("moment", ColumnType(.date, optional: true)),
            ColumnSchema("flag", ColumnType(.bool)), ColumnSchema("mark", ColumnType(.bool, optional: true)),
        ])
    let folder = TemporaryFolder()
    let stored: any Table
    let memory: MemoryTable

    init(_ seed: UInt64, rows count: Int, edits: Int) throws {
        var random = RandomTables(seed: seed)
        var run = 0
        func row(_ i: Int) -> [Value] {
            if random.chance(3) { run = random.number(0...500) }
            let words = ["special", "requests", "packages", "sleep", "spec", "ial", "carefully", "über", "é"]
            let day = Int64(random.number(0...3000)) * 86_400
            return [
                .int(Int64(random.number(-20...60))), .int(Int64(bitPattern: random.generator.next())),
                .int(random.chance(2) ? Int64(random.number(0...1 << 40)) : Int64(random.number(0...63))), .int(Int64(i) * 3 + 7),
                .int(Int64(random.number(-50...50)) * 100), random.chance(20) ? .null : .int(Int64(random.number(0...9))), .int(Int64(run)),
                .double(Double(random.number(-100_000...100_000)) / 100), .double(Double(random.number(0...10)) / 100),
                random.chance(10) ? .null : .double(random.chance(2) ? .nan : Double(random.generator.next() >> 11) / 9e15),
                .float(Float(random.number(0...1000)) / 8), .string(["N", "R", "A", ""][random.number(0...3)]),
                random.chance(15) ? .null : .string("s\(random.number(0...40))"),
                .string(
                    (0..<random.number(0...6)).map { _ in words[random.number(0...words.count - 1)] }.joined(
                        separator: random.chance(10) ? "" : " ")),
                .date(Timestamp(seconds: day)),
                random.chance(10) ? .null : .date(Timestamp(seconds: day, nanoseconds: Int32(random.number(0...3)) * 1000)),
                .bool(random.chance(30)), random.chance(10) ? .null : .bool(random.chance(50)),
            ]
        }
        let schema = Schema([Self.type])
        let database = try Database.create(path: folder.file("t.firn"))
        var transaction = try database.begin()
        try transaction.extendSchema(schema.types)
        let writer = try transaction.bulkWriter("T")
        try writer.append(RandomTables.batch((0..<count).map(row), of: Self.type, in: schema))
        try transaction.commit()
        if edits > 0 {
            transaction = try database.begin()
            for _ in 0..<edits {
                let column = random.number(0...Self.type.columns.count - 1)
                try transaction.update(
                    "T", rowID: Int64(random.number(0...count - 1)), column: Self.type.columns[column].name, row(0)[column])
            }
            var gone: Set<Int> = []
            for _ in 0..<edits { gone.insert(random.number(0...count - 1)) }
            for row in gone { try transaction.delete("T", rowID: Int64(row)) }
            try transaction.commit()
        }
        stored = try #require(try database.snapshot().table(named: "T"))
        var batches: [Batch] = []
        for s in 0..<stored.segmentCount {
            let segment = try stored.segment(s)
            var batch = Batch(Self.type, in: schema)
            for position in 0..<segment.rowCount where segment.live?[position] ?? true {
                for i in batch.columns.indices { batch.columns[i].append(try segment.column(i).value(at: position)) }
                batch.count += 1
            }
            batches.append(batch)
        }
        memory = MemoryTable(Self.type, schema: schema, batches: batches)
    }
}

/// A random predicate over `TwoTables`.
private func predicate(_ random: inout RandomTables, _ depth: Int) -> String {
    switch depth > 0 ? random.number(0...6) : 3 {
    case 0: return "NOT (\(predicate(&random, depth - 1)))"
    case 1: return "(\(predicate(&random, depth - 1)) AND \(predicate(&random, depth - 1)))"
    case 2: return "(\(predicate(&random, depth - 1)) OR \(predicate(&random, depth - 1)))"
    default: break
    }
    let comparator = ["==", "!=", "<", "<=", ">", ">="][random.number(0...5)]
    switch random.number(0...14) {
    case 0: return "small \(comparator) \(random.number(-21...61))"
    case 1: return "wide \(comparator) \(Int64(bitPattern: random.generator.next()))"
    case 2: return "spikes \(comparator) \([0, 5, 63, 64, 1 << 30, 1 << 40][random.number(0...5)])"
    case 3: return "ids \(comparator) \(random.number(0...9000))"
    case 4: return "hundreds \(comparator) \(random.number(-5100...5100))"
    case 5: return "gaps \(comparator) \(random.chance(20) ? "NULL" : "\(random.number(0...9))")"
    case 6: return "runs \(comparator) \(random.number(0...500))"
    case 7: return "price \(comparator) \(Double(random.number(-100_000...100_000)) / 100)"
    case 8: return "rate BETWEEN {\(Double(random.number(0...10)) / 100), \(Double(random.number(0...10)) / 100)}"
    case 9: return "noise \(comparator) \(Double(random.number(0...1000)) / 1000)"
    case 10: return "single \(comparator) \(Double(random.number(0...1000)) / 8)"
    case 11: return "\(["few", "label"][random.number(0...1)]) \(comparator) '\(["N", "", "s1", "s20", "s3", "zz"][random.number(0...5)])'"
    case 12:
        let test = ["CONTAINS", "BEGINSWITH", "ENDSWITH", "LIKE", "CONTAINS[c]"][random.number(0...4)]
        let wanted = [
            "special", "spec", "s", "al req", "über", "é", "", "SPECIAL", "*special*", "spec*", "*é", "*s*r*", "special", "?", "*",
            "*spec?al*", "*special*requests*", "s*l",
        ][random.number(0...17)]
        return "many \(test) '\(wanted)'"
    case 13:
        let day = 1970 + random.number(0...8)
        return "\(["day", "moment"][random.number(0...1)]) \(comparator) \(day)-0\(random.number(1...9))-1\(random.number(0...9))@00:00:00"
    default:
        return random.chance(50)
            ? "flag == \(random.chance(50))" : "mark \(random.chance(50) ? "==" : "!=") \(["true", "false", "NULL"][random.number(0...2)])"
    }
}

/// Compares doubles except for the last digits, because sums depend on the order.
private func isNear(_ a: Value, _ b: Value) -> Bool {
    guard case .double(let x) = a, case .double(let y) = b else { return a == b }
    return x == y || x.isNaN && y.isNaN || abs(x - y) <= 1e-9 * max(1, abs(x), abs(y))
}

@Suite struct StoredQueryTests {
    @Test(arguments: [(1, 3000, 0), (2, 5000, 40), (3, 1024, 5), (4, 700, 3), (5, 2500, 0)] as [(UInt64, Int, Int)])
    func `searching encoded data finds the same rows as searching decoded data`(seed: UInt64, rows: Int, edits: Int) throws {
        let tables = try TwoTables(seed, rows: rows, edits: edits)
        var random = RandomTables(seed: seed + 100)
        var searched = 0
        for _ in 0..<120 {
            let text = predicate(&random, 2)
            let run = try QueryRun(QueryRequest(filter: text), table: tables.stored)
            let found = try run.count(), wanted = try QueryRun(QueryRequest(filter: text), table: tables.memory).count()
            #expect(found == wanted, "seed \(seed): \(text)")
            searched += run.statistics.vectorsSearched
        }
        // Vectors with changed rows are decoded. A table with few rows has no other vectors.
        #expect(rows < 2000 && edits > 0 || searched > 100, "\(searched)")
    }

    @Test(arguments: [(1, 3000, 0), (2, 5000, 40), (6, 70_000, 10)] as [(UInt64, Int, Int)])
    func `groups and their aggregates are the same in a file and in memory, with one thread and several`(
        seed: UInt64, rows: Int, edits: Int
    )
        throws
    {
        let tables = try TwoTables(seed, rows: rows, edits: edits)
        var random = RandomTables(seed: seed + 200)
        let keys = [
            [], ["few"], ["label", "few"], ["small"], ["mark", "gaps"], ["wide"], ["flag", "single"], ["day"], ["many", "small"],
            ["hundreds", "runs"],
        ]
        let figures =
            "count, count(gaps), count(distinct label), count(distinct few), count(distinct many), count(distinct noise), count(distinct ids), sum(small), sum(wide / 1000000), sum(spikes), sum(ids), sum(hundreds), sum(gaps), avg(runs), sum(price), "
            + "avg(noise), sum(single), min(wide), max(noise), min(many), first(label), first(price), median(price), quantile(spikes, 0.9), median(gaps), "
            + "sum(price * (1 - rate)) as net, sum(price * (1 - rate) * (1 + single)) as gross, sum(small * 2 + gaps), avg(1.5 - price), max(small - gaps), count(gaps + 1), min(day)"
        for i in 0..<(rows > 10_000 ? 5 : 20) {
            var request = QueryRequest(filter: i == 0 ? nil : random.chance(30) ? "ids < \(random.number(0...300))" : predicate(&random, 1))
            request.groupBy = keys[i % keys.count]
            request.aggregates = try Aggregate.list(figures)
            var answers: [[[Value]]] = []
            for (table, threads) in [(tables.memory as any Table, 1), (tables.stored, 1), (tables.stored, 3), (tables.memory, 2)] {
                let run = try QueryRun(request, table: table, threads: threads)
                var out: [[Value]] = []
                try run.forEachBatch { batch in
                    for row in 0..<batch.count { out.append(batch.columns.map { $0.value(at: row) }) }
                    return true
                }
                answers.append(out)
            }
            for other in answers.dropFirst() {
                #expect(other.count == answers[0].count, "seed \(seed): \(request.groupBy) where \(request.filter ?? "")")
                for (a, b) in zip(answers[0], other) {
                    for column in a.indices where !isNear(a[column], b[column]) {
                        Issue.record(
                            "seed \(seed): \(request.groupBy) where \(request.filter ?? ""): column \(column) is \(b[column]), not \(a[column])"
                        )
                    }
                }
            }
        }
    }

    @Test func `the first rows of a sorted query are those of sorting all rows`() throws {
        let tables = try TwoTables(8, rows: 24_000, edits: 30)
        for (i, keys) in ["gaps", "noise", "moment, price", "small, wide", "price", "single, ids", "mark, noise", "label, small", "day"]
            .enumerated()
        {
            for direction in ["ASC", "DESC"] {
                let sort = "SORT(" + keys.split(separator: ", ").map { "\($0) \(direction)" }.joined(separator: ", ") + ")"
                for table in [tables.stored, tables.memory as any Table] {
                    let all = try QueryRun(QueryRequest(filter: "small > -15 \(sort)"), table: table).rowLocations()
                    for count in [1, 10, 1000] {
                        let first = try QueryRun(
                            QueryRequest(filter: "small > -15 \(sort)", limit: count, offset: i), table: table, threads: 2
                        ).rowLocations()
                        #expect(first.map(\.position) == all.dropFirst(i).prefix(count).map(\.position), "\(sort), \(count)")
                    }
                }
            }
        }
    }

    @Test func `medians and quantiles are the values at the sorted positions`() throws {
        var random = RandomTables(seed: 77)
        for count in [1, 2, 3, 10, 101, 5000, 9000, 30_000] {
            let type = TypeSchema("T", columns: [ColumnSchema("x", ColumnType(.double))])
            var batch = Batch(type, in: Schema([type]))
            var values: [Double] = []
            for i in 0..<count {
                // Ascending values, a few different values, all different values, and all equal values except a few.
                values.append(
                    count == 101
                        ? Double(i)
                        : count == 9000
                            ? Double(random.generator.next() >> 11)
                            : count == 30_000 ? (random.chance(99) ? 1 : Double(i)) : Double(random.number(-50...50)))
                batch.columns[0].append(.double(values[i]))
            }
            batch.count = count
            values.sort()
            for share in [0, 0.1, 0.25, 0.5, 0.9, 1] {
                var found: Value?
                let request = QueryRequest(aggregates: try Aggregate.list("quantile(x, \(share)), median(x)"))
                try QueryRun(request, table: MemoryTable(type, schema: Schema([type]), batches: [batch])).forEachBatch { batch in
                    found = batch.columns[0].value(at: 0)
                    return true
                }
                let rank = share * Double(count - 1), below = values[Int(rank)], above = values[min(Int(rank) + 1, count - 1)]
                #expect(found == .double(below + (above - below) * (rank - Double(Int(rank)))), "\(share) of \(count)")
            }
        }
    }

    private static let extremes: [[Double]] = [
        [.infinity, .infinity], [-.infinity, -.infinity], [-.infinity, 5], [-1.5e308, 1.5e308], [.nan, 3],
    ]
    private static let medians: [Double] = [.infinity, -.infinity, -.infinity, 0, 3]

    @Test(arguments: zip(extremes, medians))
    func `a median of infinite values or of values far apart does not overflow`(values: [Double], median: Double) throws {
        let type = TypeSchema("T", columns: [ColumnSchema("x", ColumnType(.double))])
        var batch = Batch(type, in: Schema([type]))
        for value in values { batch.columns[0].append(.double(value)) }
        batch.count = values.count
        var found: Value?
        try QueryRun(
            QueryRequest(aggregates: try Aggregate.list("median(x)")), table: MemoryTable(type, schema: Schema([type]), batches: [batch])
        ).forEachBatch { batch in
            found = batch.columns[0].value(at: 0)
            return true
        }
        #expect(found == .double(median))
    }

    @Test func `a sum that overflows is an error only for queries that need its row`() throws {
        let type = TypeSchema(
            "T", columns: [ColumnSchema("id", ColumnType(.int)), ColumnSchema("xs", ColumnType(.int, collection: .list))])
        let folder = TemporaryFolder()
        let database = try Database.create(path: folder.file("a.firn"))
        var transaction = try database.begin()
        try transaction.extendSchema([type])
        for row in [[Value.int(0), .list([.int(1), .int(2)])], [.int(1), .list([.int(.max), .int(1)])], [.int(2), .list([.int(9)])]] {
            _ = try transaction.insert("T", row)
        }
        func rows(_ table: any Table, _ query: String) throws -> [Int64] {
            try QueryRun(QueryRequest(filter: query), table: table).rowLocations().map {
                try table.segment($0.segment).rowID(at: $0.position)
            }
        }
        try transaction.commit()
        let whole = try database.snapshot().table(named: "T")!
        #expect(throws: FirnError.self) { try rows(whole, "xs.@sum > 2") }
        #expect(try rows(whole, "id != 1 AND xs.@sum + 1 > 2 AND xs.@sum >= id") == [0, 2])
        transaction = try database.begin()
        try transaction.delete("T", rowID: 1)
        #expect(try rows(transaction.table("T"), "xs.@sum > 2") == [0, 2])
        #expect(try rows(transaction.table("T"), "NOT xs.@sum < id") == [0, 2])
        try transaction.commit()
        #expect(try rows(try database.snapshot().table(named: "T")!, "xs.@sum > 2 OR id == 7 SORT(xs.@sum DESC)") == [2, 0])
    }

    @Test func `a product of integers that overflows in a sum is an error`() throws {
        let type = TypeSchema("T", columns: [ColumnSchema("x", ColumnType(.int, optional: true))])
        var batch = Batch(type, in: Schema([type]))
        for value in [Value.int(1 << 40), .null, .int(3)] { batch.columns[0].append(value) }
        batch.count = 3
        let table = MemoryTable(type, schema: Schema([type]), batches: [batch])
        #expect(throws: FirnError.self) {
            try QueryRun(QueryRequest(aggregates: [Aggregate(.sum, "x * x")]), table: table).forEachBatch { _ in true }
        }
        var sum: Value?
        try QueryRun(QueryRequest(filter: "x < 10", aggregates: [Aggregate(.sum, "x * x")]), table: table).forEachBatch { batch in
            sum = batch.columns[0].value(at: 0)
            return true
        }
        #expect(sum == .int(9))
    }

    @Test(arguments: [
        "sum(1)", "sum(x > 1)", "quantile(x)", "quantile(x, 2)", "sum(s * 2)", "median(s)", "sum(x +)", "first()", "sum(x * (1 - y))",
    ])
    func `invalid aggregates are refused`(text: String) throws {
        let type = TypeSchema("T", columns: [ColumnSchema("x", ColumnType(.int)), ColumnSchema("s", ColumnType(.string))])
        #expect(throws: QueryError.self) {
            _ = try QueryRun(
                QueryRequest(aggregates: try Aggregate.list(text)), table: MemoryTable(type, schema: Schema([type]), batches: []))
        }
    }
}
