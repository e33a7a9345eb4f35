import FirnBytes
import FirnDisk
import FirnKit
import Foundation
import Testing
@testable import FirnStore

/// A writer that was stopped before its sync or whose sync failed, and a second writer that continues from its version. All processes see
/// this version, but it may not be on the medium.
@Suite struct HandoverTests {
    /// What happened to the bytes that were not synced: kept by the system and written with the next sync, or dropped.
    enum Fate: CaseIterable { case kept, dropped, droppedButTheRoot, droppedInPart }

    @Test(arguments: Fate.allCases, [nil, testKey])
    func `a commit on a version that was never synced keeps all acknowledged versions safe [T2, T4]`(
        _ fate: Fate, _ key: EncryptionKey?
    ) throws {
        var states = 0
        for seed: UInt64 in Tier.isLong ? [1, 2, 3, 4] : [2, 3] {
            let folder = TemporaryFolder(), journal = DiskJournal(of: folder), images = TemporaryFolder()
            defer { ScriptedDisk.end(in: folder.path) }
            var story = Story(seed: seed), random = Random(seed: seed)
            var store: Store? = try Store.create(path: folder.file("a"), overwrite: false, key: key)
            for _ in 0..<Int(3 + seed % 2) { try story.commit(store!) }
            // A commit that lists its extents, or one that was synced before its root.
            let isLarge = seed > 2, acknowledged = story.contents.count - 1
            let transaction = try store!.begin(), before = journal.count
            if isLarge { _ = try transaction.write(pattern(7, 300_000)) }
            let (catalogue, content) = try story.step(transaction)
            journal.refuse(.init(after: isLarge ? 1 : 0, only: "sync"))
            #expect(throws: FirnError.self) { try transaction.commit(catalogue: catalogue, keep: 3) }
            store = nil
            let after = journal.count
            #expect(journal.refusals == ["sync"])
            // Another program opens the file and continues from this version.
            let other = try Store.open(path: folder.file("a"), writable: true, key: key)
            #expect(try other.latestVersion() == UInt64(acknowledged + 1) && other.fellBack == nil)
            story.contents.append(content)
            var durable = [(calls: 0, version: acknowledged)]
            for _ in 0..<3 {
                try story.commit(other)
                durable.append((journal.count, story.contents.count - 1))
            }
            var events = journal.events
            func isRoot(_ event: DiskJournal.Event) -> Bool {
                if case .write(_, let offset, let bytes) = event { bytes.count == 512 && offset <= 4096 } else { false }
            }
            let root = events[before..<after].firstIndex(where: isRoot)!, shift: Int
            #expect(events[root + 1..<after].contains(where: isRoot), "the root was not written again")
            var state = journal.first
            events[...root].forEach { state.apply($0) }
            let once = state.contents
            events[root + 1..<after].forEach { state.apply($0) }
            #expect(state.contents == once, "the second write differs from the first")
            if fate == .kept {
                // A program that was stopped writes nothing after its root.
                events.removeSubrange(root + 1..<after)
                shift = root + 1 - after
            } else {
                let synced = events[..<root].lastIndex { if case .sync = $0 { true } else { false } }!
                for index in max(before, synced)...root {
                    guard case .write(let file, let offset, _) = events[index] else { continue }
                    if fate == .dropped || (fate == .droppedButTheRoot && index < root) || (fate == .droppedInPart && random.below(2) == 0)
                    {
                        events[index] = .write(file: file, offset: offset, bytes: [])
                    }
                }
                // The part of the failed sync that reached the medium does not change afterwards.
                events.insert(.sync(file: 1), at: root + 1)
                shift = 1
            }
            var crashes = CrashImages(seed: seed)
            try crashes.visit(events, from: journal.first, stops: root + 1 + max(shift, 0)...events.count) { stop, what, files in
                states += 1
                let place: Comment = "seed \(seed), \(fate), \(stop - root) calls after the root, \(what)",
                    least = durable.last { $0.calls + shift <= stop }!.version
                try FirnStoreTests.place(files["a"]!, at: images.file("b"))
                do {
                    let snapshot = try Store.open(path: images.file("b"), writable: true, key: key).snapshot()
                    let holds = try story.holds(snapshot)
                    #expect(Int(snapshot.version) >= least && holds, place)
                } catch { Issue.record("\(place): \(error)") }
            }
        }
        #expect(states > Tier.cases(50, of: 100))
    }

    @Test
    func `opening and closing a file whose last version was never synced truncates no extent of the version before [T2]`()
        throws
    {
        let folder = TemporaryFolder(), journal = DiskJournal(of: folder), images = TemporaryFolder()
        defer { ScriptedDisk.end(in: folder.path) }
        var contents: [[UInt8]] = [], end: UInt64 = 0
        do {
            let store = try Store.create(path: folder.file("a"), overwrite: false)
            var kept = ExtentRef.none, tail = ExtentRef.none, catalogue = ExtentRef.none
            for step in 0..<4 {
                let transaction = try store.begin()
                if step == 0 {
                    kept = try transaction.write(pattern(1, 2000))
                    tail = try transaction.write(pattern(2, 20_000))
                } else if step == 1 {
                    transaction.free(tail)
                }
                transaction.free(catalogue)
                contents = [pattern(1, 2000)] + (step == 0 ? [pattern(2, 20_000)] : [])
                catalogue = try transaction.write(catalogueBytes(step == 0 ? [kept, tail] : [kept]))
                if step == 3 {
                    end = try store.newestRoot().end
                    journal.refuse(.init(after: 0, only: "sync"))
                    #expect(throws: FirnError.self) { try transaction.commit(catalogue: catalogue, keep: 2) }
                } else {
                    try transaction.commit(catalogue: catalogue, keep: 2)
                }
            }
        }
        let after = journal.count
        do {
            let other = try Store.open(path: folder.file("a"), writable: true)
            #expect(try other.latestVersion() == 4 && other.newestRoot().end < end, "the last version does not end before the previous one")
        }
        let events = journal.events
        #expect(events[after...].contains { if case .truncate = $0 { true } else { false } })
        var crashes = CrashImages(seed: 1)
        try crashes.visit(events, from: journal.first, stops: after...events.count) { stop, what, files in
            try FirnStoreTests.place(files["a"]!, at: images.file("b"))
            do {
                let snapshot = try Store.open(path: images.file("b"), writable: false).snapshot()
                let found = try refs(snapshot).map { Array(try snapshot.read($0)) }
                #expect(snapshot.version >= 3 && found == contents, "\(stop), \(what)")
            } catch { Issue.record("\(stop), \(what): \(error)") }
        }
    }

    @Test func `each commit of stores in turn makes one sync, and the first one after a closed store makes two [T1]`() throws {
        let folder = TemporaryFolder(), journal = DiskJournal(of: folder)
        defer { ScriptedDisk.end(in: folder.path) }
        var story = Story(seed: 3)
        func syncs(_ store: Store) throws -> Int {
            journal.clear()
            try story.commit(store)
            return journal.calls["sync", default: 0]
        }
        var one: Store? = try Store.create(path: folder.file("a"), overwrite: false)
        _ = try syncs(one!)
        let two = try Store.open(path: folder.file("a"), writable: true)
        for step in 0..<12 { #expect(try syncs(step % 3 == 0 ? one! : two) == 1, "commit \(step)") }
        #expect(try syncs(one!) == 1)
        one = nil
        #expect(try syncs(two) == 2, "the commit did not sync the version of the closed store")
        for _ in 0..<3 { #expect(try syncs(two) == 1) }
        #expect(try faults(two).isEmpty)
    }

    @Test(arguments: [false, true]) func `a file whose name was never synced exists after an acknowledged commit of another store [T2]`(
        beginsInline: Bool
    ) throws {
        let folder = TemporaryFolder(), journal = DiskJournal(of: folder, .init(after: 0, only: "syncDirectory")),
            images = TemporaryFolder()
        defer { ScriptedDisk.end(in: folder.path) }
        #expect(throws: FirnError.self) {
            let store = try Store.create(path: folder.file("a"), overwrite: false, atFirstCommit: beginsInline)
            try store.begin().commitInline(pattern(1, 100))
        }
        #expect(journal.refusals == ["syncDirectory"])
        var acknowledged: [Int] = []
        do {
            let store = try Store.open(path: folder.file("a"), writable: true)
            for step in 0..<3 {
                let transaction = try store.begin()
                try transaction.commit(catalogue: try transaction.write(pattern(step, 200)))
                acknowledged.append(journal.count)
            }
        }
        var crashes = CrashImages(seed: 1)
        try crashes.visit(journal.events, from: journal.first, stops: acknowledged[0]...journal.count) { stop, what, files in
            guard let image = files["a"] else {
                Issue.record("\(stop) of \(journal.count) calls, \(what): the file is missing")
                return
            }
            try FirnStoreTests.place(image, at: images.file("b"))
            let least = acknowledged.count { $0 <= stop } + (beginsInline ? 1 : 0)
            #expect(try Store.open(path: images.file("b"), writable: false).latestVersion() >= UInt64(least), "\(stop), \(what)")
        }
    }
}
