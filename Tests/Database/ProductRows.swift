import FirnCodecs
import FirnKit

@testable import FirnDatabase
@testable import FirnStore
@testable import FirnTable

/// The rows of the golden file of products and quotients: totals in cents, rates as all bits of a double and of a Float, and relative
/// changes, with exceptions and nulls.
enum ProductRows {
    static let region = TypeSchema(
        "Region",
        columns: [
            ColumnSchema("people", ColumnType(.int)), ColumnSchema("cases", ColumnType(.int, optional: true)),
            ColumnSchema("rate", ColumnType(.double, optional: true)), ColumnSchema("wage", ColumnType(.double)),
            ColumnSchema("hours", ColumnType(.int)), ColumnSchema("pay", ColumnType(.double)), ColumnSchema("area", ColumnType(.float)),
            ColumnSchema("density", ColumnType(.float)), ColumnSchema("before", ColumnType(.int)), ColumnSchema("after", ColumnType(.int)),
            ColumnSchema("change", ColumnType(.double)),
        ])

    static var rows: [[Value]] {
        (0..<2600).map { i in
            let x = GoldenRows.mix(i), y = GoldenRows.mix(i + 100_000), people = 1000 + Int64(x % 5_000_000), cases = Int64(y % 40_000)
            let wage = Double(900 + x >> 40 % 9000) / 100, hours = Int64(y >> 40 % 200), area = Float(1 + y >> 20 % 100_000) / 8
            let before = 1 + Int64(x >> 22 % 100_000), after = Int64(y >> 50 % 9000) * 11
            return [
                .int(people), i % 19 == 3 ? .null : .int(cases),
                i % 23 == 4 ? .null : .double(i % 83 == 7 ? 1 / 3 : Double(cases) / Double(people) * 1000), .double(wage), .int(hours),
                .double(i % 97 == 5 ? -0.0 : (wage * Double(hours) * 100).rounded() / 100), .float(area), .float(Float(people) / area),
                .int(before), .int(after), .double((Double(after) / Double(before) * 10_000 - 10_000).rounded() / 100),
            ]
        }
    }

    @Sendable static func write(_ path: String) throws {
        let database = try Database.create(path: path), transaction = try database.begin()
        try transaction.extendSchema([region])
        try transaction.bulkWriter("Region").append(RandomBatches.batch(rows, of: region))
        try transaction.commit()
    }
}
