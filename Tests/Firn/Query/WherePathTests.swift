@testable import Firn
import FirnKit
import FirnQuery
import Foundation
import Testing

/// Links, embedded objects and collections in typed queries.
@Suite struct WherePathTests {
    @Test(arguments: Seed.some(1, 2, 3)) func `where follows links and embedded objects [R14]`(seed: Seed) throws {
        let kennel = try Kennel(seed: seed.number)
        kennel.holds("owner.name == 'Rex'", { $0.owner.name == "Rex" }) { $0.owner?.name == "Rex" }
        kennel.holds("owner.age > 2", { $0.owner.age > 2 }) { $0.owner?.age.map { $0 > 2 } ?? false }
        kennel.holds("owner.age == NULL", { $0.owner.age == nil }) { $0.owner?.age == nil }
        kennel.holds("owner == NULL", { $0.owner == nil }) { $0.owner == nil }
        kennel.holds("owner != NULL && owner.age == NULL", { $0.owner != nil && $0.owner.age == nil }) {
            $0.owner != nil && $0.owner!.age == nil
        }
        kennel.holds("owner.best.name == name", { $0.owner.best.name == $0.name }) { $0.owner?.best?.name == $0.name }
        kennel.holds("hut.place == 'Bo'", { $0.hut.place == "Bo" }) { $0.hut?.place == "Bo" }
        kennel.holds("hut == NULL", { $0.hut == nil }) { $0.hut == nil }
        kennel.holds("hut.size >= age", { $0.hut.size >= $0.age }) { hound in hound.hut.map { $0.size >= hound.age } ?? false }
        let keeper = kennel.realm.objects(Keeper.self)[3]
        kennel.holds("owner == $0", with: [keeper], { $0.owner == keeper }) { $0.owner == keeper }
        kennel.holds("owner != $0", with: [keeper], { $0.owner != keeper }) { $0.owner != keeper }
        let two = Array(kennel.realm.objects(Keeper.self)[0..<2])
        kennel.holds("owner IN {$0, $1}", with: two, { $0.owner.in(two) }) { hound in two.contains { $0 == hound.owner } }
        kennel.holds("owner == $0 || age > 3 && owner == $1", with: two, { $0.owner == two[0] || $0.age > 3 && $0.owner == two[1] }) {
            $0.owner == two[0] || $0.age > 3 && $0.owner == two[1]
        }
    }

    @Test(arguments: Seed.some(1, 2, 3))
    func `where supports any, all and none of the elements of a collection [R14]`(seed: Seed) throws {
        let kennel = try Kennel(seed: seed.number)
        kennel.holds("toys.brand == 'Kong'", { $0.toys.brand == "Kong" }) { $0.toys.contains { $0.brand == "Kong" } }
        kennel.holds("ANY toys.brand == 'Kong'", { $0.toys.any.brand == "Kong" }) { $0.toys.contains { $0.brand == "Kong" } }
        kennel.holds("ALL toys.price > 1.0", { $0.toys.all.price > 1 }) { $0.toys.allSatisfy { $0.price > 1 } }
        kennel.holds("NONE toys.brand ==[c] 'kong'", { $0.toys.none.brand.equals("kong", options: .caseInsensitive) }) {
            !$0.toys.contains { $0.brand.lowercased() == "kong" }
        }
        kennel.holds("toys.@count > 1", { $0.toys.count > 1 }) { $0.toys.count > 1 }
        kennel.holds("huts.size == 2", { $0.huts.size == 2 }) { $0.huts.contains { $0.size == 2 } }
        kennel.holds("friends.age > 5", { $0.friends.age > 5 }) { $0.friends.contains { $0.age > 5 } }
        kennel.holds("friends.toys.price > 3.0", { $0.friends.toys.price > 3 }) {
            $0.friends.contains { $0.toys.contains { $0.price > 3 } }
        }
        kennel.holds("friends.owner.name == 'Rex'", { $0.friends.owner.name == "Rex" }) { $0.friends.contains { $0.owner?.name == "Rex" } }
        kennel.holds("ANY ints > 3", { $0.ints.any > 3 }) { $0.ints.contains { $0 > 3 } }
        kennel.holds("ALL ints BETWEEN {1, 4}", { $0.ints.all.contains(1...4) }) { $0.ints.allSatisfy { (1...4).contains($0) } }
        kennel.holds("NONE tags BEGINSWITH 'R'", { $0.tags.none.starts(with: "R") }) { !$0.tags.contains { $0.hasPrefix("R") } }
        kennel.holds("3 IN ints", { $0.ints.contains(3) }) { $0.ints.contains(3) }
        kennel.holds("age IN ints", { $0.ints.contains($0.age) }) { $0.ints.contains($0.age) }
        kennel.holds("'Rex' IN tags", { $0.tags.contains("Rex") }) { $0.tags.contains("Rex") }
        kennel.holds("ANY ints IN {3, 4}", { $0.ints.containsAny(in: [3, 4]) }) { $0.ints.contains(3) || $0.ints.contains(4) }
        kennel.holds("ints == {1, 2}", { $0.ints == [1, 2] }) { Array($0.ints) == [1, 2] }
        kennel.holds("ints != {}", { $0.ints != [] }) { !$0.ints.isEmpty }
        kennel.holds("ints[0] == 3", { $0.ints[0] == 3 }) { $0.ints.first == 3 }
        kennel.holds("ints[FIRST] > ints[LAST]", { $0.ints.first > $0.ints.last }) { !$0.ints.isEmpty && $0.ints.first! > $0.ints.last! }
        kennel.holds("toys[0].brand == 'Kong'", { $0.toys[0].brand == "Kong" }) { $0.toys.first?.brand == "Kong" }
        let friend = kennel.hounds[2], trinket = kennel.realm.objects(Trinket.self)[0]
        kennel.holds("$0 IN friends", with: [friend], { $0.friends.contains(friend) }) { $0.friends.contains(friend) }
        kennel.holds("ANY toys IN {$0}", with: [trinket], { $0.toys.containsAny(in: [trinket]) }) { $0.toys.contains { $0 == trinket } }
    }

    @Test(arguments: Seed.some(1, 2, 3)) func `where supports aggregates of collections [R14]`(seed: Seed) throws {
        let kennel = try Kennel(seed: seed.number)
        kennel.holds("ints.@min == 1", { $0.ints.min == 1 }) { $0.ints.min() == 1 }
        kennel.holds("ints.@max > 4", { $0.ints.max > 4 }) { ($0.ints.max() ?? 0) > 4 }
        kennel.holds("ints.@sum == 5", { $0.ints.sum == 5 }) { $0.ints.reduce(0, +) == 5 }
        kennel.holds("ints.@avg > 2.5", { $0.ints.avg > 2.5 }) {
            !$0.ints.isEmpty && Double($0.ints.reduce(0, +)) / Double($0.ints.count) > 2.5
        }
        kennel.holds("ints.@min == NULL", { $0.ints.min == nil }) { $0.ints.isEmpty }
        kennel.holds("ints.@min >= 1 && ints.@max <= 3", { $0.ints.contains(1...3) }) {
            !$0.ints.isEmpty && $0.ints.allSatisfy { (1...3).contains($0) }
        }
        kennel.holds("toys.@sum.price > 3.0", { $0.toys.price.sum > 3 }) { $0.toys.reduce(0) { $0 + $1.price } > 3 }
        kennel.holds("toys.@max.price == 4.0", { $0.toys.price.max == 4 }) { $0.toys.map(\.price).max() == 4 }
        kennel.holds("toys.@min.made == T0:0", { $0.toys.made.min == Date(timeIntervalSince1970: 0) }) {
            $0.toys.compactMap(\.made).min() == Date(timeIntervalSince1970: 0)
        }
        kennel.holds("reals.@sum < weight", { $0.reals.sum < $0.weight }) { $0.reals.reduce(0, +) < $0.weight }
        kennel.holds("owner.best.ints.@sum > 5", { $0.owner.best.ints.sum > 5 }) { ($0.owner?.best?.ints.reduce(0, +) ?? 0) > 5 }
    }

    @Test(arguments: Seed.some(1, 2, 3)) func `where supports maps and inverse links [R14]`(seed: Seed) throws {
        let kennel = try Kennel(seed: seed.number)
        kennel.holds("scores['a'] == 3", { $0.scores["a"] == 3 }) { $0.scores["a"] == 3 }
        kennel.holds("scores['a'] == NULL", { $0.scores["a"] == nil }) { $0.scores["a"] == nil }
        kennel.holds("scores.@keys == 'b'", { $0.scores.keys == "b" }) { $0.scores["b"] != nil }
        kennel.holds("scores.@values > 3", { $0.scores.values > 3 }) { $0.scores.values.contains { $0 > 3 } }
        kennel.holds("2 IN scores", { $0.scores.contains(2) }) { $0.scores.values.contains(2) }
        kennel.holds("scores.@count == 2", { $0.scores.count == 2 }) { $0.scores.count == 2 }
        kennel.holds("scores.@sum > 4", { $0.scores.sum > 4 }) { $0.scores.values.reduce(0, +) > 4 }
        kennel.holds("ANY scores IN {1, 2}", { $0.scores.containsAny(in: [1, 2]) }) { $0.scores.values.contains { $0 == 1 || $0 == 2 } }
        kennel.holds("owner.hounds.age > 6", { $0.owner.hounds.age > 6 }) { $0.owner?.hounds.contains { $0.age > 6 } ?? false }
        kennel.holds("owner.hounds.@count == 2", { $0.owner.hounds.count == 2 }) { $0.owner?.hounds.count == 2 }
        kennel.holds("@links.Keeper.best.name == 'Rex'", { $0.linking(\Keeper.best).name == "Rex" }) { hound in
            kennel.realm.objects(Keeper.self).contains { $0.best == hound && $0.name == "Rex" }
        }
        kennel.holds("owner.@links.Hound.owner.@count == 2", { $0.owner.linking(\Hound.owner).count == 2 }) { $0.owner?.hounds.count == 2 }
        kennel.holds("@links.@count > 1", { $0.linkCount > 1 }) { hound in
            kennel.realm.objects(Keeper.self).filter { $0.best == hound }.count + kennel.hounds.filter { $0.friends.contains(hound) }.count
                > 1
        }
        kennel.holds("@links.Keeper.best.@count > 0", { $0.linking(\Keeper.best).count > 0 }) { hound in
            kennel.realm.objects(Keeper.self).contains { $0.best == hound }
        }
    }

    @Test func `where can filter lists, sets, inverse links and results, and its results are live [R14]`() throws {
        let kennel = try Kennel(seed: 4)
        let hound = kennel.hounds[10], keeper = kennel.realm.objects(Keeper.self)[1]
        let prices = Array(hound.toys.where { $0.price > 1 }.map(\.price))
        #expect(prices == hound.toys.map(\.price).filter { $0 > 1 })
        let friends = hound.friends.where { $0.age > 1 }, sameFriends = hound.friends.filter { $0.age > 1 }
        #expect(Set(friends.map(\.id)) == Set(sameFriends.map(\.id)))
        let kept = keeper.hounds.where { $0.age > 1 }, keptOneByOne: [Int] = keeper.hounds.filter { $0.age > 1 }.map(\.id)
        #expect(kept.map(\.id) == keptOneByOne)
        let numbers = hound.ints.where { $0 > 1 }, numbersOneByOne: [Int] = hound.ints.filter { $0 > 1 }
        #expect(Array(numbers) == numbersOneByOne)
        let heavy = kennel.hounds.where { $0.age > 1 }.where { $0.weight > 1 }
        let heavyOneByOne: [Int] = kennel.hounds.filter { $0.age > 1 && $0.weight > 1 }.map(\.id)
        #expect(heavy.map(\.id) == heavyOneByOne)
        let live = kennel.hounds.where { $0.name == "a new one" }
        #expect(live.count == 0)
        try kennel.realm.write {
            hound.name = "a new one"
            #expect(live.count == 1)
        }
        let frozen = live.freeze()
        try kennel.realm.write { hound.name = "not any more" }
        #expect(live.count == 0)
        #expect(frozen.count == 1 && frozen.map(\.id) == [hound.id])
    }

    @Test func `index(matching:) is the first index of a match in a list [R09]`() throws {
        let kennel = try Kennel(seed: 5)
        try kennel.realm.write {
            let list = kennel.hounds[0].toys
            list.removeAll()
            list.append(objectsIn: ["x", "y", "z", "y"].map { Trinket(value: ["brand": $0]) })
            list.append(list[1])
        }
        let list = kennel.hounds[0].toys
        #expect(list.index(matching: { $0.brand == "y" }) == 1)
        #expect(list.index(matching: { $0.brand == "?" }) == nil)
        #expect(kennel.hounds.sorted(by: ["age"]).index(matching: { $0.age > 3 }) == kennel.hounds.filter { $0.age <= 3 }.count)
        let plain = List<Int>()
        plain.append(objectsIn: [4, 5, 6])
        #expect(plain.index(matching: { $0 > 4 }) == 1)
    }

    @Test func `the description of a query is its text`() {
        #expect(
            Query<Hound>.tree { $0.age > 3 && ($0.toys.brand == "Kong" || !$0.good) }.description
                == "age > 3 AND (toys.brand == 'Kong' OR !(good == true))")
    }

    @Test func `a query of a wrong type or on an unmanaged collection traps [R14]`() async {
        await #expect(processExitsWith: .failure) {
            let kennel = try Kennel(seed: 1, count: 1)
            _ = kennel.hounds.where { $0.ints.any.contains(1...2) }
        }
        await #expect(processExitsWith: .failure) {
            let kennel = try Kennel(seed: 1, count: 1)
            _ = kennel.hounds.where { $0.owner == Keeper() }
        }
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = List<Hound>().where { $0.age > 1 }
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("managed collection"))
    }
}
