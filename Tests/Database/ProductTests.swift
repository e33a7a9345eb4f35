import FirnCodecs
import FirnKit
import Testing

@testable import FirnDatabase
@testable import FirnStore
@testable import FirnTable

/// Columns that are products and quotients of others: random tables with planted relations, written, changed, compacted and read.
@Suite struct ProductTests {
    private let type = TypeSchema(
        "T",
        columns: [
            ColumnSchema("quantity", ColumnType(.int, optional: true)), ColumnSchema("price", ColumnType(.double)),
            ColumnSchema("total", ColumnType(.double)), ColumnSchema("people", ColumnType(.int)),
            ColumnSchema("cases", ColumnType(.int, optional: true)), ColumnSchema("rate", ColumnType(.double, optional: true)),
            ColumnSchema("area", ColumnType(.float)), ColumnSchema("density", ColumnType(.float)),
            ColumnSchema("before", ColumnType(.double)), ColumnSchema("after", ColumnType(.double)),
            ColumnSchema("change", ColumnType(.double, optional: true)), ColumnSchema("side", ColumnType(.double)),
            ColumnSchema("square", ColumnType(.int)),
        ])

    private func rows(_ count: Int, exceptions: Int, _ random: inout Random) -> [[Value]] {
        (0..<count).map { i in
            let isException = exceptions > 0 && random.below(exceptions) == 0
            let quantity = random.below(90), price = Double(1 + random.below(200_000)) / 100
            let people = 1000 + random.below(9_000_000), cases = random.below(50_000)
            let area = Float(1 + random.below(1_000_000)) / 16, before = Double(random.below(1_000_000)) / 1000
            let after = Double(random.below(1_000_000)) / 1000, side = Double(random.below(100_000)) / 8
            let relative = before == 0 || isException ? .pi : ((after - before) / before * 100 * 100).rounded() / 100
            return [
                random.chance(20) ? .null : .int(Int64(quantity)), .double(price),
                .double(isException ? -0.0 : (Double(quantity) * price * 100).rounded() / 100), .int(Int64(people)),
                random.chance(9) ? .null : .int(Int64(cases)),
                random.chance(11) ? .null : .double(isException ? .infinity : Double(cases) / Double(people) * 100_000),
                .float(area), .float(isException ? .nan : Float(people) / area), .double(before), .double(after),
                random.chance(15) ? .null : .double(relative), .double(side), .int(Int64((side * side * 0.785).rounded())),
            ]
        }
    }

    private let families = [
        ["quantity", "price", "total"], ["people", "cases", "rate"], ["before", "after", "change"], ["side", "square"],
    ]

    @Test(arguments: Tier.isLong ? [1, 2, 3, 4, 5] : [1, 2, 4])
    func `products and quotients stay the same through changes, flushes and compaction`(_ seed: UInt64) throws {
        var random = Random(seed: seed)
        let count = [1500, 5000, 20_000, 70_000, 9000][Int(seed - 1)], exceptions = [0, 40, 50, 100, 30][Int(seed - 1)]
        // NaN is not equal to itself.
        let rows = rows(count, exceptions: exceptions, &random).map { row in
            row.map { if case .float(let x) = $0, x.isNaN { Value.float(-1) } else { $0 } }
        }
        let folder = TemporaryFolder(), profile: Profile = seed == 2 ? .small : .standard
        let table = try OneTypeFile(type, rows, folder.file("a.firn"), profile: profile), database = table.database
        var model = Dictionary(uniqueKeysWithValues: rows.enumerated().map { (Int64($0.offset), $0.element) })
        let names = try table.encodings
        for family in families {
            #expect(family.contains { names[$0]!.hasPrefix("product(") || names[$0]!.hasPrefix("quotient(") }, "\(family): \(names)")
        }
        #expect(names["density"]!.hasPrefix("quotient(people, area)") || names["area"]!.hasPrefix("quotient("), "\(names)")
        #expect(try database.store.newestRoot().readerFeatures & ReaderFeature.products.bit != 0)
        try table.expect(model, "written")

        // A few changes become chunk overlays, many of them new chunks: of predicted columns, and of those that predict.
        for (column, share) in [(2, 100), (3, 2), (5, 2), (0, 3), (7, 2)] {
            try table.change(column: column, oneIn: share, deleting: random.below(count), &model, from: rows)
            if count < 10_000 || Tier.isLong || column == 7 { try table.expect(model, "flushed \(column) in one of \(share)") }
        }
        try database.snapshot().compact(to: folder.file("b.firn"))
        try OneTypeFile(opening: folder.file("b.firn"), type).expect(model, "compacted")
    }

    @Test func `products need fewer bytes, and an exact one needs almost none`() throws {
        var random = Random(seed: 31)
        let rows = rows(20_000, exceptions: 0, &random), folder = TemporaryFolder(),
            table = try OneTypeFile(type, rows, folder.file("a.firn"))
        let names = try table.encodings, columns = try table.database.snapshot().statistics()[0].columns
        let bytes = Dictionary(uniqueKeysWithValues: columns.map { ($0.name, $0.bytes) })
        // Where the quantity is null, the total is not predicted; 23 bits without a prediction.
        #expect(names["total"]!.hasPrefix("product(quantity, price)") && bytes["total"]! < 20_000 * 10 / 8, "\(names) \(bytes)")
        // 64 bits without a prediction; nulls of both columns are independent.
        #expect(names["rate"]!.hasPrefix("quotient(cases, people)") && bytes["rate"]! < 20_000 * 12 / 8, "\(names) \(bytes)")
        #expect(names["square"]!.hasPrefix("product(side, side)") && bytes["square"]! < 2000, "\(names) \(bytes)")
    }

    @Test func `the same rows give the same encodings, and fast files have no products`() throws {
        var random = Random(seed: 9)
        let rows = rows(3000, exceptions: 50, &random), folder = TemporaryFolder()
        let names = try OneTypeFile(type, rows, folder.file("a.firn")).encodings
        #expect(try names == OneTypeFile(type, rows, folder.file("b.firn")).encodings)
        let fast = try OneTypeFile(type, rows, folder.file("c.firn"), profile: .fast)
        #expect(try fast.database.store.newestRoot().readerFeatures & ReaderFeature.products.bit == 0)
    }

    @Test func `numbers that vary together by chance have no products`() throws {
        var random = Random(seed: 4)
        let type = TypeSchema("N", columns: (0..<7).map { ColumnSchema("c\($0)", ColumnType($0 % 2 == 0 ? .int : .double)) })
        let rows = (0..<4000).map { i in
            (0..<7).map { column -> Value in
                switch column {
                case 0, 2: .int(Int64(random.below(100_000)))
                case 4: .int(Int64(2000 + i / 200))
                case 6: .int(0)
                default: .double(Double(random.below(100_000) - 50_000) / 100)
                }
            }
        }
        let folder = TemporaryFolder(), table = try OneTypeFile(type, rows, folder.file("a.firn"))
        let names = try table.encodings
        #expect(try table.database.store.newestRoot().readerFeatures & ReaderFeature.products.bit == 0, "\(names)")
    }

    @Test func `the largest and smallest numbers neither trap nor change`() throws {
        let type = TypeSchema("E", columns: ["a", "b", "c", "n"].map { ColumnSchema($0, ColumnType($0 == "n" ? .int : .double)) })
        let extremes = [0, -0.0, .infinity, -.infinity, .leastNonzeroMagnitude, -.greatestFiniteMagnitude, 1e-300, 1e300]
        var random = Random(seed: 12)
        let rows = (0..<3000).map { i -> [Value] in
            let isExtreme = i % 3 == 0
            let a = isExtreme ? extremes[random.below(8)] : Double(random.below(10_000)), b = Double(1 + random.below(3000)) * 1e-280
            let n: Int64 = isExtreme ? [.max, .min, 0, -1][random.below(4)] : Int64(random.below(90_000))
            let quotient = a / b
            return [.double(a), .double(b), .double(quotient.isNaN ? 1 : quotient), .int(n)]
        }
        let folder = TemporaryFolder(), table = try OneTypeFile(type, rows, folder.file("a.firn"))
        try table.expect(Dictionary(uniqueKeysWithValues: rows.enumerated().map { (Int64($0.offset), $0.element) }), "extremes")
    }
}
