import FirnCodecs
import FirnKit

@testable import FirnDatabase
@testable import FirnStore
@testable import FirnTable

/// The rows of the golden file of predicted numbers: by one and two columns, by a slope, and by the last number of a group, with exceptions
/// and nulls.
enum PredictedRows {
    static let stay = TypeSchema(
        "Stay",
        columns: [
            ColumnSchema("from", ColumnType(.date)), ColumnSchema("nights", ColumnType(.int)), ColumnSchema("to", ColumnType(.date)),
            ColumnSchema("price", ColumnType(.double)), ColumnSchema("tax", ColumnType(.double, optional: true)),
            ColumnSchema("house", ColumnType(.int)), ColumnSchema("meter", ColumnType(.double, optional: true)),
        ])

    static var rows: [[Value]] {
        (0..<2600).map { i in
            let x = GoldenRows.mix(i), from = Int64(17_000 + x % 2000), nights = Int64(x >> 20 % 600), cents = Int64(x >> 30 % 900_000)
            let house = i % 13, meter = Int64(house * 100_000 + i / 13 * 70) + Int64(x >> 50 % 60)
            return [
                .date(Timestamp(seconds: from * 86_400)), .int(nights),
                .date(Timestamp(seconds: (from + nights) * 86_400 + (i % 97 == 5 ? 3600 : 0))), .double(Double(cents) / 100),
                i % 19 == 3 ? .null : .double(i % 83 == 7 ? 1 / 3 : (Double(cents) * 0.19).rounded() / 100), .int(Int64(house * 7)),
                i % 23 == 4 ? .null : .double(Double(meter) / 10),
            ]
        }
    }

    @Sendable static func write(_ path: String) throws {
        let database = try Database.create(path: path), transaction = try database.begin()
        try transaction.extendSchema([stay])
        try transaction.bulkWriter("Stay").append(RandomBatches.batch(rows, of: stay))
        try transaction.commit()
    }
}
