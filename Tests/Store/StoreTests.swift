import FirnBytes
import FirnDisk
import FirnKit
import Foundation
import Testing
@testable import FirnStore

/// A temporary folder for stores.
struct Scratch {
    private let folder = TemporaryFolder()
    var path: String { folder.path }
    func callAsFunction(_ name: String) -> String { folder.file(name) }
}

/// Writes a file with exactly these bytes.
func place(_ bytes: [UInt8], at path: String) throws {
    try File(path: path, .createOrTruncate).write(bytes, at: 0)
}

/// Returns bytes that depend on a number, of any length up to 300,000.
func pattern(_ seed: Int, _ count: Int) -> [UInt8] {
    let start = seed % 60_013
    return Array(noise[start..<(start + count)])
}

private let noise: [UInt8] = {
    var random = Random(seed: 1), bytes: [UInt8] = []
    bytes.reserveCapacity(370_000)
    while bytes.count < 370_000 { withUnsafeBytes(of: random.next()) { bytes.append(contentsOf: $0) } }
    return bytes
}()

/// Returns the bytes of a catalogue that is a single extent: references to others.
func catalogueBytes(_ refs: [ExtentRef]) -> [UInt8] {
    var writer = ByteWriter()
    for ref in refs { ref.encode(to: &writer) }
    return writer.bytes
}

func refs(_ snapshot: StoreSnapshot) throws -> [ExtentRef] {
    // The content of an inline file is not a list of references.
    if snapshot.catalogue.isNone || snapshot.catalogue.offset == 192 { return [] }
    var reader = ByteReader(try snapshot.read(snapshot.catalogue)), all: [ExtentRef] = []
    while !reader.isAtEnd { all.append(try ExtentRef(from: &reader)) }
    return all
}

@Suite struct StoreTests {
    @Test func `a snapshot reads the extents of a commit, also after the file is reopened`() throws {
        let scratch = Scratch()
        var store: Store? = try Store.create(path: scratch("a"), overwrite: false)
        #expect(try Paths.size(scratch("a")) == 512)
        #expect(try store!.latestVersion() == 0)
        let transaction = try store!.begin()
        let small = try transaction.write(pattern(1, 100)), large = try transaction.write(pattern(2, 100_000)),
            empty = try transaction.write([])
        #expect(try transaction.read(small).elementsEqual(pattern(1, 100)))
        #expect(try transaction.read(large).elementsEqual(pattern(2, 100_000)))
        let catalogue = try transaction.write(catalogueBytes([small, large, empty]))
        #expect(try transaction.commit(catalogue: catalogue) == 1)
        for _ in 0..<2 {
            let snapshot = try store!.snapshot()
            #expect(snapshot.version == 1 && snapshot.catalogue == catalogue)
            #expect(try refs(snapshot) == [small, large, empty])
            #expect(try snapshot.read(small).elementsEqual(pattern(1, 100)))
            #expect(try snapshot.read(large).elementsEqual(pattern(2, 100_000)))
            #expect(try snapshot.read(empty).count == 0)
            snapshot.release()
            store = nil
            store = try Store.open(path: scratch("a"), writable: false)
        }
        #expect(throws: FirnError.self) { _ = try store!.begin() }
    }

    @Test func `kept versions are readable, and older ones are not`() throws {
        let scratch = Scratch()
        let store = try Store.create(path: scratch("a"), overwrite: false)
        for version in 1...20 {
            let transaction = try store.begin()
            for ref in try refs(transaction.base) { transaction.free(ref) }
            transaction.free(transaction.base.catalogue)
            let data = try transaction.write(pattern(version, 3000))
            try transaction.commit(catalogue: try transaction.write(catalogueBytes([data])), keep: 5)
        }
        let other = try Store.open(path: scratch("a"), writable: false)
        #expect(try other.history().map(\.version) == [20, 19, 18, 17, 16])
        for version in 16...20 {
            let snapshot = try other.snapshot(version: UInt64(version))
            #expect(try snapshot.read(try refs(snapshot)[0]).elementsEqual(pattern(version, 3000)))
        }
        #expect(throws: FirnError.self) { _ = try other.snapshot(version: 15) }
        #expect(throws: FirnError.self) { _ = try other.snapshot(version: 21) }
        // 20 commits of 3,000 bytes use the space of the few that are kept.
        #expect(try Paths.size(scratch("a")) < 50_000)
    }

    @Test func `a cancelled transaction leaves the file unchanged`() throws {
        let scratch = Scratch()
        let store = try Store.create(path: scratch("a"), overwrite: false)
        let first = try store.begin()
        try first.commit(catalogue: try first.write(pattern(1, 5000)))
        let before = try File(path: scratch("a"), .read).readAll()
        for _ in 0..<3 {
            let transaction = try store.begin()
            let ref = try transaction.write(pattern(2, 200_000))
            _ = try transaction.write(pattern(3, 2000))
            transaction.free(ref)
            _ = try transaction.write(pattern(4, 1000))
            transaction.cancel()
        }
        #expect(try File(path: scratch("a"), .read).readAll() == before)
        let last = try store.begin()
        try last.commit(catalogue: try last.write(pattern(5, 10)))
        #expect(try store.snapshot().read(store.snapshot().catalogue).elementsEqual(pattern(5, 10)))
    }

    @Test func `a tree returns the values of its keys, and iterates in key order`() throws {
        let scratch = Scratch()
        let store = try Store.create(path: scratch("a"), overwrite: false)
        var root = ExtentRef.none
        for round in 0..<3 {
            let transaction = try store.begin()
            let writer = TreeWriter(root: root, transaction: transaction)
            for number in UInt64(0)..<2000 { try writer.put(number * 3 + UInt64(round), pattern(Int(number), 20)) }
            root = try writer.finish()
            try transaction.commit(catalogue: root)
        }
        let snapshot = try store.snapshot()
        let tree = TreeReader(root: snapshot.catalogue, source: snapshot)
        for number in UInt64(0)..<6000 { #expect(try tree.get(number).map(Array.init) == pattern(Int(number / 3), 20)) }
        var cursor = try tree.cursor(from: 100), count = 0
        while try cursor.next() {
            #expect(try cursor.keyNumber() == UInt64(100 + count))
            count += 1
        }
        #expect(count == 5900)
    }
}
