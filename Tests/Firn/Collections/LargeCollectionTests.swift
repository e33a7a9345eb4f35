import Firn
import FirnKit
import Foundation
import Testing

/// Compares collections of many blocks with Swift's own, with changes at the boundaries of blocks.
struct LargeCollectionTests {
    final class Holder: Object {
        @Persisted var numbers: MutableSet<Int>
        @Persisted var words: MutableSet<String>
        @Persisted var series: List<Int>
    }

    @Test(arguments: Seed.some(1, 2, 3))
    func `a large set has exactly the elements that were inserted and not removed`(seed: Seed) throws {
        let realm = try memoryRealm([Holder.self]), holder = Holder()
        try realm.write { realm.add(holder) }
        var random = Random(seed, salt: 0x9E37_79B9_7F4A_7C15), numbers: Set<Int> = [], words: Set<String> = []
        for round in 0..<3 {
            try realm.write {
                let set = holder.numbers
                for _ in 0..<6000 {
                    let number = Int.random(in: -5000...5000, using: &random)
                    if round == 1, number % 3 != 0 {
                        set.remove(number)
                        numbers.remove(number)
                    } else {
                        set.insert(number)
                        numbers.insert(number)
                    }
                }
                // Removes the smallest element repeatedly: the first one of a block and of the set.
                for least in numbers.sorted().prefix(700) {
                    #expect(set.first == least)
                    set.remove(least)
                    numbers.remove(least)
                }
                for _ in 0..<1500 {
                    let word = "w\(Int.random(in: 0..<4000, using: &random))"
                    if round == 1 {
                        holder.words.remove(word)
                        words.remove(word)
                    } else {
                        holder.words.insert(word)
                        words.insert(word)
                    }
                }
            }
            #expect(Array(holder.numbers) == numbers.sorted(), "round \(round)")
            #expect((-5100...5100).allSatisfy { holder.numbers.contains($0) == numbers.contains($0) })
            #expect(Set(holder.words) == words && holder.words.count == words.count)
            #expect((0..<4000).allSatisfy { holder.words.contains("w\($0)") == words.contains("w\($0)") })
        }
    }

    @Test(arguments: Seed.some(4, 5))
    func `random changes of a large list agree with an array`(seed: Seed) throws {
        let realm = try memoryRealm([Holder.self]), holder = Holder()
        try realm.write { realm.add(holder) }
        var random = Random(seed, salt: 0x9E37_79B9_7F4A_7C15), array: [Int] = []
        for _ in 0..<3 {
            try realm.write {
                let list = holder.series
                for _ in 0..<3000 {
                    let number = Int.random(in: 0..<1000, using: &random), place = Int.random(in: 0...array.count, using: &random)
                    switch number % 8 {
                    case 0 where place < array.count:
                        list.remove(at: place)
                        array.remove(at: place)
                    case 1 where place < array.count:
                        list[place] = number
                        array[place] = number
                    case 2...4:
                        list.insert(number, at: place)
                        array.insert(number, at: place)
                    default:
                        list.append(number)
                        array.append(number)
                    }
                }
            }
            #expect(Array(holder.series) == array)
            #expect(array.indices.allSatisfy { holder.series[$0] == array[$0] })
        }
    }

    @Test func `unmanaged, managed and frozen sets do not affect each other`() throws {
        let realm = try memoryRealm([Holder.self]), holder = Holder(), own = MutableSet<Int>()
        own.insert(objectsIn: 0..<10)
        #expect(own.count == 10 && own.contains(3) && !own.contains(11) && own.realm == nil)
        try realm.write {
            realm.add(holder)
            holder.numbers.formUnion(own)
        }
        let frozen = holder.numbers.freeze()
        try realm.write { holder.numbers.remove(3) }
        #expect(frozen.contains(3) && !holder.numbers.contains(3) && own.contains(3))
        own.remove(4)
        #expect(holder.numbers.contains(4) && own.count == 9)
    }
}
