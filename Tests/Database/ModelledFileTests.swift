import FirnBytes
import FirnCodecs
import FirnKit
import Testing

@testable import FirnDatabase
@testable import FirnStore
@testable import FirnTable

/// Rows whose columns are modelled: names, addresses, and numbers whose digits have something in common.
enum ModelledRows {
    static let type = TypeSchema(
        "Stop",
        columns: [
            ColumnSchema("id", ColumnType(.int)), ColumnSchema("address", ColumnType(.string, optional: true)),
            ColumnSchema("price", ColumnType(.int)),
        ])

    static func row(_ i: Int) -> [Value] {
        let x = GoldenRows.mix(i), streets = ["Main Street", "Station Road", "Mill Lane", "High Street", "Church Lane", "Park Avenue"]
        return [
            .int(Int64(i)), i % 13 == 3 ? .null : .string("\(x % 400 + 1) \(streets[Int(x >> 20 % 6)]), floor \(x >> 40 % 9)"),
            .int(Int64(x >> 8 % 90_000) * 1000 + [5, 250, 499, 999][Int(x >> 50 % 4)]),
        ]
    }

    static var rows: [[Value]] { (0..<900).map(row) }

    static func write(_ path: String) throws {
        let transaction = try Database.create(path: path).begin()
        transaction.profile = .small
        try transaction.extendSchema([type])
        try transaction.bulkWriter("Stop").append(RandomBatches.batch(rows, of: type))
        try transaction.commit()
    }
}

@Suite struct ModelledFileTests {
    /// Returns the encodings of the address and the price.
    private func encodings(_ database: Database) throws -> [String] {
        try database.snapshot().statistics()[0].columns.dropFirst().map { $0.encodings.map(\.name).joined(separator: " ") }
    }

    private func file(_ path: String, rows: Int, profile: Profile, parts: Int = 1) throws -> Database {
        let database = try Database.create(path: path)
        for part in 0..<parts {
            let transaction = try database.begin()
            transaction.profile = profile
            if part == 0 { try transaction.extendSchema([ModelledRows.type]) }
            let batch = (rows / parts * part..<rows / parts * (part + 1)).map(ModelledRows.row)
            try transaction.bulkWriter("Stop").append(RandomBatches.batch(batch, of: ModelledRows.type))
            try transaction.commit()
        }
        return database
    }

    @Test func `the columns of a type of one segment are modelled with the profile small, and only with it`() throws {
        let folder = TemporaryFolder()
        let small = try file(folder.file("small.firn"), rows: 900, profile: .small)
        #expect(try encodings(small) == ["modelled", "modelled"])
        #expect(try small.store.newestRoot().readerFeatures == 1 << 35)
        for profile in [Profile.fast, .standard] {
            let other = try file(folder.file("\(profile).firn"), rows: 900, profile: profile)
            #expect(try !encodings(other).joined().contains("modelled"))
            #expect(try other.store.newestRoot().readerFeatures & 1 << 35 == 0)
            let compacted = folder.file("\(profile)-small.firn")
            try other.snapshot().compact(to: compacted, profile: .small)
            let opened = try Database.open(path: compacted)
            #expect(try encodings(opened) == ["modelled", "modelled"])
            #expect(try allRows(opened.snapshot().table(named: "Stop")!).map(\.values) == ModelledRows.rows)
        }
    }

    @Test func `types of several segments are not modelled`() throws {
        let folder = TemporaryFolder()
        let parts = try file(folder.file("parts.firn"), rows: 1800, profile: .small, parts: 2)
        // Only the first part was the only one when it was written.
        #expect(try parts.snapshot().statistics()[0].columns[1].encodings.reduce(0) { $0 + $1.segments } == 2)
        #expect(try parts.snapshot().statistics()[0].columns[1].encodings.filter { $0.name == "modelled" }.map(\.segments) == [1])
        let large = try file(folder.file("large.firn"), rows: 66_000, profile: .small)
        #expect(try !encodings(large).joined().contains("modelled"))
    }
}
