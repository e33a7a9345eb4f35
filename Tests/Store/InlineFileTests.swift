import FirnBytes
import FirnDisk
import FirnKit
import FirnThreads
import Foundation
import Testing

@testable import FirnStore

/// Sizes of inline files at which their layout changes: the first sector, a unit, the positions of the second slot.
private let sizes = [0, 1, 100, 320, 321, 3840, 3904, 3905, 4500, 8000, 8001, 50_000, StoreTransaction.maximumInlineBytes]

private func begin(inline size: Int, at path: String, calls: (any DiskCalls)? = nil) throws -> Store {
    let store = try Store.create(path: path, overwrite: true, atFirstCommit: true, calls: calls)
    let transaction = try store.begin()
    _ = try transaction.write(pattern(3, 90_000))  // What the model wrote before it found that the file is small.
    try transaction.commitInline(pattern(size, size))
    return store
}

private func story(_ seed: UInt64) -> Story {
    var story = Story(seed: seed)
    story.contents.append([])  // Version 1 has no references.
    return story
}

@Suite struct InlineFileTests {
    @Test func `an inline file is a root and its extent, to the byte`() throws {
        let scratch = Scratch()
        for size in sizes {
            let store = try begin(inline: size, at: scratch("a"))
            let bytes = try File(path: scratch("a"), .read).readAll()
            #expect(bytes.count == 192 + size)
            #expect(Array(bytes[192...]) == pattern(size, size))
            #expect(bytes[32] == 1 && bytes[88..<120].allSatisfy { $0 == 0 })
            #expect(Int(bytes[152]) == max(1, (192 + size + 4095) / 4096))
            #expect(try Paths.list(scratch.path) == ["a"])
            for store in [store, try Store.open(path: scratch("a"), writable: false)] {
                #expect(store.fellBack == nil)
                let snapshot = try store.snapshot()
                #expect(snapshot.version == 1)
                #expect(try snapshot.readVerifying(snapshot.catalogue).elementsEqual(pattern(size, size)))
                #expect(try store.history().map(\.version) == [1])
                #expect(try store.verify(live: [snapshot.catalogue]) { Issue.record("\($0)") } == 0)
                let report = try store.spaceReport()
                #expect(report.live == UInt64(size) && report.slack == 0 && report.fileLength == UInt64(192 + size))
            }
            try store.begin().cancel()
            try store.shrink()
            #expect(try File(path: scratch("a"), .read).readAll() == bytes)
        }
    }

    @Test func `commits follow an inline commit, and the first version stays readable while it is pinned`() throws {
        for size in sizes {
            let scratch = Scratch()
            var store = try begin(inline: size, at: scratch("a")), history = story(UInt64(size))
            let reader = try Store.open(path: scratch("a"), writable: false)
            let first = try reader.snapshot()
            for step in 0..<40 {
                try history.commit(store, keep: 2 + step % 4)
                #expect(try history.holds(store.snapshot()))
                if step < 3 {
                    let again = try store.snapshot(version: 1)
                    if step < 1 { #expect(try again.readVerifying(again.catalogue).elementsEqual(pattern(size, size))) }
                }
                if step % 7 == 0 { store = try Store.open(path: scratch("a"), writable: true) }
                #expect(store.fellBack == nil)
                let found = try faults(store)
                #expect(found.isEmpty, "size \(size), step \(step): \(found)")
            }
            #expect(try first.readVerifying(first.catalogue).elementsEqual(pattern(size, size)))
            first.release()
            for _ in 0..<10 { try history.commit(store, keep: 2) }
            #expect(try faults(store).isEmpty)
            try store.shrink()
            #expect(try history.contents.last! == refs(store.snapshot()).map { Array(try store.snapshot().read($0)) })
            #expect(try faults(store).isEmpty)
        }
    }

    @Test func `a crash after an inline commit leaves the last acknowledged commit or the next`() throws {
        for size in [10, 2000, 3904, 9000] {
            let folder = TemporaryFolder(), journal = DiskJournal(of: folder), images = TemporaryFolder()
            defer { ScriptedDisk.end(in: folder.path) }
            var random = Random(seed: UInt64(size) &* 31)
            let store = try begin(inline: size, at: folder.file("a"))
            var history = story(UInt64(size))
            let start = journal.count
            var acknowledged = [start, start]
            for _ in 0..<5 {
                try history.commit(store)
                acknowledged.append(journal.count)
            }
            let events = journal.events
            func check(_ image: [UInt8], _ stop: Int, _ what: String) throws {
                let place: Comment = "size \(size), after \(stop) calls, \(what)", least = acknowledged.lastIndex { $0 <= stop }!
                try FirnStoreTests.place(image, at: images.file("b"))
                let copy = try Store.open(path: images.file("b"), writable: true), snapshot = try copy.snapshot()
                let version = Int(snapshot.version)
                #expect(version == least || version == least + 1, place)
                #expect(try history.holds(snapshot), place)
                if version == 1 { #expect(try snapshot.readVerifying(snapshot.catalogue).elementsEqual(pattern(size, size)), place) }
                snapshot.release()
                if random.below(4) == 0 {
                    var next = history
                    try next.commit(copy)
                    try next.commit(copy)
                    #expect(try next.holds(copy.snapshot()))
                    #expect(try faults(copy).allSatisfy { !$0.contains("overlaps") && !$0.contains("unaccounted") }, place)
                }
            }
            var crashes = CrashImages(seed: UInt64(size))
            try crashes.visit(events, from: journal.first, stops: start...events.count) { stop, what, files in
                try check(files["a"]!, stop, what)
                // Writing a root can damage the whole sector, including the bytes after the root.
                guard what.hasSuffix("none"), stop > 0, case .write(_, 0, _) = events[stop - 1] else { return }
                try check([UInt8](repeating: 0xA5, count: 512) + files["a"]!.dropFirst(512), stop, "without the first sector")
            }
        }
    }

    @Test func `if the first slot is damaged, the second is found at every position`() throws {
        for size in sizes {
            let scratch = Scratch()
            let store = try begin(inline: size, at: scratch("a"))
            var history = story(UInt64(size))
            for version in 2...5 {
                try history.commit(store)
                var bytes = try File(path: scratch("a"), .read).readAll()
                // Two bits, because one would be corrected.
                bytes[40] ^= 1
                bytes[60] ^= 1
                try place(bytes, at: scratch("b"))
                let reader = try Store.open(path: scratch("b"), writable: false)
                #expect(reader.fellBack != nil)
                #expect(try reader.latestVersion() == UInt64(version & ~1))
                #expect(try history.holds(reader.snapshot()))
                // Odd versions are in the first slot: a writer restores the root.
                let copy = try Store.open(path: scratch("b"), writable: true)
                #expect(try copy.latestVersion() == UInt64(version))
                #expect(try history.holds(copy.snapshot()))
                var again = history
                for _ in 0..<3 { try again.commit(copy) }
                #expect(try again.holds(Store.open(path: scratch("b"), writable: false).snapshot()))
            }
        }
    }

    @Test func `if two second slots are possible, neither is used`() throws {
        let scratch = Scratch()
        let store = try begin(inline: 100, at: scratch("a"))
        var history = story(8)
        try history.commit(store, largest: 20_000)
        var bytes = try File(path: scratch("a"), .read).readAll(), root = try store.newestRoot()
        root.secondSlot = 5
        bytes += [UInt8](repeating: 0, count: max(0, 5 * 4096 + 512 - bytes.count))
        bytes.replaceSubrange(5 * 4096..<5 * 4096 + 176, with: root.encoded())
        try place(bytes, at: scratch("b"))
        #expect(try history.holds(Store.open(path: scratch("b"), writable: false).snapshot()))
        bytes[40] ^= 1
        bytes[60] ^= 1
        try place(bytes, at: scratch("b"))
        do throws(FirnError) {
            _ = try Store.open(path: scratch("b"), writable: false)
            Issue.record("a file with two possible second slots was opened")
        } catch { #expect(error.code == .damaged) }
    }

    @Test func `a truncated inline file or one with a flipped bit is an error or intact data`() throws {
        for (size, commits) in [(0, 0), (75, 0), (4000, 0), (75, 1), (75, 2), (4500, 2)] {
            let scratch = Scratch()
            let store = try begin(inline: size, at: scratch("a"))
            var history = story(77)
            for _ in 0..<commits { try history.commit(store, largest: 500) }
            let whole = try File(path: scratch("a"), .read).readAll()
            func probe(_ bytes: [UInt8], _ what: String) throws {
                try place(bytes, at: scratch("b"))
                do {
                    let copy = try Store.open(path: scratch("b"), writable: true), snapshot = try copy.snapshot()
                    #expect(try history.holds(snapshot), "\(what)")
                    if snapshot.version == 1 {
                        #expect(try snapshot.read(snapshot.catalogue).elementsEqual(pattern(size, size)), "\(what)")
                    }
                    snapshot.release()
                    _ = try copy.history()
                    try copy.begin().cancel()
                } catch is FirnError {} catch is Damage {}
            }
            for length in stride(from: 0, to: whole.count, by: commits > 0 ? 64 : Tier.isLong || size < 100 ? 1 : 5) {
                try probe(Array(whole[..<length]), "size \(size), cut at \(length)")
            }
            var random = Random(seed: 4)
            for place in whole.indices where Tier.isLong || place % 4096 < 512 || place % 3 == 0 {
                var flipped = whole
                flipped[place] ^= 1 << UInt8(random.below(8))
                try probe(flipped, "size \(size), flipped byte \(place)")
            }
        }
    }

    @Test func `if any call of an inline commit fails, the file is complete or does not exist`() throws {
        for nth in 0..<40 {
            let folder = TemporaryFolder(), journal = DiskJournal(of: folder, .init(after: nth))
            defer { ScriptedDisk.end(in: folder.path) }
            var done = false
            do {
                _ = try begin(inline: 5000, at: folder.file("a"))
                done = true
            } catch is FirnError {}
            journal.refuse(nil)
            if Paths.exists(folder.file("a")) {
                let store = try Store.open(path: folder.file("a"), writable: true), snapshot = try store.snapshot()
                #expect(try snapshot.readVerifying(snapshot.catalogue).elementsEqual(pattern(5000, 5000)))
                #expect(try Paths.list(folder.path).count == 1 || journal.refusals == ["remove"])
            } else {
                #expect(!done)
                #expect(try Paths.list(folder.path).isEmpty)
            }
            if journal.refusals.isEmpty { return }
        }
        Issue.record("one commit needs more than 40 calls")
    }
}
