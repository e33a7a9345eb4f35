import FirnBytes
import FirnDisk
import Foundation
import Testing
@testable import FirnStore

/// Files that are read by system calls: with `FileReading.copied`, on media that cannot be mapped, and when no mapping can be watched.
@Suite struct CopiedTests {
    @Test func `reading by copies gives the same bytes as reading mapped memory, in snapshots and transactions`() throws {
        let scratch = Scratch()
        var story = Story(seed: 12)
        let store = try Store.create(path: scratch("a"), overwrite: false)
        for _ in 0..<4 { try story.commit(store, keep: 3, largest: 100_000) }
        let copying = try Store.open(path: scratch("a"), writable: true, reading: .copied)
        #expect(copying.isCopying && !store.isCopying)
        for _ in 0..<10 {
            try story.commit(copying, keep: 3, largest: 100_000)
            #expect(try story.holds(copying.snapshot()) && story.holds(store.snapshot()))
        }
        // Large extents are written to the file immediately, and can be read within the transaction.
        let transaction = try copying.begin(), large = pattern(3, 200_000), ref = try transaction.write(large)
        #expect(try transaction.read(ref).elementsEqual(large))
        let again = try transaction.read(ref)
        #expect(again.elementsEqual(large))
        transaction.cancel()
        let snapshot = try copying.snapshot(), version = snapshot.version
        let first = try snapshot.read(snapshot.catalogue)
        #expect(try snapshot.read(snapshot.catalogue).baseAddress == first.baseAddress, "the extent was read twice")
        for _ in 0..<40 { try story.commit(copying, keep: 2) }
        #expect(try snapshot.version == version && story.holds(snapshot))
        #expect(try faults(copying).isEmpty)
    }

    @Test func `reading a truncated file by copies is damage, and bytes that were read before stay`() throws {
        let scratch = Scratch()
        let store = try Store.create(path: scratch("a"), overwrite: false), transaction = try store.begin()
        let written = try (0..<20).map { try transaction.write(pattern($0, 10_000)) }
        try transaction.commit(catalogue: try transaction.write(catalogueBytes(written)))
        let reader = try Store.open(path: scratch("a"), writable: false, reading: .copied), snapshot = try reader.snapshot()
        let kept = try snapshot.read(written[19])
        try File(path: scratch("a"), .readWrite).truncate(to: 50_000)
        #expect(throws: Damage.self) { _ = try snapshot.read(written[10]) }
        #expect(kept.elementsEqual(pattern(19, 10_000)))
    }

    @Test func `a transaction whose file was truncated after it was read cannot commit`() throws {
        let scratch = Scratch()
        let store = try Store.create(path: scratch("a"), overwrite: false), first = try store.begin()
        let written = try first.write(pattern(1, 30_000))
        try first.commit(catalogue: try first.write(catalogueBytes([written])))
        let transaction = try store.begin(), bytes = try transaction.read(written)
        try File(path: scratch("a"), .readWrite).truncate(to: 9000)
        let copy = try transaction.write(Array(bytes))
        do {
            try transaction.commit(catalogue: copy)
            Issue.record("bytes of a truncated file were committed")
        } catch let error as FirnError { #expect(error.code == .damaged, "\(error)") }
    }
}
