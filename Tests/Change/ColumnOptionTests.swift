import FirnBytes
import FirnChange
import FirnKit
import FirnTable
import Testing

/// The options of single columns: tolerances, new names, and fields of objects.
@Suite struct ColumnOptionTests {
    private let columns = [
        column("id", .int), column("a", .int), column("b", .double), column("c", .decimal), column("d", .any),
        ColumnSchema("e", ColumnType(.double, optional: true, collection: .list)),
    ]

    /// Whether two numbers are equal within a tolerance, in decimals of two places.
    private func isNear(_ x: Int, _ y: Int, _ tolerance: (amount: Int, percent: Int)) -> Bool {
        abs(x - y) <= tolerance.amount || abs(x - y) * 100 <= tolerance.percent * max(abs(x), abs(y))
    }

    @Test(arguments: Seed.first(20)) func `the tolerance of each column decides which of its numbers differ`(seed: Seed) throws {
        var random = Random(seed)
        // Multiples of a quarter, which doubles have exactly.
        func number() -> Int { random.number(-200...200) * 25 }
        func values(_ numbers: [Int], _ random: inout Random) -> [Value] {
            [
                .int(Int64(numbers[0] / 25)), .double(Double(numbers[1]) / 100), .decimal(Decimal("\(Double(numbers[2]) / 100)")!),
                random.bool() ? .double(Double(numbers[3]) / 100) : .decimal(Decimal("\(Double(numbers[3]) / 100)")!),
                .list([.double(1), .double(Double(numbers[4]) / 100)]),
            ]
        }
        var before: [[Int]] = []
        var after: [[Int]] = []
        for _ in 0..<60 {
            let row = (0..<5).map { _ in number() }
            before.append(row)
            after.append(row.map { random.bool() ? $0 : $0 + random.number(-12...12) * 25 })
        }
        let old = table(columns, before.enumerated().map { [.int(Int64($0))] + values($1, &random) })
        let new = table(columns, after.enumerated().map { [.int(Int64($0))] + values($1, &random) })
        let names = ["a", "b", "c", "d", "e"]
        let tolerances: [(amount: Int, percent: Int)] = names.map { _ in
            random.bool() ? (random.number(0...10) * 25, 0) : (0, random.number(0...60))
        }
        // The column `a` has the numbers in units, so its amount is in units.
        let amounts = zip(names, tolerances).map { name, tolerance in Double(tolerance.amount) / (name == "a" ? 25 : 100) }
        let result = try difference(old, new) {
            $0.key = ["id"]
            $0.tolerance = 1000
            for (i, name) in names.enumerated() {
                $0.tolerances[name] = Tolerance(amount: amounts[i], percent: Double(tolerances[i].percent))
            }
        }
        for (i, found) in result.columns.enumerated() {
            let expected = before.indices.filter { !isNear(before[$0][i], after[$0][i], tolerances[i]) }.count
            #expect(found.changed == expected, "\(found.name) \(tolerances[i])")
        }
    }

    @Test func `percentages of the largest numbers, of infinities and of zero are exact`() {
        let tolerance = Tolerance(percent: 10)
        #expect(tolerance.permits(1.7e308, 1.6e308) && !tolerance.permits(1.7e308, 1.5e308))
        #expect(!tolerance.permits(Double.infinity, 5) && !tolerance.permits(.nan, 5) && !tolerance.permits(0.0, 1))
        #expect(tolerance.permits(100.0, 90) && tolerance.permits(-90.0, -100) && !tolerance.permits(-1.0, 1))
        #expect(tolerance.permits(Int64.max, Int64.max - 1) && !tolerance.permits(Int64.min, Int64.max))
        #expect(Tolerance(percent: 57).permits(100.0, 43) && !Tolerance(percent: 0).permits(1.0, 2))
    }

    @Test func `a renamed column is compared under its new name, and its table keeps its rows`() throws {
        let old = table(
            [column("nr", .int), column("v", .int), column("w", .int)], (0..<20).map { [.int($0), .int($0), .int(1)] }, key: ["nr"])
        let new = table(
            [column("id", .int), column("w", .int), column("v", .int)], (0..<20).map { [.int($0), .int($0), .int(2)] }, key: ["id"])
        var options = DifferenceOptions()
        options.renamed = [("nr", "id"), ("v", "w"), ("w", "v")]
        let renamed = try TableDifference.renamed(old: old, new: new, options: options)
        let result = try TableDifference.compute(old: renamed, new: new, options: options)
        #expect(result.key.map(\.name) == ["id"] && result.columns.map(\.name) == ["w", "v"] && result.columns.map(\.changed) == [0, 20])
        #expect(result.schema.renamed.map(\.old) == ["nr", "v", "w"] && result.schema.added.isEmpty && result.schema.removed.isEmpty)
        #expect(!result.schema.hasOtherColumns && !result.schema.isEmpty)
        for wrong in [[("x", "id")], [("nr", "x")], [("v", "w")]] {
            options.renamed = wrong
            #expect(throws: FirnError.self) { try TableDifference.renamed(old: old, new: new, options: options) }
        }
    }
}
