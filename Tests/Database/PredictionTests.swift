import FirnBytes
import FirnCodecs
import FirnKit
import Testing

@testable import FirnDatabase
@testable import FirnStore
@testable import FirnTable

/// Columns that other columns or earlier rows predict: random tables with planted relations, written, changed, compacted and read.
@Suite struct PredictionTests {
    private let type = TypeSchema(
        "T",
        columns: [
            ColumnSchema("start", ColumnType(.date)), ColumnSchema("days", ColumnType(.int)),
            ColumnSchema("end", ColumnType(.date, optional: true)), ColumnSchema("gross", ColumnType(.double)),
            ColumnSchema("tax", ColumnType(.double)), ColumnSchema("net", ColumnType(.double, optional: true)),
            ColumnSchema("celsius", ColumnType(.double)), ColumnSchema("fahrenheit", ColumnType(.double)),
            ColumnSchema("years", ColumnType(.double)), ColumnSchema("single", ColumnType(.float)),
            ColumnSchema("region", ColumnType(.string)),
            ColumnSchema("total", ColumnType(.int, optional: true)), ColumnSchema("level", ColumnType(.float, optional: true)),
        ])

    /// Rows with relations, of which one in `exceptions` does not hold, and nulls. Totals grow in each of `regions` groups.
    private func rows(_ count: Int, regions: Int, exceptions: Int, _ random: inout Random) -> [[Value]] {
        var totals = (0..<regions).map { _ in Int64(random.below(1_000_000)) }
        return (0..<count).map { i in
            let isException = exceptions > 0 && random.below(exceptions) == 0
            let days = random.below(20_000), start = 10_000 + random.below(9000), region = i % regions
            let gross = random.below(10_000_000), tax = random.below(3_000_000), celsius = random.below(4000) - 2000
            totals[region] += Int64(random.below(30))
            return [
                .date(Timestamp(seconds: Int64(start) * 86_400)), .int(Int64(days)),
                random.chance(10)
                    ? .null : .date(Timestamp(seconds: Int64(start + days + (isException ? 1 + random.below(9) : 0)) * 86_400)),
                .double(Double(gross) / 100), .double(Double(tax) / 100),
                random.chance(15) ? .null : .double(isException ? .pi * Double(gross) : Double(gross - tax) / 100),
                .double(Double(celsius) / 10), .double(isException ? -0.0 : ((Double(celsius) / 10 * 1.8 + 32) * 100).rounded() / 100),
                .double(Double(days) / 365.25), .float(Float(Double(gross + 25) / 100)), .string("region \(region)"),
                random.chance(20) ? .null : .int(totals[region]), random.chance(20) ? .null : .float(Float(random.below(1000)) / 10),
            ]
        }
    }

    @Test(arguments: Tier.isLong ? [1, 2, 3, 4, 5] : [1, 2, 4])
    func `predicted columns stay the same through changes, flushes and compaction`(_ seed: UInt64) throws {
        var random = Random(seed: seed)
        let count = [1500, 5000, 20_000, 70_000, 9000][Int(seed - 1)], exceptions = [0, 40, 50, 100, 30][Int(seed - 1)]
        let rows = rows(count, regions: count / 40, exceptions: exceptions, &random)
        let folder = TemporaryFolder(), profile: Profile = seed == 2 ? .small : .standard
        let table = try OneTypeFile(type, rows, folder.file("a.firn"), profile: profile), database = table.database
        var model = Dictionary(uniqueKeysWithValues: rows.enumerated().map { (Int64($0.offset), $0.element) })
        let names = try table.encodings
        #expect(names["single"]!.hasPrefix("linear(") || names["gross"]!.hasPrefix("linear("), "\(names)")
        #expect(names["net"]!.hasPrefix("linear(") || names["gross"]!.hasPrefix("linear("), "\(names)")
        #expect(names["end"]!.hasPrefix("linear(") || names["days"]!.hasPrefix("linear("), "\(names)")
        #expect(names["years"]!.hasPrefix("linear(") || names["days"]!.hasPrefix("linear("), "\(names)")
        let degrees = names["fahrenheit"]! + names["celsius"]!
        #expect(degrees.contains("linear(") || degrees.contains("map("), "\(names)")
        #expect(names["total"]!.hasPrefix("last(region)"), "\(names)")
        #expect(try database.store.newestRoot().readerFeatures & ReaderFeature.predictions.bit != 0)
        try table.expect(model, "written")

        // A few changes become chunk overlays, many of them new chunks: of predicted columns, and of those that predict.
        for (column, share) in [(2, 100), (3, 2), (5, 2), (1, 3), (10, 2)] {
            try table.change(column: column, oneIn: share, deleting: random.below(count), &model, from: rows)
            if count < 10_000 || Tier.isLong || column == 10 { try table.expect(model, "flushed \(column) in one of \(share)") }
        }
        try database.snapshot().compact(to: folder.file("b.firn"))
        try OneTypeFile(opening: folder.file("b.firn"), type).expect(model, "compacted")
    }

    @Test func `the same rows give the same encodings, and fast files predict nothing`() throws {
        var random = Random(seed: 9)
        let rows = rows(3000, regions: 30, exceptions: 50, &random), folder = TemporaryFolder()
        let names = try OneTypeFile(type, rows, folder.file("a.firn")).encodings
        #expect(try names == OneTypeFile(type, rows, folder.file("b.firn")).encodings)
        let fast = try OneTypeFile(type, rows, folder.file("c.firn"), profile: .fast)
        #expect(try !fast.encodings.values.contains { $0.contains("linear(") || $0.contains("last(") })
        #expect(try fast.database.store.newestRoot().readerFeatures & ReaderFeature.predictions.bit == 0)
    }

    @Test func `sums of three and four columns are found`() throws {
        var random = Random(seed: 21)
        let kinds: [(String, ScalarKind)] = [
            ("a", .int), ("b", .int), ("c", .int), ("sum", .int), ("x", .double), ("y", .double), ("z", .double), ("w", .double),
            ("balance", .double), ("day", .date),
        ]
        let type = TypeSchema("T", columns: kinds.map { ColumnSchema($0.0, ColumnType($0.1)) })
        let rows = (0..<3000).map { i -> [Value] in
            let n = (0..<3).map { _ in Int64(random.below(100_000)) }, cents = (0..<4).map { _ in random.below(1_000_000) }
            let sum = n.reduce(0, +) + (i % 61 == 0 ? 1 : 0), balance = cents[0] + cents[1] - cents[2] - cents[3]
            return n.map { .int($0) } + [.int(sum)] + cents.map { .double(Double($0) / 100) }
                + [.double(Double(balance) / 100), .date(Timestamp(seconds: Int64(random.below(9000)) * 86_400))]
        }
        let folder = TemporaryFolder(), table = try OneTypeFile(type, rows, folder.file("a.firn")), database = table.database
        let names = try table.encodings, predicted = names.filter { $0.value.hasPrefix("linear(") }
        #expect(predicted.count == 2 && Set(predicted.keys).intersection(["a", "b", "c", "sum"]).count == 1, "\(names)")
        #expect(predicted.contains { $0.value.hasPrefix("linear(a, b, c)") || $0.value.contains("sum") }, "\(names)")
        #expect(predicted.contains { $0.value.split(separator: ")")[0].split(separator: ",").count == 4 }, "\(names)")
        let snapshot = try database.snapshot()
        for (row, wanted) in zip(try allRows(snapshot.table(named: "T")!), rows) where row.values != wanted {
            Issue.record("\(row.values) for \(wanted)")
        }
        #expect(snapshot.verify(full: true).isEmpty)
    }

    @Test func `dates are predicted in days`() throws {
        var random = Random(seed: 22)
        let type = TypeSchema("T", columns: ["shipped", "received"].map { ColumnSchema($0, ColumnType(.date)) })
        let rows = (0..<70_000).map { _ -> [Value] in
            let day = Int64(random.below(2500)), later = day + 1 + Int64(random.below(30))
            return [day, later].map { .date(Timestamp(seconds: (8000 + $0) * 86_400)) }
        }
        let folder = TemporaryFolder(), table = try OneTypeFile(type, rows, folder.file("a.firn")), database = table.database
        let names = try table.encodings
        #expect(names["received"]!.hasPrefix("linear(shipped)") && !names["shipped"]!.contains("linear("), "\(names)")
        let read = try allRows(database.snapshot().table(named: "T")!)
        for (row, wanted) in zip(read, rows) where row.values != wanted { Issue.record("\(row.values) for \(wanted)") }
    }

    @Test func `numbers without a relation are not predicted`() throws {
        var random = Random(seed: 4)
        let noise = TypeSchema("N", columns: (0..<6).map { ColumnSchema("c\($0)", ColumnType($0 % 2 == 0 ? .int : .double)) })
        let rows = (0..<4000).map { _ in
            (0..<6).map { $0 % 2 == 0 ? Value.int(Int64(random.below(100_000))) : .double(Double(random.below(100_000)) / 100) }
        }
        let folder = TemporaryFolder(), table = try OneTypeFile(noise, rows, folder.file("a.firn")), database = table.database
        #expect(try database.store.newestRoot().readerFeatures & ReaderFeature.predictions.bit == 0)
    }

    @Test(arguments: ["one value", "new values", "none"])
    func `groups of later segments differ from those of the first`(later: String) throws {
        var random = Random(seed: 11)
        let pair = TypeSchema(
            "T", columns: [ColumnSchema("group", ColumnType(.string, optional: true)), ColumnSchema("total", ColumnType(.int))])
        var totals = (0..<50).map { _ in Int64(random.below(1 << 40)) }
        let rows = (0..<150_000).map { i -> [Value] in
            totals[i % 50] += Int64(random.below(100))
            let group: Value =
                i < 70_000 || later == "none" && i % 2 == 0
                ? .string("group \(i % 50)")
                : later == "one value" ? .string("group 1") : later == "none" ? .null : .string("group \(random.below(1 << 40)) of many")
            return [group, .int(totals[i % 50])]
        }
        let folder = TemporaryFolder(), table = try OneTypeFile(pair, rows, folder.file("a.firn")), database = table.database
        #expect(try table.encodings["total"]!.contains("last(group)"))
        let snapshot = try Database.open(path: database.path).snapshot()
        #expect(try allRows(snapshot.table(named: "T")!).map(\.values) == rows)
        #expect(snapshot.verify(full: true).isEmpty)
    }

    @Test func `full segments are predicted where entropy coding of the differences makes it worth while`() throws {
        // Numbers of eight bits. The differences of `near` have little more than five bits of entropy, and six packed bits; those of `wide`
        // half a bit more.
        let triple = TypeSchema(
            "N",
            columns: [
                ColumnSchema("base", ColumnType(.int)), ColumnSchema("near", ColumnType(.int)), ColumnSchema("other", ColumnType(.int)),
                ColumnSchema("wide", ColumnType(.int)),
            ])
        var random = Random(seed: 7)
        func bell(_ width: Int) -> Int { (0..<12).reduce(0) { sum, _ in sum + random.below(width) } }
        let rows = (0..<65_536).map { _ -> [Value] in
            let base = random.below(180), other = random.below(140)
            return [.int(Int64(base)), .int(Int64(base + bell(9))), .int(Int64(other)), .int(Int64(other + bell(13)))]
        }
        let folder = TemporaryFolder(), names = try OneTypeFile(triple, rows, folder.file("a.firn")).encodings
        #expect(names["near"] == "linear(base) tANS", "\(names)")
        #expect(names["wide"] == "FOR", "\(names)")
    }

    @Test func `predicted columns may be almost empty in later segments`() throws {
        var random = Random(seed: 13)
        let type = TypeSchema(
            "T",
            columns: [
                ColumnSchema("a", ColumnType(.int)), ColumnSchema("price", ColumnType(.double)), ColumnSchema("group", ColumnType(.string)),
                ColumnSchema("sum", ColumnType(.int, optional: true)), ColumnSchema("product", ColumnType(.double, optional: true)),
                ColumnSchema("total", ColumnType(.int, optional: true)),
            ])
        var totals = (0..<50).map { _ in Int64(random.below(1 << 40)) }
        let rows = (0..<segmentSize * 2 + 500).map { i -> [Value] in
            let a = random.below(100_000), cents = random.below(50_000), group = i % 50, isEmpty = i >= segmentSize && i % 20 != 0
            totals[group] += Int64(random.below(100))
            return [
                .int(Int64(a)), .double(Double(cents) / 100), .string("group \(group)"), isEmpty ? .null : .int(Int64(a * 3 + i % 2)),
                isEmpty ? .null : .double(Double(a) * Double(cents) / 100), isEmpty ? .null : .int(totals[group]),
            ]
        }
        let folder = TemporaryFolder(), table = try OneTypeFile(type, rows, folder.file("a.firn")), names = try table.encodings
        #expect(names["sum"]!.contains("linear(a)") && names["product"]!.contains("product("), "\(names)")
        #expect(names["total"]!.contains("last(group)"), "\(names)")
        try table.expect(Dictionary(uniqueKeysWithValues: rows.enumerated().map { (Int64($0.offset), $0.element) }), "empty")
    }

    @Test func `versions are compared by value where a prediction leads to another chunk`() throws {
        var random = Random(seed: 5)
        let rows = rows(20_000, regions: 200, exceptions: 80, &random), folder = TemporaryFolder()
        let database = try OneTypeFile(type, rows, folder.file("a.firn")).database, before = try database.snapshot(),
            transaction = try database.begin()
        // Columns that predict others are encoded again; the others must not change.
        for i in 0..<20_000 where i % 3 != 0 {
            try transaction.update("T", rowID: Int64(i), column: "days", .int(Int64(i % 40)))
            try transaction.update("T", rowID: Int64(i), column: "gross", .double(Double(i % 40)))
            try transaction.update("T", rowID: Int64(i), column: "region", .string("r\(i % 9)"))
        }
        try transaction.flushAll()
        try transaction.commit()
        let after = try database.snapshot()
        let old = try before.core.segment(type: 0, index: 0), new = try after.core.segment(type: 0, index: 0)
        for column in type.columns.indices where ![1, 3, 10].contains(column) {
            #expect(try old.allRows(column).isStoredAs(try new.allRows(column)), "\(type.columns[column].name)")
        }
        #expect(after.verify(full: true).isEmpty)
    }
}
