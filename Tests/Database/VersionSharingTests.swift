import FirnBytes
import FirnKit
import Foundation
import Synchronization
import Testing

@testable import FirnDatabase
@testable import FirnTable

/// What versions share in memory, in exact counts.
@Suite struct VersionSharingTests {
    private let type = TypeSchema(
        "T",
        columns: [
            ColumnSchema("a", ColumnType(.int)), ColumnSchema("b", ColumnType(.double, optional: true)),
            ColumnSchema("c", ColumnType(.string)),
        ])

    private func row(_ i: Int) -> [Value] { [.int(Int64(i)), i % 7 == 0 ? .null : .double(Double(i) / 2), .string("s\(i % 100)")] }

    /// Writes `sealed` rows in segments, then `delta` rows in the delta.
    private func database(_ folder: TemporaryFolder, sealed: Int, delta: Int) throws -> Database {
        let database = try Database.create(path: folder.file("a.firn"))
        let transaction = try database.begin()
        try transaction.extendSchema([type])
        if sealed > 0 { try transaction.bulkWriter("T").append(RandomTables.batch((0..<sealed).map(row), of: type, in: Schema([type]))) }
        try transaction.commit()
        var next = sealed
        while next < sealed + delta {
            let transaction = try database.begin()
            for _ in 0..<min(1000, sealed + delta - next) {
                try transaction.insert("T", row(next))
                next += 1
            }
            try transaction.commit()
        }
        return database
    }

    private func count(_ counter: ReadCounts, _ body: () throws -> Void) rethrows -> (records: Int, vectors: Int, segments: Int) {
        let before = (counter.deltaRecords, counter.changedVectors, counter.openedSegments)
        try body()
        return (counter.deltaRecords - before.0, counter.changedVectors - before.1, counter.openedSegments - before.2)
    }

    @Test(arguments: [0, 20_000]) func `a commit of one row decodes no existing delta records`(delta: Int) throws {
        let folder = TemporaryFolder()
        let database = try database(folder, sealed: 5000, delta: delta)
        // In a new process, nothing is in memory.
        let cold = try Database.open(path: folder.file("a.firn"), writable: true)
        let first = try count(cold.counts) {
            for i in 0..<20 {
                let transaction = try cold.begin()
                try transaction.insert("T", row(i))
                try transaction.commit()
            }
        }
        #expect(first == (0, 0, 0))
        // If a reader follows, the delta is read once, and never again.
        var snapshot = try database.snapshot()
        _ = try storedRows(snapshot.table(named: "T")!)
        let second = try count(database.counts) {
            for i in 0..<20 {
                let transaction = try database.begin()
                let id = try transaction.insert("T", row(i))
                try transaction.update("T", rowID: id - 1, column: "a", .int(1))
                try transaction.commit()
                snapshot = try database.snapshot()
                #expect(try snapshot.table(named: "T")!.storedValue(id, 0) == .int(Int64(i)))
                #expect(try snapshot.table(named: "T")!.storedValue(id - 1, 0) == .int(1))
            }
        }
        // One vector of the existing row that is changed.
        #expect(second == (0, 1, 0))
        #expect(snapshot.verify(full: true).isEmpty)
    }

    @Test(arguments: [false, true]) func `a version that is pinned after a later commit has its own rows`(deletes: Bool) throws {
        let folder = TemporaryFolder()
        // So many changes that the commit writes the segments again.
        let database = try database(folder, sealed: 70_000, delta: 0), transaction = try database.begin()
        for i in 0..<Int64(70_000) {
            if deletes { try transaction.delete("T", rowID: i) } else { try transaction.update("T", rowID: i, column: "a", .int(-1)) }
        }
        try transaction.commit()
        let old = try database.snapshot(version: 1)
        for i in stride(from: Int64(0), to: 70_000, by: 6_999) { #expect(try old.table(named: "T")!.storedValue(i, 0) == .int(i)) }
        #expect(try storedRows(old.table(named: "T")!).count == 70_000)
        let new = try database.snapshot()
        #expect(try storedRows(new.table(named: "T")!).count == (deletes ? 0 : 70_000))
        #expect(old.verify(full: true).isEmpty && new.verify(full: true).isEmpty)
    }

    @Test(arguments: [70_000, 30]) func `the rows that another process restores are not those of the version before`(count: Int) throws {
        let folder = TemporaryFolder()
        let database = try database(folder, sealed: 70_000, delta: 0), transaction = try database.begin()
        for i in 0..<Int64(count) { try transaction.update("T", rowID: i, column: "a", .int(-1)) }
        try transaction.commit()
        let other = try Database.open(path: folder.file("a.firn"), writable: true), restoring = try other.begin()
        try restoring.revert(to: try other.snapshot(version: 1))
        try restoring.commit()
        let newest = try database.snapshot()
        #expect(newest.version == 3)
        for i in stride(from: Int64(0), to: Int64(count), by: 7) { #expect(try newest.table(named: "T")!.storedValue(i, 0) == .int(i)) }
        #expect(newest.verify(full: true).isEmpty)
    }

    @Test func `updates of sealed rows decode each vector once, and their segment stays open`() throws {
        let folder = TemporaryFolder()
        let database = try database(folder, sealed: 150_000, delta: 0)
        var snapshot = try database.snapshot()
        for s in 0..<3 { _ = try snapshot.table(named: "T")!.segment(s).column(0) }
        let counts = try count(database.counts) {
            for i in 0..<50 {
                let transaction = try database.begin()
                try transaction.update("T", rowID: 70_640 + Int64(i), column: "a", .int(-1))
                try transaction.commit()
                snapshot = try database.snapshot()
                #expect(try snapshot.table(named: "T")!.storedValue(70_640 + Int64(i), 0) == .int(-1))
                #expect(try snapshot.table(named: "T")!.storedValue(140_000, 0) == .int(140_000))
            }
        }
        // 70,640 … 70,689 are in two vectors of the second segment.
        #expect(counts == (0, 2, 0))
    }

    @Test func `reading the commits of another handle costs in proportion to their changes`() throws {
        let folder = TemporaryFolder()
        let database = try database(folder, sealed: 200_000, delta: 0),
            other = try Database.open(path: folder.file("a.firn"), writable: true)
        var snapshot = try database.snapshot()
        for s in 0..<4 { _ = try snapshot.table(named: "T")!.segment(s).column(0) }
        let counts = try count(database.counts) {
            let transaction = try other.begin()
            try transaction.update("T", rowID: 70_000, column: "a", .int(-1))
            try transaction.commit()
            snapshot = try database.snapshot()
            for s in 0..<4 { _ = try snapshot.table(named: "T")!.segment(s).column(0) }
        }
        #expect(counts == (1, 0, 1))
        #expect(try snapshot.table(named: "T")!.storedValue(70_000, 0) == .int(-1))
    }

    @Test func `readers of one version share its open segments and decoded rows`() throws {
        let folder = TemporaryFolder()
        let database = try database(folder, sealed: 100_000, delta: 500)
        let first = try database.snapshot()
        _ = try storedRows(first.table(named: "T")!)
        let counts = try count(database.counts) { _ = try storedRows(try database.snapshot().table(named: "T")!) }
        #expect(counts == (0, 0, 0))
        #expect(try first.table(named: "T")!.segment(0) === database.snapshot().table(named: "T")!.segment(0))
    }

    @Test func `sharing parts in memory with the previous version keeps none of its space in the file`() throws {
        let folder = TemporaryFolder()
        let database = try database(folder, sealed: 3000, delta: 0)
        var snapshot = try database.snapshot()
        var sizes: [Int] = []
        for i in 0..<4000 {
            let transaction = try database.begin()
            try transaction.table("T").setWord(ofRow: Int64(i % 3000), 0, to: Int64(i))
            try transaction.commit()
            snapshot = try database.snapshot()
            _ = try snapshot.table(named: "T")!.segment(0).column(0).value(at: 5)
            if i % 1000 == 999 { sizes.append(try FileManager.default.attributesOfItem(atPath: folder.file("a.firn"))[.size] as! Int) }
        }
        #expect(sizes.max()! < 4 << 20 && sizes[3] < sizes[1] * 2, "\(sizes)")
        #expect(snapshot.verify(full: true).isEmpty)
    }

    @Test func `the difference of two versions has all changed rows`() throws {
        let folder = TemporaryFolder()
        let database = try database(folder, sealed: 100_000, delta: 300)
        let old = try database.snapshot(), before = try storedRows(old.table(named: "T")!)
        var snapshots = [old]
        for i in 0..<5 {
            let transaction = try database.begin()
            let table = transaction.table("T")
            try table.setWord(ofRow: Int64(i * 1000 + 5), 0, to: -1)
            try table.set(100_050 + Int64(i), 2, .string("other"))
            try table.delete(Int64(90_000 + i))
            _ = try transaction.insert("T", row(i))
            try transaction.commit()
            snapshots.append(try database.snapshot())
        }
        for (i, snapshot) in snapshots.enumerated() {
            let table = snapshot.table(named: "T")!
            for (j, earlier) in snapshots[..<i].enumerated() {
                let base = earlier.table(named: "T")!
                let first = try table.segment(0).rowsThatMayDiffer(from: base.segment(0)),
                    second = try table.segment(1).rowsThatMayDiffer(from: base.segment(1))
                #expect(first?.ones == i - j && second?.ones == i - j, "\(i) from \(j)")
                let tail = try #require(try table.segment(2).rowsThatMayDiffer(from: base.segment(2)))
                // Unchanged rows of the delta may be marked, at most as many as a vector has. No changed row is left out.
                #expect(tail.count == 300 + i)
                for row in 0..<300 + j where !tail[row] {
                    for c in 0..<3 { #expect(try table.segment(2).column(c).value(at: row) == base.segment(2).column(c).value(at: row)) }
                }
            }
        }
        #expect(try storedRows(old.table(named: "T")!) == before)
    }

    @Test func `other threads can read snapshots while rows are written`() throws {
        let folder = TemporaryFolder()
        let database = try database(folder, sealed: 3000, delta: 100)
        let faults = Mutex<[String]>([])
        var threads: [Thread] = []
        var next = 3100
        for i in 0..<40 {
            let snapshot = try database.snapshot(), expected = try storedRows(snapshot.table(named: "T")!)
            let thread = Thread {
                for _ in 0..<3 {
                    let back = try? storedRows(snapshot.table(named: "T")!)
                    if back != expected { faults.withLock { $0.append("version \(snapshot.version) changed") } }
                }
            }
            thread.start()
            threads.append(thread)
            let transaction = try database.begin()
            let table = transaction.table("T")
            for k in 0..<50 {
                try table.setWord(ofRow: Int64((i * 61 + k * 37) % 3000), 0, to: Int64(k))
                try table.set(Int64(3000 + k), 2, .string("text \(i) \(k)"))
                _ = try transaction.insert("T", row(next))
                next += 1
            }
            try table.delete(Int64(3060 + i))
            try transaction.commit()
        }
        while threads.contains(where: { !$0.isFinished }) { Thread.sleep(forTimeInterval: 0.01) }
        #expect(faults.withLock { $0 } == [])
    }
}
