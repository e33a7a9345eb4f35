import FirnBytes
import FirnDisk
import FirnKit
import FirnThreads
import Foundation
import Synchronization
import Testing

@testable import FirnStore

/// The order of several waiting writers.
@Suite struct TurnTests {
    /// Commits repeatedly until it is stopped, and counts its commits.
    private final class BusyWriter: Sendable {
        let commits = Atomic<Int>(0)
        private let isOver = Atomic<Bool>(false)
        private let thread = DispatchGroup()

        init(_ store: Store) {
            DispatchQueue.global().async(group: thread) {
                while !self.isOver.load(ordering: .relaxed) {
                    do {
                        let transaction = try store.begin()
                        let catalogue = try transaction.write(pattern(1, 100))
                        try transaction.commit(catalogue: catalogue)
                    } catch { Issue.record("\(error)") }
                    self.commits.add(1, ordering: .relaxed)
                }
            }
            while commits.load(ordering: .relaxed) < 3 { usleep(100) }
        }

        func end() {
            isOver.store(true, ordering: .relaxed)
            thread.wait()
        }
    }

    @Test(arguments: [false, true]) func `a waiting writer begins after few commits of a busy writer [T9]`(inOneStore: Bool) throws {
        // On a medium with slow syncs: the lock is free for moments only.
        let folder = TemporaryFolder(), journal = DiskJournal(of: folder)
        journal.syncPause = 2000
        defer { ScriptedDisk.end(in: folder.path) }
        let store = try Store.create(path: folder.file("a"), overwrite: false)
        let other = inOneStore ? store : try Store.open(path: folder.file("a"), writable: true)
        let busy = BusyWriter(store)
        defer { busy.end() }
        for turn in 0..<20 {
            let before = busy.commits.load(ordering: .relaxed), transaction = try other.begin()
            let passed = busy.commits.load(ordering: .relaxed) - before
            transaction.cancel()
            // At most one commit that was in progress and one that began earlier; within a process a limited number of others can overtake.
            #expect(passed <= 3 + (inOneStore ? Int(WriterQueue.maximumOvertaking) : 0), "turn \(turn): \(passed) commits overtook it")
        }
    }

    @Test func `a writer with a time limit is not overtaken either, and one that gives up leaves the queue`() throws {
        let folder = TemporaryFolder(), journal = DiskJournal(of: folder)
        journal.syncPause = 2000
        defer { ScriptedDisk.end(in: folder.path) }
        let store = try Store.create(path: folder.file("a"), overwrite: false),
            other = try Store.open(path: folder.file("a"), writable: true)
        do {
            let busy = BusyWriter(store)
            defer { busy.end() }
            for turn in 0..<10 {
                let before = busy.commits.load(ordering: .relaxed),
                    transaction = try other.begin(wait: turn % 2 == 0 ? .seconds(60) : .asLongAs { true })
                let passed = busy.commits.load(ordering: .relaxed) - before
                transaction.cancel()
                #expect(passed <= 3, "turn \(turn): \(passed) commits overtook it")
            }
        }
        // A transaction in progress, and writers that do not wait for its end, in this store and in another.
        let transaction = try store.begin()
        for each in [store, other] {
            for patience in [WriterPatience.no, .seconds(0.01), .asLongAs { false }] {
                #expect { _ = try each.begin(wait: patience) } throws: { ($0 as? FirnError)?.code == .locked }
            }
        }
        transaction.cancel()
        for each in [store, other] { try each.begin(wait: .no).cancel() }
    }

    @Test func `a writer that does not wait is refused while another one is in the queue`() throws {
        let folder = TemporaryFolder(), store = try Store.create(path: folder.file("a"), overwrite: false)
        let waiting = try Store.open(path: folder.file("a"), writable: true), third = try Store.open(path: folder.file("a"), writable: true)
        let transaction = try store.begin(), group = DispatchGroup(), isWanted = Mutex(true), begun = Mutex<StoreTransaction?>(nil)
        DispatchQueue.global().async(group: group) {
            let taken = try? waiting.begin()
            begun.withLock { $0 = taken }
        }
        while try third.file.firstConflict(in: Store.nextWriterLock..<Store.nextWriterLock + 1) == nil { usleep(500) }
        // The lock would be free for a moment now.
        transaction.cancel()
        group.wait()
        #expect { _ = try third.begin(wait: .no) } throws: { ($0 as? FirnError)?.code == .locked }
        #expect(try third.file.firstConflict(in: Store.nextWriterLock..<Store.nextWriterLock + 1) == nil)
        // A writer that cancels its waiting leaves the queue, and later ones continue.
        DispatchQueue.global().async(group: group) {
            #expect(throws: FirnError.self) { _ = try third.begin(wait: .asLongAs { isWanted.withLock { $0 } }) }
        }
        while try store.file.firstConflict(in: Store.nextWriterLock..<Store.nextWriterLock + 1) == nil { usleep(500) }
        isWanted.withLock { $0 = false }
        group.wait()
        begun.withLock { taken in
            taken?.cancel()
            taken = nil
        }
        try store.begin(wait: .no).cancel()
    }

    @Test func `a process whose commits are not durable lets waiting writers of others begin`() throws {
        let folder = TemporaryFolder(), store = try Store.create(path: folder.file("a"), overwrite: false),
            other = try Store.open(path: folder.file("a"), writable: true)
        try store.begin().commit(catalogue: .none)
        var turns = 0, commits = 2
        let group = DispatchGroup(), isOver = Atomic<Bool>(false)
        DispatchQueue.global().async(group: group) {
            do {
                let transaction = try other.begin()
                try transaction.commit(catalogue: try transaction.write(pattern(7, 300)))
            } catch { Issue.record("\(error)") }
            isOver.store(true, ordering: .releasing)
        }
        var isInLine = false
        while !isOver.load(ordering: .acquiring), turns < 10_000 {
            if !isInLine { isInLine = try store.file.firstConflict(in: Store.nextWriterLock..<Store.nextWriterLock + 1) != nil }
            let transaction = try store.begin(), catalogue = try transaction.write(pattern(turns, 100))
            try transaction.commit(catalogue: catalogue, durability: .none)
            commits += 1
            if isInLine { turns += 1 }
        }
        try store.settle()
        group.wait()
        // A group has a thousand commits.
        #expect(turns <= 2000)
        // No commit is lost; one more is made if a group needs an odd number.
        var found: [Damage] = []
        try store.verify { found.append($0) }
        #expect(try store.latestVersion() >= UInt64(commits) && found.isEmpty)
    }

    @Test(.timeLimit(.minutes(15))) func `if a write fails, all writers in the queue get an error [T4]`() throws {
        let folder = TemporaryFolder(), journal = DiskJournal(of: folder),
            store = try Store.create(path: folder.file("a"), overwrite: false)
        defer { ScriptedDisk.end(in: folder.path) }
        try store.begin().commit(catalogue: .none)
        let transaction = try store.begin(), catalogue = try transaction.write(pattern(1, 100)), group = DispatchGroup(),
            told = Atomic<Int>(0)
        for _ in 0..<6 {
            Thread.detachNewThread {
                group.enter()
                defer { group.leave() }
                do { _ = try store.begin() } catch { told.add(1, ordering: .relaxed) }
            }
        }
        while store.lock.withLock({ store.queue.waitingCount }) < 6 { usleep(500) }
        journal.refuse(.init(after: 0, only: "sync"))
        #expect(throws: FirnError.self) { try transaction.commit(catalogue: catalogue) }
        group.wait()
        #expect(told.load(ordering: .relaxed) == 6)
    }
}
