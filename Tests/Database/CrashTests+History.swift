import FirnBytes
import FirnDisk
import FirnKit
import Testing

@testable import FirnDatabase
@testable import FirnTable

/// The same crashes of files with tags, versions and retention, and of encrypted files.
extension CrashTests {
    static let key = EncryptionKey([UInt8](0..<64))!

    private static func tag(_ run: CrashRun, _ database: Database, _ name: String, _ version: UInt64? = nil) throws {
        try database.tag(name, try version.map { try database.snapshot(version: $0) } ?? database.snapshot())
        try run.acknowledge(database)
    }

    /// Sequences after which versions, tags and retention are checked as well.
    static let histories: [(name: String, body: @Sendable (CrashRun) throws -> Void)] = [
        (
            "tags that are added, moved and deleted",
            { run in
                var random = RandomTables(seed: 21)
                let database = try created(run, keep: 2)
                for step in 0..<3 {
                    try commit(run, database) { transaction in for _ in 0..<4 { _ = try transaction.insert("T", row(&random, bytes: 600)) }
                    }
                    try tag(run, database, "step-\(step)")
                }
                // The name of an older version moves to a newer one, a version gets two names, and a version loses all its names.
                try tag(run, database, "step-0")
                try tag(run, database, "also", try database.tags().first { $0.name == "step-1" }!.version)
                for name in ["step-1", "also"] {
                    #expect(try database.untag(name))
                    try run.acknowledge(database)
                }
                // The space of the released versions is reused.
                for _ in 0..<3 { try commit(run, database) { transaction in _ = try transaction.insert("T", row(&random, bytes: 2500)) } }
                // Rows and a tag in one commit.
                let transaction = try database.begin()
                try transaction.delete("T", rowID: 2)
                transaction.store.tagItself("both")
                try transaction.commit()
                try run.acknowledge(database)
            }
        ),
        (
            "kept versions: more, fewer, the default",
            { run in
                var random = RandomTables(seed: 22), database = try created(run)
                for retention in [
                    VersionRetention(versions: 5), VersionRetention(versions: 2), VersionRetention(versions: 2, seconds: 3600), nil,
                ] {
                    try database.retain(retention)
                    try run.acknowledge(database)
                    for _ in 0..<3 {
                        try commit(run, database) { transaction in
                            _ = try transaction.insert("T", row(&random, bytes: 1500))
                            try transaction.update("T", rowID: 0, column: "n", .int(Int64(random.number(0...1000))))
                        }
                    }
                    database = try Database.open(path: run.path, writable: true, key: run.key)
                }
            }
        ),
        (
            "reverts",
            { run in
                var random = RandomTables(seed: 23)
                let database = try created(run, keep: 4)
                try commit(run, database) { transaction in for _ in 0..<40 { _ = try transaction.insert("T", row(&random)) } }
                try tag(run, database, "before")
                try commit(run, database) { transaction in
                    var wider = things
                    wider.columns.append(ColumnSchema("extra", ColumnType(.double, optional: true)))
                    try transaction.extendSchema([wider])
                    for id in 5..<30 { try transaction.delete("T", rowID: Int64(id)) }
                }
                try commit(run, database) { transaction in
                    _ = try transaction.bulkWriter("T").append(
                        RandomTables.batch(
                            (0..<300).map { _ in row(&random) + [.null] }, of: transaction.schema["T"]!, in: transaction.schema))
                }
                let newest = try database.snapshot()
                try commit(run, database) { transaction in try transaction.revert(to: try database.snapshot(tag: "before")) }
                try commit(run, database) { transaction in _ = try transaction.insert("T", row(&random) + [.null]) }
                // Reverts to the newer version again.
                try commit(run, database) { transaction in try transaction.revert(to: newest) }
                try commit(run, database) { transaction in try transaction.delete("T", rowID: 50) }
            }
        ),
        (
            "compaction of tagged versions, in place",
            { run in
                var random = RandomTables(seed: 24), database = try created(run)
                try database.retain(VersionRetention(versions: 3))
                try run.acknowledge(database)
                for step in 0..<3 {
                    try commit(run, database) { transaction in
                        for _ in 0..<30 { _ = try transaction.insert("T", row(&random)) }
                        if step > 0 { for id in 0..<10 { try transaction.delete("T", rowID: Int64(step * 10 + id)) } }
                    }
                    if step < 2 { try tag(run, database, "step-\(step)") }
                }
                let fresh = run.path + ".compacting"
                try Database.compact(try database.versions(upTo: try database.snapshot()), retention: try database.retention(), to: fresh)
                try Paths.rename(fresh, to: run.path)
                try Paths.syncDirectory(of: run.path)
                database = try Database.open(path: run.path, writable: true, key: run.key)
                #expect(try database.tags().map(\.name) == ["step-0", "step-1"])
                try run.acknowledge(database)
                try commit(run, database) { transaction in _ = try transaction.insert("T", row(&random)) }
                try tag(run, database, "after")
            }
        ),
    ]

    @Test(arguments: histories.indices) func `after any crash versions, tags and retention are those of the last commit or the next [T2]`(
        _ index: Int
    ) throws {
        try CrashTests.visit(
            CrashRun(CrashTests.histories[index].name, history: true, oneOf: 2), seed: 20 + index, CrashTests.histories[index].body)
    }

    /// All sequences in encrypted files, with fewer images.
    @Test(arguments: sequences.indices) func `after any crash an encrypted file has its last commit or the next [T2, T13]`(_ index: Int)
        throws
    {
        try CrashTests.visit(
            CrashRun("encrypted, " + CrashTests.sequences[index].name, key: CrashTests.key, oneOf: 3), seed: 40 + index,
            CrashTests.sequences[index].body)
    }

    @Test(arguments: histories.indices)
    func `after any crash an encrypted file has its versions, tags and retention [T2, T13]`(_ index: Int)
        throws
    {
        try CrashTests.visit(
            CrashRun("encrypted, " + CrashTests.histories[index].name, key: CrashTests.key, history: true, oneOf: 3), seed: 60 + index,
            CrashTests.histories[index].body)
    }
}
