import FirnBytes
import FirnDisk
import FirnKit
import FirnThreads
import Foundation
import Synchronization
import Testing

@testable import FirnStore

/// Commits that share a sync, and commits that return before they are durable.
@Suite struct GroupTests {
    private func begun(_ folder: TemporaryFolder, seed: UInt64 = 1) throws -> (Store, Story) {
        let store = try Store.create(path: folder.file("a"), overwrite: false)
        var story = Story(seed: seed)
        try story.commit(store)
        return (store, story)
    }

    private func commit(_ story: inout Story, _ store: Store, _ durability: Durability, largest: Int = 3000) throws {
        let transaction = try store.begin()
        // A group can end with an additional version, whose content is that of the previous one.
        while story.contents.count <= Int(transaction.base.version) { story.contents.append(story.contents.last!) }
        let (catalogue, content) = try story.step(transaction, largest: largest)
        try transaction.commit(catalogue: catalogue, keep: 3, durability: durability)
        story.contents.append(content)
    }

    private func newest(_ story: Story, _ snapshot: StoreSnapshot) throws -> Bool {
        try refs(snapshot).map { Array(try snapshot.read($0)) } == story.contents.last!
    }

    @Test(arguments: 1...5)
    func `commits without durability are visible in this store immediately, and in others when they are durable`(_ count: Int)
        throws
    {
        let folder = TemporaryFolder()
        var (store, story) = try begun(folder)
        let before = story
        for _ in 0..<count { try commit(&story, store, .none) }
        #expect(try newest(story, store.snapshot()))
        let other = try Store.open(path: folder.file("a"), writable: true)
        #expect(try other.latestVersion() == 1 && newest(before, other.snapshot()))
        do throws(FirnError) {
            _ = try other.begin(wait: .no)
            Issue.record("another store began a transaction")
        } catch { #expect(error.code == .locked) }
        try store.settle()
        // The last root is in the slot that the durable version does not use.
        #expect(try other.latestVersion() % 2 == 0 && other.latestVersion() >= UInt64(count + 1))
        #expect(try newest(story, other.snapshot()) && newest(story, store.snapshot()))
        #expect(try faults(store).isEmpty && faults(other).isEmpty)
        try commit(&story, other, .full)
        try commit(&story, store, .full)
        #expect(try newest(story, Store.open(path: folder.file("a"), writable: false).snapshot()))
        #expect(try faults(store).isEmpty)
    }

    @Test func `commits without durability do not sync until they have written much`() throws {
        let folder = TemporaryFolder()
        var (store, story) = try begun(folder)
        let journal = DiskJournal(of: folder)
        defer { ScriptedDisk.end(in: folder.path) }
        store = try Store.open(path: folder.file("a"), writable: true)
        for _ in 0..<50 { try commit(&story, store, .none, largest: 500) }
        #expect(!journal.events.contains { if case .sync = $0 { true } else { false } })
        for _ in 0..<60 { try commit(&story, store, .none, largest: 200_000) }
        #expect(journal.events.contains { if case .sync = $0 { true } else { false } })
        #expect(try newest(story, store.snapshot()))
        try store.settle()
        #expect(try faults(store).isEmpty)
    }

    @Test func `a durable commit makes the commits before it durable`() throws {
        for count in 1...4 {
            let folder = TemporaryFolder()
            var (store, story) = try begun(folder)
            for _ in 0..<count { try commit(&story, store, .none) }
            try commit(&story, store, .full)
            #expect(try newest(story, Store.open(path: folder.file("a"), writable: false).snapshot()), "\(count)")
            #expect(try store.history().count >= 3 && faults(store).isEmpty)
            for info in try store.history() {
                try refs(store.snapshot(version: info.version)).forEach { _ = try store.snapshot().readVerifying($0) }
            }
        }
    }

    @Test func `a commit without durability becomes durable before another store can write`() throws {
        let folder = TemporaryFolder()
        var (store, story) = try begun(folder)
        try commit(&story, store, .none)
        let other = try Store.open(path: folder.file("a"), writable: true)
        let transaction = try other.begin()
        #expect(try newest(story, transaction.base))
        transaction.cancel()
        _ = store
    }

    @Test func `concurrent grouped commits share syncs, and none is lost`() throws {
        let folder = TemporaryFolder(), journal = DiskJournal(of: folder)
        defer { ScriptedDisk.end(in: folder.path) }
        let store = try Store.create(path: folder.file("a"), overwrite: false)
        try store.begin().commit(catalogue: .none)
        journal.clear()
        journal.syncPause = 2000
        let versions = Mutex<Set<UInt64>>([])
        try parallelEach(threads: 8) { thread in
            for step in 0..<25 {
                let transaction = try store.begin()
                let old = transaction.base.catalogue.isNone ? [] : Array(try transaction.base.read(transaction.base.catalogue))
                if !old.isEmpty { transaction.free(transaction.base.catalogue) }
                let version = try transaction.commit(
                    catalogue: try transaction.write(old + [UInt8(thread), UInt8(step)]), durability: .grouped)
                #expect(try store.latestVersion() >= version)
                #expect(try Store.open(path: folder.file("a"), writable: false).latestVersion() >= version)
                _ = versions.withLock { $0.insert(version) }
            }
        }
        let syncs = journal.calls["sync"] ?? 0
        #expect(versions.withLock { $0.count } == 200)
        #expect(syncs < 200, "200 commits took \(syncs) syncs")
        let snapshot = try store.snapshot(), all = Array(try snapshot.read(snapshot.catalogue))
        #expect(all.count == 400)
        for thread in 0..<8 {
            let steps = stride(from: 0, to: 400, by: 2).filter { (at: Int) -> Bool in Int(all[at]) == thread }
            #expect(steps.map { (at: Int) -> UInt8 in all[at + 1] } == Array(0..<25))
        }
        var list: [String] = []
        try store.verify { list.append($0.description) }
        #expect(list.isEmpty, "\(list)")
        print("8 threads, 200 commits: \(syncs) syncs")
    }

    @Test func `if the sync of a group fails, all its commits fail and the store refuses further ones [T4]`() throws {
        let folder = TemporaryFolder()
        do { _ = try begun(folder) }
        let journal = DiskJournal(of: folder)
        defer { ScriptedDisk.end(in: folder.path) }
        let store = try Store.open(path: folder.file("a"), writable: true), failed = Mutex(0), first = try store.begin()
        let refused = Mutex(false)
        try parallelEach(threads: 5) { thread in
            if thread == 0 {
                // The other threads wait for this one.
                while store.lock.withLock({ store.queue.starting }) < 4 { usleep(1000) }
                journal.refuse(.init(after: 0, only: "sync"))
                return first.cancel()
            }
            do {
                let transaction = try store.begin()
                try transaction.commit(catalogue: try transaction.write([UInt8(thread)]), durability: .grouped)
            } catch is FirnError { failed.withLock { $0 += 1 } }
            refused.withLock { $0 = true }
        }
        #expect(failed.withLock { $0 } == 4)
        #expect(journal.refusals == ["sync"])
        #expect(throws: FirnError.self) { _ = try store.begin() }
        #expect(try store.latestVersion() <= 6)
    }

    @Test func `a crash leaves the last durable version, or the group that was being written [T2]`() throws {
        var states = 0
        for seed: UInt64 in 1...2 {
            let folder = TemporaryFolder(), journal = DiskJournal(of: folder), images = TemporaryFolder()
            defer { ScriptedDisk.end(in: folder.path) }
            var (store, story) = try begun(folder, seed: seed)
            var durable = [(calls: journal.count, content: story.contents.last!)]
            for round in 0..<5 {
                for _ in 0..<round { try commit(&story, store, .none, largest: 1000) }
                if seed % 2 == 0 { try store.settle() } else { try commit(&story, store, .full) }
                durable.append((journal.count, story.contents.last!))
                if round == 3 { store = try Store.open(path: folder.file("a"), writable: true) }
            }
            let events = journal.events, points = durable.map(\.calls), contents = durable.map(\.content)
            var crashes = CrashImages(seed: seed, samples: 1)
            try crashes.visit(events, from: journal.first, stops: points[0]...events.count) { stop, what, files in
                states += 1
                try FirnStoreTests.place(files["a"]!, at: images.file("b"))
                let copy = try Store.open(path: images.file("b"), writable: true), snapshot = try copy.snapshot()
                var content: [[UInt8]] = []
                for ref in try refs(snapshot) { content.append(Array(try snapshot.read(ref))) }
                let least = points.lastIndex { $0 <= stop }!
                let fits = content == contents[least] || (least + 1 < contents.count && content == contents[least + 1])
                #expect(fits, "seed \(seed), after \(stop) of \(events.count) calls, \(what)")
                guard states % 7 == 0 else { return }
                snapshot.release()
                let next = try copy.begin()
                try next.commit(catalogue: next.base.catalogue)
                #expect(try faults(copy).allSatisfy { !$0.contains("overlaps") }, "seed \(seed), after \(stop) calls, \(what)")
            }
        }
        print("\(states) crash images of groups")
    }
}
