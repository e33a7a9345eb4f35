import FirnBytes
import FirnKit
import Testing

@testable import FirnDatabase
@testable import FirnQuery
@testable import FirnTable

/// Bounds of text allow segments and vectors to be skipped, and never change an answer.
@Suite struct TextBoundsTests {
    private static let type = TypeSchema(
        "T",
        columns: [
            ColumnSchema("sorted", ColumnType(.string)), ColumnSchema("near", ColumnType(.string, optional: true)),
            ColumnSchema("long", ColumnType(.string)),
            ColumnSchema("bytes", ColumnType(.data, optional: true)), ColumnSchema("n", ColumnType(.int)),
        ])
    private static let start = String(repeating: "the same long beginning, ", count: 5)

    private static func text(_ random: inout RandomTables, _ round: Int) -> String {
        let letters = ["a", "b", "B", "é", "e\u{301}", "\u{0}", "~", "\u{10FFFF}", "z", "Z"]
        return (round % 3 == 0 ? "" : String(UnicodeScalar(UInt8(96 + round))))
            + (0..<random.number(0...4)).map { _ in letters[random.number(0...letters.count - 1)] }.joined()
    }

    private static func key(_ i: Int) -> String { "key-" + String(repeating: "0", count: max(0, 7 - "\(i)".count)) + "\(i)" }

    private static func row(_ i: Int, _ random: inout RandomTables) -> [Value] {
        let round = i / 1500
        return [
            .string(key(i)), random.chance(10) || round == 4 ? .null : .string(text(&random, round)),
            .string(start + "\(round)" + text(&random, 0)),
            random.chance(10)
                ? .null : .data((0..<random.number(0...3)).map { _ in UInt8([0, 1, 127, 128, 254, 255][random.number(0...5)]) }),
            .int(Int64(i)),
        ]
    }

    private static func anyText(_ random: inout RandomTables) -> String {
        let round = random.number(0...7)
        return text(&random, round)
    }

    private static func condition(_ random: inout RandomTables, _ arguments: inout [Value]) -> String {
        let column = random.number(0...3)
        func value() -> Value {
            switch column {
            case 0:
                .string(
                    random.chance(70)
                        ? key(random.number(0...9500)) : ["", "key", "key-", "key-0005", "kez", "key-0004999x"][random.number(0...5)])
            case 1: random.chance(5) ? .null : .string(anyText(&random))
            case 2: .string(random.chance(20) ? start : start + "\(random.number(0...7))" + text(&random, 0))
            default:
                random.chance(5)
                    ? .null : .data((0..<random.number(0...3)).map { _ in UInt8([0, 1, 127, 128, 254, 255][random.number(0...5)]) })
            }
        }
        func argument() -> String {
            arguments.append(value())
            return "$\(arguments.count - 1)"
        }
        let name = type.columns[column].name
        switch random.number(0...7) {
        case 0: return "\(name) IN {\((0..<random.number(0...3)).map { _ in argument() }.joined(separator: ", "))}"
        case 1: return "\(name) BETWEEN {\(argument()), \(argument())}"
        case 2: return "\(name) \(["BEGINSWITH", "ENDSWITH", "CONTAINS"][random.number(0...2)]) \(argument())"
        case 3 where column != 3: return "\(name) \(["==[c]", "==[d]", "BEGINSWITH[c]", "!=[cd]"][random.number(0...3)]) \(argument())"
        default: return "\(name) \(["==", "!=", "<", "<=", ">", ">="][random.number(0...5)]) \(argument())"
        }
    }

    private func memory(_ stored: any Table) throws -> MemoryTable {
        var batches: [Batch] = []
        for s in 0..<stored.segmentCount {
            let segment = try stored.segment(s)
            var batch = Batch(TextBoundsTests.type, in: Schema([TextBoundsTests.type]))
            for position in 0..<segment.rowCount where segment.live?[position] ?? true {
                for i in batch.columns.indices { batch.columns[i].append(try segment.column(i).value(at: position)) }
                batch.count += 1
            }
            batches.append(batch)
        }
        return MemoryTable(TextBoundsTests.type, schema: Schema([TextBoundsTests.type]), batches: batches)
    }

    @Test(arguments: Seed.first(Tier.cases(2, of: 3))) func `skipping by text bounds never changes an answer`(seed: Seed) throws {
        let folder = TemporaryFolder(), database = try Database.create(path: folder.file("a.firn"))
        var random = RandomTables(seed), next = 0, skipped = 0, ids: [Int64] = []
        for round in 0..<6 {
            let transaction = try database.begin()
            if round == 0 { try transaction.extendSchema([TextBoundsTests.type]) }
            let rows = (next..<next + 1500).map { TextBoundsTests.row($0, &random) }
            ids += (Int64(next)..<Int64(next) + 1500).map { $0 }
            next += 1500
            try transaction.bulkWriter("T").append(RandomTables.batch(rows, of: TextBoundsTests.type, in: Schema([TextBoundsTests.type])))
            try transaction.commit()
            if round >= 2 {
                let edits = try database.begin()
                for _ in 0..<(round == 3 ? 200 : 12) {
                    let column = random.number(0...3), from = random.number(0...next - 1)
                    try edits.update(
                        "T", rowID: ids[random.number(0...ids.count - 1)], column: TextBoundsTests.type.columns[column].name,
                        TextBoundsTests.row(from, &random)[column])
                }
                for _ in 0..<5 { try edits.delete("T", rowID: ids.remove(at: random.number(0...ids.count - 1))) }
                if round % 2 == 1 { try edits.flushAll() }
                try edits.commit()
            }
            let snapshot = try database.snapshot(), table = try #require(snapshot.table(named: "T")), memory = try memory(table)
            #expect(snapshot.verify(full: true).isEmpty)
            for _ in 0..<120 {
                var arguments: [Value] = []
                var text = TextBoundsTests.condition(&random, &arguments)
                if random.chance(30) { text = "NOT (\(text))" }
                if random.chance(30) {
                    text = "(\(text)) \(random.chance(50) ? "AND" : "OR") (\(TextBoundsTests.condition(&random, &arguments)))"
                }
                let run = try QueryRun(QueryRequest(filter: text, arguments: arguments), table: table)
                let found = try run.count(), wanted = try QueryRun(QueryRequest(filter: text, arguments: arguments), table: memory).count()
                #expect(found == wanted, "seed \(seed), round \(round): \(text) \(arguments)")
                skipped += run.statistics.segmentsSkipped
            }
        }
        #expect(skipped > 100, "\(skipped) segments were skipped")
    }

    @Test func `a look-up in sorted text visits one segment and one vector, and the plan shows it`() throws {
        let folder = TemporaryFolder(), database = try Database.create(path: folder.file("a.firn"))
        var random = RandomTables(seed: 9)
        var keyed = TextBoundsTests.type
        keyed.key = [0]
        func name(_ i: Int) -> String { TextBoundsTests.key(i) + "-" + String(UInt64(i + 1) &* 0x9E37_79B9_7F4A_7C15 >> 20, radix: 16) }
        for round in 0..<4 {
            let transaction = try database.begin()
            if round == 0 { try transaction.extendSchema([keyed]) }
            let rows = (round * 5000..<round * 5000 + 5000).map { [.string(name($0))] + TextBoundsTests.row($0, &random).dropFirst() }
            try transaction.bulkWriter("T").append(RandomTables.batch(rows, of: keyed, in: Schema([keyed])))
            try transaction.commit()
        }
        let table = try #require(try database.snapshot().table(named: "T"))
        let one = name(12_345), last = name(12_349)
        for (text, count) in [
            ("sorted == '\(one)'", 1), ("sorted BETWEEN {'\(one)', '\(last)'}", 5), ("sorted BEGINSWITH 'key-001234'", 10),
            ("sorted IN {'\(one)', 'x'}", 1),
        ] {
            let run = try QueryRun(QueryRequest(filter: text), table: table)
            #expect(try run.count() == count, "\(text)")
            #expect(run.statistics.segmentsSkipped == 3 && run.statistics.vectorsSkipped == 4, "\(text): \(run.statistics)")
            #expect(run.explain().contains("3 skipped by zones"), "\(run.explain())")
        }
        let folded = try QueryRun(QueryRequest(filter: "sorted ==[c] '\(one.uppercased())'"), table: table)
        #expect(try folded.count() == 1 && folded.statistics.segmentsSkipped == 0)
    }

    @Test func `shortened and merged bounds never contradict the values`() {
        var random = RandomTables(seed: 4)
        func bytes() -> [UInt8] {
            (0..<(random.chance(20) ? random.number(90...130) : random.number(0...4))).map { _ in
                UInt8([0, 97, 98, 255][random.chance(80) ? 1 : random.number(0...3)])
            }
        }
        func bounds(_ values: [[UInt8]]) -> TextBounds {
            var text = Text()
            for value in values { value.withUnsafeBytes { text.append($0) } }
            return TextBounds(text, present: nil, count: values.count)!
        }
        var decided = 0
        for _ in 0..<20_000 {
            let one = (0..<random.number(1...3)).map { _ in bytes() }, two = (0..<random.number(1...3)).map { _ in bytes() }
            let exact = bounds(one + two), joined = bounds(one).shortened.union(bounds(two).shortened).shortened
            #expect(exact.shortened.covers(exact) && joined.covers(exact) && !joined.ascends, "\(one) \(two)")
            #expect(bounds(one).ascends == zip(one, one.dropFirst()).allSatisfy { !$1.lexicographicallyPrecedes($0) })
            let a = bytes(), b = bytes()
            let forms: [TextTest.Form] = [
                .equal(a), .prefix(a), .oneOf([a, b].sorted { $0.lexicographicallyPrecedes($1) }),
                .range(low: a, lowIncluded: random.chance(50), high: b, highIncluded: random.chance(50)),
                .range(low: nil, lowIncluded: false, high: b, highIncluded: random.chance(50)),
                .range(low: a, lowIncluded: random.chance(50), high: nil, highIncluded: false), .contains(a),
            ]
            for form in forms {
                let test = TextTest(form, folding: Folding())
                var scratch: [UInt8] = []
                let hits = (one + two).filter { value in value.withUnsafeBytes { test.matches($0, &scratch) } }.count,
                    all = one.count + two.count
                for bounds in [exact, exact.shortened, joined] {
                    let verdict = test.verdict(bounds, inverted: false)
                    if verdict != .unknown { decided += 1 }
                    #expect(verdict == .unknown || hits == (verdict == .all ? all : 0), "\(form) \(one) \(two) \(bounds)")
                    #expect(test.verdict(bounds, inverted: true) == verdict.inverted)
                }
            }
        }
        #expect(decided > 10_000)
    }
}
