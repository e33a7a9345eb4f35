import FirnBytes
import FirnDatabase
import FirnKit
import FirnTable
import Testing

@testable import FirnQuery

/// The least and the greatest text of groups.
@Suite struct TextExtremeTests {
    private static let type = TypeSchema(
        "R",
        columns: [
            ColumnSchema("g", ColumnType(.int)), ColumnSchema("s", ColumnType(.string, optional: true)),
            ColumnSchema("b", ColumnType(.data, optional: true)),
        ])

    private func text(_ random: inout Random) -> String {
        let starts = ["", "a", "same start ", "same sta", "é", "zz"]
        return starts[random.below(starts.count)] + (random.bool() ? "" : "\(random.below(300))")
    }

    private func rows(_ count: Int, _ random: inout Random, isRepeated: Bool) -> [[Value]] {
        let words = (0..<6).map { _ in text(&random) }
        return (0..<count).map { i in
            let text = isRepeated ? words[random.below(words.count)] : text(&random)
            return [
                .int(Int64(random.below(5))), random.below(6) == 0 ? .null : .string(text),
                random.below(6) == 0 ? .null : .data((0..<random.below(12)).map { _ in UInt8(random.below(3)) &* 127 }),
            ]
        }
    }

    private func expected(_ rows: [[Value]], by group: Bool) -> [[Value]] {
        var groups: [(key: Value, rows: [[Value]])] = []
        for row in rows {
            let key = group ? row[0] : .null
            if let known = groups.firstIndex(where: { $0.key == key }) {
                groups[known].rows.append(row)
            } else {
                groups.append((key, [row]))
            }
        }
        return groups.map { group in
            [1, 2].flatMap { column in
                let values = group.rows.map { $0[column] }.filter { !$0.isNull }.sorted { Value.order($0, $1) < 0 }
                return [values.first ?? .null, values.last ?? .null]
            }
        }
    }

    @Test(arguments: Seed.first(12)) func `they are those of a simple evaluator, from values and from codes`(seed: Seed) throws {
        var random = Random(seed)
        let folder = TemporaryFolder(), database = try Database.create(path: folder.file("a.firn")), transaction = try database.begin()
        try transaction.extendSchema([Self.type])
        var all: [[Value]] = []
        for part in 0..<3 {
            let rows = rows(400 + random.below(1500), &random, isRepeated: (part + Int(seed.number)) % 2 == 0)
            try transaction.bulkWriter("R").append(RandomTables.batch(rows, of: Self.type, in: Schema([Self.type])))
            try transaction.bulkWriter("R").finish()
            all += rows
        }
        try transaction.commit()
        let snapshot = try database.snapshot(), table = snapshot.table(named: "R")!
        for (isGrouped, threads) in [(false, 1), (true, 1), (true, 3)] {
            let request = QueryRequest(
                groupBy: isGrouped ? ["g"] : [], aggregates: try Aggregate.list("min(s), max(s), min(b), max(b)"))
            var found: [[Value]] = []
            try QueryRun(request, table: table, threads: threads).forEachBatch { batch in
                for row in 0..<batch.count { found.append(batch.columns.suffix(4).map { $0.value(at: row) }) }
                return true
            }
            #expect(found == expected(all, by: isGrouped))
        }
    }

    @Test(arguments: Seed.first(20)) func `SORT in the text of a query changes groups only if rows are chosen after it`(seed: Seed) throws {
        var random = Random(seed)
        let data = RandomTable(&random)
        func groups(_ descriptors: String) throws -> (rows: [[Value]], plan: String) {
            let request = QueryRequest(
                filter: "TRUEPREDICATE" + descriptors, groupBy: ["s"], aggregates: try Aggregate.list("count, sum(i), first(d), max(s)"))
            let run = try QueryRun(request, table: data.table, threads: 1)
            var found: [[Value]] = []
            try run.forEachBatch { batch in
                for row in 0..<batch.count { found.append(batch.columns.map { $0.value(at: row) }) }
                return true
            }
            return (found, run.explain())
        }
        let plain = try groups(""), sorted = try groups(" SORT(i DESC) SORT(d ASC)")
        #expect("\(plain.rows)" == "\(sorted.rows)")
        #expect(!sorted.plan.contains("sort by"))
        let limited = try groups(" SORT(i DESC) LIMIT(5) SORT(d ASC)")
        #expect(limited.rows.reduce(0) { if case .int(let n) = $1[1] { $0 + Int(n) } else { $0 } } == min(5, data.rows.count))
    }
}
