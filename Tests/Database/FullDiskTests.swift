import FirnBytes
import FirnDisk
import FirnKit
import Foundation
import Testing

@testable import FirnDatabase

/// T5: a disk that is really full, which is a small one in memory; needs root.
@Suite struct FullDiskTests {
    private func rows(_ database: Database) throws -> Int { try database.snapshot().table(named: "T")?.rowCount ?? 0 }

    @Test(arguments: [Durability.full, .none])
    func `T5: without space a commit fails before the root moves, and compaction keeps the old file`(_ durability: Durability) throws {
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
                    Issue.record("it writes on")
                } catch { #expect(error.message.contains("earlier write failed")) }
            }
            let database = try Database.open(path: path, writable: true)
            let kept = try rows(database)
            // Without waiting for it, what a crash would take is lost here too: nothing was told to be durable.
            #expect(durability == .full ? kept == written : kept <= written)
            #expect(try database.snapshot().verify(full: true).isEmpty)
            #expect(try database.verifyStructure().isEmpty)
            // There is no room for a second file.
            do throws(FirnError) {
                try database.snapshot().compact(to: path, overwrite: true)
                if durability == .full { Issue.record("it was compacted, beside \(kept) rows") }
            } catch { #expect(error.code == .noSpace) }
            #expect(try Paths.list(disk.path) == ["a.firn"])
            let again = try Database.open(path: path, writable: true)
            #expect(try rows(again) == kept && again.snapshot().verify(full: true).isEmpty)
            // With space, it goes on.
            guard disk.grow() else { return }
            let transaction = try again.begin()
            _ = try transaction.insert("T", [.int(2), .null, .data([]), .list([])])
            try transaction.commit()
            #expect(try rows(Database.open(path: path)) == kept + 1)
        }
    }
}
