import FirnBytes
import FirnDisk
import FirnKit
import Foundation
import Synchronization
import Testing

@testable import FirnDatabase
@testable import FirnStore
@testable import FirnTable

/// T2: sequences of commits that are interrupted by crashes. Every possible disk image must open, with the acknowledged commits or one
/// more.
@Suite struct CrashTests {
    static let things = TypeSchema(
        "T",
        columns: [
            ColumnSchema("n", ColumnType(.int)), ColumnSchema("s", ColumnType(.string, optional: true)),
            ColumnSchema("d", ColumnType(.data)),
            ColumnSchema("list", ColumnType(.int, collection: .list)),
        ])

    static func row(_ random: inout RandomTables, bytes: Int = 20) -> [Value] {
        [
            .int(Int64(random.number(-1000...1000))), random.chance(20) ? .null : .string("word \(random.number(0...50))"),
            .data((0..<random.number(0...bytes)).map { _ in UInt8.random(in: 0...255, using: &random.generator) }),
            .list((0..<random.number(0...3)).map { .int(Int64($0)) }),
        ]
    }

    /// Makes a commit that can follow any of the sequences.
    static func next(_ database: Database) throws {
        let transaction = try database.begin()
        try transaction.extendSchema([TypeSchema("After", columns: [ColumnSchema("x", ColumnType(.int))])])
        _ = try transaction.insert("After", [.int(Int64(truncatingIfNeeded: database.snapshot().version))])
        try transaction.commit()
    }

    static func commit(_ run: CrashRun, _ database: Database, _ body: (DatabaseTransaction) throws -> Void) throws {
        let transaction = try database.begin()
        try body(transaction)
        try transaction.commit()
        try run.acknowledge(database)
    }

    static func created(_ run: CrashRun, atFirstCommit: Bool = false, keep: Int = 8) throws -> Database {
        let database = try Database.create(path: run.path, atFirstCommit: atFirstCommit, keep: keep, key: run.key)
        if !atFirstCommit { try run.acknowledge(database) }
        try commit(run, database) { transaction in
            try transaction.extendSchema([things])
            _ = try transaction.insert("T", [.int(1), .string("first"), .data([1]), .list([])])
        }
        return database
    }

    static let sequences: [(name: String, body: @Sendable (CrashRun) throws -> Void)] = [
        (
            "small commits",
            { run in
                var random = RandomTables(seed: 1), ids: [Int64] = []
                let database = try created(run)
                for step in 0..<6 {
                    try commit(run, database) { transaction in
                        for _ in 0...random.number(0...2) { ids.append(try transaction.insert("T", row(&random))) }
                        if step > 1 { try transaction.update("T", rowID: ids[0], column: "n", .int(Int64(step))) }
                        if step > 2 { try transaction.delete("T", rowID: ids.remove(at: 1)) }
                    }
                }
            }
        ),
        (
            "changes of large collections",
            { run in
                let database = try created(run)
                var list = (0..<3000).map { Value.int($0 * 7) }, id: Int64 = 0
                try commit(run, database) { id = try $0.insert("T", [.int(1), .null, .data([]), .list(list)]) }
                for step in 0..<4 {
                    list[step * 700] = .int(-1)
                    list.append(.int(Int64(step)))
                    try commit(run, database) { transaction in
                        try transaction.update("T", rowID: id, column: "list", .list(list))
                        if step == 2 { try transaction.flushAll() }
                    }
                }
                #expect(try database.store.newestRoot().readerFeatures & ReaderFeature.splices.bit != 0)
            }
        ),
        (
            "a file that begins inline",
            { run in
                var random = RandomTables(seed: 2)
                let database = try created(run, atFirstCommit: true)
                for _ in 0..<4 { try commit(run, database) { transaction in _ = try transaction.insert("T", row(&random)) } }
            }
        ),
        (
            "bulk",
            { run in
                var random = RandomTables(seed: 3)
                let database = try created(run)
                for bytes in [10, 900, 10] {
                    try commit(run, database) { transaction in
                        _ = try transaction.bulkWriter("T").append(
                            RandomTables.batch((0..<700).map { _ in row(&random, bytes: bytes) }, of: things, in: Schema([things])))
                    }
                }
                try commit(run, database) { transaction in try transaction.delete("T", rowID: 300) }
            }
        ),
        (
            "rows of the delta that are sealed",
            { run in
                var random = RandomTables(seed: 4)
                let database = try created(run)
                for step in 0..<4 {
                    try commit(run, database) { transaction in
                        for _ in 0..<60 { _ = try transaction.insert("T", row(&random)) }
                        try transaction.update("T", rowID: Int64(step), column: "s", .string("changed \(step)"))
                        if step % 2 == 1 { try transaction.flushAll() }
                    }
                }
            }
        ),
        (
            "compaction to another file and in place",
            { run in
                var random = RandomTables(seed: 5)
                var database = try created(run)
                try commit(run, database) { transaction in for _ in 0..<200 { _ = try transaction.insert("T", row(&random)) } }
                try commit(run, database) { transaction in for id in 20..<150 { try transaction.delete("T", rowID: Int64(id)) } }
                try database.snapshot().compact(to: run.path + ".copy")
                try database.snapshot().compact(to: run.path, overwrite: true)
                database = try Database.open(path: run.path, writable: true, key: run.key)
                try run.acknowledge(database)
                for _ in 0..<2 { try commit(run, database) { transaction in _ = try transaction.insert("T", row(&random)) } }
            }
        ),
        (
            "a change of the schema, and an index",
            { run in
                var random = RandomTables(seed: 6), wider = things
                let database = try created(run)
                try commit(run, database) { transaction in for _ in 0..<50 { _ = try transaction.insert("T", row(&random)) } }
                wider.columns.append(ColumnSchema("extra", ColumnType(.double, optional: true)))
                try commit(run, database) { transaction in
                    try transaction.extendSchema([wider, TypeSchema("U", columns: [ColumnSchema("x", ColumnType(.bool))])])
                }
                try commit(run, database) { transaction in try transaction.addIndex("T", "n", .values) }
                try commit(run, database) { transaction in try transaction.update("T", rowID: 3, column: "n", .int(77)) }
            }
        ),
        (
            "space that is reused, and truncated",
            { run in
                var random = RandomTables(seed: 7), database = try created(run, keep: 2)
                for step in 0..<10 {
                    try commit(run, database) { transaction in
                        if step > 0 { try transaction.delete("T", rowID: Int64(step)) }
                        _ = try transaction.insert(
                            "T",
                            [.int(1), .null, .data((0..<2500).map { _ in UInt8.random(in: 0...255, using: &random.generator) }), .list([])])
                    }
                    if step % 4 == 3 { database = try Database.open(path: run.path, writable: true, keep: 2, key: run.key) }
                }
            }
        ),
        (
            "shrinking in place: deleted rows dropped, extents moved, the file truncated",
            { run in
                var random = RandomTables(seed: 9)
                do {
                    let database = try created(run, keep: 3)
                    for bytes in [1600, 40, 600] {
                        try commit(run, database) { transaction in
                            _ = try transaction.bulkWriter("T").append(
                                RandomTables.batch((0..<120).map { _ in row(&random, bytes: bytes) }, of: things, in: Schema([things])))
                        }
                    }
                    try commit(run, database) { transaction in try transaction.addIndex("T", "n", .values) }
                    try commit(run, database) { transaction in
                        for id in 2..<170 where id % 5 != 0 { try transaction.delete("T", rowID: Int64(id)) }
                    }
                }
                let report = try Database.shrink(path: run.path, key: run.key)
                guard report.bytesAfter < report.bytesBefore * 3 / 4, report.rowsDropped > 50 else {
                    throw FirnError(.usage, "nothing was shrunk: \(report)")
                }
                let database = try Database.open(path: run.path, writable: true, key: run.key)
                try run.acknowledge(database)
                try commit(run, database) { transaction in _ = try transaction.insert("T", row(&random)) }
            }
        ),
        (
            "commits without durability, made durable by a durable one",
            { run in
                var random = RandomTables(seed: 8)
                let database = try created(run, keep: 3)
                for round in 1...4 {
                    // Odd and even numbers of versions.
                    for _ in 0..<round {
                        let transaction = try database.begin()
                        _ = try transaction.insert("T", row(&random))
                        if round == 3 { try transaction.update("T", rowID: 0, column: "n", .int(Int64(random.number(0...99)))) }
                        try transaction.commit(durability: .none)
                    }
                    if round % 2 == 0 {
                        try database.settle()
                        try run.acknowledge(database)
                    } else {
                        try commit(run, database) { transaction in _ = try transaction.insert("T", row(&random)) }
                    }
                }
            }
        ),
    ]

    @Test(arguments: sequences.indices) func `after any crash a file has its last commit or the next [T2]`(_ index: Int) throws {
        try CrashTests.visit(CrashRun(CrashTests.sequences[index].name), seed: index + 1, CrashTests.sequences[index].body)
    }

    static func visit(_ run: CrashRun, seed: Int, _ body: (CrashRun) throws -> Void) throws {
        try body(run)
        try run.visit(seed: UInt64(seed), next: CrashTests.next)
        #expect(run.failures.isEmpty, "\(run.failures.joined(separator: "\n"))")
        print("crashes, \(run.name): \(run.counts)")
    }

    @Test func `after any crash the commits of several threads that had returned are in the file [T2]`() throws {
        let folder = TemporaryFolder(), images = TemporaryFolder()
        do {
            let first = try Database.create(path: folder.file("a.firn")).begin()
            try first.extendSchema([CrashTests.things])
            try first.commit()
        }
        let journal = DiskJournal(of: folder), database = try Database.open(path: folder.file("a.firn"), writable: true)
        defer { ScriptedDisk.end(in: folder.path) }
        journal.syncPause = 2000
        let returned = Mutex<[(calls: Int, number: Int64)]>([])
        try parallelEach(threads: 6) { thread in
            for step in 0..<8 {
                let transaction = try database.begin(), number = Int64(thread * 100 + step)
                _ = try transaction.insert("T", [.int(number), .null, .data([]), .list([])])
                try transaction.commit(durability: .grouped)
                returned.withLock { $0.append((journal.count, number)) }
            }
        }
        let events = journal.events, syncs = events.count { if case .sync = $0 { true } else { false } }
        #expect(syncs < 48, "48 commits of 6 threads took \(syncs) syncs")
        let all = returned.withLock { $0 }
        #expect(all.count == 48)
        var crashes = CrashImages(seed: 3, samples: 1), states = 0, turn = 0
        try crashes.visit(events, from: journal.first, stops: 0...events.count) { stop, what, files in
            turn += 1
            guard turn % max(1, 4 / CrashRun.scale) == 0 else { return }
            states += 1
            try? Paths.remove(images.file("a"))
            try File(path: images.file("a"), .createNew).write(files["a.firn"]!, at: 0)
            let opened = try Database.open(path: images.file("a"), writable: true), snapshot = try opened.snapshot()
            let numbers = Set(
                try allRows(snapshot.table(named: "T")!).compactMap { (row) -> Int64? in
                    if case .int(let number) = row.values[0] { number } else { nil }
                })
            let missing = all.filter { $0.calls <= stop && !numbers.contains($0.number) }
            #expect(missing.isEmpty, "after \(stop) of \(events.count) calls, \(what): \(missing)")
            #expect(snapshot.verify(full: true).isEmpty)
            // The commits of each thread are present in their order.
            for number in numbers where number % 100 > 0 { #expect(numbers.contains(number - 1)) }
        }
        #expect(states > 100)
        print("crashes, six threads: 48 commits in \(syncs) syncs, \(states) states")
    }

    @Test func `a commit of one row writes extents and one root, at most 24 KiB, and syncs once [T1]`() throws {
        let run = CrashRun("script")
        let database = try CrashTests.created(run)
        var random = RandomTables(seed: 9), most = 0, scripts: [String: Int] = [:]
        for step in 0..<300 {
            run.journal.clear()
            let transaction = try database.begin()
            _ = try transaction.insert("T", CrashTests.row(&random))
            let version = try transaction.commit()
            var script = "", bytes = 0
            for event in run.journal.events {
                switch event {
                case .write(_, let offset, let data):
                    bytes += data.count
                    let isRoot = data.count == 512 && offset == (version % 2 == 0 ? 0 : 4096)
                    script += isRoot ? "R" : script.hasSuffix("w") ? "" : "w"
                case .truncate(_, let length): script += length > 0 ? "l" : "?"
                case .sync: script += "S"
                default: script += "?"
                }
            }
            #expect(script == "wRS" || script == "wlRS", "commit \(step): \(script)")
            #expect(bytes <= 24 << 10, "commit \(step) wrote \(bytes) bytes")
            scripts[script, default: 0] += 1
            most = max(most, bytes)
        }
        print("one row: \(scripts), \(most) bytes at most")
    }

    @Test func `these tests detect an acknowledged write that a crash undoes`() throws {
        // The same sequence, with an acknowledgement before the sync.
        let run = CrashRun("too early")
        let database = try Database.create(path: run.path)
        try run.acknowledge(database)
        let copy = TemporaryFolder()
        let other = try Database.create(path: copy.file("b.firn"))
        for database in [other, database] {
            let transaction = try database.begin()
            try transaction.extendSchema([CrashTests.things])
            if database === other {
                try transaction.commit()
                try run.acknowledge(database)
            } else {
                try transaction.commit()
            }
        }
        try run.visit(next: CrashTests.next)
        #expect(run.failures.contains { $0.contains("unexpected content") })
    }
}
