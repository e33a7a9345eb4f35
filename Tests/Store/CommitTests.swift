import FirnBytes
import FirnDisk
import FirnThreads
import Foundation
import Testing

@testable import FirnStore

@Suite struct CommitTests {
    @Test func `a small commit writes one run of extents and one root, and syncs once`() throws {
        let scratch = Scratch(), recorder = Recorder()
        let store = try Store.create(path: scratch("a"), overwrite: false, calls: recorder)
        // A changed row replaces a leaf, an inner node and a catalogue.
        var nodes: [ExtentRef] = []
        for version in 1...200 {
            recorder.clear()
            let transaction = try store.begin()
            nodes.forEach(transaction.free)
            nodes = [
                try transaction.write(pattern(version, 4000)), try transaction.write(pattern(version + 1, 4000)),
                try transaction.write(pattern(version + 2, 900)),
            ]
            try transaction.commit(catalogue: nodes[2])
            var bytes = 0, syncs = 0, roots = 0
            for call in recorder.calls {
                if case .write(let offset, let data) = call {
                    bytes += data.count
                    if (offset == 0 || offset == 4096) && data.count == 512 { roots += 1 }
                }
                if call == .sync { syncs += 1 }
            }
            #expect(roots == 1 && bytes <= 24 << 10, "version \(version) wrote \(bytes) bytes in \(recorder.calls.count) calls")
            if version > 1 {
                #expect(syncs == 1 && recorder.calls.last == .sync)
                if case .write(let offset, _) = recorder.calls[recorder.calls.count - 2] {
                    #expect(offset == (version & 1 == 0 ? 0 : 4096))
                } else {
                    Issue.record("the root is not the last write")
                }
            }
        }
        #expect(try store.spaceReport().fileLength < 200_000)
        var list: [String] = []
        let lost = try store.verify(live: nodes) { list.append($0.description) }
        #expect(list == [] && lost == 0)
    }

    @Test func `a large commit is synced before its root is written`() throws {
        let scratch = Scratch(), recorder = Recorder()
        let store = try Store.create(path: scratch("a"), overwrite: false, calls: recorder)
        let first = try store.begin()
        try first.commit(catalogue: try first.write([1]))
        recorder.clear()
        let transaction = try store.begin()
        for number in 0..<10 { _ = try transaction.write(pattern(number, 100_001)) }
        try transaction.commit(catalogue: try transaction.write([1]))
        #expect(recorder.calls.suffix(3).map { call in if case .write = call { "write" } else { "\(call)" } } == ["sync", "write", "sync"])
        #expect(try Paths.size(scratch("a")) == store.newestRoot().end * 64)
    }

    @Test func `a new file gets its name with its first commit, if requested`() throws {
        let scratch = Scratch()
        try File(path: scratch("a"), .createNew).write([1, 2, 3], at: 0)
        #expect(throws: FirnError.self) { _ = try Store.create(path: scratch("a"), overwrite: false, atFirstCommit: true) }
        var store: Store? = try Store.create(path: scratch("a"), overwrite: true, atFirstCommit: true)
        let transaction = try store!.begin()
        let catalogue = try transaction.write(pattern(1, 10))
        #expect(try Paths.size(scratch("a")) == 3)
        try transaction.commit(catalogue: catalogue)
        #expect(try Paths.list(scratch.path) == ["a"])
        #expect(try Store.open(path: scratch("a"), writable: false).snapshot().catalogue == catalogue)
        store = try Store.create(path: scratch("b"), overwrite: false, atFirstCommit: true)
        #expect(try Paths.list(scratch.path).count == 2)
        store = nil
        #expect(try Paths.list(scratch.path) == ["a"])
    }

    @Test func `damage in a commit that was synced before its root is an error, without a fallback to an older version`() throws {
        let scratch = Scratch()
        let named = try Store.create(path: scratch("a"), overwrite: false, atFirstCommit: true)
        let small = try named.begin()
        try small.commit(catalogue: try small.write(pattern(1, 3000)))
        #expect(try Store.open(path: scratch("a"), writable: false).fellBack == nil)
        #expect(try named.verify { Issue.record("\($0)") } == nil)
        try refuses(scratch("a"), spots: [4096 + 20, 4096 + 100, Int(named.newestRoot().record.offset)], in: scratch)
        let large = try named.begin()
        for number in 0..<10 { _ = try large.write(pattern(number, 100_001)) }
        try large.commit(catalogue: try large.write([1]))
        #expect(try !named.newestRoot().listsExtents)
        try refuses(scratch("a"), spots: [Int(named.newestRoot().record.offset) + 9], in: scratch)
    }

    /// Checks that a store with a changed byte at any of the positions, or truncated there, cannot be opened.
    private func refuses(_ path: String, spots: [Int], in scratch: Scratch) throws {
        let whole = try File(path: path, .read).readAll()
        for spot in spots {
            var torn = whole
            // Two bits, because one bit of a root would be corrected.
            torn[spot] ^= 0x11
            for bytes in [torn, Array(whole[..<spot])] {
                try place(bytes, at: scratch("b"))
                do throws(FirnError) {
                    _ = try Store.open(path: scratch("b"), writable: false)
                    Issue.record("a file that is damaged at byte \(spot) was opened")
                } catch { #expect(error.code == .damaged) }
            }
        }
    }

    @Test func `if any part of the newest commit is torn, the previous version is read`() throws {
        let scratch = Scratch(), recorder = Recorder()
        let store = try Store.create(path: scratch("a"), overwrite: false, calls: recorder)
        var story = Story(seed: 7)
        for _ in 0..<6 { try story.commit(store) }
        recorder.clear()
        try story.commit(store)
        let whole = try File(path: scratch("a"), .read).readAll()
        let newest = try store.newestRoot()
        let record = try store.snapshot().store.record(of: 7, from: store.snapshot())
        #expect(record.listed.count > 1)
        for spot in record.listed.filter({ $0.length > 0 }).map({ Int($0.offset + $0.length) - 1 }) + [Int(newest.record.offset) + 10] {
            var torn = whole
            torn[spot] ^= 0x10
            try place(torn, at: scratch("b"))
            let copy = try Store.open(path: scratch("b"), writable: true)
            #expect(copy.fellBack != nil)
            #expect(try copy.latestVersion() == 6)
            let snapshot = try copy.snapshot()
            #expect(try story.holds(snapshot))
            snapshot.release()
            var again = story
            for _ in 0..<3 { try again.commit(copy) }
            #expect(try again.holds(copy.snapshot()))
            #expect(try copy.latestVersion() == 9)
        }
    }

    @Test func `a file can be opened while a commit is in progress`() throws {
        let scratch = Scratch()
        let store = try Store.create(path: scratch("a"), overwrite: false)
        var story = Story(seed: 3)
        try story.commit(store)
        let transaction = try store.begin()
        let next = try story.step(transaction, largest: 300_000)
        let reader = try Store.open(path: scratch("a"), writable: true)
        #expect(try story.holds(reader.snapshot()))
        do throws(FirnError) {
            _ = try reader.begin(wait: .no)
            Issue.record("two transactions began")
        } catch { #expect(error.code == .locked) }
        #expect(throws: FirnError.self) { _ = try store.begin(wait: .no) }
        let old = try reader.snapshot()
        try transaction.commit(catalogue: next.catalogue)
        #expect(try story.holds(old))
        #expect(try reader.latestVersion() == 2)
        story.contents.append(next.content)
        #expect(try story.holds(reader.snapshot()))
        #expect(old.version == 1)
        try story.commit(reader)
        try story.commit(store)
        #expect(try story.holds(reader.snapshot()))
        #expect(try faults(store).isEmpty)
    }

    @Test func `two stores write in turn, and each uses the space that the other freed`() throws {
        let scratch = Scratch()
        let one = try Store.create(path: scratch("a"), overwrite: false)
        let two = try Store.open(path: scratch("a"), writable: true)
        var story = Story(seed: 11)
        for step in 0..<120 {
            try story.commit(story.random.below(3) == 0 ? one : two, keep: 2 + step % 5)
            if step % 20 == 0 { #expect(try faults(one).isEmpty) }
        }
        #expect(try faults(two).isEmpty)
        #expect(try story.holds(two.snapshot()))
    }

    @Test func `threads can write extents of one transaction concurrently`() throws {
        let scratch = Scratch()
        let store = try Store.create(path: scratch("a"), overwrite: false)
        let transaction = try store.begin()
        let written = try parallelMap(count: 200, threads: 4) { (index) throws(FirnError) in
            try transaction.write(pattern(index, index % 5 == 0 ? 70_000 : 3000))
        }
        try transaction.commit(catalogue: try transaction.write(catalogueBytes(written)))
        let snapshot = try store.snapshot()
        for (index, ref) in written.enumerated() {
            #expect(try snapshot.read(ref).elementsEqual(pattern(index, index % 5 == 0 ? 70_000 : 3000)))
        }
        #expect(try faults(store).isEmpty)
    }

    @Test func `a feature that a commit requires is in the root of this and all later versions`() throws {
        let scratch = Scratch()
        let store = try Store.create(path: scratch("a"), overwrite: false)
        for step in 1...4 {
            let transaction = try store.begin()
            if step == 2 { transaction.require(.sharedPresence) }
            if step == 3 {
                // A cancelled transaction requires nothing.
                transaction.cancel()
                continue
            }
            try transaction.commit(catalogue: try transaction.write([UInt8(step)]))
            #expect(try store.newestRoot().readerFeatures == (step < 2 ? 0 : 1))
        }
        #expect(try Store.open(path: scratch("a"), writable: false).newestRoot().readerFeatures == 1)
        _ = try store.shrink()
        #expect(try store.newestRoot().readerFeatures == 1)
        let other = try Store.create(path: scratch("b"), overwrite: false), cancelled = try other.begin()
        cancelled.require(.sharedPresence)
        cancelled.cancel()
        let next = try other.begin()
        try next.commit(catalogue: try next.write([1] as [UInt8]))
        #expect(try other.newestRoot().readerFeatures == 0)
    }

    @Test func `unknown features of structure are refused, and those of encodings and of writers make the file read-only`() throws {
        let scratch = Scratch()
        let store = try Store.create(path: scratch("a"), overwrite: false)
        var root = try store.newestRoot()
        let unknown = (0...).first { ReaderFeature(rawValue: $0) == nil }!
        for bits in [1 << unknown, 1 << unknown | 1 << 56] as [UInt64] {
            root.readerFeatures = bits
            try place(root.encoded(), at: scratch("b"))
            do throws(FirnError) {
                _ = try Store.open(path: scratch("b"), writable: false)
                Issue.record("a file with an unknown feature was opened")
            } catch { #expect(error.code == .unsupported && error.message.contains("feature bits \(unknown),")) }
        }
        // An unknown encoding costs only the columns that use it.
        root.readerFeatures = 1 << 56
        try place(root.encoded(), at: scratch("b"))
        #expect(try Store.open(path: scratch("b"), writable: true).isWritable == false)
        root.readerFeatures = 0
        root.writerFeatures = 1 << 40
        try place(root.encoded(), at: scratch("b"))
        #expect(try Store.open(path: scratch("b"), writable: true).isWritable == false)
        root.writerFeatures = 0
        root.formatVersion = 2
        try place(root.encoded(), at: scratch("b"))
        #expect(throws: FirnError.self) { _ = try Store.open(path: scratch("b"), writable: false) }
        for junk in [[], [1, 2, 3], [UInt8](repeating: 7, count: 10_000)] as [[UInt8]] {
            try place(junk, at: scratch("b"))
            do throws(FirnError) {
                _ = try Store.open(path: scratch("b"), writable: false)
                Issue.record("a file of another format was opened")
            } catch { #expect(error.code == .notThisFormat) }
        }
    }
}
