import FirnBytes
import FirnDisk
import FirnKit
import FirnThreads
import Foundation
import Testing

@testable import FirnStore

@Suite struct SpaceTests {
    @Test func `a pinned version needs only the space of the extents that changed since`() throws {
        let scratch = Scratch()
        let store = try Store.create(path: scratch("a"), overwrite: false)
        // 50 extents of 4,000 bytes that stay, and one that changes with every commit.
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
        let settled = try Paths.size(scratch("a"))
        // A reader with another open file pins a version, and holds it during 400 commits.
        let other = try Store.open(path: scratch("a"), writable: false)
        let held = try other.snapshot()
        let heldRefs = try refs(held), number = Int(held.version)
        for version in 60..<460 { try commit(version) }
        #expect(try store.pins() == [UInt64(number)])
        let grown = try Paths.size(scratch("a"))
        // Its own changing extent, catalogue and record; a checkpoint and the log of records can have moved in the meantime.
        #expect(grown <= settled + 4096 + 1856 + 20_000, "grew from \(settled) to \(grown)")
        #expect(try held.read(heldRefs[50]).elementsEqual(pattern(number, 4000)))
        #expect(try held.readVerifying(heldRefs[49]).elementsEqual(pattern(49, 4000)))
        let before = try store.spaceReport()
        held.release()
        try commit(460)
        let after = try store.spaceReport()
        #expect(after.pending + 4096 <= before.pending + 64, "pending fell from \(before.pending) to \(after.pending)")
        #expect(try faults(store).isEmpty)
    }

    @Test func `freed extents are reused, and free space at the end is truncated`() throws {
        let scratch = Scratch()
        let store = try Store.create(path: scratch("a"), overwrite: false)
        var held: [ExtentRef] = []
        func commit(_ sizes: [Int]) throws {
            let transaction = try store.begin()
            held.forEach(transaction.free)
            held = try sizes.map { try transaction.write(pattern($0, $0)) }
            held.append(try transaction.write(catalogueBytes(held)))
            try transaction.commit(catalogue: held.last!, keep: 2)
        }
        for _ in 0..<10 { try commit([50_000, 100_000, 7, 30_000]) }
        #expect(try Paths.size(scratch("a")) < 4 * 190_000)
        for _ in 0..<6 { try commit([10]) }
        try store.shrink()
        let small = try Paths.size(scratch("a"))
        #expect(small < 12_000, "\(small) bytes")
        #expect(try faults(store).isEmpty)
        #expect(try store.snapshot().read(held[0]).elementsEqual(pattern(10, 10)))
    }

    @Test func `a file that is shorter than an older commit's extents is intact, and verify reports no fault`() throws {
        let scratch = Scratch()
        let store = try Store.create(path: scratch("a"), overwrite: false)
        var held: [ExtentRef] = []
        for sizes in [[20_000], [10], [10], [10], [50_000, 50_000, 50_000], [10], [10], [10], [10]] {
            let transaction = try store.begin()
            held.forEach(transaction.free)
            held = try sizes.map { try transaction.write(pattern($0, $0)) }
            held.append(try transaction.write(catalogueBytes(held)))
            try transaction.commit(catalogue: held.last!, keep: 2)
        }
        try store.truncateTail()
        // The record of the fifth commit exists, and lists all its extents.
        let record = try store.record(of: 5, from: try store.snapshot())
        #expect(try record.listed.reduce(0) { $0 + $1.length } > Paths.size(scratch("a")))
        #expect(try faults(store).isEmpty)
        #expect(try faults(try Store.open(path: scratch("a"), writable: false)).isEmpty)
    }

    @Test func `pins of several stores and versions are visible to all, and end with their holders`() throws {
        let scratch = Scratch()
        let store = try Store.create(path: scratch("a"), overwrite: false)
        var story = Story(seed: 4)
        for _ in 0..<5 { try story.commit(store, keep: 10) }
        var readers: [Store?] = try (0..<3).map { _ in try Store.open(path: scratch("a"), writable: false) }
        var snapshots: [StoreSnapshot?] = []
        for (index, reader) in readers.enumerated() { snapshots.append(try reader!.snapshot(version: UInt64(index + 2))) }
        snapshots.append(try store.snapshot(version: 5))
        snapshots.append(try store.snapshot(version: 5))
        #expect(try store.pins() == [2, 3, 4, 5] && readers[0]!.pins() == [2, 3, 4, 5])
        snapshots[3]!.release()
        #expect(try readers[0]!.pins() == [2, 3, 4, 5])
        snapshots[4] = nil
        #expect(try readers[0]!.pins() == [2, 3, 4])
        for _ in 0..<30 { try story.commit(store, keep: 2) }
        for index in 0..<3 { #expect(try story.holds(snapshots[index]!)) }
        snapshots[1] = nil
        readers[1] = nil
        #expect(try store.pins() == [2, 4])
    }

    @Test func `readers on other threads always see complete versions`() throws {
        let scratch = Scratch()
        let store = try Store.create(path: scratch("a"), overwrite: false)
        let done = NSLock(), path = scratch("a")
        nonisolated(unsafe) var finished = false
        // Extent i of version v is made from v + i, so a torn version would be found.
        try parallel(count: 3, threads: 3) { (index) throws(FirnError) in
            if index == 0 {
                var held: [ExtentRef] = []
                for version in 1...300 {
                    let transaction = try store.begin()
                    held.forEach(transaction.free)
                    held = []
                    for part in 0..<6 { held.append(try transaction.write(pattern(version + part, 500))) }
                    held.append(try transaction.write(catalogueBytes(held)))
                    try transaction.commit(catalogue: held.last!, keep: 2)
                }
                done.withLock { finished = true }
            } else {
                let reader = index == 1 ? store : try Store.open(path: path, writable: false)
                var last: UInt64 = 0
                while !done.withLock({ finished }) {
                    let snapshot = try reader.snapshot()
                    #expect(snapshot.version >= last)
                    last = snapshot.version
                    do {
                        for (part, ref) in try refs(snapshot).enumerated() {
                            let same = try snapshot.readVerifying(ref).elementsEqual(pattern(Int(snapshot.version) + part, 500))
                            #expect(same, "version \(snapshot.version)")
                        }
                    } catch { Issue.record("version \(snapshot.version): \(error)") }
                }
            }
        }
        #expect(try faultsOfNewest(store).isEmpty)
    }

    private func faultsOfNewest(_ store: Store) throws -> [String] {
        var list: [String] = []
        try store.verify { list.append($0.description) }
        return list
    }

    @Test func `free space finds, splits and merges ranges like a plain set of units`() {
        var random = Random(seed: 31), space = FreeSpace(), plain = Set<UInt64>(), held: [UnitRange] = []
        _ = space.insert(UnitRange(start: 0, end: 5000))
        plain.formUnion(0..<5000)
        for step in 0..<6000 {
            if random.below(100) < 52 || held.isEmpty {
                let size = UInt64(1 + random.below(random.below(10) == 0 ? 300 : 12))
                guard let range = space.take(size) else { continue }
                #expect(range.count == size && plain.isSuperset(of: range.start..<range.end))
                plain.subtract(range.start..<range.end)
                held.append(range)
            } else {
                let range = held.remove(at: random.below(held.count))
                let fits = space.insert(range)
                #expect(fits)
                plain.formUnion(range.start..<range.end)
            }
            if step % 500 == 0 {
                #expect(space.units == UInt64(plain.count))
                #expect(Set(space.ranges.flatMap { $0.start..<$0.end }) == plain)
                for (one, next) in zip(space.ranges, space.ranges.dropFirst()) { #expect(one.end < next.start) }
                #expect(space.count == space.ranges.count)
            }
            if let range = held.last, step % 50 == 0 { #expect(!space.map.overlaps(range) && space.map.range(holding: range.start) == nil) }
        }
        for range in held { _ = space.insert(range) }
        #expect(space.ranges == [UnitRange(start: 0, end: 5000)])
        let twice = space.insert(UnitRange(start: 10, end: 11)), outside = space.remove(UnitRange(start: 4999, end: 5001))
        #expect(!twice && !outside)
    }
}
