import FirnBytes
import FirnDisk
import FirnKit
import Foundation
import Synchronization
import Testing
@testable import FirnCrypto
@testable import FirnStore

let testKey = EncryptionKey([UInt8](0..<64))!
private let otherKey = EncryptionKey([UInt8](1..<65))!

/// T13: encrypted files in the store.
@Suite struct EncryptionTests {
    private func bytes(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(fileURLWithPath: path))) }

    private func code(_ body: () throws -> Void) -> FirnError.Code? {
        do { try body() } catch { return (error as? FirnError)?.code }
        return nil
    }

    @Test func `an encrypted store has the versions that were committed, also after it is reopened [T13]`() throws {
        for seed in Seed.first(4) {
            let scratch = Scratch()
            var story = Story(seed: seed.number)
            let store = try Store.create(path: scratch("a"), overwrite: false, atFirstCommit: seed.number % 2 == 0, key: testKey)
            for round in 0..<30 {
                try story.commit(store, largest: round % 7 == 0 ? 200_000 : 3000)
                #expect(try story.holds(store.snapshot()), "seed \(seed), round \(round)")
            }
            #expect(try faults(store) == [])
            let again = try Store.open(path: scratch("a"), writable: seed.number % 2 == 0, key: testKey)
            #expect(again.isEncrypted && again.fellBack == nil)
            for info in try again.history() { #expect(try story.holds(again.snapshot(version: info.version)), "seed \(seed)") }
            #expect(try faults(again) == [])
            if again.isWritable {
                try story.commit(again)
                #expect(try story.holds(store.snapshot()))
                try again.shrink()
                #expect(try faults(again) == [])
            }
        }
    }

    @Test func `a missing key, a wrong key and an unexpected key are different errors [T13]`() throws {
        let scratch = Scratch()
        for name in ["empty", "full"] {
            let store = try Store.create(path: scratch(name), overwrite: false, key: testKey)
            if name == "full" {
                for _ in 0..<3 {
                    let transaction = try store.begin()
                    try transaction.commit(catalogue: try transaction.write([1, 2, 3]))
                }
            }
            #expect(code { _ = try Store.open(path: scratch(name), writable: false) } == .encrypted)
            #expect(code { _ = try Store.open(path: scratch(name), writable: true, key: otherKey) } == .wrongKey)
            #expect(code { _ = try Store.open(path: scratch(name), writable: true, key: testKey) } == nil)
        }
        let plain = try Store.create(path: scratch("plain"), overwrite: false)
        #expect(!plain.isEncrypted)
        #expect(code { _ = try Store.open(path: scratch("plain"), writable: false, key: testKey) } == .notEncrypted)
        try File(path: scratch("text"), .createNew).write(Array("nothing of ours".utf8), at: 0)
        #expect(code { _ = try Store.open(path: scratch("text"), writable: false, key: testKey) } == .notThisFormat)
    }

    @Test func `keys are 64 bytes or 128 hexadecimal digits [T13]`() {
        #expect(
            EncryptionKey([]) == nil && EncryptionKey([UInt8](repeating: 1, count: 63)) == nil
                && EncryptionKey([UInt8](repeating: 1, count: 65)) == nil)
        #expect(EncryptionKey([UInt8](repeating: 1, count: 64)) != nil)
        let hex = (0..<64).map { String($0 / 16, radix: 16) + String($0 % 16, radix: 16, uppercase: true) }.joined()
        #expect(EncryptionKey(written: Array((" " + hex + "\n").utf8)) == testKey)
        #expect(EncryptionKey(written: testKey.bytes) == testKey)
        #expect(
            EncryptionKey(written: Array(hex.dropLast().utf8)) == nil && EncryptionKey(written: Array((hex.dropLast() + "g").utf8)) == nil)
    }

    /// Returns the first 24 bytes of each unit that was written. All nonces are among them.
    private func beginnings(_ calls: [Recorder.Call]) -> [ArraySlice<UInt8>] {
        calls.flatMap { call -> [ArraySlice<UInt8>] in
            guard case .write(let offset, let bytes) = call else { return [] }
            precondition(offset % 64 == 0)
            // The nonce of a root is at the beginning of its fourth unit; the units before it are not encrypted.
            let isRoot = bytes.starts(with: Root.magic)
            return stride(from: 0, to: bytes.count - 23, by: 64).filter { isRoot ? $0 == 192 : true }.map { bytes[$0..<$0 + 24] }
        }
    }

    @Test func `no nonce is used twice after cancelled, failed and rolled back transactions [T13]`() throws {
        let scratch = Scratch()
        var all: [Recorder.Call] = [], random = Random(seed: 9)
        let first = try Store.create(path: scratch("a"), overwrite: false, key: testKey)
        var story = Story(seed: 9)
        try story.commit(first)
        // Repeats the same bytes at the same offsets: nonces made from offset and version would be repeated.
        for round in 0..<18 {
            let recorder = round % 3 == 0 ? Recorder(failing: random.below(6)) : Recorder()
            let store = try Store.open(path: scratch("a"), writable: true, key: testKey, calls: recorder)
            let transaction = try store.begin()
            do {
                for _ in 0..<3 { _ = try transaction.write([UInt8](repeating: 7, count: 70_000)) }
                transaction.setMark()
                for _ in 0..<40 { _ = try transaction.write([UInt8](repeating: 7, count: 40_000)) }
                transaction.rollBack()
                let catalogue = try transaction.write(catalogueBytes([]))
                if round % 3 == 1 { transaction.cancel() } else { try transaction.commit(catalogue: catalogue) }
            } catch {}
            // After a failed sync only the bytes from before the sync are written again, with their nonces.
            let written = recorder.calls[..<(recorder.refusedAt ?? recorder.calls.count)]
            for case .write(let offset, let bytes) in recorder.calls[written.count...] {
                let isKnown = written.contains { call in
                    guard case .write(let start, let known) = call, start <= offset,
                        offset + UInt64(bytes.count) <= start + UInt64(known.count)
                    else { return false }
                    return known[Int(offset - start)...].starts(with: bytes)
                }
                #expect(isKnown, "\(bytes.count) bytes at \(offset) were not written before the failed sync")
            }
            all += written
        }
        let beginnings = beginnings(all).filter { !$0.allSatisfy { $0 == 0 } }
        #expect(beginnings.count > 15_000)
        #expect(Set(beginnings).count == beginnings.count)
        // Everything that a transaction writes looks random: no byte value is far from its expected frequency.
        var counts = [Int](repeating: 0, count: 256), total = 0
        for case .write(_, let bytes) in all where bytes.count > 4096 {
            for byte in bytes { counts[Int(byte)] += 1 }
            total += bytes.count
        }
        #expect(counts.dropFirst().allSatisfy { abs($0 - total / 256) < total / 2560 }, "\(counts)")
    }

    /// Checks that the search of the test above finds repeated nonces.
    @Test func `the search for nonces finds those of a constant, a short and a copied source [T13]`() throws {
        func repeated(_ source: @escaping @Sendable () -> [UInt8]) throws -> Int {
            let scratch = Scratch(), recorder = Recorder()
            let store = try Store.create(path: scratch("a"), overwrite: false, key: testKey, calls: recorder)
            store.cipher!.cipher.nonces.withLock { $0 = source }
            var story = Story(seed: 9)
            for _ in 0..<12 { try story.commit(store) }
            #expect(try story.holds(store.snapshot()))
            let all = beginnings(recorder.calls).filter { !$0.allSatisfy { $0 == 0 } }
            return all.count - Set(all).count
        }
        let own = try repeated { Cipher.random(Cipher.nonceCount) }
        #expect(own == 0)
        let stuck = try repeated { [UInt8](repeating: 5, count: Cipher.nonceCount) }
        #expect(stuck > 30)
        // 16 values only, or a generator that repeats its sequence, as in a virtual machine that was copied.
        let few = Mutex(Random(seed: 16))
        let short = try repeated { [UInt8](repeating: 5, count: Cipher.nonceCount - 1) + [few.withLock { UInt8($0.below(16)) }] }
        #expect(short > 10)
        let numbers = Mutex(0)
        let copied = try repeated {
            let number = numbers.withLock { number in
                number += 1
                return number % 40
            }
            return (0..<Cipher.nonceCount).map { UInt8(truncatingIfNeeded: number &* 31 &+ $0 &* 7) }
        }
        #expect(copied > 5)
    }

    @Test func `an encrypted file that is read by copies has the same versions, and its damage is found [T13]`() throws {
        let scratch = Scratch()
        var story = Story(seed: 14)
        let store = try Store.create(path: scratch("a"), overwrite: false, key: testKey)
        for _ in 0..<4 { try story.commit(store, largest: 100_000) }
        let copying = try Store.open(path: scratch("a"), writable: true, key: testKey, reading: .copied)
        #expect(copying.isCopying && copying.isEncrypted)
        for _ in 0..<8 {
            try story.commit(copying, largest: 100_000)
            #expect(try story.holds(copying.snapshot()) && story.holds(store.snapshot()))
        }
        let transaction = try copying.begin(), large = pattern(3, 200_000), ref = try transaction.write(large)
        #expect(try transaction.read(ref).elementsEqual(large))
        transaction.cancel()
        #expect(try faults(copying).isEmpty)
        // A pinned version, while others commit.
        let pinned = try copying.snapshot()
        for _ in 0..<20 { try story.commit(copying, keep: 2) }
        #expect(try story.holds(pinned))
        // One changed bit, and a truncated file.
        let snapshot = try copying.snapshot(), refs = try liveExtents(snapshot), image = try bytes(scratch("a"))
        for ref in refs {
            var other = image
            other[Int(ref.offset) + Int(ref.length) / 2] ^= 4
            try Data(other).write(to: URL(fileURLWithPath: scratch("b")))
            let damaged = try? Store.open(path: scratch("b"), writable: false, key: testKey, reading: .copied).snapshot()
            if let damaged, damaged.version == snapshot.version { #expect(throws: Damage.self) { _ = try damaged.read(ref) } }
        }
        let last = refs.max { $0.offset < $1.offset }!
        try Data(image).write(to: URL(fileURLWithPath: scratch("b")))
        let reader = try Store.open(path: scratch("b"), writable: false, key: testKey, reading: .copied).snapshot()
        try File(path: scratch("b"), .readWrite).truncate(to: last.offset + 8)
        #expect(throws: Damage.self) { _ = try reader.read(last) }
        // Errors of keys are also the same here.
        #expect(code { _ = try Store.open(path: scratch("a"), writable: false, reading: .copied) } == .encrypted)
        #expect(code { _ = try Store.open(path: scratch("a"), writable: false, key: otherKey, reading: .copied) } == .wrongKey)
    }

    @Test func `no plain text and no hash of it is in an encrypted file after commits and cancelled transactions [T13]`() throws {
        let scratch = Scratch(), recorder = Recorder()
        let secret = Array("the quick brown fox".utf8)
        let store = try Store.create(path: scratch("a"), overwrite: false, key: testKey, calls: recorder)
        for round in 0..<20 {
            let transaction = try store.begin()
            _ = try transaction.write(secret + [UInt8](repeating: UInt8(round), count: round * 5000))
            let tree = TreeWriter(root: .none, transaction: transaction)
            for key in 0..<50 as Range<UInt64> { try tree.put(key, secret) }
            _ = try tree.finish()
            let catalogue = try transaction.write(secret)
            if round % 4 == 3 { transaction.cancel() } else { try transaction.commit(catalogue: catalogue) }
        }
        var seen = Data()
        for case .write(_, let bytes) in recorder.calls { seen.append(contentsOf: bytes) }
        #expect(seen.count > 500_000)
        for word in [secret, Array(secret[..<9]), Array("CMT1".utf8) + [0, 0, 0, 0], Array("SPC1".utf8) + [0, 0, 0, 0]] {
            #expect(seen.range(of: Data(word)) == nil)
        }
        // Hashes of the plain text, which would reveal equal contents, are not in the file either.
        var hash = ByteWriter()
        hash.append(secret.withUnsafeBytes { Hash128(of: $0) })
        #expect(seen.range(of: Data(hash.bytes)) == nil)
    }

    @Test func `a flipped bit in the newest version is found and never read as data [T13]`() throws {
        let scratch = Scratch()
        var story = Story(seed: 5)
        do {
            let store = try Store.create(path: scratch("a"), overwrite: false, key: testKey)
            for _ in 0..<6 { try story.commit(store) }
        }
        let image = try bytes(scratch("a")), store = try Store.open(path: scratch("a"), writable: false, key: testKey)
        let snapshot = try store.snapshot()
        var live = Set<Int>()
        for ref in try liveExtents(snapshot) + [snapshot.root.record] { live.formUnion(Int(ref.offset)..<Int(ref.offset + ref.length)) }
        let newest = Int(snapshot.root.offset(of: snapshot.version))
        live.formUnion(newest..<newest + 320)
        var random = Random(seed: 77)
        let path = scratch("b")
        for place in live.sorted().filter({ $0 >= newest && $0 < newest + 320 || random.below(8) == 0 }) {
            var other = image
            other[place] ^= 1 << UInt8(random.below(8))
            // One bit of a root would be corrected, so a second one is changed.
            if place >= newest && place < newest + 320 { other[newest + (place - newest + 100) % 320] ^= 2 }
            try Data(other).write(to: URL(fileURLWithPath: path))
            do {
                let store = try Store.open(path: path, writable: false, key: testKey)
                let snapshot = try store.snapshot()
                // An older version is read, or the flipped bit is found when it is read.
                if snapshot.version == story.contents.count - 1 {
                    let found = try faults(store)
                    #expect(throws: (any Error).self, "the damage at byte \(place) was not found when it was read; verify: \(found)") {
                        for ref in try liveExtents(snapshot) { _ = try snapshot.read(ref) }
                    }
                } else {
                    #expect(try store.fellBack != nil && story.holds(snapshot), "byte \(place)")
                }
            } catch let error as FirnError { #expect([.damaged, .notThisFormat].contains(error.code), "byte \(place): \(error)") }
        }
    }

    @Test func `extents that are exchanged, or copied from another version or file, are refused [T13]`() throws {
        let scratch = Scratch()
        let store = try Store.create(path: scratch("a"), overwrite: false, key: testKey)
        let transaction = try store.begin()
        let refs = try (0..<4).map { try transaction.write(pattern($0, 1000)) }
        try transaction.commit(catalogue: try transaction.write(catalogueBytes(refs)))
        let image = try bytes(scratch("a"))
        func place(_ ref: ExtentRef) -> Range<Int> { Int(ref.offset)..<Int(ref.offset + ref.length) }
        var swapped = image
        swapped.replaceSubrange(place(refs[0]), with: image[place(refs[1])])
        swapped.replaceSubrange(place(refs[1]), with: image[place(refs[0])])
        try Data(swapped).write(to: URL(fileURLWithPath: scratch("b")))
        let snapshot = try Store.open(path: scratch("b"), writable: false, key: testKey).snapshot()
        #expect(throws: Damage.self) { _ = try snapshot.read(refs[0]) }
        #expect(throws: Damage.self) { _ = try snapshot.read(refs[1]) }
        #expect(try Array(snapshot.read(refs[2])) == pattern(2, 1000))
        // A reference does not return an extent that was sealed for another offset, length or version.
        for wrong in [
            ExtentRef(offset: refs[2].offset, length: refs[2].length, birth: refs[2].birth + 1, hash: refs[2].hash),
            ExtentRef(offset: refs[2].offset, length: refs[2].length - 1, birth: refs[2].birth, hash: refs[2].hash),
            ExtentRef(offset: refs[3].offset, length: refs[2].length, birth: refs[2].birth, hash: refs[2].hash),
        ] {
            #expect(throws: Damage.self) { _ = try snapshot.read(wrong) }
        }
        // Extents of another file with the same key.
        let other = try Store.create(path: scratch("c"), overwrite: false, key: testKey), second = try other.begin()
        let copies = try (0..<4).map { try second.write(pattern($0, 1000)) }
        try second.commit(catalogue: try second.write(catalogueBytes(copies)))
        #expect(copies[0].offset == refs[0].offset && copies[0] != refs[0])
        var mixed = image
        mixed.replaceSubrange(place(refs[0]), with: try bytes(scratch("c"))[place(copies[0])])
        try Data(mixed).write(to: URL(fileURLWithPath: scratch("b")))
        let third = try Store.open(path: scratch("b"), writable: false, key: testKey).snapshot()
        #expect(throws: Damage.self) { _ = try third.read(refs[0]) }
    }

    @Test func `a power failure leaves the last version or the previous one [T13]`() throws {
        let scratch = Scratch()
        var random = Random(seed: 31), story = Story(seed: 31), images = 0
        let recorder = Recorder()
        let store = try Store.create(path: scratch("a"), overwrite: false, key: testKey, calls: recorder)
        for _ in 0..<3 { try story.commit(store) }
        for _ in 0..<4 {
            let base = try bytes(scratch("a")), before = story.contents.count - 1
            recorder.clear()
            try story.commit(store)
            // Everything since the previous sync can be lost, because these commits sync once.
            let events = recorder.calls.compactMap { (call) -> DiskJournal.Event? in
                switch call {
                case .write(let offset, let bytes): .write(file: 1, offset: offset, bytes: bytes)
                case .truncate(let length): .truncate(file: 1, length: length)
                case .sync, .other: nil
                }
            }
            var crashes = CrashImages(seed: random.next())
            try crashes.visit(events, from: DiskState(contents: [1: base], names: ["/b": 1]), stops: events.count...events.count) {
                _, _, files in
                try Data(files["b"]!).write(to: URL(fileURLWithPath: scratch("b")))
                let opened = try Store.open(path: scratch("b"), writable: false, key: testKey), snapshot = try opened.snapshot()
                #expect(Int(snapshot.version) == before || Int(snapshot.version) == before + 1)
                #expect(try story.holds(snapshot))
                images += 1
            }
        }
        #expect(images > 50)
    }

    @Test func `readers on many threads can decrypt the same extents concurrently [T13]`() async throws {
        let scratch = Scratch()
        let store = try Store.create(path: scratch("a"), overwrite: false, key: testKey)
        let transaction = try store.begin()
        let refs = try (0..<200).map { try transaction.write(pattern($0, 500 + $0 * 37)) }
        try transaction.commit(catalogue: try transaction.write(catalogueBytes(refs)))
        let reader = try Store.open(path: scratch("a"), writable: false, key: testKey)
        let shared = try reader.snapshot()
        await withTaskGroup(of: Bool.self) { group in
            for thread in 0..<8 {
                group.addTask {
                    guard let own = thread % 2 == 0 ? shared : try? reader.snapshot() else { return false }
                    return (0..<3).allSatisfy { _ in
                        refs.indices.allSatisfy { (try? own.read(refs[$0])).map { Array($0) } == pattern($0, 500 + $0 * 37) }
                    }
                }
            }
            for await isRight in group { #expect(isRight) }
        }
        // Extents are decrypted once: all readers get the same memory.
        #expect(try shared.read(refs[3]).baseAddress == (try shared.read(refs[3]).baseAddress))
        #expect(try reader.snapshot().read(refs[3]).baseAddress == (try shared.read(refs[3]).baseAddress))
    }

    @Test func `a reader feature bit keeps programs without encryption from reading the file [T13]`() throws {
        let scratch = Scratch()
        let store = try Store.create(path: scratch("a"), overwrite: false, key: testKey)
        let transaction = try store.begin()
        try transaction.commit(catalogue: try transaction.write([1]))
        let image = try bytes(scratch("a"))
        for offset in [0, 4096] {
            // The magic number, a known length, a valid hash, and an unknown bit.
            #expect(image[offset + 12] == 64 && image[offset + 13] == 1 && image[offset + 16] == 2)
            let slot = image[offset..<offset + 512].map { $0 }
            let hash = slot.withUnsafeBytes { Hash128(of: UnsafeRawBufferPointer(rebasing: $0[..<304])) }
            var reader: [UInt8] = []
            var writer = ByteWriter()
            writer.append(hash)
            reader = writer.bytes
            #expect(Array(slot[304..<320]) == reader)
            // The time, the record and the catalogue are not stored unencrypted.
            #expect(slot[56..<64].allSatisfy { $0 == 0 } && slot[96..<152].allSatisfy { $0 == 0 })
        }
    }
}
