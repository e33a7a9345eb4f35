import FirnBytes
import FirnDisk
import FirnKit
import Foundation
import Testing
@testable import FirnStore

/// T1: the system calls of a small commit, and where it writes.
@Suite struct CommitCostTests {
    /// Rows as small commits store them: each commit replaces a leaf that fills up, an inner node and a catalogue. A full leaf stays.
    private struct Rows {
        let store: Store
        var live: [ExtentRef] = []
        private var step = 0

        init(_ path: String) throws { store = try Store.create(path: path, overwrite: false) }

        mutating func commit() throws {
            let transaction = try store.begin()
            live.forEach(transaction.free)
            step += 1
            let leaf = try transaction.write(pattern(step, 40 + step % 100 * 40))
            let inner = try transaction.write(pattern(step, 100 + step / 100 * 30)), catalogue = try transaction.write(pattern(step, 150))
            live = step % 100 == 99 ? [inner, catalogue] : [leaf, inner, catalogue]
            try transaction.commit(catalogue: catalogue)
        }
    }

    @Test func `a small commit takes two locks, reads the roots once, syncs once and mostly makes two writes [T1]`() throws {
        let folder = TemporaryFolder(), journal = DiskJournal(of: folder)
        defer { ScriptedDisk.end(in: folder.path) }
        var rows = try Rows(folder.file("a"))
        for _ in 0..<50 { try rows.commit() }
        var pieces: [Int: Int] = [:]
        for step in 0..<1000 {
            journal.clear()
            try rows.commit()
            let calls = journal.calls
            #expect(
                calls["lock"] == 2 && calls["read"] == 1 && calls["sync"] == 1 && calls["status", default: 0] == 0,
                "commit \(step): \(calls)")
            pieces[calls["write"]!, default: 0] += 1
        }
        // One write for the extents, and one for the root. Other commits found no contiguous space, and do not extend the file for it.
        #expect(pieces[2, default: 0] >= 600 && pieces.reduce(0) { $0 + $1.key * $1.value } <= 2500, "\(pieces)")
        let size = try Paths.size(folder.file("a"))
        #expect(size < 300_000, "\(size) bytes")
    }

    @Test func `small commits extend a file by more than they need, and closing the store truncates the rest`() throws {
        let folder = TemporaryFolder(), journal = DiskJournal(of: folder)
        defer { ScriptedDisk.end(in: folder.path) }
        do {
            var rows = try Rows(folder.file("a"))
            for step in 0..<300 {
                journal.clear()
                let before = try Paths.size(folder.file("a"))
                try rows.commit()
                let bytes = journal.events.reduce(0) { if case .write(_, _, let bytes) = $1 { $0 + bytes.count } else { $0 } }
                let grown = try Int(Paths.size(folder.file("a"))) - Int(before)
                #expect(
                    bytes <= 24 << 10 && (grown == 0 || grown >= 16 << 10 || step < 2),
                    "commit \(step) wrote \(bytes) bytes, and made the file longer by \(grown)")
            }
            // A cancelled commit leaves the preallocated space.
            let spare = try Paths.size(folder.file("a"))
            let given = try rows.store.begin()
            _ = try given.write(pattern(1, 500))
            given.cancel()
            #expect(try Paths.size(folder.file("a")) == spare)
        }
        let reader = try Store.open(path: folder.file("a"), writable: false)
        #expect(try Paths.size(folder.file("a")) == reader.newestRoot().end * 64, "the file was not truncated to its end")
    }

    @Test func `a snapshot of the version that a transaction began from locks this version`() throws {
        let scratch = Scratch()
        var rows = try Rows(scratch("a"))
        try rows.commit()
        let other = try Store.open(path: scratch("a"), writable: false)
        let transaction = try rows.store.begin()
        #expect(try other.pins() == [], "a version is pinned without a reader")
        let reader = try rows.store.snapshot(), again = try rows.store.snapshot(like: transaction.base)
        #expect(try other.pins() == [1])
        reader.release()
        transaction.cancel()
        #expect(try other.pins() == [1] && rows.store.pins() == [1])
        again.release()
        #expect(try other.pins() == [] && rows.store.pins() == [])
    }

    @Test func `a rejected commit is not used again, even if its lost bytes are restored`() throws {
        let scratch = Scratch()
        var lost = ExtentRef.none
        do {
            let store = try Store.create(path: scratch("a"), overwrite: false)
            for step in 1...3 {
                let transaction = try store.begin()
                lost = try transaction.write(pattern(step, 3000))
                try transaction.commit(catalogue: try transaction.write(catalogueBytes([lost])), keep: 3)
            }
        }
        let bytes = try File(path: scratch("a"), .read).read(count: Int(lost.length), at: lost.offset)
        try File(path: scratch("a"), .readWrite).write([UInt8](repeating: 0, count: bytes.count), at: lost.offset)
        let reader = try Store.open(path: scratch("a"), writable: false)
        do {
            let store = try Store.open(path: scratch("a"), writable: true)
            #expect(try store.latestVersion() == 2 && store.fellBack != nil)
            try store.begin().cancel()
        }
        // As an interrupted later commit could do.
        try File(path: scratch("a"), .readWrite).write(bytes, at: lost.offset)
        #expect(try Store.open(path: scratch("a"), writable: false).latestVersion() == 2 && reader.latestVersion() == 2)
        let store = try Store.open(path: scratch("a"), writable: true), transaction = try store.begin()
        try transaction.commit(catalogue: try transaction.write(catalogueBytes([])), keep: 3)
        #expect(try Store.open(path: scratch("a"), writable: false).latestVersion() == 3 && reader.latestVersion() == 3)
    }

    @Test func `free space is allocated in a range that has room for later requests, and directly after the last allocation`() {
        var space = FreeSpace()
        for range in [UnitRange(start: 100, end: 104), UnitRange(start: 200, end: 220), UnitRange(start: 300, end: 340)] {
            _ = space.insert(range)
        }
        #expect(space.take(4, within: 18) == UnitRange(start: 200, end: 204))
        #expect(space.take(10, at: 204) == UnitRange(start: 204, end: 214))
        #expect(space.take(7, at: 214) == nil && space.take(1, at: 215) == nil)
        #expect(space.take(4, within: 41) == nil)
        #expect(space.take(4) == UnitRange(start: 100, end: 104))
        #expect(space.ranges == [UnitRange(start: 214, end: 220), UnitRange(start: 300, end: 340)])
    }
}
