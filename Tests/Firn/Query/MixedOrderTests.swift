import Firn
import Foundation
import Testing

private class Crate: Object {
    @Persisted var number = 0
    @Persisted var mixed: AnyRealmValue
    @Persisted var other: AnyRealmValue
    @Persisted var name: String?
    @Persisted var counts: Map<String, Int>
    @Persisted var texts: Map<String, String?>
    @Persisted var anything: Map<String, AnyRealmValue>
    @Persisted var crates: Map<String, Crate?>
}

/// Null among mixed values, and keys that a map does not have.
@Suite struct MixedOrderTests {
    private func crates() throws -> Results<Crate> {
        let realm = try memoryRealm([Crate.self])
        let values: [AnyRealmValue] = [.none, .string("0"), .string("b"), .int(1), .data(Data([1])), .double(0.5), .bool(false)]
        try realm.write {
            for (i, value) in values.enumerated() {
                let crate = Crate()
                crate.number = i
                crate.mixed = value
                crate.other = .string("a")
                realm.add(crate)
            }
        }
        return realm.objects(Crate.self)
    }

    private func numbers(_ crates: Results<Crate>) -> [Int] { crates.map(\.number) }

    @Test func `comparisons of mixed values match only values of comparable kinds`() throws {
        let crates = try crates()
        #expect(numbers(crates.filter("mixed < 'a'")) == [1] && numbers(crates.filter("mixed <= 'b'")) == [1, 2])
        #expect(numbers(crates.filter("mixed > '0'")) == [2] && numbers(crates.filter("mixed < 1")) == [5])
        #expect(numbers(crates.filter("mixed <= 1")) == [3, 5] && numbers(crates.filter("'a' > mixed")) == [1])
        #expect(numbers(crates.filter("mixed < bin('b')")) == [4] && numbers(crates.filter("NOT mixed < 'a'")) == [0, 2, 3, 4, 5, 6])
        #expect(numbers(crates.filter("mixed BETWEEN {'', 'a'}")) == [1] && numbers(crates.where { $0.mixed < .string("a") }) == [1])
    }

    @Test func `null is ordered with no mixed value`() throws {
        let crates = try crates()
        #expect(numbers(crates.filter("mixed == nil")) == [0] && numbers(crates.filter("mixed != nil")) == [1, 2, 3, 4, 5, 6])
        #expect(numbers(crates.filter("mixed > nil")) == [] && numbers(crates.filter("mixed < nil")) == [])
        #expect(numbers(crates.filter("mixed >= nil")) == [0] && numbers(crates.filter("mixed <= nil")) == [0])
        #expect(numbers(crates.filter("mixed != 'b'")) == [0, 1, 3, 4, 5, 6])
    }

    @Test func `mixed properties that are compared with each other follow the same rule`() throws {
        let crates = try crates()
        #expect(numbers(crates.filter("mixed < other")) == [1] && numbers(crates.filter("other > mixed")) == [1])
        #expect(numbers(crates.filter("mixed > other")) == [2] && numbers(crates.filter("name < other")) == [])
        #expect(numbers(crates.filter("name < 'a'")) == [0, 1, 2, 3, 4, 5, 6])
    }

    @Test func `a key that a map does not have is null, also in an empty map`() throws {
        let crates = try crates()
        for path in ["counts.missing", "texts.missing", "anything.missing", "counts['missing']"] {
            #expect(crates.filter("\(path) == nil").count == 7, "\(path)")
            #expect(crates.filter("\(path) != nil").isEmpty, "\(path)")
        }
        #expect(crates.where { $0.counts["missing"] == nil }.count == 7 && crates.where { $0.texts["missing"] == nil }.count == 7)
        #expect(crates.filter("crates.missing == nil").count == 7 && crates.filter("crates.missing.number == nil").count == 7)
        #expect(crates.where { $0.crates["missing"] == nil }.count == 7 && crates.filter("crates.missing != nil").isEmpty)
        let realm = try #require(crates.realm)
        try realm.write {
            realm.create(Crate.self, value: ["number": 7])
            #expect(crates.filter("counts.missing == nil").count == 8 && crates.filter("crates.missing == nil").count == 8)
            realm.delete(crates[7])
        }
        try realm.write { crates[2].counts["missing"] = 3 }
        #expect(crates.filter("counts.missing == nil").count == 6 && crates.filter("counts.missing == 3").count == 1)
        try realm.write { crates[3].counts["other"] = 3 }
        #expect(crates.filter("counts.missing == nil").count == 6 && crates.filter("counts.missing != 3").count == 6)
    }
}
