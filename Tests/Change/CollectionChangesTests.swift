import FirnBytes
import FirnChange
import FirnKit
import FirnTable
import Foundation
import Testing

/// Applies changes to an old version as an observer does: modified elements are replaced, then elements are deleted in descending order and
/// inserted in ascending order.
func applied<T>(_ changes: CollectionChanges, to old: [T], _ new: [T]) -> [T] {
    var out = old
    for (a, b) in zip(changes.modificationsOld, changes.modificationsNew) { out[a] = new[b] }
    for i in changes.deletions.reversed() { out.remove(at: i) }
    for j in changes.insertions { out.insert(new[j], at: j) }
    return out
}

/// Returns the length of a longest common subsequence by a simple, slow method.
private func longestCommon<T: Equatable>(_ a: [T], _ b: [T]) -> Int {
    var row = [Int](repeating: 0, count: b.count + 1)
    for x in a {
        var diagonal = 0
        for (j, y) in b.enumerated() {
            let above = row[j + 1]
            row[j + 1] = x == y ? diagonal + 1 : max(above, row[j])
            diagonal = above
        }
    }
    return row[b.count]
}

@Suite struct CollectionChangesTests {
    /// `FIRN_LISTS` sets the number of random pairs of lists.
    private static let rounds = ProcessInfo.processInfo.environment["FIRN_LISTS"].flatMap { Int($0) } ?? 20_000

    /// A list, and a new version of it with elements removed, inserted and moved, runs moved, and parts reversed.
    private func versions(_ generator: inout Random) -> (old: [Int64], new: [Int64]) {
        let alphabet = [2, 4, 20, 1000].randomElement(using: &generator)!
        let old = (0..<Int.random(in: 0...14, using: &generator)).map { _ in Int64.random(in: 0..<Int64(alphabet), using: &generator) }
        var new = old
        for _ in 0..<Int.random(in: 0...5, using: &generator) {
            switch Int.random(in: 0...5, using: &generator) {
            case 0 where !new.isEmpty: new.remove(at: Int.random(in: 0..<new.count, using: &generator))
            case 1:
                new.insert(Int64.random(in: 0..<Int64(alphabet), using: &generator), at: Int.random(in: 0...new.count, using: &generator))
            case 2 where !new.isEmpty:
                let moved = new.remove(at: Int.random(in: 0..<new.count, using: &generator))
                new.insert(moved, at: Int.random(in: 0...new.count, using: &generator))
            case 3: new.reverse()
            case 4 where new.count > 1:
                let end = Int.random(in: 1..<new.count, using: &generator)
                new = Array(new[end...] + new[..<end])
            default: if Bool.random(using: &generator) { new.sort() }
            }
        }
        return (old, new)
    }

    @Test func `a minimal number of deletions and insertions leads from the old rows to the new rows`() {
        let seed = Seed.one(1)
        var generator = Random(seed)
        for round in 0..<CollectionChangesTests.rounds {
            let (old, new) = versions(&generator)
            let changes = CollectionChanges.between(old: old, new: new, detectMoves: round % 2 == 0) { $0 % 3 == 0 }
            let kept = longestCommon(old, new)
            guard applied(changes, to: old, new) == new, changes.deletions.count == old.count - kept,
                changes.insertions.count == new.count - kept
            else {
                Issue.record("seed \(seed), round \(round): \(old) -> \(new): \(changes)")
                return
            }
            // The old and new positions of modified rows are pairs, and contain no deleted or inserted rows.
            #expect(changes.modificationsOld.map { old[$0] } == changes.modificationsNew.map { new[$0] })
            #expect(
                changes.modificationsOld == changes.modificationsOld.sorted()
                    && changes.modificationsNew == changes.modificationsNew.sorted())
            let gone = Set(changes.deletions), come = Set(changes.insertions)
            let stayed = old.indices.filter { !gone.contains($0) && old[$0] % 3 == 0 }
            #expect(changes.modificationsOld == stayed)
            #expect(changes.modificationsNew == new.indices.filter { !come.contains($0) && new[$0] % 3 == 0 })
            // Each deletion with an insertion of the same row is exactly one move.
            if round % 2 == 0 {
                var counts: [Int64: Int] = [:]
                for i in changes.deletions { counts[old[i], default: 0] += 1 }
                var moves = 0
                for j in changes.insertions where counts[new[j], default: 0] > 0 {
                    counts[new[j]]! -= 1
                    moves += 1
                }
                #expect(changes.moves.count == moves)
                #expect(changes.moves.allSatisfy { gone.contains($0.from) && come.contains($0.to) && old[$0.from] == new[$0.to] })
                #expect(Set(changes.moves.map(\.from)).count == moves && Set(changes.moves.map(\.to)).count == moves)
            }
        }
    }

    @Test func `changes lead from an old list of values to the new list`() {
        let seed = Seed.one(2)
        var generator = Random(seed)
        for round in 0..<CollectionChangesTests.rounds / 4 {
            let (a, b) = versions(&generator)
            let old = a.map { $0 == 0 ? Value.null : .int($0) }, new = b.map { $0 == 0 ? Value.null : .int($0) }
            let changes = CollectionChanges.between(old: old, new: new)
            guard applied(changes, to: old, new) == new, changes.modificationsOld.count == changes.modificationsNew.count else {
                Issue.record("seed \(seed), round \(round): \(old) -> \(new): \(changes)")
                return
            }
        }
    }

    @Test func `changes of long lists with few different rows are minimal where this is fast, and always correct`() {
        var generator = Random(seed: 3)
        for round in 0..<30 {
            let old = (0..<500).map { _ in Int64.random(in: 0...1, using: &generator) }
            var new = old
            let edits = round % 3 == 0 ? 400 : 10
            for _ in 0..<edits {
                new.remove(at: Int.random(in: 0..<new.count, using: &generator))
                new.insert(Int64.random(in: 0...1, using: &generator), at: Int.random(in: 0...new.count, using: &generator))
            }
            let changes = CollectionChanges.between(old: old, new: new) { _ in false }
            #expect(applied(changes, to: old, new) == new, "seed 3, round \(round)")
            if edits == 10 { #expect(changes.deletions.count == old.count - longestCommon(old, new)) }
        }
    }

    @Test func `reordering a hundred thousand rows does not take quadratic time`() {
        var generator = Random(seed: 4)
        let old = (0..<100_000).map(Int64.init)
        let orders = [old.shuffled(using: &generator), Array(old.reversed()), Array(old[50_000...] + old[..<50_000])]
        for new in orders {
            let changes = CollectionChanges.between(old: old, new: new, detectMoves: true) { _ in true }
            #expect(changes.deletions.count == changes.insertions.count && changes.moves.count == changes.deletions.count)
            #expect(changes.modificationsOld.count == 100_000 - changes.deletions.count)
        }
        #expect(CollectionChanges.between(old: old, new: orders[1]) { _ in false }.deletions.count == 99_999)
        #expect(CollectionChanges.between(old: old, new: orders[2]) { _ in false }.deletions.count == 50_000)
        // The same row a hundred thousand times, with different rows at both ends.
        let same = [Int64](repeating: 7, count: 100_000)
        #expect(CollectionChanges.between(old: [1] + same + [2], new: [3] + same.dropLast() + [4]) { _ in false }.deletions.count == 3)
        let halves = same.map { _ in Int64.random(in: 0...1, using: &generator) }
        let others = halves.shuffled(using: &generator)
        let changes = CollectionChanges.between(old: halves, new: others) { _ in false }
        #expect(changes.deletions.count == changes.insertions.count && changes.deletions.count < 100_000)
    }

    @Test func `changes are those of the examples in the contract`() {
        // Modify 3 -> 4 and delete 2: the modification has its old index.
        let first = CollectionChanges.between(old: [1, 2, 3], new: [1, 3]) { $0 == 3 }
        #expect((first.deletions, first.insertions, first.modificationsOld, first.modificationsNew) == ([1], [], [2], [1]))
        // One element moved to the front: one deletion, one insertion.
        let second = CollectionChanges.between(old: [1, 2, 3], new: [3, 1, 2], detectMoves: true) { _ in true }
        #expect((second.deletions, second.insertions, second.moves) == ([2], [0], [.init(from: 2, to: 0)]))
        #expect(second.modificationsOld == [0, 1])
        // Equal lists have no changes.
        #expect(CollectionChanges.between(old: [5, 5, 6], new: [5, 5, 6]) { _ in false }.isEmpty)
        // A replaced value is a modification, and an additional one is an insertion.
        let third = CollectionChanges.between(old: [.int(1), .int(2), .int(3)] as [Value], new: [.int(1), .int(9), .int(8), .int(3)])
        #expect((third.deletions, third.insertions, third.modificationsOld, third.modificationsNew) == ([], [2], [1], [1]))
    }

    @Test func `sets are compared by value and maps by key`() {
        let set = CollectionChanges.between(
            oldSet: [.null, .int(1), .string("a")], newSet: [.double(1), .int(4), .string("a"), .string("b")])
        #expect((set.deletions, set.insertions, set.modificationsOld) == ([0], [1, 3], []))
        let old: [Value.Entry] = [.init("a", .int(1)), .init("b", .link(7)), .init("c", .link(8)), .init("ä", .null)]
        let new: [Value.Entry] = [.init("a", .int(2)), .init("b", .link(7)), .init("c", .link(8)), .init("d", .int(0))]
        let map = MapChanges.between(old: old, new: new) { $0 == 8 }
        #expect((map.deletions, map.insertions, map.modifications) == (["ä"], ["d"], ["a", "c"]))
        #expect(MapChanges.between(old: old, new: old).isEmpty)
        #expect(MapChanges.between(old: [.init("k", .null)], new: [.init("k", .link(8))]).modifications == ["k"])
    }
}
