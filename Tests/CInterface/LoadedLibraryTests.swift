import CArrow
import CFirn
import FirnDatabase
import FirnKit
import Foundation
import Synchronization
import Testing

/// The number of times that the library asked whether it should stop, and after how many it should.
private let asked = Atomic(0), patience = Atomic(0)

private func isInterrupted() -> Int32 {
    let count = asked.add(1, ordering: .relaxed).newValue
    return count > patience.load(ordering: .relaxed) ? 1 : 0
}

/// Calls of the C library that are interrupted, and data that it cannot store. The check for interrupts is one of the process.
@Suite(.serialized) struct LoadedLibraryTests {
    private func library() -> LoadedLibrary? {
        guard let path = CInterfaceTests.library else {
            print("skipped: libfirn_c.so is not built here")
            return nil
        }
        return LoadedLibrary(path)
    }

    private func failure(_ body: () throws -> Void) throws -> LoadedLibrary.Failure {
        try #require(throws: LoadedLibrary.Failure.self) { try body() }
    }

    private func withInterrupts(_ library: LoadedLibrary, after count: Int, _ body: () throws -> Void) throws {
        asked.store(0, ordering: .relaxed)
        patience.store(count, ordering: .relaxed)
        library.setInterrupt(isInterrupted)
        defer { library.setInterrupt(nil) }
        try body()
    }

    @Test func `an interrupt ends SQL that takes forever, and the next statement runs`() throws {
        guard let library = library() else { return }
        let forever = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT count(*) FROM c"
        let stream = UnsafeMutablePointer<ArrowArrayStream>.allocate(capacity: 1)
        defer { stream.deallocate() }
        try withInterrupts(library, after: 3) {
            let error = try failure { try library.sql(forever, stream) }
            #expect(error.code == FIRN_INTERRUPTED.rawValue)
        }
        #expect(asked.load(ordering: .relaxed) > 3)
        try withInterrupts(library, after: .max) { try library.sql("SELECT 1", stream) }
        stream.pointee.release(stream)
    }

    @Test func `an interrupt ends an append of a stream without end, and the file keeps its version`() throws {
        guard let library = library() else { return }
        let folder = TemporaryFolder(), path = folder.file("file.firn")
        let database = try library.openWritable(path)
        defer { library.close(database) }
        let column = MadeColumn.numbers("n", "l", (0..<1000).map { Int64($0) })
        func append(batches: Int) throws -> Int64 {
            let stream = MadeStream([column], batches: batches), transaction = try library.begin(database)
            defer { library.free(transaction: transaction) }
            let rows = try library.append(transaction, "t", stream.pointer)
            #expect(stream.pointer.pointee.release == nil)
            _ = try library.commit(transaction)
            return rows
        }
        #expect(try append(batches: 2) == 2000)
        try withInterrupts(library, after: 20) {
            let error = try failure { _ = try append(batches: .max) }
            #expect(error.code == FIRN_INTERRUPTED.rawValue)
        }
        #expect(try Database.open(path: path).snapshot().version == 1)
        #expect(try append(batches: 1) == 1000)
        #expect(try Database.open(path: path).snapshot().table(named: "t")?.rowCount == 3000)
    }

    @Test func `another thread than the one that set the check is not interrupted`() throws {
        guard let library = library() else { return }
        try withInterrupts(library, after: 0) {
            try parallelEach(threads: 1) { _ in
                let stream = UnsafeMutablePointer<ArrowArrayStream>.allocate(capacity: 1)
                defer { stream.deallocate() }
                try library.sql("SELECT 1", stream)
                stream.pointee.release(stream)
            }
        }
        #expect(asked.load(ordering: .relaxed) == 0)
    }

    @Test func `values that would be lost are errors, and the transaction cannot be committed`() throws {
        guard let library = library() else { return }
        let folder = TemporaryFolder(), database = try library.openWritable(folder.file("file.firn"))
        defer { library.close(database) }
        let pairs = MadeColumn.structure("entries", [.texts("key", ["a", "b", "a"]), .numbers("value", "l", [Int64](0..<3))], count: 3)
        var twice = MadeColumn.numbers("m", "+m", [Int32(0), 3])
        twice.count = 1
        twice.children = [pairs]
        let cases: [(MadeColumn, String)] = [
            (twice, "a key that follows again"), (.numbers("d", "tdm", [Int64(86_400_000), 1]), "time"),
            (.structure("s", [], count: 2), "field"),
        ]
        for (column, word) in cases {
            let stream = MadeStream([column]), transaction = try library.begin(database)
            defer { library.free(transaction: transaction) }
            let error = try failure { _ = try library.append(transaction, "t", stream.pointer) }
            #expect(error.message.contains(word), "\(error.message)")
            let refused = try failure { _ = try library.commit(transaction) }
            #expect(refused.message.contains("failed before"), "\(refused.message)")
        }
        let stream = MadeStream([.numbers("d", "tdm", [Int64(86_400_000), 0])]), transaction = try library.begin(database)
        defer { library.free(transaction: transaction) }
        #expect(try library.append(transaction, "t", stream.pointer) == 2)
        #expect(try library.commit(transaction) == 1)
    }
}
