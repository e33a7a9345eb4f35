@testable import Firn
import FirnKit
import Foundation
import Testing

/// Predicates as text with arguments of every kind, and Foundation's block predicates.
@Suite struct FilterTests {
    @Test func `filter accepts arguments of every kind [R12]`() throws {
        let kennel = try Kennel(seed: 11)
        let hounds = kennel.hounds
        func ids(_ text: String, _ args: Any?..., location: SourceLocation = #_sourceLocation) -> [Int] {
            do { return try hounds.filtered(text, args).map(\.id) } catch {
                Issue.record(error, sourceLocation: location)
                return []
            }
        }
        func plain(_ holds: (Hound) -> Bool) -> [Int] { hounds.filter(holds).map(\.id) }
        let keeper = kennel.realm.objects(Keeper.self)[2], friend = hounds[7]
        #expect(ids("age > %@ && name != %@", 2, "Rex") == plain { $0.age > 2 && $0.name != "Rex" })
        #expect(ids("age > $1 && age < $0", 5, 1) == plain { $0.age > 1 && $0.age < 5 })
        #expect(ids("optAge == %@", nil as Int?) == plain { $0.optAge == nil })
        #expect(ids("optAge == %@", NSNull()) == plain { $0.optAge == nil })
        #expect(ids("optAge == %@", 3 as Int?) == plain { $0.optAge == 3 })
        #expect(ids("small == %@", Int8(2)) == plain { $0.small == 2 })
        #expect(ids("weight > %@", Float(0.5)) == plain { $0.weight > 0.5 })
        #expect(ids("good == %@", true) == plain(\.good))
        #expect(
            ids("good == %d", 1) == plain(\.good) && ids("good == 0") == plain { !$0.good } && ids("good IN {1, 0}").count == hounds.count)
        #expect(hounds.filter(NSPredicate(format: "good = %@", NSNumber(value: 1))).map(\.id) == plain(\.good))
        #expect(throws: Realm.Error.self) { try hounds.filtered("good == 2", []) }
        #expect(ids("born > %@", Date(timeIntervalSince1970: 0)) == plain { $0.born.timeIntervalSince1970 > 0 })
        #expect(ids("data == %@", Data([1])) == plain { $0.data == Data([1]) })
        #expect(ids("uuid == %@", Kennel.uuids[2]) == plain { $0.uuid == Kennel.uuids[2] })
        #expect(ids("oid == %@", friend.oid) == [friend.id])
        #expect(ids("dec == %@", Decimal128(0.5)) == plain { $0.dec == 0.5 })
        #expect(ids("owner == %@", keeper) == plain { $0.owner == keeper })
        #expect(ids("owner == %@", keeper.freeze()) == plain { $0.owner == keeper })
        #expect(ids("%@ IN friends", friend) == plain { $0.friends.contains(friend) })
        #expect(ids("age IN %@", [1, 2]) == plain { [1, 2].contains($0.age) })
        #expect(ids("age IN %@", Set([1, 2])) == plain { [1, 2].contains($0.age) })
        #expect(ids("age IN %@", 1..<3) == plain { [1, 2].contains($0.age) })
        #expect(ids("age IN %@", friend.ints) == plain { friend.ints.contains($0.age) })
        #expect(ids("name IN %@", friend.tags) == plain { friend.tags.contains($0.name) })
        #expect(
            ids("owner IN %@", kennel.realm.objects(Keeper.self).where { $0.age > 2 }) == plain { $0.owner?.age.map { $0 > 2 } ?? false })
        #expect(ids("owner IN %@", [keeper, nil]) == plain { $0.owner == keeper || $0.owner == nil })
        #expect(ids("age BETWEEN %@", [1, 4]) == plain { (1...4).contains($0.age) })
        #expect(ids("%K > %@", "owner.age", 2) == plain { $0.owner?.age.map { $0 > 2 } ?? false })
        #expect(ids("%K > %@", \Hound.weight, 1.0) == plain { $0.weight > 1 })
        #expect(ids("name CONTAINS[cd] %@", "AS") == plain { ["Åsa", "asa"].contains($0.name) })
        #expect(ids("owner.hounds.@count > 1") == plain { ($0.owner?.hounds.count ?? 0) > 1 })
        #expect(hounds.filter("age > %@", 3).count == plain { $0.age > 3 }.count)
        #expect(Array(friend.ints.filter("self > %@", 2)) == Array(friend.ints).filter { $0 > 2 })
    }

    @Test(arguments: [
        ("age >", "character"), ("agee > 3", "\"age\""), ("age > 3 extra", "character 9"), ("age == $1", "index 1"),
        ("age == 'x", "character"),
        ("owner.nam == 'x'", "\"name\""), ("ints > 3 && age CONTAINS 'x'", "needs text"), ("%K > 3", "not the text of a path"),
    ]) func `a wrong predicate throws the reason and the position [R12]`(text: String, part: String) throws {
        let kennel = try Kennel(seed: 1, count: 3)
        let error = #expect(throws: Realm.Error.self) { _ = try kennel.hounds.filtered(text, [5]) }
        #expect(error?.code == .invalidInput && error!.message.contains(part), "\(error!.message)")
    }

    @Test func `arguments that queries cannot compare are refused [R12]`() throws {
        let kennel = try Kennel(seed: 1, count: 3), other = try Kennel(seed: 1, count: 3)
        struct Own {}
        #expect(throws: Realm.Error.self) { _ = try kennel.hounds.filtered("age == %@", [Own()]) }
        #expect(throws: Realm.Error.self) { _ = try kennel.hounds.filtered("owner == %@", [Keeper()]) }
        #expect(throws: Realm.Error.self) { _ = try kennel.hounds.filtered("owner == %@", [other.realm.objects(Keeper.self)[0]]) }
    }

    @Test func `filter traps for a wrong predicate and for an unmanaged collection [R12]`() async {
        await #expect(processExitsWith: .failure) { _ = try Kennel(seed: 1, count: 1).hounds.filter("agee > 3") }
        await #expect(processExitsWith: .failure) { _ = List<Hound>().filter("age > 3") }
    }

    @Test(arguments: Seed.some(21, 22)) func `block predicates select elements one by one, and their results are live [R13]`(
        seed: Seed
    ) throws {
        let kennel = try Kennel(seed: seed.number)
        let block = NSPredicate { object, _ in (object as? Hound).map { $0.age > 3 && !$0.toys.isEmpty } ?? false }
        let results = kennel.hounds.filter(block)
        let expected: [Int] = kennel.hounds.filter { $0.age > 3 && !$0.toys.isEmpty }.map(\.id)
        #expect(results.map(\.id) == expected && results.count == expected.count && results.first?.id == expected.first)
        #expect(results.sorted(by: ["weight"]).map(\.weight) == results.map(\.weight).sorted())
        let good: [Int] = results.filter(\.good).map(\.id)
        #expect(results.where { $0.good }.map(\.id) == good)
        let goodOfBlock = results.filter(NSPredicate { object, _ in (object as? Hound)?.good ?? false })
        #expect(goodOfBlock.map(\.id) == good)
        #expect(kennel.hounds.filter(NSPredicate(value: true)).count == kennel.hounds.count)
        let frozen = results.freeze()
        try kennel.realm.write {
            kennel.hounds.first { $0.id == expected[0] }!.age = 0
            #expect(results.map(\.id) == Array(expected.dropFirst()))
        }
        #expect(results.map(\.id) == Array(expected.dropFirst()) && frozen.map(\.id) == expected)
        #expect(frozen.thaw()?.map(\.id) == Array(expected.dropFirst()))
        let hound = kennel.hounds[1]
        #expect(Array(hound.ints.filter(NSPredicate { value, _ in value as! Int > 2 })) == Array(hound.ints).filter { $0 > 2 })
    }

    @Test func `the description of objects that link to themselves through collections ends`() throws {
        let kennel = try Kennel(seed: 24, count: 8)
        try kennel.realm.write { for hound in kennel.hounds { hound.friends.insert(objectsIn: kennel.hounds.prefix(2)) } }
        for hound in kennel.hounds.prefix(2) {
            #expect(
                hound.description.contains("friends = MutableSet<Hound> <2 objects>") && hound.freeze().description.hasPrefix("Hound {"))
        }
    }

    @Test func `index(matching:) returns the first match of a block predicate, or nil [R08]`() throws {
        let kennel = try Kennel(seed: 23)
        let block = NSPredicate { object, _ in (object as! Hound).age > 3 }
        #expect(kennel.hounds.index(matching: block) == (0..<kennel.hounds.count).first { kennel.hounds[$0].age > 3 })
        #expect(kennel.hounds.index(matching: NSPredicate(value: false)) == nil)
        let list = List<Int>()
        list.append(objectsIn: [1, 2, 3])
        #expect(list.index(matching: NSPredicate { value, _ in value as! Int == 3 }) == 2)
    }
}
