import FirnBytes
import FirnDisk
import FirnKit
import Foundation
import Testing
@testable import FirnStore

@Suite struct FaultTests {
    @Test(arguments: [false, true]) func `if any call fails, committed versions stay intact [T4]`(forEver: Bool) throws {
        // Reads and similar calls fail separately, because they are many and change nothing.
        let kinds: [(only: String?, code: Int32)] = [
            (nil, 5 /* EIO */), (nil, 28 /* ENOSPC */), ("map", 12 /* ENOMEM */), ("memory", 12), ("status", 5), ("read", 5),
            ("lock", 37 /* ENOLCK */),
        ]
        for (only, code) in kinds {
            var nth = 0
            while true {
                let folder = TemporaryFolder(),
                    journal = DiskJournal(of: folder, .init(after: nth, only: only, forEver: forEver, code: code))
                defer { ScriptedDisk.end(in: folder.path) }
                var story = Story(seed: 5), acknowledged = 0, tried = story, failure: FirnError?
                do {
                    let store = try Store.create(path: folder.file("a"), overwrite: false)
                    for step in 0..<6 {
                        let transaction = try store.begin()
                        let (catalogue, content) = try story.step(transaction, largest: step == 3 ? 100_000 : 3000)
                        tried = story
                        tried.contents.append(content)
                        if step == 2 {
                            transaction.cancel()
                            continue
                        }
                        try transaction.commit(catalogue: catalogue)
                        story.contents.append(content)
                        acknowledged += 1
                    }
                } catch let error as FirnError {
                    failure = error
                    #expect(error.code == (code == 28 ? .noSpace : .inputOutput), "\(error)")
                } catch let damage as Damage {
                    // A refused map while a transaction reads.
                    failure = .damaged("a", what: damage.what, byte: damage.offset)
                }
                if journal.refusals.isEmpty { break }
                let where_ = "\(journal.refusals[0]) \(nth), error \(code)"
                // Failures that are not errors: removing temporary data, truncating the file at the end and finding how far, and mapping,
                // because bytes are copied then.
                if failure == nil {
                    #expect(
                        acknowledged == 5 && ["remove", "truncate", "status", "read", "lock", "map"].contains(journal.refusals[0]),
                        "\(where_)")
                }
                journal.refuse(nil)
                if Paths.exists(folder.file("a")) {
                    let store = try Store.open(path: folder.file("a"), writable: true)
                    let version = Int(try store.latestVersion())
                    // A root whose sync failed can be written: then the version is complete without being acknowledged.
                    #expect(version == acknowledged || (version == acknowledged + 1 && journal.refusals[0] == "sync"), "\(where_)")
                    #expect(try (version == acknowledged ? story : tried).holds(store.snapshot()), "\(where_)")
                    if version > 0 { #expect(try faults(store).isEmpty, "\(where_)") }
                    if version == acknowledged, version > 0 {
                        try story.commit(store)
                        #expect(try story.holds(store.snapshot()))
                    }
                } else {
                    #expect(acknowledged == 0)
                }
                let left = try Paths.list(folder.path).filter { !$0.contains(".tmp-") || !journal.refusals.contains("remove") }
                #expect(left.count <= 1, "\(where_)")
                nth += 1
            }
            // Minimum numbers of calls of each kind for five commits and what precedes them.
            let least = ["memory": 1, "map": 1, "status": 2, "read": 6, "lock": 6]
            #expect(nth >= only.flatMap { least[$0] } ?? 10, "\(only ?? "any") was called \(nth) times")
        }
    }

    @Test(arguments: [nil, testKey]) func `a failed read during opening is an error, without a fallback to an older version [T4]`(
        key: EncryptionKey?
    ) throws {
        let folder = TemporaryFolder()
        var story = Story(seed: 6)
        do {
            let store = try Store.create(path: folder.file("a"), overwrite: false, key: key)
            for _ in 0..<5 { try story.commit(store) }
        }
        var nth = 0
        while true {
            let journal = DiskJournal(of: folder, .init(after: nth, only: "read", code: 5))
            defer { ScriptedDisk.end(in: folder.path) }
            do throws(FirnError) {
                let store = try Store.open(path: folder.file("a"), writable: false, key: key)
                #expect(try store.latestVersion() == 5 && store.fellBack == nil, "read \(nth)")
            } catch { #expect(error.code == .inputOutput, "read \(nth): \(error)") }
            if journal.refusals.isEmpty { break }
            nth += 1
        }
        #expect(nth > 3)
    }

    @Test func `after a failed sync a store cannot commit until the file is reopened`() throws {
        // The sync of the version that another store wrote, and the commit's own sync.
        for nth in 0..<2 {
            let folder = TemporaryFolder(), path = folder.file("a")
            do {
                let store = try Store.create(path: path, overwrite: false)
                let transaction = try store.begin()
                try transaction.commit(catalogue: try transaction.write([1]))
            }
            let journal = DiskJournal(of: folder, .init(after: nth, only: "sync"))
            defer { ScriptedDisk.end(in: folder.path) }
            let store = try Store.open(path: path, writable: true)
            let transaction = try store.begin()
            let catalogue = try transaction.write([2])
            #expect(throws: FirnError.self) { try transaction.commit(catalogue: catalogue) }
            let before = journal.count
            #expect(throws: FirnError.self) { _ = try store.begin() }
            #expect(journal.refusals == ["sync"] && journal.count == before)
            #expect(try Store.open(path: path, writable: true).begin().base.version == UInt64(1 + nth))
        }
    }

    @Test func `a crash at any point leaves the last acknowledged commit or the next [T2]`() throws {
        var states = 0
        for seed: UInt64 in 1...3 {
            let folder = TemporaryFolder(), journal = DiskJournal(of: folder), images = TemporaryFolder()
            defer { ScriptedDisk.end(in: folder.path) }
            let store = try Store.create(path: folder.file("a"), overwrite: false)
            var story = Story(seed: seed), random = Random(seed: seed)
            // The number of calls at which each version was acknowledged.
            var acknowledged = [journal.count]
            for step in 0..<9 {
                if step % 5 == 3 {
                    let transaction = try store.begin()
                    _ = try story.step(transaction)
                    transaction.cancel()
                }
                try story.commit(store, largest: step == 6 ? 200_000 : 3000)
                acknowledged.append(journal.count)
            }
            var crashes = CrashImages(seed: seed)
            let events = journal.events
            try crashes.visit(events, from: journal.first, stops: acknowledged[0]...events.count) { stop, what, files in
                states += 1
                let place: Comment = "seed \(seed), after \(stop) calls, \(what)", least = acknowledged.lastIndex { $0 <= stop }!
                try FirnStoreTests.place(files["a"]!, at: images.file("b"))
                let copy = try Store.open(path: images.file("b"), writable: true, check: RestoringTests.isWhole)
                let snapshot = try copy.snapshot()
                let version = Int(snapshot.version)
                #expect(version == least || version == least + 1, place)
                #expect(try story.holds(snapshot), place)
                snapshot.release()
                guard random.below(6) == 0 else { return }
                // Commits continue on some of the images.
                var next = story
                next.random = Random(seed: UInt64(stop))
                try next.commit(copy)
                try next.commit(copy)
                #expect(try next.holds(copy.snapshot()))
                #expect(try faults(copy).allSatisfy { !$0.contains("overlaps") && !$0.contains("unaccounted") }, place)
            }
        }
        print("\(states) crash images of the store")
    }

    @Test func `a truncated file or one with a flipped bit is an error or intact data`() throws {
        let scratch = Scratch()
        let store = try Store.create(path: scratch("a"), overwrite: false)
        var story = Story(seed: 21)
        for _ in 0..<5 { try story.commit(store, largest: 600) }
        let whole = try File(path: scratch("a"), .read).readAll()
        func probe(_ bytes: [UInt8], _ what: String) throws {
            try place(bytes, at: scratch("b"))
            do {
                let copy = try Store.open(path: scratch("b"), writable: true)
                let snapshot = try copy.snapshot()
                #expect(try story.holds(snapshot), "\(what)")
                snapshot.release()
                _ = try copy.history()
                try copy.begin().cancel()
            } catch is FirnError {} catch is Damage {}
        }
        for length in stride(from: 0, to: whole.count, by: 64) { try probe(Array(whole[..<length]), "cut at \(length)") }
        var random = Random(seed: 4)
        // Every byte of the roots, and every third one of the extents.
        for place in whole.indices where Tier.isLong || place % 4096 < 512 || place % 3 == 0 {
            var flipped = whole
            flipped[place] ^= 1 << UInt8(random.below(8))
            try probe(flipped, "flipped byte \(place)")
        }
    }

    @Test func `truncating a file while it is mapped is damage and does not end the process`() throws {
        let scratch = Scratch()
        let store = try Store.create(path: scratch("a"), overwrite: false)
        let transaction = try store.begin()
        let written = try (0..<20).map { try transaction.write(pattern($0, 10_000)) }
        try transaction.commit(catalogue: try transaction.write(catalogueBytes(written)))
        let reader = try Store.open(path: scratch("a"), writable: false), snapshot = try reader.snapshot()
        _ = try snapshot.read(written[0])
        let kept = try snapshot.read(written[19])
        try File(path: scratch("a"), .readWrite).truncate(to: 50_000)
        #expect(throws: Damage.self) { _ = try snapshot.read(written[10]) }
        #expect(kept.count == 10_000 && kept.allSatisfy { $0 == 0 })
        #expect(throws: Damage.self) { try snapshot.checkIntact() }
        // Opening the file now is an error.
        #expect(throws: (any Error).self) {
            let again = try Store.open(path: scratch("a"), writable: false).snapshot()
            _ = try again.read(again.catalogue)
        }
    }

    @Test func `modified commit records and checkpoints are damage or a state, and never trap`() throws {
        let scratch = Scratch()
        let store = try Store.create(path: scratch("a"), overwrite: false)
        var story = Story(seed: 2)
        for _ in 0..<80 { try story.commit(store, largest: 300) }
        let snapshot = try store.snapshot()
        let record = Array(try snapshot.read(snapshot.root.record))
        let state = try store.loadSpace(snapshot)
        #expect(state.checkpoint.version > 0)
        let checkpoint = Array(try snapshot.read(state.checkpoint.ref))
        var random = Random(seed: 9)
        for round in 0..<20_000 {
            var bytes = round & 1 == 0 ? record : checkpoint
            for _ in 0...random.below(3) { bytes[random.below(bytes.count)] = [0, 0xFF, 0x80, UInt8(random.below(256))][random.below(4)] }
            if random.below(4) == 0 { bytes.removeLast(random.below(bytes.count)) }
            bytes.withUnsafeBytes { raw in
                if round & 1 == 0 {
                    guard let record = try? CommitRecord(raw) else { return }
                    var space = state.space
                    try? space.apply(record)
                } else if var space = try? SpaceState(checkpoint: raw, version: state.checkpoint.version, secondOffset: 4096) {
                    space.release(protected: state.checkpoint.version, pins: [3])
                    _ = space.allocate(10)
                }
            }
        }
    }
}
