import FirnBytes
import FirnDisk
import FirnKit
import Foundation
import Testing
@testable import FirnStore

/// T7: records with valid hashes from an attacker. A small file must not cause hours of reading.
@Suite struct HostileRecordTests {
    private let scratch = Scratch()

    /// Returns a file of a few versions, its newest root and its newest extent.
    private func file(_ versions: Int, bytes: Int) throws -> (image: [UInt8], root: Root, extent: ExtentRef) {
        let store = try Store.create(path: scratch("a"), overwrite: false)
        var extent = ExtentRef.none
        for step in 1...versions {
            let transaction = try store.begin()
            transaction.free(extent)
            extent = try transaction.write(pattern(step, bytes))
            try transaction.commit(catalogue: try transaction.write(catalogueBytes([extent])))
        }
        return (try File(path: scratch("a"), .read).readAll(), try store.newestRoot(), extent)
    }

    /// Writes a file from these bytes with the root in its slot.
    private func write(_ image: [UInt8], _ root: Root) throws {
        var image = image
        image.replaceSubrange(
            Int(root.offset(of: root.version))..<Int(root.offset(of: root.version)) + Root.slotBytes, with: root.encoded())
        try place(image, at: scratch("b"))
    }

    @Test func `a record that lists one extent repeatedly is refused, and the previous version is read [T7]`() throws {
        let made = try file(5, bytes: 200_000)
        var image = made.image, root = made.root
        var record = try image.withUnsafeBytes {
            try CommitRecord(UnsafeRawBufferPointer(rebasing: $0[Int(root.record.offset)...].prefix(Int(root.record.length))))
        }
        record.listed = Array(repeating: made.extent, count: 3000)
        image += [UInt8](repeating: 0, count: (64 - image.count % 64) % 64)
        let offset = UInt64(image.count)
        root.end = offset / 64 + (UInt64(record.encoded().count) + 63) / 64
        record.end = root.end
        let bytes = record.encoded()
        root.record = ExtentRef(
            offset: offset, length: UInt64(bytes.count), birth: root.version, hash: bytes.withUnsafeBytes { Hash128(of: $0) })
        try write(image + bytes + [UInt8](repeating: 0, count: 64), root)
        let store = try Store.open(path: scratch("b"), writable: false)
        #expect(try store.latestVersion() == 4)
        #expect(store.fellBack?.what.contains("more than the file holds") ?? false, "\(store.fellBack?.what ?? "nothing")")
    }

    @Test func `a record with an impossible version is damage, and recovery does not follow it`() throws {
        let made = try file(3, bytes: 100)
        var image = made.image
        var record = try image.withUnsafeBytes {
            try CommitRecord(UnsafeRawBufferPointer(rebasing: $0[Int(made.root.record.offset)...].prefix(Int(made.root.record.length))))
        }
        image += [UInt8](repeating: 0, count: (64 - image.count % 64) % 64)
        for version in [UInt64.max, ExtentRef.maximumVersion + 1] {
            (record.version, record.freed) = (version, [])
            let bytes = record.encoded(), offset = UInt64(image.count)
            #expect(throws: Damage.self) { try bytes.withUnsafeBytes { (bytes) throws(Damage) in try CommitRecord(bytes) } }
            image += bytes + [UInt8](repeating: 0, count: 64 - bytes.count % 64)
            // A record that refers to it, with its hash.
            record.version = 5
            record.previous = ExtentRef(
                offset: offset, length: UInt64(bytes.count), birth: 4, hash: bytes.withUnsafeBytes { Hash128(of: $0) })
            let next = record.encoded()
            image += next + [UInt8](repeating: 0, count: 64 - next.count % 64)
        }
        try place(image, at: scratch("c"))
        let leads = try Salvage(path: scratch("c")).strayLeads()
        #expect(leads.contains { $0.version == 3 } && !leads.contains { $0.version > 3 }, "\(leads.map(\.version))")
    }

    @Test func `overlapping records that each extend to the end of the file are refused [T7]`() throws {
        let made = try file(2, bytes: 100), count = 600, stride = 192
        var root = made.root, image = made.image
        image += [UInt8](repeating: 0, count: (64 - image.count % 64) % 64)
        let start = image.count, end = start + count * stride
        image += [UInt8](repeating: 0, count: count * stride)
        root.version = UInt64(2 * count)
        root.end = UInt64(end / 64)
        root.oldestKept = 0
        root.listsExtents = false
        var previous = made.root.record
        // The newest record is first in the file.
        for index in (0..<count).reversed() {
            let version = root.version - UInt64(index), offset = start + index * stride
            let record = CommitRecord(
                version: version, time: 0, oldestKept: 0, oldestRecord: 1, end: root.end, checkpointVersion: 0, previous: previous,
                catalogue: root.catalogue, checkpoint: .none)
            image.replaceSubrange(offset..<offset + record.encoded().count, with: record.encoded())
            previous = ExtentRef(
                offset: UInt64(offset), length: UInt64(end - offset), birth: version,
                hash: image[offset..<end].withUnsafeBytes { Hash128(of: $0) })
        }
        root.record = previous
        try write(image, root)
        let store = try Store.open(path: scratch("b"), writable: true)
        #expect(try store.latestVersion() == root.version)
        var found: [Damage] = []
        try store.verify { found.append($0) }
        #expect(found.contains { $0.what.contains("longer than the file") }, "\(found)")
        do throws(FirnError) {
            _ = try store.history()
            Issue.record("the overlapping records were read")
        } catch { #expect(error.code == .damaged && error.message.contains("longer than the file"), "\(error)") }
        #expect(throws: FirnError.self) { _ = try store.begin() }
    }

    @Test func `a file that ends at the maximum offset is not extended [T7]`() throws {
        let folder = TemporaryFolder(), path = folder.file("a")
        var (image, root, _) = try file(2, bytes: 100)
        var record = try image.withUnsafeBytes {
            try CommitRecord(UnsafeRawBufferPointer(rebasing: $0[Int(root.record.offset)...].prefix(Int(root.record.length))))
        }
        (root.end, record.end, root.listsExtents) = (ExtentRef.maximumUnit, ExtentRef.maximumUnit, false)
        let bytes = record.encoded() + [UInt8](repeating: 0, count: Int(root.record.length) - record.encoded().count)
        image.replaceSubrange(Int(root.record.offset)..<Int(root.record.offset) + bytes.count, with: bytes)
        root.record.hash = bytes.withUnsafeBytes { Hash128(of: $0) }
        try write(image, root)
        try File(path: path, .createNew).write(try File(path: scratch("b"), .read).readAll(), at: 0)
        // Only on file systems that allow this length.
        guard (try? File(path: path, .readWrite).truncate(to: root.end * 64)) != nil else { return }
        let store = try Store.open(path: path, writable: true), transaction = try store.begin()
        let catalogue = try transaction.write(pattern(1, 100_000))
        do throws(FirnError) {
            try transaction.commit(catalogue: catalogue)
            Issue.record("a commit beyond the maximum offset succeeded")
        } catch { #expect(error.code == .unsupported, "\(error)") }
        #expect(try Store.open(path: path, writable: false).latestVersion() == 2)
    }

    @Test func `refused memory for copies of a record, the marks and a catalogue never traps [T7]`() throws {
        let folder = TemporaryFolder(), path = folder.file("a")
        do {
            let store = try Store.create(path: path, overwrite: false), transaction = try store.begin()
            try transaction.commit(catalogue: try transaction.write(pattern(1, 5000)))
        }
        var nth = 0
        while true {
            let journal = DiskJournal(of: folder, .init(after: nth, only: "memory", code: 12))
            defer { ScriptedDisk.end(in: folder.path) }
            do {
                let snapshot = try Store.open(path: path, writable: false, reading: .copied).snapshot()
                _ = try snapshot.read(snapshot.catalogue)
            } catch {}
            if journal.refusals.isEmpty { break }
            nth += 1
        }
        #expect(nth == 3, "not exactly the record, the marks and the catalogue asked for memory")
    }

    @Test func `a transaction of any size keeps the bytes that it returned in memory, but not all that it wrote`() throws {
        let store = try Store.create(path: scratch("c"), overwrite: false), transaction = try store.begin()
        var refs = [try transaction.write(pattern(0, 30_000))]
        let given = try transaction.read(refs[0])
        for step in 1..<200 { refs.append(try transaction.write(pattern(step, 30_000))) }
        transaction.free(refs[150])
        #expect(transaction.retired.count == 1, "more than the returned extent is kept in memory")
        #expect(given.elementsEqual(pattern(0, 30_000)))
        #expect(
            try transaction.read(refs[199]).elementsEqual(pattern(199, 30_000))
                && transaction.read(refs[3]).elementsEqual(pattern(3, 30_000)))
        try transaction.commit(catalogue: try transaction.write(catalogueBytes(refs.filter { $0 != refs[150] })))
        #expect(given.elementsEqual(pattern(0, 30_000)))
        let snapshot = try store.snapshot()
        for (step, ref) in refs.enumerated() where step != 150 { #expect(try snapshot.read(ref).elementsEqual(pattern(step, 30_000))) }
    }
}
