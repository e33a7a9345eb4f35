import FirnKit
import Testing

@testable import Firn

/// Collections that are read through their property in one statement after another are decoded once.
struct KeptCellTests {
    final class Holder: Object {
        @Persisted var numbers: MutableSet<Int>
        @Persisted var series: List<Int>
        @Persisted var words: Map<String, Int>
    }

    private func cell(_ object: ObjectBase, _ column: Int) -> WeakCell { WeakCell(cell: CollectionCell.of(object, column)) }

    private func realm(_ count: Int) throws -> (Realm, [Holder]) {
        let realm = try memoryRealm([Holder.self]), holders = (0..<count).map { _ in Holder() }
        try realm.write {
            realm.add(holders)
            for holder in holders { holder.numbers.insert(objectsIn: 0..<10) }
        }
        return (realm, holders)
    }

    @Test func `an object keeps the cells of its collections, as long as it exists`() throws {
        // Objects that were added keep cells too, so they must not exist any longer.
        let realm = try realm(1).0
        func cellsOfObject() throws -> [WeakCell] {
            let holder = try #require(realm.objects(Holder.self).first), cells = (0..<3).map { cell(holder, $0) }
            let areKept = cells.allSatisfy { $0.cell != nil }, isSame = cell(holder, 0).cell === cells[0].cell
            #expect(areKept && isSame)
            withExtendedLifetime(holder) {}
            return cells
        }
        let areFreed = try cellsOfObject().allSatisfy { $0.cell == nil }
        #expect(areFreed)
    }

    @Test(arguments: [false, true]) func `a limited number of objects keeps cells`(isFrozen: Bool) throws {
        let (realm, holders) = try realm(100), objects = isFrozen ? holders.map { $0.freeze() } : holders
        let cells = objects.map { cell($0, 0) }
        #expect(cells.count { $0.cell != nil } == KeptCells.limit)
        #expect(cells.suffix(KeptCells.limit).allSatisfy { $0.cell != nil })
        // The last ones and the first ones have the same elements.
        #expect(objects.allSatisfy { $0.numbers.count == 10 && $0.numbers.contains(9) && !$0.numbers.contains(10) })
        withExtendedLifetime(realm) {}
    }

    @Test func `kept cells show changes, and do not keep a realm alive`() throws {
        weak var core: RealmCore?
        do {
            let (realm, holders) = try realm(2)
            core = realm.core
            let holder = holders[0]
            #expect(!holder.numbers.contains(77) && holder.series.isEmpty && holder.words.isEmpty)
            try realm.write {
                holder.numbers.insert(77)
                holder.series.append(1)
                holder.words["a"] = 2
            }
            #expect(holder.numbers.contains(77) && holder.series.count == 1 && holder.words["a"] == 2)
            let again = try #require(realm.objects(Holder.self).first)
            #expect(again.numbers.contains(77))
            try realm.write { again.numbers.remove(77) }
            #expect(!holder.numbers.contains(77))
            try realm.write { realm.delete(again) }
            #expect(holder.isInvalidated && holders[1].numbers.count == 10)
        }
        #expect(core == nil)
    }

    @Test func `a collection that is read again has changes that were made through dynamic objects`() throws {
        let (realm, holders) = try realm(2), holder = holders[0]
        #expect(holder.numbers.count == 10 && cell(holder, 0).cell != nil)
        try realm.write {
            let dynamic = try #require(realm.dynamicObjects("Holder").first)
            (dynamic["numbers"] as? MutableSet<Int>)?.insert(77)
            #expect(holder.numbers.contains(77))
            holder.numbers.insert(78)
            #expect((dynamic["numbers"] as? MutableSet<Int>)?.contains(78) == true)
            dynamic["numbers"] = [1]
            #expect(Array(holder.numbers) == [1])
        }
        #expect(Array(holder.numbers) == [1] && holders[1].numbers.count == 10)
    }
}
