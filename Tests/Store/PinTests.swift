import FirnBytes
import FirnDisk
import Foundation
import Testing
@testable import FirnStore

/// T10: the space that pinned versions need. `FIRN_COMMITS=100000 swift test --filter PinTests` makes that many commits.
@Suite struct PinTests {
    /// A store of 50 extents that stay and 8 that change in turn: each commit changes one of them and the catalogue.
    private struct Turns {
        let store: Store
        var refs: [ExtentRef]
        var catalogue: ExtentRef
        private var number = 0

        init(_ path: String) throws {
            store = try Store.create(path: path, overwrite: false)
            let first = try store.begin()
            refs = try (0..<58).map { try first.write(pattern($0, 4000)) }
            catalogue = try first.write(catalogueBytes(refs))
            try first.commit(catalogue: catalogue, keep: 2)
        }

        mutating func commit() throws {
            number += 1
            let transaction = try store.begin(), place = 50 + number % 8
            transaction.free(refs[place])
            transaction.free(catalogue)
            refs[place] = try transaction.write(pattern(number, 4000))
            catalogue = try transaction.write(catalogueBytes(refs))
            try transaction.commit(catalogue: catalogue, keep: 2)
        }
    }

    @Test func `a version that is pinned during many commits needs only the space of the extents that changed since [T10]`() throws {
        let scratch = Scratch(), commits = ProcessInfo.processInfo.environment["FIRN_COMMITS"].flatMap(Int.init) ?? 3000
        var turns = try Turns(scratch("a"))
        for _ in 0..<500 { try turns.commit() }
        let settled = try Paths.size(scratch("a"))
        let other = try Store.open(path: scratch("a"), writable: false), held = try other.snapshot(),
            content = try refs(held).map { Array(try held.read($0)) }
        for _ in 0..<commits { try turns.commit() }
        let grown = try Paths.size(scratch("a"))
        // The 8 extents of 4,032 bytes that changed, their catalogue and the record, and the variation of the bookkeeping in 500 commits.
        #expect(grown <= settled + 8 * 4032 + 1856 + 512 + 20_000, "grew from \(settled) to \(grown) in \(commits) commits")
        #expect(try refs(held).map { Array(try held.read($0)) } == content)
        #expect(try turns.store.pins() == [held.version])
        if commits > 10_000 { print("T10: \(commits) commits under a pin, \(settled) bytes before, \(grown) after") }
        let pending = try turns.store.spaceReport().pending
        held.release()
        try turns.commit()
        #expect(try turns.store.spaceReport().pending + 8 * 4032 <= pending + 6000, "the extents of the released version are not free")
        #expect(try faults(turns.store).isEmpty)
    }

    @Test func `commits after an old pin keep about as many records as commits without one [T10]`() throws {
        // Counts records and checkpoints, which could grow with the age of the pin.
        var written: [Int] = []
        for isPinned in [false, true] {
            let scratch = Scratch()
            var turns = try Turns(scratch("a"))
            let held = isPinned ? try Store.open(path: scratch("a"), writable: false).snapshot() : nil
            for _ in 0..<1500 { try turns.commit() }
            let snapshot = try turns.store.snapshot()
            written.append(try turns.store.loadSpace(snapshot).records.count)
            let space = try turns.store.spaceReport()
            #expect(space.bookkeeping < 80_000, "\(space)")
            withExtendedLifetime(held) {}
        }
        #expect(written[1] <= written[0] * 2 + 10, "\(written) records are kept")
    }

    @Test func `an extent is free as soon as no pin between its birth and death remains`() throws {
        let scratch = Scratch()
        var turns = try Turns(scratch("a"))
        for _ in 0..<20 { try turns.commit() }
        let old = try turns.store.snapshot(), oldRefs = try refs(old)
        for _ in 0..<20 { try turns.commit() }
        // Written after the older pin, freed before the newer one: no version has it.
        let between = turns.refs[50]
        for _ in 0..<20 { try turns.commit() }
        let new = try turns.store.snapshot(), newRefs = try refs(new)
        for _ in 0..<20 { try turns.commit() }
        let space = try turns.store.loadSpace(try turns.store.snapshot()).space
        func isPending(_ ref: ExtentRef) -> Bool { space.pending[ref.units.lowerBound].map { $0.birth == ref.birth } ?? false }
        #expect(!isPending(between) && !newRefs.contains(between) && !oldRefs.contains(between))
        for ref in oldRefs[50...] { #expect(isPending(ref), "an extent of the older pin is not kept") }
        for ref in newRefs[50...] { #expect(isPending(ref), "an extent of the newer pin is not kept") }
        let content = try oldRefs.map { Array(try old.read($0)) }
        new.release()
        for _ in 0..<3 { try turns.commit() }
        let after = try turns.store.loadSpace(try turns.store.snapshot()).space
        for ref in newRefs[50...] {
            #expect(
                after.pending[ref.units.lowerBound].map { $0.birth != ref.birth } ?? true, "an extent of the released newer pin is not free"
            )
        }
        for ref in oldRefs[50...] { #expect(after.pending[ref.units.lowerBound]?.birth == ref.birth) }
        #expect(try oldRefs.map { Array(try old.readVerifying($0)) } == content)
    }
}
