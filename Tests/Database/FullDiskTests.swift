import FirnBytes
import FirnDisk
import FirnKit
import Foundation
import Testing

@testable import FirnDatabase

/// T5: a disk that is really full: a small one in memory. Needs root.
@Suite struct FullDiskTests {
    private func rows(_ database: Database) throws -> Int { try database.snapshot().table(named: "T")?.rowCount ?? 0 }

    @Test(arguments: [Durability.full, .none])
    func `without space a commit fails before its root is written, and compaction keeps the file [T5]`(_ durability: Durability) throws {
        try SmallDisk.with { disk in
            let path = disk.file("a.firn")
            var random = RandomTables(seed: 5), written = 0, failure: FirnError?
            do {
                let database = try Database.create(path: path)
                let first = try database.begin()
                try first.extendSchema([CrashTests.things])
                try first.commit()
                for _ in 0..<200 where failure == nil {
                    do throws(FirnError) {
                        let transaction = try database.begin()
                        for _ in 0..<5 {
                            _ = try transaction.insert(
                                "T",
                                [
                                    .int(1), .null, .data((0..<700).map { _ in UInt8.random(in: 0...255, using: &random.generator) }),
                                    .list([]),
                                ])
                        }
                        _ = try transaction.commit(durability: durability)
                        written += 5
                    } catch { failure = error }
                }
                #expect(failure?.code == .noSpace)
                do throws(FirnError) {
                    _ = try database.begin()
                    Issue.record("a transaction began after a failed write")
                } catch { #expect(error.message.contains("earlier write or sync failed")) }
            }
            let database = try Database.open(path: path, writable: true)
            let kept = try rows(database)
            // Without durability, the rows that a crash would lose are lost here too, because none was acknowledged as durable.
            #expect(durability == .full ? kept == written : kept <= written)
            #expect(try database.snapshot().verify(full: true).isEmpty)
            #expect(try database.verifyStructure().isEmpty)
            // There is not enough space for a second file.
            do throws(FirnError) {
                try database.snapshot().compact(to: path, overwrite: true)
                if durability == .full { Issue.record("the file was compacted although it has \(kept) rows") }
            } catch { #expect(error.code == .noSpace) }
            #expect(try Paths.list(disk.path) == ["a.firn"])
            let again = try Database.open(path: path, writable: true)
            #expect(try rows(again) == kept && again.snapshot().verify(full: true).isEmpty)
            // With more space, writing continues.
            guard disk.grow() else { return }
            let transaction = try again.begin()
            _ = try transaction.insert("T", [.int(2), .null, .data([]), .list([])])
            try transaction.commit()
            #expect(try rows(Database.open(path: path)) == kept + 1)
        }
    }
}
