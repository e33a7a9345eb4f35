import FirnBytes
import FirnKit
import Testing

@testable import FirnDatabase
@testable import FirnQuery
@testable import FirnTable

@Suite struct IndexTests {
    private static let kinds: [ScalarKind] = [.int, .string, .double, .date, .decimal, .bool, .uuid, .any, .float, .data, .objectID]
    private let type = TypeSchema(
        "T", columns: kinds.enumerated().map { ColumnSchema("c\($0.offset)", ColumnType($0.element, optional: true), indexes: .values) })

    private func value(_ kind: ScalarKind, _ random: inout RandomTables) -> Value {
        if random.chance(8) { return .null }
        let n = random.number(0...200)
        switch kind {
        case .int: return .int(Int64(n - 100))
        case .string:
            return .string(
                random.chance(10)
                    ? String(repeating: "\u{0}", count: n % 9)
                    : random.chance(60) ? "word\(n)" : random.chance(10) ? "" : "the same beginning \(n)")
        case .double: return .double(random.chance(4) ? .nan : random.chance(4) ? -0.0 : Double(n - 100) / 4)
        case .float: return .float(Float(n - 100) / 8)
        case .date: return .date(Timestamp(seconds: Int64(n - 100) * 50_000, nanoseconds: Int32(n % 3)))
        case .decimal: return .decimal(random.chance(4) ? Decimal("nan")! : Decimal("\(n - 100).\(n % 4)0")!)
        case .bool: return .bool(n % 2 == 0)
        case .uuid: return .uuid(Identifier(high: UInt64(n) << 56, low: UInt64(n % 5)))
        case .objectID: return .objectID(Identifier(high: UInt64(n / 7) << 56, low: UInt64(n)))
        case .data: return .data([UInt8(n % 250), UInt8(n % 3)])
        default: return n % 3 == 0 ? .int(Int64(n)) : n % 3 == 1 ? .double(Double(n - 1)) : .string("word\(n)")
        }
    }

    private func condition(_ column: Int, _ arguments: inout [Value], _ random: inout RandomTables) -> String {
        let kind = IndexTests.kinds[column]
        func argument() -> String {
            arguments.append(value(kind, &random))
            return "$\(arguments.count - 1)"
        }
        let name = "c\(column)"
        switch random.number(0...7) {
        case 0, 1: return "\(name) == \(argument())"
        case 2: return "\(name) IN {\((0..<random.number(0...4)).map { _ in argument() }.joined(separator: ", "))}"
        case 3 where kind != .any: return "\(name) >= \(argument()) AND \(name) < \(argument())"
        case 4 where kind != .any: return "\(name) BETWEEN {\(argument()), \(argument())}"
        case 5 where kind == .string:
            return "\(name) BEGINSWITH '\(["word1", "word", "the same beginning 1", "x", ""][random.number(0...4)])'"
        case 6: return "\(name) != \(argument())"
        case 7 where kind == .string: return "\(name) ==[c] 'WORD5'"
        default:
            return
                "\(name) \(["<", ">", "<=", ">=", "=="][random.number(0...(kind == .any ? 0 : 4))].replacingOccurrences(kind)) \(argument())"
        }
    }

    private func query(_ arguments: inout [Value], _ random: inout RandomTables) -> String {
        func one() -> String { "(" + condition(random.number(0...IndexTests.kinds.count - 1), &arguments, &random) + ")" }
        switch random.number(0...5) {
        case 0: return "\(one()) AND \(one())"
        case 1: return "\(one()) OR \(one())"
        case 2: return "NOT \(one()) AND \(one())"
        case 3: return "(\(one()) OR \(one())) AND \(one())"
        default: return one()
        }
    }

    @Test(arguments: Seed.first(Tier.cases(2, of: 4)))
    func `queries find the same rows with and without indexes`(seed: Seed) throws {
        let folder = TemporaryFolder(), database = try Database.create(path: folder.file("a.firn"))
        var random = RandomTables(seed), used = 0, ids: [Int64] = []
        func row() -> [Value] { IndexTests.kinds.map { value($0, &random) } }
        for round in 0..<6 {
            let transaction = try database.begin()
            if round == 0 { try transaction.extendSchema([type]) }
            if round % 2 == 0 {
                let rows = (0..<3000).map { _ in row() }
                let first = try transaction.bulkWriter("T").append(RandomTables.batch(rows, of: type, in: Schema([type])))
                ids += (first..<first + 3000).map { $0 }
            }
            for _ in 0..<20 { ids.append(try transaction.insert("T", row())) }
            for _ in 0..<(round == 3 ? 400 : 20) {
                let column = random.number(0...IndexTests.kinds.count - 1)
                try transaction.update(
                    "T", rowID: ids[random.number(0...ids.count - 1)], column: "c\(column)", value(IndexTests.kinds[column], &random))
            }
            for _ in 0..<5 { try transaction.delete("T", rowID: ids.remove(at: random.number(0...ids.count - 1))) }
            if round == 4 { try transaction.flushAll() }
            if seed.number % 2 == 0, round == 1 {
                // Indexes in the older format, which does not store short texts themselves.
                for position in transaction.states[0].indexes.indices {
                    transaction.states[0].indexes[position].keepsShort = false
                    try transaction.remake(0, position)
                }
                try transaction.directoryChange(0) { _ in }
            }
            try transaction.commit()
            #expect(
                try database.snapshot().core.catalogue.types[0].indexes.contains(where: \.keepsShort)
                    == (seed.number % 2 == 1 || round == 0))
            if round % 3 == 1 { #expect(try database.snapshot().verify(full: true).isEmpty) }
            let table = try database.snapshot().table(named: "T")!
            for _ in 0..<150 {
                var arguments: [Value] = []
                let text = query(&arguments, &random)
                let request = QueryRequest(filter: text, arguments: arguments)
                let with = try QueryRun(request, table: table), without = try QueryRun(request, table: table, usingIndexes: false)
                let a = try with.rowLocations(), b = try without.rowLocations()
                #expect(a.elementsEqual(b) { $0 == $1 }, "seed \(seed), round \(round): \(text) \(arguments)")
                #expect(try QueryRun(request, table: table, threads: 2).count() == b.count, "seed \(seed): \(text) \(arguments)")
                if with.explain().contains("index T.") { used += 1 }
            }
        }
        #expect(used > 200, "seed \(seed): indexes were used \(used) times")
    }

    @Test(arguments: Seed.first(Tier.cases(2, of: 3)))
    func `queries in a transaction find the same rows with and without indexes, including its own changes`(seed: Seed) throws {
        let folder = TemporaryFolder(), database = try Database.create(path: folder.file("a.firn"))
        var random = RandomTables(seed), used = 0, ids: [Int64] = []
        func row() -> [Value] { IndexTests.kinds.map { value($0, &random) } }
        for round in 0..<6 {
            let transaction = try database.begin()
            if round == 0 { try transaction.extendSchema([type]) }
            if round == 0 || round == 3 {
                let rows = (0..<3000).map { _ in row() }
                let first = try transaction.bulkWriter("T").append(RandomTables.batch(rows, of: type, in: Schema([type])))
                ids += (first..<first + 3000).map { $0 }
            }
            if round == 4 { try transaction.addIndex("T", "c0", .values) }
            for step in 0..<4 {
                for _ in 0..<10 { ids.append(try transaction.insert("T", row())) }
                for _ in 0..<20 {
                    let column = random.number(0...IndexTests.kinds.count - 1)
                    try transaction.update(
                        "T", rowID: ids[random.number(0...ids.count - 1)], column: "c\(column)", value(IndexTests.kinds[column], &random))
                }
                for _ in 0..<5 { try transaction.delete("T", rowID: ids.remove(at: random.number(0...ids.count - 1))) }
                if round == 5, step == 2 { try transaction.flushAll() }
                let table = transaction.table("T")
                for _ in 0..<40 {
                    var arguments: [Value] = []
                    let text = query(&arguments, &random)
                    let request = QueryRequest(filter: text, arguments: arguments)
                    let with = try QueryRun(request, table: table), without = try QueryRun(request, table: table, usingIndexes: false)
                    let a = try with.rowLocations(), b = try without.rowLocations()
                    #expect(a.elementsEqual(b) { $0 == $1 }, "seed \(seed), round \(round), step \(step): \(text) \(arguments)")
                    if with.explain().contains("index T.") { used += 1 }
                }
            }
            if round == 2 { transaction.cancel() } else { try transaction.commit() }
            if round == 2 { ids = try liveRows(database) }
        }
        #expect(used > 100, "seed \(seed): indexes were used \(used) times")
    }

    private func liveRows(_ database: Database) throws -> [Int64] {
        let table = try database.snapshot().table(named: "T")!
        return try QueryRun(QueryRequest(), table: table).rowLocations().map { try table.segment($0.segment).rowID(at: $0.position) }
    }

    @Test func `a look-up in a transaction does not read all rows, and includes the transaction's changes`() throws {
        let type = TypeSchema(
            "T",
            columns: [
                ColumnSchema("n", ColumnType(.int), indexes: .values),
                ColumnSchema("name", ColumnType(.string, optional: true), indexes: .values),
            ])
        let folder = TemporaryFolder(), database = try Database.create(path: folder.file("a.firn"))
        var transaction = try database.begin()
        try transaction.extendSchema([type])
        var batch = Batch(type, in: Schema([type]))
        for i in 0..<80_000 {
            batch.columns[0].append(.int(Int64(i)))
            batch.columns[1].append(.string("name \(i)"))
        }
        batch.count = 80_000
        try transaction.bulkWriter("T").append(batch)
        try transaction.commit()
        transaction = try database.begin()
        try transaction.update("T", rowID: 77, column: "name", .string("name 70000"))
        try transaction.delete("T", rowID: 5)
        let added = try transaction.insert("T", [.int(77), .string("name 5")])
        let table = transaction.table("T")
        for (text, expected) in [
            ("n == 77", [77, added]), ("name == 'name 70000'", [77, 70_000]), ("name == 'name 5'", [added]), ("name == 'name 77'", []),
            ("n IN {5, 6}", [6]),
        ] as [(String, [Int64])] {
            let run = try QueryRun(QueryRequest(filter: text), table: table)
            #expect(try run.rowLocations().map { try table.segment($0.segment).rowID(at: $0.position) } == expected, "\(text)")
            let s = run.statistics
            #expect(run.explain().contains("index T.") && s.vectorsDecoded + s.codeVectorsDecoded + s.vectorsSearched <= 6, "\(text): \(s)")
        }
    }

    @Test(arguments: Seed.first(Tier.cases(1, of: 3)))
    func `TEXT finds the same rows with and without a word index`(seed: Seed) throws {
        let folder = TemporaryFolder(), database = try Database.create(path: folder.file("a.firn"))
        let type = TypeSchema(
            "T",
            columns: [
                ColumnSchema("t", ColumnType(.string, optional: true), indexes: [.words, .values]), ColumnSchema("n", ColumnType(.int)),
            ])
        let words = [
            "snow", "Snö", "ice", "icecream", "İstanbul", "Zürich", "zurich", "42", "extraordinarily", "extraordinary", "the", "THE", "日本",
            "e\u{301}clair", "Éclair",
        ]
        var random = RandomTables(seed), used = 0
        func text() -> Value {
            if random.chance(10) { return .null }
            var text = ""
            for _ in 0..<random.number(0...6) {
                let word = random.chance(60) ? "w\(random.number(0...400))" : words[random.number(0...words.count - 1)]
                text += word + [" ", ", ", "-", "\n", ".", "_"][random.number(0...5)]
            }
            return .string(text)
        }
        for round in 0..<4 {
            let transaction = try database.begin()
            if round == 0 { try transaction.extendSchema([type]) }
            let rows = (0..<2500).map { [text(), .int(Int64($0))] }
            try transaction.bulkWriter("T").append(RandomTables.batch(rows, of: type, in: Schema([type])))
            for _ in 0..<30 { try transaction.insert("T", [text(), .int(0)]) }
            for _ in 0..<(round == 2 ? 300 : 10) { try transaction.update("T", rowID: Int64(random.number(0...2499)), column: "t", text()) }
            try transaction.commit()
            #expect(try database.snapshot().verify(full: true).isEmpty)
            let table = try database.snapshot().table(named: "T")!
            for _ in 0..<60 {
                let terms = (0..<random.number(1...3)).map { _ in
                    let word = random.chance(50) ? "w\(random.number(0...400))" : words[random.number(0...words.count - 1)]
                    return (random.chance(20) ? "-" : "") + (random.chance(30) ? String(word.prefix(random.number(1...12))) + "*" : word)
                }
                let request = QueryRequest(
                    filter: random.chance(30) ? "t TEXT $0 AND n < 900" : "t TEXT $0", arguments: [.string(terms.joined(separator: " "))])
                let with = try QueryRun(request, table: table), without = try QueryRun(request, table: table, usingIndexes: false)
                #expect(try with.rowLocations().elementsEqual(without.rowLocations()) { $0 == $1 }, "seed \(seed): \(terms)")
                if with.explain().contains("index T.t") { used += 1 }
            }
        }
        #expect(used > 60, "seed \(seed): the index was used \(used) times")
    }

    @Test func `the plan reports the index, the number of candidate rows, and the segments read`() throws {
        let folder = TemporaryFolder(), database = try Database.create(path: folder.file("a.firn"))
        let type = TypeSchema(
            "Dog", columns: [ColumnSchema("name", ColumnType(.string), indexes: .values), ColumnSchema("age", ColumnType(.int))])
        let transaction = try database.begin()
        try transaction.extendSchema([type])
        let rows = (0..<200_000).map { [Value.string("name \(($0 * 7919) % 200_000)"), .int(Int64($0 % 20))] }
        try transaction.bulkWriter("Dog").append(RandomTables.batch(rows, of: type, in: Schema([type])))
        try transaction.commit()
        let table = try database.snapshot().table(named: "Dog")!
        let run = try QueryRun(QueryRequest(filter: "name == 'name 77' AND age < 50"), table: table)
        #expect(try run.count() == 1)
        let plan = run.explain()
        #expect(plan.contains("index Dog.name: 1 candidate row, in 1 of 4 segments"), "\(plan)")
        #expect(run.statistics.vectorsDecoded + run.statistics.codeVectorsDecoded <= 2, "\(plan)")
        let many = try QueryRun(QueryRequest(filter: "name BEGINSWITH 'name '"), table: table)
        #expect(try many.count() == 200_000 && !many.explain().contains("index"))
        let groups = try QueryRun(
            QueryRequest(filter: "name IN {'name 5', 'name 6', 'no name'}", aggregates: [Aggregate(.count)]), table: table)
        var total: Value?
        try groups.forEachBatch { batch in
            total = batch.columns[0].value(at: 0)
            return true
        }
        #expect(total == .int(2) && groups.explain().contains("index Dog.name: 2 candidate rows"))
        #expect(
            try QueryRun(QueryRequest(filter: "name IN {'name 5', 'name 6'} SORT(name DESC) LIMIT(1)", select: ["name"]), table: table)
                .count() == 1)
    }
}

extension String {
    /// Booleans have no order.
    fileprivate func replacingOccurrences(_ kind: ScalarKind) -> String { kind == .bool || kind == .any ? "==" : self }
}
