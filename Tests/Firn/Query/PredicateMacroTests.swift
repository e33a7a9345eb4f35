@testable import Firn
import FirnKit
import FirnQuery
import Foundation
import Testing

/// Compares Foundation's `#Predicate` with plain Swift, and its tree with that of the text.
@Suite struct PredicateMacroTests {
    private func holds(
        _ kennel: Kennel, _ text: String, _ predicate: Predicate<Hound>, location: SourceLocation = #_sourceLocation,
        _ plain: (Hound) -> Bool
    ) {
        do {
            let (tree, _) = try kennel.hounds.source.lowered(predicate)
            #expect(try Parser.query(text) == tree, "\(text) against \(tree)", sourceLocation: location)
            #expect(kennel.hounds.filter(predicate).map(\.id) == kennel.hounds.filter(plain).map(\.id), "\(tree)", sourceLocation: location)
        } catch { Issue.record(error, sourceLocation: location) }
    }

    @Test(arguments: Seed.some(31, 32))
    func `#Predicate supports comparisons, logical operators and arithmetic [R13]`(seed: Seed) throws {
        let kennel = try Kennel(seed: seed.number)
        let least = 3
        holds(kennel, "age > 3", #Predicate { $0.age > 3 }) { $0.age > 3 }
        holds(kennel, "age >= 3", #Predicate { $0.age >= least }) { $0.age >= 3 }
        holds(kennel, "age != 3 && name == 'Rex'", #Predicate { $0.age != 3 && $0.name == "Rex" }) { $0.age != 3 && $0.name == "Rex" }
        holds(kennel, "age < 0 || weight > 1.5 || name == ''", #Predicate { $0.age < 0 || $0.weight > 1.5 || $0.name == "" }) {
            $0.age < 0 || $0.weight > 1.5 || $0.name == ""
        }
        holds(kennel, "!(good == true) && age <= 3", #Predicate { !$0.good && $0.age <= 3 }) { !$0.good && $0.age <= 3 }
        holds(kennel, "age == count", #Predicate { $0.age == $0.count }) { $0.age == $0.count }
        holds(kennel, "age + 1 > 3", #Predicate { $0.age + 1 > 3 }) { $0.age + 1 > 3 }
        holds(kennel, "weight * 2.0 - 1.0 < 1.5", #Predicate { $0.weight * 2.0 - 1.0 < 1.5 }) { $0.weight * 2 - 1 < 1.5 }
        holds(kennel, "age / 2 == 1", #Predicate { $0.age / 2 == 1 }) { $0.age / 2 == 1 }
        holds(kennel, "optAge == 3", #Predicate { $0.optAge == 3 }) { $0.optAge == 3 }
        holds(kennel, "optAge == NULL", #Predicate { $0.optAge == nil }) { $0.optAge == nil }
        holds(kennel, "optAge != NULL && optAge > 2", #Predicate { $0.optAge != nil && $0.optAge! > 2 }) {
            $0.optAge != nil && $0.optAge! > 2
        }
        holds(kennel, "optAge == NULL || optAge < 2", #Predicate { ($0.optAge ?? 0) < 2 }) { ($0.optAge ?? 0) < 2 }
        holds(kennel, "!(optAge == NULL) && optAge > 2", #Predicate { ($0.optAge ?? 0) > 2 }) { ($0.optAge ?? 0) > 2 }
        holds(kennel, "optAge == NULL || optAge < 2", #Predicate { ($0.optAge ?? -1) < 2 }) { ($0.optAge ?? -1) < 2 }
        holds(kennel, "age > -1", #Predicate { $0.age > -1 }) { $0.age > -1 }
        holds(kennel, "good == true && age > 1 || !(good == true) && age < 1", #Predicate { $0.good ? $0.age > 1 : $0.age < 1 }) {
            $0.good ? $0.age > 1 : $0.age < 1
        }
        holds(kennel, "TRUEPREDICATE", #Predicate { _ in true }) { _ in true }
    }

    @Test(arguments: Seed.some(31, 32)) func `#Predicate supports text, ranges and lists of values [R13]`(seed: Seed) throws {
        let kennel = try Kennel(seed: seed.number)
        let ages = [1, 2, 5], date = Date(timeIntervalSince1970: 0)
        holds(kennel, "name CONTAINS 'ex'", #Predicate { $0.name.contains("ex") }) { $0.name.contains("ex") }
        holds(kennel, "name BEGINSWITH 'Re'", #Predicate { $0.name.starts(with: "Re") }) { $0.name.hasPrefix("Re") }
        holds(kennel, "name == ''", #Predicate { $0.name.isEmpty }) { $0.name.isEmpty }
        holds(kennel, "age IN {1, 2, 5}", #Predicate { ages.contains($0.age) }) { ages.contains($0.age) }
        holds(kennel, "age BETWEEN {1, 5}", #Predicate { (1...5).contains($0.age) }) { (1...5).contains($0.age) }
        holds(kennel, "age >= 1 && age < 5", #Predicate { (1..<5).contains($0.age) }) { (1..<5).contains($0.age) }
        holds(kennel, "born > T0:0", #Predicate { $0.born > date }) { $0.born > date }
    }

    @Test(arguments: Seed.some(31, 32)) func `#Predicate supports links and collections [R13]`(seed: Seed) throws {
        let kennel = try Kennel(seed: seed.number)
        holds(kennel, "owner.name == 'Rex'", #Predicate { $0.owner?.name == "Rex" }) { $0.owner?.name == "Rex" }
        holds(kennel, "owner == NULL", #Predicate { $0.owner == nil }) { $0.owner == nil }
        holds(kennel, "owner != NULL && owner.name CONTAINS 'e'", #Predicate { $0.owner?.name.contains("e") == true }) {
            $0.owner?.name.contains("e") == true
        }
        holds(kennel, "!(owner != NULL) || owner.name CONTAINS 'e'", #Predicate { $0.owner?.name.contains("e") ?? true }) {
            $0.owner?.name.contains("e") ?? true
        }
        holds(kennel, "hut.place == 'Bo'", #Predicate { $0.hut?.place == "Bo" }) { $0.hut?.place == "Bo" }
        holds(kennel, "3 IN ints", #Predicate { $0.ints.contains(3) }) { $0.ints.contains(3) }
        holds(kennel, "ints.@count > 1", #Predicate { $0.ints.count > 1 }) { $0.ints.count > 1 }
        holds(kennel, "ints.@count == 0", #Predicate { $0.ints.isEmpty }) { $0.ints.isEmpty }
        holds(kennel, "toys.brand == 'Kong'", #Predicate { $0.toys.contains { $0.brand == "Kong" } }) {
            $0.toys.contains { $0.brand == "Kong" }
        }
        holds(kennel, "ALL toys.price > 1.0", #Predicate { $0.toys.allSatisfy { $0.price > 1 } }) { $0.toys.allSatisfy { $0.price > 1 } }
    }

    @Test(arguments: Seed.some(31, 32)) func `#Predicate supports several conditions on one element [R13]`(seed: Seed) throws {
        let kennel = try Kennel(seed: seed.number)
        holds(
            kennel, "SUBQUERY(toys, $x, $x.brand == 'Kong' && $x.price > 1.0).@count > 0",
            #Predicate { $0.toys.contains { $0.brand == "Kong" && $0.price > 1 } }
        ) {
            $0.toys.contains { $0.brand == "Kong" && $0.price > 1 }
        }
        holds(
            kennel, "SUBQUERY(toys, $x, !($x.brand == 'Kong' || $x.price > 1.0)).@count == 0",
            #Predicate { $0.toys.allSatisfy { $0.brand == "Kong" || $0.price > 1 } }
        ) {
            $0.toys.allSatisfy { $0.brand == "Kong" || $0.price > 1 }
        }
        holds(kennel, "SUBQUERY(toys, $x, $x.price > 1.0).@count > 1", #Predicate { $0.toys.filter { $0.price > 1 }.count > 1 }) {
            $0.toys.filter { $0.price > 1 }.count > 1
        }
        holds(
            kennel,
            "SUBQUERY(friends, $x, SUBQUERY($x.toys, $x1, $x1.brand == 'Kong' && $x1.price > 1.0).@count > 0 && $x.age > 1).@count > 0",
            #Predicate { $0.friends.contains { $0.toys.contains { $0.brand == "Kong" && $0.price > 1 } && $0.age > 1 } }
        ) {
            $0.friends.contains { $0.toys.contains { $0.brand == "Kong" && $0.price > 1 } && $0.age > 1 }
        }
    }

    @Test(arguments: Seed.some(31, 32)) func `#Predicate supports nested conditions on every element [R13]`(seed: Seed) throws {
        let kennel = try Kennel(seed: seed.number)
        holds(
            kennel, "SUBQUERY(friends, $x, !($x.toys.brand == 'Kong')).@count == 0",
            #Predicate { $0.friends.allSatisfy { $0.toys.contains { $0.brand == "Kong" } } }
        ) {
            $0.friends.allSatisfy { $0.toys.contains { $0.brand == "Kong" } }
        }
        holds(kennel, "SUBQUERY(friends, $x, !(3 IN $x.ints)).@count == 0", #Predicate { $0.friends.allSatisfy { $0.ints.contains(3) } }) {
            $0.friends.allSatisfy { $0.ints.contains(3) }
        }
        holds(kennel, "SUBQUERY(friends, $x, $x.age == $x.count).@count > 0", #Predicate { $0.friends.contains { $0.age == $0.count } }) {
            $0.friends.contains { $0.age == $0.count }
        }
    }

    @Test func `parts of #Predicate that are not supported throw an error with their name [R13]`() throws {
        let kennel = try Kennel(seed: 1, count: 3)
        let cases: [(Predicate<Hound>, String)] = [
            (#Predicate { $0.age % 2 == 0 }, "IntRemainder"),
            (#Predicate { hound in hound.toys.contains { $0.brand == hound.name && $0.price > 1 } }, "SequenceContainsWhere"),
            (#Predicate { $0.name.count > 3 }, "KeyPath"),
        ]
        for (predicate, name) in cases {
            let error = #expect(throws: Realm.Error.self) { _ = try kennel.hounds.filtered(predicate) }
            #expect(error?.code == .invalidInput && error!.message.contains("\"\(name)\""), "\(error!.message)")
        }
    }

    @Test func `#Predicate can filter lists, sets, inverse links and values [R13]`() throws {
        let kennel = try Kennel(seed: 34)
        let hound = kennel.hounds.first { $0.friends.count > 1 && $0.owner != nil && $0.toys.count > 1 }!
        let toys = Array(hound.toys), friends = Array(hound.friends), hounds = Array(hound.owner!.hounds)
        let ints: [Int] = Array(hound.ints.filter(#Predicate { $0 > 1 }))
        #expect(hound.toys.filter(#Predicate { $0.price > 1 }).map(\.price) == toys.filter { $0.price > 1 }.map(\.price))
        #expect(hound.friends.filter(#Predicate { $0.age > 1 }).map(\.id) == friends.filter { $0.age > 1 }.map(\.id))
        #expect(hound.owner!.hounds.filter(#Predicate { $0.age > 1 }).map(\.id) == hounds.filter { $0.age > 1 }.map(\.id))
        #expect(ints == Array(hound.ints).filter { $0 > 1 })
        #expect(hound.toys.index(matching: #Predicate { $0.price > 1 }) == toys.firstIndex { $0.price > 1 })
    }

    @Test func `results of #Predicate are live, and predicates can capture values [R13]`() throws {
        let kennel = try Kennel(seed: 33)
        let keeper = kennel.realm.objects(Keeper.self)[0], name = keeper.name
        #expect(kennel.hounds.filter(#Predicate { $0.name == name }).map(\.id) == kennel.hounds.filter { $0.name == name }.map(\.id))
        #expect(kennel.hounds.index(matching: #Predicate { $0.age > 3 }) == (0..<60).first { kennel.hounds[$0].age > 3 })
        let results = kennel.hounds.filter(#Predicate { $0.name == "brand new" })
        try kennel.realm.write { kennel.hounds[0].name = "brand new" }
        #expect(results.count == 1)
    }
}
