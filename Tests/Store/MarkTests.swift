import FirnBytes
import FirnDisk
import FirnKit
import Foundation
import Testing
@testable import FirnStore

@Suite struct MarkTests {
    /// Compares random changes between marks with a plain array.
    @Test(arguments: Seed.first(Tier.cases(8, of: 30))) func `changes after a mark can be rolled back completely`(seed: Seed) throws {
        let scratch = Scratch()
        let store = try Store.create(path: scratch("a"), overwrite: false)
        var random = Random(seed), number = 0
        var held: [(ref: ExtentRef, bytes: [UInt8])] = []
        func change(_ transaction: StoreTransaction) throws {
            if random.below(100) < 55 || held.isEmpty {
                number += 1
                // Some extents are written to the file immediately.
                let bytes = pattern(number, random.below(20) == 0 ? 70_000 + random.below(100_000) : random.below(3000))
                held.append((try transaction.write(bytes), bytes))
            } else {
                transaction.free(held.remove(at: random.below(held.count)).ref)
            }
        }
        var catalogue = ExtentRef.none
        for round in 0..<5 {
            let transaction = try store.begin(), before = held
            for _ in 0..<4 {
                for _ in 0..<random.below(40) { try change(transaction) }
                transaction.setMark()
                let marked = held
                for _ in 0..<random.below(40) { try change(transaction) }
                if random.below(2) == 0 {
                    transaction.rollBack()
                    held = marked
                    // Rolling back twice has the same effect as once.
                    if random.below(3) == 0 { transaction.rollBack() }
                }
                for one in held { #expect(try transaction.read(one.ref).elementsEqual(one.bytes), "seed \(seed), round \(round)") }
            }
            if random.below(5) == 0 {
                transaction.cancel()
                held = before
            } else {
                transaction.clearMark()
                if !catalogue.isNone { transaction.free(catalogue) }
                catalogue = try transaction.write(catalogueBytes(held.map(\.ref)))
                try transaction.commit(catalogue: catalogue, keep: 2)
            }
            let snapshot = try store.snapshot()
            for one in held { #expect(try snapshot.readVerifying(one.ref).elementsEqual(one.bytes), "seed \(seed), round \(round)") }
            let faults = try faults(store)
            #expect(faults.isEmpty, "seed \(seed), round \(round)")
        }
    }
}
