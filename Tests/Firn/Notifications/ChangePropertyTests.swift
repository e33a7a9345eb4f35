import FirnKit
@testable import Firn
import Foundation
import Testing

/// Applies the changes that observers get to plain arrays, after random transactions.
@Suite struct ChangePropertyTests {
    /// A copy that is updated only by changes.
    final class Mirrored<Element: Equatable> {
        var copy: [Element] = []
        var calls = 0

        /// - Parameter read: The current elements.
        func apply(_ deletions: [Int], _ insertions: [Int], _ old: [Int], _ new: [Int], _ read: [Element]) {
            calls += 1
            #expect(deletions == deletions.sorted() && insertions == insertions.sorted() && old == old.sorted() && old.count == new.count)
            #expect(Set(deletions).isDisjoint(with: old))
            // Modified elements are replaced in the old version, before any element moves.
            for (i, j) in zip(old, new) { copy[i] = read[j] }
            for i in deletions.reversed() { copy.remove(at: i) }
            for i in insertions { copy.insert(read[i], at: i) }
            #expect(copy == read)
        }
    }

    private func follow<C: RealmCollection, E: Equatable>(_ collection: C, _ element: @escaping (C.Element) -> E) -> (
        NotificationToken, Mirrored<E>
    ) {
        let mirrored = Mirrored<E>()
        return (
            collection.observe { change in
                let read = Array(change.collection!.map(element))
                if case .initial = change {
                    mirrored.copy = read
                } else {
                    mirrored.apply(change.deletions, change.insertions, change.modificationsOld, change.modificationsNew, read)
                }
            }, mirrored
        )
    }

    @Test(arguments: Seed.first(6)) func `changes that are applied to a copy give the current content`(seed: Seed) throws {
        var random = Random(seed, salt: 77)
        let realm = try memoryRealm()
        let owner = Beagle(value: ["name": "owner", "age": -1])
        try realm.write {
            realm.add(owner)
            for i in 0..<40 { realm.add(Beagle(value: ["name": "h\(i)", "age": i])) }
        }
        let hounds = realm.objects(Beagle.self)
        let text = { (hound: Beagle) in "\(hound._rowID) \(hound.name) \(hound.age)" }
        let table = follow(hounds, text), sorted = follow(hounds.filter("age > 5 SORT(age ASC, name ASC)"), text)
        let words = follow(owner.words) { $0 }, numbers = follow(owner.numbers) { $0 }, friends = follow(owner.friends, text),
            toys = follow(owner.toys) { "\($0._rowID) \($0.price)" }
        func number(_ bound: Int) -> Int { Int(random.next() % UInt64(bound)) }
        for _ in 0..<60 {
            for _ in 0...number(2) {
                try realm.write {
                    for _ in 0...number(5) {
                        switch number(12) {
                        case 0: realm.add(Beagle(value: ["name": "n\(number(100))", "age": number(60)]))
                        case 1: if hounds.count > 20 { realm.delete(hounds[1 + number(hounds.count - 1)]) }
                        case 2, 3: hounds[number(hounds.count)].age = number(60)
                        case 4: hounds[number(hounds.count)].name = "x\(number(100))"
                        case 5: owner.words.insert("w\(number(8))", at: number(owner.words.count + 1))
                        case 6: if owner.words.count > 3 { owner.words.remove(at: number(owner.words.count)) }
                        case 7: owner.numbers.insert(number(50))
                        case 8: owner.numbers.remove(number(50))
                        case 9: owner.friends.insert(hounds[number(hounds.count)])
                        case 10:
                            if owner.toys.count > 4 { owner.toys.swapAt(0, number(owner.toys.count)) } else { owner.toys.append(Toy()) }
                        default: if owner.toys.count > 0 { owner.toys[number(owner.toys.count)].price = number(9) }
                        }
                    }
                }
            }
            realm.refresh()
            #expect(Array(hounds.map(text)) == table.1.copy)
            #expect(Array(owner.words) == words.1.copy && Array(owner.numbers) == numbers.1.copy)
            #expect(owner.friends.map(text) == friends.1.copy && owner.toys.map { "\($0._rowID) \($0.price)" } == toys.1.copy)
            #expect(hounds.filter("age > 5 SORT(age ASC, name ASC)").map(text) == sorted.1.copy)
        }
        #expect(table.1.calls > 20 && sorted.1.calls > 20)
        withExtendedLifetime((table, sorted, words, numbers, friends, toys)) {}
    }

    @Test func `the cost of a commit of one row for its observers does not depend on the size of the type [P17]`() throws {
        let file = TemporaryRealm()
        let realm = try Realm(fileURL: file.url)
        // Two whole segments, and a part of a third one.
        let count = Tier.cases(140_000, of: 300_000), changed = 100_000
        let links = (0..<count).map { i in Chain(value: ["value": i]) }
        try realm.write { realm.add(links) }
        try realm.write { realm.add(Chain()) }
        let all = realm.objects(Chain.self), log = Log()
        let tokens = (0..<20).map { i in all.observe(keyPaths: i == 0 ? nil : ["value"]) { log.note($0) } }
        realm.refresh()
        _ = log.take()
        let before = realm.core.observers.decoded
        try realm.write { all[changed].value = -1 }
        realm.refresh()
        #expect(log.take() == Array(repeating: "\(count + 1): -[] +[] ~[\(changed)]", count: 20))
        let after = realm.core.observers.decoded
        #expect(
            after.vectors - before.vectors <= 12 && after.values - before.values <= 64,
            "\(after.vectors - before.vectors) vectors, \(after.values - before.values) values")
        withExtendedLifetime(tokens) {}
    }
}
