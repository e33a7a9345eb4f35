@testable import Firn
import FirnKit
import Foundation
import Testing

/// Queries on results of queries, and the parts of them that are evaluated again.
@Suite struct MergedQueryTests {
    @Test func `a query on results is merged into one query`() throws {
        let realm = try memoryRealm(), pups = realm.objects(Pup.self)
        let some = pups.filter("age > %@", 1).filter("name != %@ AND weight < $1", "Rex", 100.0).sorted(byKeyPath: "name").filter(
            "age IN %@", [7, 3]
        ).distinct(by: ["age"])
        let source = try #require(some.source as? QuerySource)
        #expect(source.base is TableSource && source.arguments.count == 4)
        #expect(source.query.description == "age > $0 AND name != $1 AND weight < $2 AND age IN $3 SORT(name ASC) DISTINCT(age)")
        try realm.write { realm.add(fourPups()) }
        #expect(some.map(\.name) == ["Ada"])
    }

    @Test func `a query on limited results selects from the limited results`() throws {
        let realm = try memoryRealm()
        try realm.write { realm.add(fourPups()) }
        let two = realm.objects(Pup.self).filter("TRUEPREDICATE SORT(age DESC, name ASC) LIMIT(2)")
        #expect(two.map(\.name) == ["Ada", "Fido"])
        #expect(two.filter("name == 'Rex'").isEmpty && two.filter("name == 'Fido'").map(\.name) == ["Fido"])
        #expect(
            two.sorted(byKeyPath: "name", ascending: false).map(\.name) == ["Fido", "Ada"] && two.sum(of: \.age) == 14
                && two.filter("age == 7").sum(of: \.age) == 14)
        #expect(two.index(matching: "name == 'Fido'") == 1)
    }

    @Test func `a query on distinct results selects from the remaining results`() throws {
        let realm = try memoryRealm()
        try realm.write { realm.add([Pup("Ada", age: 7), Pup("Bo", age: 7), Pup("Rex", age: 2)]) }
        let distinct = realm.objects(Pup.self).distinct(by: ["age"])
        #expect(distinct.map(\.name) == ["Ada", "Rex"])
        #expect(distinct.filter("name == 'Bo'").isEmpty && distinct.filter("age == 7").map(\.name) == ["Ada"])
        #expect(distinct.index(matching: "name == 'Bo'") == nil && distinct.index(matching: "name == 'Rex'") == 1)
        #expect(distinct.sorted(byKeyPath: "name", ascending: false).map(\.name) == ["Rex", "Ada"])
    }

    @Test(arguments: Seed.some(1, 2, 3)) func `chains of queries agree with Swift's own filter and sort`(_ seed: Seed) throws {
        var random = Random(seed)
        let realm = try memoryRealm()
        try realm.write {
            for i in 0..<1200 {
                realm.add(Pup("p\(i % 17)", age: Int.random(in: 0..<100, using: &random), teeth: i % 3 == 0 ? nil : i % 40))
            }
        }
        for _ in 0..<Tier.cases(20, of: 40) {
            var results = realm.objects(Pup.self), expected = Array(realm.objects(Pup.self))
            for _ in 0..<Int.random(in: 1...5, using: &random) {
                let x = Int.random(in: 0..<100, using: &random)
                switch Int.random(in: 0..<5, using: &random) {
                case 0:
                    results = results.filter("age >= %@", x / 2)
                    expected = expected.filter { $0.age >= x / 2 }
                case 1:
                    results = results.filter("teeth < %@ OR name == %@", x, "p\(x % 17)")
                    expected = expected.filter { $0.teeth.map { $0 < x } ?? false || $0.name == "p\(x % 17)" }
                case 2:
                    results = results.sorted(byKeyPath: "age", ascending: x % 2 == 0)
                    expected = expected.enumerated().sorted { a, b in
                        a.element.age != b.element.age ? (a.element.age < b.element.age) == (x % 2 == 0) : a.offset < b.offset
                    }.map(\.element)
                default:
                    results = results.filter("NOT name == %@", "p\(x % 17)")
                    expected = expected.filter { $0.name != "p\(x % 17)" }
                }
            }
            #expect(Array(results) == expected)
            #expect(
                results.count == expected.count && results.sum(of: \.age) == expected.reduce(0) { $0 + $1.age }
                    && results.max(of: \.teeth) == expected.compactMap(\.teeth).max())
            if let some = expected.randomElement(using: &random) { #expect(results.index(of: some) == expected.firstIndex(of: some)) }
        }
    }

    @Test func `unchanged segments are not evaluated again`() throws {
        let place = try RealmFolder(), realm = try Realm(fileURL: place.file())
        try realm.write { for i in 0..<70_000 { realm.add(Pup("p", age: i % 100)) } }
        let old = realm.objects(Pup.self).filter("age > 97"), source = try #require(old.source as? QuerySource)
        #expect(old.count == 1400)
        let first = source.segmentsEvaluated
        #expect(first >= 2)
        #expect(old.count == 1400 && source.segmentsEvaluated == first)
        // A commit of another type: no segment of this type is evaluated.
        try realm.write { realm.add(Doghouse()) }
        #expect(old.count == 1400)
        let second = source.segmentsEvaluated
        #expect(second - first <= 1)
        // One new row at the end: only the last segment is evaluated.
        try realm.write { realm.add(Pup("new", age: 99)) }
        #expect(old.count == 1401 && old.last?.name == "new")
        let third = source.segmentsEvaluated
        #expect(third - second <= 2)
        try realm.write { old[0].age = 0 }
        #expect(old.count == 1400)
        // The segment of the row, and the last segment before and after the commit.
        #expect(source.segmentsEvaluated - third <= 3)
        try realm.write { realm.delete(old[0]) }
        #expect(old.count == 1399 && old.allSatisfy { $0.age > 97 })
    }

    @Test func `results in a transaction follow each of its changes`() throws {
        let realm = try memoryRealm()
        try realm.write { realm.add(fourPups()) }
        let old = realm.objects(Pup.self).filter("age > 2")
        #expect(old.count == 3)
        try realm.write {
            let pups = realm.objects(Pup.self)
            pups[0].age = 1
            #expect(old.count == 2)
            pups[2].age = 10
            #expect(old.map(\.name) == ["Fido", "Bo", "Ada"])
            realm.delete(pups[1])
            #expect(old.map(\.name) == ["Bo", "Ada"])
        }
        #expect(old.map(\.name) == ["Bo", "Ada"])
    }

    @Test func `paths can contain inverse links`() throws {
        let realm = try memoryRealm(), kennel = Doghouse(value: ["name": "k"]), pups = fourPups()
        for pup in pups[0..<3] { pup.kennel = kennel }
        try realm.write {
            realm.add(pups); realm.add(Doghouse(value: ["name": "empty"]))
        }
        #expect(realm.objects(Doghouse.self).filter("pups.@count == 3").map(\.name) == ["k"])
        #expect(realm.objects(Doghouse.self).filter("ANY pups.age == 7").map(\.name) == ["k"])
        #expect(realm.objects(Pup.self).filter("kennel.pups.@count > 2").count == 3)
        #expect(kennel.pups.filter("age > 2").map(\.name) == ["Rex", "Fido"])
        try realm.write {
            pups[3].kennel = kennel
            #expect(kennel.pups.count == 4)
        }
        #expect(realm.objects(Doghouse.self).filter("pups.@count == 3").isEmpty)
    }
}

@Suite struct BlockArrayTests {
    @Test(arguments: Seed.some(1, 2, 3, 4)) func `random changes of a block array agree with an array`(_ seed: Seed) {
        var random = Random(seed), expected: [Int] = [], blocks = BlockArray<Int>()
        for step in 0..<3000 {
            let at = Int.random(in: 0...expected.count, using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0 where at < expected.count: #expect(blocks.remove(at: at) == expected.remove(at: at))
            case 1:
                let range = at..<min(expected.count, at + Int.random(in: 0..<3000, using: &random))
                let new = Array(repeating: step, count: Int.random(in: 0..<2500, using: &random))
                if range.count > 0 { #expect(blocks.slice(range) == Array(expected[range])) }
                expected.replaceSubrange(range, with: new)
                blocks.replaceSubrange(range, with: new)
            case 2 where at < expected.count:
                expected[at] = step
                blocks[at] = step
            default:
                expected.insert(step, at: at)
                blocks.insert(step, at: at)
            }
            #expect(blocks.count == expected.count)
            if at < expected.count { #expect(blocks[at] == expected[at]) }
            if step % 100 == 0 {
                #expect(blocks.all == expected)
                #expect(blocks.blocks.allSatisfy { !$0.isEmpty && $0.count <= BlockArray<Int>.maximumElements })
            }
        }
    }

    @Test func `appended blocks are filled, and empty blocks are removed`() {
        var blocks = BlockArray<Int>()
        for i in 0..<10_000 { blocks.insert(i, at: i) }
        #expect(blocks.blocks.count == 10)
        for _ in 0..<10_000 { blocks.remove(at: 0) }
        #expect(blocks.blocks.isEmpty && blocks.count == 0 && blocks.all.isEmpty)
        blocks.insert(1, at: 0)
        #expect(blocks[0] == 1)
    }
}
