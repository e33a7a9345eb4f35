import FirnBytes
import FirnCodecs
import FirnKit
import FirnTable
import Testing

@testable import FirnDatabase
@testable import FirnStore

/// Two segments of comments of which nearly all differ, so that no dictionary is smaller.
enum CommentRows {
    static let type = TypeSchema(
        "Item", columns: [ColumnSchema("id", ColumnType(.int)), ColumnSchema("comment", ColumnType(.string, optional: true))])

    static func row(_ i: Int) -> [Value] {
        guard i % 1000 != 5 else { return [.int(Int64(i)), .null] }
        let x = GoldenRows.mix(i), how = ["carefully", "quickly", "slyly", "furiously"]
        let what = ["deposits", "requests", "packages", "accounts"]
        return [.int(Int64(i)), .string("\(how[Int(x & 3)]) \(what[Int(x >> 4 & 3)]) \(x >> 14 % 100_000)")]
    }

    static var rows: [[Value]] { (0..<66_000).map(row) }

    static func write(_ path: String) throws { try write(path, profile: .small) }

    static func write(_ path: String, profile: Profile) throws {
        let transaction = try Database.create(path: path).begin()
        transaction.profile = profile
        try transaction.extendSchema([type])
        try transaction.bulkWriter("Item").append(RandomBatches.batch(rows, of: type))
        try transaction.commit()
    }
}

@Suite struct ContextFileTests {
    @Test func `comments are coded in contexts, but not with the profile fast, and the file says so`() throws {
        for profile in [Profile.small, .standard, .fast] {
            let folder = TemporaryFolder(), path = folder.file("a.firn")
            try CommentRows.write(path, profile: profile)
            let database = try Database.open(path: path), snapshot = try database.snapshot()
            let names = try snapshot.statistics()[0].columns[1].encodings.map(\.name)
            let isUsed = try database.store.newestRoot().readerFeatures & ReaderFeature.contextCodedText.bit != 0
            #expect(names.contains { $0.contains("symbols in contexts") } == (profile != .fast), "\(names)")
            #expect(isUsed == (profile != .fast))
            #expect(snapshot.verify(full: true).isEmpty)
            let segment = try #require(snapshot.table(named: "Item")).segment(0)
            for i in [0, 5, 13, 1005, 65_029] { #expect(try segment.column(1).value(at: i) == CommentRows.row(i)[1]) }
        }
    }
}
