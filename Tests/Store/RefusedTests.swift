import FirnBytes
import FirnDisk
import FirnKit
import Foundation
import Testing
@testable import FirnStore

/// Operations that a store refuses, and that they change nothing.
@Suite struct RefusedTests {
    private let scratch = Scratch()

    private func store(_ versions: Int, key: EncryptionKey? = nil) throws -> (store: Store, extents: [ExtentRef]) {
        let store = try Store.create(path: scratch("a"), overwrite: false, key: key)
        var extents: [ExtentRef] = []
        for step in 1...versions {
            let transaction = try store.begin()
            if step > 1 { transaction.free(transaction.base.catalogue) }
            extents.append(try transaction.write(pattern(step, 500)))
            try transaction.commit(catalogue: try transaction.write(catalogueBytes(extents)), keep: 2)
        }
        return (store, extents)
    }

    private func code(_ body: () throws -> Void) -> FirnError.Code? {
        do { try body() } catch { return (error as? FirnError)?.code }
        return nil
    }

    @Test func `a commit that frees a dead or unknown extent is refused, and the next commit works`() throws {
        let (store, extents) = try store(6), catalogue = try store.snapshot().catalogue
        let first = try store.begin()
        first.free(extents[0])
        first.free(catalogue)
        try first.commit(catalogue: try first.write(catalogueBytes(Array(extents[1...]))), keep: 2)
        let root = try store.newestRoot(), place = ExtentRef(offset: root.end * 64, length: 100, birth: 1, hash: extents[1].hash)
        for wrong in [
            [extents[0]], [extents[1], extents[1]], [place], [ExtentRef(offset: 64, length: 100, birth: 1, hash: extents[1].hash)],
        ] {
            let transaction = try store.begin()
            wrong.forEach(transaction.free)
            #expect(code { try transaction.commit(catalogue: transaction.base.catalogue) } == .damaged, "\(wrong)")
            #expect(try store.newestRoot() == root)
        }
        let last = try store.begin()
        last.free(last.base.catalogue)
        try last.commit(catalogue: try last.write(catalogueBytes(Array(extents[1...]))))
        #expect(try faults(store).isEmpty)
    }

    @Test func `verify reports an extent that overlaps another one or free space, or that is after the end`() throws {
        let (store, extents) = try store(6)
        let live = try liveExtents(try store.snapshot())
        let root = try store.newestRoot(), free = try store.loadSpace(try store.snapshot()).space.free.ranges.first
        let inside = ExtentRef(offset: extents[2].offset + 64, length: 64, birth: 1, hash: extents[2].hash)
        let behind = ExtentRef(offset: root.end * 64, length: 64, birth: 1, hash: extents[2].hash)
        let vacant = ExtentRef(offset: try #require(free).start * 64, length: 64, birth: 1, hash: extents[2].hash)
        for wrong in [inside, behind, vacant, ExtentRef(offset: 4096, length: 64, birth: 1, hash: extents[2].hash)] {
            var found: [String] = []
            #expect(try store.verify(live: live + [wrong]) { found.append($0.what) } == nil)
            #expect(found == ["an extent overlaps another extent or free space"], "\(wrong)")
        }
        #expect(try store.verify(live: live) { Issue.record("\($0)") } == 0)
    }

    @Test func `verify does not wait for a transaction of the same store`() throws {
        let (store, _) = try store(3), transaction = try store.begin()
        _ = try transaction.write(pattern(9, 300))
        #expect(try faults(store).isEmpty)
        transaction.cancel()
        #expect(try faults(store).isEmpty)
    }

    @Test func `an open store stops writing when the commit of another program requires an unknown feature [T12]`() throws {
        let (store, _) = try store(3), file = try File(path: scratch("a"), .readWrite)
        for slot in [0, 4096] as [UInt64] {
            var bytes = try file.read(count: Root.slotBytes, at: slot)
            bytes[24] |= 128
            let hash = Hash128(of: Array(bytes[..<160]))
            bytes.replaceSubrange(
                160..<176,
                with: withUnsafeBytes(of: hash.low.littleEndian, Array.init) + withUnsafeBytes(of: hash.high.littleEndian, Array.init))
            try file.write(bytes, at: slot)
        }
        for _ in 0..<2 { #expect(code { _ = try store.begin() } == .unsupported) }
        #expect(try store.snapshot().version == 3)
        // It does not keep other stores from using the lock.
        #expect(try Store.open(path: scratch("a"), writable: false).file.lock(.shared, at: Store.writerLock))
    }

    @Test func `a version whose file status cannot be read is not pinned [T4]`() throws {
        let folder = TemporaryFolder(), path = folder.file("a"), store = try Store.create(path: path, overwrite: false)
        let transaction = try store.begin()
        try transaction.commit(catalogue: try transaction.write([1, 2, 3]))
        var nth = 0, refused = 0
        while true {
            let journal = DiskJournal(of: folder, .init(after: nth, only: "status"))
            defer { ScriptedDisk.end(in: folder.path) }
            if let other = try? Store.open(path: path, writable: false) {
                if code({ _ = try other.snapshot() }) == .inputOutput { refused += 1 }
                #expect(try store.pins().isEmpty, "status \(nth)")
            }
            if journal.refusals.isEmpty { break }
            nth += 1
        }
        #expect(refused > 0)
    }

    @Test func `decrypted extents that were released are decrypted again, in any number [T13]`() throws {
        let (store, _) = try store(1, key: testKey), count = 2500
        let transaction = try store.begin()
        let refs = try (0..<count).map { try transaction.write(pattern($0, 20)) }
        try transaction.commit(catalogue: try transaction.write(catalogueBytes(refs)))
        let again = try Store.open(path: scratch("a"), writable: false, key: testKey), held = try again.snapshot()
        let kept = try held.read(refs[7])
        for _ in 0..<3 {
            let snapshot = try again.snapshot()
            for index in 0..<count { #expect(try snapshot.read(refs[index]).elementsEqual(pattern(index, 20))) }
        }
        #expect(kept.elementsEqual(pattern(7, 20)))
    }
}
