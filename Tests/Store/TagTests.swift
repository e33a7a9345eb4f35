import FirnBytes
import FirnDisk
import FirnKit
import Foundation
import Testing
@testable import FirnStore

extension Store {
    /// Makes a commit that only tags a version.
    @discardableResult
    fileprivate func tag(_ name: String, version: UInt64? = nil) throws -> UInt64 {
        let snapshot = try self.snapshot(version: version)
        let transaction = try begin()
        transaction.tag(name, snapshot)
        return try transaction.commit(catalogue: transaction.base.catalogue, retention: .everything)
    }

    fileprivate func untag(_ name: String) throws -> Bool {
        let transaction = try begin()
        let was = transaction.untag(name)
        try transaction.commit(catalogue: transaction.base.catalogue, retention: .everything)
        return was
    }
}

extension Story {
    /// Records a version with the content of the previous one.
    fileprivate mutating func repeatLast() { contents.append(contents.last!) }
}

@Suite struct TagTests {
    @Test func `a tagged version stays readable during any number of commits and after the file is reopened`() throws {
        let scratch = Scratch()
        let store = try Store.create(path: scratch("a"), overwrite: false)
        var story = Story(seed: 11)
        for _ in 0..<3 { try story.commit(store) }
        #expect(try store.tag("v3") == 4)
        story.repeatLast()
        for _ in 0..<200 { try story.commit(store, keep: 2) }
        for store in [store, try Store.open(path: scratch("a"), writable: false)] {
            #expect(try store.tags().map(\.name) == ["v3"] && store.tags()[0].version == 3)
            #expect(try story.holds(store.snapshot(tag: "v3")) && story.holds(store.snapshot(version: 3)) && story.holds(store.snapshot()))
            #expect(throws: FirnError.self) { try store.snapshot(version: 4) }
            #expect(throws: FirnError.self) { try store.snapshot(tag: "v4") }
        }
        #expect(try faults(store).isEmpty)
        // A writer that opens the file later keeps it as well.
        let again = try Store.open(path: scratch("a"), writable: true)
        for _ in 0..<50 { try story.commit(again, keep: 2) }
        #expect(try story.holds(again.snapshot(tag: "v3")))
        #expect(try faults(again).isEmpty)
    }

    /// Stores 50 extents that stay and one that every commit changes; version 60 of 400 is tagged, and untagged at the end. Returns the
    /// pending bytes before and after that.
    private func pending(tagging: Bool) throws -> (held: UInt64, after: UInt64) {
        let scratch = Scratch()
        let store = try Store.create(path: scratch("a"), overwrite: false)
        let first = try store.begin()
        let base = try (0..<50).map { try first.write(pattern($0, 4000)) }
        var changing = try first.write(pattern(0, 4000))
        var catalogue = try first.write(catalogueBytes(base + [changing]))
        try first.commit(catalogue: catalogue, keep: 2)
        func commit(_ version: Int) throws {
            let transaction = try store.begin()
            transaction.free(changing)
            transaction.free(catalogue)
            changing = try transaction.write(pattern(version, 4000))
            catalogue = try transaction.write(catalogueBytes(base + [changing]))
            try transaction.commit(catalogue: catalogue, keep: 2)
        }
        for version in 2..<60 { try commit(version) }
        if tagging { try store.tag("held") } else { try commit(60) }
        for version in 61..<400 { try commit(version) }
        let held = try store.spaceReport().pending
        if tagging {
            let snapshot = try store.snapshot(tag: "held"), held = try refs(snapshot)
            #expect(try snapshot.readVerifying(held[50]).elementsEqual(pattern(59, 4000)))
            for i in 0..<50 { #expect(try snapshot.readVerifying(held[i]).elementsEqual(pattern(i, 4000))) }
            snapshot.release()
            #expect(try store.untag("held") && store.tags().isEmpty)
            #expect(try !store.untag("held"))
        }
        for version in 400..<410 { try commit(version) }
        #expect(try faults(store).isEmpty)
        return (held, try store.spaceReport().pending)
    }

    @Test func `a tag needs only the space of the extents that changed since, and none after it is deleted [T10]`() throws {
        let with = try pending(tagging: true), without = try pending(tagging: false)
        // The changing extent, its catalogue, and the records and checkpoint of that version, but none of the 200 KB that stayed.
        #expect(with.held >= without.held + 4032 + 1664, "\(without.held) bytes without, \(with.held) with a tag")
        #expect(with.held <= without.held + 4032 + 1664 + 24_000, "\(without.held) bytes without, \(with.held) with a tag")
        #expect(with.after <= without.after + 8_000, "\(without.after) bytes without, \(with.after) after a tag")
    }

    @Test func `tags can move, several can share a version, and deleting one leaves the others`() throws {
        let scratch = Scratch()
        let store = try Store.create(path: scratch("a"), overwrite: false)
        var story = Story(seed: 5)
        for _ in 0..<4 { try story.commit(store, keep: 10) }
        for (name, version) in [("z", 2), ("a", 2), ("é", 3), ("z", 4)] {
            try store.tag(name, version: UInt64(version))
            story.repeatLast()
        }
        for _ in 0..<30 { try story.commit(store, keep: 2) }
        #expect(try store.tags().map { "\($0.name) \($0.version)" } == ["a 2", "z 4", "é 3"])
        #expect(try store.untag("a"))
        story.repeatLast()
        for _ in 0..<10 { try story.commit(store, keep: 2) }
        #expect(throws: FirnError.self) { try store.snapshot(version: 2) }
        for (name, version) in [("z", 4), ("é", 3)] {
            let snapshot = try store.snapshot(tag: name)
            #expect(try snapshot.version == UInt64(version) && story.holds(snapshot))
        }
        #expect(try faults(store).isEmpty)
    }

    @Test func `the version of an inline commit can be tagged`() throws {
        for size in [0, 300, 4500, 50_000] {
            let scratch = Scratch()
            let store = try Store.create(path: scratch("a"), overwrite: true, atFirstCommit: true)
            let transaction = try store.begin()
            try transaction.commitInline(pattern(size, size))
            let first = try store.snapshot(), next = try store.begin()
            next.tag("first", first)
            first.release()
            // The second commit writes everything again.
            let version = try next.commit(catalogue: try next.write(catalogueBytes([])), retention: .everything)
            #expect(version == 2)
            var story = Story(seed: UInt64(size))
            story.contents += [[], []]
            for _ in 0..<60 { try story.commit(store, keep: 2) }
            let tagged = try Store.open(path: scratch("a"), writable: false).snapshot(tag: "first")
            #expect(try tagged.readVerifying(tagged.catalogue).elementsEqual(pattern(size, size)))
            #expect(try faults(store).isEmpty)
        }
    }

    @Test func `versions are kept by number, by age, and by the setting in the file`() throws {
        let scratch = Scratch()
        let store = try Store.create(path: scratch("a"), overwrite: false)
        let hour: Int64 = 3_600_000_000_000, now = Machine.wallNanoseconds
        func commit(hoursAgo: Int, _ retention: Retention? = nil, saying: Retention? = nil, in store: Store) throws -> [UInt64] {
            let transaction = try store.begin()
            if let saying { transaction.retain(saying) }
            if !transaction.base.catalogue.isNone { transaction.free(transaction.base.catalogue) }
            try transaction.commit(
                catalogue: try transaction.write(pattern(hoursAgo, 100)), retention: retention, time: now - Int64(hoursAgo) * hour)
            return try store.history().map(\.version)
        }
        for version in 1...8 { _ = try commit(hoursAgo: 30 - version, in: store) }
        #expect(try commit(hoursAgo: 21, in: store) == [9, 8, 7, 6, 5, 4, 3, 2])
        // Two versions, and those that were the newest within the last five hours: the version of 27 hours ago was the newest until 26
        // hours ago.
        #expect(try commit(hoursAgo: 20, Retention(versions: 2, seconds: 5 * 3600), in: store) == [10, 9, 8, 7, 6, 5, 4])
        #expect(try commit(hoursAgo: 2, Retention(versions: 2, seconds: 3 * 3600), in: store) == [11, 10])
        #expect(try commit(hoursAgo: 1, saying: Retention(versions: 3), in: store) == [12, 11, 10])
        let again = try Store.open(path: scratch("a"), writable: true)
        #expect(try again.retention() == Retention(versions: 3))
        #expect(try commit(hoursAgo: 0, in: again) == [13, 12, 11])
        #expect(try commit(hoursAgo: 0, .everything, in: again) == [14, 13, 12, 11])
    }

    @Test func `ambiguous tag names are refused`() {
        for name in [
            "", "12", "-x", "a b", "a@b", "a:b", "a/b", "a\\b", "a,b", "tab\t", "\u{7F}", "\"", "'", String(repeating: "x", count: 101),
        ] {
            #expect(Tag.refusal(of: name) != nil, "\(name)")
        }
        for name in ["v1", "1.0", "before-migration", "Überfall", "_", "2026-11-21", String(repeating: "x", count: 100)] {
            #expect(Tag.refusal(of: name) == nil, "\(name)")
        }
    }
}

/// Tags after power failures and in encrypted files.
@Suite struct DurableTagTests {
    /// Returns the file after some of the calls.
    private func disk(_ calls: some Sequence<Recorder.Call>, from start: [UInt8] = []) -> [UInt8] {
        var bytes = start
        for call in calls {
            switch call {
            case .write(let offset, let new):
                let end = Int(offset) + new.count
                if bytes.count < end { bytes += [UInt8](repeating: 0, count: end - bytes.count) }
                bytes.replaceSubrange(Int(offset)..<end, with: new)
            case .truncate(let length):
                if bytes.count > Int(length) {
                    bytes.removeLast(bytes.count - Int(length))
                } else {
                    bytes += [UInt8](repeating: 0, count: Int(length) - bytes.count)
                }
            default: break
            }
        }
        return bytes
    }

    /// Returns images with all calls since the last sync, none, all but one, or one alone.
    private func crashes(_ loose: [Recorder.Call], from base: [UInt8]) -> [[UInt8]] {
        var images = [disk(loose, from: base), base]
        for index in loose.indices {
            images.append(disk(loose[..<index] + loose[(index + 1)...], from: base))
            images.append(disk([loose[index]], from: base))
        }
        return images
    }

    @Test func `a durable tag exists after a crash during commits without durability`() throws {
        let scratch = Scratch()
        let store = try Store.create(path: scratch("a"), overwrite: false)
        var story = Story(seed: 12)
        for _ in 0..<3 { try story.commit(store) }
        try store.tag("kept")
        story.repeatLast()
        for _ in 0..<40 {
            let transaction = try store.begin()
            let (catalogue, content) = try story.step(transaction)
            try transaction.commit(catalogue: catalogue, keep: 2, durability: .none)
            story.contents.append(content)
        }
        // The file as it is now, without the root of the pending versions.
        try place(try File(path: scratch("a"), .read).readAll(), at: scratch("b"))
        let crashed = try Store.open(path: scratch("b"), writable: false)
        for opened in [store, crashed] {
            #expect(try opened.tags().map(\.name) == ["kept"])
            #expect(try story.holds(opened.snapshot(tag: "kept")))
        }
        try store.settle()
        #expect(try faults(store).isEmpty)
    }

    @Test func `a crash at any point leaves the tags of the last acknowledged commit or the next, with their versions [T2]`() throws {
        for seed: UInt64 in 1...2 {
            let scratch = Scratch(), recorder = Recorder()
            var random = Random(seed: seed &* 977)
            let store = try Store.create(path: scratch("a"), overwrite: false, calls: recorder)
            var story = Story(seed: seed), acknowledged = [recorder.calls.count], tags: [[String: UInt64]] = [[:]]
            for step in 0..<14 {
                var now = tags.last!
                switch step {
                case 2, 5, 9:
                    now["t\(step)"] = try store.snapshot().version
                    try store.tag("t\(step)")
                    story.repeatLast()
                case 7, 11:
                    now["t\(step - 5)"] = nil
                    _ = try store.untag("t\(step - 5)")
                    story.repeatLast()
                default: try story.commit(store, keep: 2)
                }
                acknowledged.append(recorder.calls.count)
                tags.append(now)
            }
            let calls = recorder.calls
            for stop in acknowledged[0]...calls.count {
                let synced = calls[..<stop].lastIndex(of: .sync)! + 1
                let base = disk(calls[..<synced]), loose = Array(calls[synced..<stop]), least = acknowledged.lastIndex { $0 <= stop }!
                for image in crashes(loose, from: base) {
                    try place(image, at: scratch("b"))
                    let copy = try Store.open(path: scratch("b"), writable: true), note = "seed \(seed), after \(stop) calls"
                    let version = Int(try copy.latestVersion())
                    #expect(version == least || version == least + 1, "\(note)")
                    func check(_ wanted: [String: UInt64], _ story: Story) throws {
                        #expect(try Dictionary(uniqueKeysWithValues: copy.tags().map { ($0.name, $0.version) }) == wanted, "\(note)")
                        for name in wanted.keys { #expect(try story.holds(copy.snapshot(tag: name)), "\(note), \(name)") }
                    }
                    try check(tags[version], story)
                    guard random.below(5) == 0 else { continue }
                    var next = story
                    next.random = Random(seed: UInt64(stop))
                    for _ in 0..<4 { try next.commit(copy, keep: 2) }
                    try check(tags[version], next)
                }
            }
        }
    }

    @Test func `tags of an encrypted file are kept, and their names are not readable without the key [T13]`() throws {
        let scratch = Scratch(), key = EncryptionKey([UInt8](0..<64))!
        let store = try Store.create(path: scratch("a"), overwrite: false, key: key)
        var story = Story(seed: 21)
        for _ in 0..<3 { try story.commit(store) }
        try store.tag("a-secret-name")
        story.repeatLast()
        for _ in 0..<40 { try story.commit(store, keep: 2) }
        let again = try Store.open(path: scratch("a"), writable: false, key: key)
        #expect(try again.tags().map(\.name) == ["a-secret-name"] && story.holds(again.snapshot(tag: "a-secret-name")))
        #expect(try faults(store).isEmpty)
        let bytes = try File(path: scratch("a"), .read).readAll()
        #expect(!String(decoding: bytes, as: UTF8.self).contains("secret"))
    }
}

/// Untrusted lists of tags, and files of future writers.
@Suite struct HostileTagTests {
    private func tagged(_ scratch: Scratch) throws -> Store {
        let store = try Store.create(path: scratch("a"), overwrite: false)
        var story = Story(seed: 3)
        for _ in 0..<3 { try story.commit(store, keep: 5) }
        for name in ["one", "two", "three"] { try store.tag(name, version: 2) }
        return store
    }

    @Test func `a modified list of tags is damage or a list, and never traps [T7]`() throws {
        let scratch = Scratch()
        let store = try tagged(scratch)
        let newest = try store.snapshot(), bytes = Array(try newest.read(store.record(of: newest.version, from: newest).history))
        let whole = try bytes.withUnsafeBytes { try KeptHistory($0, version: newest.version) }
        #expect(whole.encoded() == bytes && whole.tags.count == 3)
        for count in 0..<bytes.count {
            #expect(throws: Damage.self) { try bytes[..<count].withUnsafeBytes { try KeptHistory($0, version: newest.version) } }
        }
        var random = Random(seed: 1), taken = 0
        for _ in 0..<20_000 {
            var changed = bytes
            for _ in 0...random.below(3) {
                changed[random.below(bytes.count)] = [0, 0xFF, 0x80, UInt8(random.below(256))][random.below(4)]
            }
            guard let list = try? changed.withUnsafeBytes({ try KeptHistory($0, version: newest.version) }) else { continue }
            taken += 1
            #expect(list.tags.allSatisfy { Tag.refusal(of: $0.name) == nil && $0.version <= newest.version })
            #expect(list.encoded().count <= changed.count)
        }
        #expect(taken > 100)
        #expect(throws: Damage.self) { try bytes.withUnsafeBytes { try KeptHistory($0, version: 1) } }
    }

    @Test func `a damaged list of tags makes writing and reading tags an error, but not reading versions`() throws {
        let scratch = Scratch()
        var store: Store? = try tagged(scratch)
        let newest = try store!.snapshot(), ref = try store!.record(of: newest.version, from: newest).history
        // Later commits refer to the list without reading it.
        var story = Story(seed: 8)
        story.contents = Array(repeating: [], count: Int(newest.version)) + [try refs(newest).map { Array(try newest.read($0)) }]
        newest.release()
        for _ in 0..<2 { try story.commit(store!, keep: 2) }
        store = nil
        let file = try File(path: scratch("a"), .readWrite)
        try file.write([0x41], at: ref.offset + 30)
        let again = try Store.open(path: scratch("a"), writable: true)
        #expect(try story.holds(again.snapshot()))
        #expect(try again.history().count == 2)
        #expect(throws: FirnError.self) { try again.tags() }
        #expect(throws: FirnError.self) { try again.snapshot(tag: "one") }
        #expect(throws: FirnError.self) { try again.begin() }
        var found: [Damage] = []
        try again.verify { found.append($0) }
        #expect(!found.isEmpty)
    }

    @Test func `a program that does not know a writer feature opens the file read-only, with advice [T12]`() throws {
        let scratch = Scratch()
        try { _ = try tagged(scratch) }()
        #expect(try Store.open(path: scratch("a"), writable: true).isWritable)
        var bytes = try File(path: scratch("a"), .read).readAll()
        #expect(bytes[24] | bytes[4096 + 24] == 2)
        // The file as a future writer would leave it: writer bit 7.
        for slot in [0, 4096] {
            bytes[slot + 24] |= 128
            let hash = Hash128(of: Array(bytes[slot..<slot + 160]))
            bytes.replaceSubrange(
                slot + 160..<slot + 176,
                with: withUnsafeBytes(of: hash.low.littleEndian, Array.init) + withUnsafeBytes(of: hash.high.littleEndian, Array.init))
        }
        try File(path: scratch("b"), .createNew).write(bytes, at: 0)
        let store = try Store.open(path: scratch("b"), writable: true)
        #expect(!store.isWritable)
        #expect(try store.tags().count == 3)
        #expect { try store.begin() } throws: {
            ($0 as? FirnError)?.code == .unsupported && ($0 as? FirnError)?.advice?.contains("newer version") == true
        }
    }
}
